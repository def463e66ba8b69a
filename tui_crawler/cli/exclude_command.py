"""`exclude`: the exclusion list (M), extended and shortened also while a run is live, and shown."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui_crawler.cli.actions import carry_out_all
from tui_crawler.cli.known_names import existing_database, one_line, reports_of
from tui_crawler.cli.options import CommandSet
from tui_crawler.cli.printer import Printer, columns, picked, safe
from tui_crawler.cli.problem import UsageProblem
from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.domain.records.command import Exclude
from tui_crawler.domain.records.database_place import DatabasePlace

if TYPE_CHECKING:
    from tui_crawler.domain.rules.exclusion import Exclusion, ExclusionKind
    from tui_crawler.storage.reports.reports import Reports

KINDS: tuple[ExclusionKind, ...] = ("domain", "host", "cidr", "pattern")
LONGEST_REASON = 1_000  # characters, as in a configuration


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "exclude",
        "add to the exclusion list, also while a run is live",
        execute,
        "Adds to the exclusion list, also while a run is live: it overrides everything, also for redirects and the "
        "hops of robots.txt. domain: the name and everything below it; host: exactly this name or address; cidr: "
        "addresses, also those a name resolves to; pattern: a regular expression searched in the URL.",
        examples=("exclude domain example.net --reason 'the owner asked'", "exclude --list"),
    )
    parser.add_argument("kind", metavar="KIND", nargs="?", choices=KINDS, help=", ".join(KINDS))
    parser.add_argument("value", metavar="VALUE", nargs="?", help="what is not to be crawled")
    parser.add_argument("--reason", metavar="TEXT", default="", help="the reason; shown where it refuses a URL")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--remove", action="store_true", help="take the entry off the list again")
    ways.add_argument("--list", action="store_true", help="show the list, with the entries of the rules")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    if arguments.list:
        if arguments.kind is not None or arguments.reason:
            raise UsageProblem("--list takes no other argument")
        with reports_of(existing_database(arguments)) as reports:
            entries = (*_of_rules(reports), *reports.exclusions())
        documents = (picked(entry, "kind value reason who source") for entry in entries)
        rows = [
            (one.kind, safe(one.value), safe(one.source) or "-", safe(one.who) or "-", safe(one.reason, 1_000))
            for one in entries
        ]
        lines = columns(("KIND", "VALUE", "SOURCE", "WHO", "REASON"), rows, frozenset())
        return printer.answer(
            arguments.json, {"exclusions": documents}, lines if rows else ("the exclusion list is empty",)
        )
    if arguments.kind is None or arguments.value is None:
        raise UsageProblem(
            f"name a kind ({', '.join(KINDS)}) and a value, or --list",
            hint="tui-crawler exclude domain example.net --reason 'its owner asked'",
        )
    if arguments.remove and arguments.reason:
        raise UsageProblem("--reason is for what is added")
    value = _value(arguments.kind, arguments.value)
    reason = one_line("--reason", arguments.reason, LONGEST_REASON)
    if arguments.remove:
        _check_listed(existing_database(arguments), arguments.kind, value)

    command = Exclude(arguments.kind, value, reason, arguments.remove)
    return carry_out_all(arguments, (command,), lambda _, after: _outcome(command, after), printer)


def _value(kind: ExclusionKind, text: str) -> str:
    from tui_crawler.config.policies import exclusion_value
    from tui_crawler.domain.rules.pattern import BadPattern
    from tui_crawler.domain.url import without_userinfo

    shown = f"{kind} {without_userinfo(text)!r}"
    if kind != "pattern" and "://" in text:
        raise UsageProblem(f"{shown} is a URL", hint="name its host alone, or exclude a pattern")
    try:
        return exclusion_value(kind, text)
    except BadPattern as error:
        raise UsageProblem(f"{shown} {error.message}") from error


def _check_listed(database: DatabasePlace, kind: ExclusionKind, value: str) -> None:
    """Raises UsageProblem for an entry that is not on the list of the operators: where it stands, or the nearest."""
    with reports_of(database) as reports:
        listed = reports.exclusions()
        in_rules = _of_rules(reports)
    if (kind, value) in {(entry.kind, entry.value) for entry in listed}:
        return
    for entry in in_rules:
        if (entry.kind, entry.value) == (kind, value):
            raise UsageProblem(
                f"{kind} {value} is in the rules: {entry.source or 'without a place'}",
                hint="change it there; tui-crawler rules apply FILE takes rules up while a run is live",
            )
    near = did_you_mean(value, (entry.value for entry in listed if entry.kind == kind))
    raise UsageProblem(f"{kind} {value} is not on the exclusion list{near}", hint="tui-crawler exclude --list shows it")


def _of_rules(reports: Reports) -> tuple[Exclusion, ...]:
    found = (entry for ruleset in reports.current_rulesets() for entry in ruleset.policies.exclusions)
    return tuple(dict.fromkeys(found))


def _outcome(command: Exclude, after: object) -> Iterator[str]:
    if not isinstance(after, dict):
        return
    name = f"{command.kind} {safe(command.value, 2_048)}"
    if not after.get("changed"):
        yield f"{name} was {'not ' if command.remove else ''}on the exclusion list already"
    else:
        yield f"{name} is {'no longer' if command.remove else 'now'} on the exclusion list"
    origins = after.get("origins")
    for origin in origins if isinstance(origins, list) else ():
        yield f"  {'continues' if command.remove else 'finished'}: {safe(str(origin))}"
