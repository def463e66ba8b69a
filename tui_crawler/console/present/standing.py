"""How an origin stands: its state as one word with a glyph, and whether it is a problem. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.console.glyphs import Mark, state_mark
from tui_crawler.domain.endings import origin_end
from tui_crawler.domain.idle_reason import RESTING
from tui_crawler.domain.moment import HELD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.domain.view import OriginView

_PROBLEMS = frozenset({"impatient", "gave up", "database error", "rate limited"})
_SEVERITY: Mapping[str, int] = MappingProxyType(
    {
        word: rank
        for rank, word in enumerate(
            (
                "database error",
                "gave up",
                "impatient",
                "rate limited",
                "crawling",
                "waiting",
                "ready",
                "paused",
                "idle",
                "resting",
                "excluded",
                "limit reached",
                "stopped",
                "finished",
            )
        )
    }
)
TALLIES: tuple[tuple[str, int], ...] = (
    ("crawling", 3),
    ("waiting", 20),
    ("paused", 21),
    ("impatient", 2),
    ("gave up", 2),
    ("finished", 22),
    ("resting", 20),
)
"""What the header counts: state word, and how soon it goes where there is no room, the greatest first. What rests
stands in the place of what waits: none of these waits while no engine is at work."""

_COUNTED_AS: Mapping[str, str] = MappingProxyType(
    {
        "ready": "waiting",
        "idle": "waiting",
        "rate limited": "impatient",
        "database error": "gave up",
        "excluded": "finished",
        "limit reached": "finished",
        "stopped": "finished",
    }
)


def end_mark(finish_reason: str) -> Mark:
    """How an origin crawler ended its run, as a person reads it. `finish_reason` as in `v_origin`."""
    return state_mark(origin_end(finish_reason))


def standing(origin: OriginView) -> Mark:
    """The state of an origin as a person reads it.

    `impatient` is an origin that has lost half of its patience or more, whatever it does at the moment; `resting` one
    that has not finished while no engine is at work.
    """
    if origin.state == "FINISHED":
        return end_mark(origin.finish_reason)
    if origin.paused:
        return state_mark("paused")
    if origin.state == RESTING:
        return state_mark("resting")
    if origin.asleep_until == HELD and not origin.in_flight_url:  # its jobs are paused
        return state_mark("paused")
    if origin.patience_max and 2 * origin.patience <= origin.patience_max:
        return state_mark("impatient")
    if origin.in_flight_url or origin.state == "BUSY":
        return state_mark("crawling")
    return state_mark({"WAITING": "waiting", "READY": "ready"}.get(origin.state, "idle"))


def is_problem(origin: OriginView) -> bool:
    """Whether `!` keeps this origin: it gave up, was rate limited, or has lost patience in this run."""
    if standing(origin).word in _PROBLEMS:
        return True
    return origin.state != "FINISHED" and origin.patience < origin.patience_max


def severity(origin: OriginView) -> int:
    """Where the state stands in an order from worst (0) to done."""
    return _SEVERITY.get(standing(origin).word, len(_SEVERITY))


def counted_as(origin: OriginView) -> str:
    """The word of `TALLIES` under which the header counts an origin."""
    word = standing(origin).word
    return _COUNTED_AS.get(word, word)
