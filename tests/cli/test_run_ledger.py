"""What events add up to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.event_names import EVENT_NAMES
from tui_crawler.cli.run_progress import frame
from tui_crawler.cli.run_watch import NAMED, summary
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.run_totals import RATE_SECONDS, RunTotals

A = "https://a.example.org"
B = "https://b.example.org"


def attempt(at: int, origin: str = A, code: str = "file_ingested", **extra: object) -> Event:
    values = {"kind": "page", "http_status": 200, "response_ms": 100, "delay_ms": 1_000, "patience": 5} | extra
    return Event(at, "attempt_finished", origin, f"{origin}/x", code, tuple(values.items()))


def event(name: str, origin: str = "", at: int = 1_000, **extra: object) -> Event:
    return Event(at, name, origin, extra=tuple(extra.items()))


def ledger_of(*events: Event) -> RunTotals:
    ledger = RunTotals()
    for one in events:
        ledger.take(one)
    return ledger


def test_totals_are_sums_over_origins():
    ledger = ledger_of(
        event("origin_started", A, todo=4),
        attempt(2_000, A, pages_done=1, pages_failed=0, todo=3),
        attempt(3_000, B, pages_done=5, pages_failed=2, todo=7),
        attempt(4_000, A, pages_done=2, pages_failed=1, todo=1),
    )
    assert (ledger.pages_done, ledger.pages_failed, ledger.todo, ledger.turns) == (7, 3, 8, 3)
    assert ledger.elapsed_ms == 3_000


def test_the_end_of_the_run_brings_its_own_figures():
    ledger = ledger_of(
        attempt(2_000, pages_done=1),
        event("run_finished", at=9_000, reason="exhausted", requests=41, pages_done=30, pages_failed=4),
    )
    assert (ledger.reason, ledger.turns, ledger.pages_done, ledger.pages_failed) == ("exhausted", 41, 30, 4)


def test_a_refusal_is_no_request():
    assert ledger_of(attempt(1_000, code="blocked_by_robots_txt", response_ms=None)).turns == 0


def test_states_follow_the_events():
    ledger = ledger_of(event("origin_started", A, todo=1, paused=False))
    one = ledger.origins[A]
    assert one.state == "crawling"
    for name, extra, state in (
        ("origin_waiting", {"until": 60_000}, "waiting"),
        ("origin_resumed", {}, "crawling"),
        ("origin_paused", {}, "paused"),
        ("origin_finished", {"reason": "exhausted"}, "finished"),
    ):
        ledger.take(event(name, A, **extra))
        assert one.state == state
    ledger.take(event("origin_started", B, paused=True))
    assert ledger.origins[B].state == "paused"


def test_an_origin_that_another_worker_goes_on_with_counts_no_more_here():
    ledger = ledger_of(
        event("origin_started", A, todo=4, pages_done=2, pages_failed=1),
        event("origin_started", B, todo=3),
        event("origin_left", A),
    )
    assert (list(ledger.origins), ledger.todo, ledger.pages_done, ledger.pages_failed) == ([B], 3, 0, 0)
    ledger.take(event("origin_started", A, todo=4, pages_done=2, pages_failed=1))
    assert (ledger.todo, ledger.pages_done, ledger.pages_failed) == (7, 2, 1)


def test_an_attempt_that_ends_during_a_pause_does_not_end_the_pause():
    ledger = ledger_of(event("origin_started", A), event("origin_paused", A), attempt(2_000))
    assert ledger.origins[A].state == "paused"


def test_setbacks_count_what_cost_patience():
    ledger = ledger_of(
        attempt(1_000, code="file_not_found", patience=4),
        attempt(2_000, code="connection_failed", patience=3),
        attempt(3_000, code="rate_limited", patience=3),
        attempt(4_000, code="connection_failed", patience=2),
        Event(5_000, "robots_fetched", A, "u", "request_timeout", (("patience", 1), ("response_ms", 9))),
        attempt(6_000, code="a_code_of_a_later_version", patience=0),
    )
    assert ledger.origins[A].setbacks == {"connection_failed": 2, "request_timeout": 1}


def test_an_origin_topped_up_has_not_given_up():
    ledger = ledger_of(
        attempt(1_000, code="connection_failed", patience=0), event("origin_finished", A, reason="patience")
    )
    assert ledger.origins[A].gave_up
    ledger.take(attempt(2_000, patience=5))
    assert not ledger.origins[A].gave_up


def test_eta_counts_turns_and_the_present_wait():
    ledger = ledger_of(attempt(1_000, todo=10), event("origin_waiting", A, until=5_000))
    one = ledger.origins[A]
    assert one.eta_ms(2_000) == 3_000 + 10 * 1_100
    ledger.take(event("origin_paused", A))
    assert one.eta_ms(2_000) is None


def test_the_rate_is_a_mean_over_the_last_seconds():
    ledger = RunTotals()
    for number in range(200):
        ledger.take(attempt(1_000_000 + number * 500))
    assert ledger.rate(1_100_000) == pytest.approx(2.0, abs=0.1)
    assert ledger.rate(1_100_000 + RATE_SECONDS * 1_000) == 0


values = st.one_of(st.none(), st.integers(), st.text(max_size=5), st.booleans())
keys = st.sampled_from(["todo", "pages_done", "patience", "until", "response_ms", "reason", "requests", "paused"])


@given(
    st.lists(
        st.builds(
            Event,
            st.integers(0, 2**40),
            st.one_of(st.sampled_from(EVENT_NAMES), st.text(max_size=5)),
            st.sampled_from(["", A, B]),
            st.just("u"),
            st.sampled_from(["", "connection_failed", "nonsense"]),
            st.lists(st.tuples(keys, values), max_size=5).map(tuple),
        ),
        max_size=30,
    )
)
def test_no_event_can_make_the_ledger_or_the_summary_fail(events: list[Event]):
    ledger = ledger_of(*events)
    assert ledger.rate(2**41) >= 0
    assert all("\n" not in line for line in summary(ledger))


def test_the_summary_says_who_gave_up_and_why():
    ledger = ledger_of(
        event("run_started", at=1_000, origins=2),
        *(attempt(1_000 + n, code="connection_failed", patience=5 - n, todo=7, pages_failed=n) for n in range(1, 6)),
        event("origin_finished", A, at=8_000, reason="patience", pages_done=14, pages_failed=41),
        event("origin_finished", B, at=8_500, reason="exhausted", pages_done=1, pages_failed=0),
        event("run_finished", at=61_000, reason="exhausted", requests=55, pages_done=15, pages_failed=41),
    )
    assert list(summary(ledger)) == [
        "run finished, nothing left in this run",
        "  55 turns with a request at 2 origins in 00:01:00",
        "  pages now: 15 done, 41 failed",
        "1 origin stopped after errors:",
        f"  {A}: out of patience after 5 × connection_failed; 14 pages done, 41 failed, 7 on the todo list",
        "  failed pages: tui-crawler failures; retry them: tui-crawler retry --origin ORIGIN",
    ]


def robots(at: int, origin: str, code: str, patience: int, status: int | None = None, message: str = "") -> Event:
    values = {"http_status": status, "response_ms": 3, "delay_ms": 1_000, "patience": patience, "message": message}
    return Event(at, "robots_fetched", origin, f"{origin}/robots.txt", code, tuple(values.items()))


def test_an_origin_that_gave_up_over_its_robots_txt_says_so_and_what_helps():
    refused = "a.example.org port 443: Connection refused"
    ledger = ledger_of(
        *(robots(1_000 + n, A, "connection_failed", 5 - n, message=refused) for n in range(1, 6)),
        event("origin_finished", A, reason="patience", pages_done=0, pages_failed=0),
    )
    lines = list(summary(ledger))
    assert f"  {A}: robots.txt unreachable: connection refused; 0 pages done, 0 failed" in lines
    assert "  robots.txt: requested again in the next run; in a live one after tui-crawler top-up ORIGIN" in lines
    assert not any("retry" in line for line in lines), "it would put nothing back"


def test_a_robots_txt_that_came_after_all_is_not_what_an_origin_gave_up_over():
    ledger = ledger_of(
        robots(1_000, A, "server_internal_error", 4, 503),
        robots(2_000, A, "file_not_found", 4, 404),
        *(attempt(2_000 + n, code="connection_failed", patience=4 - n, pages_failed=n) for n in range(1, 5)),
        event("origin_finished", A, reason="patience", pages_done=0, pages_failed=4),
    )
    assert any(
        "out of patience after 4 × connection_failed, 1 × server_internal_error" in one for one in summary(ledger)
    )
    assert ledger_of(robots(1_000, A, "file_not_found", 5, 404)).origins[A].without_robots == ""


def test_a_continued_run_counts_both_its_lives_before_and_after_its_end():
    began = (
        event("run_started", at=1_000, continued=True, origins=2, requests=54),
        event("origin_started", A, todo=2, pages_done=20, pages_failed=3),
        event("origin_started", B, todo=0, pages_done=9, pages_failed=0),
        attempt(9_000, A, todo=1, pages_done=21, pages_failed=3),
    )
    ended = event("run_finished", at=61_000, reason="exhausted", requests=55, pages_done=30, pages_failed=3)
    live, over = ledger_of(*began), ledger_of(*began, ended)
    for ledger in (live, over):
        assert (ledger.turns, ledger.pages_done, ledger.pages_failed) == (55, 30, 3)
    assert list(summary(live))[1] == "  55 turns with a request in this run, 00:00:08 since it was continued"
    assert list(summary(over))[1] == "  55 turns with a request in this run, 00:01:00 since it was continued"
    assert frame(live, 9_000, 100, 24)[0].plain.startswith("00:00:08  55 turns in this run, ")
    assert "30 pages done  3 failed  1 todo" in frame(live, 9_000, 100, 24)[0].plain


def test_a_database_error_is_a_giving_up_too():
    ledger = ledger_of(event("origin_finished", A, reason="database_error"))
    assert any("the database failed" in line for line in summary(ledger))


def test_origins_that_were_told_to_wait_are_named():
    ledger = ledger_of(event("origin_finished", A, reason="rate_limited"))
    lines = list(summary(ledger))
    assert any("Retry-After is longer than allowed" in line for line in lines)
    assert not any("stopped after" in line for line in lines)


def test_the_summary_of_a_wide_crawl_is_bounded():
    events = [event("origin_finished", f"https://h{n}.example", reason="patience") for n in range(NAMED + 980)]
    lines = list(summary(ledger_of(*events)))
    assert len(lines) == NAMED + 6
    assert "  … and 980 more origins" in lines


def test_hostile_names_are_made_safe():
    ledger = ledger_of(
        event("origin_finished", "https://x\x1b[2J", reason="patience"),
        event("run_finished", reason="odd\x1b]0;x\x07", requests=1),
    )
    assert all(line.isprintable() for line in summary(ledger))
