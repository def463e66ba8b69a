"""Whether another program keeps the database locked, and how that is said. Pure but for what the watch remembers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.format import clock

if TYPE_CHECKING:
    from datetime import tzinfo

LONG_MS = 700
"""A lock held for so long, without anything committed meanwhile, is told; the writer of a crawl holds it for less."""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock of another program: its process (0: unknown) and since when it is known (epoch ms)."""

    holder: int
    since: int


class LockWatch:
    """Tells a lock that lasts from those that every commit takes."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._seen: tuple[int, int] = (0, 0)
        self._since = self._since_mono = 0

    def look(self, holder: int, version: int, wall: int, mono: int) -> Lock | None:
        """The lock that lasts, if one does: `holder` is who has it just now (0: nobody), `version` another number
        after every commit, `wall` and `mono` are the clocks (ms)."""
        if (holder, version) != self._seen:
            self._seen, self._since, self._since_mono = (holder, version), wall, mono
        return Lock(holder, self._since) if holder and mono - self._since_mono >= LONG_MS else None


def lock_words(lock: Lock, zone: tzinfo, *, crawling: bool) -> str:
    """Whose lock it is, and what it means: what follows "database locked"."""
    who = f" (process {lock.holder})" if lock.holder else ""
    waits = "the crawl waits" if crawling else "what you ask for waits"
    return f"by another program{who} since {clock(lock.since, zone)}; {waits}"
