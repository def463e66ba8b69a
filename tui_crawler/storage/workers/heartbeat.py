"""The lease of a session as its own process sees it: a thread renews it, a deadline says whether it still holds. The
thread beats however busy the event loop or the terminal is. The deadline goes by a monotonic clock and counts from
before a heartbeat was sent: it has passed before another process may take what is held."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.db.clock import mono_clock

_MARGIN = 10
"""One of so many parts of a lease is left when it counts as over: clocks differ, and a request is on its way."""
MOST_MS = 2_000
"""A worker beats at least so often: others see what it does."""


def lease_clock() -> int:
    """Monotonic ms that go on while the machine is suspended, where the system has such a clock."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return mono_clock() if boot is None else time.clock_gettime_ns(boot) // 1_000_000


class Lease:
    """How long the lease of this process holds for sure. `clock` gives monotonic ms."""

    def __init__(self, lease_ms: int, clock: Callable[[], int] = lease_clock) -> None:
        self._length = lease_ms - lease_ms // _MARGIN
        self._clock = clock
        self._until: int | None = None

    async def renewed_by(self, beat: Awaitable[bool]) -> bool:
        """Waits for a heartbeat; the lease counts from now. It is over where it was another's by then."""
        sent = self._clock()
        renewed = await beat
        self._until = sent + self._length if renewed else sent
        return renewed

    def holds(self) -> bool:
        """Whether requests may be made under it now."""
        return self._until is None or self._clock() < self._until


class Heartbeat:
    """A thread that calls `beat` now and then, until it is ended."""

    def __init__(self, beat: Callable[[], Coroutine[Any, Any, bool]], every_ms: int) -> None:
        self._beat = beat
        self._every_s = every_ms / 1000
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="heartbeat", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """No more heartbeats. Who closes the database then frees one that waits for it."""
        self._over.set()

    def _live(self) -> None:
        while not self._over.wait(self._every_s):
            with contextlib.suppress(StorageFailure):  # the deadline passes, and the next one may come through
                asyncio.run(self._beat())
