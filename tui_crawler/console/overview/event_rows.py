"""What operators asked for, and errors of the console itself, as rows among the events. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.table.cells import Row, Styled
from tui_crawler.console.urls.cells import bare_host, host_of
from tui_crawler.text.format import clock
from tui_crawler.text.relations.actions import action_mark

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.panes.notice import ReportedError
    from tui_crawler.domain.operator_view import ActionView


def action_row(action: ActionView, zone: tzinfo) -> Row:
    """An action as a row of the events, with the command line that does the same; its key is `("action", id)`."""
    from tui_crawler.text.same_as import command_line_of  # noqa: PLC0415  not before the first paint

    mark = action_mark(action)
    about = action.target if "://" in action.target and " " not in action.target else ""
    origin = "/".join(about.split("/", 3)[:3])
    line = command_line_of(action)
    end = Styled(f"  {action.error}", "error") if action.error else Styled(f"  {mark.word}", "muted")
    return Row(
        ("action", action.action_id),
        (
            Styled(clock(action.at, zone), "muted"),
            Styled(host_of(origin), short=bare_host(origin)) if origin else Styled("operator", "muted"),
            Styled(f"{mark.glyph} {action.action.replace('_', ' ')}", mark.role),
            "",
            "",
            Styled(line or action.target, "accent" if line else ""),
            (Styled(f"by {action.who}", "muted"), end),
        ),
    )


def trouble_row(trouble: ReportedError, zone: tzinfo) -> Row:
    """An error message that was shown, as a row of the events; its key is `("trouble", number)`."""
    return Row(
        ("trouble", trouble.number),
        (
            Styled(clock(trouble.at, zone), "muted"),
            Styled("console", "muted"),
            Styled("✗ error", "error"),
            "",
            "",
            Styled(trouble.text, "error"),
            "",
        ),
    )
