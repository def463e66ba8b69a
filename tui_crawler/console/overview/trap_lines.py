"""The suspicion that an origin is a trap, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.table.cells import Styled

if TYPE_CHECKING:
    from tui_crawler.domain.trap import TrapSuspicion

TRAP = "⚠ trap suspected"


def trap_lines(suspicion: TrapSuspicion | None, *, hint: str = "") -> list[Line]:
    """The word, what speaks for it, and what can be done (`hint`); nothing without a suspicion."""
    if suspicion is None:
        return []
    lines: list[Line] = ["", Styled(TRAP, "warning bold")]
    lines += [Paragraph(words, "warning", most=3) for words in suspicion.evidence]
    if suspicion.sample_url:
        lines.append(Styled(suspicion.sample_url, "faint"))
    return [*lines, *([Paragraph(hint, "muted", most=2)] if hint else [])]
