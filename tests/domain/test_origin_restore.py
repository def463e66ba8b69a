"""The wait that was promised after a kill, and the starts that come after it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.crawl.delay import DelaySettings, Pace
from tui_crawler.domain.crawl.origin import CrawlSettings, OriginState, Takeover, record_of, restore, says_all
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.attempt import OriginRecord
from tui_crawler.domain.records.status import DelayReason

A = "http://a.test"
NOW = 1_800_000_000_000
DAY = 86_400_000
S = CrawlSettings(delay=DelaySettings(default_ms=1_000))
KILLED, STOPPED = Takeover(continued=True, unclean=True), Takeover(continued=True, unclean=False)


def record(delay_ms: int, response_ms: int) -> OriginRecord:
    return OriginRecord(A, "", False, 5, 0, True, 0, delay_ms, "default", 0, NOW + delay_ms, NOW, response_ms)


def taken(kept: OriginRecord | OriginState, takeover: Takeover, at: int) -> OriginState:
    kept = kept if isinstance(kept, OriginRecord) else record_of(kept)
    return restore(kept, (), None, S, takeover, Moment(50, at))


def test_a_clean_stop_right_after_a_kill_keeps_the_wait_for_the_answer_that_was_under_way() -> None:
    """Delay 1 s, the last answer took 30 s: 31 s were promised, however often somebody else takes over."""
    restarted = NOW + DAY
    state = taken(record(1_000, 30_000), KILLED, restarted)
    assert state.release_ms == 50 + 31_000
    for seconds in (1, 2):
        state = taken(state, STOPPED, restarted + seconds * 1_000)
        assert state.release_ms == 50 + 31_000 - seconds * 1_000
        assert state.next_request_at == restarted + 31_000
        assert state.delay_reason is DelayReason.restart


def test_a_clock_that_jumped_back_after_a_kill_makes_the_wait_no_longer_than_was_promised() -> None:
    """The machine was off for a day: what lies between the last request and the next one is no promise."""
    state = taken(record(1_000, 30_000), KILLED, NOW + DAY)
    assert taken(state, STOPPED, NOW - DAY).release_ms == 50 + 31_000


@given(
    delay_ms=st.integers(0, 20_000),
    response_ms=st.integers(0, 60_000),
    down_ms=st.integers(0, 100_000),
    starts=st.lists(st.tuples(st.booleans(), st.integers(0, 40_000)), max_size=5),
)
def test_no_start_after_a_kill_makes_the_next_request_sooner(
    delay_ms: int, response_ms: int, down_ms: int, starts: list[tuple[bool, int]]
) -> None:
    at = NOW + down_ms
    state = taken(record(delay_ms, response_ms), KILLED, at)
    for unclean, after_ms in starts:
        at, promised = at + after_ms, state.next_request_at
        state = taken(state, KILLED if unclean else STOPPED, at)
        assert at + state.release_ms - 50 >= promised


def test_an_origin_that_comes_back_as_it_was_stored_need_not_be_stored_again() -> None:
    now = Moment(wall_ms=1_000_000, mono_ms=5_000)

    def comes_back(record: OriginRecord, takeover: Takeover) -> bool:
        return says_all(record, restore(record, (), None, CrawlSettings(), takeover, now))

    fresh = replace(record_of(OriginState("http://a.test", patience=5, pace=Pace(2))), robots=None, delay_reason="")
    assert comes_back(fresh, Takeover(continued=False, unclean=False))
    assert not comes_back(fresh, Takeover(continued=True, unclean=True)), "it waits a whole delay first"
    asked = replace(fresh, next_request_at=1_000_400, delay_ms=500)
    assert comes_back(asked, Takeover(continued=True, unclean=False))
    assert not comes_back(replace(asked, next_request_at=2_000_000), Takeover(True, False)), "the clock was set back"
    ended = replace(fresh, finish_reason="exhausted")
    assert comes_back(ended, Takeover(continued=True, unclean=False))
    assert not comes_back(ended, Takeover(continued=False, unclean=False)), "it begins afresh"
