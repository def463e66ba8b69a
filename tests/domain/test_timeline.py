"""The politeness of an origin over time: it says what the audit says, and nothing of what lies outside of its span."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.history.audit import OriginAudit, SentRequest, audit, judged
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import MARKS, Lane, LaneEvent, LaneEvents, LanePhase, Timeline, lane_events
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins, StopOrigins, to_json
from tui_crawler.domain.records.exit_code import ExitCode, Group
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.view import RunView

A, B = "https://a.example.org", "https://b.example.org"


QUIET = LaneEvents()


def sent(attempt: int, at: int, end: int, **more: object) -> SentRequest:
    made = SentRequest(attempt, A, A, f"{A}/{attempt}", at, end, False, 1_000, patience_after=5, run_id=1, session_id=1)
    return replace(made, **more)  # type: ignore[arg-type]


def lane(
    log: list[SentRequest], span: TimeSpan, events: LaneEvents = QUIET, now: int = 10**9, origin: str = A
) -> Timeline:
    made = Lane(origin, span, events)
    for gap in judged(log):
        if gap.request.origin == origin:
            made.add(gap)
    return made.timeline(now)


def phases(timeline: Timeline) -> list[str]:
    return [cell.phase.name for cell in timeline.cells]


@st.composite
def logs(draw: st.DrawFn) -> list[SentRequest]:
    """Requests to two origins in the order of sending: kept gaps and broken ones, flukes, hops of robots.txt."""
    log: list[SentRequest] = []
    at = attempt = 0
    for step in draw(
        st.lists(st.tuples(st.integers(-200, 3_000), st.integers(0, 400), st.integers(0, 9)), max_size=40)
    ):
        wait, took, what = step
        at = max(at + wait, log[-1].sent_at if log else 0)
        attempt += what != 9 or not log
        of, origin = (B, A) if what == 0 else (A, B) if what == 1 else (A, A)
        code = ExitCode.rate_limited if what == 2 else ExitCode.request_timeout if what == 3 else ExitCode.file_ingested
        delay = 1_000 * (1 + attempt % 3)
        log.append(
            SentRequest(
                attempt, of, origin, f"{origin}/{attempt}", at, at + took, what == 9 and bool(log), delay,
                code.value, "default", 5 - attempt % 3, 1 + attempt // 20, 1 + attempt // 7,
            )
        )  # fmt: skip
        at += took
    return log


@given(logs(), st.integers(-2_000, 60_000), st.integers(1, 80_000), st.integers(1, 60))
def test_it_says_of_each_gap_what_the_audit_says(log: list[SentRequest], since: int, length: int, cells: int):
    span = TimeSpan(since, since + length, cells)
    timeline = lane(log, span)
    within = [gap for gap in judged(log) if gap.request.origin == A and span.since <= gap.request.sent_at < span.until]
    assert timeline.span == span
    assert len(timeline.cells) == cells
    proof = OriginAudit(A)
    for gap in within:
        proof.add(gap)
    assert timeline.audit == proof
    assert sum(cell.requests for cell in timeline.cells) == timeline.audit.requests == len(within)
    for number, cell in enumerate(timeline.cells):
        own = [gap for gap in within if span.cell(gap.request.sent_at) == number]
        assert cell.requests == len(own)
        assert cell.broken == any(gap.fault for gap in own)
        judged_here = [gap for gap in own if gap.kept_ms is not None and not gap.request.fluke_retry]
        spare = [gap.kept_ms - (gap.promised_ms or 0) for gap in judged_here]
        if cell.kept_ms is None:
            assert not judged_here
        else:
            assert (cell.kept_ms, cell.promised_ms) in {(gap.kept_ms, gap.promised_ms) for gap in judged_here}
            assert cell.kept_ms - (cell.promised_ms or 0) == min(spare)
    broken = [mark for mark in timeline.marks if mark.event is LaneEvent.broken_promise]
    assert len(broken) == timeline.audit.violations + timeline.audit.overlaps
    assert all(span.since <= mark.at < span.until for mark in timeline.marks)
    assert timeline.kept == timeline.audit.requests - len(broken)


@given(logs(), st.integers(1, 60))
def test_over_the_whole_log_it_is_the_audit(log: list[SentRequest], cells: int):
    for one in audit(log):
        assert lane(log, TimeSpan(0, 200_000, cells), origin=one.origin).audit == one


def test_a_day_at_a_server_that_asks_for_more_room():
    log = [
        sent(1, 0, 100),
        sent(2, 1_100, 1_200, exit_code=ExitCode.rate_limited.value, delay_ms_after=4_000, delay_reason="retry_after"),
        sent(3, 5_200, 5_300, exit_code=ExitCode.request_timeout.value, patience_after=4),
        sent(4, 9_300, 9_400, patience_after=4, session_id=2),
        sent(5, 10_400, 10_500, patience_after=5, session_id=2, run_id=2),
    ]
    timeline = lane(log, TimeSpan(0, 12_000, 12), LaneEvents(((6_500, 9_000),), ((11_600, "exhausted"),)), now=12_000)
    cells = timeline.cells
    assert [cell.requests for cell in cells] == [1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0]
    assert [cells[at].ended for at in (0, 1, 5)] == [Group.ok, Group.server, Group.network]
    assert [cell.delay_ms for cell in cells] == [1_000, *[4_000] * 5, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000]
    assert (cells[2].delay_reason, cells[5].kept_ms, cells[5].promised_ms) == ("retry_after", 4_000, 4_000)
    assert [cell.patience for cell in cells] == [5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 5]
    waits = ["in_delay"] * 3
    assert phases(timeline) == [
        "asking",
        "asking",
        *waits,
        "asking",
        "held",
        "held",
        "held",
        "asking",
        "asking",
        "over",
    ]
    assert [(mark.at, mark.event.value, mark.before, mark.after, mark.reason) for mark in timeline.marks] == [
        (1_200, "slower", 1_000, 4_000, "retry_after"),
        (5_300, "impatient", 5, 4, "request_timeout"),
        (6_500, "pause_begun", 0, 0, ""),
        (9_000, "pause_over", 0, 0, ""),
        (9_300, "takeover", 0, 0, ""),
        (10_400, "next_run", 1, 2, ""),
        (11_600, "origin_over", 0, 0, "exhausted"),
    ]
    assert (timeline.kept, timeline.audit.min_gap_ms, timeline.longest_ms) == (5, 1_000, 4_000)


def test_the_present_ends_it():
    timeline = lane([sent(1, 0, 100)], TimeSpan(0, 6_000, 6), now=3_000)
    assert phases(timeline) == ["asking", "in_delay", "in_turn", "not_known", "not_known", "not_known"]
    rested = lane([sent(1, 0, 100)], TimeSpan(0, 6_000, 6), LaneEvents((), ((2_000, ""),)), now=6_000)
    assert phases(rested)[2:] == ["at_rest"] * 4


def test_marks_beyond_the_first_are_counted():
    log = [sent(number, number * 200, number * 200 + 100) for number in range(MARKS + 12)]
    timeline = lane(log, TimeSpan(0, 10**6, 10))
    assert (len(timeline.marks), timeline.marks_left_out) == (MARKS, 11)
    assert timeline.cells[0].broken


def test_for_programs_it_is_a_list_for_each_value():
    document = lane([sent(1, 0, 100), sent(2, 600, 700)], TimeSpan(0, 2_000, 2)).document()
    assert document["requests"] == [2, 0]
    assert document["state"] == ["asking", "in_delay"]
    assert document["marks"] == [
        {"at": 600, "event": LaneEvent.broken_promise, "before": 1_000, "after": 500, "reason": ""}
    ]


def action(number: int, at: int, asked: object, **more: object) -> ActionView:
    names = {PauseOrigins: "pause", ResumeOrigins: "resume", StopOrigins: "stop"}
    made = ActionView(
        number, at, "you", names[type(asked)], "", "", "", False, True, command=to_json(asked), applied_at=at
    )  # type: ignore[arg-type]
    return replace(made, **more)  # type: ignore[arg-type]


def test_pauses_come_from_the_journal_and_ends_from_the_log():
    actions = [
        action(9, 900, PauseOrigins()),
        action(1, 100, PauseOrigins((A,))),
        action(2, 150, PauseOrigins((A,))),
        action(3, 200, ResumeOrigins((B,))),
        action(4, 300, ResumeOrigins()),
        action(5, 400, PauseOrigins((A,)), error="not an origin"),
        action(6, 500, PauseOrigins((A,)), applied=False, applied_at=0),
        action(7, 600, StopOrigins((A,))),
        action(8, 700, PauseOrigins((A,)), command="{"),
    ]
    activity = [
        ActivityView(1, 50, "origin_finished", A, 1, "exhausted"),
        ActivityView(2, 60, "origin_finished", B, 1, "patience"),
        ActivityView(3, 70, "origin_joined", A, 1, "seed"),
    ]
    runs = [
        RunView(1, 1, 80, "exhausted", 1, "", "", live=False),
        RunView(2, 81, 0, "", 1, "", "", live=True, heartbeat_at=95),
        RunView(2, 81, 0, "", 1, "", "", live=False, heartbeat_at=97),
    ]
    assert lane_events(A, actions, activity, runs) == LaneEvents(
        ((100, 300), (900, 0)), ((50, "exhausted"), (80, ""), (97, ""))
    )


@pytest.mark.parametrize("code", [ExitCode.file_ingested, 777])
def test_an_exit_code_of_a_newer_program_is_no_failure(code: int):
    log = [sent(1, 0, 10), sent(2, 1_100, 1_200, exit_code=int(code), patience_after=4)]
    timeline = lane(log, TimeSpan(0, 2_000, 1))
    assert timeline.cells[0].ended is Group.ok
    assert timeline.marks[-1].event is LaneEvent.impatient
    assert LanePhase.asking in {cell.phase for cell in timeline.cells}
