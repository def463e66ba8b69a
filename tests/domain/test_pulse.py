"""Counting by a logarithmic scale: sums add up in any order, percentiles are near, cells survive being stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.history.pulse import (
    HOUR_MS,
    MOST_STEPS,
    SPANS_MS,
    LatencyPhase,
    PulseCount,
    PulseOf,
    ms_of,
    packed,
    pulse_span,
    step_of,
    total,
    unpacked,
)
from tui_crawler.domain.records.exit_code import ExitCode

MS = st.integers(0, 3_600_000)
LISTS = st.lists(st.tuples(MS, st.sampled_from([None, *ExitCode])), max_size=60)


def counted(attempts: list[tuple[int, ExitCode | None]]) -> PulseCount:
    count = PulseCount()
    for ms, code in attempts:
        count.add(ms, page=True, code=code, size=10)
    return count


@given(MS)
def test_a_step_stands_for_its_ms_to_an_eighth(ms):
    assert abs(ms_of(step_of(ms)) - ms) <= ms / 8


@given(MS, MS)
def test_more_is_never_a_lower_step(one, other):
    assert (step_of(one) <= step_of(other)) or one > other


@given(LISTS, LISTS)
def test_counts_add_up(one, other):
    assert total([counted(one), None, counted(other)]) == counted([*one, *other])


@given(LISTS)
def test_cells_survive(attempts):
    cells = counted(attempts).cells
    assert unpacked(packed(cells)) == cells


@given(st.lists(MS, min_size=1, max_size=200), st.floats(0.01, 1))
def test_a_percentile_is_near(values, share):
    count = counted([(ms, None) for ms in values])
    exact = sorted(values)[max(0, -int(-share * len(values) // 1) - 1)]
    near = count.percentile(share)
    assert near is not None
    assert step_of(int(near)) <= step_of(max(values))
    assert any(step_of(ms) == step_of(exact) or abs(near - ms) <= ms / 8 + 1 for ms in values)


def test_nothing_measured_has_no_percentile():
    assert PulseCount().percentile(0.5) is None
    assert counted([(5, None)]).percentile(0.5, LatencyPhase.dns) is None


def test_failures_by_code_and_group():
    count = counted([(5, ExitCode.request_timeout)] * 3 + [(5, ExitCode.file_not_found), (5, None)])
    assert (count.attempts, count.pages, count.failed, count.bytes) == (5, 5, 4, 50)
    assert list(count.codes().items()) == [(101, 3), (44, 1)]
    assert count.by_group() == {"network": 3, "client": 1}
    assert counted([(5, ExitCode.database_error)]).codes() == {-3: 1}


def test_the_phases_of_a_request():
    count = PulseCount()
    count.add_phases(1_000, 1_100, 1_150, 10, 20, 30)
    assert [count.percentile(0.5, phase) for phase in LatencyPhase] == [
        None,
        ms_of(step_of(10)),
        ms_of(step_of(50)),
        ms_of(step_of(40)),
        ms_of(step_of(50)),
    ]
    kept = PulseCount()
    kept.add_phases(1_000, None, 1_150, None, None, None)
    assert kept.cells == {}


@pytest.mark.parametrize("span", SPANS_MS)
def test_every_span_has_steps(span):
    step = pulse_span(PulseOf(), span, 0).cell_ms
    assert span / MOST_STEPS <= step <= max(span / 24, 1_000)
    assert step % HOUR_MS == 0 or span < 48 * HOUR_MS
