"""The crawl loop of one origin as a state machine without I/O (U; the idea of a pure protocol core is h11's).

`next_turn` says what comes next; `after_robots`, `after_fill` and `after_crawl` fold an outcome back into a new
state. The same input gives the same turn.
"""

from __future__ import annotations

from collections.abc import Container
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from tui_crawler.domain.crawl.delay import AnswerKind, Delay, after_request, delay_in_force, minimum
from tui_crawler.domain.crawl.origin import Check, CrawlSettings, OriginState, RobotsHop, RobotsState
from tui_crawler.domain.moment import HELD, Moment
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.command import (
    PauseOrigins,
    RefetchRobots,
    ResumeOrigins,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.exit_code import DISPOSITIONS, ExitCode, PatienceChange
from tui_crawler.domain.records.status import DelayReason, RobotsStatus
from tui_crawler.domain.records.status_words import GAVE_UP, FinishReason
from tui_crawler.domain.rules.robots import ALLOW_ALL, RobotsRules

if TYPE_CHECKING:
    from tui_crawler.domain.records.page import TodoPage


@dataclass(frozen=True, slots=True)
class FetchRobots:
    """Ask for robots.txt, or for the hop that its redirect names."""

    hop: RobotsHop | None = None


@dataclass(frozen=True, slots=True)
class FillTodo:
    """Take the next pages out of the frontier. Makes no request, costs no delay."""


@dataclass(frozen=True, slots=True)
class CrawlNext:
    """Crawl the first page of the todo list whose job may have one more in flight."""

    page: TodoPage


@dataclass(frozen=True, slots=True)
class CheckUrl:
    """Probe a URL with HEAD, as an operator asked (U: crawl type check)."""

    check: Check


class RestReason(Enum):
    """Why an origin crawler does nothing now."""

    delay = "delay"
    paused = "paused"
    asleep = "asleep"  # every page left has a later not_before
    held = "held"  # every page left is of a job that is paused, aborted, or has enough pages in flight


@dataclass(frozen=True, slots=True)
class Sleep:
    """Nothing to do before `until_ms` (monotonic); None: until somebody says so."""

    until_ms: int | None
    reason: RestReason


@dataclass(frozen=True, slots=True)
class Finish:
    """This origin's run is over."""

    reason: FinishReason


Turn = FetchRobots | FillTodo | CrawlNext | CheckUrl | Sleep | Finish
OriginCommand = PauseOrigins | ResumeOrigins | StopOrigins | TopUpPatience | SetDelay | RefetchRobots
"""What operators ask of origins themselves."""


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What a request for robots.txt gave. `rules` is set for a 2xx, `hop` for a redirect that may be followed."""

    exit_code: ExitCode
    http_status: int | None
    response_ms: int | None  # None: no request was made (the hop is excluded)
    rules: RobotsRules | None = None
    body: bytes = b""
    hop: RobotsHop | None = None
    retry_after_ms: int | None = None
    untrusted: str = ""


@dataclass(frozen=True, slots=True)
class CrawlAnswer:
    """How the crawl of a page of the todo list ended; `response_ms` None: no request was made.

    `is_check`: the page was only checked, which costs patience only if it was `in_vain` (`Exchange.in_vain`). `again`
    is the page as GET asks for it next, after HEAD failed; `corrected`: GET succeeded where HEAD had failed.
    `untrusted`: why the certificate cannot be verified, for which the host is not asked again in this run.
    """

    page_id: int
    exit_code: ExitCode
    http_status: int | None = None
    response_ms: int | None = None
    retry_after_ms: int | None = None
    is_check: bool = False
    in_vain: bool = False
    again: TodoPage | None = None
    corrected: bool = False
    untrusted: str = ""


def next_turn(state: OriginState, now: Moment, full: Container[int] = frozenset(), crawls: bool = True) -> Turn:  # noqa: C901  a turn machine is clearest in one piece
    """What the origin crawler does now. Robots first, then fill, then crawl; a fill does not wait for the delay.

    `full` are the ids of jobs of which no more page may be in flight (B). Probes come before pages, also to an
    origin that has finished; with `crawls` false they are all that is done.
    """
    if not state.checks:
        if state.finished is not None:
            return Finish(state.finished)
        if not crawls:
            return Sleep(None, RestReason.held)
    if state.paused:
        return Sleep(None, RestReason.paused)
    wants_robots = not state.lost and (state.hop is not None or state.robots.expires_at <= now.wall_ms)
    page: TodoPage | None = None
    if not state.checks:
        if state.asleep_until > now.wall_ms:
            return _asleep(state, now)
        if not wants_robots and not state.todo:
            return FillTodo()
        page = next((one for one in state.todo if one.job_id not in full), None)
        if page is None and not wants_robots:
            return Sleep(None, RestReason.held)
    if state.release_ms > now.mono_ms:
        return Sleep(state.release_ms, RestReason.delay)
    if wants_robots:
        return FetchRobots(state.hop)
    return CheckUrl(state.checks[0]) if page is None else CrawlNext(page)


def _asleep(state: OriginState, now: Moment) -> Sleep:
    if state.asleep_until == HELD:
        return Sleep(None, RestReason.held)
    return Sleep(now.mono_ms + state.asleep_until - now.wall_ms, RestReason.asleep)


def after_robots(state: OriginState, answer: RobotsAnswer, now: Moment, settings: CrawlSettings) -> OriginState:
    """Folds the answer to a request for robots.txt (RFC 9309, section 2.3.1; U). `now` is the end of the response."""
    if answer.exit_code is ExitCode.cancelled:
        return _delayed(replace(state, hop=None), answer, now, settings)
    state = replace(state, hop=answer.hop)
    status = robots_status(answer.exit_code, answer.http_status)
    allows = status is RobotsStatus.unavailable or not settings.obey_robots
    if answer.hop is None and answer.rules is None and not allows:
        state = _unreachable(state, answer, now, settings)  # before the delay, as after a page: by what it finds
    state = _delayed(state, answer, now, settings)
    if answer.rules is not None:
        return _with_rules(state, RobotsStatus.parsed, answer, answer.rules, now, settings)
    if answer.hop is None and allows:
        return _with_rules(state, status, answer, ALLOW_ALL, now, settings)
    return state


def after_fill(
    state: OriginState,
    todo: tuple[TodoPage, ...],
    judged: int,
    next_due_at: int | None,
    now: Moment,
    held: bool = False,
) -> OriginState:
    """Folds a fill: `todo` are the pages that passed, `judged` how many were looked at.

    Nothing found ends the origin as exhausted, unless some page is due later: then it sleeps until `next_due_at`
    (epoch ms), or until somebody says so when what is left is `held`: paused work is not finished.
    """
    state = replace(state, todo=todo, filled=True, asleep_until=0)
    if judged or todo:
        return state
    if next_due_at is not None and next_due_at > now.wall_ms:
        return replace(state, asleep_until=next_due_at)
    if held:
        return replace(state, asleep_until=HELD)
    return finish(state, FinishReason.exhausted)


def after_crawl(state: OriginState, answer: CrawlAnswer, now: Moment, settings: CrawlSettings) -> OriginState:
    """Folds the outcome of a crawl turn: the page leaves the todo list (unless cancelled), patience, delay."""
    if answer.exit_code is not ExitCode.cancelled:
        first = bool(state.todo) and state.todo[0].page_id == answer.page_id
        rest = state.todo[1:] if first else tuple(page for page in state.todo if page.page_id != answer.page_id)
        again = (answer.again,) if answer.again is not None and len(rest) < len(state.todo) else ()
        state = replace(state, todo=again + rest, head_errors=state.head_errors + answer.corrected)
    counts = bool(not answer.is_check or answer.in_vain or answer.untrusted)
    if answer.exit_code is ExitCode.error_reading_response:  # no page takes the last patience by failing again
        counts = counts and not (state.patience == 1 and answer.page_id in state.cut_short)
        state = replace(state, cut_short=state.cut_short | {answer.page_id})
    if counts:
        state = _patience_after(state, answer.exit_code, settings, answer.untrusted)
    if answer.response_ms is None:
        return state
    return _delayed(state, answer, now, settings)


def check_method(state: OriginState, attempts: int, wanted: str = "HEAD") -> str:
    """The method of a check: HEAD first, then GET. A host whose HEAD was wrong twice in this run is asked by GET only
    (docs/behaviour.md)."""
    return "GET" if attempts or state.head_errors > 1 else wanted


def after_check(
    state: OriginState, check: Check, answer: CrawlAnswer, now: Moment, settings: CrawlSettings
) -> OriginState:
    """Folds a probe: the check is done, or GET comes next. The delay holds as for any request. It costs no patience."""
    rest = tuple(one for one in state.checks if one != check)
    again = (replace(check, method="GET"),) if answer.again is not None else ()
    state = replace(state, checks=again + rest)
    return state if answer.response_ms is None else _delayed(state, answer, now, settings)


def _with_rules(
    state: OriginState,
    status: RobotsStatus,
    answer: RobotsAnswer,
    rules: RobotsRules,
    now: Moment,
    settings: CrawlSettings,
) -> OriginState:
    """Rules from now on; their Crawl-delay decides the wait that has just begun, too."""
    robots = RobotsState(
        status, answer.http_status, now.wall_ms, now.wall_ms + settings.robots_expiry_ms, rules, answer.body
    )
    state = replace(state, robots=robots, pace=replace(state.pace, crawl_delay_ms=rules.crawl_delay_ms))
    least = minimum(settings.delay, state.pace)
    return _wait(state, least, now) if least.ms > state.delay_ms else state


def robots_status(code: ExitCode, http_status: int | None) -> RobotsStatus:
    """What a robots.txt is by how its request ended. Unavailable, so that everything is allowed (RFC 9309): 4xx except
    429, hops without end, a hop that is excluded or blocked."""
    if code is ExitCode.file_ingested:
        return RobotsStatus.parsed
    allows = code in {
        ExitCode.blocked_by_exclusion_list,
        ExitCode.blocked_address,
        ExitCode.permanent_redirect,
        ExitCode.redirect,
        ExitCode.invalid_url,
    }
    refused = http_status is not None and 400 <= http_status < 500 and http_status != 429
    return RobotsStatus.unavailable if allows or refused else RobotsStatus.unreachable


def _unreachable(state: OriginState, answer: RobotsAnswer, now: Moment, settings: CrawlSettings) -> OriginState:
    """Costs patience (a 429 slows down instead). Rules younger than a day stay in force; without, the next try
    comes after the delay."""
    rate_limited = answer.exit_code is ExitCode.rate_limited
    code = ExitCode.rate_limited if rate_limited else ExitCode.request_timeout
    state = _patience_after(state, code, settings, answer.untrusted)
    state = replace(state, setback=answer.exit_code)
    kept = state.robots
    fresh = kept.rules is not None and now.wall_ms - kept.fetched_at < settings.robots_kept_ms
    if fresh:
        retry = min(settings.robots_retry_ms, settings.robots_expiry_ms)
        robots = replace(kept, http_status=answer.http_status, expires_at=now.wall_ms + retry)
    else:
        robots = RobotsState(RobotsStatus.unreachable, answer.http_status, kept.fetched_at, 0)
    return replace(state, robots=robots)


def _patience_after(state: OriginState, code: ExitCode, settings: CrawlSettings, untrusted: str = "") -> OriginState:
    """Patience saturates at 0 and never rises by itself, unless `patience_reset_on_success` is set. An origin that is
    external does not give up: what is left of it is told as broken (`OriginState.lost`)."""
    patience, state = state.patience, replace(state, untrusted=untrusted or state.untrusted)
    match PatienceChange.exhaust if untrusted else DISPOSITIONS[code].patience:
        case PatienceChange.lose_one:
            patience -= 1
        case PatienceChange.exhaust:
            patience = 0
        case PatienceChange.lose_one_at_full_politeness:
            if state.pace.politeness >= settings.delay.max_politeness:
                patience -= 1
        case PatienceChange.none:
            if settings.patience_reset_on_success and DISPOSITIONS[code].contentful:
                patience = max(patience, settings.patience)
    if patience != state.patience:
        setback = code if patience < state.patience else state.setback
        state = replace(state, patience=max(0, patience), setback=setback)
    if state.patience > 0 or state.external:
        return state
    ended = FinishReason.database_error if code is ExitCode.database_error else FinishReason.patience
    return finish(state, ended)


def _delayed(
    state: OriginState, answer: RobotsAnswer | CrawlAnswer, now: Moment, settings: CrawlSettings
) -> OriginState:
    """The wait after a request that ended `now`. A Retry-After above the bound ends the origin's run."""
    if answer.response_ms is None:
        return state
    asked = answer.retry_after_ms if answer.http_status in {429, 503} else None
    delay, pace = after_request(settings.delay, state.pace, answer.response_ms, _answer_of(answer), asked)
    state = replace(state, pace=pace, last_request_at=now.wall_ms, last_response_ms=answer.response_ms, asleep_until=0)
    if asked is not None and asked > settings.delay.retry_after_max_ms:
        waiting = _wait(state, Delay(asked, DelayReason.retry_after), now)
        return finish(waiting, FinishReason.rate_limited)
    return _wait(state, delay, now)


def _answer_of(answer: RobotsAnswer | CrawlAnswer) -> AnswerKind:
    if answer.exit_code is ExitCode.rate_limited:
        return AnswerKind.rate_limited
    good = answer.http_status is not None and 200 <= answer.http_status < 400
    return AnswerKind.good if good and answer.exit_code is not ExitCode.cancelled else AnswerKind.other


def _wait(state: OriginState, delay: Delay, now: Moment) -> OriginState:
    return replace(
        state,
        delay_ms=delay.ms,
        delay_reason=delay.reason,
        next_request_at=now.wall_ms + delay.ms,
        release_ms=now.mono_ms + delay.ms,
    )


def finish(state: OriginState, reason: FinishReason) -> OriginState:
    """Ends the origin's run. The first reason stays: Finish is absorbing."""
    return state if state.finished is not None else replace(state, finished=reason, hop=None)


def reopen(state: OriginState, reasons: frozenset[FinishReason]) -> OriginState:
    """There is work again, or the operator wishes it: an origin finished for one of these reasons goes on."""
    if state.finished in reasons:
        return replace(state, finished=None, asleep_until=0)
    return replace(state, asleep_until=0)


def obey(state: OriginState, command: OriginCommand, now: Moment, settings: CrawlSettings) -> OriginState:
    """Folds what an operator asks of an origin. Resume takes the pause off; one that the operator had stopped goes on,
    too."""
    match command:
        case PauseOrigins():
            return replace(state, paused=True)
        case ResumeOrigins():
            return reopen(replace(state, paused=False), frozenset({FinishReason.operator}))
        case StopOrigins():
            return finish(state, FinishReason.operator)
        case TopUpPatience():
            return top_up(state, settings)
        case SetDelay(delay_ms=ms):
            return slow_down(state, ms, now, settings)
        case RefetchRobots():
            return refetch_robots(state)
        case _:
            assert_never(command)


def top_up(state: OriginState, settings: CrawlSettings) -> OriginState:
    """The operator's patience: back to the configured number; an origin that had given up goes on."""
    full = replace(state, patience=max(state.patience, settings.patience))
    return reopen(full, GAVE_UP)


def refetch_robots(state: OriginState) -> OriginState:
    """robots.txt is due at once, after the delay as ever. The rules in force hold until the answer is there.

    An origin that had nothing left goes on for it; one that ended otherwise asks when it goes on.
    """
    due = replace(state, robots=replace(state.robots, expires_at=0))
    return reopen(due, frozenset({FinishReason.exhausted}))


def touch(state: OriginState, delay_ms: int, now: Moment) -> OriginState:
    """Another origin's robots.txt led here: that request counts as one to this origin, too."""
    if now.mono_ms + delay_ms <= state.release_ms:
        return replace(state, last_request_at=now.wall_ms)
    waiting = _wait(state, Delay(delay_ms, state.delay_reason), now)
    return replace(waiting, last_request_at=now.wall_ms)


def slow_down(state: OriginState, delay_ms: int, now: Moment, settings: CrawlSettings) -> OriginState:
    """The operator's own minimum delay. It lengthens the present wait at once and never shortens it: of one that is
    lowered or taken off only the delay is another at once, the request that was promised a time keeps it."""
    own_before = state.pace.operator_ms
    state = replace(state, pace=replace(state.pace, operator_ms=max(0, delay_ms)))
    if not state.last_request_at:
        return state
    least = minimum(settings.delay, state.pace)
    if least.ms <= state.delay_ms:
        return _eased(state, now, settings) if own_before >= state.delay_ms else state
    waited_from = state.release_ms - state.delay_ms
    gone = max(0, now.mono_ms - waited_from)
    left = max(0, least.ms - gone, state.release_ms - now.mono_ms)
    return replace(
        state,
        delay_ms=least.ms,
        delay_reason=DelayReason.lowered if left > least.ms else least.reason,
        release_ms=now.mono_ms + left,
        next_request_at=now.wall_ms + left,
    )


def _eased(state: OriginState, now: Moment, settings: CrawlSettings) -> OriginState:
    """The delay that holds once the operator's own does not decide it any more; the wait under way stays."""
    delay = delay_in_force(settings.delay, state.pace, state.last_response_ms)
    if delay.ms >= state.delay_ms:
        return state
    reason = DelayReason.lowered if state.release_ms > now.mono_ms else delay.reason
    return replace(state, delay_ms=delay.ms, delay_reason=reason)
