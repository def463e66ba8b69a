"""What view 5 reads: windows of the log by keyset over the ids of attempts, activity and actions, put together by time.

Each of the three is read by its ids, in either direction; of those read only what lies within the time that all three
reach belongs to the window. So no entry is lost or doubled, also where a clock went back. Where only problems are
wanted, a bounded number of entries is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.present.log_lines import (
    LogLine,
    action_line,
    activity_line,
    attempt_line,
    concerns,
    terms_of,
)
from tui_crawler.console.refresh import COUNTER_MS, SLOW_MS
from tui_crawler.domain.desk_view import ActionView
from tui_crawler.domain.exit_code import Severity
from tui_crawler.domain.log_window import LogReach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.ports import Reports

PAGE = 500
"""How many attempts, activities and actions one window reads at most."""
LOOK = 5_000
"""How many it looks at where it reads only problems."""

_ACTIONS = 200  # read again each second: what became of them changes
ONCE_MS = 86_400_000
"""The rate of what is read once."""
_ALL = 2**62


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A place between entries: behind the attempt, the activity and the action of these ids (0: before all)."""

    attempt: int = 0
    activity: int = 0
    action: int = 0

    @property
    def ids(self) -> tuple[int, int, int]:
        """The ids, of attempt, activity and action."""
        return self.attempt, self.activity, self.action

    def later(self, other: LogPlace) -> LogPlace:
        """The place behind both."""
        return LogPlace(
            max(self.attempt, other.attempt), max(self.activity, other.activity), max(self.action, other.action)
        )


BEGINNING, END = LogPlace(), LogPlace(_ALL, _ALL, _ALL)


@dataclass(frozen=True, slots=True)
class LogEntries:
    """The entries between two places. `ended`: nothing lies beyond, in the direction in which it was read."""

    after: LogPlace
    up_to: LogPlace
    lines: tuple[LogLine, ...] = ()
    ended: bool = True


@dataclass(frozen=True, slots=True)
class Strand:
    """What was read of one of the three, the nearest first, looked at from the id `first` (0: there was nothing) up to
    the id `last`, whose time is `last_at` (epoch ms); `looked_at` entries. `ended`: nothing lies beyond."""

    lines: tuple[LogLine, ...] = ()
    first: int = 0
    last: int = 0
    last_at: int = 0
    looked_at: int = 0
    ended: bool = True

    def within(self, since: int, until: int) -> Sequence[LogLine]:
        """Its entries up to the last one of a time (epoch ms)."""
        backwards = enumerate(reversed(self.lines))
        return self.lines[: next((len(self.lines) - at for at, line in backwards if since <= line.at <= until), 0)]


@dataclass(frozen=True, slots=True)
class LogBefore:
    """The entries before a place, the newest of them: of one origin, or of all for an empty name; of a level and above,
    as far as the database can tell."""

    place: LogPlace = END
    origin: str = ""
    level: Severity = Severity.info
    every_ms: int = ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogEntries:
        """Reads them. Raises StorageFailure."""
        starts = [0 if number == _ALL else number + 1 for number in self.place.ids]
        strands = _strands(reports, self.origin, self.level, starts)
        reach = max((one.last_at for one in strands if not one.ended), default=None)
        known = [one.first for one in strands] if self.place == END else self.place.ids
        if reach is None:
            every = [line for one in strands for line in one.lines]
            return LogEntries(BEGINNING, LogPlace(*known), _of_origin(every, self.origin))
        edges: list[int] = []
        lines: list[LogLine] = []
        for strand, at in zip(strands, known, strict=True):
            taken = strand.lines if _limits(strand, reach) else strand.within(reach, _ALL)
            edges.append(strand.last - 1 if _limits(strand, reach) else taken[-1].key[1] - 1 if taken else at)
            lines += taken
        return LogEntries(LogPlace(*edges), LogPlace(*known), _of_origin(lines, self.origin), ended=False)


@dataclass(frozen=True, slots=True)
class LogAfter:
    """The entries behind a place, the oldest of them; at the end of the log what has come in."""

    place: LogPlace = BEGINNING
    origin: str = ""
    level: Severity = Severity.info
    every_ms: int = COUNTER_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogEntries:
        """Reads them. Raises StorageFailure."""
        strands = _strands(reports, self.origin, self.level, self.place.ids, oldest_first=True)
        reach = min((one.last_at for one in strands if not one.ended), default=None)
        edges: list[int] = []
        lines: list[LogLine] = []
        for strand, at in zip(strands, self.place.ids, strict=True):
            whole = reach is None or _limits(strand, reach)
            taken = strand.lines if reach is None or whole else strand.within(0, reach)
            edges.append((strand.last if whole else taken[-1].key[1] if taken else 0) or at)
            lines += taken
        return LogEntries(self.place, LogPlace(*edges), _of_origin(lines, self.origin), ended=reach is None)


@dataclass(frozen=True, slots=True)
class LogAround:
    """The entries on both sides of a place. `ended`: nothing lies behind them."""

    place: LogPlace
    origin: str = ""
    level: Severity = Severity.info
    every_ms: int = ONCE_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogEntries:
        """Reads them. Raises StorageFailure."""
        before = LogBefore(self.place, self.origin, self.level).read(reports, now)
        behind = LogAfter(self.place, self.origin, self.level).read(reports, now)
        return LogEntries(before.after, behind.up_to, (*before.lines, *behind.lines), behind.ended)


LogWindow = LogBefore | LogAfter | LogAround


@dataclass(frozen=True, slots=True)
class LogActions:
    """The newest actions of operators, whole: what became of them changes."""

    origin: str = ""
    every_ms: int = SLOW_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[ActionView, ...]:
        """Newest first. Raises StorageFailure."""
        return tuple(one for one in reports.actions(_ACTIONS) if concerns(one, self.origin))


def attempts_of(reports: Reports, origin: str, levels: frozenset[Severity], reach: LogReach, text: str = "") -> Strand:
    """Attempts of these levels, at an origin or (empty) at all, that have a text. Raises StorageFailure."""
    found = reports.attempt_stretch(terms_of(levels, origin, text), reach)
    lines = tuple(map(attempt_line, found.found))
    return Strand(lines, found.first_id, found.last_id, found.last_at, found.looked_at, found.ended)


def activity_of(reports: Reports, origin: str, levels: frozenset[Severity], reach: LogReach) -> Strand:
    """Activity of these levels, at an origin or (empty) anywhere. Raises StorageFailure."""
    found = reports.activity_stretch(terms_of(levels, origin), reach)
    lines = tuple(map(activity_line, found.found))
    return Strand(lines, found.first_id, found.last_id, found.last_at, found.looked_at, found.ended)


def actions_of(reports: Reports, reach: LogReach) -> Strand:
    """Actions, whatever they are about. Raises StorageFailure."""
    before, after = (0, reach.edge) if reach.oldest_first else (reach.edge, 0)
    found = reports.actions(reach.limit, before_id=before, after_id=after, oldest_first=reach.oldest_first)
    lines = tuple(map(action_line, found))
    if not lines:
        return Strand()
    return Strand(lines, lines[0].key[1], lines[-1].key[1], lines[-1].at, len(lines), len(lines) < reach.limit)


def _strands(
    reports: Reports, origin: str, level: Severity, edges: Sequence[int], *, oldest_first: bool = False
) -> tuple[Strand, Strand, Strand]:
    """A window of each of the three behind these ids."""
    levels = frozenset(one for one in Severity if one >= level)
    look = PAGE if level is Severity.info else LOOK
    attempts, activity, actions = (LogReach(edge, PAGE, look, oldest_first) for edge in edges)
    return (
        attempts_of(reports, origin, levels, attempts),
        activity_of(reports, origin, levels, activity),
        actions_of(reports, actions),
    )


def _limits(strand: Strand, reach: int) -> bool:
    """Whether a window ends where this one does: then all that was read of it belongs to the window."""
    return not strand.ended and strand.last_at == reach


def _of_origin(lines: Sequence[LogLine], origin: str) -> tuple[LogLine, ...]:
    """All of them but the actions that do not concern the origin."""
    return tuple(line for line in lines if not isinstance(line.source, ActionView) or concerns(line.source, origin))
