"""The line above the footer where a filter or a command is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from tui_crawler.console.panes.lines import Lines
from tui_crawler.text.cells import Styled
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from textual.widgets import Input

    from tui_crawler.console.dialogs.completion import Choice, Completion
_LONGEST_LABEL = 80
_MOST_OFFERED = 40
_GAP = "  "


@dataclass(frozen=True, slots=True, eq=False)
class EntryUse:
    """What the line is opened for: what is done with the text as one types, and when it is `entered`; `left` with esc
    it is as if nothing had been entered, unless something else is done then.

    `passing`: what is typed holds already, or is nothing before enter, so that the line makes way for whatever else is
    done. `judged`: what is typed may be wrong, so that the line stays at enter, and who takes the text closes it.
    """

    name: str
    entered: Callable[[str], object]
    typed: Callable[[str], object] | None = None
    left: Callable[[], object] | None = None
    passing: bool = False
    judged: bool = False


class EntryLine(Vertical):
    """A label (raw text) and an input, with a line of what it may become; hidden until it is opened.

    `use` says what the text is for.
    """

    class Used(Message):
        """What was entered, or left with esc, has been dealt with."""

    def __init__(self, focus_main: Callable[[], None]) -> None:
        """`focus_main` gives the focus away where it cannot go back to where it was."""
        super().__init__(id="entry")
        self._focus_main = focus_main
        self.use = EntryUse("", str)
        self.display = False
        self.came_from: Widget | None = None
        self._complete: Callable[[str], Completion] | None = None
        self._choice: Choice | None = None
        self._before: tuple[str, ...] = ()
        self._back = 0  # so many texts back in them
        self._draft = ""  # what stood here before one of them did

    def _build(self) -> None:
        """Mount what is in here, which screens do without until it is opened; watch where the focus goes."""
        from textual.widgets import Static  # noqa: PLC0415  not before the first paint

        from tui_crawler.console.panes.typing_line import EntryBox  # noqa: PLC0415  the same

        self._offers = Lines(id="entry-offers", still=True)
        self._label = Static("", id="entry-label", markup=False)
        self._box = EntryBox(id="entry-input", compact=True, select_on_focus=False)
        row = Horizontal(id="entry-line")
        self.mount(self._offers, row)
        row.mount(self._label, self._box)
        self.watch(self.screen, "focused", self._focus_went, init=False)

    def open(
        self,
        use: EntryUse,
        label: str,
        text: str,
        hint: str,
        complete: Callable[[str], Completion] | None = None,
        before: Sequence[str] = (),
    ) -> None:
        """Shows the line and puts the cursor into it. `complete` says what a text may become at its end; up and down go
        through what was typed `before` (the newest last)."""
        if not self.children:
            self._build()
        box = self._box
        if self.screen.focused is not box:
            self.came_from = self.screen.focused
        self.use, self.display, self._complete = use, True, complete
        self._label.update(safe(label, _LONGEST_LABEL))
        box.placeholder = hint
        self._offers.display = complete is not None
        self._write(text)
        if text and use.passing and use.typed is not None:
            box.action_select_all()  # what is typed begins another one; a key that moves the cursor keeps it
        box.complete_by(complete)
        self._before, self._back, self._draft = tuple(before), 0, text
        self.screen.set_focus(box)  # now, not with the next message: the next key may wait already

    @property
    def tells(self) -> bool:
        """Whether it is open for what is shown somewhere as it is typed."""
        return self.display and not self.use.passing

    @property
    def text(self) -> str:
        """What is typed."""
        return self._box.value if self.children else ""

    def close(self) -> None:
        """Hides the line; the focus goes back to where it was."""
        was_open, self.display = self.display, False
        if was_open and self.screen.focused is self._box:
            if (before := self.came_from) is not None and before.is_attached and before.focusable:
                self.screen.set_focus(before)
            else:
                self._focus_main()

    def leave(self) -> None:
        """Closes the line; what it had changed is taken back."""
        use = self.use
        self.close()
        self._done(partial(use.entered, "") if use.left is None else use.left)

    def _done(self, then: Callable[[], object]) -> None:
        then()
        self.post_message(self.Used())

    def make_way(self) -> None:
        """Closes the line before something else is done, unless what is typed there would be lost."""
        if self.use.passing:
            self.close()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self._choice = None
            self._offer()
            if self.use.typed is not None and event.value == self.text:  # else another change follows
                self.use.typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        use = self.use
        if not use.judged:
            self.close()
        self._done(partial(use.entered, event.value))

    def on_key(self, event: events.Key) -> None:
        """Esc leaves the line; tab and shift+tab complete where something is offered; up and down bring back what was
        typed before."""
        match event.key:
            case "escape":
                self.leave()
            case "tab" | "shift+tab" if self._complete is not None:
                self._turn(self._complete, 1 if event.key == "tab" else -1)
            case "up" | "down" if self._before:
                self._recall(1 if event.key == "up" else -1)
            case _:
                return
        event.stop()
        event.prevent_default()

    def _recall(self, step: int) -> None:
        """Goes back (1) or on (-1) in what was typed before; beyond the newest stands what was begun."""
        back = min(max(self._back + step, 0), len(self._before))
        if back != self._back:
            self._draft = self._draft if self._back else self.text
            self._back = back
            self._write(self._before[-back] if back else self._draft)

    def _focus_went(self, focused: Widget | None) -> None:
        """Nothing is left behind when something else takes the focus; a terminal that lost it leaves none (None)."""
        if focused is not None and focused is not self._box:
            self.make_way()

    def _turn(self, complete: Callable[[str], Completion], step: int) -> None:
        if self._choice is not None:
            self._put_in(self._choice.turned(step))
            return
        from tui_crawler.console.dialogs.completion import choose  # noqa: PLC0415  not before the first paint

        offered = complete(self.text)
        if (choice := choose(offered, self.text[offered.start :], step)) is not None:
            self._put_in(choice)
        if len(offered.words) == 1 and complete(f"{self.text} ").words:
            self._write(f"{self.text} ")

    def _put_in(self, choice: Choice) -> None:
        self._write(self.text[: choice.offered.start] + choice.word)
        if choice.place is not None and len(choice.offered.words) > 1:
            self._choice = choice
            self._show(choice.offered, choice.place)

    def _write(self, text: str) -> None:
        box = self._box
        with box.prevent(box.Changed):
            box.value = text
        box.cursor_position = len(text)
        self._choice = None
        self._offer()

    def _offer(self) -> None:
        if self._complete is not None:
            self._show(self._complete(self.text), None)

    def _show(self, offered: Completion, place: int | None) -> None:
        """The words, beginning with the chosen one when it would not be seen otherwise."""
        words, first = offered.words, 0
        if place is not None and cell_len(_GAP.join(words[: place + 1])) > self.size.width - len(_GAP):
            first = place
        pieces: list[Styled] = []
        for at, word in enumerate(words[first : first + _MOST_OFFERED], first):
            pieces += [Styled(word, "accent bold reverse" if at == place else "accent"), Styled(_GAP)]
        self._offers.show([(*pieces, Styled(offered.about, "muted"))])
