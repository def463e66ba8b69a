"""What every screen of the console is made of: header, body, entry line, footer, notices."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self, cast

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from tui_crawler.console.actions import Situation, Where, why_not
from tui_crawler.console.border import write_subtitle, write_title
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.footer_order import footer_at, named_key
from tui_crawler.console.format import plural
from tui_crawler.console.in_view import bring_into_view, main_pane
from tui_crawler.console.panes.bars import FooterBar, HeaderBar, TooSmall
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.notices import NoticeBox
from tui_crawler.console.present.footer import label_of
from tui_crawler.console.screens.lifetime import is_for_nobody, stands
from tui_crawler.console.screens.table_filter import PURPOSE, TableFilter
from tui_crawler.console.screens.table_marks import TableMarks
from tui_crawler.console.zoom import Zoom, panes_of, zoom_words

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from tui_crawler.console.app import CrawlerApp
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.refresh import Snapshot, Wants
    from tui_crawler.console.screens.page_export import PageExport
    from tui_crawler.console.terminal_app import TerminalApp
    from tui_crawler.domain.page_view import PageView

NARROW_BELOW = 81
LOW_BELOW = 24
STILL_MS = 1_000
"""So long after the last key rows stay where they are (CONSOLE.md, refresh policy)."""
LEAST = Size(40, 10)


def size_classes(size: Size) -> dict[str, bool]:
    """The classes a screen has at a size: `-narrow`, `-low`, `-tiny`."""
    tiny = size.width < LEAST.width or size.height < LEAST.height
    return {
        "-tiny": tiny,
        "-narrow": size.width < NARROW_BELOW,
        "-low": size.height < LOW_BELOW,
    }


def title(widget: Widget, text: str, subtitle: str = "") -> None:
    """Writes the titles of a pane's border; the texts are raw."""
    words = zoom_words(widget)
    if isinstance(widget, CrawlTable):
        widget.name_pane(text)
    else:
        write_title(widget, f"{text} · {words}" if words else text)
    words = widget.filter_words if isinstance(widget, CrawlTable) else ""
    write_subtitle(widget, subtitle or words)


class ConsoleScreen(Screen[None], inherit_bindings=False):
    """A screen that shows rows. It says what it wants, takes what was read, and does its own actions."""

    WHERE: ClassVar[Where]
    HERE: ClassVar[frozenset[str]] = frozenset()
    """Actions the footer does not name here, though they exist."""
    AUTO_FOCUS = "CrawlTable"
    MARKS: ClassVar[str] = ""
    """The table whose marked rows the actions of this screen are about; empty: none."""
    made_of: tuple[tuple[object, ...], tuple[tuple[str, object], ...]] = ((), ())
    """The arguments it was made with, so that the history can make it again."""

    def __new__(cls, *values: object, **options: object) -> Self:
        """Notes what it is made of."""
        screen = super().__new__(cls)
        screen.made_of = (values, tuple(sorted(options.items())))
        return screen

    def __init__(self) -> None:
        """Makes the screen; nothing is read yet."""
        super().__init__()
        self.has_read = False
        """Whether anything was read for it; until then an empty table says nothing but that."""
        self.frozen = False
        self.missed = 0
        self.table_filter = TableFilter(self)
        self.marks = TableMarks(self)
        self.zoom = Zoom(self)

    @property
    def console(self) -> CrawlerApp:
        """The app."""
        return cast("CrawlerApp", self.app)

    async def on_event(self, event: events.Event) -> None:
        """Handles what is for somebody."""
        if not is_for_nobody(event, self):
            await super().on_event(event)

    def compose(self) -> ComposeResult:
        """The parts every screen has, around its body."""
        yield HeaderBar()
        yield from self.body()
        yield EntryLine()
        yield FooterBar()
        yield NoticeBox()
        yield TooSmall()

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """The panes of this screen."""

    @abstractmethod
    def wants(self) -> Wants:
        """What this screen shows, so that nothing else is read."""

    def accepts(self, wants: Wants) -> bool:
        """Whether what was read for `wants` is for this screen as it stands now."""
        return wants == self.wants()

    def take_in(self, shot: Snapshot) -> None:
        """Shows what was read; after the first time empty tables say why they are empty."""
        first, self.has_read = not self.has_read, True
        self.take(shot)
        if first:
            for table in self.query(CrawlTable):
                table.refresh()

    @abstractmethod
    def take(self, shot: Snapshot) -> None:
        """Shows what was read."""

    @abstractmethod
    def situation(self) -> Situation:
        """What the screen stands on."""

    @abstractmethod
    def crumbs(self) -> tuple[str, ...]:
        """Where one is; raw text."""

    @abstractmethod
    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen; False when it is none of this screen's."""

    def chosen(self) -> Mapping[str, str]:
        """What the operator chose to see here beside the filters and orders of tables: names and values (empty: as at
        first), which `choose` takes when the view is opened anew."""
        return {}

    def choose(self, words: Mapping[str, str]) -> None:
        """Shows what was chosen before anything is read; what means nothing here is left out."""

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """The row as it was read, for copies and exports; None: what the table shows has to do."""
        return None

    def exporter(self, table: CrawlTable) -> PageExport | None:
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

    def bring_up_to_date(self, table: CrawlTable) -> None:
        """Makes the rows of a table anew that are out of view; called before all of them are written."""

    def tick(self) -> None:
        """Twice a second: what changes by time alone."""

    def move_on(self) -> None:
        """Twice a second: what changes by time alone; rows that stood still for their marks once there are none."""
        self.tick()
        if not self.frozen and self.console.idle_ms() >= STILL_MS:
            self.marks.let_go()

    def thaw(self) -> None:
        """Shows what came while the picture was held still."""

    def left(self) -> None:
        """Hides, while it keeps its widgets: marks go, and a picture that is held still goes on."""
        self.marks.leave()
        if self.frozen:
            self.toggle_freeze()

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

    def fit(self, size: Size) -> None:
        """Chooses the layout for a size."""
        self.update_classes(size_classes(size), animate=False)

    @property
    def key_names(self) -> KeyNames:
        """The operator's keys, to be named in words."""
        return self.console.appearance.key_names

    def footer_keys(self) -> Sequence[tuple[str, str, str]]:
        """What the footer names, the most important first: action id, key and label."""
        situation = self.console.situation(self)
        keymap = self.console.own_keys
        return [
            (action.id, key, label_of(action, situation))
            for action in footer_at(self.WHERE)
            if action.id not in self.HERE
            and (action.id != "nav.open" or self._opens)
            and not why_not(action, situation)
            and (key := named_key(action, keymap))
        ]

    @property
    def _opens(self) -> bool:
        """Whether enter opens anything where the focus is."""
        return not isinstance(self.focused, Lines) or "enter" in self._bindings.key_to_bindings

    def tell_footer(self) -> None:
        """Brings the footer up to date, if it is there."""
        if not stands(self):
            return
        filtered = self.table_filter.filtered if self.has_class("-narrow") else None  # else the border tells it
        crumbs = self.crumbs() if filtered is None else (f"/ {filtered.needle}",)
        self.query_one(FooterBar).tell(crumbs, self.footer_keys())
        self.zoom.mark_title()
        self.marks.show()

    def leave_marks(self) -> bool:
        """What `esc` does before it leaves: takes marks off. False when there were none."""
        return self.marks.leave()

    def on_mount(self) -> None:
        """Fits the first size; filters and orders are what they were when this view was shown last."""
        self.fit(self.app.size)
        self.console.looks.restore(self)
        if self.has_class("-narrow"):
            self.focus_main()

    def on_resize(self, event: events.Resize) -> None:
        """Fits another size."""
        self.fit(event.size)
        self.query_one(NoticeBox).place(event.size)
        self.call_after_refresh(bring_into_view, self)

    def on_screen_resume(self) -> None:
        """Comes to the top: the size may be another one, the rows older."""
        self.fit(self.app.size)
        self.console.screen_came_up(self)
        self.call_after_refresh(self.zoom.as_last_time)
        self.call_after_refresh(bring_into_view, self)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The zoom goes with the focus; messages make room for the entry line."""
        self.zoom.follow(event.widget)
        self.query_one(NoticeBox).place(self.size)
        if self.has_read:
            self.tell_footer()
        self.call_after_refresh(bring_into_view, self)

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

    def on_entry_line_changed(self, event: EntryLine.Changed) -> None:
        """Filters the table as one types."""
        if event.purpose == PURPOSE:
            self.table_filter.typed(event.text)

    def on_entry_line_entered(self, event: EntryLine.Entered) -> None:
        """Keeps the filter of the table."""
        if event.purpose == PURPOSE:
            self.table_filter.entered(event.text)

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        """Takes the filter of the table off."""
        if event.purpose == PURPOSE:
            self.table_filter.entered("")

    def on_crawl_table_header_selected(self, event: CrawlTable.HeaderSelected) -> None:
        """Orders by the column that was clicked; a second click turns the order round."""
        if event.table.orders_itself:
            event.table.toggle_order(event.column_id)

    def on_crawl_table_marks_changed(self, _event: CrawlTable.MarksChanged) -> None:
        """Actions are about other rows now."""
        self.tell_footer()

    def on_footer_bar_pressed(self, event: FooterBar.Pressed) -> None:
        """A key of the footer was clicked."""
        self.console.dispatcher.do(event.action_id)

    def on_footer_bar_crumb_pressed(self, event: FooterBar.CrumbPressed) -> None:
        """A place above this one was clicked in the footer."""
        self.console.dispatcher.go_back_to(self.crumbs()[: event.depth])


class Dialog(ModalScreen[object], inherit_bindings=False):
    """A screen over another one. What leaves it with esc does so with a click beside it."""

    LEFT_BY_CLICK: ClassVar[bool] = True
    """False where much may be typed, which a click that went astray must not lose; there is a button then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next", show=False),
        Binding("shift+tab", "app.focus_previous", "Previous", show=False),
    ]

    async def on_event(self, event: events.Event) -> None:
        """Handles what is for somebody."""
        if not is_for_nobody(event, self):
            await super().on_event(event)

    def on_mount(self) -> None:
        """Fits the first size; the keys that go back elsewhere do here what esc does."""
        self.update_classes(size_classes(self.app.size), animate=False)
        bound = self._bindings.key_to_bindings
        for key in cast("TerminalApp[object]", self.app).back_keys:
            if key not in bound:
                bound[key] = [replace(one, key=key) for one in bound.get("escape", ())]

    def on_resize(self, event: events.Resize) -> None:
        """Fits another size."""
        self.update_classes(size_classes(event.size), animate=False)

    async def on_click(self, event: events.Click) -> None:
        """Leaves, if it was beside everything; not with the second click of two: the first one opened it."""
        leaves = self._bindings.key_to_bindings.get("escape")
        if event.widget is self and event.chain % 2 and self.LEFT_BY_CLICK and leaves:
            await self.run_action(leaves[0].action)

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Closes it with its answer. Only once: a second click or key that was on its way would close what is below."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    @property
    def key_names(self) -> KeyNames:
        """The operator's keys, to be named in words."""
        return self.console.appearance.key_names

    @property
    def console(self) -> CrawlerApp:
        """The app."""
        return cast("CrawlerApp", self.app)
