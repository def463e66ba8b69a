"""`run`: a crawl without the console."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.cli import known_names, options
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.status_words import GAVE_UP, RunReason
from tui_crawler.wiring.launch import Launch

if TYPE_CHECKING:
    from tui_crawler.cli.run_watch import RunListener
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.crawl.event import Event
    from tui_crawler.domain.history.coverage import Coverage

FAULTS = ("broken", "external", "fragments", "gave_up", "cut", "slow", "empty", "refused")
"""What `--fail-on` knows; its help says what each is."""
_OVERRIDES = {
    "max_requests": "crawl.max_requests",
    "recheck": "crawl.recheck",
    "force_recrawl": "crawl.force_recrawl",
    "user_agent": "user_agent",
    "own": "own_sites",
}
"""Options that win over the configuration, each over this key."""


def declare(commands: options.CommandSet) -> None:
    parser = commands.add(
        "run",
        "crawl without the console",
        execute,
        "Crawls as CONFIG says, without the console, until no pages are left, the request limit is reached, or it"
        " is stopped. Without CONFIG it continues the crawl of the database. A run that was killed is continued. On a"
        " terminal it shows its progress, in a pipe one line per event. Options override the configuration.",
        examples=("run my-index.yaml --workers 4 --json > events.jsonl", "run --db example.org.db"),
        json=options.EVENTS,
    )
    parser.add_argument("file", metavar="CONFIG", nargs="?", help="the configuration (YAML)")
    options.add_run_options(parser)
    options.add_workers(parser)
    options.add_watching(parser)
    add_fail_on(parser)
    parser.add_argument(
        "--service", action="store_true", help="end with status 0 on SIGTERM, as service managers expect"
    )
    parser.add_argument("--join", type=options.positive, metavar="NUMBER", help=argparse.SUPPRESS)


def add_fail_on(parser: argparse.ArgumentParser, default: str = "") -> None:
    """`--fail-on`; `default` says what it is otherwise."""
    parser.add_argument(
        "--fail-on",
        type=_faults,
        metavar="WHAT,…",
        default={},
        help="end with status 1 when there is any of broken, external (links; crawl.check_external), fragments "
        "(crawl.check_fragments), gave_up (origins), cut (pages), slow=2s (pages that took longer), empty (origins "
        f"without a document), refused (URLs and links){default}",
    )


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    arguments.file = known_names.configuration_file(arguments)
    if arguments.file is None:
        config, database = _stored(arguments, printer)
    else:
        config, database = known_names.configured(arguments, arguments.file, printer, overrides_of(arguments))
        known_names.awaited(database, printer)
    check_workers(arguments.workers, config)

    status = run_to_end(config, database, Launch.of(arguments), arguments, printer)
    return ExitStatus.ok if arguments.service and status == ExitStatus.terminated else status


def run_to_end(
    config: Config, database: DatabasePlace, launch: Launch, arguments: argparse.Namespace, printer: Printer
) -> int:
    """Crawl until the end and show the run as `--json` asks; return the exit status, by `--fail-on`, too.
    Raises UsageProblem where that names what no run of this configuration can find."""
    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring.headless import run_headless

    wanted: dict[str, int] = arguments.fail_on
    if wanted:
        from tui_crawler.domain.history.site_audit import LINK_CHECKS
        from tui_crawler.wiring.origin_settings import switched_off

        for check in LINK_CHECKS:
            if check.name in wanted and (key := switched_off(check, config)):
                said = f"--fail-on {check.name}: {check.title} are not checked ({key})"
                raise UsageProblem(said, hint=f"change {key}")
    if wanted.get("slow", 0) > config.network.total_timeout_ms:
        raise UsageProblem("--fail-on slow: no response takes longer than network.total_timeout")
    faults = Faults(wanted, database)

    def carry_out(shows: RunListener) -> int:
        faults.listener = shows
        return run_headless(config, database, launch, faults if wanted else shows, shows)

    status = watch(printer, arguments.json, carry_out, config)
    told = ", ".join([*(f"{count} {name}" for name, count in faults.found.items() if count), *faults.unmade])
    if told:
        printer.error(f"--fail-on: {told}")
    return status or int(bool(told))


class Faults:
    """Counts what `--fail-on` names when the run is over, and reports it to its `listener` with the last event."""

    listener: RunListener

    def __init__(self, wanted: Mapping[str, int], database: DatabasePlace) -> None:
        """`wanted`: names out of FAULTS, that of `slow` with its ms."""
        self._wanted, self._database = wanted, database
        self.found: dict[str, int] = {}
        self.unmade: list[str] = []
        self._coverage: Coverage | None = None

    def on_event(self, event: Event) -> None:
        """Hands an event on. Of a run that a signal ends, or whose database cannot be read, nothing is counted."""
        from tui_crawler.domain.history.coverage import CoverageEvent

        if isinstance(event, CoverageEvent):
            self._coverage = event.coverage
        if event.event == "run_finished" and dict(event.extra).get("reason") != RunReason.interrupted.value:
            with contextlib.suppress(StorageFailure):
                self.found = self._count()
            event = replace(event, extra=(*event.extra, ("fail_on", self.found)))
        self.listener.on_event(event)

    def _count(self) -> dict[str, int]:
        from tui_crawler.wiring.origin_settings import checks_made

        with known_names.reports_of(self._database) as reports:
            asked = [one for one in checks_made(reports) if one.check.name in self._wanted]
            self.unmade = [f"{one.check.title} {one.words}" for one in asked if one.words]
            found = reports.broken_counts()
            if "slow" in self._wanted:
                found["slow"] = reports.pages_slower(self._wanted["slow"])
        if (coverage := self._coverage) is not None:
            found["gave_up"] = sum(coverage.ends.get(reason, 0) for reason in GAVE_UP)
            found["cut"] = coverage.pages.get("truncated", 0)
            found["empty"] = len(coverage.empty)
            found["refused"] = sum(one.count for one in coverage.refused if one.inside)
        return {name: number for name, number in found.items() if name in self._wanted}


def _faults(text: str) -> dict[str, int]:
    wanted: dict[str, int] = {}
    for word in options.words(text):
        name, has_value, value = word.partition("=")
        if name not in FAULTS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(FAULTS)}{did_you_mean(name, FAULTS)}")
        if bool(has_value) != (name == "slow"):
            problem = "slow wants a duration: slow=2s" if name == "slow" else f"{name} takes no value"
            raise argparse.ArgumentTypeError(problem)
        wanted[name] = options.duration(value) if has_value else 0
    if not wanted:
        raise argparse.ArgumentTypeError(f"it names nothing; known: {', '.join(FAULTS)}")
    return wanted


def _stored(arguments: argparse.Namespace, printer: Printer) -> tuple[Config, DatabasePlace]:
    """Return the database and the configuration that it keeps. Raises UsageProblem, BadKeptConfig."""
    from tui_crawler.wiring.origin_settings import kept_config

    database = known_names.awaited(known_names.existing_database(arguments), printer)
    if arguments.workers > 1:
        raise UsageProblem("--workers needs the configuration: CONFIG", hint="or start tui-crawler worker N times")
    given = overrides_of(arguments)
    config = kept_config(database, given, new_run=arguments.new_run, impolite=arguments.allow_impolite)
    if config is None:
        raise UsageProblem(
            f"{database} keeps no configuration to continue with", hint="name one: tui-crawler run CONFIG"
        )
    return config, database


def check_workers(workers: int, config: Config) -> None:
    """Raises UsageProblem for what several workers cannot do together."""
    if workers > options.MOST_WORKERS:
        raise UsageProblem(f"--workers {workers}: at most {options.MOST_WORKERS} workers share one database")
    if workers > 1 and config.queue.min_origins:
        raise UsageProblem("--workers cannot be combined with queue.min_origins: no worker sees all origins")


def overrides_of(arguments: argparse.Namespace) -> dict[str, object]:
    """The values of the command line that win over the configuration, by dotted key."""
    given = ((key, getattr(arguments, name)) for name, key in _OVERRIDES.items())
    return {key: value for key, value in given if value not in {None, False}}
