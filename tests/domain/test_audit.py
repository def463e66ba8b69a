"""The politeness proof: which gaps are judged, by which promise, and what is exempt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.history.audit import LISTED, TOLERANCE_MS, Fault, SentRequest, audit

A = "https://a.example.org"
B = "https://b.example.org"


def sent(
    attempt: int,
    at: int,
    end: int,
    *,
    origin: str = A,
    of: str | None = None,
    delay: int = 1_000,
    fluke: bool = False,
) -> SentRequest:
    return SentRequest(attempt, of or origin, origin, f"{origin}/{attempt}", at, end, fluke, delay)


def test_a_single_request_has_no_gap():
    (one,) = audit([sent(1, 0, 100)])
    assert one.ok
    assert (one.requests, one.min_gap_ms, one.promised_ms) == (1, None, None)


def test_a_kept_delay_is_measured_from_the_end_of_the_response():
    (one,) = audit([sent(1, 0, 5_000, delay=1_200), sent(2, 6_200, 6_300)])
    assert one.ok
    assert (one.min_gap_ms, one.promised_ms) == (1_200, 1_200)


def test_a_short_gap_is_a_violation_and_is_listed():
    (one,) = audit([sent(1, 0, 100, delay=4_000), sent(2, 2_100, 2_200)])
    assert not one.ok
    assert (one.violations, one.overlaps) == (1, 0)
    (finding,) = one.findings
    assert (finding.fault, finding.gap_ms, finding.promised_ms) == (Fault.gap, 2_000, 4_000)
    assert (finding.earlier_url, finding.url) == (f"{A}/1", f"{A}/2")


def test_rounding_is_tolerated_and_no_more():
    kept = [sent(1, 0, 100), sent(2, 1_100 - TOLERANCE_MS, 1_200)]
    broken = [sent(1, 0, 100), sent(2, 1_100 - TOLERANCE_MS - 1, 1_200)]
    assert audit(kept)[0].ok
    assert audit(broken)[0].violations == 1


def test_two_requests_at_once_are_an_overlap_not_a_violation():
    (one,) = audit([sent(1, 0, 3_000), sent(2, 1_000, 1_500), sent(3, 2_000, 2_500)])
    assert (one.violations, one.overlaps) == (0, 2)
    assert [finding.fault for finding in one.findings] == [Fault.overlap, Fault.overlap]
    assert one.min_gap_ms == -2_000


def test_after_an_overlap_the_later_end_counts():
    (one,) = audit([sent(1, 0, 3_000), sent(2, 1_000, 1_500), sent(3, 3_500, 3_600)])
    assert (one.violations, one.overlaps) == (1, 1)


def test_a_fluke_retry_is_exempt_from_the_gap_before_it_only():
    retried = [sent(1, 0, 100), sent(1, 100, 200, fluke=True)]
    (one,) = audit([*retried, sent(2, 1_200, 1_300)])
    assert one.ok
    assert (one.requests, one.min_gap_ms) == (3, 1_000)
    (early,) = audit([*retried, sent(2, 1_150, 1_300)])
    assert early.violations == 1
    (at_once,) = audit([sent(1, 0, 100), sent(1, 50, 200, fluke=True)])
    assert at_once.overlaps == 1


def test_a_robots_hop_to_another_origin_counts_for_that_origin():
    log = [
        sent(1, 0, 100, origin=B, delay=5_000),
        sent(2, 1_000, 1_100, origin=A, delay=1_000),
        sent(2, 2_100, 2_200, origin=B, of=A, delay=1_000),
    ]
    first, second = audit(log)
    assert (first.origin, first.requests, first.ok) == (A, 1, True)
    assert (second.origin, second.violations, second.min_gap_ms) == (B, 1, 2_000)


def test_after_a_foreign_hop_the_origins_own_last_delay_holds():
    before = [sent(1, 0, 100, origin=B, delay=5_000), sent(2, 5_100, 5_200, origin=B, of=A, delay=1_000)]
    assert audit([*before, sent(3, 10_200, 10_300, origin=B)])[0].ok
    assert audit([*before, sent(3, 7_200, 7_300, origin=B)])[0].violations == 1


def test_a_foreign_hop_to_an_origin_without_a_promise_is_not_judged():
    (one,) = audit([sent(2, 0, 100, origin=B, of=A), sent(3, 200, 300, origin=B)])
    assert one.ok
    assert (one.min_gap_ms, one.promised_ms) == (100, None)


def test_hops_of_the_origins_own_robots_are_judged_for_overlaps_only():
    robots = [sent(1, 0, 100, delay=10_000), sent(1, 1_100, 1_200, delay=10_000)]
    assert audit(robots)[0].ok
    assert audit([*robots, sent(2, 11_200, 11_300)])[0].ok
    assert audit([*robots, sent(2, 10_000, 11_300)])[0].violations == 1
    assert audit([sent(1, 0, 100), sent(1, 50, 200)])[0].overlaps == 1


def test_many_findings_are_all_counted_and_some_listed():
    log = [sent(number, number * 10, number * 10 + 1) for number in range(LISTED + 50)]
    (one,) = audit(log)
    assert one.violations == LISTED + 49
    assert len(one.findings) == LISTED


@given(
    st.lists(
        st.tuples(st.sampled_from([A, B]), st.integers(0, 5_000), st.integers(0, 9_000), st.integers(0, 500)),
        max_size=40,
    )
)
def test_whoever_waits_what_was_promised_is_never_blamed(turns):
    ready = {A: 0, B: 0}
    log = []
    for number, (origin, took, delay, late) in enumerate(turns):
        at = ready[origin] + late
        log.append(sent(number, at, at + took, origin=origin, delay=delay))
        ready[origin] = at + took + delay
    answers = audit(sorted(log, key=lambda request: request.sent_at))
    assert all(one.ok for one in answers)
    assert sum(one.requests for one in answers) == len(turns)


@given(st.integers(2, 20), st.data())
def test_one_request_sent_too_soon_is_always_found(length, data):
    guilty = data.draw(st.integers(1, length - 1))
    short = data.draw(st.integers(TOLERANCE_MS + 1, 1_000))
    log, at = [], 0
    for number in range(length):
        at -= short if number == guilty else 0
        log.append(sent(number, at, at + 50))
        at += 1_050
    (one,) = audit(log)
    assert (one.violations, one.overlaps) == (1, 0)
    assert one.findings[0].gap_ms == 1_000 - short
