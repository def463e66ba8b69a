"""What a writer measures of itself: its commits, and how late the event loop lets it begin."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(slots=True)
class WriterLoad:
    """`commits` and their `jobs` since it was opened; the worst since `take` was called last: what a commit took with
    all that it waited for (ms) and held, how late a slice on the event loop came (ms)."""

    commits: int = 0
    jobs: int = 0
    commit_ms: int = 0
    commit_jobs: int = 0
    lag_ms: int = 0

    def committed(self, jobs: int, took_s: float) -> None:
        """One more commit, of so many jobs."""
        self.commits += 1
        self.jobs += jobs
        self.commit_ms = max(self.commit_ms, round(took_s * 1000))
        self.commit_jobs = max(self.commit_jobs, jobs)

    def came(self, planned: asyncio.Handle | None, now: float) -> None:
        """A slice begins at `now` (s of the loop): one that was planned for a time may be late."""
        if isinstance(planned, asyncio.TimerHandle):
            self.lag_ms = max(self.lag_ms, round((now - planned.when()) * 1000))

    def take(self) -> tuple[int, int, int]:
        """The worst lag, commit and size of one since the last call."""
        worst = self.lag_ms, self.commit_ms, self.commit_jobs
        self.lag_ms = self.commit_ms = self.commit_jobs = 0
        return worst
