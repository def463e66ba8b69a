"""`log`: what happened beside the attempts (R), with what operators asked for, in the order of time."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, local_zone, picked, safe
from tui_crawler.cli.problem import ExitStatus
from tui_crawler.cli.why_command import ATTEMPT_COLUMNS
from tui_crawler.domain.records.failure import StorageHeldUp
from tui_crawler.domain.records.status_words import what_happened
from tui_crawler.text.format import date_time

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import ActionView, ActivityView
    from tui_crawler.domain.records.view import AttemptView
    from tui_crawler.storage.reports.reports import Reports

    Entry = ActivityView | ActionView | AttemptView

E = TypeVar("E")

USUAL_LIMIT = 50
LOOK_S = 0.5
"""So often a follower looks whether something was written."""
_ACTIONS = 500  # that are looked through; nobody asks for more within half a second
_ALL = 1_000_000  # entries that can be written within half a second, and many more


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "log",
        "show events and operator actions",
        execute,
        "Shows the activity log in order of time, the newest last: starts and ends of runs and origins, jobs, "
        "stashes, rulesets, and operator actions. --attempts adds the attempts.",
        examples=("log --limit 50", "log --origin example.org --follow --attempts"),
        json="one JSON value on stdout, with --follow one an entry",
    )
    parser.add_argument("--origin", metavar="ORIGIN", default="", help="only what concerns this origin")
    limit = f"show at most N entries (default: {USUAL_LIMIT})"
    parser.add_argument("--limit", type=positive, metavar="N", default=USUAL_LIMIT, help=limit)
    parser.add_argument("--follow", action="store_true", help="continue with what happens, until interrupted")
    attempts = "show the attempts, too: what was requested and how it ended"
    parser.add_argument("--attempts", action="store_true", help=attempts)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    zone = local_zone()
    with reports_of(existing_database(arguments)) as reports:
        log = ActivityLog(reports, arguments.origin, attempts=arguments.attempts)
        entries = log.newest(arguments.limit)
        if not arguments.follow:
            lines = (_line(entry, zone) for entry in entries)
            return printer.answer(arguments.json, {"log": map(_document, entries)}, lines)

        def tell(entry: Entry) -> bool:
            return printer.document(_document(entry)) if arguments.json else printer.line(_line(entry, zone))

        follow(log.more, entries, tell, time.sleep, printer.note)
    return ExitStatus.ok


class ActivityLog:
    """The logs of a database as one, and how far it was read; with `attempts` the log of these, too."""

    def __init__(self, reports: Reports, origin: str, *, attempts: bool = False) -> None:
        self._reports, self._origin, self._attempts = reports, origin, attempts
        self._attempt_id = self._activity_id = self._action_id = 0
        self._version = 0  # of the database when it was last read
        self._waiting: set[int] = set()  # actions that were read before they were carried out

    def newest(self, limit: int) -> list[Entry]:
        """Return the newest entries, the oldest of them first. Actions that still wait are among them."""
        self._version = self._reports.data_version()
        activity, actions, attempts = self._read(limit, max(limit, _ACTIONS))
        return _by_time(activity, filter(self._concerned, actions), attempts)[-limit:]

    def more(self) -> list[Entry]:
        """Return what was written since, and the actions that were carried out since."""
        if (version := self._reports.data_version()) == self._version:
            return []
        activity, actions, attempts = self._read(_ALL, _ACTIONS)
        self._version = version  # all was read
        return _by_time(activity, (one for one in actions if one.applied and self._concerned(one)), attempts)

    def _read(
        self, limit: int, most: int
    ) -> tuple[Sequence[ActivityView], Sequence[ActionView], Sequence[AttemptView]]:
        """Read what is new, or waited, the newest first; at most `limit` entries, or `most` actions."""
        known, waited = self._action_id, self._waiting
        activity = self._reports.activity(limit, self._origin, self._activity_id)
        newest = self._reports.actions(most)
        attempts = self._reports.attempts(self._origin, 0, self._attempt_id, limit) if self._attempts else ()
        actions = [one for one in newest if one.action_id > known or one.action_id in waited]
        self._activity_id = max([self._activity_id, *(one.activity_id for one in activity[:1])])
        self._attempt_id = max([self._attempt_id, *(one.attempt_id for one in attempts[:1])])
        self._action_id = max([known, *(one.action_id for one in actions)])
        self._waiting = {one.action_id for one in actions if not one.applied}
        return activity, actions, attempts

    def _concerned(self, action: ActionView) -> bool:
        if not self._origin or action.target == "all":
            return True
        named = re.compile(rf"{re.escape(self._origin)}(?![\w.:-])")
        return any(named.search(text) for text in (action.target, action.before, action.after))


def follow(
    more: Callable[[], Iterable[E]],
    entries: Iterable[E],
    tell: Callable[[E], bool],
    wait: Callable[[float], None],
    note: Callable[[str], None],
) -> None:
    """Show entries, then whatever is written, until `tell` returns False. What holds the database up is noted once,
    until it has passed."""
    held_up = False
    while all(tell(entry) for entry in entries):
        try:
            entries, held_up = more(), False
        except StorageHeldUp as trouble:
            if not held_up:
                note(str(trouble))
            entries, held_up = (), True
        if not entries:
            wait(LOOK_S)


def _by_time(
    activity: Iterable[ActivityView], actions: Iterable[ActionView], attempts: Iterable[AttemptView]
) -> list[Entry]:
    """The logs as one, the oldest first; at the same moment what was asked comes before what followed."""
    rows: list[tuple[tuple[int, int, int], Entry]] = [((one.at, 0, one.action_id), one) for one in actions]
    rows += [((one.ended_at, 1, one.attempt_id), one) for one in attempts]
    rows += [((one.at, 2, one.activity_id), one) for one in activity]
    return [entry for _, entry in sorted(rows, key=lambda row: row[0])]


def _document(entry: Entry) -> dict[str, object]:
    from tui_crawler.cli.actions import value_of
    from tui_crawler.domain.records.operator_view import ActionView
    from tui_crawler.domain.records.view import AttemptView
    from tui_crawler.text.same_as import command_line_of

    if isinstance(entry, ActionView):
        document = {"kind": "action"} | picked(entry, "at who action target before after undone applied error command")
        document |= {name: value_of(getattr(entry, name)) for name in ("before", "after", "command")}
        return document | {"command_line": command_line_of(entry)}
    if isinstance(entry, AttemptView):
        return {"kind": "attempt", "at": entry.ended_at, "attempt": picked(entry, ATTEMPT_COLUMNS)}
    return {"kind": "activity"} | picked(entry, "at event origin run_id message")


def _line(entry: Entry, zone: tzinfo) -> str:
    from tui_crawler.domain.records.operator_view import ActionView
    from tui_crawler.domain.records.view import AttemptView
    from tui_crawler.text.same_as import command_line_of

    if isinstance(entry, AttemptView):
        status = "-" if entry.http_status is None else entry.http_status
        said = [f"{safe(entry.exit_code)} {status}", safe(entry.url, 2_048), safe(entry.message)]
        at, word = entry.ended_at, entry.kind
    elif isinstance(entry, ActionView):
        more = command_line_of(entry).partition(f" {entry.target}")[2].strip()  # the delay, the reason of an exclusion
        refused = f"; refused: {safe(entry.error)}" if entry.error else "; taken back" * entry.undone
        end = refused if entry.applied else "; not applied yet"
        said = [safe(" ".join(filter(None, (entry.target, more)))), f"(by {safe(entry.who)}{end})"]
        at, word = entry.at, entry.action
    else:
        at, word, said = entry.at, entry.event, [safe(entry.origin), safe(what_happened(entry))]
    return f"{date_time(at, zone)}  {safe(word):<18}  {'  '.join(filter(None, said))}"
