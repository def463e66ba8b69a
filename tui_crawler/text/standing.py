"""How an origin stands: its state as one word with a glyph, and whether it is a problem. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.status import OriginPhase
from tui_crawler.domain.records.status_words import origin_end
from tui_crawler.text.format import plural
from tui_crawler.text.glyphs import StateGlyph, state_mark

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView


class Standing(StrEnum):
    """How an origin stands, the worst first; the value is its word."""

    database_error = "database error"
    gave_up = "stopped: errors"
    failing = "failing"
    rate_limited = "rate limited"
    empty = "empty"
    crawling = "crawling"
    waiting = "waiting"
    ready = "ready"
    paused = "paused"
    idle = "idle"
    excluded = "excluded"
    limit_reached = "limit reached"
    stopped = "stopped"
    finished = "finished"


_SEVERITY: Mapping[Standing, int] = {one: rank for rank, one in enumerate(Standing)}
_LEAST_PROBLEM = _SEVERITY[Standing.empty]
_OF_PHASE: Mapping[str, Standing] = {OriginPhase.waiting: Standing.waiting, OriginPhase.ready: Standing.ready}
TALLIES = (Standing.crawling, Standing.waiting, Standing.paused, Standing.failing, Standing.gave_up, Standing.finished)
"""By what origins are counted, in the order in which the counts are shown."""

_COUNTED_AS: Mapping[Standing, Standing] = {
    Standing.ready: Standing.waiting,
    Standing.idle: Standing.finished,
    Standing.rate_limited: Standing.failing,
    Standing.empty: Standing.failing,
    Standing.database_error: Standing.gave_up,
    Standing.excluded: Standing.finished,
    Standing.limit_reached: Standing.finished,
    Standing.stopped: Standing.finished,
}


def end_mark(finish_reason: str) -> StateGlyph:
    """How an origin crawler ended its run, as a person reads it. `finish_reason` as in `v_origin`."""
    return state_mark(Standing(origin_end(finish_reason)))


def standing(origin: OriginView) -> StateGlyph:
    """Return the state of an origin as a person reads it; one stopped by errors names their number."""
    found = standing_of(origin)
    errors = origin.patience_max - origin.patience if found is Standing.gave_up else 0
    mark = state_mark(found)
    words = plural(errors, "error")
    return replace(mark, word=f"stopped: {words}", short=words) if errors > 0 else mark


def standing_of(origin: OriginView) -> Standing:
    """Return the state of an origin; `failing` is one that has lost half of its patience or more, whatever it does."""
    if origin.ended:
        end = Standing(origin_end(origin.finish_reason))
        return Standing.empty if origin.empty and end is Standing.finished else end
    if origin.paused:
        return Standing.paused
    if origin.state == OriginPhase.resting:
        return Standing.waiting
    if origin.asleep_until == HELD and not origin.in_flight_url:  # its jobs are paused
        return Standing.paused
    if origin.patience_max and 2 * origin.patience <= origin.patience_max:
        return Standing.failing
    if origin.in_flight_url or origin.state == OriginPhase.busy:
        return Standing.crawling
    return _OF_PHASE.get(origin.state, Standing.idle)


def is_problem(origin: OriginView) -> bool:
    """Return whether the filter for problems keeps an origin: stopped by errors, rate limited, or patience lost."""
    return severity(origin) <= _LEAST_PROBLEM or (not origin.ended and origin.patience < origin.patience_max)


def severity(origin: OriginView) -> int:
    """Where the state stands in an order from worst (0) to done."""
    return _SEVERITY[standing_of(origin)]


def counted_as(origin: OriginView) -> Standing:
    """Return under which of `TALLIES` an origin is counted."""
    found = standing_of(origin)
    return _COUNTED_AS.get(found, found)
