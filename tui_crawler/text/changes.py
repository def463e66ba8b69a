"""What changes in a crawl, one sentence each, without glyphs and colours. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.idle_reason import delay_why
from tui_crawler.domain.records.exit_code import AttemptKind, code_of, is_problem
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.status import DelayReason, RobotsStatus
from tui_crawler.domain.records.status_words import finish_words, unavailable_words, unreachable_words, what_happened
from tui_crawler.domain.records.view import AttemptView, OriginView
from tui_crawler.text.format import count, duration, plural
from tui_crawler.text.same_as import PROGRAM, command_line_of
from tui_crawler.text.standing import Standing, standing, standing_of


class ChangeName(StrEnum):
    """What changed, as `Event.event` has it."""

    run = "run"
    coverage = "coverage"
    diagnosis = "diagnosis"
    origin = "origin"
    robots = "robots_file"
    delay = "delay"
    page_failed = "failed_page"
    action = "operator_action"
    activity = "activity"
    sum = "sum"


@dataclass(frozen=True, slots=True)
class Change(Event):
    """A change in a sentence (raw)."""

    words: str = ""


_ELSEWHERE = frozenset({"run_started", "run_continued", "run_finished", "origin_joined", "origin_finished"})
"""Entries of the activity log that the run and its origins themselves show."""
_RAISED = frozenset(
    {DelayReason.crawl_delay, DelayReason.rate_limit, DelayReason.retry_after, DelayReason.robots_unreachable}
)
"""Why a delay is longer; by the response time it changes with every page."""
_QUIET = frozenset({Standing.crawling, Standing.waiting, Standing.ready, Standing.idle})
"""States an origin passes through all the time."""


def change_of(entry: ActivityView | ActionView | AttemptView) -> Change | None:
    """Return the change that an entry of the logs is, None for one that is none: a page that was crawled."""
    if isinstance(entry, AttemptView):
        if entry.kind != AttemptKind.page or not is_problem(code_of(entry.exit_code_id), entry.kind):
            return None
        status = "" if entry.http_status is None else f"HTTP {entry.http_status}"
        why = ", ".join(filter(None, (entry.exit_code.replace("_", " "), status, entry.message)))
        return Change(
            entry.ended_at, ChangeName.page_failed, entry.origin, entry.url, words=f"{entry.url} failed: {why}"
        )
    if isinstance(entry, ActionView):
        line = command_line_of(entry).removeprefix(f"{PROGRAM} ") or f"{entry.action} {entry.target}"
        refused = f", refused: {entry.error}" if entry.error else ""
        return Change(entry.at, ChangeName.action, words=f"{entry.who}: {line}{refused}")
    if entry.event in _ELSEWHERE:
        return None
    words = f"{entry.event.replace('_', ' ')}: {what_happened(entry)}"
    return Change(entry.at, ChangeName.activity, entry.origin, words=f"{entry.origin} {words}".strip())


def origin_changes(before: OriginView | None, now: OriginView) -> Iterator[Change]:
    """Yield what an origin does otherwise than before; None: it was not known."""
    name, at = now.origin, now.last_attempt_at
    state, former = standing_of(now), Standing.idle if before is None else standing_of(before)
    if now.robots_status != (RobotsStatus.none if before is None else before.robots_status):
        yield Change(now.robots_fetched_at, ChangeName.robots, name, words=f"{name}: {_robots(now)}")
    if state is not former and state not in _QUIET:
        since = now.paused_at if state is Standing.paused else at
        yield Change(since, ChangeName.origin, name, words=f"{name}: {_state(now)}")
    elif state is not former and (former is Standing.idle or former not in _QUIET):
        words = "started" if former is Standing.idle else "resumed" if former is Standing.paused else "recovered"
        yield Change(at, ChangeName.origin, name, words=f"{name}: {words}")
    raised = before is not None and now.delay_ms > before.delay_ms and now.politeness >= before.politeness
    if raised and now.delay_reason in _RAISED and not now.ended:
        words = f"delay raised to {duration(now.delay_ms)}, {delay_why(now)}"
        yield Change(at, ChangeName.delay, name, words=f"{name}: {words}")


def _state(now: OriginView) -> str:
    word = standing(now).word
    match standing_of(now):
        case Standing.paused:
            return f"paused by {now.paused_by}" if now.paused_by else "paused"
        case Standing.failing:
            left = f"patience {now.patience} of {now.patience_max}"
            return f"{word}, {left}, last: {now.last_exit_code.replace('_', ' ')}"
        case _:
            pages = f"{plural(now.done, 'page')} done, {count(now.failed)} failed"
            return f"{word}, {now.empty or finish_words(now.finish_reason)}; {pages}"


def _robots(now: OriginView) -> str:
    match now.robots_status:
        case RobotsStatus.parsed:
            return "robots.txt read"
        case RobotsStatus.unavailable:
            return unavailable_words(now.robots_http_status)
        case _:
            return unreachable_words(now.robots_http_status, now.robots_message)


def in_sentence(origins: Sequence[OriginView]) -> str:
    """Return how many origins there are in each state."""
    words = [standing_of(one).value for one in origins]
    states = ", ".join(f"{words.count(one.value)} {one.value}" for one in Standing if one.value in words)
    return f"{plural(len(origins), 'origin')}: {states}" if origins else "0 origins"
