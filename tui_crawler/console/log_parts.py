"""What view 5 reads: windows of the log by keyset over the ids of attempts, activity and actions, put together by time.

Each of the three is read by its ids, in either direction; of those read only what lies within the time that all three
reach belongs to the window. So no entry is lost or doubled, also where a clock went back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.present.log_lines import LogLine, action_line, activity_line, attempt_line, concerns
from tui_crawler.console.refresh import COUNTER_MS, SLOW_MS
from tui_crawler.domain.desk_view import ActionView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_crawler.console.ports import Reports

PAGE = 500
"""How many attempts, activities and actions one window reads at most."""

_ACTIONS = 200  # read again each second: what became of them changes
_ONCE = 86_400_000
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
class LogBefore:
    """The entries before a place, the newest of them: of one origin, or of all for an empty name."""

    place: LogPlace = END
    origin: str = ""
    problems_only: bool = False
    every_ms: int = _ONCE
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogEntries:
        """Reads them. Raises StorageFailure."""
        attempt, activity, action = (0 if number == _ALL else number + 1 for number in self.place.ids)
        attempts = reports.attempts(self.origin, before_id=attempt, limit=PAGE, problems_only=self.problems_only)
        read = (
            tuple(map(attempt_line, attempts)),
            tuple(map(activity_line, reports.activity(PAGE, self.origin, 0, before_id=activity))),
            tuple(map(action_line, reports.actions(PAGE, before_id=action))),
        )
        reach = max((rows[-1].at for rows in read if len(rows) >= PAGE), default=None)
        taken = [_first(rows, lambda line: reach is None or line.at >= reach) for rows in read]
        newest = [rows[0].key[1] if rows else 0 for rows in read]
        known = newest if self.place == END else self.place.ids
        edges = [rows[-1].key[1] - 1 if rows else at for rows, at in zip(taken, known, strict=True)]
        after = BEGINNING if reach is None else LogPlace(*edges)
        return LogEntries(after, LogPlace(*known), _of_origin(taken, self.origin), ended=reach is None)


@dataclass(frozen=True, slots=True)
class LogAfter:
    """The entries behind a place, the oldest of them; at the end of the log what has come in."""

    place: LogPlace = BEGINNING
    origin: str = ""
    problems_only: bool = False
    every_ms: int = COUNTER_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogEntries:
        """Reads them. Raises StorageFailure."""
        attempts = reports.attempts(
            self.origin,
            after_id=self.place.attempt,
            limit=PAGE,
            problems_only=self.problems_only,
            oldest_first=True,
        )
        activity = reports.activity(PAGE, self.origin, self.place.activity, oldest_first=True)
        actions = reports.actions(PAGE, after_id=self.place.action, oldest_first=True)
        read = (
            tuple(map(attempt_line, attempts)),
            tuple(map(activity_line, activity)),
            tuple(map(action_line, actions)),
        )
        reach = min((rows[-1].at for rows in read if len(rows) >= PAGE), default=None)
        taken = [_first(rows, lambda line: reach is None or line.at <= reach) for rows in read]
        edges = [rows[-1].key[1] if rows else at for rows, at in zip(taken, self.place.ids, strict=True)]
        return LogEntries(self.place, LogPlace(*edges), _of_origin(taken, self.origin), ended=reach is None)


@dataclass(frozen=True, slots=True)
class LogActions:
    """The newest actions of operators, whole: what became of them changes."""

    origin: str = ""
    every_ms: int = SLOW_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[ActionView, ...]:
        """Newest first. Raises StorageFailure."""
        return tuple(one for one in reports.actions(_ACTIONS) if concerns(one, self.origin))


def _first(rows: Sequence[LogLine], within: Callable[[LogLine], bool]) -> Sequence[LogLine]:
    """The rows up to the last one that is within."""
    number = next((len(rows) - back for back, line in enumerate(reversed(rows)) if within(line)), 0)
    return rows[:number]


def _of_origin(taken: Sequence[Sequence[LogLine]], origin: str) -> tuple[LogLine, ...]:
    """All of them but the actions that do not concern the origin."""
    every = (line for rows in taken for line in rows)
    return tuple(line for line in every if not isinstance(line.source, ActionView) or concerns(line.source, origin))
