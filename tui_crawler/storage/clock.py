"""The wall clock, for what the store itself dates."""

from __future__ import annotations

import time


def wall_clock() -> int:
    """Epoch ms."""
    return time.time_ns() // 1_000_000
