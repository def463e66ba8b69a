"""What it costs in time to put failed pages back: their turns at the effective delay of each origin. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.operator.retry_start import RetryStart, held_word
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.command import RETRIED_NEXT
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.page import RETRIED_AT_ONCE
from tui_crawler.domain.status import OriginPhase
from tui_crawler.text.format import count, plural, seconds, span

if TYPE_CHECKING:
    from tui_crawler.domain.view import OriginView


@dataclass(frozen=True, slots=True)
class RetryCost:
    """A range in ms: when every page succeeds at once (or the origin gives up before), and when each needs all of its
    tries; the others that are queued behind are not in it.

    `origin` takes longest, with so many `pages` and a turn of `turn_ms`. `origins` take turns, for so many `asked`
    pages; `held` ones are of origins that take none and are in no range: they are paused, or (while a run is live) have
    ended in it. `patience` is what that origin has left, where that may end before all pages were asked (0: it may
    not). A page gets up to `tries` turns. `late`: it has more pages than are sure to come next (`first` of them), so
    that others may come between them.
    """

    low_ms: int
    high_ms: int
    origin: str = ""
    pages: int = 0
    turn_ms: int = 0
    origins: int = 0
    asked: int = 0
    held: int = 0
    retry_start: RetryStart = RetryStart.this_run
    patience: int = 0
    late: bool = False
    first: int = 0
    tries: int = 1


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
    retry_start: RetryStart = RetryStart.this_run,
    *,
    gives_up: bool = True,
) -> RetryCost:
    """The turns that so many pages of each origin take at `now` (epoch ms); origins take theirs beside each other.

    A turn is the effective delay and the last response time; robots.txt takes one where it has expired. `tries` is how
    many a page gets (0: one is assumed). `gives_up`: an origin may be out of patience before all pages were asked.
    """
    cost = RetryCost(0, 0)
    first = min(RETRIED_NEXT, RETRIED_AT_ONCE // max(1, len(pages)))
    busy = asked = held = high = 0
    for name, number in pages.items():
        view = origins.get(name)
        if view is None:
            continue
        if view.asleep_until == HELD or held_word(view, retry_start):
            held += number
            continue
        busy, asked = busy + 1, asked + number
        turn = max(0, view.delay_ms, view.operator_delay_ms) + max(0, view.last_response_ms)
        wait = max(0, view.next_request_at - now) + turn * (view.robots_expires_at <= now)
        renewed = view.patience_max > 0 and retry_start is not RetryStart.this_run  # a new run begins with all of it
        patience = max(1, view.patience_max if renewed else view.patience) if gives_up else number
        low = wait + min(number, patience) * turn
        high = max(high, wait + number * turn * max(1, tries))
        if not cost.origin or low >= cost.low_ms:
            ends = patience if patience < number else 0
            cost = RetryCost(low, 0, name, number, turn, patience=ends, late=number > first, first=first)
    tried = max(1, tries)
    return replace(cost, high_ms=high, origins=busy, asked=asked, held=held, retry_start=retry_start, tries=tried)


def fresh_cost(pages: Mapping[str, int], origins: Mapping[str, OriginView], tries: int, now: int) -> RetryCost | None:
    """The same for the origins among them that gave up in this run, with new patience; None without such."""
    weary = {name: view for name, view in origins.items() if name in pages and view.gave_up}
    if not weary:
        return None
    rested = {
        name: replace(view, state=OriginPhase.ready, finish_reason="", patience=view.patience_max)
        for name, view in weary.items()
    }
    return retry_cost({name: pages[name] for name in weary}, rested, tries, now)


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
        if not held_word(view, RetryStart.new_run):
            whole[name] = pages.get(name, 0) + view.pending - both
    whole = {name: number for name, number in whole.items() if number}
    cost = retry_cost(whole, every, 1, now, RetryStart.new_run, gives_up=False)
    answers = sum(number * max(0, every[name].last_response_ms) for name, number in whole.items())
    return replace(cost, low_ms=max(cost.low_ms, answers // slots if slots else 0))


def cost_words(cost: RetryCost, whole: RetryCost | None = None, fresh: RetryCost | None = None) -> str:
    """The cost in a few sentences; raw text, empty where nothing was to be put back. `whole`: that of the run which
    would start, with all its other pages. `fresh`: that of the origins that gave up, with new patience."""
    words = []
    if cost.origin:
        alone = whole is not None and _is_more(whole, cost)
        words.append(_takes("These alone take" if alone else "Takes", cost))
    if fresh is not None and fresh.origin:
        words.append(_takes("With new patience it takes", fresh))
    if whole is not None and _is_more(whole, cost):
        words.append(f"With the others the run takes {_least(whole)} or more: {_turns(whole)}.")
    held, saved = cost.held, 0 if fresh is None else fresh.asked
    if saved:
        words.append(f"Without it {plural(saved, 'page')} would wait.")
    if held > saved:
        gone = "paused or stopped" if fresh is not None else "paused, stopped or out of patience"
        why = gone if cost.retry_start is RetryStart.this_run else "paused"
        words.append(f"{plural(held - saved, 'page')} would wait: their origins are {why}.")
    return " ".join(words)


def _takes(word: str, cost: RetryCost) -> str:
    """A range that holds at the present delay: what may keep pages from being asked, or put it off, is said."""
    range_ = f"{_least(cost)} or more" if cost.late else span(cost.low_ms, cost.high_ms)
    words = f"{word} {range_} at the present delay: {_turns(cost)}"
    if cost.patience:
        words += f", fewer if its patience ends ({count(cost.patience)} left)"
    if cost.late:
        some = f"at least {count(cost.first)}" if cost.first else "some"
        words += f"; {some} of them come next, the others as its queue gets to them"
    return f"{words}."


def _is_more(whole: RetryCost, cost: RetryCost) -> bool:
    """Whether a whole run takes more than these pages, by what it asks or by the slots it has."""
    return whole.asked > cost.asked or whole.low_ms > cost.high_ms


def _least(cost: RetryCost) -> str:
    return span(cost.low_ms, cost.low_ms)


def _turns(cost: RetryCost) -> str:
    most = "up to " if cost.patience else ""
    longest = f", the longest of {count(cost.origins)} origins" if cost.origins > 1 else ""
    turns = f"{most}{plural(cost.pages, 'turn')} of {seconds(cost.turn_ms)}"
    if cost.tries > 1 and not cost.late:  # else no range is told
        turns = f"{plural(cost.pages, 'page')}, 1–{count(cost.tries)} turns of {seconds(cost.turn_ms)} each"
    return f"{host_of(cost.origin)}, {turns}{longest}"
