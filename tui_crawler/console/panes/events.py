"""The events of the whole crawl, newest first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.content import Content

from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.present.attempt_row import EVENT_COLUMNS, event_row, is_problem
from tui_crawler.console.table_cells import LateRow
from tui_crawler.domain.view import AttemptView

if TYPE_CHECKING:
    from tui_crawler.console.app import CrawlerApp

KEPT = 500


class EventsPane(CrawlTable):
    """Attempts as they come in. The cursor stays where it is, or on the newest row when it is there."""

    def __init__(self) -> None:
        """Makes it empty."""
        super().__init__(EVENT_COLUMNS, placeholder="nothing has happened yet", id="events", classes="pane")
        self._attempts: tuple[AttemptView, ...] = ()
        self._held: tuple[AttemptView, ...] = ()
        self._rows_made: tuple[Row, ...] = ()
        self.border_title = Content("Events")

    def take(self, fresh: Sequence[AttemptView], *, hold: bool) -> None:
        """Takes new attempts, newest first; held back while `hold`."""
        if not fresh:
            return
        if hold:
            self._held = (*fresh, *self._held)[:KEPT]
            return
        zone = cast("CrawlerApp", self.app).clock.zone
        self._attempts = (*fresh, *self._attempts)[:KEPT]
        rows = (LateRow(attempt.attempt_id, partial(event_row, attempt, zone)) for attempt in fresh)
        self._rows_made = (*rows, *self._rows_made)[:KEPT]
        self._show()

    def thaw(self) -> None:
        """Shows what was held back."""
        held, self._held = self._held, ()
        self.take(held, hold=False)

    def url_of(self, key: Hashable) -> str:
        """The URL of an attempt by its key; empty when it is not kept any more."""
        return next((attempt.url for attempt in self._attempts if attempt.attempt_id == key), "")

    def attempt(self, key: Hashable) -> AttemptView | None:
        """An attempt by its key; None when it is not kept any more."""
        return next((attempt for attempt in self._attempts if attempt.attempt_id == key), None)

    def go_to_problem(self, *, older: bool) -> bool:
        """Puts the cursor on the next older (or newer) problem; False when there is none."""
        return go_to_problem(self, self._attempts, older=older)

    def _show(self) -> None:
        following = self.cursor_index <= 0
        self.set_rows(self._rows_made, cursor="first" if following else "pin")
        problems = sum(map(is_problem, self._attempts))
        self.border_title = Content(f"Events · {problems} problems" if problems else "Events")


def go_to_problem(table: CrawlTable, attempts: Sequence[AttemptView], *, older: bool) -> bool:
    """Puts the cursor of a table of these attempts (newest first) on the next problem; False when there is none."""
    bad = {attempt.attempt_id for attempt in attempts if is_problem(attempt)}
    problems = [index for index, key in enumerate(table.row_order) if key in bad]
    here = table.cursor_index
    first = bool(attempts) and not table.has_focus and here in problems and here == 0 and older
    if first:
        target: int | None = here
    elif older:
        target = next((index for index in problems if index > here), None)
    else:
        target = next((index for index in reversed(problems) if index < here), None)
    if target is None:
        return False
    table.move_cursor(index=target)
    table.focus()
    return True
