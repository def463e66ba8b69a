"""Both clocks of the console, given from outside so that a test can stop them."""

import time
from datetime import UTC, datetime, tzinfo
from typing import Protocol

from tui_crawler.text.cells import Present


class ConsoleClock(Protocol):
    """Time as the screen sees it. Countdowns use `mono_ms`, dates and what is stored use `wall_ms`."""

    @property
    def zone(self) -> tzinfo:
        """The time zone in which times of day are shown."""

    def wall_ms(self) -> int:
        """Epoch milliseconds."""

    def mono_ms(self) -> int:
        """Monotonic milliseconds."""

    def busy_ms(self) -> int:
        """How long the thread that asks has been at work since it began, in ms."""


def present(clock: ConsoleClock) -> Present:
    """Return the time and the zone that cells are made for now."""
    return Present(clock.wall_ms(), clock.zone)


class MachineClock:
    """The clocks of this machine, times of day in its local zone."""

    def __init__(self) -> None:
        self.zone: tzinfo = datetime.now().astimezone().tzinfo or UTC

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def mono_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def busy_ms(self) -> int:
        """Processor time of this thread, in ms."""
        return time.thread_time_ns() // 1_000_000
