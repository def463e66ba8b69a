"""How the sample crawl went: a wave of pages, a quarter of an hour of timeouts, a pause, other rules."""

from __future__ import annotations

from dataclasses import replace
from math import sin

from tests.console.sample_crawl import API, MINUTE, NOW, SECOND, WHO
from tui_crawler.domain.history.pulse import Gauges, MarkKind, Pulse, PulseCount, PulseMark, PulseOf, PulseScope
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.exit_code import ExitCode

DAY = 24 * 60 * MINUTE
BEGAN = NOW - 52 * MINUTE
_TROUBLE = range(NOW - 30 * MINUTE, NOW - 14 * MINUTE)
_MARKS = (
    PulseMark(BEGAN, MarkKind.run_started, "run 7"),
    PulseMark(NOW - 29 * MINUTE, MarkKind.pause, "pause https://old.example.org", WHO),
    PulseMark(NOW - 13 * MINUTE, MarkKind.ruleset, "job my-index: version 13 of mara replaces 12"),
    PulseMark(NOW - 26 * SECOND, MarkKind.takeover, "process 4402 on host reef is gone"),
)


def pulse(of: PulseOf, since: int, step_ms: int, steps: int) -> Pulse:
    """The span, as a database of the sample crawl would give it; an origin has a tenth of all."""
    since -= since % step_ms
    span = TimeSpan(since, since + step_ms * steps, steps)
    part = 0.1 if of == PulseOf(PulseScope.origin, API) else 1.0
    moments = [span.at(place) for place in range(steps)]
    counts = tuple(_count(at, step_ms, part) if BEGAN - step_ms < at <= NOW else None for at in moments)
    gauges = tuple(_gauges(at) if BEGAN - step_ms < at <= NOW else None for at in moments)
    marks = tuple(one for one in _MARKS if since <= one.at < span.until)
    found = Pulse(of, span, counts, gauges, marks, begins_at=BEGAN, run_id=7)
    before = TimeSpan(since - DAY, span.until - DAY, steps)
    ended = since - DAY + 31 * MINUTE
    slower = tuple(None if one is None else replace(one, pages=one.pages * 2 // 3) for one in counts)
    earlier = replace(found, span=before, counts=slower, begins_at=since - DAY, ends_at=ended, run_id=6, marks=())
    return replace(found, earlier=earlier)


def _count(at: int, step_ms: int, part: float) -> PulseCount:
    """What was counted from a moment on."""
    seconds = max(0, min(at + step_ms, NOW) - max(at, BEGAN)) / SECOND
    bad, wave = at in _TROUBLE, 14 + 8 * sin(at / (7 * MINUTE))
    pages = round(part * seconds * wave * (0.6 if bad else 1))
    count = PulseCount(pages, pages, 0, 18_000 * pages)
    for share, ms in ((50, 120), (40, 240), (8, 700), (2, 1_500)):
        one = PulseCount()
        one.add(ms * (3 if bad else 1), page=True, code=None, size=0)
        one.add_phases(at, at + ms // 2, at + ms, ms // 20, ms // 8, None)
        one.attempts = one.pages = 0
        count.merge(one, max(1, pages * share // 100))
    for code, number in (
        (ExitCode.request_timeout, pages // 40 if bad else 0),
        (ExitCode.file_not_found, pages // 300),
    ):
        for _ in range(min(number, 200)):
            count.add(None, page=False, code=code.value, size=0)
    count.attempts = pages
    return count


def _gauges(at: int) -> Gauges:
    """What was measured at a moment: on the way to the totals of the sample, and to its eleven origins."""
    minutes = (at - BEGAN) // MINUTE
    finished, gave_up, paused = min(2, minutes // 5), int(minutes > 25), int(at > NOW - 29 * MINUTE)
    return Gauges(
        todo=17_000 + 40 * minutes,
        pending=900_000 + 9_000 * minutes - 60 * minutes * minutes,
        crawling=2,
        waiting=9 - finished - gave_up - paused,
        paused=paused,
        gave_up=gave_up,
        finished=finished,
        lag_ms=2 + minutes * 7 % 11,
        commit_ms=6 + minutes * 5 % 17,
        commit_jobs=12 + minutes % 9,
    )


def paces(origins: tuple[str, ...], span: TimeSpan) -> dict[str, list[tuple[int, int]]]:
    """The attempts of origins in each cell, and those that failed: all of the API in the time of trouble."""
    found = {}
    for number, origin in enumerate(origins):
        cells = [(0, 0)] * span.cells
        for place in range(span.cells):
            at = span.at(place)
            if BEGAN + number * MINUTE < at <= NOW:
                pages = round(8 + 6 * sin(at / (number + 3) / MINUTE))
                cells[place] = pages, pages if origin == API and at in _TROUBLE else 0
        found[origin] = cells
    return found
