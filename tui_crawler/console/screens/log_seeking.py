"""The way from entry to entry of a kind in the log: among the rows held, and where these end through the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.format import count
from tui_crawler.console.log_search import LogSearch, Quest
from tui_crawler.console.present.log_lines import LEVEL_WORDS
from tui_crawler.domain.exit_code import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tui_crawler.console.log_book import LogBook
    from tui_crawler.console.present.log_lines import LogLine
    from tui_crawler.console.refresh import Part
    from tui_crawler.console.screens.log_list import LogList


_MOST_WORDS = 24  # characters: how far it is stands behind them in the title


@dataclass(frozen=True, slots=True)
class _Aim:
    """What is looked for, in words, and whether it is looked for the other way, too, once there is none this way."""

    quest: Quest
    words: str
    both_ways: bool = False


class LogSeeking:
    """One search at a time; what is asked for next takes its place."""

    def __init__(self, rows: LogList, arrive: Callable[[LogBook, LogLine], None], tell: Callable[[str], None]) -> None:
        """`arrive` shows another stretch of the log with the cursor on an entry; `tell` shows a short message."""
        self._list = rows
        self._arrive = arrive
        self._tell = tell
        self._aim: _Aim | None = None
        self._search: LogSearch | None = None

    @property
    def under_way(self) -> bool:
        """Whether the database is looked through."""
        return self._search is not None

    @property
    def words(self) -> str:
        """What is looked for and how far that is; empty while nothing is."""
        if self._aim is None or self._search is None:
            return ""
        looked_at = self._search.looked_at
        far = f"{count(looked_at)} looked at, " if looked_at else ""
        return f"◷ looking for {self._aim.words[:_MOST_WORDS]}… {far}esc stops"

    @property
    def parts(self) -> tuple[Part, ...]:
        """The next piece of the search."""
        return () if self._search is None else (self._search,)

    def to_level(self, level: Severity, *, older: bool) -> None:
        """Goes to the next entry of a level."""
        book = self._list.book
        if level < book.level:
            self._tell(f"{LEVEL_WORDS[book.level]} are shown; L shows everything")
        else:
            self.go(Quest(frozenset({level}), origin=book.origin), level.name, older=older)

    def to_hit(self, needle: str, *, older: bool, both_ways: bool = False) -> None:
        """Goes to the next entry that holds a text; `both_ways`: wherever it is."""
        book = self._list.book
        levels = frozenset(level for level in Severity if level >= book.level)
        self.go(Quest(levels, needle, book.origin), f"hit of {needle}", older=older, both_ways=both_ways)

    def go(self, quest: Quest, words: str, *, older: bool, both_ways: bool = False) -> None:
        """Goes to the next entry that fits; `words` name it. `both_ways`: if there is none, to the next one the other
        way."""
        self.stop()
        aim, rows = _Aim(quest, words, both_ways), self._list
        near = next((line.key for line in rows.ahead(older=older) if quest.fits(line)), None)
        if rows.table.move_cursor(key=near, index=None):
            return
        if rows.in_part:
            self._tell(f"there is no further {words} among the rows shown; a filter or an order keeps to these")
        elif not self._begin(aim, older=older):
            self._tell(f"there is no further {words} in this list")

    def stop(self) -> bool:
        """Looks no further; False when nothing was looked for."""
        was, self._aim, self._search = self.under_way, None, None
        return was

    def take(self, read: Mapping[Part, object], took_ms: int) -> bool:
        """Takes the piece that was read in `took_ms`: arrives, gives up, or goes on. False when there was none."""
        aim, search = self._aim, self._search
        found = None if search is None else read.get(search)
        if aim is None or search is None or not isinstance(found, LogSearch):
            return False
        if not found.over:
            self._search = found.sized(took_ms)
            return True
        self.stop()
        line, place, rows = found.found, found.place, self._list
        if line is None or place is None:
            if not (aim.both_ways and self._begin(_Aim(aim.quest, aim.words), older=not found.older)):
                end = "beginning" if found.older else "end"
                self._tell(f"there is no further {aim.words}: the log was looked through to its {end}")
        elif not rows.in_part:
            self._arrive(rows.book.at(place), line)
        return True

    def _begin(self, aim: _Aim, *, older: bool) -> bool:
        """Looks through what is not held on one side; False when everything there is held, or nothing is read yet."""
        book = self._list.book
        edge = book.unread_before if older else book.unread_behind
        if edge is None:
            return self._begin(_Aim(aim.quest, aim.words), older=not older) if aim.both_ways else False
        self._aim, self._search = aim, LogSearch.begin(aim.quest, edge, older=older)
        return True
