"""What operators asked for, as rows: what became of it, what it changed, the command line that does the same. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import clock
from tui_crawler.console.present.same_as import command_line_of
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.view import ActionView

ACTION_COLUMNS: tuple[Column, ...] = (
    Column("at", "WHEN", 8, 1),
    Column("who", "WHO", 10, 3, min_width=6),
    Column("state", "STATE", 9, 0),
    Column("action", "ACTION", 10, 0, min_width=6),
    Column("target", "OF", None, 4, min_width=24),
    Column("same", "COMMAND LINE", None, 0, min_width=16),
)


def action_row(one: ActionView, zone: tzinfo) -> Row:
    """An action; its key is its number."""
    line = command_line_of(one)
    return Row(
        one.action_id,
        (
            Styled(clock(one.at, zone), "muted"),
            Styled(one.who, "muted"),
            action_state(one),
            Styled(one.action.replace("_", " "), "strong"),
            Styled(one.target),
            (
                Styled(one.error + "  " if one.error else "", "error"),
                Styled(line or one.target, "" if line else "muted"),
            ),
        ),
    )


def action_state(one: ActionView) -> Styled:
    """What became of an action."""
    if one.error:
        return Styled("✗ refused", "error")
    if not one.applied:
        return Styled("◷ waits", "waiting")
    return Styled("↻ undone", "muted") if one.undone else Styled("✓ done", "ok")
