"""Looking for the next entry of a kind through the whole log, in pieces of bounded size, each of them one reading.

Attempts, activity and actions are looked through each by its ids; the one that is least far goes on. What is found in
one of them is the next entry once the others have come as far as that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from tui_crawler.console.logs.queries import ACTION, EVERYTHING, LogPlace, LogScope, Strand, entries_from
from tui_crawler.console.logs.rows import LEVEL_WORDS, LogLine
from tui_crawler.console.reading.ask import ONCE_MS, asks
from tui_crawler.console.reading.reading import AnyReading
from tui_crawler.domain.records.exit_code import Severity
from tui_crawler.domain.records.view import LogReach
from tui_crawler.text.format import count

if TYPE_CHECKING:
    from tui_crawler.console.logs.queries import LogReports
    from tui_crawler.console.logs.window import LogList, LogListWindow
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.refresh import Snapshot


_MOST_WORDS = 24  # characters: how far it is stands behind them in the title


class LogSeeking(AnyReading):
    """One search at a time; what is asked for next takes its place."""

    def __init__(
        self,
        rows: LogList,
        arrive: Callable[[LogListWindow, LogLine], None],
        tell: Callable[[str], None],
        read_soon: Callable[[], object],
    ) -> None:
        """`arrive` shows another stretch of the log with the cursor on an entry; `tell` shows a short message."""
        self._list, self._arrive, self._tell, self._read_soon = rows, arrive, tell, read_soon
        self._search: LogSearch | None = None
        self._words = ""  # what is looked for
        self._both_ways = False  # whether it is looked for the other way, too, once there is none this way

    @property
    def under_way(self) -> bool:
        """Whether the database is being searched."""
        return self._search is not None

    @property
    def words(self) -> str:
        """What is looked for and how far that is; empty while nothing is."""
        if self._search is None:
            return ""
        far = f"{count(self._search.looked_at)} rows read, " if self._search.looked_at else ""
        return f"◷ searching {self._words[:_MOST_WORDS]}… {far}esc stops"

    def asks(self, *, frozen: bool) -> tuple[Ask[LogSearch], ...]:
        return () if self._search is None else (searched(self._search),)

    def to_level(self, level: Severity, *, older: bool) -> None:
        keyset = self._list.keyset
        if level < keyset.level:
            self._tell(f"{LEVEL_WORDS[keyset.level]} are shown; L shows everything")
        else:
            self.go(replace(keyset.scope, levels=frozenset({level})), level.name, older=older)

    def to_hit(self, needle: str, *, older: bool, both_ways: bool = False) -> None:
        """Goes to the next entry that holds a text; `both_ways`: wherever it is."""
        keyset = self._list.keyset
        self.go(replace(keyset.scope, text=needle), f"hit of {needle}", older=older, both_ways=both_ways)

    def go(self, quest: LogScope, words: str, *, older: bool, both_ways: bool = False) -> None:
        """Goes to the next entry that fits; `words` name it. `both_ways`: if there is none, to the next one the other
        way."""
        self.stop()
        rows = self._list
        near = next((line.key for line in rows.ahead(older=older) if quest.fits(line)), None)
        if rows.table.move_cursor(key=near, index=None):
            return
        if rows.in_part:
            self._tell(f"no further {words} among the rows shown (filtered or sorted)")
        elif not self._begin(quest, words, older=older, both_ways=both_ways):
            self._tell(f"no further {words} in this list")

    def stop(self) -> bool:
        """Looks no further; False when nothing was looked for."""
        was, self._search = self.under_way, None
        return was

    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        """Takes the piece that was read: arrives, gives up, or goes on; nothing is held back."""
        found = None if self._search is None else searched(self._search).found_in(shot)
        if found is not None:
            self._search = None if found.over else found.sized(shot.took_ms)
            if found.over:
                self._end(found)
            self._read_soon()
        return False

    def _end(self, found: LogSearch) -> None:
        line, rows = found.found, self._list
        if line is None:
            if not (self._both_ways and self._begin(found.quest, self._words, older=not found.older)):
                end = "beginning" if found.older else "end"
                self._tell(f"no further {self._words}: searched up to its {end}")
        elif not rows.in_part:
            self._arrive(rows.keyset.at(found.place), line)

    def _begin(self, quest: LogScope, words: str, *, older: bool, both_ways: bool = False) -> bool:
        """Looks through what is not held on one side; False when everything there is held, or nothing is read yet."""
        keyset = self._list.keyset
        edge = keyset.unread_before if older else keyset.unread_behind
        if edge is None:
            return both_ways and self._begin(quest, words, older=not older)
        self._words, self._both_ways = words, both_ways
        self._search = LogSearch(quest, older, edge)
        return True


FEWEST, MOST = 500, 50_000
"""How many entries of each of the three one piece looks at: first, and at most."""
QUICK_MS, SLOW_MS = 75, 150
"""A reading that took less makes the next piece larger, one that took longer makes it smaller."""
_GROWTH = 2
_MOST_MADE = 5_000
"""How many of what is not sifted by the database one piece looks at."""


@dataclass(frozen=True, slots=True)
class LogSearch:
    """The next piece of a search, whose reading is the search after it.

    The log is looked through up to `place`, towards older entries or newer ones: `looked_at` entries so far; `look` of
    each kind are in this piece at most. Once it is `over`, `place` is behind the entry `found`; None: there is none.
    """

    quest: LogScope
    older: bool
    place: LogPlace
    look: int = FEWEST
    looked_at: int = 0
    found: LogLine | None = None
    over: bool = False

    def sized(self, took_ms: int) -> LogSearch:
        """The next piece in a size that fits how long (ms) the reading before took."""
        if took_ms < QUICK_MS:
            return replace(self, look=min(self.look * _GROWTH, MOST))
        return replace(self, look=max(self.look // _GROWTH, FEWEST)) if took_ms > SLOW_MS else self

    def read(self, reports: LogReports) -> LogSearch:
        """Looks at the next piece. Raises StorageFailure."""
        most = min(self.look, _MOST_MADE)

        def strand(kind: int, edge: int) -> Strand:
            made = kind == ACTION or (kind and self.quest.text)
            limit, look = (most, most) if made else (1, self.look)
            return self.quest.strand(reports, kind, LogReach(edge, limit, look, oldest_first=not self.older))

        entries = entries_from(self.place, strand, not self.older)
        found = (max if self.older else min)(entries.lines, key=attrgetter("order"), default=None)
        place = entries.after if self.older else entries.up_to
        if found is not None:
            own, number = found.key  # of the other kinds it is behind the last one that is not later
            kinds = enumerate(LogPlace._fields)
            place = LogPlace(*(number if name == own else _last_until(reports, kind, found.at) for kind, name in kinds))
        looked_at = self.looked_at + entries.looked_at
        return replace(self, place=place, looked_at=looked_at, found=found, over=found is not None or entries.ended)


@asks(ONCE_MS)
def searched(reports: LogReports, _now: int, search: LogSearch) -> LogSearch:
    """Read the next piece of a search."""
    return search.read(reports)


@asks(ONCE_MS)
def entry_at(reports: LogReports, _now: int, at: int) -> tuple[LogPlace, LogLine | None]:
    """Find the place behind the last entry that is not later than a time (epoch ms), and that entry; None: there is
    none."""
    place = LogPlace(*(_last_until(reports, kind, at) for kind in range(len(LogPlace._fields))))
    lines = [_newest(reports, kind, number + 1) for kind, number in enumerate(place) if number]
    return place, max((line for line in lines if line is not None), key=attrgetter("order"), default=None)


def _last_until(reports: LogReports, kind: int, at: int) -> int:
    """The id of the last entry of one of the three that is not later than a time, found by halving; 0: none is."""
    newest = _newest(reports, kind, 0)

    def at_of(number: int) -> int:
        return line.at if (line := _newest(reports, kind, number + 1)) is not None else at

    return bisect_right(range(1, newest.key[1] + 1 if newest is not None else 1), at, key=at_of)


def _newest(reports: LogReports, kind: int, before_id: int) -> LogLine | None:
    """The newest entry of one of the three before an id (0: of all)."""
    return next(iter(EVERYTHING.strand(reports, kind, LogReach(before_id, 1, 1)).found), None)
