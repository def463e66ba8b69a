"""What it costs in time to put failed pages back: their turns at the effective delay of each origin. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.operator.retry_start import RetryStart, held_word
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.command import RETRIED_NEXT
from tui_crawler.domain.records.page import RETRIED_AT_ONCE
from tui_crawler.text.format import count, plural, seconds, span

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView


@dataclass(frozen=True, slots=True)
class RetryCost:
    """A range in ms: when every page succeeds at once (or the origin gives up before), and when each needs all of its
    `tries`; other pages that are queued are not in it.

    `origin` takes longest of `origins`, with so many `pages` and a turn of `turn_ms`; where it may run out of patience
    before, `patience` is what it has left (0: it may not). `held` pages are of origins that take no turns and are in no
    range: they are paused, or (while a run is live) have ended in it. `late`: there are more pages than are sure to
    come next, so that others may come between them.
    """

    low_ms: int
    high_ms: int
    origin: str = ""
    pages: int = 0
    turn_ms: int = 0
    origins: int = 0
    held: int = 0
    retry_start: RetryStart = RetryStart.this_run
    patience: int = 0
    late: bool = False
    tries: int = 1


def retry_cost(
    pages: Mapping[str, int],
    origins: Mapping[str, OriginView],
    tries: int,
    now: int,
    retry_start: RetryStart = RetryStart.this_run,
) -> RetryCost:
    """The turns that so many pages of each origin take at `now` (epoch ms); origins take theirs in parallel.

    A turn is the effective delay and the last response time; robots.txt takes one where it has expired. `tries` is how
    many a page gets (0: one is assumed).
    """
    cost = RetryCost(0, 0)
    busy = held = high = 0
    for name, number in pages.items():
        view = origins.get(name)
        if view is None:
            continue
        weary = view.gave_up and not view.paused  # it is offered new patience with the retry
        if view.asleep_until == HELD or (held_word(view, retry_start) and not weary):
            held += number
            continue
        busy += 1
        turn = max(0, view.delay_ms, view.operator_delay_ms) + max(0, view.last_response_ms)
        wait = max(0, view.next_request_at - now) + turn * (view.robots_expires_at <= now)
        renewed = weary or retry_start is not RetryStart.this_run  # a new run begins with all of it
        patience = max(1, view.patience_max if renewed and view.patience_max else view.patience)
        low = wait + min(number, patience) * turn
        high = max(high, wait + number * turn * max(1, tries))
        if not cost.origin or low >= cost.low_ms:
            late = number > min(RETRIED_NEXT, RETRIED_AT_ONCE // len(pages))
            cost = RetryCost(low, 0, name, number, turn, patience=patience if patience < number else 0, late=late)
    return replace(cost, high_ms=high, origins=busy, held=held, retry_start=retry_start, tries=max(1, tries))


def cost_words(cost: RetryCost) -> str:
    """The cost in a sentence or two; raw text, empty where nothing was to be put back."""
    words = []
    if cost.origin:
        turns = f"{plural(cost.pages, 'turn')} of {seconds(cost.turn_ms)}"
        if cost.tries > 1 and not cost.late:  # else no upper end is named
            turns = f"{plural(cost.pages, 'page')}, 1–{count(cost.tries)} turns of {seconds(cost.turn_ms)} each"
        takes = f"{span(cost.low_ms, cost.low_ms)} or more" if cost.late else span(cost.low_ms, cost.high_ms)
        longest = f", the longest of {count(cost.origins)} origins" if cost.origins > 1 else ""
        ends = f", fewer if its patience ends ({count(cost.patience)} left)" if cost.patience else ""
        words.append(f"Takes {takes} at the present delay: {host_of(cost.origin)}, {turns}{longest}{ends}.")
    if cost.held:
        why = "paused or stopped" if cost.retry_start is RetryStart.this_run else "paused"
        words.append(f"{plural(cost.held, 'page')} would wait: their origins are {why}.")
    return " ".join(words)
