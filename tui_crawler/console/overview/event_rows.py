"""What happens, as one relation: attempts, what operators asked for, errors of the console. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from tui_crawler.console.logs.attempts import exit_cell, is_problem, note, status_cell
from tui_crawler.console.panes.notice import ReportedError
from tui_crawler.console.urls.cells import host_cell, origin_of, path_of
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import seconds
from tui_crawler.text.relations.actions import action_mark
from tui_crawler.text.shown import Show

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import AttemptView

    Event = AttemptView | ActionView | ReportedError


@dataclass(frozen=True, slots=True)
class EventLine:
    """What a row shows of an event; `at` is epoch ms."""

    event: Event
    key: Hashable
    at: int
    origin: Styled
    what: Styled
    about: Cell
    note: Cell
    problem: bool = False
    status: int | None = None
    took: int | None = None

    @property
    def words(self) -> str:
        """Return what an action or an error says, whole (raw text); empty for an attempt, which has a URL instead."""
        match self.event:
            case ReportedError(text=text):
                return text
            case ActionView(error=error, action=action, target=target) as asked:
                from tui_crawler.text.same_as import command_line_of  # noqa: PLC0415  not before the first paint

                return error or command_line_of(asked) or f"{action} {target}"
        return ""


def line_of(event: Event) -> EventLine:
    """Return what is shown of an event."""
    match event:
        case ActionView(action_id=key, at=at, target=target):
            from tui_crawler.text.same_as import command_line_of  # noqa: PLC0415  not before the first paint

            mark, line, of_url = action_mark(event), command_line_of(event), "://" in target and " " not in target
            name = origin_of(target)
            host = host_cell(name, "") if of_url else Styled("operator", "muted")
            what = Styled(f"{mark.glyph} {event.action.replace('_', ' ')}", mark.role)
            end = Styled(f"  {event.error or mark.word}", "error" if event.error else "muted")
            about = Styled(line or target, "accent" if line else "")
            return EventLine(
                event,
                ("action", key),
                at,
                host,
                what,
                about,
                (Styled(f"by {event.who}", "muted"), end),
                bool(event.error),
            )
        case ReportedError(number=key, at=at, text=text):
            host, what = Styled("console", "muted"), Styled("✗ error", "error")
            return EventLine(event, ("trouble", key), at, host, what, Styled(text, "error"), "", True)
        case _:  # an attempt, whose record is not loaded before the first paint
            name, what, status, took = event.origin, exit_cell(event.exit_code), event.http_status, event.response_ms
            host, path = host_cell(name, ""), path_of(event.url, name)
            bad = is_problem(event)
            return EventLine(event, event.attempt_id, event.ended_at, host, what, path, note(event), bad, status, took)


def _only(of: Callable[[Any], Cell]) -> Show[Any, EventLine]:
    """Show what attempts alone have."""
    return lambda value, line, _: "" if isinstance(line.event, ActionView | ReportedError) else of(value)


EVENTS: Relation[EventLine] = Relation(
    key=lambda line: line.key,
    nothing="no events yet",
    source=lambda line: None if isinstance(line.event, ReportedError) else line.event,
    columns=(
        Column("time", "TIME", shown.time_of_day(), 8, 1, value=lambda line: line.at),
        Column("origin", "ORIGIN", shown.itself, 22, 2, min_width=14, kind="place"),
        Column("exit", "EXIT", shown.itself, 15, 0, min_width=14, value=lambda line: line.what),
        Column("status", "ST", _only(status_cell), 3, 5, "right"),
        Column("took", "TOOK", _only(lambda ms: Styled(seconds(ms), "muted")), 6, 6, "right"),
        Column("url", "URL", shown.itself, None, 0, min_width=16, kind="place",
               value=lambda line: line.about),
        Column("note", "NOTE", shown.itself, None, 4, min_width=20),
    ),
)  # fmt: skip
