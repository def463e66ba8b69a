"""The events of the whole crawl, newest first: attempts, what operators asked for, errors of the console."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from tui_crawler.console.clock import present
from tui_crawler.console.overview.event_rows import EVENTS, line_of
from tui_crawler.console.reading.snapshot import EVENTS_KEPT
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.table.cells import Row, rows_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text.format import count, plural

if TYPE_CHECKING:
    from tui_crawler.console.overview.event_rows import Event
    from tui_crawler.console.panes.notice import ReportedError
    from tui_crawler.domain.records.operator_view import ActionView
    from tui_crawler.domain.records.view import AttemptView


_AT = attrgetter("record.at")


class EventsPane(ReachesConsole, CrawlTable):
    """What happens as it comes in. The cursor stays where it is, or on the newest row if it is there. What one scrolled
    to stays in view; back at the top, the newest row is followed as before."""

    pins_top = True

    def __init__(self) -> None:
        super().__init__(EVENTS, holds_still=True, id="events", classes="pane")
        self._attempts: tuple[Row, ...] = ()
        self._noted: tuple[Event, ...] = ()
        self._others: tuple[Row, ...] = ()
        self.bad: frozenset[Hashable] = frozenset()
        """The keys of problems."""
        self._left_at: Hashable | None = None  # the newest row when it was scrolled out of view
        self.name_pane("Events")

    def take(self, fresh: Sequence[AttemptView] | None) -> None:
        """Takes new attempts, newest first. None: the log was not read."""
        if fresh is not None and (fresh or self.awaited):
            self._attempts = (*self._made(fresh), *self._attempts)[:EVENTS_KEPT]
            self._show()

    def begin(self) -> None:
        """Forgets the attempts: time went back."""
        self._attempts, self._left_at = (), None
        self._show()

    def take_others(self, actions: Sequence[ActionView], troubles: Sequence[ReportedError]) -> None:
        """Takes what operators asked for (newest first) and the errors that were told (oldest first), all of them."""
        noted: tuple[Event, ...] = (*actions, *reversed(troubles))
        if noted != self._noted:
            self._noted = noted
            self._others = tuple(sorted(self._made(noted), key=_AT, reverse=True))
            self._show()

    def _made(self, events: Iterable[Event]) -> Iterable[Row]:
        return rows_of(EVENTS, map(line_of, events), present(self.console.clock))

    def _show(self) -> None:
        """Shows all by time, newest first; attempts keep their order."""
        rows = list(islice(merge(self._others, self._attempts, key=_AT, reverse=True), EVENTS_KEPT))
        self.bad = frozenset(row.key for row in rows if row.record.problem)
        self.set_rows(rows, cursor="first" if self._follows() else "pin")
        problems, held = len(self.bad), count(self.row_count)
        self.name_pane(f"Events · {plural(problems, 'problem')} among the newest {held}" if problems else "Events")

    def _follows(self) -> bool:
        """Whether the newest row has the cursor and is in view, or had it and is in view again."""
        at_top, on_newest = round(self.scroll_y) == 0, self.cursor_index <= 0
        if at_top and (on_newest or self.cursor_key == self._left_at):
            self._left_at = None
            return True
        if on_newest:
            self._left_at = self.cursor_key
        return False


def go_to_problem(table: CrawlTable, bad: Set[Hashable], *, older: bool) -> bool:
    problems = [index for index, key in enumerate(table.row_order) if key in bad]
    here = table.cursor_index
    if older:
        first = 0 if here == 0 and not table.has_focus else here + 1  # the newest row was not gone to yet
        target = next((index for index in problems if index >= first), None)
    else:
        target = next((index for index in reversed(problems) if index < here), None)
    if target is not None:
        table.move_cursor(index=target)
        table.focus()
    return target is not None
