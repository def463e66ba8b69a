"""When pages are taken up: those that wait, and those that are put back, with what that brings. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from tui_crawler.console.operator.engine_host import EnginePhase
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.crawl.recovery import NextTry, next_try_of, next_try_on_list
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.text.format import count, plural
from tui_crawler.text.standing import standing

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import PageView, TodoView
    from tui_crawler.domain.records.view import OriginView, RunView


class RetryStart(Enum):
    """Who takes up pages that are put back now."""

    this_run = "this_run"  # a run is live
    new_run = "new_run"  # the hosted run has ended: this starts another one
    next_run = "next_run"  # nobody crawls


@dataclass(frozen=True, slots=True)
class NextRequest:
    """When a page is asked for next; `held` says in a word what keeps its origin from asking (empty: nothing does)."""

    when: NextTry
    held: str = ""


@dataclass(frozen=True, slots=True)
class RetryEstimate:
    """The effect of requeueing pages. `queued` other pages are requested too where that starts a run, or where an
    origin that stopped after errors gets new patience (`most`: at most this many). `gave_up` are those origins that
    request nothing in this run without it."""

    retry_start: RetryStart = RetryStart.this_run
    queued: int = 0
    most: bool = False
    gave_up: tuple[str, ...] = ()


def retry_start_of(phase: EnginePhase, quitting: bool, run: RunView | None) -> RetryStart:
    """By where the hosted engine stands; where there is none, by whether the run is live."""
    if phase is EnginePhase.absent:
        return RetryStart.this_run if run is not None and run.live else RetryStart.next_run
    if quitting or phase is EnginePhase.failed:
        return RetryStart.next_run
    return RetryStart.new_run if phase is EnginePhase.ended else RetryStart.this_run


def estimate_of(
    retry_start: RetryStart, origins: Iterable[OriginView], every: Iterable[OriginView], among: int | None
) -> RetryEstimate:
    """What putting back pages of `origins` brings; a new run asks what is queued at `every` one that is not paused, new
    patience what is queued at those that gave up. `among` of those put back are queued already (None: not known)."""
    if retry_start is RetryStart.next_run:
        return RetryEstimate(retry_start)
    gave_up = tuple(view for view in origins if view.gave_up) if retry_start is RetryStart.this_run else ()
    asked = every if retry_start is RetryStart.new_run else gave_up
    queued = max(0, sum(view.pending for view in asked if not view.paused) - (among or 0))
    most = retry_start is RetryStart.this_run or among is None
    return RetryEstimate(retry_start, queued, most, tuple(view.origin for view in gave_up))


def held_word(view: OriginView | None, retry_start: RetryStart) -> str:
    """What keeps the pages of an origin from being asked, in a word; empty: nothing does. A new run lets every origin
    go on that is not paused."""
    if view is None:
        return ""
    if view.paused:
        return "paused"
    ended = view.ended and view.finish_reason != FinishReason.exhausted  # an exhausted one goes on
    return standing(view).word if ended and retry_start is RetryStart.this_run else ""


def outlook_of(
    page: PageView, now: int, origin: OriginView | None, retry_start: RetryStart, run_id: int = 0
) -> NextRequest:
    """What becomes of a page at `now` (epoch ms), at its `origin` (None: not known); `run_id` is the newest run (0:
    there is none)."""
    return _outlook(next_try_of(page, now, run_id, over=retry_start is not RetryStart.this_run), origin, retry_start)


def outlook_on_list(item: TodoView, now: int, origin: OriginView | None, retry_start: RetryStart) -> NextRequest:
    """The same for a page of the todo list of `origin`."""
    when = next_try_on_list(item.not_before, now, over=retry_start is not RetryStart.this_run)
    return _outlook(when, origin, retry_start)


def _outlook(when: NextTry, origin: OriginView | None, retry_start: RetryStart) -> NextRequest:
    if when not in {NextTry.now, NextTry.later, NextTry.next_run}:
        return NextRequest(when)
    return NextRequest(when, held_word(origin, RetryStart.next_run if when is NextTry.next_run else retry_start))


def estimate_words(estimate: RetryEstimate) -> str:
    """When the pages are taken up, as sentences that go on after a colon."""
    match estimate.retry_start:
        case RetryStart.this_run:
            if not estimate.gave_up:
                return "the pages get their tries back and come next in this run."
            words = "the pages get their tries back; with new patience they come next in this run"
            if not estimate.queued:
                return f"{words}."
            asked = "is" if estimate.queued == 1 else "are"
            others = f"up to {plural(estimate.queued, 'other page')} still queued there {asked} asked"
            return f"{words}, and then {others}, as long as it lasts."
        case RetryStart.new_run:
            words = "starts a new run; origins stopped by errors start again with full patience"
            if not estimate.queued:
                return f"{words}. It also requests pages whose recrawl is due."
            most = "up to " if estimate.most else ""
            asked = "is" if estimate.queued == 1 and not most else "are"
            others = f"{most}{plural(estimate.queued, 'other page')} still queued {asked} requested too"
            return f"{words}. {others[0].upper()}{others[1:]}, and those whose recrawl is due."
        case RetryStart.next_run:
            return "noted; the next run takes them up."
        case _:
            assert_never(estimate.retry_start)


def gave_up_words(origins: Collection[str]) -> str:
    """That these origins gave up; empty without any."""
    if len(origins) == 1:
        return f"{host_of(next(iter(origins)))} stopped after errors: without new patience it requests nothing."
    gave_up = f"{count(len(origins))} origins stopped after errors: without new patience they request nothing."
    return gave_up if origins else ""
