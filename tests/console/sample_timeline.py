"""The politeness of the sample crawl over time: an API that asked for more room and then timed out, others in order."""

from __future__ import annotations

from tests.console.sample_crawl import API, MINUTE, NOW, SECOND, WWW
from tui_crawler.domain.history.audit import SentRequest, judged
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import Lane, LaneEvents, Timeline
from tui_crawler.domain.records.exit_code import ExitCode

STARTED = NOW - 42 * MINUTE
LIMITED, SLOW = STARTED + 18 * MINUTE, NOW - 5 * MINUTE
PAUSES = {WWW: ((STARTED + 27 * MINUTE, STARTED + 33 * MINUTE),)}


def log_of(origin: str) -> list[SentRequest]:
    """What an origin was asked."""
    asked: list[SentRequest] = []
    at, limited, patience = STARTED, 0, 5
    while at < NOW - 2 * SECOND:
        number = len(asked)
        if any(began < at < ended for began, ended in PAUSES.get(origin, ())):
            at = PAUSES[origin][0][1] + SECOND
        delay, why = (2 * SECOND, "crawl_delay") if origin == API else (SECOND, "default")
        took, code = 200 + number * 37 % 700, ExitCode.file_ingested
        if origin == API and at >= LIMITED:
            delay, why, limited = 4 * SECOND, "rate_limit", limited + 1
            if limited == 1:
                code, delay, why = ExitCode.rate_limited, 3 * MINUTE, "retry_after"
        if origin == API and at >= SLOW and patience > 2:
            took, code, patience = 30 * SECOND, ExitCode.request_timeout, patience - 1
        session = 2 if at > STARTED + 36 * MINUTE else 1
        asked.append(
            SentRequest(
                number + 1, origin, origin, f"{origin}/{number}", at, at + took, False, delay, code.value, why,
                patience, 1, session,
            )
        )  # fmt: skip
        at += took + delay + number * 13 % 90
    return asked


def timeline(origin: str, span: TimeSpan) -> Timeline:
    """One origin over a span, as the database would give it."""
    lane = Lane(origin, span, LaneEvents(PAUSES.get(origin, ())))
    for gap in judged(log_of(origin)):
        lane.add(gap)
    return lane.timeline(NOW)
