"""Lines of a screen shared out: what has few rows takes no more than these, and leaves the others to what is below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.css.scalar import Scalar

from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from textual.widget import Widget

FRAME = 3
"""Lines of a table pane that are not rows: its border and its header."""


@dataclass(slots=True)
class SharedHeight:
    """What a pane, or a container of panes, takes at most; the style sheet says what share that is of the screen, until
    `take` is called.

    It grows with the rows, and is smaller only after `begin`: nothing jumps while one looks.
    """

    _taker: Widget
    _tallest: int = 0

    def begin(self) -> None:
        """It is shown anew, or at another size: it may be smaller than it was."""
        self._tallest = 0

    def take(self, lines: int, *, all_of_it: bool = False) -> None:
        """It needs so many lines; `all_of_it`: it takes what it can get, there is nothing to leave it to."""
        self._tallest = max(self._tallest, lines)
        most = None if all_of_it else Scalar.from_number(self._tallest)
        if self._taker.styles.max_height != most:
            self._taker.styles.max_height = most
