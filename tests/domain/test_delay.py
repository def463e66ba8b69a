"""The vectors of docs/behaviour.md, and what must hold for every delay."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.delay import AnswerKind, DelaySettings, Pace, after_request, minimum
from tui_crawler.domain.records.status import DelayReason

S = DelaySettings()


def walk(settings, pace, steps):
    """Delays (ms) after a series of (response_ms, answer)."""
    delays = []
    for response_ms, answer in steps:
        delay, pace = after_request(settings, pace, response_ms, answer)
        delays.append(delay.ms)
    return delays, pace


def test_fast_server_from_a_fresh_origin():
    delays, _ = walk(S, Pace(), [(300, AnswerKind.good)] * 3)
    assert delays == [1200, 1000, 1000]


def test_slow_server_then_rate_limited_stays_slow():
    delays, pace = walk(S, Pace(), [(2000, AnswerKind.good)] * 4)
    assert delays == [8000, 4000, 2000, 2000]
    assert pace.politeness == 0
    delays, pace = walk(S, pace, [(2000, AnswerKind.rate_limited), (2000, AnswerKind.good), (2000, AnswerKind.good)])
    assert delays == [4000, 4000, 4000]
    assert not pace.may_fall


def test_crawl_delay_is_obeyed_up_to_its_cap_and_never_below_the_floor():
    def after(crawl_delay_ms, settings=S):
        return after_request(settings, Pace(crawl_delay_ms=crawl_delay_ms, politeness=0), 10, AnswerKind.good)[0]

    assert after(7000).ms == 7000
    assert after(7000).reason is DelayReason.crawl_delay
    assert after(600_000).ms == 120_000
    assert after(200).ms == 1000
    assert after(600_000, DelaySettings(crawl_delay_cap_ms=None)).ms == 600_000


def test_a_very_slow_answer_is_capped():
    assert after_request(S, Pace(), 100_000, AnswerKind.good)[0].ms == 180_000


def test_running_average():
    settings = DelaySettings(model="running_average", average_factor=10.0)
    steps = [(n * 1000, AnswerKind.good) for n in range(1, 7)]
    delays, _ = walk(settings, Pace(), steps)
    assert delays[0] == 60_000
    assert delays[-1] == 40_000
    delays, _ = walk(DelaySettings(model="running_average"), Pace(), steps)
    assert delays[-1] == 15_000
    crawl_delay = after_request(settings, Pace(crawl_delay_ms=90_000), 1000, AnswerKind.good)[0]
    assert crawl_delay.ms == 90_000


def test_fixed_model_ignores_the_response_time():
    assert after_request(DelaySettings(model="fixed"), Pace(), 30_000, AnswerKind.other)[0].ms == 1000


def test_each_rate_limit_of_the_run_doubles_the_minimum_at_most_seven_times():
    pace, seen = Pace(politeness=0), []
    for _ in range(10):
        delay, pace = after_request(S, pace, 1, AnswerKind.rate_limited)
        seen.append(delay.ms)
    assert seen[:7] == [2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000]
    assert seen[7:] == [128_000] * 3


def test_retry_after_is_a_delay_up_to_its_bound():
    assert after_request(S, Pace(), 10, AnswerKind.other, 30_000)[0].reason is DelayReason.retry_after
    assert after_request(S, Pace(), 10, AnswerKind.other, 999_000)[0].ms == 180_000
    assert after_request(S, Pace(), 10, AnswerKind.other, 100)[0].ms == 1000


def test_the_operator_only_slows_down():
    assert minimum(S, Pace(operator_ms=5000)).reason is DelayReason.operator
    assert minimum(S, Pace(operator_ms=5000, crawl_delay_ms=9000)).ms == 9000


ANSWERS = st.sampled_from(list(AnswerKind))


@given(
    st.sampled_from(["politeness", "running_average", "fixed"]),
    st.lists(st.tuples(st.integers(0, 10**7), ANSWERS, st.none() | st.integers(0, 10**7)), max_size=30),
    st.none() | st.integers(0, 10**7),
    st.integers(0, 10**6),
)
def test_every_delay_is_within_its_bounds(model, steps, crawl_delay_ms, operator_ms):
    settings = DelaySettings(model=model)
    pace = Pace(crawl_delay_ms=crawl_delay_ms, operator_ms=operator_ms)
    for response_ms, answer, retry_after_ms in steps:
        delay, pace = after_request(settings, pace, response_ms, answer, retry_after_ms)
        least = minimum(settings, pace).ms
        assert max(settings.floor_ms, least) <= delay.ms
        assert delay.ms <= max(settings.max_ms, least, settings.retry_after_max_ms)
        assert 0 <= pace.politeness <= settings.max_politeness
        assert len(pace.window) <= settings.average_window
