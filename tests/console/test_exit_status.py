"""The exit status of a console, and that whoever sees one other than 0 can read why."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API, NOW, run_view
from tests.console.support import GONE
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.domain.history.coverage import Coverage, SeedEnd
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.domain.records.view import RunView, TotalsView

RAW = st.sampled_from(["", "disk I/O error\x1b[31m"])
RUNS = st.sampled_from(
    [None, run_view(), run_view(live=False), run_view(live=False, finished_at=NOW, finish_reason="exhausted")]
)


def covered(run: RunView | None, lost: int) -> Coverage:
    """Two seeds, some of them without a document."""
    seeds = [SeedEnd(f"https://{number}.example/", "noindex", 200, "", "noindex\x1b[31m") for number in range(lost)]
    return Coverage(run, seeds=tuple(seeds), seeds_total=2, seeds_lost=lost)


SUMMARIES = st.builds(
    ExitSummary,
    signal_status=st.sampled_from([0, 0, 0, 129, 130, 143]),
    hosted=st.booleans(),
    engine_reason=st.sampled_from(["", *(reason.value for reason in RunReason)]),
    engine_failure=RAW,
    engine_stuck=st.booleans(),
    forced=st.booleans(),
    gave_up=st.sampled_from([(), (API,), tuple(f"{API}:{n}" for n in range(9))]),
    run=RUNS,
    totals=st.sampled_from([None, TotalsView(1, 2, 3, 4, 5, 6, 7_000, 8)]),
    now=st.just(NOW),
    departure=st.sampled_from([None, GONE]),
    trouble=RAW,
    coverage=st.none() | st.builds(covered, RUNS, st.sampled_from([0, 1, 2])),
)


@given(SUMMARIES)
def test_a_status_that_is_not_0_is_explained(summary: ExitSummary) -> None:
    told = "\n".join(summary.lines())
    match summary.exit_status:
        case 1:
            assert summary.hosted, "who only watched has nothing to answer for"
            assert summary.departure is None, "nor who has handed the run on"
            reasons = ("Stopped after errors: ", "The database failed: ", "2 of 2 seeds gave no document")
            assert any(reason in told for reason in reasons)
        case 3:
            assert "The engine failed: " in told
        case status:
            assert status == summary.signal_status
    assert "\x1b" not in told


@given(SUMMARIES)
def test_an_origin_that_gave_up_or_a_lost_row_is_never_status_0_for_who_hosted(summary: ExitSummary) -> None:
    if summary.hosted and summary.departure is None and (summary.gave_up or summary.trouble):
        assert summary.exit_status != 0


@given(SUMMARIES)
def test_a_run_whose_seeds_gave_nothing_is_never_status_0_for_who_hosted(summary: ExitSummary) -> None:
    nothing = summary.coverage is not None and summary.coverage.run == summary.run and summary.coverage.nothing
    if summary.hosted and summary.departure is None and summary.run is not None and nothing:
        assert summary.exit_status != 0
