"""Whose turn it is to write to a database that several workers share: who waits for it does so in the kernel.

A lock (flock) on an empty file beside the database, which ends with the process that has it. It is a courtesy before
SQLite's own lock and protects nothing: where a turn does not come in time, or where there are no such locks, one writes
without it. And what a writer measures of itself.
"""

import asyncio
import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 1.0
"""So long a turn is waited for: who has it for longer stands still."""


class WriteTurn:
    """The turns of one writer. `came` is called in a thread of its own when a turn has come that was waited for."""

    def __init__(self, database: Path | None, came: Callable[[], None]) -> None:
        """`database` None: nobody else writes, it is always our turn."""
        self._came = came
        self._changed = threading.Condition()
        self._held = self._closing = False
        self._asked_at = 0.0  # monotonic s; 0: not waited for
        self._file = -1  # no child inherits it
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        if database is None:
            return
        self._path = database.with_name(f"{database.name}-turn")
        with contextlib.suppress(OSError):
            self._file = os.open(self._path, flags, 0o600)
            threading.Thread(target=self._live, name=f"turn at {database.name}", daemon=True).start()

    @property
    def patience_s(self) -> float:
        """For how long `take` will go on to refuse, if `came` is not called before; below 0: it does not."""
        return self._asked_at + PATIENCE_S - time.monotonic()

    def take(self, *, wait: bool = False) -> bool:
        """Whether one may write now, or soon where that is waited for. If not, `came` is called later."""
        with self._changed:
            if self._file < 0 or self._held:
                return True
            if not self._asked_at:
                self._held = _flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._held:
                    return True
                self._asked_at = time.monotonic()
                self._changed.notify_all()
            left = self.patience_s
            if wait and left > 0:
                self._changed.wait_for(lambda: self._held, left)
            return wait or left <= 0

    def give(self) -> None:
        """It is somebody else's turn."""
        with self._changed:
            if self._held:
                self._held = False
                _flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Waits for no more turns. The file goes; those who have it open still take turns."""
        if self._file < 0:
            return
        self.give()
        with self._changed, contextlib.suppress(OSError):
            self._closing = True
            self._changed.notify_all()
            self._path.unlink()

    def _live(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked_at or self._closing)
                if self._closing:
                    break
            _flock(self._file, fcntl.LOCK_EX)
            with self._changed:
                self._held, self._asked_at = True, 0.0
                self._changed.notify_all()
            self._came()
        os.close(self._file)


def _flock(file: int, operation: int) -> bool:
    """False: another one has the lock. Where there are no such locks everybody has it."""
    try:
        fcntl.flock(file, operation)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


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
