"""`Lines`: text that is not a table. Lines of styled pieces, never markup, each made safe where it is laid out."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_crawler.console.panes.border import write_title
from tui_crawler.console.panes.line import Flow, HangingText, Line, Paragraph, Split, doors_in, width_of
from tui_crawler.console.panes.scrolling import reach_over
from tui_crawler.console.table.cells import Piece, lay_out
from tui_crawler.console.table.paint import role_styles, style_of
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.format import plural
from tui_crawler.text.safe_text import safe


class Lines(ScrollView):
    """Shows lines; scrolls when there are more than fit."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", "Down", id="move.down", show=False),
        Binding("k,up", "scroll_up", "Up", id="move.up", show=False),
        Binding("home,g g", "scroll_home", "Top", id="move.first", show=False),
        Binding("end,g e", "scroll_end", "Bottom", id="move.last", show=False),
        Binding("pagedown", "page_down", "Page down", id="move.page_down", show=False),
        Binding("pageup", "page_up", "Page up", id="move.page_up", show=False),
    ]
    """The keys of a table, as far as there is something to move."""

    @dataclass
    class Opened(Message):
        """A door with this goal was clicked."""

        goal: str | int

    DEFAULT_CSS = """
    Lines { height: 1fr; width: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None, still: bool = False) -> None:
        """Makes it empty. `still`: it is only looked at, never focused."""
        super().__init__(id=id, classes=classes)
        self.can_focus = self.can_focus and not still
        self._source: tuple[Line, ...] = ()
        self._laid_out: list[list[Piece]] = []
        self._row_count = 0
        self._width = -1
        self._roles: dict[str, Style] = {}

    def show(self, lines: Sequence[Line]) -> None:
        """Shows these lines in place of all others; nothing is painted when they are equal."""
        if tuple(lines) != self._source:
            self.replace_lines(lines)
            self._measure()
            self.refresh()

    def replace_lines(self, lines: Sequence[Line]) -> None:
        """Takes these lines in place of all others, to be shown by the painting that is under way."""
        self._source = tuple(lines)
        self._width = -1

    def count(self, counts: Mapping[str, float]) -> None:
        """Shows what the header counts now, where it shows any of that."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown."""
        return self._source

    @property
    def more(self) -> str:
        """How many lines are below what a pane without a scroll bar shows, in words; empty when all are in view."""
        below = len(self._laid_out) - round(self.scroll_y) - self.scrollable_content_region.height
        return f"{plural(below, 'line')} more" if below > 0 else ""

    @property
    def text(self) -> str:
        """What is shown, as plain text."""
        self._measure()
        return "\n".join("".join(text for text, _ in self._row(index)).rstrip() for index in range(self._row_count))

    def on_resize(self, _event: events.Resize) -> None:
        self._measure()

    def on_click(self, event: events.Click) -> None:
        """Opens what the door leads to that is clicked."""
        offset = event.get_content_offset(self)
        if offset is None or (row := offset.y + round(self.scroll_y)) >= len(self._laid_out):
            return
        rows = (line for line in self._source for _ in lay_out_line(line, self._width))
        for start, end, goal in doors_in(next(islice(rows, row, None), "")):
            if start <= offset.x < end:
                event.stop()
                self.post_message(self.Opened(goal))

    def notify_style_update(self) -> None:
        """Forgets the colours: the theme changed."""
        super().notify_style_update()
        self._roles = {}

    def render_line(self, y: int) -> Strip:
        self._measure()
        base = self.visual_style.rich_style
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_y)
        if index >= self._row_count:
            return Strip.blank(width, base)
        segments = [Segment(text, base + self._style(role)) for text, role in self._row(index)]
        return Strip(segments).adjust_cell_length(width, base)

    def _lay_out(self, width: int) -> int:
        """Lay out the lines in a width; return how many rows they take."""
        self._laid_out = [pieces for line in self._source for pieces in lay_out_line(line, width)]
        return len(self._laid_out)

    def _row(self, index: int) -> list[Piece]:
        return self._laid_out[index]

    def _measure(self) -> None:
        width = self.scrollable_content_region.width
        if width == self._width or width <= 0:
            return
        self._width = width
        self._row_count = self._lay_out(width)
        if self.is_mounted:
            reach_over(self, self._row_count)
            self._measure()  # a scroll bar that comes or goes leaves another width: also for the line being painted

    def _style(self, role: str) -> Style:
        if role not in self._roles:
            named = role_styles(self.app.theme_variables, self.app.current_theme.dark)
            self._roles[role] = style_of(role, named)
        return self._roles[role]


class FactsPane(Lines):
    """Facts of what a screen shows, made again whenever something was read, the cursor moved or time passed."""

    def __init__(
        self,
        facts: Callable[[], Sequence[Line]],
        heading: str = "",
        *,
        id: str,
        classes: str = "pane",
        still: bool = False,
    ) -> None:
        """`facts` makes the lines; `heading` is raw text."""
        super().__init__(id=id, classes=classes, still=still)
        self._facts = facts
        write_title(self, heading)

    def show_facts(self) -> None:
        """Show the facts as they are now; nothing is painted when they are the same."""
        if self.is_mounted:
            self.show(self._facts())


def lay_out_line(line: Line, width: int) -> list[list[Piece]]:
    """The pieces of a line in `width` terminal cells, safe and clipped; more than one list when it is wrapped."""
    match line:
        case Split(left=left, right=right):
            return [_split(left, right, width, min(width_of(right), width))]
        case Paragraph(text=text, role=role, indent=indent, most=most):
            wrapped = _wrap(text, width, most, indent)
            return [lay_out(Styled(piece, role), width, "left") for piece in wrapped]
        case HangingText(head=head, width=wanted, text=text, role=role, tail=tail) if tail:
            before = min(wanted, width)
            rest = width - before
            shown = _split(Styled(text, role), Styled(tail, "muted"), rest, min(width_of(tail), rest // 2))
            return [[*lay_out(head, before, "left"), *shown]]
        case HangingText(head=head, width=wanted, text=text, role=role, most=most):
            before = min(wanted, width)
            room = width - before
            wrapped = _wrap(text, room, most)[: most if room else 1] or [""]
            heads = (head, *[""] * (len(wrapped) - 1))
            return [
                [*lay_out(beside, before, "left"), *lay_out(Styled(piece, role), room, "left")]
                for beside, piece in zip(heads, wrapped, strict=True)
            ]
        case Flow():
            return [lay_out(row, width, "left") for row in _flow(line, width)]
        case _:
            return [lay_out(line, width, "left")]


def _split(left: Cell, right: Cell, width: int, end: int) -> list[Piece]:
    """What is at the left edge, and in the last `end` cells what is at the right one, with a space between them."""
    room = max(0, width - end - bool(end))
    gap = [(" ", "")] if width - room - end > 0 else []
    return [*lay_out(left, room, "left"), *gap, *lay_out(right, end, "right")]


def _flow(line: Flow, width: int) -> list[Cell]:
    rows: list[list[str | Styled]] = []
    end = 0
    for piece in line.pieces:
        wide = width_of(piece)
        if not rows or end + line.gap + wide > width:
            rows.append([])
            end = 0
        else:
            rows[-1].append(" " * line.gap)
            end += line.gap
        rows[-1] += piece if isinstance(piece, tuple) else (piece,)
        end += wide
    return [tuple(row) for row in rows] or [""]


def _wrap(text: str, width: int, most: int, indent: int = 0) -> list[str]:
    """`text` made safe, in lines of about `width` cells, at most `most` of them."""
    shown = safe(text)
    room = width // 2 if cell_len(shown) > len(shown) else width  # characters of two cells
    return textwrap.wrap(shown, max(room, indent + 8), subsequent_indent=" " * indent, max_lines=most, placeholder="…")


class LongLines(Lines):
    """What would be wrapped is cut to its first row."""

    def _row(self, index: int) -> list[Piece]:
        return next(iter(lay_out_line(self._source[index], self._width)), [])

    def _lay_out(self, width: int) -> int:
        return len(self._source)
