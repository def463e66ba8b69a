"""What happens, as one relation: attempts, what operators asked for, errors of the console. Pure."""

from __future__ import annotations

from collections.abc import Hashable

from tui_crawler.console.logs.attempts import exit_cell, note, status_cell
from tui_crawler.console.panes.notice import ReportedError
from tui_crawler.console.urls.cells import bare_host, host_of, path_of
from tui_crawler.domain.operator_view import ActionView
from tui_crawler.domain.view import AttemptView
from tui_crawler.text.columns import Cell, Column, Present, Relation, Styled, by_value, itself, time_of_day
from tui_crawler.text.format import seconds
from tui_crawler.text.relations.actions import action_mark

Event = AttemptView | ActionView | ReportedError


def key_of(event: Event) -> Hashable:
    """Return what identifies an event."""
    match event:
        case AttemptView():
            return event.attempt_id
        case ActionView():
            return "action", event.action_id
        case ReportedError():
            return "trouble", event.number


def at(event: Event) -> int:
    """Return when it happened (epoch ms)."""
    return event.ended_at if isinstance(event, AttemptView) else event.at


def _origin(event: Event) -> str:
    match event:
        case AttemptView():
            return event.origin
        case ActionView(target=target) if "://" in target and " " not in target:
            return "/".join(target.split("/", 3)[:3])
        case ActionView():
            return "operator"
        case ReportedError():
            return "console"


def _host(origin: str, event: Event, _present: Present) -> Cell:
    if "://" in origin or isinstance(event, AttemptView):
        return Styled(host_of(origin), short=bare_host(origin))
    return Styled(origin, "muted")


def _what(event: Event) -> Styled:
    match event:
        case AttemptView():
            return exit_cell(event.exit_code)
        case ActionView():
            mark = action_mark(event)
            return Styled(f"{mark.glyph} {event.action.replace('_', ' ')}", mark.role)
        case ReportedError():
            return Styled("✗ error", "error")


def _status(status: int | None, event: Event, _present: Present) -> Cell:
    return status_cell(status) if isinstance(event, AttemptView) else ""


def _took(ms: int | None, event: Event, _present: Present) -> Cell:
    return Styled(seconds(ms), "muted") if isinstance(event, AttemptView) else ""


def _about(event: Event) -> Cell:
    match event:
        case AttemptView():
            return path_of(event.url, event.origin)
        case ActionView():
            from tui_crawler.text.same_as import command_line_of  # noqa: PLC0415  not before the first paint

            line = command_line_of(event)
            return Styled(line or event.target, "accent" if line else "")
        case ReportedError():
            return Styled(event.text, "error")


def _note(event: Event) -> Cell:
    match event:
        case AttemptView():
            return note(event)
        case ActionView():
            word = Styled(f"  {action_mark(event).word}", "muted")
            return Styled(f"by {event.who}", "muted"), Styled(f"  {event.error}", "error") if event.error else word
        case ReportedError():
            return ""


EVENTS = Relation[Event](
    key=key_of,
    nothing="nothing has happened yet",
    source=lambda event: None if isinstance(event, ReportedError) else event,
    columns=(
        Column("time", "TIME", time_of_day(), 8, 1, value=at),
        Column("origin", "ORIGIN", _host, 22, 2, min_width=14, kind="place", value=_origin),
        Column("exit", "EXIT", by_value(itself), 15, 0, min_width=14, kind="word", value=_what),
        Column("status", "ST", _status, 3, 5, "right", value=lambda event: getattr(event, "http_status", None)),
        Column("took", "TOOK", _took, 6, 6, "right", value=lambda event: getattr(event, "response_ms", None)),
        Column("url", "URL", by_value(itself), None, 0, min_width=16, kind="place", value=_about),
        Column("note", "NOTE", by_value(itself), None, 4, min_width=20, value=_note),
    ),
)
