"""The origins that pass the filter as rows, in their order: those on the screen are made anew as they change."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from tui_crawler.console.clock import present
from tui_crawler.console.overview.order import OverviewFilter, arrange, fields_of, read_origin_needle
from tui_crawler.console.overview.rows import OVERVIEW, chosen, counts_down, line_of
from tui_crawler.console.reading.snapshot import RATE_CELL_MS
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.urls.cells import twin_of
from tui_crawler.domain.record import replace

if TYPE_CHECKING:
    from tui_crawler.console.screen.base import ConsoleScreen
    from tui_crawler.domain.records.view import OriginView

ORDER_MS = 1_000
"""So long an order holds, and so long after the last key nothing moves (docs/console.md, refresh policy)."""

_EVERYTHING = "Press {view.problems} or {filter.clear} to see everything."


class OriginList:
    """What a screen shows of the picture's origins in its table."""

    def __init__(self, screen: ConsoleScreen, table: CrawlTable, wanted: OverviewFilter) -> None:
        """`wanted` is the order and the filter; `order` brings another one into the table."""
        self._console = screen.console
        self._screen = screen
        self.table = table
        self.wanted = wanted
        self._rows: dict[str, Row] = {}
        self._relation = replace(OVERVIEW, columns=())
        self.fit()
        self._dirty: set[str] = set()  # origins whose rows are older than what is known of them
        self._ordered_at = -ORDER_MS
        self._cell = 0

    def changed(self, origins: Set[str]) -> None:
        """These are others now; the rows of those in view are made anew."""
        self._dirty |= origins | {twin for twin in map(twin_of, origins - self._rows.keys()) if twin in self._rows}
        self.put_visible()

    def fit(self) -> None:
        """Show the columns that are wanted."""
        relation = chosen(self.wanted.columns)
        if relation.columns != self._relation.columns:
            self._relation = relation
            self.table.set_columns(relation.columns)
            self._rows.clear()

    def tick(self) -> None:
        """Makes rows in view anew that count down, or that came into view since they changed; once in a cell of their
        small graphs all."""
        now, cell = self._console.clock.wall_ms(), self._console.live_state.counted_ms() // RATE_CELL_MS
        moved, self._cell = cell != self._cell, cell
        origins = self._console.live_state.origins
        visible = [origins[str(key)] for key in self.table.visible_keys if key in origins]
        self._put(view for view in visible if moved or counts_down(view, now))
        self.put_visible()

    def put_visible(self) -> None:
        """Makes the rows on the screen anew whose origins changed; the others when they come into view."""
        self._put_named([str(key) for key in self.table.visible_keys if key in self._dirty])

    def put_all(self) -> None:
        self._put_named([*self._dirty])

    def _put_named(self, names: Iterable[str]) -> None:
        origins = self._console.live_state.origins
        self._put(origins[name] for name in names if name in origins)

    def _put(self, views: Iterable[OriginView]) -> None:
        live, moment = self._console.live_state, present(self._console.clock)
        for view in views:
            row = Row.of(self._relation, line_of(view, live), moment)
            self._rows[view.origin] = row
            self._dirty.discard(view.origin)
            self.table.update_row(row)

    @property
    def order_is_due(self) -> bool:
        return min(self._console.clock.mono_ms() - self._ordered_at, self._console.idle_ms()) >= ORDER_MS

    @property
    def ordered(self) -> bool:
        return self._ordered_at >= 0

    def begin(self) -> None:
        """Time went back: no row holds, no order does."""
        self._rows.clear()
        self.disorder()

    def disorder(self) -> None:
        """No order holds any more: the next reading brings one."""
        self._ordered_at = -ORDER_MS

    def order(self, *, anew: bool = False) -> None:
        """Puts the rows in order, the cursor stays on its origin. Marked ones hold all in place unless it is `anew`."""
        console, table = self._console, self.table
        if not console.live_state.known or self._screen.frozen:
            return
        self._ordered_at = console.clock.mono_ms()
        origins = console.live_state.origins
        views = arrange(origins.values(), self.wanted, console.live_state.traps)
        if table.mark_count and not anew:
            fit = {view.origin for view in views}
            views += [origins[str(key)] for key in table.row_order if key not in fit and key in origins]
        self._put(view for view in views if view.origin not in self._rows)
        if [view.origin for view in views] != list(table.row_order) or not views:
            table.placeholder = self._nothing()
            table.set_rows([self._rows[view.origin] for view in views], keep_marks=True, anew=anew)
            self.put_visible()

    def _nothing(self) -> str:
        if self._console.live_state.hosting.starting and not self._console.live_state.origins:
            return "The crawl is starting."
        what = "problems" if self.wanted.problems and not self.wanted.needle else "rows"
        nothing = "No origins yet.\n\n{origin.add}  add seeds      {help.keys}  keys"
        known = self._console.live_state.origins
        return self._screen.key_names.said(f"No {what} here. {_EVERYTHING}" if known else nothing)

    def go_to_match(self, text: str, *, forward: bool) -> None:
        """Goes on from the selected row to the next that fits a filter, round the end."""
        sought = read_origin_needle(text)
        origins, order = self._console.live_state.origins, self.table.row_order
        steps = range(1, len(order) + 1) if forward else range(-1, -len(order) - 1, -1)
        indexes = ((self.table.cursor_index + step) % len(order) for step in steps)
        target = next((index for index in indexes if sought.keeps(fields_of(origins[str(order[index])]))), None)
        if target is not None:
            self.table.pick(target)
