"""What it costs in time to put failed pages back: their turns at the effective delay of each origin. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.format import count, plural, seconds, span
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.uptake import Uptake, held_word
from tui_crawler.domain.moment import HELD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tui_crawler.domain.view import OriginView


@dataclass(frozen=True, slots=True)
class RetryCost:
    """A range in ms: when every page succeeds at once, and when each needs all of its tries.

    `origin` takes longest, with so many `pages` and a turn of `turn_ms`. `origins` take turns; `held` pages are of
    origins that take none and are in no range: they are paused, or (while a run is live) have ended in it.
    """

    low_ms: int
    high_ms: int
    origin: str = ""
    pages: int = 0
    turn_ms: int = 0
    origins: int = 0
    held: int = 0
    uptake: Uptake = Uptake.this_run


def pages_by_origin(urls: Iterable[str]) -> dict[str, int]:
    """How many of these URLs, as they are stored, each origin has."""
    found: dict[str, int] = {}
    for url in urls:
        origin = "/".join(url.split("/", 3)[:3])
        found[origin] = found.get(origin, 0) + 1
    return found


def retry_cost(
    pages: Mapping[str, int],
    origins: Mapping[str, OriginView],
    tries: int,
    now: int,
    uptake: Uptake = Uptake.this_run,
) -> RetryCost:
    """The turns that so many pages of each origin take at `now` (epoch ms); origins take theirs beside each other.

    A turn is the effective delay and the last response time. `tries` is how many a page gets (0: one is assumed).
    """
    cost = RetryCost(0, 0)
    busy = held = high = 0
    for name, number in pages.items():
        view = origins.get(name)
        if view is None:
            continue
        if view.asleep_until == HELD or held_word(view, uptake):
            held += number
            continue
        busy += 1
        turn = max(0, view.delay_ms, view.operator_delay_ms) + max(0, view.last_response_ms)
        wait = max(0, view.next_request_at - now, view.asleep_until - now)
        low = wait + number * turn
        high = max(high, wait + number * turn * max(1, tries))
        if low >= cost.low_ms:
            cost = RetryCost(low, 0, name, number, turn)
    return RetryCost(cost.low_ms, high, cost.origin, cost.pages, cost.turn_ms, busy, held, uptake)


def cost_words(cost: RetryCost) -> str:
    """The cost in one or two sentences; raw text, empty where nothing was to be put back."""
    words = []
    if cost.origin:
        longest = f", the longest of {count(cost.origins)} origins" if cost.origins > 1 else ""
        turns = f"{plural(cost.pages, 'turn')} of {seconds(cost.turn_ms)}"
        words.append(f"Takes {span(cost.low_ms, cost.high_ms)}: {host_of(cost.origin)}, {turns}{longest}.")
    if cost.held:
        why = "paused, stopped or out of patience" if cost.uptake is Uptake.this_run else "paused"
        words.append(f"{plural(cost.held, 'page')} would wait: their origins are {why}.")
    return " ".join(words)
