"""robots.txt as text with line numbers: only the lines in view are made, be there half a million of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.panes.long_lines import LongLines
from tui_crawler.console.present.robots_lines import text_line
from tui_crawler.console.table_cells import Piece, Styled

if TYPE_CHECKING:
    from tui_crawler.console.origin_parts import RobotsSheet


class RobotsText(LongLines):
    """The lines of one robots.txt, with the line that decides."""

    def __init__(self) -> None:
        """Makes it empty."""
        super().__init__(id="robots-text", classes="pane")
        self._sheet: RobotsSheet | None = None
        self._decided: int | None = None
        self._obeyed = True

    def show_sheet(self, sheet: RobotsSheet | None, decided: int | None, empty: str, *, obeyed: bool) -> None:
        """Shows a file, or the words `empty`; `decided` is the number of the line that decides, and comes into view.

        `obeyed` False: it is kept from before, and none of its lines is in force.
        """
        if sheet is self._sheet and (decided, obeyed) == (self._decided, self._obeyed) and sheet is not None:
            return
        fresh = sheet is not self._sheet
        self._sheet, self._decided, self._obeyed = sheet, decided, obeyed
        number = len(sheet.lines) if sheet is not None else 0
        self._source = tuple([""] * number) if number else (Styled(empty, "muted"),)
        self._width = -1
        self._measure()
        if sheet is not None and (decided or fresh):
            first = decided or min(sheet.in_force, default=1)
            self.call_after_refresh(self._come_to, first)
        self.refresh()

    def _come_to(self, number: int) -> None:
        """Scrolls so that a line stands in the upper third."""
        self.scroll_to(y=max(0, number - 1 - self.size.height // 3), animate=False)

    def _row(self, index: int) -> list[Piece]:
        if self._sheet is None:
            return super()._row(index)
        line = text_line(self._sheet, index + 1, self._decided, obeyed=self._obeyed)
        return next(iter(lay_out_line(line, self._width)), [])
