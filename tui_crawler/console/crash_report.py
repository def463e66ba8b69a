"""What is printed when an error of the console itself ends it: a traceback that a terminal shows and never obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment, Segments

from tui_crawler.console.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType

_LONGEST = 8_192  # characters of one piece


def in_plain_characters(console: Console, reports: Iterable[RenderableType]) -> list[RenderableType]:
    """The reports as `console` would print them, without anything a terminal could obey.

    The message of an error, and the lines of code and values around it, may hold any text that was crawled.
    """
    return [Segments([_plain(piece) for piece in console.render(report) if not piece.is_control]) for report in reports]


def _plain(piece: Segment) -> Segment:
    return Segment("\n".join(safe(line, _LONGEST) for line in piece.text.split("\n")), piece.style)
