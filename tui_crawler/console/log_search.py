"""Looking for the next entry of a kind through the whole log, in pieces of bounded size, each of them one reading.

Attempts, activity and actions are looked through each by its ids; the one that is least far goes on. What is found in
one of them is the next entry once the others have come as far as that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.log_parts import (
    END,
    ONCE_MS,
    LogPlace,
    Strand,
    actions_of,
    activity_of,
    attempts_of,
)
from tui_crawler.console.present.log_lines import (
    LogLine,
    action_line,
    activity_line,
    attempt_line,
    concerns,
)
from tui_crawler.domain.desk_view import ActionView
from tui_crawler.domain.exit_code import Severity
from tui_crawler.domain.log_window import LogReach

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tui_crawler.console.ports import Reports

FEWEST, MOST = 500, 50_000
"""How many entries of each of the three one piece looks at: first, and at most."""
QUICK_MS, SLOW_MS = 75, 150
"""A reading that took less makes the next piece larger, one that took longer makes it smaller."""
_GROWTH = 2
_MOST_MADE = 5_000
"""How many of what is not sifted by the database one piece looks at."""


@dataclass(frozen=True, slots=True)
class Quest:
    """What is looked for: entries of these levels, at one origin or (empty) at all, that have a text (lower case)."""

    levels: frozenset[Severity]
    text: str = ""
    origin: str = ""

    def fits(self, line: LogLine) -> bool:
        """Whether an entry is one of them."""
        if isinstance(line.source, ActionView):
            here = concerns(line.source, self.origin)
        else:
            here = self.origin in {"", line.origin}
        return here and line.level in self.levels and self.text in line.text


@dataclass(frozen=True, slots=True)
class Trail:
    """How far one of the three was looked through: behind the id `edge` (0: from the end), up to the time `at` (epoch
    ms; None: not begun). `over`: it found something, or nothing lies beyond."""

    edge: int
    at: int | None = None
    found: LogLine | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class LogSearch:
    """The next piece of a search: a part whose reading is the search after it.

    `looked_at` entries were looked at so far, `look` of each kind are in this piece at most. Once it is `over`, `place`
    is the place behind the entry that was found; None: there is none.
    """

    quest: Quest
    older: bool
    trails: tuple[Trail, Trail, Trail]
    look: int = FEWEST
    looked_at: int = 0
    place: LogPlace | None = None
    every_ms: int = ONCE_MS
    by_time: bool = False

    @classmethod
    def begin(cls, quest: Quest, place: LogPlace, *, older: bool) -> LogSearch:
        """A search from a place on, towards older entries or newer ones."""
        first, second, third = (
            Trail(0 if place == END else number + 1 if older else number, over=older and number == 0)
            for number in place.ids
        )
        return cls(quest, older, (first, second, third))

    @property
    def found(self) -> LogLine | None:
        """The nearest entry found so far."""
        lines = [trail.found for trail in self.trails if trail.found is not None]
        if not lines:
            return None
        return max(lines, key=_order) if self.older else min(lines, key=_order)

    @property
    def over(self) -> bool:
        """Whether nothing nearer can be found."""
        return not any(map(self._open, self.trails))

    def sized(self, took_ms: int) -> LogSearch:
        """The next piece in a size that fits how long (ms) the reading before took."""
        if took_ms < QUICK_MS:
            return replace(self, look=min(self.look * _GROWTH, MOST))
        return replace(self, look=max(self.look // _GROWTH, FEWEST)) if took_ms > SLOW_MS else self

    def read(self, reports: Reports, now: int) -> LogSearch:
        """Looks at the next piece. Raises StorageFailure."""
        times = [trail.at for trail in self.trails if self._open(trail) and trail.at is not None]
        nearest = (max(times) if self.older else min(times)) if times else None
        trails, looked_at = list(self.trails), self.looked_at
        for number, (trail, look) in enumerate(
            zip(self.trails, (self._attempts, self._activity, self._actions), strict=True)
        ):
            if self._open(trail) and trail.at in {None, nearest}:
                strand = look(reports, trail.edge)
                looked_at += strand.looked_at
                trails[number] = self._after(trail, strand)
        first, second, third = trails
        fresh = replace(self, trails=(first, second, third), looked_at=looked_at)
        found = fresh.found
        return replace(fresh, place=_place_of(reports, found)) if fresh.over and found is not None else fresh

    def _attempts(self, reports: Reports, edge: int) -> Strand:
        quest = self.quest
        return attempts_of(reports, quest.origin, quest.levels, self._reach(edge, 1, self.look), quest.text)

    def _activity(self, reports: Reports, edge: int) -> Strand:
        look = min(self.look, _MOST_MADE) if self.quest.text else self.look
        reach = self._reach(edge, look if self.quest.text else 1, look)
        return activity_of(reports, self.quest.origin, self.quest.levels, reach)

    def _actions(self, reports: Reports, edge: int) -> Strand:
        look = min(self.look, _MOST_MADE)
        return actions_of(reports, self._reach(edge, look, look))

    def _reach(self, edge: int, limit: int, look: int) -> LogReach:
        return LogReach(edge, limit, look, oldest_first=not self.older)

    def _after(self, trail: Trail, strand: Strand) -> Trail:
        """How far one of the three is once this was read of it."""
        found = next(filter(self.quest.fits, strand.lines), None)
        if found is not None:
            return Trail(trail.edge, found.at, found, over=True)
        return Trail(strand.last, strand.last_at, over=strand.ended)

    def _open(self, trail: Trail) -> bool:
        """Whether there may be something nearer in one of the three than what was found."""
        found = self.found
        if trail.over or found is None or trail.at is None:
            return not trail.over
        return trail.at >= found.at if self.older else trail.at <= found.at


def _place_of(reports: Reports, line: LogLine) -> LogPlace:
    """The place behind an entry: of the two other kinds it is behind the last one that is not later."""
    before: Mapping[str, Callable[[int], LogLine | None]] = {
        "attempt": lambda number: next(map(attempt_line, reports.attempts(before_id=number, limit=1)), None),
        "activity": lambda number: next(map(activity_line, reports.activity(1, "", 0, before_id=number)), None),
        "action": lambda number: next(map(action_line, reports.actions(1, before_id=number)), None),
    }
    own, number = line.key
    return LogPlace(*(number if kind == own else _last_until(line.at, newest) for kind, newest in before.items()))


def _last_until(at: int, before: Callable[[int], LogLine | None]) -> int:
    """The id of the last entry that is not later than a time, found by halving; 0: there is none. `before` reads the
    newest entry before an id, of all for 0."""
    newest = before(0)
    low, high = 0, newest.key[1] if newest is not None else 0
    while low < high:
        middle = (low + high + 1) // 2
        line = before(middle + 1)
        if line is None or line.at <= at:
            low = middle
        else:
            high = line.key[1] - 1
    return low


def _order(line: LogLine) -> tuple[int, str, int]:
    return line.order
