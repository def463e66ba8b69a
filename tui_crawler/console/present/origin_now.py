"""What one origin does at this moment: its turn, the request in flight, the wait for the next one. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import due, seconds
from tui_crawler.console.present.line import fact
from tui_crawler.console.present.standing import standing
from tui_crawler.console.present.urls import host_of, path_of
from tui_crawler.console.table_cells import Cell, Styled
from tui_crawler.domain.idle_reason import RESTING, idle_reason
from tui_crawler.domain.moment import HELD

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.contract import Contract
    from tui_crawler.domain.view import OriginView, RunView

CLOCK_MS = 10_000
"""Below this a wait is shown in tenths of a second."""

_BAR = 12
_FILLED, _EMPTY = "▓", "░"


def turn_of(view: OriginView, now: int) -> str:
    """The turn an origin is in, or that comes next (CRAWL.md section 4): robots, fill, crawl; empty when it is over."""
    if view.state in {"FINISHED", RESTING}:
        return ""
    if view.in_flight_url:
        return "robots" if view.in_flight_url == f"{view.origin}/robots.txt" else "crawl"
    if view.robots_expires_at <= now:
        return "robots"
    return "crawl" if view.todo else "fill"


def head_line(
    view: OriginView, now: int, run: RunView | None, zone: tzinfo, you: str, contract: Contract | None
) -> Cell:
    """The first line of an origin: its name, state, turn, and what is in flight, or why nothing is."""
    mark = standing(view)
    parts = [Styled(f"{host_of(view.origin)}  ", "strong bold"), Styled(mark.label, f"{mark.role} bold")]
    idle = idle_reason(view, now, run, zone=zone, you=you)
    turn = turn_of(view, now)
    if not idle:
        parts += [Styled(f"  turn: {turn}  ", "muted"), Styled("▶ ", "active")]
        parts += [Styled(path_of(view.in_flight_url, view.origin), "strong")]
        return (*parts, Styled(f"  {flight_words(view, now, contract)}", "muted"))
    resting = f"  turn: rest, then {turn}  " if turn else "  "
    return (*parts, Styled(resting, "muted"), Styled(idle))


def flight_words(view: OriginView, now: int, contract: Contract | None) -> str:
    """How long the request in flight takes already, of how long it may: `6.1s of 60.0s`; empty when not known."""
    if not view.in_flight_since:
        return ""
    words = seconds(max(0, now - view.in_flight_since))
    return f"{words} of {seconds(contract.total_timeout_ms)}" if contract is not None else words


def clock_line(view: OriginView, now: int, contract: Contract | None) -> Cell:
    """The politeness clock: the wait for the next request as a bar that fills, or the request in flight."""
    if view.in_flight_url:
        gone, whole = now - view.in_flight_since, contract.total_timeout_ms if contract is not None else 0
        if not view.in_flight_since or not whole:
            return fact("next", Styled("after the one in flight", "muted"))
        return fact("now", Styled(seconds(max(0, gone)).ljust(6), "active"), *gauge(gone, whole))
    if view.paused or view.asleep_until == HELD:
        return fact("next", Styled("paused", "paused"))
    if view.state == "FINISHED":
        return fact("next", Styled("none in this run", "faint"))
    if view.state == RESTING:
        return fact("next", Styled("no engine is at work", "muted"))
    if view.asleep_until > max(now, view.next_request_at):
        return fact("next", Styled(due(view.asleep_until - now), "waiting"), Styled(" nothing is due before", "muted"))
    wait = view.next_request_at - now
    if wait <= 0:
        return fact("next", Styled("as soon as its turn comes", "waiting"))
    shown = seconds(wait) if wait < CLOCK_MS else due(wait).lstrip("+")
    whole = max(view.delay_ms, wait)
    return fact("next", Styled(shown.ljust(6), "waiting"), *gauge(whole - wait, whole))


def gauge(gone: int, whole: int) -> tuple[Styled, Styled]:
    """A bar that is filled by how much of `whole` is gone."""
    filled = min(max(gone * _BAR // max(1, whole), 0), _BAR)
    return Styled(_FILLED * filled, "active"), Styled(_EMPTY * (_BAR - filled), "faint")
