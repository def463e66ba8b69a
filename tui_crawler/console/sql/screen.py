"""Questions in SQL that only read: an editor with history and completion, the answer as a table, a row in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.containers import Vertical
from textual.widget import Widget

from tui_crawler.console.action import Situation, Where
from tui_crawler.console.clock import present
from tui_crawler.console.dialogs.completion import Choice, Completion, choose
from tui_crawler.console.panes.bars import Bar
from tui_crawler.console.panes.lines import FactsPane, Lines
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.panes.typing_area import PlainArea
from tui_crawler.console.screen.base import ConsoleScreen, title
from tui_crawler.console.sql.rows import Schema, answer_lines, answer_of, answer_rows, answer_words, complete
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import elapsed

if TYPE_CHECKING:
    from tui_crawler.console.panes.line import Line
    from tui_crawler.console.sql.queries import QuerySession


class SqlEditor(PlainArea):
    """An editor of a few lines. `schema` (views and their columns) is what it completes from.

    It calls `ask` with the text at enter; `recall` at up in the first line or down in the last, with how many questions
    back (-1) or on (1); `offer` with what the word under the cursor may become; `nothing_fits` at tab where nothing can
    be completed: pressed once more it leaves.
    """

    ask: Callable[[str], None]
    recall: Callable[[int], None]
    offer: Callable[[Sequence[str]], None]
    nothing_fits: Callable[[], None]

    def __init__(self, text: str, *, id: str, classes: str) -> None:
        super().__init__(plain_text(text), id=id, classes=classes, soft_wrap=True, show_line_numbers=False)
        self.cursor_blink = False
        self.schema: Schema = ()
        self.answered = ""
        """The text that was answered last: while it stands there, tab has nothing to do but to go on to the answer."""
        self._last: tuple[str, Choice] | None = None  # the text after the last completion, and which it was
        self._told: tuple[str, int] | None = None  # text and place of the cursor where nothing could be completed

    def put(self, text: str) -> None:
        self.load_text(plain_text(text))
        self.move_cursor(self.document.end)

    @property
    def offered(self) -> Completion:
        """What the word under the cursor may become."""
        return complete(self.text, self._at, self.schema)

    async def _on_key(self, event: events.Key) -> None:
        line = self.cursor_location[0]
        match event.key:
            case "enter" | "f5":
                self.ask(self.text)
            case "ctrl+j":
                self.insert("\n")
            case "tab" if self._complete() or self._keeps_focus():
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

    def complete_word(self) -> None:
        if not self._complete():
            self.nothing_fits()

    def _keeps_focus(self) -> bool:
        """Whether tab, which completes nothing, is kept from leaving: it leaves with the second one in the same place,
        and from a question that was answered as it stands."""
        here = (self.text, self._at)
        if self._told == here or self.text == self.answered:
            self._told = None
            return False
        self._told = here
        self.nothing_fits()
        return True

    @property
    def _at(self) -> int:
        line, column = self.cursor_location
        return sum(len(self.document.get_line(before)) + 1 for before in range(line)) + column

    @property
    def _fragment(self) -> str:
        return self.text[self.offered.start : self._at]

    def _complete(self) -> bool:
        """Puts in the next word that fits, as far as all that fit agree at first; False when there is none."""
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


_FIRST = "SELECT origin, todo, done, failed FROM v_origin ORDER BY failed DESC"
_EDITOR_KEYS = (
    ("nav.open", "enter", "ask"),
    ("editor.recall", "↑", "asked before"),
    ("editor.complete", "tab", "complete"),
    ("editor.line", "ctrl+j", "new line"),
)
"""What the footer names while the editor has the focus: id (of an action, or of a key of the editor), key, label."""
_HINT = "enter asks · ctrl+j new line · tab completes · ↑ ↓ what was asked · only reading is possible"


class SqlScreen(ConsoleScreen):
    """Asks one question at a time, in a thread, while everything else goes on."""

    WHERE = Where.sql
    CRUMBS = ("SQL",)
    HERE = frozenset({"sql.open"})
    AUTO_FOCUS = "#sql-editor"

    def __init__(self, query_session: QuerySession, question: str = "") -> None:
        """`question` is asked at once."""
        super().__init__()
        self._query_session, self._question = query_session, question
        self._answer = QueryAnswer()
        self._problem = ""  # why the last question got no answer; the one before is shown still
        self._asked, self._sent = 0, ""  # how many questions were asked, and the text of the last one
        self._waits = False
        self._since = 0
        self._cancelled = False
        self._back = 0  # so many questions back in what was asked

    def body(self) -> Iterable[Widget]:
        text = self._question or self._query_session.draft or _FIRST  # what was asked before may be of another crawl
        self._editor = SqlEditor(text, id="sql-editor", classes="pane")
        self._editor.ask, self._editor.recall = self._ask, self._recall
        self._editor.offer, self._editor.nothing_fits = self._offer, self._nothing_fits
        self._hint = Lines(id="sql-hint", still=True)
        self._table = CrawlTable(answer_of(QueryAnswer()), placeholder="", id="sql-rows", classes="pane")
        self._info = FactsPane(self._facts, "Row", id="sql-info")
        yield Vertical(self._editor, self._hint, self._table, self._info, id="body")

    def on_mount(self) -> None:
        """Names the panes, reads what can be completed, asks what was brought along."""
        title(self._editor, "SQL · read-only")
        self._hint.show([Styled(_HINT, "muted")])
        self.app.run_worker(self._read_schema, name="schema", group="sql", thread=True, exit_on_error=False)
        if self._question:
            self._editor.move_cursor(self._editor.document.end)
            self._ask(self._question)
        else:
            self._editor.select_all()  # so that typing begins another question

    def _facts(self) -> Sequence[Line]:
        return answer_lines(self._answer, self._table.cursor_key, self.console.clock.zone)

    def on_unmount(self) -> None:
        if self._waits:
            self._query_session.cancel()

    def _offer(self, offered: Sequence[str]) -> None:
        self._hint.show([Styled("  ".join(offered[:40]), "accent") if offered else Styled(_HINT, "muted")])

    def _nothing_fits(self) -> None:
        """Tab stays in the editor, and says what leaves it."""
        keys = self.key_names.written("focus.next").split(",")
        leaves = "tab again" if "tab" in keys else self.key_names("focus.next")
        words = f"nothing to complete here · {leaves} goes to the answer · {self.key_names('nav.back')} leaves"
        self._hint.show([Styled(words, "warning")])

    def show_titles(self) -> None:
        if self._waits:
            ms, back = self.console.clock.mono_ms() - self._since, self.key_names("nav.back")
            words = f"cancelling… {elapsed(ms)}" if self._cancelled else f"◷ asking… {elapsed(ms)} · {back} cancels"
        elif self._problem:
            words = f"of the question before: {answer_words(self._answer)}" if self._answer.columns else "no answer"
        elif self._answer.columns:
            words = answer_words(self._answer)
        else:
            words = "nothing was asked yet"
        title(self._table, f"Answer · {words}")
        title(self._info, "Row" if self._table.cursor_key is None else f"Row {self._table.cursor_index + 1}")

    def _show(self, answer: QueryAnswer) -> None:
        table = self._table
        self._problem = answer.problem
        self._hint.show([Styled(f"✗ {answer.problem}", "error") if answer.problem else Styled(_HINT, "muted")])
        if answer.problem:
            table.placeholder = f"✗ {answer.problem}"
            held = table.held_rows()  # the answer before stays, as one that is past
            table.set_rows([row.in_role("dim") for row in held], keep_marks=True)
            self.show_titles()
        else:
            self._answer, self._editor.answered = answer, self._sent
            table.keep_only("")
            table.order_by(None)
            table.clear_marks()
            table.set_relation(answer_of(answer))
            table.fill(answer_rows(answer), present(self.console.clock), cursor="first")
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
        """As everywhere; but `esc` cancels a question first."""
        return not self._waits and super().leave_marks()

    def again(self, *values: object) -> bool:
        if question := "".join(map(str, values)):
            self._editor.put(question)
            self._ask(question)
        self._editor.focus()
        return True

    def leave(self) -> None:
        if self._waits:
            self._cancelled = True
            self._query_session.cancel()
            self.show_titles()
        elif self.focused in {self._table, self._info}:
            self._editor.focus()
        else:
            self._query_session.draft = self._editor.text
            super().leave()

    def open_selected(self) -> None:
        """Opens the URL of the row, or asks what stands in the editor."""
        urls = self.situation().urls
        if self.focused is self._editor:
            self._ask(self._editor.text)
        elif urls:
            self.console.go_to(Where.url, urls[0])
        else:
            self.console.tell("no", "this row has no column that holds a URL", "muted")

    def _ask(self, text: str) -> None:
        if self._waits:
            self.console.tell("no", f"a question is being answered; {self.key_names('nav.back')} cancels it", "muted")
            return
        number = self._asked = self._asked + 1
        self._waits, self._cancelled, self._back, self._sent = True, False, 0, text
        self._since = self.console.clock.mono_ms()
        query_session = self._query_session
        query_session.remember(text)

        def work() -> None:
            self.call_later(self._answered, number, query_session.ask(text))

        self.app.run_worker(work, name="sql", group="sql", thread=True, exit_on_error=False)
        self.show_titles()

    def _read_schema(self) -> None:
        self.call_later(setattr, self._editor, "schema", self._query_session.schema())

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """Other keys matter where the focus is now, and what was said of the editor's no more."""
        if self.focused is not self._editor and not self._problem:
            self._hint.show([Styled(_HINT, "muted")])
        self.tell_footer()

    def on_bar_action_pressed(self, event: Bar.ActionPressed) -> None:
        match event.action_id:
            case "editor.line":
                self._editor.insert("\n")
            case "editor.complete":
                self._editor.complete_word()
            case "editor.recall":
                self._recall(-1)

    def _answered(self, number: int, answer: QueryAnswer) -> None:
        if number == self._asked:
            self._waits = False
            self._show(answer)

    def _recall(self, step: int) -> None:
        asked = self._query_session.asked
        back = min(max(self._back - step, 0), len(asked))
        if back == self._back:
            self.console.tell("no", "there is no further question" if back else "this is the newest one", "muted")
            return
        if self._back == 0:
            self._query_session.draft = self._editor.text
        self._back = back
        self._editor.put(asked[-back] if back else self._query_session.draft)
