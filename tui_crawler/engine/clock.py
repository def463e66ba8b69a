"""The clocks of an engine: that of the machine, and one of an event loop whose time passes only when nothing is left to
do, hours of crawling in a second.

Work done by threads (a store's writer, `to_thread`) is waited for in real time; virtual time stands still meanwhile.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any

from tui_crawler.domain.moment import Moment, read_moment

WALL_0 = 1_800_000_000_000
"""Epoch ms at which the loop's clock stands at 0, unless it is skewed."""


class SystemClock:
    """Both clocks of the machine. The monotonic one is the loop's, so that waiting and measuring agree."""

    def now(self) -> Moment:
        """The present moment. Must be called while the loop runs."""
        loop = asyncio.get_running_loop()
        return read_moment(lambda: int(loop.time() * 1e9), time.time_ns)

    async def wait(self, event: asyncio.Event, timeout_ms: int | None) -> bool:
        if event.is_set():
            return True
        try:
            async with asyncio.timeout(None if timeout_ms is None else max(0, timeout_ms) / 1000):
                await event.wait()
        except TimeoutError:
            return False
        return True


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop of virtual time."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self._watched: list[Callable[[], int]] = []
        self._in_threads = 0
        selector = _JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now_s

    def watch(self, count: Callable[[], int]) -> None:
        """Has virtual time stand still while `count` answers that real work is under way."""
        self._watched.append(count)

    def outstanding(self) -> int:
        return self._in_threads + sum(count() for count in self._watched)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]  # any function
        """As ever; virtual time stands still meanwhile."""
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(lambda _: setattr(self, "_in_threads", self._in_threads - 1))
        return future


class VirtualClock(SystemClock):
    """The engine's clock on a virtual loop. `skew_ms` moves the wall clock, as a person or NTP does."""

    def __init__(self, skew_ms: int = 0) -> None:
        self.skew_ms = skew_ms

    def now(self) -> Moment:
        """The present moment. Must be called while the loop runs."""
        mono = round(asyncio.get_running_loop().time() * 1000)
        return Moment(mono, WALL_0 + mono + self.skew_ms)


class _JumpingSelector(selectors.DefaultSelector):
    """Polls; when there is nothing, it lets the loop's time jump to the next timer."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.loop.outstanding() > 0:
            return super().select(0.5)
        if timeout is None:
            found = super().select(60)  # the threads of a busy machine may be late
            if not found:
                raise RuntimeError("virtual time: nothing left to wait for (a deadlock)")
            return found
        self.loop.now_s += timeout
        return []


def run_virtual(main: Coroutine[Any, Any, Any], loop: VirtualLoop | None = None) -> Any:
    """Run a coroutine in virtual time. A loop may be given to go on with its clock."""
    mine = loop or VirtualLoop()
    asyncio.set_event_loop(None)
    try:
        return mine.run_until_complete(main)
    finally:
        if loop is None:
            mine.run_until_complete(mine.shutdown_default_executor())
            mine.close()
