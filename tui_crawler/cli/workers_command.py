"""`worker`: one more process for a crawl, which joins its live run or goes on with the last one. `workers`: who crawls,
listed; told to pause, go on, drain or stop; their tags, and who has which origin."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from tui_crawler.cli.actions import carry_out_all
from tui_crawler.cli.known_names import awaited, existing_database, reports_of
from tui_crawler.cli.options import EVENTS, CommandSet, add_watching, positive
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import CannotRun, UsageProblem
from tui_crawler.cli.run_command import check_workers
from tui_crawler.domain.records.command import OF_WORKERS, Command, MoveOrigins, Order, TagWorker
from tui_crawler.wiring.launch import Launch

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.records.database_place import DatabasePlace

IDENTITY_VARIABLE = "TUI_CRAWLER_WORKER_TOKEN"
MOST_SLOTS = 1_000


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "worker",
        "one more worker of a crawl",
        _work,
        "Joins the live run of a database, with the configuration that is kept there, or continues the last one "
        f"where no worker is running. With {IDENTITY_VARIABLE} of a live worker it takes its place, by its name.",
        examples=("worker --db my-index.db --name north --slots 16",),
        json=EVENTS,
    )
    parser.add_argument("--name", metavar="NAME", help="its name; by default host and process")
    parser.add_argument(
        "--tag", action="append", metavar="TAG", help="take jobs of this tag; instead of those configured"
    )
    parser.add_argument("--matchonly", action="store_true", help="take no jobs without a tag")
    parser.add_argument("--slots", type=positive, metavar="N", help="turns at once; by default crawl.max_in_flight")
    add_watching(parser)

    group = commands.group(
        "workers",
        "list the workers of a crawl, pause, drain or stop them",
        execute,
        "Lists the processes that crawl: what they hold, how fast they are, when they last gave a sign of life.",
        examples=("workers", "workers --json"),
    )
    for order in OF_WORKERS:
        parser = group.add(order.word, order.summary, partial(_steer, order), examples=order.examples)
        parser.add_argument("names", metavar="NAME", nargs="+", help="their names")
    tags = group.add("tags", "give a worker other tags", _tag, examples=("workers tags north news slow",))
    tags.add_argument("name", metavar="NAME", help="its name")
    tags.add_argument("tags", metavar="TAG", nargs="*", help="the jobs that it takes; none: those without a tag")
    move = group.add("move", "give an origin to a worker", _move, examples=("workers move example.org north",))
    move.add_argument("origin", metavar="ORIGIN", help="scheme and host, or the host alone; its site goes along")
    move.add_argument("name", metavar="NAME", help="the worker, which keeps it until it ends")


def _work(arguments: argparse.Namespace, printer: Printer) -> int:
    database = awaited(existing_database(arguments), printer)
    config = _kept(database, impolite=arguments.allow_impolite)
    if (arguments.slots or 0) > MOST_SLOTS:
        raise UsageProblem(f"--slots {arguments.slots}: at most {MOST_SLOTS}")
    own = config.worker
    worker = replace(
        own,
        name=arguments.name,
        tags=own.tags if arguments.tag is None else _tags(arguments.tag),
        matchonly=own.matchonly or arguments.matchonly,
        slots=arguments.slots or own.slots,
    )
    config = replace(config, worker=worker)
    check_workers(2, config)

    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring.headless import run_headless

    launch = replace(Launch.of(arguments), may_join=True, token=os.environ.get(IDENTITY_VARIABLE, ""))
    return watch(printer, arguments.json, lambda shows: run_headless(config, database, launch, shows, shows), config)


def _tags(words: list[str]) -> tuple[str, ...]:
    if unfit := [tag for tag in words if len(tag.split()) != 1]:
        raise UsageProblem(f"a tag is one word, which {unfit[0]!r} is not")
    return tuple(words)


def _kept(database: DatabasePlace, *, impolite: bool) -> Config:
    """The configuration of the run to join or to continue. Raises CannotRun where there is none, BadKeptConfig."""
    from tui_crawler.wiring.origin_settings import kept_config

    with reports_of(database) as reports:
        run = reports.run()
    begin = f"tui-crawler run CONFIG --db {quote(str(database))}"
    if run is None:
        raise CannotRun(f"{database} contains no crawl yet: start with {begin}")
    if run.over:
        raise CannotRun(f"the last run is over ({run.finish_reason}): {begin} begins another")
    config = kept_config(database, impolite=impolite)
    if config is None:
        raise CannotRun(f"{database} keeps no configuration to continue with: tui-crawler run CONFIG")
    return config


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.text.relations.workers import WORKERS

    with reports_of(existing_database(arguments)) as reports:
        workers = reports.workers()
    return printer.relation("workers", WORKERS, workers, as_json=arguments.json)


def _steer(order: Order, arguments: argparse.Namespace, printer: Printer) -> int:
    return _ask(order.make(tuple(dict.fromkeys(arguments.names))), arguments, printer, "crawling")


def _tag(arguments: argparse.Namespace, printer: Printer) -> int:
    return _ask(TagWorker(arguments.name, _tags(arguments.tags)), arguments, printer)


def _move(arguments: argparse.Namespace, printer: Printer) -> int:
    return _ask(MoveOrigins((arguments.origin,), arguments.name), arguments, printer)


def _ask(command: Command, arguments: argparse.Namespace, printer: Printer, nothing: str = "none") -> int:
    def tell(_before: object, after: object) -> Iterable[str]:
        for name, value in after.items() if isinstance(after, dict) else ():
            yield f"{safe(str(name))}: {safe(str(value)) or nothing}"

    return carry_out_all(arguments, (command,), tell, printer)
