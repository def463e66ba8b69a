"""What happens, as one relation: attempts, what operators asked for, errors of the console. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tui_crawler.console.logs.attempts import exit_cell, note, status_cell
from tui_crawler.console.panes.notice import ReportedError
from tui_crawler.console.urls.cells import bare_host, host_of, path_of
from tui_crawler.domain.operator_view import ActionView
from tui_crawler.domain.view import AttemptView
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import seconds
from tui_crawler.text.relations.actions import action_mark
from tui_crawler.text.shown import Show

Event = AttemptView | ActionView | ReportedError


def _key(event: Event) -> Hashable:
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


def _only(of: Callable[[Any], Cell]) -> Show[Any, Event]:
    """Show what attempts alone have."""
    return lambda value, event, _: of(value) if isinstance(event, AttemptView) else ""


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


EVENTS: Relation[Event] = Relation(
    key=_key,
    nothing="nothing has happened yet",
    source=lambda event: None if isinstance(event, ReportedError) else event,
    columns=(
        Column("time", "TIME", shown.time_of_day(), 8, 1, value=at),
        Column("origin", "ORIGIN", _host, 22, 2, min_width=14, kind="place", value=_origin),
        Column("exit", "EXIT", shown.by_value(shown.itself), 15, 0, min_width=14, kind="word", value=_what),
        Column("status", "ST", _only(status_cell), 3, 5, "right",
               value=lambda event: getattr(event, "http_status", None)),
        Column("took", "TOOK", _only(lambda ms: Styled(seconds(ms), "muted")), 6, 6, "right",
               value=lambda event: getattr(event, "response_ms", None)),
        Column("url", "URL", shown.by_value(shown.itself), None, 0, min_width=16, kind="place", value=_about),
        Column("note", "NOTE", shown.by_value(shown.itself), None, 4, min_width=20, value=_note),
    ),
)  # fmt: skip
