"""When a crawl will be done, as a range with the limiting factor named."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API, NOW, WWW, origin
from tui_crawler.domain.history.eta import Eta, Limit, estimate, estimate_run

PLAIN = origin(
    API, pending=100, done=100, requests=100, delay_ms=1_000, last_response_ms=200, next_request_at=NOW, discovered=50
)


def test_the_delay_of_a_fast_origin_is_the_limit() -> None:
    eta = estimate(PLAIN, NOW)
    assert eta == Eta(99 * 1_200 + 200, 2 * 100 * 1_200, Limit.delay)
    assert eta.seconds == 119


def test_a_slow_server_is_the_limit() -> None:
    assert estimate(replace(PLAIN, last_response_ms=5_000), NOW).limit is Limit.server


def test_a_wait_comes_before_it() -> None:
    later = estimate(replace(PLAIN, next_request_at=NOW + 60_000), NOW)
    assert later.low_ms == 60_000 + 99 * 1_200 + 200


def test_without_an_end_in_sight_there_is_no_high_end() -> None:
    assert estimate(replace(PLAIN, discovered=99), NOW).high_ms is None
    assert estimate(replace(PLAIN, done=0, discovered=0), NOW).high_ms is None
    assert estimate(replace(PLAIN, discovered=0), NOW).high_ms == 100 * 1_200


def test_an_origin_that_will_give_up_first_is_limited_by_its_patience() -> None:
    assert estimate(replace(PLAIN, patience=2), NOW).limit is Limit.patience
    assert estimate(replace(PLAIN, patience=4, requests=100_000), NOW).limit is Limit.delay


def test_what_cannot_be_told() -> None:
    assert estimate(replace(PLAIN, paused=True), NOW) == Eta(None, None, Limit.paused)
    assert estimate(replace(PLAIN, delay_ms=0, last_response_ms=0), NOW) == Eta(None, None, Limit.unknown)
    gave_up = replace(PLAIN, state="FINISHED", finish_reason="patience")
    assert estimate(gave_up, NOW) == Eta(None, None, Limit.ended)
    assert estimate(gave_up, NOW).seconds is None


def test_nothing_left() -> None:
    assert estimate(replace(PLAIN, pending=0), NOW) == Eta(0, 0, Limit.none)
    assert estimate_run((), NOW, 8) == Eta(0, 0, Limit.none)


def test_the_slowest_origin_decides_a_crawl() -> None:
    slow = replace(PLAIN, origin=WWW, pending=10_000, discovered=0)
    eta = estimate_run((PLAIN, slow), NOW, 8)
    assert eta.origin == WWW
    assert eta.low_ms == estimate(slow, NOW).low_ms
    assert eta.high_ms == estimate(slow, NOW).high_ms
    endless = estimate_run((PLAIN, replace(slow, discovered=100)), NOW, 8)
    assert endless.high_ms is None


def test_too_few_slots_decide_when_there_are_many_origins() -> None:
    many = [replace(PLAIN, origin=f"https://o{n}.example") for n in range(100)]
    eta = estimate_run(many, NOW, 1)
    assert eta.limit is Limit.slots
    assert eta.low_ms == 100 * 100 * 200
    assert estimate_run(many, NOW, 0).limit is Limit.delay


def test_paused_and_unknown_origins_are_left_out() -> None:
    paused = replace(PLAIN, paused=True)
    assert estimate_run((paused,), NOW, 8) == Eta(None, None, Limit.paused)
    assert estimate_run((paused, PLAIN), NOW, 8).low_ms == estimate(PLAIN, NOW).low_ms


def test_without_an_engine_there_is_no_eta() -> None:
    rests = replace(PLAIN, state="RESTING")
    assert estimate(rests, NOW) == Eta(None, None, Limit.resting)
    assert estimate_run((rests,), NOW, 8) == Eta(None, None, Limit.resting)
    assert estimate(replace(rests, pending=0), NOW) == Eta(0, 0, Limit.none)


@given(
    st.integers(0, 10**9), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**7)
)
def test_the_range_is_a_range(pending: int, delay: int, response: int, done: int, discovered: int) -> None:
    view = replace(PLAIN, pending=pending, delay_ms=delay, last_response_ms=response, done=done, discovered=discovered)
    eta = estimate(view, NOW)
    if eta.low_ms is not None and eta.high_ms is not None:
        assert 0 <= eta.low_ms <= eta.high_ms
