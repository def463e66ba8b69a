"""One origin: what it does and why, its todo list in the order of its turns, and every attempt as it comes in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input

from tui_crawler.console.actions import BY_ID, Situation, Where
from tui_crawler.console.crawl_table import CrawlTable, Row
from tui_crawler.console.format import count
from tui_crawler.console.keys import keys_of, only_at
from tui_crawler.console.origin_parts import AttemptsAfter, AttemptsBefore, ContractOf, TopUp, TopUpsOf
from tui_crawler.console.panes.events import go_to_problem, problems_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.tabs import Tab, TabBar
from tui_crawler.console.present.attempt_row import LOG_COLUMNS, log_row
from tui_crawler.console.present.exits import meaning
from tui_crawler.console.present.origin_detail import (
    EXIT_COLUMNS,
    TODO_COLUMNS,
    Past,
    exit_row,
    state_lines,
    todo_row,
    unknown_lines,
)
from tui_crawler.console.present.origin_now import head_line
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.refresh import WINDOW, AttemptWindow, OriginDetail, Snapshot, Wants
from tui_crawler.console.screens.base import title
from tui_crawler.console.screens.long_list import AHEAD, LongList
from tui_crawler.console.screens.origin_actions import act_on_origins
from tui_crawler.console.screens.waiting import RowsScreen
from tui_crawler.console.table_cells import LateRow
from tui_crawler.domain.contract import Contract
from tui_crawler.domain.trap import TrapSuspicion, suspect

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from datetime import tzinfo

    from tui_crawler.console.crawl_table import CursorRule
    from tui_crawler.console.refresh import Part
    from tui_crawler.domain.page_view import TodoView
    from tui_crawler.domain.view import AttemptView, OriginView


KEPT = 2_000
"""How many attempts are held at most, besides the window joined last."""


class AttemptBook:
    """A stretch of the attempts without gaps, and what to read at its edges. Knows no screen.

    The newest window of all is read by itself and handed in; `news` counts the attempts that came in so.
    """

    def __init__(
        self, origin: str, *, problems_only: bool = False, from_oldest: bool = False, newest: int | None = None
    ) -> None:
        """Begins empty, at the newest attempt or at the oldest. `newest` is the id of the newest one that was known
        before (None: none was read)."""
        self.origin = origin
        self.problems_only = problems_only
        self.from_oldest = from_oldest
        self.newest = newest
        self.news = 0
        self.started = self.at_newest = self.at_oldest = False
        self.attempts: tuple[AttemptView, ...] = ()
        self._by_id: dict[int, AttemptView] = {}

    def attempt(self, key: object) -> AttemptView | None:
        """An attempt that is held, by its id."""
        return self._by_id.get(key) if isinstance(key, int) else None

    # what is to be read

    @property
    def begin(self) -> AttemptsAfter | None:
        """Its first window; None: the newest one, which is handed in."""
        return AttemptsAfter(self.origin, 0, self.problems_only) if self.from_oldest and not self.started else None

    @property
    def below(self) -> AttemptsBefore | None:
        """What is older than the attempts held; None at the oldest."""
        if not self.attempts or self.at_oldest:
            return None
        return AttemptsBefore(self.origin, self.attempts[-1].attempt_id, self.problems_only)

    @property
    def above(self) -> AttemptsAfter | None:
        """What is newer than they; None at the newest."""
        if not self.attempts or self.at_newest:
            return None
        return AttemptsAfter(self.origin, self.attempts[0].attempt_id, self.problems_only)

    # what was read

    def take(self, part: AttemptsBefore | AttemptsAfter, window: tuple[AttemptView, ...]) -> bool:
        """Takes a window (newest first) that was read for one of its parts; True when it was."""
        ended = len(window) < WINDOW
        if part == self.begin:
            self.started = self.at_oldest = True
            self.attempts, self.at_newest = window, ended
        elif part == self.below:
            self.attempts, self.at_oldest = (*self.attempts, *window), ended
        elif part == self.above:
            self.attempts, self.at_newest = (*window, *self.attempts), ended
        else:
            return False
        self._index()
        return True

    def take_newest(self, window: tuple[AttemptView, ...]) -> bool:
        """Takes the newest window of all (newest first); True when the attempts held are others now."""
        known = self.newest
        self.newest = max([known or 0, *(one.attempt_id for one in window[:1])])
        if known is not None:
            self.news += sum(one.attempt_id > known for one in window)
        if not self.started and not self.from_oldest:
            self.started = self.at_newest = True
            self.attempts, self.at_oldest = window, len(window) < WINDOW
        elif self.at_newest:
            edge = self.attempts[0].attempt_id if self.attempts else 0
            fresh = tuple(one for one in window if one.attempt_id > edge)
            if not fresh:
                return False
            self.at_newest = len(fresh) < WINDOW  # else some may lie between
            self.attempts = (*fresh, *self.attempts) if self.at_newest else self.attempts
        else:
            return False
        self._index()
        return True

    def let_go(self, anchor: object) -> None:
        """Lets the attempts go that are too many, farthest from the one with the id `anchor`."""
        over = len(self.attempts) - KEPT
        if over <= 0:
            return
        at = next((index for index, one in enumerate(self.attempts) if one.attempt_id == anchor), 0)
        if 2 * at < len(self.attempts):
            self.attempts, self.at_oldest = self.attempts[:KEPT], False
        else:
            self.attempts, self.at_newest = self.attempts[over:], False
        self._index()

    def _index(self) -> None:
        self._by_id = {one.attempt_id: one for one in self.attempts}


class AttemptList(LongList):
    """What the screen shows of a book in its table, and what it wants to be read for it."""

    def __init__(self, table: CrawlTable, book: AttemptBook) -> None:
        """The key of a row is the id of its attempt."""
        super().__init__(table)
        self.book = book
        self._edge: AttemptsBefore | AttemptsAfter | None = None  # the neighbours that are awaited
        self._rows: dict[Hashable, Row] = {}

    def look(self, book: AttemptBook, *, keep: bool = True) -> None:
        """Goes elsewhere, which is read with the next beat; `keep`: until then the rows stay."""
        self.book, self._edge, self._turned = book, None, True
        if not keep:
            self.table.set_rows([])

    @property
    def following(self) -> bool:
        """Whether the first row, where the newest attempt goes, has the cursor and is in view."""
        if self._turned:
            return not self.book.from_oldest
        in_view = round(self.table.scroll_y) == 0
        return self.book.at_newest and in_view and self.table.cursor_index <= 0

    @property
    def words(self) -> tuple[str, ...]:
        """What the title tells of it."""
        new = f"{count(self.book.news)} new" if self.book.news and not self.following else ""
        held = f"only the {count(len(self.table.held_rows()))} rows held" if self.in_part else ""
        return tuple(word for word in (new, held) if word)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What lies beyond an edge that is near."""
        if self._edge is None:
            self._edge = self._beyond()
        return () if self._edge is None else (self._edge,)

    def _beyond(self) -> AttemptsBefore | AttemptsAfter | None:
        book, table = self.book, self.table
        if not book.started:
            return book.begin
        if self.in_part:
            return None
        top = round(table.scroll_y)
        below = book.below if top + len(table.visible_keys) - 1 + AHEAD >= table.row_count else None
        return below or (book.above if top < AHEAD else None)

    def take(self, read: Mapping[Part, object], zone: tzinfo) -> bool:
        """Takes what was read for an edge; True when it was: then more may be wanted soon."""
        edge = self._edge
        window = read.get(edge) if edge is not None else None
        if edge is None or not isinstance(window, tuple):
            return False
        anchor = self._looked_at()
        self._edge = None
        if self.book.take(edge, window):
            self._show(anchor, zone)
        return True

    def take_newest(self, window: tuple[AttemptView, ...], zone: tzinfo) -> None:
        """Takes the newest window; while it follows, the cursor goes with it."""
        following, anchor = self.following, self._looked_at()
        changed = self.book.take_newest(window)
        if following:
            self.book.news = 0
            if self.book.started and not self.book.at_newest:  # more came in than a window holds
                self.book.started = False
                changed = self.book.take_newest(window)
        if changed:
            self._show(window[0].attempt_id if following and window else anchor, zone, following=following)

    def seen(self) -> None:
        """The cursor was moved: at the newest attempt there are no news."""
        if self.following:
            self.book.news = 0

    def _show(self, anchor: Hashable, zone: tzinfo, *, following: bool = False) -> None:
        """Shows what is held. The cursor stays on its attempt; when that is let go, it goes to the nearest in view."""
        book, table = self.book, self.table
        book.let_go(anchor)
        self._rows = dict(self._made(zone))
        self._stay_near(self._rows)
        rule: CursorRule = "last" if self._turned and book.from_oldest else "first" if following else "pin"
        self._turned = False
        table.set_rows(self._rows.values(), cursor=rule)

    def _made(self, zone: tzinfo) -> Iterable[tuple[Hashable, Row]]:
        for one in self.book.attempts:
            key = one.attempt_id
            yield key, self._rows.get(key) or LateRow(key, partial(log_row, one, zone))


RATE_WIDTH = 20
EXITS_SHOWN = 8
FRAME = 3
"""Lines of a table pane that are not rows: its border and its header."""
TABS: Mapping[str, str] = {"state": "State", "attempts": "Attempts", "todo": "Todo", "exits": "Exit codes"}
"""The panes, in the order of the line of tabs that stands where there is one column only."""


class OriginScreen(RowsScreen):
    """Everything about one origin."""

    WHERE = Where.origin
    BINDINGS: ClassVar[list[BindingType]] = [*only_at(Where.origin)]
    AUTO_FOCUS = "#attempts"

    def __init__(self, origin: str) -> None:
        """`origin` is raw text as stored."""
        super().__init__()
        self._origin = origin
        self._detail: OriginDetail | None = None
        self._held: OriginDetail | None = None
        self._window = AttemptWindow()
        self._contract: Contract | None = None
        self._given: tuple[TopUp, ...] = ()
        self._suspicion: TrapSuspicion | None = None
        self._tab = next(iter(TABS))

    def body(self) -> Iterable[Widget]:
        """State and exit codes at the left, todo list above the attempts; or one of them below a line of tabs."""
        self._why = Lines(id="why-here")
        self._tabs = TabBar(id="origin-tabs")
        self._state = Lines(id="state", classes="pane")
        self._todo = CrawlTable(TODO_COLUMNS, placeholder="the todo list is empty", id="todo", classes="pane")
        self._exits = CrawlTable(EXIT_COLUMNS, placeholder="no attempts yet", id="exits", classes="pane")
        self._attempts = CrawlTable(LOG_COLUMNS, placeholder="no attempts yet", id="attempts", classes="pane")
        self._list = AttemptList(self._attempts, AttemptBook(self._origin))
        left = Vertical(self._state, self._exits, id="origin-left")
        right = Vertical(self._todo, self._attempts, id="origin-right")
        panes = Horizontal(left, right, id="origin-panes")
        self._body = Vertical(self._why, self._tabs, panes, id="body", classes=f"tab-{self._tab}")
        yield self._body

    def on_mount(self) -> None:
        """Names the panes, and shows what the overview knows already."""
        title(self._state, "State")
        title(self._exits, "Exit codes")
        self._show_titles()
        self._show_state()

    # what is shown

    def wants(self) -> Wants:
        """This origin."""
        parts: tuple[Part, ...] = (ContractOf(self._origin), TopUpsOf(self._origin), *self._list.parts)
        return Wants(origin=self._origin, attempts=self._window, parts=parts)

    def take(self, shot: Snapshot) -> None:
        """Takes the parts that changed."""
        contract, given = shot.parts.get(ContractOf(self._origin)), shot.parts.get(TopUpsOf(self._origin))
        if isinstance(contract, Contract):
            self._contract = contract
        if isinstance(given, tuple) and not self.frozen:
            self._given = given
        if self._list.take(shot.parts, self.console.clock.zone):
            self.console.read_soon()
            self._show_titles()
        if shot.origin is None or shot.origin is self._detail:
            return
        if self.frozen:
            self.missed += 1
            self._held = shot.origin
            self._show_titles()
            return
        self._show(shot.origin)

    def thaw(self) -> None:
        """Shows what came meanwhile."""
        if self._held is not None:
            self._show(self._held)
        self._show_titles()

    def tick(self) -> None:
        """Clocks; and whether the attempts follow, which the wheel changes."""
        if not self.frozen:
            self._show_state()
            self._show_outlooks()
        self._list.seen()
        self._show_titles()

    def fit(self, size: Size) -> None:
        """Tabs where there is one column."""
        super().fit(size)
        self._show_tabs()

    def focus_main(self) -> None:
        """The attempts; where there is one column, the pane that is shown."""
        self.set_focus(self.query_one(f"#{self._tab}" if self.has_class("-narrow") else "#attempts"))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The pane that has the focus is the one that is shown where there is one column."""
        if event.widget.id in TABS and event.widget is self.focused:
            self._open_tab(str(event.widget.id))

    def _open_tab(self, name: str) -> None:
        """Shows a pane in place of the others, where there is one column."""
        self._body.remove_class(*(f"tab-{tab}" for tab in TABS))
        self._body.add_class(f"tab-{name}")
        self._tab = name
        self._show_tabs()

    def _go_to_tab(self, name: str) -> None:
        self._open_tab(name)
        self.set_focus(self.query_one(f"#{name}"))
        self.tell_footer()

    def _show_tabs(self) -> None:
        view, detail = self._view(), self._detail
        notes = {"todo": count(view.todo) if view is not None else ""}
        if detail is not None:
            notes["exits"] = str(len(detail.exits))
        tabs = []
        for name, words in TABS.items():
            action = BY_ID[f"origin.tab_{name}"]
            key = next(iter(keys_of(action.id, action.keys, self.console.own_keys)), "")
            tabs.append(Tab(action.id, key, words, notes.get(name, "")))
        self._tabs.tell(tabs, f"origin.tab_{self._tab}")

    def _show(self, detail: OriginDetail) -> None:
        before, self._detail, self._held = self._detail, detail, None
        zone = self.console.clock.zone
        if before is None or detail.todo is not before.todo:
            self._todo.set_rows([self._todo_row(*numbered) for numbered in enumerate(detail.todo, 1)])
        if before is None or detail.attempts is not before.attempts:
            self._list.take_newest(detail.attempts, zone)
            if self._window == AttemptWindow():
                self._suspicion = suspect(self._origin, detail.history.refused, detail.attempts)
        if before is None or detail.exits is not before.exits:
            most = max((item.run for item in detail.exits), default=0)
            self._exits.set_rows([exit_row(item, most) for item in detail.exits])
            self._exits.styles.height = min(max(len(detail.exits), 1), EXITS_SHOWN) + FRAME
        self._show_state()
        self._show_titles()

    def _todo_row(self, number: int, item: TodoView) -> Row:
        outlook = self.console.wishes.outlook_on_list(item, self._view())
        return todo_row(number, item, self._origin, self.console.clock.wall_ms(), outlook)

    def _show_outlooks(self) -> None:
        """When the pages of the todo list are asked for, of the rows in view: by time, and as the run goes."""
        seen = frozenset(self._todo.visible_keys)
        for number, item in enumerate(self._detail.todo if self._detail is not None else (), 1):
            if item.url in seen:
                self._todo.update_row(self._todo_row(number, item))

    def _show_state(self) -> None:
        console = self.console
        view = self._view()
        if view is None:
            self._state.show(unknown_lines(self._origin) if self._detail is not None else [])
            return
        now, zone = console.clock.wall_ms(), console.clock.zone
        meter = console.picture.meters.get(view.origin)
        line = meter.line(console.clock.mono_ms(), RATE_WIDTH) if meter else []
        run = console.picture.run
        self._why.show([head_line(view, now, run, zone, console.who, self._contract)])
        if self._detail is not None:
            past = Past(self._detail.history, self._given, run, self._contract, self._suspicion)
            self._state.show(state_lines(view, past, now, zone, line, self.key_names))

    def _show_titles(self) -> None:
        self._show_tabs()
        view = self._view()
        shown = len(self._todo.held_rows())
        todo = "Todo"
        if view is not None and view.todo:
            todo += f" · {count(view.todo)}" if shown >= view.todo else f" · first {shown} of {count(view.todo)}"
        title(self._todo, todo)
        parts = ["Attempts"]
        if self._window.problems_only:
            parts.append("problems only")
        parts += self._list.words
        title(self._attempts, " · ".join(parts), f"‖ frozen · {self.missed} changes" if self.frozen else "")

    def _view(self) -> OriginView | None:
        read = self._detail.view if self._detail is not None else None
        return read or self.console.picture.origins.get(self._origin)

    # what is selected

    def situation(self) -> Situation:
        """This origin, and the URL under the cursor."""
        view = self._view()
        url = self._url()
        return Situation(
            Where.origin,
            origins=(view,) if view is not None else (),
            urls=(url,) if url else (),
            failed=view.failed if view is not None else 0,
        )

    def record(self, table: CrawlTable, key: Hashable) -> object | None:
        """A page of the todo list, an attempt, or how often an exit code came."""
        detail = self._detail
        if detail is None:
            return None
        if table is self._todo:
            return next((one for one in detail.todo if one.url == key), None)
        return self._list.book.attempt(key)

    def crumbs(self) -> tuple[str, ...]:
        """Where one is."""
        return ("Overview", host_of(self._origin))

    def _url(self) -> str:
        """The URL under the cursor that is seen."""
        narrow = self.has_class("-narrow")
        if narrow and self._tab not in {"todo", "attempts"}:
            return ""
        if (self._tab == "todo") if narrow else self.focused is self._todo:
            return str(self._todo.cursor_key or "")
        attempt = self._list.book.attempt(self._attempts.cursor_key)
        return attempt.url if attempt is not None and attempt.kind != "robots" else ""

    # what is done

    def do(self, action_id: str, argument: str = "") -> bool:
        """Does an action of this screen."""
        view = self._view()
        match action_id:
            case "origin.tab_state" | "origin.tab_attempts" | "origin.tab_todo" | "origin.tab_exits":
                self._go_to_tab(action_id.removeprefix("origin.tab_"))
            case "focus.next" | "focus.previous" if self.has_class("-narrow") and not isinstance(self.focused, Input):
                names, step = list(TABS), 1 if action_id == "focus.next" else -1
                self._go_to_tab(names[(names.index(self._tab) + step) % len(names)])
            case "filter.open" if self._tab == "state" and self.has_class("-narrow"):
                self._go_to_tab("attempts")
                return False
            case "nav.open":
                self._open()
            case "view.problems":
                self._see_attempts()
                self._look(AttemptWindow(problems_only=not self._window.problems_only))
            case "log.next_error" | "log.previous_error":
                self._see_attempts()
                bad = problems_of(self._list.book.attempts)
                if not go_to_problem(self._attempts, bad, older=action_id == "log.next_error"):
                    self.console.tell("no", "there is no further problem in this list", "muted")
            case _:
                return view is not None and act_on_origins(self.console, action_id, (view,))
        return True

    def _open(self) -> None:
        """Opens the URL under the cursor, or says what an exit code means."""
        if self.focused is self._exits:
            code = str(self._exits.cursor_key or "")
            self.console.tell("exit", f"{code}: {meaning(code)}")
        else:
            self.console.dispatcher.go_to_url(self._url())

    def _see_attempts(self) -> None:
        """What is done to the attempts is seen."""
        if self.has_class("-narrow") and self._tab != "attempts":
            self._go_to_tab("attempts")

    def _look(self, window: AttemptWindow) -> None:
        """Looks at all attempts, or at the problems among them."""
        self._window = window
        self._list.look(AttemptBook(self._origin, problems_only=window.problems_only), keep=False)
        self._show_titles()
        self.console.read_soon()

    def on_crawl_table_end_wanted(self, event: CrawlTable.EndWanted) -> None:
        """The newest or the oldest attempt of all, not only of those held."""
        book = self._list.book
        there = book.at_oldest if event.bottom else book.at_newest
        if event.table is not self._attempts or self._list.in_part or not book.started or there:
            return
        known = book.newest if event.bottom else None
        begun = AttemptBook(self._origin, problems_only=book.problems_only, from_oldest=event.bottom, newest=known)
        begun.news = book.news if event.bottom else 0
        self._list.look(begun)
        if self._detail is not None and not event.bottom:
            self._list.take_newest(self._detail.attempts, self.console.clock.zone)
        self._show_titles()
        self.console.read_soon()

    def on_crawl_table_row_highlighted(self, _event: CrawlTable.RowHighlighted) -> None:
        """Actions are about another URL now."""
        self._list.seen()
        self._show_titles()
        self.tell_footer()

    def on_crawl_table_row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Opens the URL."""
        event.table.focus()
        self._open()
