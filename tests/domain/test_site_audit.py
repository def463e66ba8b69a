"""Chains and loops of redirects, and how the requests of a crawl fall into spans of time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.history.audit import SentRequest, audit
from tui_crawler.domain.history.site_audit import LISTED, SECTIONS, SPANS, chains, over_time, politeness

PAGES = st.integers(0, 12)


@given(st.lists(st.tuples(PAGES, PAGES)))
def test_every_redirect_is_in_a_chain_or_a_loop_and_none_is_made_up(redirects: list[tuple[int, int]]):
    leads = dict(reversed(redirects))
    found, loops = chains(redirects)
    steps = {step for path in found for step in pairwise(path)}
    rounds = {step for loop in loops for step in zip(loop, [*loop[1:], loop[0]], strict=True)}
    assert steps | rounds == set(leads.items())
    in_loops = [page for loop in loops for page in loop]
    assert len(in_loops) == len(set(in_loops))
    for path in found:
        assert path[0] not in leads.values()
        assert len(path) == len(set(path))


def test_a_chain_is_cut_where_it_is_very_long():
    (path,), loops = chains((page, page + 1) for page in range(1_000))
    assert path == list(range(21))
    assert loops == []


@given(st.lists(st.integers(0, 100_000), min_size=1))
def test_every_request_is_counted_in_one_span(times: list[int]):
    """Also one that a clock dates before the first attempt or after the last."""
    counted: dict[str, list[int]] = {}
    asked = [SentRequest(1, "https://a.example", "https://a.example", "u", at, at, False, 0) for at in times]
    assert list(over_time(asked, (1_000, 90_000), counted)) == asked
    (counts,) = counted.values()
    assert (len(counts), sum(counts)) == (SPANS, len(times))


def test_the_proof_lists_broken_promises_first_and_counts_them_all():
    def asked(origin: str, at: int) -> SentRequest:
        return SentRequest(at, origin, origin, f"{origin}/{at}", at, at + 10, False, 1_000)

    requests = [asked("https://kept.example", 2_000 * number) for number in range(5)]
    requests += [asked(f"https://{number}.example", at) for number in range(LISTED) for at in (0, 500, 2_000)]
    counts: dict[str, list[int]] = {}
    proof = audit(over_time(requests, (0, 10_000), counts))
    found = {key: (rows, total) for key, rows, total in politeness(proof, counts)}
    rows, total = found["violations"]
    assert (len(rows), total) == (LISTED, LISTED)
    assert dict(zip([column.name for column in SECTIONS["violations"].columns], rows[0], strict=True)) == {
        "url": "https://0.example/500",
        "fault": "gap",
        "sent_at": 500,
        "gap_ms": 490,
        "promised_ms": 1_000,
        "earlier_url": "https://0.example/0",
    }
    rows, total = found["politeness"]
    assert (len(rows), total) == (LISTED, LISTED + 1)
    assert rows[0][:2] == ("https://0.example", 3)
