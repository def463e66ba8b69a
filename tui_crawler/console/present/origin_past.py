"""The past of one origin: patience lost and given back over time, and how the delay came about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tui_crawler.console.format import clock, seconds
from tui_crawler.console.present.exits import exit_cell
from tui_crawler.console.present.line import LABEL, Hanging, Line, fact
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.idle_reason import delay_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tui_crawler.console.origin_parts import TopUp
    from tui_crawler.domain.view import AttemptView, OriginView, RunView

LOST, GIVEN, NOTHING = "○", "●", "·"
_TIMELINE = 20
_EVENTS_SHOWN = 5
_DELAYS_SHOWN = 7


@dataclass(frozen=True, slots=True)
class _Change:
    """Patience that went or came at a moment."""

    at: int
    before: int
    after: int
    cause: Styled


def timeline(changes: Sequence[tuple[int, bool]], start: int, end: int, width: int) -> str:
    """A line of `width` dots from `start` to `end` (epoch ms): `○` where patience was lost, `●` where it was given.

    `changes` are moments and whether it was given; where several share a dot the last of them is shown.
    """
    dots = [NOTHING] * max(0, width)
    span = max(1, end - start)
    for at, given in sorted(changes):
        place = (at - start) * (width - 1) // span
        if dots:
            dots[min(max(place, 0), width - 1)] = GIVEN if given else LOST
    return "".join(dots)


def patience_past(
    lost: Sequence[AttemptView], given: Sequence[TopUp], run: RunView | None, now: int, zone: tzinfo
) -> list[Line]:
    """What patience went through in the newest run: a line over time, then each change, the newest first."""
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
    if not changes:
        return []
    changes.sort(key=lambda change: change.at)
    start = since or changes[0].at
    end = run.finished_at if run is not None and run.finished_at else max(now, changes[-1].at)
    dots = timeline([(one.at, one.after > one.before) for one in changes], start, end, _TIMELINE)
    lines: list[Line] = [
        fact("", Styled(f"{_minute(start, zone)} ", "faint"), Styled(dots, "warning"), f" {_minute(end, zone)}")
    ]
    for one in reversed(changes[-_EVENTS_SHOWN:]):
        mark = Styled(f"  {GIVEN if one.after > one.before else LOST} ", "warning")
        lines.append((mark, Styled(f"{clock(one.at, zone)}  {one.before}→{one.after}  ", "muted"), one.cause))
    if len(changes) > _EVENTS_SHOWN:
        lines.append(Styled(f"    and {len(changes) - _EVENTS_SHOWN} before", "faint"))
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


def delay_past(view: OriginView, delays: Sequence[AttemptView], run: RunView | None, zone: tzinfo) -> list[Line]:
    """How the delay went from one to the next in the newest run, oldest first, with what decided it; at the end what
    the operator has made of it since the last request."""
    own = [one for one in delays if run is None or one.run_id == run.run_id][:_DELAYS_SHOWN][::-1]
    if not own:
        return []
    steps = []
    for reason, group in groupby(own, key=lambda one: one.delay_reason):
        values = (value for value, _ in groupby(seconds(one.delay_ms_after) for one in group))
        steps.append(f"{' → '.join(values)} ({delay_words(reason) or 'configured'})")
    if view.delay_ms and seconds(view.delay_ms) != seconds(own[-1].delay_ms_after):
        steps.append(f"{seconds(view.delay_ms)} ({delay_words(view.delay_reason) or 'configured'})")
    head = Styled(f"  {clock(own[-1].ended_at, zone)}"[: LABEL + 2].ljust(LABEL + 3), "muted")
    return [Hanging(head, LABEL + 3, " → ".join(steps), "muted", 3)]


def _minute(at: int, zone: tzinfo) -> str:
    return clock(at, zone)[:5]
