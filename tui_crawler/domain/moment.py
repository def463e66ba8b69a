"""A point in time as the core sees it: both clocks, given from outside."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """`mono_ms` (monotonic milliseconds) measures gaps; `wall_ms` (epoch milliseconds, UTC) dates records."""

    mono_ms: int
    wall_ms: int

    def later(self, ms: int) -> Moment:
        """This moment `ms` milliseconds later on both clocks."""
        return Moment(self.mono_ms + ms, self.wall_ms + ms)
