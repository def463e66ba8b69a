"""What became of a delay that an operator has set: which one holds. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tui_crawler.console.format import seconds
from tui_crawler.domain.command import SetDelay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.domain.command import ActionResult, Command


def delay_note(commands: Sequence[Command], results: Sequence[ActionResult]) -> str:
    """Which delay holds where it is another one than was asked for: the operator's own only ever slows down. Empty for
    other commands, and where that is not told."""
    if len(commands) != 1 or not results or not results[0].after:
        return ""
    match commands[0]:
        case SetDelay(delay_ms=asked):
            holds = json.loads(results[0].after).get("in_force")
            return f"{seconds(holds)} holds" if isinstance(holds, int) and holds != asked else ""
        case _:
            return ""
