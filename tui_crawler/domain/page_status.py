"""Where a page stands. Few lines of their own: what reads the first rows of a crawl needs no more of a page."""

from __future__ import annotations

from enum import IntEnum


class PageStatus(IntEnum):
    """Where a page stands in its queue (B). Done is READY with no attempt remaining."""

    READY = 0
    CLAIMED = 2
    SKIPPED = 3
    STASHED = 4
