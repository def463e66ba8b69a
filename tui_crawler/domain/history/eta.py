"""When a crawl will be done: a range, and the one thing that limits it. Pure; used by the console and by `status`.

The low end takes the pages that are known, each for one turn (delay plus answer). The high end adds the pages that will
still be found, at the rate of this run; when every page brings another one, there is no high end.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from tui_crawler.domain.moment import HELD
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.status import OriginPhase
from tui_crawler.domain.records.status_words import FinishReason

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView

MOST_GROWTH = 0.95
"""New pages per crawled page from which on no end is in sight."""


class Limit(Enum):
    """The main limit of a crawl; the value is the word a person reads."""

    none = "nothing left"
    delay = "delay"
    server = "server"
    patience = "patience"
    slots = "slots"
    paused = "paused"
    ended = "ended"
    resting = "no worker running"
    unknown = "not known yet"


_LEFT_OUT = (Limit.resting, Limit.unknown, Limit.paused)
"""Why nothing can be told of a whole crawl, what says most first."""


@dataclass(frozen=True, slots=True)
class Eta:
    """A range in ms from now. `low_ms` None: cannot be told (paused, ended, no engine, unknown yet). `high_ms` None: no
    end is seen.

    `origin` names the origin that decides, for a whole crawl.
    """

    low_ms: int | None
    high_ms: int | None
    limit: Limit
    origin: str = ""

    @property
    def seconds(self) -> int | None:
        """The low end in whole seconds, for `status --json`; None when it cannot be told."""
        return None if self.low_ms is None else round(self.low_ms / 1000)


def estimate(origin: OriginView, now: int) -> Eta:
    """Return when this origin will have crawled what it has, at `now` (epoch ms).

    `patience` is the limit when, at the rate of failures so far, the origin gives up before its last page.
    """
    if origin.pending <= 0 or origin.finish_reason == FinishReason.exhausted:
        return Eta(0, 0, Limit.none)
    if origin.ended:
        return Eta(None, None, Limit.ended)
    if origin.state == OriginPhase.resting:
        return Eta(None, None, Limit.resting)
    if origin.paused or origin.asleep_until == HELD:
        return Eta(None, None, Limit.paused)
    turn = max(0, origin.delay_ms) + max(0, origin.last_response_ms)
    if turn == 0:
        return Eta(None, None, Limit.unknown)
    wait = max(0, origin.next_request_at - now, origin.asleep_until - now)
    low = wait + (origin.pending - 1) * turn + max(0, origin.last_response_ms)
    handled = origin.done + origin.failed + origin.blocked
    growth = min(1.0, origin.discovered / handled) if handled > 0 else 1.0  # new pages per handled page
    high = None if growth >= MOST_GROWTH else wait + round(origin.pending / (1 - growth) * turn)
    lost = origin.patience_max - origin.patience
    if lost > 0 and origin.requests > 0 and origin.pending * lost / origin.requests >= max(origin.patience, 1):
        return Eta(low, high, Limit.patience)
    return Eta(low, high, Limit.server if origin.last_response_ms > origin.delay_ms else Limit.delay)


def estimate_run(origins: Iterable[OriginView], now: int, max_in_flight: int) -> Eta:
    """Return when the whole crawl will be done at `now` (epoch ms): the slowest origin decides, or too few slots.

    Paused and resting origins are left out; `max_in_flight` 0 means not known.
    """
    low = high = work = 0
    limit, name, endless = Limit.none, "", False
    left_out: set[Limit] = set()
    for origin in origins:
        eta = estimate(origin, now)
        if eta.low_ms is None:
            left_out.add(eta.limit)
            continue
        if eta.limit is Limit.none:
            continue
        work += origin.pending * max(0, origin.last_response_ms)
        endless = endless or eta.high_ms is None
        high = max(high, eta.high_ms or 0)
        if eta.low_ms >= low:
            low, limit, name = eta.low_ms, eta.limit, origin.origin
    if limit is Limit.none:
        why = next((one for one in _LEFT_OUT if one in left_out), Limit.none)
        return Eta(0, 0, Limit.none) if why is Limit.none else Eta(None, None, why)
    if max_in_flight > 0 and work // max_in_flight > low:
        low, limit, name = work // max_in_flight, Limit.slots, ""
    return Eta(low, None if endless else max(low, high), limit, name)
