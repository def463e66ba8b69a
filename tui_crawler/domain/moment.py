"""A point in time as the core sees it: both clocks, given from outside."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

HELD = 2**62
"""`asleep_until` of an origin that has nothing but pages of paused jobs: until somebody says so."""

_MS = 1_000_000  # ns
_CLOSE_NS = _MS // 2
_LOOKS = 5


class Moment(NamedTuple):
    """`mono_ms` (monotonic milliseconds) measures gaps; `wall_ms` (epoch milliseconds, UTC) dates records."""

    mono_ms: int
    wall_ms: int

    def later(self, ms: int) -> Moment:
        """This moment `ms` milliseconds later on both clocks."""
        return Moment(self.mono_ms + ms, self.wall_ms + ms)


def local_time(epoch_ms: int, zone: tzinfo) -> datetime | None:
    """Return date and time of epoch milliseconds in `zone`; None outside of the years 1 to 9999."""
    try:
        return (EPOCH + timedelta(milliseconds=epoch_ms)).astimezone(zone)
    except OverflowError:
        return None


def read_moment(mono_ns: Callable[[], int], wall_ns: Callable[[], int]) -> Moment:
    """The present by two clocks (ns each), read so that they mean the same moment.

    A process may be put aside between two readings. Then the wall clock is late against the monotonic one, a gap
    carried over by wall time is shortened by that much, and a response is dated too late (docs/reliability.md, Clocks).
    So the wall clock is read between two readings of the other one, again until those lie close together; of five
    the closest counts.
    """
    closest, mono, wall = _look(mono_ns, wall_ns)
    for _ in range(_LOOKS - 1):
        if closest < _CLOSE_NS:
            break
        closest, mono, wall = min((closest, mono, wall), _look(mono_ns, wall_ns))
    return Moment(mono // _MS, wall // _MS)


def _look(mono_ns: Callable[[], int], wall_ns: Callable[[], int]) -> tuple[int, int, int]:
    """Return how long the reading took, and both clocks (ns)."""
    before, wall, after = mono_ns(), wall_ns(), mono_ns()
    return after - before, before, wall
