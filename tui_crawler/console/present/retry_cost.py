"""What it costs in time to put failed pages back: their turns at the effective delay of each origin. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
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


def run_cost(
    pages: Mapping[str, int], every: Mapping[str, OriginView], now: int, among: int | None, slots: int
) -> RetryCost:
    """The same for a new run: with these pages, what else is queued at all origins, each page in one try. `among` of
    the pages are queued already (None: perhaps all). `slots` take turns at once (0: not known)."""
    left = sum(pages.values()) if among is None else among
    whole: dict[str, int] = {}
    for name, view in every.items():
        both = min(left, pages.get(name, 0), view.pending)
        left -= both
        if not held_word(view, Uptake.new_run):
            whole[name] = pages.get(name, 0) + view.pending - both
    whole = {name: number for name, number in whole.items() if number}
    cost = retry_cost(whole, every, 1, now, Uptake.new_run)
    answers = sum(number * max(0, every[name].last_response_ms) for name, number in whole.items())
    return replace(cost, low_ms=max(cost.low_ms, answers // slots if slots else 0))


def cost_words(cost: RetryCost, whole: RetryCost | None = None) -> str:
    """The cost in a few sentences; raw text, empty where nothing was to be put back. `whole`: that of the run which
    would start, with all its other pages."""
    words = []
    if cost.origin:
        takes = "These alone take" if whole is not None and whole.low_ms > cost.low_ms else "Takes"
        words.append(f"{takes} {span(cost.low_ms, cost.high_ms)}: {_turns(cost)}.")
    if whole is not None and whole.low_ms > cost.low_ms:
        words.append(f"With the others the run takes {span(whole.low_ms, whole.low_ms)} or more: {_turns(whole)}.")
    if cost.held:
        why = "paused, stopped or out of patience" if cost.uptake is Uptake.this_run else "paused"
        words.append(f"{plural(cost.held, 'page')} would wait: their origins are {why}.")
    return " ".join(words)


def _turns(cost: RetryCost) -> str:
    """What takes longest."""
    longest = f", the longest of {count(cost.origins)} origins" if cost.origins > 1 else ""
    return f"{host_of(cost.origin)}, {plural(cost.pages, 'turn')} of {seconds(cost.turn_ms)}{longest}"
