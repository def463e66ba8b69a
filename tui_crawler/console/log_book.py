"""The log as view 5 holds it: which windows are read, and the bounded list they are merged into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.present.log_lines import (
    Key,
    Level,
    LogLine,
    action_line,
    activity_line,
    attempt_line,
    concerns,
)
from tui_crawler.console.refresh import COUNTER_MS, SLOW_MS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.view import ActionView, ActivityView, AttemptView

KEPT = 2_000
"""How many entries are held at most."""

PAGE = 500
"""How many attempts are read at first, and each time older ones are asked for."""

_ACTIONS = 200  # read again each second: what became of them changes
_REACH = 10_000  # how many activities and actions older windows look through, newest first

_ONCE = 86_400_000


@dataclass(frozen=True, slots=True)
class LogWindow:
    """What was read. `floor` is the time (epoch ms) down to which the attempts are complete, 0: to the beginning.

    `blind_before`: activities and actions before that time are out of reach and not among the entries.
    """

    attempts: tuple[AttemptView, ...]
    activity: tuple[ActivityView, ...]
    actions: tuple[ActionView, ...] = ()
    floor: int = 0
    blind_before: int = 0


@dataclass(frozen=True, slots=True)
class LogTail:
    """The end of the log, after the entries that are known already (ids 0: none is)."""

    origin: str = ""
    problems_only: bool = False
    after_attempt: int = 0
    after_activity: int = 0
    every_ms: int = COUNTER_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogWindow:
        """Newest first. Raises StorageFailure."""
        limit = KEPT if self.after_attempt else PAGE
        attempts = reports.attempts(
            origin=self.origin, after_id=self.after_attempt, limit=limit, problems_only=self.problems_only
        )
        activity = reports.activity(KEPT, self.origin, self.after_activity)
        floor = _floor(attempts, limit)
        blind = activity[-1].at if len(activity) >= KEPT else 0
        return LogWindow(attempts, activity, (), floor, blind if blind > floor else 0)


@dataclass(frozen=True, slots=True)
class LogActions:
    """The newest actions of operators, whole: what became of them changes."""

    origin: str = ""
    every_ms: int = SLOW_MS
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[ActionView, ...]:
        """Newest first. Raises StorageFailure."""
        return tuple(one for one in reports.actions(_ACTIONS) if concerns(one, self.origin))


@dataclass(frozen=True, slots=True)
class LogBefore:
    """A window of older entries: attempts before an id, and what else happened up to `until` (epoch ms)."""

    before_attempt: int
    until: int
    origin: str = ""
    problems_only: bool = False
    every_ms: int = _ONCE
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> LogWindow:
        """Newest first. Raises StorageFailure."""
        attempts = reports.attempts(
            origin=self.origin, before_id=self.before_attempt, limit=PAGE, problems_only=self.problems_only
        )
        floor = _floor(attempts, PAGE)
        activity = reports.activity(_REACH, self.origin, 0)
        actions = reports.actions(_REACH)
        reached = [rows[-1].at for rows in (activity, actions) if len(rows) >= _REACH]
        blind = max(reached, default=0)
        return LogWindow(
            attempts,
            tuple(one for one in activity if floor <= one.at <= self.until),
            tuple(one for one in actions if floor <= one.at <= self.until and concerns(one, self.origin)),
            floor,
            blind if blind > floor else 0,
        )


class LogBook:
    """The entries in the order of time, oldest first, at most KEPT of them. Knows no screen."""

    def __init__(self, origin: str = "", *, level: Level = Level.info) -> None:
        """Begins empty, for one origin (empty: all), for entries of a level and above."""
        self.origin = origin
        self.level = level
        self.lines: list[LogLine] = []
        self.started = False
        self.cut = False
        """Whether newer entries were left out to make room for older ones."""
        self.floor = 0
        self.blind_before = 0
        self._keys: dict[Key, LogLine] = {}
        self._newest = (0, 0)
        self._oldest_attempt = 0
        self._trimmed = False

    @property
    def problems_only(self) -> bool:
        """Whether only warnings and errors are read."""
        return self.level is not Level.info

    @property
    def tail(self) -> LogTail:
        """What comes after the entries."""
        return LogTail(self.origin, self.problems_only, *self._newest)

    @property
    def actions(self) -> LogActions:
        """The actions that belong to it."""
        return LogActions(self.origin)

    @property
    def before(self) -> LogBefore | None:
        """What comes before the entries; None when they reach back to the beginning of the log."""
        if not self.started or not (self.floor or self._trimmed):
            return None
        until = self.lines[0].at if self.lines else self.floor
        return LogBefore(self._oldest_attempt, until, self.origin, self.problems_only)

    def line(self, key: object) -> LogLine | None:
        """An entry by its key."""
        return self._keys.get(key) if isinstance(key, tuple) else None

    def take_tail(self, window: LogWindow, *, keep_end: bool) -> bool:
        """Takes what came after; `keep_end` False: the oldest entries are kept when there are too many.

        True when anything is new.
        """
        if self.started and len(window.attempts) >= KEPT:  # more than is held: what lies between was not read
            self._forget()
        first = not self.started
        self.started = True
        if first:
            self.floor, self.blind_before = window.floor, window.blind_before
            self._oldest_attempt = min((one.attempt_id for one in window.attempts), default=0)
        self._newest = (
            max(self._newest[0], *(one.attempt_id for one in window.attempts), 0),
            max(self._newest[1], *(one.activity_id for one in window.activity), 0),
        )
        activity = (one for one in window.activity if one.at >= self.floor)
        changed = self._put((*map(attempt_line, window.attempts), *map(activity_line, activity)))
        self._trim(keep_end=keep_end)
        return changed or first

    def take_actions(self, actions: Iterable[ActionView]) -> bool:
        """Takes actions, also those that were known and have changed; True when anything is new."""
        last = self.lines[-1].at if self.cut and self.lines else None
        seen = (one for one in actions if one.at >= self.floor and (last is None or one.at <= last))
        changed = self.started and self._put(map(action_line, seen))
        if changed:
            self._trim(keep_end=not self.cut)
        return changed

    def take_before(self, window: LogWindow) -> int:
        """Takes older entries; the newest make room for them. Answers how many there were."""
        before = len(self._keys)
        self.floor = window.floor
        self.blind_before = max(self.blind_before, window.blind_before)
        self._trimmed = False
        self._oldest_attempt = min((one.attempt_id for one in window.attempts), default=self._oldest_attempt)
        lines = (*map(attempt_line, window.attempts), *map(activity_line, window.activity))
        self._put((*lines, *map(action_line, window.actions)))
        added = len(self._keys) - before
        self._trim(keep_end=False)
        return added

    def _forget(self) -> None:
        self.lines, self._keys = [], {}
        self.started = self.cut = self._trimmed = False
        self._newest = (0, 0)

    def _put(self, lines: Iterable[LogLine]) -> bool:
        fresh = [line for line in lines if line.level >= self.level and self._keys.get(line.key) != line]
        if fresh:
            self._keys.update((line.key, line) for line in fresh)
            self.lines = sorted(self._keys.values(), key=lambda line: line.order)
        return bool(fresh)

    def _trim(self, *, keep_end: bool) -> None:
        """Lets go of what is too much, at one end."""
        over = len(self.lines) - KEPT
        if over <= 0:
            return
        if keep_end:
            gone, self.lines = self.lines[:over], self.lines[over:]
            self.floor = self.lines[0].at
            attempts = [line.key[1] for line in gone if line.key[0] == "attempt"]
            self._oldest_attempt = max([*(number + 1 for number in attempts), self._oldest_attempt])
            self._trimmed = True
        else:
            gone, self.lines = self.lines[KEPT:], self.lines[:KEPT]
            self.cut = True
        for line in gone:
            del self._keys[line.key]


def _floor(attempts: tuple[AttemptView, ...], limit: int) -> int:
    """The time down to which a window is complete, 0 when it reaches the beginning."""
    return min(one.ended_at for one in attempts) if len(attempts) >= limit else 0
