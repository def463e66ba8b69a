"""The past of one origin: patience lost and given back over time, and how the delay came about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tui_crawler.console.format import clock, seconds
from tui_crawler.console.present.exits import exit_cell
from tui_crawler.console.present.line import LABEL, Line, Prose, fact
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.idle_reason import delay_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tui_crawler.console.origin_parts import TopUp
    from tui_crawler.domain.view import AttemptView, OriginView, RunView

_EVENTS_SHOWN = 5
_DELAYS_SHOWN = 7


@dataclass(frozen=True, slots=True)
class _Change:
    """Patience that went or came at a moment."""

    at: int
    before: int
    after: int
    cause: Styled


def patience_past(lost: Sequence[AttemptView], given: Sequence[TopUp], run: RunView | None, zone: tzinfo) -> list[Line]:
    """What patience went through in the newest run: each change, the newest first."""
    since = run.started_at if run is not None else 0
    changes = [
        _Change(one.ended_at, one.patience_before, one.patience_after, exit_cell(one.exit_code, glyph=False))
        for one in lost
        if run is None or one.run_id == run.run_id
    ]
    changes += [
        _Change(one.at, one.before, one.after, Styled(f"topped up by {one.who}", "accent"))
        for one in given
        if one.at >= since
    ]
    changes.sort(key=lambda change: change.at)
    lines: list[Line] = [
        fact("", Styled(f"{clock(one.at, zone)} {one.before}→{one.after} ", "muted"), one.cause)
        for one in reversed(changes[-_EVENTS_SHOWN:])
    ]
    if len(changes) > _EVENTS_SHOWN:
        lines.append(fact("", Styled(f"and {len(changes) - _EVENTS_SHOWN} before", "faint")))
    return lines


def delay_source(view: OriginView) -> str:
    """What decided the present delay, in words; empty before the first request."""
    match view.delay_reason:
        case "" | "none":
            return ""
        case "default":
            return "configured"
        case "floor":
            return "floor"
        case "response_time":
            return "adaptive: slow answers"
        case other:
            return delay_words(other)


def delay_past(view: OriginView, delays: Sequence[AttemptView], run: RunView | None) -> list[Line]:
    """How the delay went from one to the next in the newest run, oldest first, with what decided it; at the end what
    the operator has made of it since the last request. Nothing where it was the present one all the time."""
    own = [one for one in delays if run is None or one.run_id == run.run_id][:_DELAYS_SHOWN][::-1]
    steps, values = [], [seconds(view.delay_ms)]
    for reason, group in groupby(own, key=lambda one: one.delay_reason):
        of_reason = [value for value, _ in groupby(seconds(one.delay_ms_after) for one in group)]
        values += of_reason
        steps.append(f"{' → '.join(of_reason)} ({delay_words(reason) or 'configured'})")
    if len(set(values)) == 1:
        return []
    if view.delay_ms and seconds(view.delay_ms) != values[-1]:
        steps.append(f"{seconds(view.delay_ms)} ({delay_words(view.delay_reason) or 'configured'})")
    return [Prose(" " * LABEL + " → ".join(steps), "muted", LABEL, 3)]
