"""Why nothing moves, in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API, NOW, WHO, WWW, origin, run_view
from tui_crawler.domain.history.idle_reason import (
    at_rest,
    delay_words,
    end_of_run,
    finish_words,
    flying,
    idle_reason,
    idle_reason_of_run,
)
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.status import DelayReason
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.records.view import OriginView

RUN = run_view()
SOME = origin(API, next_request_at=NOW + 3_200, delay_ms=4_000)


def ended(reason: str, **more: object) -> dict[str, object]:
    return {"state": "FINISHED", "finish_reason": reason, **more}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "delay 3.2 s of 4.0 s"),
        ({"delay_reason": "rate_limit"}, "delay 3.2 s of 4.0 s, slowed by 429"),
        ({"delay_reason": "crawl_delay"}, "delay 3.2 s of 4.0 s, Crawl-delay of robots.txt"),
        (
            {"delay_reason": "robots_unreachable", "delay_ms": 300_000, "next_request_at": NOW + 125_000},
            "robots.txt back-off, 2 min 5 s of 5 min left",
        ),
        ({"paused": True, "paused_by": WHO, "paused_at": NOW}, "paused by you 10:41"),
        ({"paused": True, "paused_by": "otto", "paused_at": NOW}, "paused by otto 10:41"),
        ({"paused": True}, "paused"),
        ({"in_flight_url": f"{API}/x", "paused": True}, ""),
        ({"asleep_until": NOW + 7_500_000}, "nothing due until 12:46 (in 2 h 5 min)"),
        ({"asleep_until": NOW + 26 * 86_400_000}, "nothing due for 26 d"),
        ({"next_request_at": NOW - 1, "todo": 3, "pending": 3, "state": "READY"}, "ready, waits for its turn"),
        (
            {"next_request_at": NOW - 1, "todo": 3, "state": "READY", "robots_expires_at": NOW},
            "robots.txt first: being fetched, or waiting for its turn",
        ),
        ({"next_request_at": 0, "state": "READY"}, "nothing queued"),
        ({"next_request_at": 0, "state": "IDLE", "todo": 3, "pending": 3}, "it takes no part in this run"),
        (ended("patience", paused=True), "out of patience: 5 persistent failures"),
        (ended("patience", robots_status="unreachable", robots_message=""), "robots.txt unreachable: no response"),
        (
            ended("patience", robots_status="unreachable", robots_message="::1 port 80: Connection refused"),
            "robots.txt unreachable: connection refused",
        ),
        (
            ended("patience", robots_status="unreachable", robots_http_status=503),
            "robots.txt unreachable: HTTP 503",
        ),
        (ended("exhausted", refused_as="blocked_by_robots_txt"), "robots.txt disallows all requested URLs"),
        (ended("exhausted", refused_as="several"), "all requested URLs are refused"),
        (
            {
                "delay_reason": "response_time",
                "last_exit_code": "request_timeout",
                "last_http_status": None,
                "last_response_ms": 30_000,
            },
            "delay 3.2 s of 4.0 s, no response within 30 s",
        ),
        (
            {"delay_reason": "response_time", "last_exit_code": "request_timeout", "last_http_status": 408},
            "delay 3.2 s of 4.0 s, slow responses",
        ),
        (ended("exhausted"), "nothing left to crawl"),
        (ended("exhausted", pending=1, failed=1), "nothing left in this run; 1 page waits for the next"),
        (ended("exhausted", pending=2, failed=2), "nothing left in this run; 2 pages wait for the next"),
        (ended("rate_limited", next_request_at=NOW + 3_600_000), "Retry-After: wait until 11:41 (in 1 h)"),
    ],
)
def test_of_an_origin(changes: dict[str, object], words: str) -> None:
    view: OriginView = replace(SOME, **changes)  # type: ignore[arg-type]  # keyword names are checked at run time
    assert idle_reason(view, NOW, RUN, you=WHO) == words


@pytest.mark.parametrize(
    ("slots", "in_flight", "words"),
    [
        (8, None, "ready, waits for its turn"),
        (8, 7, "ready, waits for its turn"),
        (8, 8, "ready, waits for a free slot: all 8 are taken"),
        (1, 1, "ready, waits for a free slot"),
        (0, 3, "ready, waits for its turn"),
    ],
)
def test_a_free_slot_is_waited_for_only_where_none_is_free(slots: int, in_flight: int | None, words: str) -> None:
    ready = replace(SOME, next_request_at=NOW - 1, todo=3, pending=3, state="READY")
    assert idle_reason(ready, NOW, replace(RUN, max_in_flight=slots), in_flight=in_flight) == words


def test_what_flies_is_counted_for_each_worker() -> None:
    views = [replace(SOME, worker=name, in_flight_url=url) for name, url in (("a", "x"), ("a", ""), ("b", "y"))]
    assert flying(views) == {"a": 1, "b": 1}


def test_without_a_live_run_that_is_the_reason() -> None:
    assert idle_reason(SOME, NOW, None) == "no run has started yet"
    assert idle_reason(SOME, NOW, replace(RUN, live=False)) == "no worker running"
    left = replace(SOME, in_flight_url=f"{API}/x")
    assert idle_reason(left, NOW, replace(RUN, live=False)) == "no worker running"


def test_times_of_day_are_of_the_zone_asked_for() -> None:
    paused = replace(SOME, paused=True, paused_at=NOW)
    assert idle_reason(paused, NOW, RUN, zone=timezone(timedelta(hours=2))) == "paused 12:41"


@pytest.mark.parametrize("reason", FinishReason)
def test_every_end_has_words(reason: FinishReason) -> None:
    words = finish_words(reason.value)
    assert words
    assert "_" not in words


@pytest.mark.parametrize("reason", DelayReason)
def test_every_delay_reason_has_words_of_its_own_or_none(reason: DelayReason) -> None:
    assert "_" not in delay_words(reason.value)


def test_of_a_whole_crawl() -> None:
    waiting = replace(SOME, next_request_at=NOW + 7_900)
    assert idle_reason_of_run((waiting,), NOW, RUN) == f"the open origin waits: next request in 7.9 s to {API}"
    two = (waiting, origin(WWW, next_request_at=NOW + 60_000))
    assert idle_reason_of_run(two, NOW, RUN) == f"all 2 open origins wait: next request in 7.9 s to {API}"
    assert idle_reason_of_run((origin(WWW, next_request_at=NOW + 900),), NOW, RUN) == ""
    short = origin(WWW, next_request_at=NOW + 4_000)
    assert idle_reason_of_run((short,), NOW, RUN) == "", "between two requests of a slow crawl the header stands still"
    assert idle_reason_of_run((*two, origin("x", in_flight_url="y")), NOW, RUN) == ""
    done = origin(WWW, state="FINISHED", finish_reason="exhausted")
    held = replace(waiting, paused=True)
    assert idle_reason_of_run((done,), NOW, RUN) == "every origin has finished"
    left = replace(done, pending=28)
    assert idle_reason_of_run((left,), NOW, RUN) == "every origin has finished; 28 pages wait for the next"
    ended = replace(RUN, live=False, finished_at=NOW, finish_reason="exhausted")
    words = "the run ended at 10:41 (finished; 28 pages wait for the next)"
    assert idle_reason_of_run((left,), NOW, ended) == words
    assert idle_reason_of_run((held,), NOW, RUN) == "the open origin is paused"
    words = "all 2 open origins are paused; 1 stopped after errors, 2 have finished"
    gave_up = replace(done, finish_reason="patience")
    assert idle_reason_of_run((held, replace(held, origin=WWW), done, gave_up, done), NOW, RUN) == words
    stopped = replace(done, finish_reason="operator")
    left = "no origin is left: 1 stopped after errors, 1 was stopped, 1 has finished"
    assert idle_reason_of_run((done, gave_up, stopped), NOW, RUN) == left
    assert idle_reason_of_run((), NOW, RUN) == "no origins yet"
    assert idle_reason_of_run((), NOW, None) == "no run has started yet"


def test_origins_that_are_held_wait_for_nothing() -> None:
    waiting, held = replace(SOME, next_request_at=NOW + 7_900), replace(SOME, asleep_until=HELD, origin=WWW)
    assert idle_reason_of_run((held,), NOW, RUN) == "every job with pages left is paused"
    assert idle_reason_of_run((waiting, held), NOW, RUN) == f"1 of 2 open origins waits: next request in 7.9 s to {API}"
    assert idle_reason(held, NOW, RUN) == "its jobs are paused"


def test_of_a_crawl_without_an_engine() -> None:
    ended = replace(RUN, live=False, finished_at=NOW, finish_reason="max_requests")
    assert idle_reason_of_run((SOME,), NOW, ended) == "the run ended at 10:41 (limit reached)"
    killed = replace(RUN, live=False, heartbeat_at=NOW - 120_000)
    assert idle_reason_of_run((SOME,), NOW, killed) == "crawler died at 10:39"
    unheard = replace(killed, heartbeat_at=0, started_at=NOW - 180_000)
    assert idle_reason_of_run((SOME,), NOW, unheard) == "crawler died at 10:38"
    silent = replace(RUN, heartbeat_at=NOW - 65_000)
    assert idle_reason_of_run((SOME,), NOW, silent) == "the engine has been silent for 1 min 5 s"


def test_the_clock_of_a_run_stops_with_its_end_or_when_its_engine_was_last_heard_of() -> None:
    assert end_of_run(RUN, NOW) == NOW
    assert end_of_run(replace(RUN, live=False, finished_at=NOW - 5_000, heartbeat_at=NOW), NOW) == NOW - 5_000
    assert end_of_run(replace(RUN, live=False, heartbeat_at=NOW - 7_000), NOW) == NOW - 7_000
    assert end_of_run(replace(RUN, live=False, heartbeat_at=0), NOW) == RUN.started_at


def test_without_an_engine_an_origin_that_has_not_finished_rests() -> None:
    busy = replace(SOME, state="BUSY", in_flight_url=f"{API}/x", in_flight_since=NOW)
    finished = replace(SOME, state="FINISHED", finish_reason="exhausted")
    assert at_rest(busy, RUN) is busy
    assert at_rest(busy, None) is busy
    dead = replace(RUN, live=False)
    rests = at_rest(busy, dead)
    assert (rests.state, rests.in_flight_url, rests.in_flight_since) == ("RESTING", "", 0)
    assert idle_reason(rests, NOW, dead) == "no worker running"
    assert at_rest(finished, dead) is finished
    assert idle_reason(at_rest(replace(busy, paused=True), dead), NOW, dead) == "paused"


@given(st.integers(-(10**15), 10**16), st.integers(-(10**15), 10**16), st.booleans())
def test_no_time_is_too_odd(next_at: int, asleep: int, paused: bool) -> None:
    view = replace(SOME, next_request_at=next_at, asleep_until=asleep, paused=paused, paused_at=next_at)
    assert idle_reason(view, NOW, RUN)
