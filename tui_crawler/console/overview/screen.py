"""View 1: all origins, the selected one in short, and the events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.actions import BY_ID, ORDERS
from tui_crawler.console.clock import present
from tui_crawler.console.handlers import handles, handles_each
from tui_crawler.console.overview.events import EventsPane, go_to_problem
from tui_crawler.console.overview.order import SORT_COLUMNS, OverviewFilter, read_origin_needle
from tui_crawler.console.overview.origin_list import OriginList
from tui_crawler.console.overview.queries import next_page_of, recent_actions, summary_of
from tui_crawler.console.overview.rows import OVERVIEW, UNORDERED, line_of, opened_by
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.shared_lines import FRAME, SharedHeight
from tui_crawler.console.reading.ask import Ask
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.console.reading.refresh import EVENTS, ORIGINS
from tui_crawler.console.screen.base import title
from tui_crawler.console.screen.waiting import LiveFilterScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.filter_terms import HINT
from tui_crawler.console.urls.cells import host_of
from tui_crawler.text.format import READING, count
from tui_crawler.text.glyphs import ASCENDING, DESCENDING, state_mark
from tui_crawler.text.safe_text import safe
from tui_crawler.text.standing import TALLIES

if TYPE_CHECKING:
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.domain.records.view import OriginView

_TALLIED_FROM = 72
"""Cells of a screen whose title counts origins by state: else it would hide what follows it, as the zoom."""
LEAST, BESIDE = 8, 32
"""Lines of the origins at least, however few; and where the selected one stands beside them, which needs about as many:
what is measured would have the screen laid out anew as the cursor moves."""


Read = TypeVar("Read")


class OverviewScreen(LiveFilterScreen):
    """The screen the console begins with."""

    WHERE = Where.overview
    HERE = frozenset({"origin.move"})
    CRUMBS = (Where.overview.value,)
    LIVE = (ORIGINS, EVENTS)
    BADGE = "#origins"
    MARKS = "#origins"

    def __init__(self, wanted: OverviewFilter | None = None) -> None:
        """`wanted` is how it begins, by default with the most failures."""
        super().__init__()
        self._begins_with = wanted or OverviewFilter()
        self._sought = ""

    def body(self) -> Iterable[Widget]:
        self._table = CrawlTable(OVERVIEW, placeholder=READING, holds_still=True, id="origins", classes="pane")
        self._table.holds_while_marked = True
        self._list = OriginList(self, self._table, self._begins_with)
        self._actions = PaneReading(recent_actions)
        self._card = PaneReading(lambda: self._of_selected(summary_of))
        self._next = PaneReading(lambda: self._of_selected(next_page_of))
        self.reads = (self._actions, self._card, self._next)
        self._summary = Lines(id="summary", classes="pane")
        self._why = Lines(id="why")
        self._events = EventsPane()
        upper = Horizontal(self._table, self._summary, id="upper")
        self._shared_height = SharedHeight(upper)
        yield Vertical(upper, self._why, self._events, id="body")

    def on_mount(self) -> None:
        self._show_sort()

    async def on_screen_resume(self, _event: events.ScreenResume) -> None:
        """Makes the order anew when another screen lay over it: from what is known, and from the next reading."""
        if not self._list.ordered:
            self._shared_height.begin()
            self._order()
            self._list.disorder()

    def on_resize(self, _event: events.Resize) -> None:
        self._shared_height.begin()
        self.call_after_refresh(self._make_room)

    def on_screen_suspend(self) -> None:
        """Another screen lies over it; a dialog does not count, it goes on under it."""
        if not self.on_top:
            self._list.disorder()

    def _of_selected(self, ask: Callable[[str], Ask[Read]]) -> Ask[Read] | None:
        view = self._selected() if self.is_mounted and not self.has_class("-narrow") else None
        return None if view is None else ask(view.origin)

    def take(self, shot: Snapshot) -> None:
        """Takes changed origins, new events, and what operators did."""
        if shot.anew:
            self._events.begin()
            self._list.begin()
        if not self.frozen:
            self._take_news()
        super().take(shot)
        if self.frozen:
            self.missed = len(self.console.live_state.news)
            self.show_titles()

    def _take_news(self) -> None:
        live_state = self.console.live_state
        self._events.take(live_state.take_events())
        self._list.changed(live_state.take_news())

    def show_live(self) -> None:
        self._events.take_others(self._actions.value or (), self.console.live_state.troubles)
        if not self._list.ordered or self._list.order_is_due:
            self._order()
        self._show_selected()

    def tick(self) -> None:
        if not self.frozen:
            self._list.tick()
        super().tick()

    def thaw(self) -> None:
        self._take_news()
        self._order()
        super().thaw()

    def _order(self, *, anew: bool = False) -> None:
        self._list.order(anew=anew)
        self.show_titles()
        self._make_room()

    def _make_room(self) -> None:
        """What origins and the selected one do not need is for the events, where these are shown."""
        if self.console.live_state.known:
            rows = self._table.row_count
            least = LEAST if self.has_class("-narrow") else BESIDE
            self._shared_height.take(max(rows + FRAME, least), all_of_it=not rows or self.has_class("-low"))

    def show_titles(self) -> None:
        wanted, parts = self._list.wanted, ["Origins"]
        shown, known = self._table.row_count, len(self.console.live_state.origins)
        if known:
            parts.append(count(known) if shown == known else f"{count(shown)} of {count(known)}")
        parts.append(f"by {wanted.sort} {DESCENDING if wanted.descending else ASCENDING}")
        if wanted.needle:
            parts += [f"filter: {wanted.needle}", *filter(None, (read_origin_needle(wanted.needle).problem,))]
        if wanted.problems:
            parts.append("problems only")
        tally = self.console.live_state.tally
        listed = [one for one in TALLIES if tally[one] and self.size.width >= _TALLIED_FROM]
        parts.append("  ".join(f"{state_mark(one).glyph} {count(tally[one])}" for one in listed))
        title(self._table, " · ".join(filter(None, parts)))

    def _show_sort(self) -> None:
        self._table.sort = (self._list.wanted.sort, self._list.wanted.descending)

    def _show_selected(self) -> None:
        from tui_crawler.console.overview import summary  # noqa: PLC0415  not before the first paint

        live, view, card = self.console.live_state, self._selected(), self._card.value
        if view is None:
            title(self._summary, "")
            was_read, known = live.known and not live.hosting.starting, len(live.origins)
            self._summary.show(summary.no_origin_lines(was_read, known, self._list.wanted.narrows, self.key_names))
            self._why.show([])
            return
        line, at = line_of(view, live), present(self.console.clock)
        lines = summary.summary_lines(line, at, (card and card.suspicion) or live.traps.get(view.origin))
        lines += summary.next_lines(view, self._next.value or "")
        self._summary.show([*lines, *(summary.card_lines(card) if card else ())])
        title(self._summary, host_of(view.origin), self._summary.more)
        self._why.show([summary.why_line(line, at)])

    def _selected(self) -> OriginView | None:
        return self.console.live_state.origins.get(str(self._table.cursor_key))

    def situation(self) -> Situation:
        """The marked origins, those that a filter hides last, or the selected one."""
        known = self.console.live_state.origins
        targets = tuple(known[str(key)] for key in self._table.chosen if key in known)
        failed = sum(view.failed for view in targets)
        meant = targets if self._table.mark_count or (self._table.picked and failed) else ()
        failures = tuple(("origin", view.origin) for view in meant)
        return Situation(Where.overview, origins=targets, failed=failed, failures=failures)

    @property
    def wider(self) -> str:
        return "all origins" if self._list.wanted.narrows else ""

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        return tuple(ORDERS) if table is self._table else super().orders(table)

    def bring_up_to_date(self, table: CrawlTable) -> None:
        if table is self._table and not self.frozen:
            self._list.put_all()

    @property
    def arrangement(self) -> OverviewFilter:
        return self._list.wanted if self.is_mounted else self._begins_with

    def open_filter(self, text: str) -> None:
        """Filters the origins; the events in the pane that has the focus."""
        if self.focused is self._events:
            super().open_filter(text)
        elif text:
            self._arrange(replace(self._list.wanted, needle=text))
        else:
            self._open_line("Origins /", self._list.wanted.needle, HINT.replace("  !", " worker:  !"))

    def go_to_match(self, forward: bool) -> None:
        if self.focused is self._events:
            super().go_to_match(forward)
        else:
            self._list.go_to_match(self._sought, forward=forward)

    def leave(self) -> None:
        """There is nothing below: what narrows the origins is taken off."""
        if self._list.wanted.narrows:
            self._arrange(replace(self._list.wanted, needle="", problems=False))

    def reverse_order(self) -> None:
        if self.focused is self._events:
            super().reverse_order()
        else:
            self._arrange(replace(self._list.wanted, descending=not self._list.wanted.descending))

    @handles("view.problems")
    def _show_problems(self) -> None:
        self._arrange(replace(self._list.wanted, problems=not self._list.wanted.problems))

    @handles("log.next_error", True)
    @handles("log.previous_error", False)
    def _go_to_problem(self, older: bool) -> None:
        go_to_problem(self._events, self._events.bad, older=older)

    def _arrange(self, wanted: OverviewFilter) -> None:
        self._list.wanted = wanted
        self._list.fit()
        self._show_sort()
        self._order(anew=True)
        self.show_titles()
        self._show_selected()
        self.tell_footer()

    def pick_order(self, column_id: str) -> None:
        """Orders the origins, also by what no column shows."""
        from tui_crawler.console.dialogs.choose import ORDER_BY, ChooseScreen  # noqa: PLC0415  not before the first paint

        if self.focused is self._events:
            super().pick_order(column_id)
        elif column_id in ORDERS:
            self._arrange(replace(self._list.wanted, sort=column_id, descending=SORT_COLUMNS[column_id][1]))
        else:
            self.app.push_screen(ChooseScreen(ORDER_BY, tuple(ORDERS.items()), self._list.wanted.sort), self._sort_by)

    @handles_each({f"sort.{column}": column for column in ORDERS})
    def _sort_by(self, column: object) -> None:
        """Orders by a column; by the same again, the other way round."""
        if isinstance(column, str):
            wanted = self._list.wanted
            descending = not wanted.descending if column == wanted.sort else SORT_COLUMNS[column][1]
            self._arrange(replace(wanted, sort=column, descending=descending))

    @handles("columns.choose")
    def _choose_columns(self) -> None:
        from tui_crawler.console.dialogs.choose import ColumnsScreen  # noqa: PLC0415  not before the first paint

        def chosen(ids: object) -> None:
            if isinstance(ids, tuple):
                self._arrange(replace(self._list.wanted, columns=ids))

        words = {**ORDERS, **UNORDERED}
        options = [(column.id, f"{column.title:10}  {words[column.id]}") for column in OVERVIEW.columns]
        here = self._list.wanted.columns or [column.id for column in OVERVIEW.columns]
        self.app.push_screen(ColumnsScreen(options, here), chosen)

    @handles("layout.keep")
    def _keep_layout(self, name: str) -> None:
        if not name:
            self.console.tell("no", f"{BY_ID['layout.keep'].word} NAME: a layout needs a name", "warning")
        elif self.console.memory.file.keep_layout(name, self._list.wanted):
            self.console.tell("layout", f"layout {name} is kept", "ok")
        else:
            self.console.tell("no", f"layout {name} could not be kept", "warning")

    @handles("layout.drop")
    def _drop_layout(self, name: str) -> None:
        known = name in self.console.memory.file.layouts() and self.console.memory.file.keep_layout(name, None)
        self.console.tell("layout", f"layout {name} is forgotten" if known else f"there is no layout {name}", "muted")

    @handles("layout.use")
    def _use_layout(self, name: str) -> None:
        from tui_crawler.console.dialogs.choose import ChooseScreen  # noqa: PLC0415  not before the first paint

        layouts = self.console.memory.file.layouts()
        if name in layouts:
            self._arrange(layouts[name])
        elif name or not layouts:
            self.console.tell("no", f"there is no layout {name}".rstrip(), "warning")
        else:
            dialog = ChooseScreen("Layout", [(one, safe(one)) for one in layouts], "")
            self.app.push_screen(dialog, lambda one: self._use_layout(str(one)) if one else None)

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._table:
            self._show_selected()

    def row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens an origin or what its cell counts, or the URL of an event; of an action or an error shows all."""
        if event.table is self._table:
            column = self._table.door.id if self._table.door is not None else ""
            self.console.go_to(*opened_by(column, str(event.key), self.console.live_state.origins))
        elif words := self._events.record(event.key).words:
            self.console.tell("event", words)
        else:
            self.console.go_to(Where.url, self._events.record(event.key).event.url)

    def on_lines_opened(self, event: Lines.Opened) -> None:
        """Opens what the card counts."""
        if (view := self._selected()) is not None:
            self.console.go_to(*opened_by(str(event.goal), view.origin, self.console.live_state.origins))

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        if event.table is self._table and event.column_id in ORDERS:
            self._sort_by(event.column_id)

    def _filter(self, text: str) -> None:
        self._sought = text or self._sought
        if text != self._list.wanted.needle:
            self._arrange(replace(self._list.wanted, needle=text))
