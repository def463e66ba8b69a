"""The time of an event loop that stands still until a test lets some of it pass: a deadline is met when the test says
so, however late a busy machine is."""

from __future__ import annotations

import asyncio

from tui_crawler.domain.moment import Moment

ROUNDS = 20
"""So many rounds of the loop, and everybody has done what follows from what has come."""


class HeldTime:
    """Holds the time of the running loop. Sockets and threads wake it as ever; timers only by `let_pass`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._now_s = self._loop.time()
        self._loop.time = lambda: self._now_s

    def now(self) -> Moment:
        """Both clocks, as the time is held."""
        mono_ms = round(self._now_s * 1000)
        return Moment(mono_ms, 1_000_000 + mono_ms)

    async def let_pass(self, seconds: float) -> None:
        """Once everybody has done what there is to do."""
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        self._now_s += seconds

    def let_go(self) -> None:
        """Time passes by itself again."""
        del self._loop.time
