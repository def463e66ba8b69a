"""Short messages over a screen, on a border line, where they hide no row."""

import textwrap
from collections.abc import Sequence

from textual.geometry import Size
from textual.widget import Widget

from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.panes.line import width_of
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.notice import GAP, MOST, Notice, rows_of
from tui_crawler.text.cells import Styled


class NoticeBox(Lines, can_focus=False):
    """Up to three notices on a border line: at the left of the lower border of the lowest pane, or, where panes have
    none, at the right of its upper one. The footer stays whole, and all that stands above an open entry line."""

    def __init__(self) -> None:
        super().__init__(id="notices")
        self.display = False
        self._notices: tuple[Notice, ...] = ()

    def tell(self, notices: Sequence[Notice]) -> None:
        """Shows these notices, newest last."""
        self._notices = tuple(notices)
        self.place(self.screen.size)

    def place(self, size: Size) -> None:
        """Takes its place on a screen of this size, and again when that has been laid out. A screen that is too small
        shows none."""
        self._place(size)
        if self.display:
            self.call_after_refresh(lambda: self._place(self.screen.size) if self.is_attached else None)

    def _place(self, size: Size) -> None:
        self.display = bool(self._notices) and not self.screen.has_class("-tiny")
        if not self.display:
            return
        entry = next((one for one in self.screen.query(EntryLine) if one.display), None)
        room = max(1, size.width - 2)
        narrow = self.screen.has_class("-narrow")
        lines = _lines(self._notices, room, 1 if entry is not None else MOST, folds=narrow)
        self.show(lines)
        width, height = min(room, max(width_of(line) for line in lines)), len(lines)
        border = self._lowest_pane() if narrow else None
        if border is not None:
            above = min(height - 1, border.region.y - self.screen.query_one("#body").region.y)  # the header stays whole
            x, y = max(1, size.width - width - 1), border.region.y - above
        else:
            x, y = 1, size.height - height - 1 - (entry.region.height or 1 if entry is not None else 0)
        self.styles.width, self.styles.height = width, height
        self.styles.offset = (x, max(0, y))

    def _lowest_pane(self) -> Widget | None:
        panes = [
            pane
            for body in self.screen.query("#body")
            for pane in body.query(".pane")
            if pane.region and pane.region.y in body.region.line_range
        ]
        return max(panes, key=lambda one: one.region.y, default=None)


def _lines(notices: tuple[Notice, ...], width: int, most: int, *, folds: bool) -> list[tuple[Styled, ...]]:
    """The notices in at most so many lines of `width` cells; `folds`: one that is too long goes on in the next line."""
    rows = rows_of(notices, width, most)
    spare, lines = most - len(rows) if folds else 0, []
    for row in rows:
        if spare > 0 and len(row) == 1 and width_of(row[0].label) + GAP - 2 > width:
            texts = textwrap.wrap(row[0].label, max(1, width - GAP), break_on_hyphens=False)[: spare + 1]
            lines += [_pieces(row[0], text) for text in texts]
            spare -= len(texts) - 1
        else:
            lines.append(tuple(piece for notice in row for piece in _pieces(notice, notice.label)))
    return lines[:most]


def _pieces(notice: Notice, text: str) -> tuple[Styled, ...]:
    return (Styled("▎ ", notice.role), Styled(text, notice.role), Styled("  "))
