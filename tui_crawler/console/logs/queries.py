"""What view 5 reads: windows of the log by keyset over the ids of attempts, activity and actions, put together by time.

Each of the three is read by its ids, in either direction; of those read only what lies within the time that all three
reach belongs to the window. So no entry is lost or doubled, also where a clock went back. Where only problems are
wanted, a bounded number of entries is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from tui_crawler.console.logs.rows import LogLine, action_line, activity_line, attempt_line, concerns, terms_of
from tui_crawler.console.ports import ActionReports, AttemptReports
from tui_crawler.console.reading.ask import COUNTER_MS, ONCE_MS, WINDOW, asks
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.domain.records.view import LogReach, LogStretch

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import ActivityView
    from tui_crawler.domain.records.view import AttemptView, LogTerms


class LogReports(AttemptReports, ActionReports, Protocol):
    """Windows of all that happened."""

    def attempt_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[AttemptView]: ...
    def activity_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[ActivityView]: ...


T = TypeVar("T")

PAGE = 500
"""How many attempts, activities and actions one window reads at most."""
LOOK = 5_000
"""How many it looks at where it reads only problems."""

_ACTIONS = 200  # read again each second: what became of them changes
_ALL = 2**62
ACTION = 2  # where `LogPlace` has it


class LogPlace(NamedTuple):
    """A place between entries: behind the attempt, the activity and the action of these ids (0: before all)."""

    attempt: int = 0
    activity: int = 0
    action: int = 0

    def later(self, other: LogPlace) -> LogPlace:
        """The place behind both."""
        return LogPlace(*map(max, self, other))


BEGINNING, END = LogPlace(), LogPlace(_ALL, _ALL, _ALL)


@dataclass(frozen=True, slots=True)
class LogEntries:
    """The entries between two places, out of `looked_at`. `ended`: nothing lies beyond in the direction of reading."""

    after: LogPlace
    up_to: LogPlace
    lines: tuple[LogLine, ...] = ()
    ended: bool = True
    looked_at: int = 0


Strand = LogStretch[LogLine]
"""What was read of one of the three, the nearest first."""


def levels_from(level: Severity) -> frozenset[Severity]:
    """Return a level and those above it."""
    return frozenset(one for one in Severity if one >= level)


@dataclass(frozen=True, slots=True)
class LogScope:
    """Which entries: at one origin or (empty) at all, of these levels, that have a text (lower case); or only
    attempts."""

    origin: str = ""
    levels: frozenset[Severity] = levels_from(Severity.info)
    text: str = ""
    attempts_only: bool = False

    def fits(self, line: LogLine) -> bool:
        """Whether an entry is one of them."""
        if isinstance(line.source, ActionView):
            here = concerns(line.source, self.origin)
        else:
            here = self.origin in {"", line.origin}
        return here and line.level in self.levels and self.text in line.text

    def strand(self, reports: LogReports, kind: int, reach: LogReach) -> Strand:
        """Read one of the three, which is named by its place in `LogPlace`. Of attempts the database sifts the text
        itself. Raises StorageFailure."""
        if kind and self.attempts_only:
            return Strand()
        if kind != ACTION:
            terms = terms_of(self.levels, self.origin, self.text)
            found: LogStretch[Any] = (reports.activity_stretch if kind else reports.attempt_stretch)(terms, reach)
            made = map(activity_line if kind else attempt_line, found.found)
            return replace(found, found=tuple(filter(self.fits, made)))
        before, after = (0, reach.edge) if reach.oldest_first else (reach.edge, 0)
        lines = [*map(action_line, reports.actions(reach.limit, before, after, reach.oldest_first))]
        if not lines:
            return Strand()
        first, last, whole = lines[0], lines[-1], len(lines) < reach.limit
        return Strand(tuple(filter(self.fits, lines)), first.key[1], last.key[1], last.at, len(lines), whole)


EVERYTHING = LogScope()


@asks(ONCE_MS)
def log_before(reports: LogReports, _now: int, place: LogPlace, scope: LogScope) -> LogEntries:
    """Read the entries before a place, the newest of them."""
    return _window(reports, place, scope, oldest_first=False)


@asks(COUNTER_MS)
def log_after(reports: LogReports, _now: int, place: LogPlace, scope: LogScope) -> LogEntries:
    """Read the entries behind a place, the oldest of them; at the end of the log what has come in."""
    return _window(reports, place, scope, oldest_first=True)


def _window(reports: LogReports, place: LogPlace, scope: LogScope, *, oldest_first: bool) -> LogEntries:
    limit = WINDOW if scope.attempts_only else PAGE
    look = PAGE if Severity.info in scope.levels else LOOK
    reach = LogReach(0, limit, look, oldest_first)
    return entries_from(place, lambda kind, edge: scope.strand(reports, kind, replace(reach, edge=edge)), oldest_first)


def entries_from(place: LogPlace, read: Callable[[int, int], Strand], oldest_first: bool) -> LogEntries:
    """Read on from a place, as far as all three reach. `read` takes the one to read (its place in `LogPlace`), and the
    edge from which on."""
    starts = place if oldest_first else [0 if number == _ALL else number + 1 for number in place]
    strands = [read(kind, edge) for kind, edge in enumerate(starts)]
    limits = [one.last_at for one in strands if not one.ended]
    reach = (min if oldest_first else max)(limits, default=None)
    known = LogPlace(*(one.first_id for one in strands)) if place == END else place
    edges: list[int] = []
    lines: list[LogLine] = []
    for strand, at in zip(strands, known, strict=True):
        taken, last_id = strand.found, strand.last_id
        if reach is not None and taken and (strand.ended or strand.last_at != reach):
            taken = _up_to(taken, reach, oldest_first=oldest_first)
            last_id = taken[-1].key[1] if taken else 0
        edges.append(last_id - (not oldest_first) if last_id else at)
        lines += taken
    edge = BEGINNING if reach is None and not oldest_first else LogPlace(*edges)
    after, up_to = (known, edge) if oldest_first else (edge, known)
    return LogEntries(after, up_to, tuple(lines), reach is None, sum(one.looked_at for one in strands))


@asks(ONCE_MS)
def log_around(reports: LogReports, now: int, place: LogPlace, scope: LogScope) -> LogEntries:
    """Read the entries on both sides of a place. `ended`: nothing lies behind them."""
    before, behind = (one(place, scope).read(reports, now) for one in (log_before, log_after))
    return LogEntries(before.after, behind.up_to, (*before.lines, *behind.lines), behind.ended)


@asks()
def log_actions(reports: LogReports, _now: int, origin: str = "") -> tuple[ActionView, ...]:
    """Read the newest actions of operators, newest first, whole: what became of them changes."""
    return tuple(one for one in reports.actions(_ACTIONS) if concerns(one, origin))


def _up_to(lines: tuple[LogLine, ...], reach: int, *, oldest_first: bool) -> tuple[LogLine, ...]:
    """The entries up to the last one that a time (epoch ms) reaches."""
    places = range(len(lines), 0, -1)
    reached = (at for at in places if (lines[at - 1].at <= reach if oldest_first else lines[at - 1].at >= reach))
    return lines[: next(reached, 0)]
