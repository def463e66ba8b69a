"""How an origin stands: its state as one word with a glyph, and whether it is a problem. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.console.glyphs import Mark, state_mark
from tui_crawler.domain.idle_reason import RESTING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.domain.view import OriginView

_FINISHED: Mapping[str, str] = MappingProxyType(
    {
        "exhausted": "finished",
        "patience": "gave up",
        "database_error": "database error",
        "excluded": "excluded",
        "rate_limited": "rate limited",
        "max_requests": "limit reached",
        "operator": "stopped",
    }
)
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
TALLIES: tuple[tuple[str, str], ...] = (
    ("crawling", "crawling"),
    ("waiting", "waiting"),
    ("paused", "paused"),
    ("impatient", "impatient"),
    ("gave up", "gave up"),
    ("finished", "finished"),
    ("resting", "resting"),
)
"""What the header counts: state word of the glyph, and the word itself. Nothing rests while an engine is at work."""

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


def standing(origin: OriginView) -> Mark:
    """The state of an origin as a person reads it.

    `impatient` is an origin that has lost half of its patience or more, whatever it does at the moment; `resting` one
    that has not finished while no engine is at work.
    """
    if origin.state == "FINISHED":
        return state_mark(_FINISHED.get(origin.finish_reason, "finished"))
    if origin.paused:
        return state_mark("paused")
    if origin.state == RESTING:
        return state_mark("resting")
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
