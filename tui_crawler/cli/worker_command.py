"""`worker`: one more process for a crawl, which joins its live run or goes on with the last one."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet, add_common, add_watching, positive
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import CannotRun, UsageProblem
from tui_crawler.cli.run_command import check_workers, terminal_signals

if TYPE_CHECKING:
    from tui_crawler.cli.run_watch import RunListener
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.database_place import DatabasePlace

IDENTITY_VARIABLE = "TUI_CRAWLER_WORKER_TOKEN"
MOST_SLOTS = 1_000


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "worker",
        "one more worker of a crawl",
        execute,
        "Joins the live run of a database, with the configuration that is kept there, or goes on with the last one "
        f"where nobody is at work. Who knows {IDENTITY_VARIABLE} of a live worker may take its place, by its name.",
        examples=("worker --db my-index.db --name north --slots 16",),
    )
    parser.add_argument("--name", metavar="NAME", help="its name; by default host and process")
    parser.add_argument(
        "--tag", action="append", metavar="TAG", help="take jobs of this tag; instead of those configured"
    )
    parser.add_argument("--matchonly", action="store_true", help="take no jobs without a tag")
    parser.add_argument("--slots", type=positive, metavar="N", help="turns at once; by default crawl.max_in_flight")
    add_watching(parser)
    add_common(parser, "one JSON object per event; the last is run_finished")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    database = existing_database(arguments)
    config = _kept(database)
    own = config.worker
    tags = own.tags if arguments.tag is None else tuple(arguments.tag)
    if unfit := [tag for tag in tags if len(tag.split()) != 1]:
        raise UsageProblem(f"a tag is one word, which {unfit[0]!r} is not")
    if (arguments.slots or 0) > MOST_SLOTS:
        raise UsageProblem(f"--slots {arguments.slots}: at most {MOST_SLOTS}")
    matchonly, slots = own.matchonly or arguments.matchonly, arguments.slots or own.slots
    worker = replace(own, name=arguments.name, tags=tags, matchonly=matchonly, slots=slots)
    config = replace(config, worker=worker)
    check_workers(2, config)

    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring import RunOptions, run_headless

    token = os.environ.get(IDENTITY_VARIABLE, "")
    options = RunOptions(may_join=True, token=token, metrics=arguments.metrics, on_event=arguments.on_event)

    def carry_out(listener: RunListener) -> int:
        return run_headless(config, database, options, listener, getattr(listener, "on_alarm", None))

    return watch(printer, arguments.json, carry_out, partial(terminal_signals, config))


def _kept(database: DatabasePlace) -> Config:
    """The configuration of the run to join or to go on with. Raises CannotRun where there is none."""
    from tui_crawler.domain.status_words import RunReason
    from tui_crawler.wiring.origin_settings import kept_config

    with reports_of(database) as reports:
        run = reports.run()
    if run is None:
        raise CannotRun(f"nobody has crawled into {database} yet: begin with tui-crawler run CONFIG --db {database}")
    if not run.live and run.finish_reason not in {"", RunReason.interrupted.value}:
        raise CannotRun(
            f"the last run is over ({run.finish_reason}): tui-crawler run CONFIG --db {database} begins another"
        )
    config = kept_config(database)
    if config is None:
        raise CannotRun(f"{database} keeps no configuration to go on with: tui-crawler run CONFIG")
    return config
