"""Why nothing is moving, in words: for one origin, and for a whole crawl. Pure; used by the console and by `status`.

Times come in as epoch milliseconds. A time of day is shown in `zone`, a wait as a length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING

from tui_crawler.domain.moment import HELD, local_time
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status import DelayReason, OriginPhase, RobotsStatus
from tui_crawler.domain.records.status_words import (
    REFUSED_WORDS,
    FinishReason,
    ends_words,
    finish_words,
    next_run_words,
    run_end,
    unreachable_words,
)

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView, RunView

SOON_MS = 5_000
"""A request that is due sooner than this counts as moving."""

SILENT_MS = 15_000
"""A live owner that has not been heard of for so long is named as silent."""

_DELAYS: Mapping[str, str] = {
    **dict.fromkeys((DelayReason.none, DelayReason.default, DelayReason.floor), ""),
    DelayReason.crawl_delay: "Crawl-delay of robots.txt",
    DelayReason.response_time: "slow responses",
    DelayReason.rate_limit: "slowed by 429",
    DelayReason.retry_after: "Retry-After",
    DelayReason.cap: "the longest delay allowed",
    DelayReason.average: "mean of the last responses",
    DelayReason.first_request: "after the first request",
    DelayReason.operator: "set by the operator",
    DelayReason.lowered: "lowered by the operator, this wait stays",
    DelayReason.restart: "one full delay after a restart",
    DelayReason.robots_unreachable: "robots.txt back-off",
}


def delay_words(delay_reason: str) -> str:
    """Return what decided a delay, in words; empty for the plain configured one. `delay_reason` as in `v_origin`."""
    return _DELAYS.get(delay_reason, delay_reason.replace("_", " "))


def delay_why(origin: OriginView) -> str:
    """Return what decided the present delay of an origin; a slow server and one without an answer differ."""
    late = origin.last_exit_code == ExitCode.request_timeout.name and origin.last_http_status is None
    if late and origin.delay_reason == DelayReason.response_time.value:
        return f"no response within {_span(origin.last_response_ms)}"
    return delay_words(origin.delay_reason)


def at_rest(origin: OriginView, run: RunView | None) -> OriginView:
    """The origin as it stands: without an engine at work for `run` nothing is in flight and nobody waits for a delay,
    whatever an engine that died has left in its row."""
    if run is None or run.live or origin.ended:
        return origin
    return replace(origin, state=OriginPhase.resting, in_flight_url="", in_flight_since=0, worker="")


def end_of_run(run: RunView, now: int) -> int:
    """Until when a run has gone on at `now` (epoch ms): its end, or when an engine that died was last heard of."""
    return run.finished_at or (now if run.live else max(run.heartbeat_at, run.started_at))


def worked_ms(run: RunView, now: int) -> int:
    """Return how long a run has worked at `now` (epoch ms), in ms, without the rest between two sessions of it. What
    came after its last heartbeat is not told by a clock that may be set: little of it is believed."""
    since = now - run.heartbeat_at if run.live and not run.finished_at else 0
    return run.worked_ms + min(max(0, since), SILENT_MS)


def idle_reason(  # noqa: C901  one line per reason, in their order
    origin: OriginView,
    now: int,
    run: RunView | None,
    *,
    zone: tzinfo = UTC,
    you: str = "",
    in_flight: int | None = None,
    brief: bool = False,
) -> str:
    """Return why this origin makes no request at `now` (epoch ms); empty while one is in flight.

    `run` is the newest run, None when there is none. `you` is the name under which this operator pauses. `in_flight`
    says of how many origins of the same worker a request is in flight (`flying`); None: that is not known. `brief`: of
    a wait for the delay what decided that, where something did; its numbers stand elsewhere.
    """
    if origin.ended:
        words = _finished(origin, now, zone)
        return f"{words}; empty: {origin.empty}" if origin.empty else words
    if run is not None and run.live and not origin.paused and (held_up := held_up_words(run, now)):
        return held_up
    if origin.in_flight_url and run is not None and run.live:
        return ""
    if origin.paused:
        who = origin.paused_by and f" by {'you' if origin.paused_by == you else origin.paused_by}"
        return f"paused{who}" + (f" {_clock(origin.paused_at, zone)}" if origin.paused_at else "")
    if run is None or not run.live:
        return "no run has started yet" if run is None else "no worker running"
    if origin.state == OriginPhase.idle:
        return "it takes no part in this run"
    if origin.asleep_until == HELD:
        return "its jobs are paused"
    if origin.asleep_until > now:
        return f"nothing due {_until(origin.asleep_until, now, zone)}"
    wait = origin.next_request_at - now
    if wait > 0:
        return _waiting(origin, wait, brief)
    if origin.robots_expires_at <= now:
        return "robots.txt first: being fetched, or waiting for its turn"
    if origin.todo == 0 and origin.pending == 0 and origin.state == OriginPhase.ready and origin.robots_fetched_at:
        return "nothing queued"
    slots = run.max_in_flight
    if in_flight is not None and 0 < slots <= in_flight:
        return "ready, waits for a free slot" + (f": all {slots} are taken" if slots > 1 else "")
    return "ready, waits for its turn"


def held_up_words(run: RunView, now: int) -> str:
    """Return what keeps a live engine from storing anything, so that it asks for nothing; empty while it stores."""
    if run.disk_full:
        return "waits: the disk is full; it continues when there is room"
    if run.heartbeat_at and now - run.heartbeat_at > SILENT_MS:
        return f"the engine has been silent for {_span(now - run.heartbeat_at)}"
    return ""


def lost_to_robots(origin: OriginView) -> bool:
    """Return whether it gave up because its robots.txt could not be had: nothing else of it was asked for since."""
    return origin.finish_reason == FinishReason.patience and origin.robots_status == RobotsStatus.unreachable


def flying(origins: Iterable[OriginView]) -> Counter[str]:
    """Of how many origins a request is in flight, by their worker."""
    return Counter(view.worker for view in origins if view.in_flight_url)


def idle_reason_of_run(  # noqa: C901  the same
    origins: Iterable[OriginView], now: int, run: RunView | None, *, zone: tzinfo = UTC
) -> str:
    """Return why nothing moves at all at `now` (epoch ms); empty while something does, or is about to within
    SOON_MS."""
    every = tuple(origins)
    if run is None:
        return "no run has started yet"
    if not run.live and not run.finished_at:
        return f"crawler died at {_clock(end_of_run(run, now), zone)}"
    if not run.live:
        ended = f" at {_clock(run.finished_at, zone)}"
        left = next_run_words(sum(view.pending for view in every))
        why = f" ({run_end(run.finish_reason)[0]}{left and '; '}{left})" if run.finish_reason else ""
        return f"the run ended{ended}{why}"
    if held_up := held_up_words(run, now):
        return held_up
    if not every:
        return "no origins yet"
    if any(view.in_flight_url for view in every):
        return ""
    unfinished = tuple(view for view in every if not view.ended)
    reasons = {view.finish_reason for view in every if view.ended}
    ended = ends_words(view.finish_reason for view in every if view.ended)
    if not unfinished:
        left = next_run_words(sum(view.pending for view in every))
        words = "every origin has finished" if reasons == {FinishReason.exhausted} else f"no origin is left: {ended}"
        return f"{words}{left and '; '}{left}"
    awake = tuple(view for view in unfinished if not view.paused)
    if not awake:
        return f"{_some(len(unfinished), len(unfinished), 'is', 'are')} paused{ended and '; '}{ended}"
    if all(view.asleep_until == HELD for view in awake):
        return "every job with pages left is paused"
    awake = tuple(view for view in awake if view.asleep_until != HELD)
    first = min(awake, key=lambda view: max(view.next_request_at, view.asleep_until))
    wait = max(first.next_request_at, first.asleep_until) - now
    if wait <= SOON_MS:
        return ""
    return f"{_some(len(awake), len(unfinished), 'waits', 'wait')}: next request in {_span(wait)} to {first.origin}"


def _finished(origin: OriginView, now: int, zone: tzinfo) -> str:
    words = finish_words(origin.finish_reason)
    if lost_to_robots(origin):
        return unreachable_words(origin.robots_http_status, origin.robots_message)
    if origin.finish_reason == FinishReason.patience:
        return f"{words}: {origin.patience_max} persistent failures"
    if origin.finish_reason == FinishReason.exhausted and origin.pending:
        return f"{words}; {next_run_words(origin.pending)}"
    if origin.finish_reason == FinishReason.exhausted:
        return REFUSED_WORDS.get(origin.refused_as, REFUSED_WORDS["several"])
    if origin.finish_reason == FinishReason.rate_limited and origin.next_request_at > now:
        return f"Retry-After: wait {_until(origin.next_request_at, now, zone)}"
    return words


def _waiting(origin: OriginView, wait: int, brief: bool) -> str:
    why = delay_why(origin)
    whole = max(origin.delay_ms, wait)
    if origin.delay_reason == DelayReason.robots_unreachable.value:
        return f"robots.txt back-off, {_span(wait)} of {_span(whole)} left"
    return why if brief and why else f"delay {_span(wait)} of {_span(whole)}" + (f", {why}" if why else "")


def _some(number: int, whole: int, one: str, many: str) -> str:
    if number < whole:
        return f"{number} of {whole} open origins {one if number == 1 else many}"
    return f"the open origin {one}" if number == 1 else f"all {number} open origins {many}"


def _until(epoch_ms: int, now: int, zone: tzinfo) -> str:
    """The time of day, with how far ahead it is; from a day on only how far."""
    ahead = _span(epoch_ms - now)
    return f"for {ahead}" if epoch_ms - now >= 86_400_000 else f"until {_clock(epoch_ms, zone)} (in {ahead})"


def _clock(epoch_ms: int, zone: tzinfo) -> str:
    shown = local_time(epoch_ms, zone)
    return "an unknown time" if shown is None else shown.strftime("%H:%M")


def _span(ms: int) -> str:
    """A length of time in words of at most two units: 3.2 s, 45 s, 2 min 5 s, 1 h 12 min, 3 d 4 h."""
    if ms < 10_000:
        return f"{max(ms, 0) / 1000:.1f} s"
    seconds = round(ms / 1000)
    if seconds < 60:
        return f"{seconds} s"
    units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    (unit, name), (small, below) = next(pair for pair in pairwise(units) if seconds >= pair[0][0])
    rest = seconds % unit // small
    return f"{seconds // unit} {name}" + (f" {rest} {below}" if rest else "")
