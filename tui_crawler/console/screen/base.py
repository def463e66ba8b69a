"""What every screen of the console is made of: header, tabs, body, entry line, footer, notices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from tui_crawler.console.action import VIEWS, Frame, Situation, Where, why_not
from tui_crawler.console.handlers import Handles, handles
from tui_crawler.console.keys import footer_at, only_at
from tui_crawler.console.panes.bars import DiagnosisBar, FooterBar, HeaderBar, TooSmall
from tui_crawler.console.panes.border import write_subtitle, write_title
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.footer import label_of
from tui_crawler.console.panes.lines import FactsPane, Lines
from tui_crawler.console.panes.notices import NoticeBox
from tui_crawler.console.panes.scrolling import bring_into_view, main_pane
from tui_crawler.console.panes.tabs import TabBar
from tui_crawler.console.panes.zoom import Zoom, panes_of
from tui_crawler.console.screen.dialog import size_classes
from tui_crawler.console.screen.lifetime import is_ready, is_stale
from tui_crawler.console.screen.places import ScreenPlace
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.filter import TableFilter
from tui_crawler.console.table.layouts import TableLayout, ViewLayout
from tui_crawler.console.table.marks import TableMarks
from tui_crawler.console.table.window_list import WindowList
from tui_crawler.text.format import plural

if TYPE_CHECKING:
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.reading import AnyReading
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.console.replay.bar import ReplayBar
    from tui_crawler.console.table.export import ListExport
    from tui_crawler.domain.records.page_view import PageView


STILL_MS = 1_000
"""So long after the last key rows stay where they are (docs/console.md, refresh policy)."""
_AS_IT_COMES = "@given"
_DIGITS = 10  # of the number of a run


def title(widget: Widget, text: str, subtitle: str = "") -> None:
    """Writes the titles of a pane's border; the texts are raw. That a picture is held still is said in one of them."""
    if isinstance(widget, CrawlTable):
        widget.name_pane(text)
    else:
        write_title(widget, text)
    words = widget.filter_words if isinstance(widget, CrawlTable) else ""
    screen = widget.screen if widget.is_attached else None
    held = ""
    if isinstance(screen, ConsoleScreen) and (screen.BADGE or screen.AUTO_FOCUS) == f"#{widget.id}":
        held = screen.frozen_words
    write_subtitle(widget, held or subtitle or words)


class ConsoleScreen(Handles, ReachesConsole, Screen[None], inherit_bindings=False):
    """A screen that shows rows. It says what it wants, takes what was read, and does its own actions."""

    WHERE: ClassVar[Where]
    HERE: ClassVar[frozenset[str]] = frozenset()
    """Actions the footer does not name here, though they exist."""
    AUTO_FOCUS = "CrawlTable"
    BLANK = True  # nothing but a background, under all panes
    BADGE: ClassVar[str] = ""
    """The selector of the pane whose border says that the picture is frozen; empty: the first that has the focus."""
    MARKS: ClassVar[str] = ""
    """The tables whose marked rows actions are about, as selectors; empty: none."""
    _tables: tuple[CrawlTable, ...] = ()
    CRUMBS: ClassVar[tuple[str, ...]] = ()
    """Where one is, where that is always the same."""

    @dataclass
    class OnTop(events.Event):
        """The screen is on top now."""

        screen: ConsoleScreen

    class HeaderWanted(Message):
        """What the header shows has changed."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Has the keys of the actions that are only here, before its own."""
        if "WHERE" in vars(cls):
            cls.BINDINGS = [*only_at(cls.WHERE), *vars(cls).get("BINDINGS", ())]
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self.place = ScreenPlace(self.WHERE)
        """What it can be made of again."""
        self.has_read = False
        """Whether anything was read for it."""
        self.asker = object()
        """Known again in what was read for this screen, also for what it asked a moment ago."""
        self.frozen = False
        self.missed = 0
        self._replay_bar: ReplayBar | None = None
        self._styled_by = ""  # the theme of its styles when it was last on top
        self.table_filter = TableFilter(self, lambda: self.console.tell, self.tell_footer)
        self.marks = TableMarks(lambda: self.tables, lambda: self.table_filter.table, self.MARKS)
        self.zoom = Zoom(self, lambda: self.focused_pane, lambda: (self.console.memory.zooms, self.WHERE.name))
        self.frame = Frame(
            marked=lambda: self.marks.count,
            marked_here=lambda: self.marks.focused_count,
            filtered=lambda: self.narrowed or self.table_filter.filtered is not None,
            zoom=lambda: self.zoom.level,
            more=lambda: self.console.appearance.more,
        )

    @property
    def tables(self) -> Sequence[CrawlTable]:
        """The tables of this screen, which all come with it: looked up once."""
        self._tables = self._tables or tuple(self.query(CrawlTable))
        return self._tables

    @property
    def on_top(self) -> bool:
        """Whether nothing but dialogs is over it."""
        return next((one for one in reversed(self.app.screen_stack) if isinstance(one, ConsoleScreen)), None) is self

    def show_header(self) -> None:
        """Have the header brought up to date now, not with its next beat."""
        self.post_message(self.HeaderWanted())

    async def on_event(self, event: events.Event) -> None:
        if not is_stale(event, self):
            await super().on_event(event)

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        yield TabBar(id="views")
        yield DiagnosisBar(id="diagnosis")
        if (player := self.console.live_state.player) is not None:
            from tui_crawler.console.replay.bar import ReplayBar  # noqa: PLC0415  in a replay alone

            self._replay_bar = ReplayBar(player, self.console.clock.zone, self.WHERE)
            yield self._replay_bar
        yield from self.body()
        yield EntryLine(self.focus_main)
        yield FooterBar(id="footer")
        yield NoticeBox()
        yield TooSmall()

    def show_replay(self) -> None:
        """Bring the bar of a replay up to date, where there is one."""
        if self._replay_bar is not None and is_ready(self):
            self._replay_bar.catch_up()

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """The panes of this screen."""

    LIVE: ClassVar[tuple[Ask[Any], ...]] = ()
    """What is asked for besides, which the console keeps (`LiveState`)."""
    reads: tuple[AnyReading, ...] = ()
    """What is read for it."""

    def readings(self) -> tuple[AnyReading, ...]:
        """What is read for it as it stands now."""
        return self.reads

    def wants(self) -> tuple[Ask[Any], ...]:
        """What this screen shows, so that nothing else is read."""
        read = (ask for one in self.readings() for ask in one.asks(frozen=self.frozen))
        return tuple(dict.fromkeys((*self.LIVE, *read)))

    def take_in(self, shot: Snapshot) -> None:
        """Shows what was read."""
        self.has_read = True
        self.take(shot)

    @property
    def frozen_words(self) -> str:
        """That the picture is held still, and how often something else was read meanwhile; empty while it is not."""
        changes = f" · {self.missed} changes" if self.missed else ""
        return f"‖ frozen{changes}" if self.frozen else ""

    def take(self, shot: Snapshot) -> None:
        """Shows what was read, or counts what is held back."""
        news = [one.take(shot, frozen=self.frozen) for one in self.readings()]
        self.missed += any(news)
        self._show_now()

    def show_live(self) -> None:
        """Shows what changes by time or with the origins; called after every reading and twice a second."""

    def show_titles(self) -> None:
        """Brings the titles of the panes up to date; called with that, and whatever else they say changes."""

    def situation(self) -> Situation:
        """Return what actions depend on here: unless a screen says more, nothing but where it is."""
        return Situation(self.WHERE)

    @property
    def narrowed(self) -> bool:
        """Whether the screen itself leaves something out, in addition to the filters of its tables."""
        return bool(self.wider)

    @property
    def wider(self) -> str:
        """What `esc` shows where the screen is limited to a part, in words; empty: it leaves."""
        return ""

    def crumbs(self) -> tuple[str, ...]:
        """Where one is; raw text."""
        return self.CRUMBS

    def chosen(self) -> Mapping[str, str]:
        """What the operator chose to see here beside the filters and orders of tables: names and values (empty: as at
        first), which `choose` takes when the view is opened anew."""
        return {}

    def look(self) -> ViewLayout:
        """What the operator chose to see here now."""
        tables = [
            TableLayout(table.id, table.needle, *(table.order or ("", True)))
            for table in self.tables
            if table.id and (table.needle or table.order)
        ]
        return ViewLayout.bounded(tables, self.chosen())

    def _restore(self, layout: ViewLayout) -> None:
        """Look as then; what is not known any more is left out."""
        self.choose(dict(layout.words))
        chosen = {one.table: one for one in layout.tables}
        for table in self.tables:
            one = chosen.get(table.id or "", TableLayout(""))
            if one.needle:
                table.keep_only(one.needle)
            if one.column in {column.id for column in table.columns}:
                table.order_by(one.column, descending=one.descending)

    def choose(self, words: Mapping[str, str]) -> None:
        """Shows what was chosen before anything is read; what means nothing here is left out."""

    def exporter(self, table: CrawlTable) -> ListExport | None:
        """What writes a list of which the table holds a part only; None: the rows shown are written."""
        return None

    def export_heading(self, table: CrawlTable) -> str:
        """How many rows of a table are written, in words."""
        return f"Export {plural(table.row_count, 'row')}"

    def page_of(self, url: str) -> PageView | None:
        """What is known of a URL that this screen is about; None when it is about others."""
        return None

    def orders(self, table: CrawlTable) -> tuple[str, ...]:
        """By what the rows of a table can be ordered: the words that `sort` takes."""
        return tuple(column.id for column in table.columns)

    def again(self, *_values: object) -> bool:
        """Take the values of a new screen of this kind, which would be over this one; False: it is opened."""
        return False

    def bring_up_to_date(self, table: CrawlTable) -> None:
        """Makes the rows of a table anew that are out of view; called before all of them are written."""

    def tick(self) -> None:
        """Twice a second: what changes by time alone."""
        self._show_now()

    def _show_now(self) -> None:
        if not self.frozen:
            self.show_live()
            self.show_facts()
        self.show_titles()

    def show_facts(self) -> None:
        """Shows facts of what is under the cursor, as they are now."""
        for pane in self.query(FactsPane):
            pane.show_facts()

    def move_on(self) -> None:
        """Twice a second: what changes by time alone; rows that stood still for their marks once there are none."""
        self.tick()
        if not self.frozen and self.console.idle_ms() >= STILL_MS:
            for table in self.tables:
                table.let_go()

    def thaw(self) -> None:
        """Shows what came while the picture was held still; it is read again."""
        for one in self.readings():
            one.thaw()
        self.tick()
        self.console.read_soon()

    def left(self) -> None:
        """Hides, while it keeps its widgets: marks go, and a picture that is held still goes on."""
        self.marks.leave()
        if self.frozen:
            self.toggle_freeze()

    def _bring_into_view(self) -> None:
        bring_into_view(self, self.table_filter.table)

    def focus_main(self) -> None:
        """Puts the focus where it was at first, of what is displayed."""
        panes = panes_of(self)
        for pane in (main_pane(self, panes),) if panes else self.query(str(self.AUTO_FOCUS)).results(Widget):
            pane.focus()
            return

    @property
    def focused_pane(self) -> Widget | None:
        """The pane that has the focus; the first one when none has."""
        panes = panes_of(self)
        return self.focused if self.focused in panes else next(iter(panes), None)

    def toggle_freeze(self) -> None:
        """Holds the picture still, or lets it go on."""
        self.frozen = not self.frozen
        if not self.frozen:
            self.missed = 0
            self.thaw()
        self.show_titles()

    def fit(self, size: Size) -> None:
        """Chooses the layout for a size."""
        self.update_classes(size_classes(size), animate=False)

    def footer_keys(self) -> Sequence[tuple[str, str, str]]:
        """What the footer names, the most important first: action id, key and label."""
        situation = self.console.situation(self)
        owners = (self.focused, self) if isinstance(self.focused, Lines) else ()
        opens = not owners or any("enter" in one._bindings.key_to_bindings for one in owners)
        door = self.focused.door if isinstance(self.focused, CrawlTable) else None
        others = {"nav.open": door.opens if door is not None else "", "nav.back": self.wider}
        named: dict[str, tuple[str, str, str]] = {}
        for action in footer_at(self.WHERE):  # in a replay the key that freezes the picture plays it
            key = self.key_names.first("view.freeze" if action.id == "replay.play" else action.id)
            possible = action.id not in self.HERE and (action.id != "nav.open" or opens)
            if key and possible and not why_not(action, situation):
                named.setdefault(key, (action.id, key, others.get(action.id) or label_of(action, situation)))
        return list(named.values())

    def tell_footer(self) -> None:
        """Brings the footer up to date, if it is there."""
        if not is_ready(self):
            return
        crumbs = self.crumbs()
        if self.has_class("-narrow"):  # else the border has the filter; the tabs mark a view
            filtered = self.table_filter.filtered
            crumbs = (f"/ {filtered.needle}",) if filtered is not None else () if self.WHERE in VIEWS else crumbs
        self.query_one(FooterBar).tell(crumbs, self.footer_keys())
        self.zoom.check()
        for table in self.tables:
            table.show_title()

    # what every screen does; some do it in another way

    @handles("nav.open")
    def open_selected(self) -> None:
        """Opens the row under the cursor of the table that has the focus."""
        if (table := self.table_filter.table) is not None:
            table.action_open_row()

    @handles("nav.back")
    def go_back(self) -> None:
        """Ends the zoom, or else a filter, or else takes marks off; when there is none of these, leaves."""
        if self.zoom.leave() or self.table_filter.leave():
            return
        if self.narrowed or not self.leave_marks():
            self.leave()

    def leave_marks(self) -> bool:
        """What `esc` does before it leaves: takes marks off. False when there were none."""
        return self.marks.leave()

    def leave(self) -> None:
        """Closes the screen, unless it is the lowest."""
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()

    @handles("focus.next", 1)
    @handles("focus.previous", -1)
    def go_to_pane(self, step: int) -> None:
        """Goes to the next pane, or to the one before."""
        (self.focus_next if step > 0 else self.focus_previous)()

    @handles("zoom.in")
    def enlarge(self) -> None:
        """Enlarges the pane that has the focus; half of one column is not worth a step."""
        self.zoom.grow()
        if self.has_class("-narrow"):
            self.zoom.grow()

    @handles("zoom.out")
    def reduce(self) -> None:
        """Gives the pane less room again."""
        (self.zoom.leave if self.has_class("-narrow") else self.zoom.shrink)()

    @handles("view.freeze")
    def freeze(self) -> None:
        """Holds the picture still, or lets it go on, and tells so."""
        self.toggle_freeze()
        self.show_header()

    @handles("runs.diff")
    def compare(self, text: str) -> None:
        """Compares the runs whose numbers are typed, or the last two."""
        words = text.split()
        if all(word.isascii() and word.isdigit() and len(word) < _DIGITS for word in words) and len(words) <= 2:
            self.console.go_to(Where.diff, tuple(map(int, words[:2])))
        else:
            self.console.tell("no", "diff: type the numbers of one or two runs", "warning")

    @handles("filter.open")
    def open_filter(self, text: str) -> None:
        """Filters the table by a text, or by what is typed from now on."""
        self.table_filter.open(text)

    @handles("filter.clear")
    def clear_filter(self) -> None:
        """Shows all rows again."""
        if not self.table_filter.leave() and self.narrowed:
            self.leave()

    @handles("filter.next", True)
    @handles("filter.previous", False)
    def go_to_match(self, forward: bool) -> None:
        """Goes to the next row that fits the last filter, or to the one before."""
        if (table := self.table_filter.table) is not None:
            table.go_to_match(forward=forward)

    @handles("sort.pick")
    def pick_order(self, column_id: str) -> None:
        """Orders the table that has the focus by the column that is named, or asks by which."""
        from tui_crawler.console.dialogs.choose import ORDER_BY, ChooseScreen  # noqa: PLC0415  not before the first paint

        if (table := self._ordered_table) is None:
            return
        options = [(_AS_IT_COMES, "as it comes")]
        options += [(column.id, column.title or column.id.upper()) for column in table.columns]

        def chosen(column_id: object) -> None:
            if isinstance(column_id, str):
                table.order_by(None if column_id == _AS_IT_COMES else column_id)

        here = table.order[0] if table.order is not None else ""
        if column_id in dict(options):
            chosen(column_id)
        else:
            dialog = ChooseScreen(ORDER_BY, options, here or _AS_IT_COMES)
            self.app.push_screen(dialog, lambda one: self.reverse_order() if one == here else chosen(one))

    @handles("sort.reverse")
    def reverse_order(self) -> None:
        """Turns the order round; of rows that stand as they come, orders them by the current column."""
        table = self._ordered_table
        if table is not None and (here := table.order[0] if table.order is not None else table.current_column):
            table.toggle_order(here)

    @handles("table.pivot")
    def count_values(self) -> None:
        """Counts the values of the current column; the one that is chosen keeps its rows."""
        from tui_crawler.console.dialogs.choose import PivotScreen  # noqa: PLC0415  not before the first paint
        from tui_crawler.console.dialogs.pivot_rows import pivot_of  # noqa: PLC0415  the same
        from tui_crawler.console.table.filter_terms import needle_for  # noqa: PLC0415  the same

        table = self._ordered_table
        column = None if table is None else next((one for one in table.columns if one.id == table.current_column), None)
        if table is None or column is None:
            return
        self.bring_up_to_date(table)
        texts = [table.fields_of(row).get(column.id, "") for row in table.shown_rows()]
        pivot = pivot_of(texts, " loaded")

        def chosen(value: object) -> None:
            if isinstance(value, str):
                word = needle_for(column.id, value, start=bool(pivot.span and value))
                self.table_filter.keep(table, f"{table.needle} {word}".strip())

        self.app.push_screen(PivotScreen(column.title or column.id.upper(), pivot), chosen)

    @property
    def _ordered_table(self) -> CrawlTable | None:
        table = self.table_filter.table
        if table is None or not table.columns:
            self.console.tell("no", "there is no table here", "muted")
            return None
        return table

    @handles("rule.from_selection")
    def make_rule(self, now: Situation) -> None:
        """Draft a rule for URLs and those alike; where their queries were refused, the policy that allows these."""
        from tui_crawler.console.rules.pattern import rule_about  # noqa: PLC0415  not before the first paint

        self.console.go_to(Where.rule_draft, rule_about(now.urls, now.refused))

    @handles("timeline.open")
    def show_politeness(self, now: Situation) -> None:
        """Show the politeness of the selected origin over time."""
        self.console.go_to(Where.timeline, now.origins[0].origin)

    def on_compose(self) -> None:
        """Choose the layout before there are widgets, which are then styled once."""
        self.update_classes(size_classes(self.app.size), animate=False)

    def on_mount(self) -> None:
        """Fits the first size; filters and orders are what they were when this view was shown last."""
        self._styled_by = self.app.theme
        self.fit(self.app.size)
        if self.place.remembered and (layout := self.console.memory.looks.get(self.WHERE.name)) is not None:
            self._restore(layout)
        if self.has_class("-narrow"):
            self.focus_main()
        if self.console.live_state.known:
            self.tick()
        else:  # what shows rows is not loaded before the first paint
            self.show_titles()

    def on_resize(self, event: events.Resize) -> None:
        self.fit(event.size)
        self.query_one(NoticeBox).place(event.size)
        self.tell_footer()
        self.call_after_refresh(self._bring_into_view)

    async def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Comes to the top: the size may be another one, the rows older; styles only where the theme is another one."""
        event.refresh_styles = self._styled_by != self.app.theme
        self._styled_by = self.app.theme
        self.fit(self.app.size)
        await self.app.on_event(self.OnTop(self))  # at once: header and footer are in the first paint
        self.call_after_refresh(self.zoom.as_last_time)
        self.call_after_refresh(self._bring_into_view)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The zoom goes with the focus; messages make room for the entry line."""
        self.zoom.follow(event.widget)
        self.query_one(NoticeBox).place(self.size)
        if self.has_read:
            self.tell_footer()
        self.call_after_refresh(self._bring_into_view)

    def on_click(self, event: events.Click) -> None:
        """Twice on the title of a pane: it grows by a step; at its largest everything goes back to its place."""
        at = event.screen_offset
        titles = [one for one in panes_of(self) if one.region.contains_point(at) and at.y == one.region.y]
        if event.chain == 2 and titles:
            event.stop()
            self.set_focus(titles[0])
            self.zoom.follow(titles[0])
            self.zoom.cycle(titles[0])
            self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        self.row_selected(event)

    def row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens what stands in a row."""
        event.table.focus()
        self.open_selected()

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        if event.table.orders_itself:
            event.table.toggle_order(event.column_id)

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        self.show_facts()
        self.show_titles()
        self.tell_footer()

    def on_crawl_table_end_wanted(self, event: CrawlTable.EndWanted) -> None:
        """Goes to the first or the last row of all, not only of those held."""
        lists = (one for one in self.readings() if isinstance(one, WindowList) and one.table is event.table)
        if any(one.go_to_end(bottom=event.bottom) for one in lists):
            self.show_titles()
            self.console.read_soon(instead=True)

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        self.show_titles()
        self.tell_footer()
