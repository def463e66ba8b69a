"""What operators asked for, as rows: what became of it, what it changed, the command line that does the same. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import clock
from tui_crawler.console.present.event_rows import action_mark
from tui_crawler.console.present.same_as import command_line_of
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.desk_view import ActionView

ACTION_COLUMNS: tuple[Column, ...] = (
    Column("at", "WHEN", 8, 1),
    Column("who", "WHO", 10, 3, min_width=6),
    Column("state", "STATE", 9, 0),
    Column("action", "ACTION", 10, 0, min_width=6),
    Column("target", "OF", None, 4, min_width=24, kind="place"),
    Column("same", "COMMAND LINE", None, 0, min_width=16),
)


def action_row(one: ActionView, zone: tzinfo) -> Row:
    """An action; its key is its number."""
    line, mark = command_line_of(one), action_mark(one)
    return Row(
        one.action_id,
        (
            Styled(clock(one.at, zone), "muted"),
            Styled(one.who, "muted"),
            Styled(mark.label, mark.role),
            Styled(one.action.replace("_", " "), "strong"),
            Styled(one.target),
            (
                Styled(one.error + "  " if one.error else "", "error"),
                Styled(line or one.target, "" if line else "muted"),
            ),
        ),
    )
