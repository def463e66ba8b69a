"""`LongLines`: as `Lines`, for thousands of lines of one row each. Only those in view are laid out."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from tui_crawler.console.panes.lines import Lines, lay_out_line
from tui_crawler.console.scrolling import reach_over


class LongLines(Lines):
    """What would be wrapped is cut to its first row."""

    @property
    def text(self) -> str:
        """All lines, as plain text."""
        return "\n".join("".join(text for text, _ in self._row(index)).rstrip() for index in range(len(self._source)))

    def render_line(self, y: int) -> Strip:
        """Paints one line of the view."""
        self._measure()
        base = self.visual_style.rich_style
        width = self.scrollable_content_region.width
        index = y + round(self.scroll_y)
        if index >= len(self._source):
            return Strip.blank(width, base)
        segments = [Segment(text, base + self._style(role)) for text, role in self._row(index)]
        return Strip(segments).adjust_cell_length(width, base)

    def _row(self, index: int) -> list[tuple[str, str]]:
        return next(iter(lay_out_line(self._source[index], self._width)), [])

    def _measure(self) -> None:
        width = self.scrollable_content_region.width
        if width == self._width or width <= 0:
            return
        self._width = width
        if self.is_mounted:
            reach_over(self, len(self._source))
