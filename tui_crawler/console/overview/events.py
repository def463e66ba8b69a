"""The events of the whole crawl, newest first: attempts, what operators asked for, errors of the console."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import TYPE_CHECKING

from tui_crawler.console.clock import present
from tui_crawler.console.logs.attempts import is_problem
from tui_crawler.console.overview.event_rows import EVENTS, line_of
from tui_crawler.console.panes.notice import ReportedError
from tui_crawler.console.reading.snapshot import EVENTS_KEPT
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.table.cells import Row, rows_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.text.format import count, plural

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import AttemptView


class EventsPane(ReachesConsole, CrawlTable):
    """What happens as it comes in. The cursor stays where it is, or on the newest row if it is there. What one scrolled
    to stays in view; back at the top, the newest row is followed as before."""

    pins_top = True

    def __init__(self) -> None:
        super().__init__(EVENTS, holds_still=True, id="events", classes="pane")
        self._attempts: tuple[AttemptView, ...] = ()
        self._rows_made: tuple[Row, ...] = ()
        self._actions: tuple[ActionView, ...] = ()
        self._troubles: tuple[ReportedError, ...] = ()
        self._others: tuple[Row, ...] = ()
        self._left_at: Hashable | None = None  # the newest row when it was scrolled out of view
        self.name_pane("Events")

    def take(self, fresh: Sequence[AttemptView] | None) -> None:
        """Takes new attempts, newest first. None: the log was not read."""
        if fresh is None or not (fresh or self.awaited):
            return
        self._attempts = (*fresh, *self._attempts)[:EVENTS_KEPT]
        rows = rows_of(EVENTS, map(line_of, fresh), present(self.console.clock))
        self._rows_made = (*rows, *self._rows_made)[:EVENTS_KEPT]
        self._show()

    def begin(self) -> None:
        """Forgets the attempts: time went back."""
        self._attempts, self._rows_made, self._left_at = (), (), None
        self._show()

    def take_others(self, actions: Sequence[ActionView], troubles: Sequence[ReportedError]) -> None:
        """Takes what operators asked for (newest first) and the errors that were told (oldest first), all of them."""
        if tuple(actions) != self._actions or tuple(troubles) != self._troubles:
            self._actions, self._troubles = tuple(actions), tuple(troubles)
            others = sorted([*map(line_of, actions), *map(line_of, troubles)], key=lambda line: line.at)
            self._others = tuple(rows_of(EVENTS, others, present(self.console.clock)))
            self._show()

    def url_of(self, key: Hashable) -> str:
        """The URL of an attempt by its key; empty for any other row."""
        line = self.record(key)
        return "" if line is None or isinstance(line.event, ActionView | ReportedError) else line.event.url

    def words_of(self, key: Hashable) -> str:
        """What an action or an error says, whole (raw text); empty for any other row."""
        line = self.record(key)
        match None if line is None else line.event:
            case ReportedError(text=text):
                return text
            case ActionView(error=error, action=action, target=target) as asked:
                from tui_crawler.text.same_as import command_line_of  # noqa: PLC0415  not before the first paint

                return error or command_line_of(asked) or f"{action} {target}"
        return ""

    def go_to_problem(self, *, older: bool) -> bool:
        return go_to_problem(self, self._problems(), older=older)

    def _problems(self) -> Set[Hashable]:
        refused = {("action", one.action_id) for one in self._actions if one.error}
        failed: set[Hashable] = {one.attempt_id for one in self._attempts if is_problem(one)}
        return failed | refused | {("trouble", one.number) for one in self._troubles}

    def _show(self) -> None:
        self.set_rows(self._merged(), cursor="first" if self._follows() else "pin")
        problems, held = len(self._problems()), count(self.row_count)
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

    def _merged(self) -> list[Row]:
        """All rows by time, newest first; attempts keep their order."""
        others = list(self._others)
        rows: list[Row] = []
        for attempt, row in zip(self._attempts, self._rows_made, strict=True):
            while others and others[-1].record.at >= attempt.ended_at:
                rows.append(others.pop())
            rows.append(row)
        rows += reversed(others)
        return rows[:EVENTS_KEPT]


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
