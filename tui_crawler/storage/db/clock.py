"""The clocks of the store: the wall clock for what it dates, a monotonic one for how long a run works."""

import time


def wall_clock() -> int:
    """Epoch ms."""
    return time.time_ns() // 1_000_000


def mono_clock() -> int:
    """Ms from an unknown moment; setting the wall clock does not move it, and on Linux it stands while the machine is
    suspended."""
    return time.monotonic_ns() // 1_000_000
