"""How many entries of the log there were when, as one line, with its problems told apart. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.format import clock, plural
from tui_crawler.console.present.log_lines import LogLine
from tui_crawler.console.sparkline import LEVELS
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.exit_code import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tui_crawler.console.present.line import Line

_BARS, _FEWEST_BARS = 80, 8  # cells
_ROLES = {Severity.info: "accent", Severity.warning: "warning", Severity.error: "error"}


def histogram(lines: Sequence[LogLine], width: int, zone: tzinfo) -> Line:
    """How many entries there were from the first to the last, in at most `width` cells; where there were
    problems in their colour, and how many of them."""
    if not lines:
        return ""
    first, last = min(line.at for line in lines), max(line.at for line in lines)
    ends = Styled(f"{clock(first, zone)} ", "muted"), Styled(f" {clock(last, zone)}", "muted")
    levels = Counter(line.level for line in lines)
    counts = [(levels[Severity.error], "✗", "error", "error"), (levels[Severity.warning], "⚠", "warning", "warning")]
    told = [Styled(f"  {glyph} {plural(number, word)}", role) for number, glyph, word, role in counts if number]
    room = min(_BARS, width - sum(cell_len(piece.text) for piece in (*ends, *told)))
    if room < _FEWEST_BARS:
        return (*ends, *told)
    span = max(last - first + 1, room)
    numbers, worst = [0] * room, [Severity.info] * room
    for line in lines:
        at = (line.at - first) * room // span
        numbers[at] += 1
        worst[at] = max(worst[at], line.level)
    most = max(numbers)
    bars = [
        Styled(LEVELS[-(-number * (len(LEVELS) - 1) // most)] if number else " ", _ROLES[level])
        for number, level in zip(numbers, worst, strict=True)
    ]
    return (ends[0], *bars, ends[1], *told)
