"""`workers`: who crawls, listed; told to pause, go on, drain or stop; their tags, and who has which origin."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tui_crawler.cli.actions import carry_out_all
from tui_crawler.cli.known_names import existing_database, known_origins, reports_of
from tui_crawler.cli.options import CommandSet, Execute, add_common
from tui_crawler.cli.printer import Printer, columns, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.text.format import count, duration

if TYPE_CHECKING:
    from tui_crawler.domain.command import Command
    from tui_crawler.domain.worker import WorkerView

_COLUMNS = "name state leads slots in_flight origins pages_per_minute heartbeat_age_ms lease_ms host pid version tags"
_MORE = "matchonly free_bytes started_at"
_RIGHT = frozenset({2, 3, 4, 5, 6})
_ORDERS = {
    "pause": "ask nothing more and keep their origins",
    "resume": "go on",
    "drain": "finish what is in flight, give their origins back and end",
    "stop": "end, as by SIGTERM",
}


def declare(commands: CommandSet) -> None:
    """Declares the group; the word alone lists."""
    group = commands.group(
        "workers",
        "list the workers of a crawl, pause, drain or stop them",
        execute,
        "Lists the processes that crawl: what they hold, how fast they are, when they last gave a sign of life.",
        examples=("workers", "workers --json"),
    )
    add_common(group.parser)
    for order, summary in _ORDERS.items():
        parser = group.add(order, summary, _steering(order), examples=(f"workers {order} north",))
        parser.add_argument("names", metavar="NAME", nargs="+", help="their names")
        add_common(parser, of_group=True)
    tags = group.add("tags", "give a worker other tags", _tag, examples=("workers tags north news slow",))
    tags.add_argument("name", metavar="NAME", help="its name")
    tags.add_argument("tags", metavar="TAG", nargs="*", help="the jobs that it takes; none: those without a tag")
    add_common(tags, of_group=True)
    move = group.add("move", "give an origin to a worker", _move, examples=("workers move example.org north",))
    move.add_argument("origin", metavar="ORIGIN", help="scheme and host, or the host alone; its site goes along")
    move.add_argument("name", metavar="NAME", help="the worker, which keeps it until it ends")
    add_common(move, of_group=True)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carries out `workers` alone: lists."""
    with reports_of(existing_database(arguments)) as reports:
        workers = reports.workers()
    document = {"workers": (picked(one, f"{_COLUMNS} {_MORE}") for one in workers)}
    return printer.answer(arguments.json, document, _lines(workers))


def _lines(workers: tuple[WorkerView, ...]) -> Iterator[str]:
    if not workers:
        yield "nobody crawls"
        return
    header = ("NAME", "STATE", "SLOTS", "IN FLIGHT", "ORIGINS", "PAGES/MIN", "HEARTBEAT", "HOST", "VERSION", "TAGS")
    rows = [
        (
            safe(one.name),
            one.state.value,
            count(one.slots),
            count(one.in_flight),
            count(one.origins),
            f"{one.pages_per_minute:.0f}",
            duration(one.heartbeat_age_ms),
            safe(one.host),
            safe(one.version),
            safe(" ".join(one.tags)) + (" only" if one.matchonly else ""),
        )
        for one in workers
    ]
    yield from columns(header, rows, _RIGHT)


def _steering(order: str) -> Execute:
    def execute(arguments: argparse.Namespace, printer: Printer) -> int:
        from tui_crawler.domain.command import SteerWorkers

        return _ask(SteerWorkers(order, tuple(dict.fromkeys(arguments.names))), arguments, printer)

    return execute


def _tag(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.command import TagWorker

    if unfit := [tag for tag in arguments.tags if len(tag.split()) != 1]:
        raise UsageProblem(f"a tag is one word, which {unfit[0]!r} is not")
    return _ask(TagWorker(arguments.name, tuple(arguments.tags)), arguments, printer)


def _move(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.command import MoveOrigins

    with reports_of(existing_database(arguments)) as reports:
        origins = known_origins((arguments.origin,), reports)
    return _ask(MoveOrigins(origins, arguments.name), arguments, printer)


def _ask(command: Command, arguments: argparse.Namespace, printer: Printer) -> int:
    def tell(_before: object, after: object) -> Iterable[str]:
        for name, value in after.items() if isinstance(after, dict) else ():
            yield f"{safe(str(name))}: {safe(str(value)) or 'none'}"

    return carry_out_all(existing_database(arguments), (command,), tell, printer, as_json=arguments.json)
