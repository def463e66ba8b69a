"""Where SQL is typed: enter asks, ctrl+j begins a line, tab completes, up and down bring back what was asked before."""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui_crawler.console.completion import Choice, Completion, choose
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.panes.typing_area import PlainArea
from tui_crawler.console.present.sql_words import Schema, complete


class SqlEditor(PlainArea):
    """An editor of a few lines. `schema` (views and their columns) is what it completes from."""

    class Asked(Message):
        """Enter: the text is to be answered."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Recalled(Message):
        """Up in the first line or down in the last: `step` questions back (-1) or on (1) in what was asked before."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Offered(Message):
        """What the word under the cursor may become has changed."""

        def __init__(self, words: tuple[str, ...]) -> None:
            super().__init__()
            self.words = words

    class NothingFits(Message):
        """Tab was pressed where nothing can be completed; pressed once more it leaves."""

    def __init__(self, text: str, *, id: str, classes: str) -> None:  # noqa: A002, RUF100
        """Begins with a text."""
        super().__init__(plain_text(text), id=id, classes=classes, soft_wrap=True, show_line_numbers=False)
        self.cursor_blink = False
        self.schema: Schema = ()
        self.answered = ""
        """The text that was answered last: while it stands there, tab has nothing to do but to go on to the answer."""
        self._last: tuple[str, Choice] | None = None  # the text after the last completion, and which it was
        self._told: tuple[str, int] | None = None  # text and place of the cursor where nothing could be completed

    def put(self, text: str) -> None:
        """Puts a text in place of what stands here, with the cursor at its end."""
        self.load_text(plain_text(text))
        self.move_cursor(self.document.end)

    @property
    def offered(self) -> Completion:
        """What the word under the cursor may become."""
        return complete(self.text, self._at, self.schema)

    async def _on_key(self, event: events.Key) -> None:
        """Takes its own keys before the editor does."""
        line = self.cursor_location[0]
        match event.key:
            case "enter" | "f5":
                self.post_message(self.Asked(self.text))
            case "ctrl+j":
                self.insert("\n")
            case "tab" if self._complete() or self._stays():
                pass
            case "up" if line == 0:
                self.post_message(self.Recalled(-1))
            case "down" if line == self.document.line_count - 1:
                self.post_message(self.Recalled(1))
            case _:
                return
        event.stop()
        event.prevent_default()

    def on_text_area_changed(self) -> None:
        """Offers what the word may become."""
        words = self.offered.words
        self.post_message(self.Offered(words if self._fragment else ()))

    def complete_word(self) -> None:
        """Completes the word under the cursor, or tells that nothing fits."""
        if not self._complete():
            self.post_message(self.NothingFits())

    def _stays(self) -> bool:
        """Whether tab, which completes nothing, is kept from leaving: it leaves with the second one in the same place,
        and from a question that was answered as it stands."""
        here = (self.text, self._at)
        if self._told == here or self.text == self.answered:
            self._told = None
            return False
        self._told = here
        self.post_message(self.NothingFits())
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
        if self._last is not None and self._last[0] == self.text:
            choice: Choice | None = self._last[1].turned(1)
        elif self._fragment or self.text[: self._at].endswith("."):
            choice = choose(self.offered, self._fragment)
        else:
            choice = None
        if choice is None:
            return False
        self._put_in(choice.offered.start, choice.word)
        turns = choice.place is not None and len(choice.offered.words) > 1
        self._last = (self.text, choice) if turns else None
        return True

    def _put_in(self, start: int, word: str) -> None:
        line, column = self.cursor_location
        self.replace(plain_text(word), (line, column - (self._at - start)), (line, column))
