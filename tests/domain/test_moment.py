"""Both clocks of one moment, though the process may be put aside between reading one and the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.moment import Moment, read_moment

WALL_0 = 1_700_000_000_000_000_000
MS = 1_000_000


class Machine:
    """Two clocks that run alike. After each reading the process is put aside for the next of `lapses` (ns)."""

    def __init__(self, lapses):
        self.time = 5_000 * MS
        self.lapses = list(lapses)

    def _read(self, start):
        found = start + self.time
        self.time += self.lapses.pop(0) if self.lapses else 0
        return found

    def mono(self):
        return self._read(0)

    def wall(self):
        return self._read(WALL_0)


def skew_ms(moment):
    """How far the wall time is from what the monotonic one says (ms)."""
    return moment.wall_ms - WALL_0 // MS - moment.mono_ms


def test_a_process_put_aside_between_the_clocks_reads_again():
    machine = Machine([17 * MS, 0, 0, 0])
    assert skew_ms(read_moment(machine.mono, machine.wall)) in {-1, 0, 1}


@given(st.lists(st.integers(0, 50 * MS), max_size=40))
def test_the_clocks_agree_as_closely_as_the_shortest_reading_allowed(lapses):
    machine = Machine(lapses)
    moment = read_moment(machine.mono, machine.wall)
    # a reading is three looks: monotonic, wall, monotonic; its lapses are those behind the first two
    readings = [sum(lapses[at : at + 2]) for at in range(0, 3 * 5, 3)]
    best = min(readings)
    assert abs(skew_ms(moment)) <= best // MS + 1


@given(st.lists(st.integers(0, 50 * MS), max_size=40))
def test_the_moment_lies_between_call_and_answer(lapses):
    machine = Machine(lapses)
    before = machine.time
    moment = read_moment(machine.mono, machine.wall)
    assert before // MS <= moment.mono_ms <= machine.time // MS
    assert WALL_0 // MS + before // MS <= moment.wall_ms <= WALL_0 // MS + machine.time // MS


def test_a_clock_that_was_set_back_is_reported_as_it_is():
    wall = iter([WALL_0, WALL_0 - 3_600_000 * MS])
    mono = iter(range(0, 10_000, 10))
    first = read_moment(lambda: next(mono), lambda: next(wall))
    second = read_moment(lambda: next(mono), lambda: next(wall))
    assert first == Moment(0, WALL_0 // MS)
    assert second.wall_ms - first.wall_ms == -3_600_000
