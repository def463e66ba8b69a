"""Where SQL is typed: enter asks, ctrl+j begins a line, tab completes, up and down bring back what was asked before."""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui_crawler.console.panes.typing import PlainArea, plain_text
from tui_crawler.console.present.sql_words import Completion, Schema, complete


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

    def __init__(self, text: str, *, id: str, classes: str) -> None:  # noqa: A002, RUF100
        """Begins with a text."""
        super().__init__(plain_text(text), id=id, classes=classes, soft_wrap=True, show_line_numbers=False)
        self.cursor_blink = False
        self.schema: Schema = ()
        self._cycle: tuple[str, Completion, int] | None = None  # the text after the last completion, and which it was

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
            case "tab" if self._complete():
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

    @property
    def _at(self) -> int:
        line, column = self.cursor_location
        return sum(len(self.document.get_line(before)) + 1 for before in range(line)) + column

    @property
    def _fragment(self) -> str:
        return self.text[self.offered.start : self._at]

    def _complete(self) -> bool:
        """Puts in the next word that fits, as far as all that fit agree at first; False when there is none."""
        if self._cycle is not None and self._cycle[0] == self.text:
            _, offered, place = self._cycle
            self._insert(offered, place + 1)
            return True
        offered, fragment = self.offered, self._fragment
        words = tuple(word for word in offered.words if word != fragment)
        if not words or not (fragment or self.text[: self._at].endswith(".")):
            return False
        shared = _shared(offered.words)
        if len(shared) > len(fragment) and len(words) > 1:
            self._put_in(offered.start, shared)
        else:
            self._insert(Completion(offered.start, words), 0)
        return True

    def _insert(self, offered: Completion, place: int) -> None:
        place %= len(offered.words)
        self._put_in(offered.start, offered.words[place])
        self._cycle = (self.text, offered, place) if len(offered.words) > 1 else None

    def _put_in(self, start: int, word: str) -> None:
        line, column = self.cursor_location
        self.replace(plain_text(word), (line, column - (self._at - start)), (line, column))


def _shared(words: tuple[str, ...]) -> str:
    """The beginning that all words share."""
    first, last = min(words), max(words)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]
