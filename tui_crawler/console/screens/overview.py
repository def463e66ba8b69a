"""View 1: all origins, the selected one in short, and the events."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import count
from tui_crawler.console.glyphs import ASCENDING, DESCENDING
from tui_crawler.console.keys import only_at
from tui_crawler.console.overview_parts import Card, CardOf, RecentActions, Suspicions
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.events import EventsPane
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.present.needle import HINT, read_needle
from tui_crawler.console.present.order import Arrangement, arrange, fields_of, natural_direction
from tui_crawler.console.present.origin_row import COLUMNS, NARROW_COLUMNS, SORT_TITLES, counts_down, origin_row
from tui_crawler.console.present.summary import card_lines, no_origin_lines, summary_lines, why_line
from tui_crawler.console.present.trap_lines import trap_lines
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.refresh import Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.choose import ChooseScreen
from tui_crawler.console.screens.live_filter import LiveFilterScreen
from tui_crawler.console.screens.origin_actions import act_on_origins

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tui_crawler.domain.desk_view import ActionView
    from tui_crawler.domain.trap import TrapSuspicion
    from tui_crawler.domain.view import OriginView

ORDER_MS, MINUTE_MS = 1_000, 60_000
_ACTIONS, _SUSPICIONS = RecentActions(), Suspicions()
RATE_WIDTH = 20


class OverviewScreen(LiveFilterScreen):
    """The screen the console begins with."""

    WHERE = Where.overview
    MARKS = "#origins"
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.overview)]

    def __init__(self, wanted: Arrangement | None = None) -> None:
        """Makes it with nothing read yet. `wanted` is how it begins, by default with the most failures."""
        super().__init__()
        self._wanted = wanted or Arrangement()
        self._rows: dict[str, Row] = {}
        self._dirty: set[str] = set()
        self._missed: set[str] = set()
        self._ordered_at = -ORDER_MS
        self._sought = ""
        self._told_at = -1
        self._suspicions: dict[str, TrapSuspicion] = {}
        self._actions: tuple[ActionView, ...] = ()
        self._cards: dict[str, object] = {}

    def body(self) -> Iterable[Widget]:
        """Origins beside the selected one, events below."""
        self._table = CrawlTable(COLUMNS, placeholder="reading…", id="origins", classes="pane")
        self._table.stands_while_marked = True
        self._summary = Lines(id="summary", classes="pane")
        self._why = Lines(id="why")
        self._events = EventsPane()
        yield Vertical(Horizontal(self._table, self._summary, id="upper"), self._why, self._events, id="body")

    def on_mount(self) -> None:
        """Names the panes."""
        self._show_sort()
        self._show_titles()

    def on_screen_resume(self) -> None:
        """Makes the order anew when another screen lay over it: from what is known, and from the next reading."""
        if self._ordered_at < 0:
            self._order()
            self._ordered_at = -ORDER_MS

    def on_screen_suspend(self) -> None:
        """Another screen lies over it; a dialog does not count, it goes on under it."""
        if self.console.console_screen is not self:
            self._ordered_at = -ORDER_MS

    # what is shown

    def wants(self) -> Wants:
        """Origins and events, and more of the selected origin."""
        view = self._selected() if self.is_mounted and not self.has_class("-narrow") else None
        selected = (CardOf(view.origin),) if view is not None else ()
        return Wants(origins=True, events=True, parts=(_ACTIONS, _SUSPICIONS, *selected))

    def accepts(self, wants: Wants) -> bool:
        """Rows and events are for it whichever origin was selected then."""
        return wants.origins and wants.events

    def take(self, shot: Snapshot) -> None:
        """Takes changed origins, new events, what operators did, and which origins look like traps."""
        self._events.take(shot.events, hold=self.frozen)
        self._take_parts(shot)
        if self.frozen:
            self._missed |= self.console.picture.take_news()
            self.missed = len(self._missed)
            self._show_titles()
            return
        self._dirty |= self.console.picture.take_news()
        self._put_visible()
        self._tell_given_up()
        now = self.console.clock.mono_ms()
        if self._ordered_at < 0 or (now - self._ordered_at >= ORDER_MS and self.console.idle_ms() >= ORDER_MS):
            self._order()
        self._show_selected()

    def _tell_given_up(self) -> None:
        """Tells of origins that gave up, all those of the last minute in one notice."""
        gave_up, now = self.console.picture.gave_up, self.console.clock.mono_ms()
        if not gave_up or gave_up[-1][0] <= self._told_at:
            return
        self._told_at = gave_up[-1][0]
        recent = [origin for at, origin in gave_up if now - at < MINUTE_MS]
        if not recent:
            return  # it was long ago, in another view
        words = f"{len(recent)} origins gave up in 60 s, the last" if len(recent) > 1 else "gave up"
        self.console.tell("gave up", f"✗ {words}: {host_of(recent[-1])} – ! shows problems", "warning")

    def _take_parts(self, shot: Snapshot) -> None:
        if self.frozen:
            return
        actions, suspicions = shot.parts.get(_ACTIONS), shot.parts.get(_SUSPICIONS)
        if isinstance(actions, tuple):
            self._actions = actions
        self._events.take_others(self._actions, self.console.troubles)
        self._cards = {part.origin: card for part, card in shot.parts.items() if isinstance(part, CardOf)}
        if isinstance(suspicions, dict) and suspicions is not self._suspicions:
            self._dirty |= suspicions.keys() ^ self._suspicions.keys()
            self._suspicions = suspicions

    def tick(self) -> None:
        """Countdowns of the rows in view, the order, the selected origin."""
        if self.frozen:
            return
        self._events.take_others(self._actions, self.console.troubles)
        now = self.console.clock.wall_ms()
        origins = self.console.picture.origins
        visible = [origins[str(key)] for key in self._table.visible_keys if key in origins]
        self._put(view for view in visible if counts_down(view, now))
        self._put_visible()
        if min(self.console.clock.mono_ms() - self._ordered_at, self.console.idle_ms()) >= ORDER_MS:
            self._order()
        self._show_selected()

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        self._dirty |= self._missed
        self._missed.clear()
        self._events.thaw()
        self._put_visible()
        self._order()
        self._show_selected()

    def fit(self, size: Size) -> None:
        """Fewer columns when narrow."""
        was = self.has_class("-narrow")
        super().fit(size)
        narrow = self.has_class("-narrow")
        if narrow != was:
            self._table.set_columns(NARROW_COLUMNS if narrow else COLUMNS)
            self._rows.clear()
            self._order()

    def _put_visible(self) -> None:
        """Makes the rows on the screen anew whose origins changed; the others when they come into view."""
        origins = self.console.picture.origins
        seen = [str(key) for key in self._table.visible_keys if key in self._dirty]
        self._put(origins[name] for name in seen if name in origins)

    def _put(self, views: Iterable[OriginView]) -> None:
        """Makes the rows of these origins anew."""
        console = self.console
        now, zone, run = console.clock.wall_ms(), console.clock.zone, console.picture.run
        narrow = self.has_class("-narrow")
        for view in views:
            suspected, busy = view.origin in self._suspicions, console.picture.in_flight(view)
            row = origin_row(view, now, run, zone, narrow=narrow, you=console.who, suspected=suspected, in_flight=busy)
            self._rows[view.origin] = row
            self._dirty.discard(view.origin)
            self._table.update_row(row)

    def _order(self, *, anew: bool = False) -> None:
        """Puts the rows in order, the cursor stays on its origin. Marked ones hold all in place unless it is `anew`."""
        console = self.console
        if not console.picture.known or self.frozen:
            return
        self._ordered_at = console.clock.mono_ms()
        origins = console.picture.origins
        views = arrange(origins.values(), self._wanted, self._suspicions)
        if self._table.mark_count and not anew:
            fit = {view.origin for view in views}
            views += [origins[str(key)] for key in self._table.row_order if key not in fit and key in origins]
        self._put(view for view in views if view.origin not in self._rows)
        if [view.origin for view in views] != list(self._table.row_order) or not views:
            self._table.placeholder = self._nothing()
            self._table.set_rows([self._rows[view.origin] for view in views], keep_marks=True, anew=anew)
            self._put_visible()
        self._show_titles()

    def _nothing(self) -> str:
        if self.console.picture.origins:
            what = "problems" if self._wanted.problems and not self._wanted.needle else "rows"
            return f"No {what} here. Press ! or ctrl+l to see everything."
        return "No origins yet.\n\na  add seeds      ?  keys"

    def _show_titles(self) -> None:
        wanted = self._wanted
        known = len(self.console.picture.origins)
        parts = ["Origins"]
        if known:
            shown = self._table.row_count
            parts.append(count(known) if shown == known else f"{count(shown)} of {count(known)}")
        parts.append(f"by {wanted.sort} {DESCENDING if wanted.descending else ASCENDING}")
        if wanted.needle:
            parts += [f"filter: {wanted.needle}", *filter(None, (read_needle(wanted.needle).problem,))]
        if wanted.problems:
            parts.append("problems only")
        title(self._table, " · ".join(parts), f"‖ frozen · {self.missed} changed" if self.frozen else "")

    def _show_sort(self) -> None:
        self._table.sort = (self._wanted.sort, self._wanted.descending)

    def _show_selected(self) -> None:
        console, picture, view = self.console, self.console.picture, self._selected()
        now, zone = console.clock.wall_ms(), console.clock.zone
        if view is None:
            title(self._summary, "")
            self._summary.show(no_origin_lines(picture.known, len(picture.origins), self._wanted.narrows))
            self._why.show([])
            return
        run, flying = console.picture.run, console.picture.in_flight(view)
        meter = console.picture.meters.get(view.origin)
        line = meter.line(console.clock.mono_ms(), RATE_WIDTH) if meter else []
        card = self._cards.get(view.origin)
        suspicion = (card.suspicion if isinstance(card, Card) else None) or self._suspicions.get(view.origin)
        state, words, *more = summary_lines(view, now, run, zone, console.who, line, flying)
        lines = [state, words, *trap_lines(suspicion), *more]
        self._summary.show([*lines, *(card_lines(view, card) if isinstance(card, Card) else ())])
        title(self._summary, host_of(view.origin), self._summary.more)
        self._why.show([why_line(view, now, run, zone, console.who, flying)])

    # what is selected

    def _selected(self) -> OriginView | None:
        return self.console.picture.origins.get(str(self._table.cursor_key))

    def _targets(self) -> tuple[OriginView, ...]:
        """The marked origins, those that a filter hides last, or the selected one."""
        keys, selected = self._table.marked, self._selected()
        if not keys:
            return (selected,) if selected is not None else ()
        shown = dict.fromkeys(key for key in self._table.row_order if key in keys)
        hidden = sorted(str(key) for key in keys.difference(shown))
        return tuple(self.console.picture.origins[str(key)] for key in (*shown, *hidden))

    def situation(self) -> Situation:
        """The marked or selected origins."""
        targets = self._targets()
        return Situation(
            Where.overview,
            origins=targets,
            failed=sum(view.failed for view in targets),
            filtered=self._wanted.narrows,
        )

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """An origin, or an attempt."""
        return self.console.picture.origins.get(str(key)) if table is self._table else self._events.record(key)

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        """Origins also by what no column shows."""
        return tuple(dict(SORT_TITLES)) if table is self._table else super().orders(table)

    def bring_up_to_date(self, table: CrawlTable) -> None:
        """All origins that changed, also those out of view."""
        if table is self._table and not self.frozen:
            origins = self.console.picture.origins
            self._put([origins[name] for name in self._dirty if name in origins])

    @property
    def arrangement(self) -> Arrangement:
        """The order and the filter."""
        return self._wanted

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Overview",)

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        match action_id:
            case "nav.open":
                self._table.action_open_row()
            case "filter.open" if self.focused is not self._events:
                self._open_filter(argument)
            case "filter.next" | "filter.previous" if self.focused is not self._events:
                self._go_to_match(forward=action_id == "filter.next")
            case "filter.clear" if not self._events.needle:
                self._arrange(replace(self._wanted, needle="", problems=False))
            case "sort.pick" if self.focused is not self._events:
                self._pick_sort(argument)
            case "sort.reverse" if self.focused is not self._events:
                self._arrange(replace(self._wanted, descending=not self._wanted.descending))
            case "view.problems":
                self._arrange(replace(self._wanted, problems=not self._wanted.problems))
            case "log.next_error" | "log.previous_error":
                self._events.go_to_problem(older=action_id == "log.next_error")
            case "nav.back":
                if self._wanted.narrows:
                    self._arrange(replace(self._wanted, needle="", problems=False))
            case _:
                return act_on_origins(self.console, action_id, self._targets())
        return True

    def _arrange(self, wanted: Arrangement) -> None:
        self._wanted = wanted
        self._show_sort()
        self._order(anew=True)
        self._show_titles()
        self._show_selected()
        self.tell_footer()

    def _open_filter(self, text: str) -> None:
        if text:
            self._arrange(replace(self._wanted, needle=text))
            return
        self.query_one(EntryLine).open("filter", "/", self._wanted.needle, HINT)

    def _go_to_match(self, *, forward: bool) -> None:
        """Goes on from the selected row to the next that fits the last filter, round the end."""
        sought = read_needle(self._sought)
        origins, order = self.console.picture.origins, self._table.row_order
        steps = range(1, len(order) + 1) if forward else range(-1, -len(order) - 1, -1)
        indexes = ((self._table.cursor_index + step) % len(order) for step in steps)
        target = next((index for index in indexes if sought.keeps(fields_of(origins[str(order[index])]))), None)
        if target is not None:
            self._table.move_cursor(index=target)

    def _pick_sort(self, column: str) -> None:
        names = dict(SORT_TITLES)
        if column in names:
            self._sort_by(column)
            return
        self.console.push_screen(ChooseScreen("Order by", SORT_TITLES, self._wanted.sort), self._sort_by)

    def _sort_by(self, column: object) -> None:
        if isinstance(column, str):
            self._arrange(replace(self._wanted, sort=column, descending=natural_direction(column)))

    # messages

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        """Another origin is selected."""
        if event.table is self._table:
            self._show_selected()
            self.tell_footer()

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other origins now."""
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens an origin, or the URL of an event; of an action or an error all is told."""
        if event.table is self._table:
            self.console.dispatcher.go_to_origin(str(event.key))
        elif words := self._events.words_of(event.key):
            self.console.tell("event", words)
        else:
            self.console.dispatcher.go_to_url(self._events.url_of(event.key))

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        """Orders by the column that was clicked; a second click turns the order round."""
        if event.table is not self._table or event.column_id not in dict(SORT_TITLES):
            return
        if event.column_id == self._wanted.sort:
            self.do("sort.reverse")
        else:
            self._sort_by(event.column_id)

    def _filter(self, text: str) -> None:
        self._stop_waiting()
        self._sought = text or self._sought
        if text != self._wanted.needle:
            self._arrange(replace(self._wanted, needle=text))
