"""Read-only queries in SQL: an editor with history and completion, the catalogue, the result as a table or a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.dialogs.completion import Choice, Completion, choose
from tui_crawler.console.handlers import handles
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.lines import FactsPane, Lines
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.panes.typing_area import PlainArea
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.screen.port import ReachesConsole
from tui_crawler.console.sql.catalogue import VIEW_COLUMNS, VIEWS, CatalogueView, proposed, quoted
from tui_crawler.console.sql.chart import ResultChart, axes_of, chart_of, drawn
from tui_crawler.console.sql.rows import AnswerRow, Schema, answer_lines, answer_of, answer_rows, answer_words, complete
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import READING, clock, elapsed, plural

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.sql.queries import QuerySession


T = TypeVar("T")


class SqlEditor(PlainArea):
    """An editor of a few lines. `schema` (views and their columns) is what it completes from.

    It calls `ask` with the text at enter; `recall` at up in the first line (-1, an earlier query) or down in the last
    (1, a later one); `offer` with the completions of the word under the cursor. Tab leaves where there are none.
    """

    ask: Callable[[str], None]
    recall: Callable[[int], None]
    offer: Callable[[Sequence[str]], None]

    def __init__(self, text: str, *, id: str, classes: str) -> None:
        super().__init__(plain_text(text), id=id, classes=classes, soft_wrap=True, show_line_numbers=False)
        self.cursor_blink = False
        self.schema: Schema = ()
        self._last: tuple[str, Choice] | None = None  # the text after the last completion, and which it was

    def put(self, text: str) -> None:
        self.load_text(plain_text(text))
        self.move_cursor(self.document.end)

    @property
    def offered(self) -> Completion:
        """The completions of the word under the cursor."""
        return complete(self.text, self._at, self.schema)

    async def _on_key(self, event: events.Key) -> None:
        line = self.cursor_location[0]
        match event.key:
            case "enter" | "f5":
                self.ask(self.text)
            case "ctrl+j":
                self.insert("\n")
            case "tab" if self.complete():
                pass
            case "up" if line == 0:
                self.recall(-1)
            case "down" if line == self.document.line_count - 1:
                self.recall(1)
            case _:
                return
        event.stop()
        event.prevent_default()

    def on_text_area_changed(self) -> None:
        self.offer(self.offered.words if self._fragment else ())

    def insert_name(self, name: str) -> None:
        """Insert a name at the cursor, after a comma where one stands before it."""
        before = self.text[: self._at][-1:]
        self.insert(f"{', ' if before.isalnum() or before == '_' else ''}{name}")

    @property
    def _at(self) -> int:
        line, column = self.cursor_location
        return sum(len(self.document.get_line(before)) + 1 for before in range(line)) + column

    @property
    def _fragment(self) -> str:
        return self.text[self.offered.start : self._at]

    def complete(self) -> bool:
        """Insert the next completion, at first as far as all of them agree; False when there is none."""
        choice: Choice | None = None
        if self._last is not None and self._last[0] == self.text:
            choice = self._last[1].turned(1)
        elif self._fragment or self.text[: self._at].endswith("."):
            choice = choose(self.offered, self._fragment)
        if choice is None:
            return False
        line, column = self.cursor_location
        self.replace(plain_text(choice.word), (line, column - (self._at - choice.offered.start)), (line, column))
        turns = choice.place is not None and len(choice.offered.words) > 1
        self._last = (self.text, choice) if turns else None
        return True


class ResultChartPane(ReachesConsole, Bar, can_focus=True):
    """The chart of two columns of the result, shown while there is one."""

    chart: ResultChart | None = None

    def draw(self, chart: ResultChart | None) -> None:
        """Show a chart, or hide."""
        self.chart, self.display = chart, chart is not None
        self.lay_out()

    def lines_for(self, size: Size) -> Sequence[Line]:
        one, console = self.chart, self.console
        if one is None:
            return ()
        width = size.width - (not one.ordered and len(one.points) > size.height)  # a scroll bar
        lines = drawn(one, width, size.height, console.appearance.dots, console.clock.zone)
        return [tuple(Styled(text, role) for text, role in line) for line in lines]


_FIRST = "SELECT origin, todo, done, failed FROM v_origin ORDER BY failed DESC"
_EDITOR_KEYS = (
    ("nav.open", "enter", "run"),
    ("editor.recall", "↑", "history"),
    ("editor.complete", "tab", "complete"),
    ("editor.line", "ctrl+j", "new line"),
)
"""What the footer names while the editor has the focus: id (of an action, or of a key of the editor), key, label."""
_HINT = "enter runs · tab completes, or goes to the next pane · ctrl+j new line · ↑ ↓ history"


class SqlScreen(ConsoleScreen):
    """Runs one query at a time, in a thread."""

    WHERE = Where.sql
    CRUMBS = ("SQL",)
    HERE = frozenset({"sql.open"})
    AUTO_FOCUS = "#sql-editor"

    def __init__(self, query_session: QuerySession, question: str = "") -> None:
        """`question` is run at once."""
        super().__init__()
        self._query_session, self._question = query_session, question
        self._answer = QueryAnswer()
        self._problem = ""  # why the last query has no result; that of the one before is still shown
        self._since: int | None = None  # when the query that runs was started (monotonic ms)
        self._cancelled = False
        self._back = 0  # how far back in the history

    def body(self) -> Iterable[Widget]:
        text = self._question or self._query_session.draft or _FIRST  # the history may be of another crawl
        self._editor = SqlEditor(text, id="sql-editor", classes="pane")
        self._editor.ask, self._editor.recall = self._ask, self._recall
        self._editor.offer = lambda words: self._hint_at("  ".join(words[:40]), "accent")
        self._hint = Lines(id="sql-hint", still=True)
        self._table = CrawlTable(answer_of(QueryAnswer()), placeholder="", id="sql-rows", classes="pane")
        self._info = FactsPane(self._facts, "Row", id="sql-info")
        self._chart = ResultChartPane(id="sql-chart", classes="pane")
        self._chart.draw(None)
        self._views = CrawlTable(VIEWS, placeholder=READING, id="sql-views", classes="pane")
        self._columns = CrawlTable(VIEW_COLUMNS, placeholder="", id="sql-columns", classes="pane")
        self._views.name_pane("Views")
        self._columns.name_pane("Columns")
        self.add_class("-catalogue", update=False)
        result = Vertical(self._table, self._chart, self._info, id="sql-result")
        lower = Horizontal(result, Vertical(self._views, self._columns, id="sql-catalogue"), id="sql-lower")
        yield Vertical(self._editor, self._hint, lower, id="body")

    def on_mount(self) -> None:
        """Name the panes, read the catalogue, run the query that was passed."""
        self._hint_at()
        self._in_thread(self._query_session.schema, self._show_schema)
        if self._question:
            self._editor.move_cursor(self._editor.document.end)
            self._ask(self._question)
        else:
            self._editor.select_all()  # so that typing replaces it

    def _facts(self) -> Sequence[Line]:
        return answer_lines(self._answer, self._table.cursor_key, self.console.clock.zone)

    def on_unmount(self) -> None:
        if self._since is not None:
            self._query_session.cancel()

    def _hint_at(self, text: str = "", role: str = "") -> None:
        """Show a line below the editor; without one its keys."""
        self._hint.show([Styled(text, role) if text else Styled(_HINT, "muted")])

    def show_titles(self) -> None:
        if self._since is not None:
            ms, back = self.console.clock.mono_ms() - self._since, self.key_names("nav.back")
            words = f"cancelling… {elapsed(ms)}" if self._cancelled else f"◷ running… {elapsed(ms)} · {back} cancels"
        elif self._problem:
            words = f"of the query before: {answer_words(self._answer)}" if self._answer.columns else "failed"
        elif self._answer.columns:
            words = answer_words(self._answer)
        else:
            words = "no query yet"
        player, zone = self.console.live_state.player, self.console.clock.zone
        now = "" if player is None else f" · the current database, not as of {clock(player.at, zone)}"
        title(self._editor, f"SQL · read-only{now}")
        title(self._table, f"Result · {words}")
        title(self._chart, f"Chart · {self._chart.chart.heading}" if self._chart.chart is not None else "Chart")
        title(self._info, "Row" if self._table.cursor_key is None else f"Row {self._table.cursor_index + 1}")

    def _show(self, answer: QueryAnswer) -> None:
        table = self._table
        self._since, self._problem = None, answer.problem
        self._hint_at(f"✗ {answer.problem}" if answer.problem else "", "error")
        if answer.problem:
            table.placeholder = f"✗ {answer.problem}"
            held = table.held_rows()  # the result before stays, dimmed
            table.set_rows([row.in_role("dim") for row in held], keep_marks=True)
            self.show_titles()
        else:
            self._answer = answer
            table.keep_only("")
            table.order_by(None)
            table.clear_marks()
            table.set_relation(answer_of(answer))
            table.fill(answer_rows(answer), present(self.console.clock), cursor="first")
            if (chart := self._chart.chart) is not None:
                self._show_chart(*((chart.x, chart.y) if {chart.x, chart.y} <= set(self._column_ids) else ()))
            self.tick()
        self.tell_footer()

    def situation(self) -> Situation:
        """The URL of the row under the cursor, if it has one."""
        row = self._table.current
        pairs = zip(self._answer.columns, row.values if row is not None else (), strict=False)
        texts = (value for name, value in pairs if "url" in name.casefold() and isinstance(value, str))
        urls = tuple(text for text in texts if text.startswith(("http://", "https://")))
        return Situation(Where.sql, urls=urls[:1])

    def footer_keys(self) -> Sequence[tuple[str, str, str]]:
        if self.focused is not self._editor:
            return super().footer_keys()
        return (*_EDITOR_KEYS, ("nav.back", self.key_names("nav.back"), "back"))

    def leave_marks(self) -> bool:
        """Leave marks, unless `esc` cancels a query or closes the chart first."""
        return self._since is None and not self._chart.display and super().leave_marks()

    def again(self, *values: object) -> bool:
        if question := "".join(map(str, values)):
            self._editor.put(question)
            self._ask(question)
        self._editor.focus()
        return True

    def leave(self) -> None:
        if self._since is not None:
            self._cancelled = True
            self._query_session.cancel()
            self.show_titles()
        elif self._chart.display:
            self._show_chart()
        elif self.focused is not self._editor:
            self._editor.focus()
        else:
            self._query_session.draft = self._editor.text
            super().leave()

    def open_selected(self) -> None:
        """Open the URL of the row, or run the query of the editor."""
        urls = self.situation().urls
        if self.focused is self._editor:
            self._ask(self._editor.text)
        elif urls:
            self.console.go_to(Where.url, urls[0])
        else:
            self.console.tell("no", "this row has no URL", "muted")

    def _ask(self, text: str) -> None:
        if self._since is not None:
            self.console.tell("no", f"a query is running; {self.key_names('nav.back')} cancels it", "muted")
            return
        self._since, self._cancelled, self._back = self.console.clock.mono_ms(), False, 0
        self._show_result()
        self._query_session.remember(text)
        self._in_thread(lambda: self._query_session.ask(text), self._show)
        self.show_titles()

    def _in_thread(self, work: Callable[[], T], show: Callable[[T], None]) -> None:
        """Show what some work returns that takes a while."""

        def run() -> None:
            self.call_later(show, work())

        self.app.run_worker(run, group="sql", thread=True, exit_on_error=False)

    def _show_schema(self, schema: Schema) -> None:
        self._editor.schema = schema
        self._views.fill([CatalogueView(*one) for one in schema], present(self.console.clock), cursor="first")
        self._show_columns()

    def _show_columns(self) -> None:
        if isinstance(view := self._views.current, CatalogueView):
            title(self._columns, f"{view.name} · {plural(len(view.columns), 'column')}")
            self._columns.fill(view.columns, present(self.console.clock), cursor="first")

    def on_crawl_table_row_highlighted(self, event: CrawlTable.RowHighlighted) -> None:
        if event.table is self._views:
            self._show_columns()
        super().on_crawl_table_row_highlighted(event)

    def row_selected(self, event: CrawlTable.RowSelected) -> None:
        """Take a name of the catalogue into the query; as everywhere in the result."""
        if event.table is self._table:
            super().row_selected(event)
        elif isinstance(view := self._views.current, CatalogueView):
            self._take_name(view.name, str(event.key) if event.table is self._columns else "")

    def _take_name(self, view: str, column: str) -> None:
        """Propose a query, or insert the name into the one that the operator has typed."""
        editor = self._editor
        untouched = editor.text.strip() in {"", _FIRST}
        if proposal := proposed("" if untouched else editor.text, view, column):
            editor.put(proposal)
        else:
            editor.insert_name(quoted(column or view))
        editor.focus()

    def _show_result(self) -> None:
        """Hide the catalogue where there is no room for both."""
        self.set_class(self.has_class("-catalogue") and not self.has_class("-narrow"), "-catalogue")

    @handles("sql.catalogue")
    def show_catalogue(self) -> None:
        """Show or hide the views and columns."""
        self.toggle_class("-catalogue")
        (self._views if self.has_class("-catalogue") else self._editor).focus()

    @handles("sql.chart")
    def chart_result(self, text: str) -> None:
        """Chart two columns of the result: `x y` as typed, or by the current column; again: the next number column."""
        columns, names, at = self._column_ids, text.split(), self._table.current_column
        if text and len(names) != 2:
            self.console.tell("no", f"chart {text}: type two columns of the result, x and y", "warning")
        elif columns and at is not None:
            self._show_chart(*(names or axes_of(columns, self._values(), at, self._chart.chart)))

    def _values(self) -> list[Sequence[object]]:
        return [row.record.values for row in self._table.shown_rows() if isinstance(row.record, AnswerRow)]

    @property
    def _column_ids(self) -> list[str]:
        return [column.id for column in self._table.columns]

    def _show_chart(self, x: str = "", y: str = "") -> None:
        """Show a chart of the result in place of its rows; without columns, or where it is none: the rows."""
        chart, before = chart_of(self._column_ids, self._values(), x, y), self._chart.chart
        if x and chart.problem:
            self.console.tell("no", f"no chart: {chart.problem}", "warning")
        self._chart.draw(chart if x and not chart.problem else None)
        self.set_class(self._chart.display, "-chart")
        if not self._chart.display:
            self._table.focus()
        elif before is None:
            self._show_result()
            self._chart.focus()
        self.show_titles()

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """Show the keys of the pane that has the focus now."""
        if self.focused is not self._editor and not self._problem:
            self._hint_at()
        self.tell_footer()

    def on_bar_opened(self, event: Bar.Opened) -> None:
        match event.goal:
            case "editor.line":
                self._editor.insert("\n")
            case "editor.complete":
                self._editor.complete()
            case "editor.recall":
                self._recall(-1)

    def _recall(self, step: int) -> None:
        asked = self._query_session.asked
        back = min(max(self._back - step, 0), len(asked))
        if back == self._back:
            self.console.tell("no", "no earlier query" if back else "this is the newest query", "muted")
            return
        if self._back == 0:
            self._query_session.draft = self._editor.text
        self._back = back
        self._editor.put(asked[-back] if back else self._query_session.draft)
