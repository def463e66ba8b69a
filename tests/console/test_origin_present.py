"""The past and the present of one origin in words: patience over time, the delay, the clock, the contract."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest

from tests.console.sample_crawl import API, MINUTE, NOW, SECOND, attempt, origin, origins, run_view
from tests.console.sample_relations import texts_of
from tui_crawler.console.keys import KeyNames
from tui_crawler.console.origin.queries import TopUp, top_up_of, top_ups_of
from tui_crawler.console.origin.rows import (
    OriginContext,
    clock_line,
    contract_lines,
    delay_past,
    head_line,
    narrow_head,
    patience_past,
    turn_of,
    why_lines,
)
from tui_crawler.console.overview.rows import OVERVIEW, OriginLine, delay_cell, next_cell
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.domain.crawl.contract import Contract
from tui_crawler.domain.history.idle_reason import delay_why
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.records.operator_view import ActionView
from tui_crawler.domain.records.page_view import OriginHistory
from tui_crawler.domain.records.view import OriginView
from tui_crawler.text.cells import Present

AT = Present(NOW)
CONTRACT = Contract("bot-crawler (for https://example.net/why)")


def text(*lines: Line, width: int = 70) -> str:
    """Lines as they stand on the screen."""
    rows = ["".join(piece for piece, _ in row).rstrip() for line in lines for row in lay_out_line(line, width)]
    return "\n".join(rows)


def api() -> OriginView:
    return next(view for view in origins() if view.origin == API)


def test_patience_past_names_cause_time_and_who_gave_it_back() -> None:
    run = run_view()
    lost = [
        attempt(9, f"{API}/x", "request_timeout", patience_before=5, patience_after=4, ended_at=NOW),
        attempt(8, f"{API}/y", "connection_failed", patience_before=3, patience_after=2, ended_at=NOW - 9 * MINUTE),
    ]
    given = (TopUp(NOW - 5 * MINUTE, "mara", 2, 5),)
    shown = text(*patience_past(lost, given, run, UTC)).splitlines()
    assert shown == [
        "         5→4 timeout 10:41:07",
        "         2→5 topped up by mara 10:36:07",
        "         3→2 conn. failed 10:32:07",
    ]


def test_patience_past_is_that_of_the_newest_run_and_counts_what_is_not_shown() -> None:
    run = run_view()
    old = [attempt(3, f"{API}/x", "request_timeout", patience_before=5, patience_after=4, run_id=run.run_id - 1)]
    assert patience_past(old, (TopUp(run.started_at - 1, "mara", 1, 5),), run, UTC) == []
    many = [
        attempt(
            n, f"{API}/x", "request_timeout", patience_before=9 - n, patience_after=8 - n, ended_at=NOW - n * SECOND
        )
        for n in range(8)
    ]
    assert text(*patience_past(many, (), run, UTC)).endswith("         and 3 before")


def test_top_ups_are_read_from_the_journal_where_they_concern_the_origin() -> None:
    done = ActionView(1, NOW, "mara", "top_up", API, f'{{"{API}": 2}}', f'{{"{API}": 5}}', undone=False, applied=True)
    assert top_up_of(done, API) == TopUp(NOW, "mara", 2, 5)
    assert top_up_of(done, "https://other.example") is None
    for other in (
        replace(done, action="pause"),
        replace(done, applied=False),
        replace(done, error="no"),
        replace(done, before="not JSON"),
        replace(done, after='["a"]'),
        replace(done, after=f'{{"{API}": "passed on"}}'),
    ):
        assert top_up_of(other, API) is None
    assert not top_ups_of(API).by_time


def test_the_delay_is_told_as_a_chain_with_its_reasons_oldest_first() -> None:
    steps = [
        attempt(9, API, "rate_limited", delay_ms_after=4_000, delay_reason="rate_limit", ended_at=NOW),
        attempt(8, API, "rate_limited", delay_ms_after=2_000, delay_reason="rate_limit"),
        attempt(7, API, "file_ingested", delay_ms_after=1_000, delay_reason="default"),
        attempt(6, API, "file_ingested", delay_ms_after=1_000, delay_reason="default"),
    ]
    view = origin(API, delay_ms=4_000, delay_reason="rate_limit")
    shown = text(*delay_past(view, steps, run_view()))
    assert shown == "         1.0s (configured) → 2.0s → 4.0s (slowed by 429)"
    raised = replace(view, delay_ms=5_000, delay_reason="operator")
    assert text(*delay_past(raised, steps, run_view()), width=99) == f"{shown} → 5.0s (set by the operator)"
    assert delay_past(view, [], run_view()) == []
    assert delay_past(view, steps[:1], run_view()) == [], "it stands above already"


def test_a_delay_that_the_operator_lowers_is_shown_at_once() -> None:
    lowered = origin(API, delay_ms=1_000, delay_reason="lowered", next_request_at=NOW + 4_000)
    assert delay_cell(lowered).text == "1.0s▼"
    assert delay_why(lowered) == "lowered by the operator, this wait stays"
    assert next_cell(lowered, NOW).text == "4.0s"


def test_the_turn_follows_from_what_is_due() -> None:
    due = origin(API, robots_expires_at=NOW)
    assert turn_of(due, NOW) == "fetch robots.txt"
    assert turn_of(origin(API), NOW) == "fill the todo list"
    assert turn_of(origin(API, todo=3), NOW) == "fetch"
    assert turn_of(origin(API, in_flight_url=f"{API}/robots.txt"), NOW) == "fetch robots.txt"
    assert turn_of(origin(API, state="FINISHED"), NOW) == ""


def test_the_first_line_says_state_turn_and_what_is_in_flight_or_why_nothing_is() -> None:
    run = run_view()
    assert text(head_line(OriginLine(api(), run), CONTRACT, AT), width=90) == (
        "api.example.org  ⚠ failing  now: fetch  ▶ /v2/items?page=19  6.1s of 1m00s"
    )
    assert "6.1s" not in text(head_line(OriginLine(replace(api(), in_flight_since=0), run), CONTRACT, AT))
    waits = origin(API, todo=3, next_request_at=NOW + 700)
    assert text(head_line(OriginLine(waits, run), None, AT), width=90) == (
        "api.example.org  ◷ waiting  next: wait, fetch  delay 0.7 s of 1.0 s"
    )


def test_a_narrow_first_line_has_patience_and_delay_and_what_comes_next() -> None:
    def shown(**changes: object) -> str:
        view = replace(api(), in_flight_url="", state="WAITING", **changes)
        return text(narrow_head(OriginLine(view, run_view()), CONTRACT, AT), width=78)

    assert shown(next_request_at=NOW + 1_200) == (
        "api.example.org  ⚠ failing ●●○○○ 2/5  delay 4.0s▲  next 1.2s  ▓▓▓▓▓▓▓▓░░░░"
    )
    assert shown(paused=True).endswith("delay 4.0s▲  paused")
    assert text(narrow_head(OriginLine(api(), run_view()), CONTRACT, AT), width=78).endswith("▶ /v2/items?page=19")


def test_why_says_what_cost_patience_and_what_made_the_delay() -> None:
    lost = (attempt(9, f"{API}/x", "request_timeout", patience_before=3, patience_after=2, ended_at=NOW),)
    slowed = attempt(8, f"{API}/y", "rate_limited", delay_reason="rate_limit", delay_ms_after=4_000)
    first = attempt(7, f"{API}/z", "file_ingested", delay_reason="default", delay_ms_after=1_000)
    past = OriginContext(OriginHistory(lost, (slowed, first), ()))
    shown = text(*why_lines(OriginLine(api(), run_view()), past, AT, KeyNames()), width=40).splitlines()
    assert shown[:2] == ["3→2 timeout 10:41:07", "1.0s (configured) → 4.0s (slowed by 429)"]
    none = replace(past, history=OriginHistory((), (), ()))
    assert text(*why_lines(OriginLine(api()), none, AT, KeyNames()), width=40).startswith("delay 4.0s: slowed by 429")


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"next_request_at": NOW + 250}, "next     0.2s  ▓▓▓▓▓▓▓▓▓░░░"),
        ({"next_request_at": NOW + 1_000}, "next     1.0s  ░░░░░░░░░░░░"),
        ({"next_request_at": NOW + 60_000, "delay_ms": 120_000}, "next     1m    ▓▓▓▓▓▓░░░░░░"),
        ({"next_request_at": NOW - 1}, "next     as soon as its turn comes"),
        ({"in_flight_url": f"{API}/x", "in_flight_since": NOW - 30_000}, "now      30.0s ▓▓▓▓▓▓░░░░░░"),
        ({"paused": True}, "next     paused"),
        ({"asleep_until": HELD}, "next     paused"),
        ({"asleep_until": NOW + 7_200_000}, "next     +2h no page is due before"),
        ({"state": "FINISHED"}, "next     none in this run"),
    ],
)
def test_the_politeness_clock_fills_until_the_next_request(changes: dict[str, object], shown: str) -> None:
    assert text(clock_line(origin(API, **changes), NOW, CONTRACT)) == shown


def test_the_contract_says_who_asks_how_often_and_what_the_operator_may_do() -> None:
    view = origin(API, crawl_delay_ms=600_000, operator_delay_ms=150_000)
    shown = text(*contract_lines(CONTRACT, view, AT, KeyNames()), width=160)
    assert "User-Agent  bot-crawler (for https://example.net/why)" in shown
    assert "contact     https://example.net/why" in shown
    assert "concurrency 1 for this origin" in shown
    assert "at least 2m00s (Crawl-delay of robots.txt, which requires 10m00s) after each response" in shown
    assert "robots.txt  " not in shown, "it stands beside the card"
    gone = replace(view, robots_status="unavailable", robots_http_status=404)
    shown_gone = text(*contract_lines(CONTRACT, gone, AT, KeyNames()), width=160)
    assert "robots.txt  as of 10:29:07, fetched again at 10:59:07" in shown_gone
    assert "d: slower (now 2m30s); never faster than 2m00s: robots.txt 10m00s, configured 1.0s" in shown


def test_a_contract_without_a_contact_says_so() -> None:
    shown = text(*contract_lines(Contract("bot"), origin(API, robots_fetched_at=0), AT, KeyNames()), width=160)
    assert "contact     none: add a page or an address to user_agent" in shown
    assert "robots.txt  not fetched yet" in shown


def test_the_reason_stands_in_the_table_without_the_numbers_of_its_columns() -> None:
    def why(**changes: object) -> str:
        view = origin(API, todo=3, next_request_at=NOW + 700, **changes)
        return texts_of(OVERVIEW, OriginLine(view, run_view()))["why"]

    assert why(delay_reason="retry_after") == "Retry-After"
    assert why(delay_reason="crawl_delay") == "Crawl-delay of robots.txt"
    assert why() == "delay 0.7 s of 1.0 s"
    assert why(paused=True) == "paused"
