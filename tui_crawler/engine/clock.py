"""The real clock: monotonic time of the running loop, wall time of the machine."""

from __future__ import annotations

import asyncio
import time

from tui_crawler.domain.moment import Moment, read_moment


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
