"""The least Textual app with a cursor that j and k move: the yardstick of `benchmarks.console`."""

from __future__ import annotations

from rich.segment import Segment
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

ROWS = 30


class Rows(Widget, can_focus=True):
    """Lines with a cursor before one of them."""

    BINDINGS = [("j", "move(1)", "down"), ("k", "move(-1)", "up")]  # noqa: RUF012  as Textual has it
    cursor = 10

    def render_line(self, y: int) -> Strip:
        """One line; the second cell is the cursor."""
        text = f" {'▸' if y == self.cursor else ' '} row {y} of a table" if y < ROWS else ""
        return Strip([Segment(text.ljust(self.size.width))])

    def action_move(self, lines: int) -> None:
        """Moves the cursor and paints the two lines."""
        for line in (self.cursor, (self.cursor + lines) % ROWS):
            self.refresh(Region(0, line, self.size.width, 1))
        self.cursor = (self.cursor + lines) % ROWS


class Minimal(App[None]):
    """Nothing else."""

    ENABLE_COMMAND_PALETTE = False

    def compose(self):  # type: ignore[no-untyped-def]  # noqa: ANN201, RUF100
        """The rows alone."""
        yield Rows()

    def on_mount(self) -> None:
        """The keys go to the rows."""
        self.query_one(Rows).focus()


if __name__ == "__main__":
    Minimal().run()
