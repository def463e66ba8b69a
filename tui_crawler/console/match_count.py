"""How many pages pass the filter of view 3: counted a piece with each reading, and anew while the crawl goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.url_parts import PageTallyOf
from tui_crawler.domain.page_filter import PageFilter, PageTally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.console.refresh import Part

RECOUNT_MS = 10_000
"""So long a number holds at least while pages come in."""
_SHARE = 10
"""It holds so many times as long as it took to count: counting a long list takes a small part of the time."""


@dataclass(frozen=True, slots=True)
class Matches:
    """`number` pages pass among `looked_at` of `known`; `whole`: these are all."""

    number: int
    looked_at: int
    known: int
    whole: bool


class MatchCount:
    """The number of pages that pass a filter. Where it is counted anew, the one before holds until that is done."""

    def __init__(self) -> None:
        """Nothing is to be counted."""
        self._narrowing = PageFilter()
        self._part: PageTallyOf | None = None
        self._round = 0
        self._matched = self._looked_at = 0
        self._began_at = self._ended_at = 0
        self.found: Matches | None = None
        """What is known of it; None without a filter, and until the first piece was counted."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The piece that is to be counted next."""
        return () if self._part is None else (self._part,)

    def look(self, narrowing: PageFilter) -> None:
        """Counts for another filter; the list of all pages is counted already."""
        self.found = None
        self._begin(narrowing)

    def take(self, read: Mapping[Part, object], now: int) -> bool:
        """Takes a piece that was counted; whether another one is to be counted. `now` is monotonic ms."""
        part, tally = self._part, None if self._part is None else read.get(self._part)
        if part is None or not isinstance(tally, PageTally):
            return False
        if not self._looked_at:
            self._began_at = now
        self._matched += tally.matched
        self._looked_at += tally.looked_at
        if tally.ended:
            self._part, self._ended_at = None, now
        else:
            self._part = PageTallyOf(part.narrowing, tally.last_id, part.round)
        if tally.ended or self.found is None or not self.found.whole:
            self.found = Matches(self._matched, self._looked_at, tally.known, tally.ended)
        return not tally.ended

    def go_on(self, now: int) -> bool:
        """Begins anew where the number is old; to be called while the crawl goes on. Whether it does."""
        took = self._ended_at - self._began_at
        if self.found is None or self._part is not None or now - self._ended_at < max(RECOUNT_MS, _SHARE * took):
            return False
        self._begin(self._narrowing)
        return True

    def _begin(self, narrowing: PageFilter) -> None:
        self._round += 1
        self._matched = self._looked_at = 0
        self._narrowing = narrowing
        self._part = PageTallyOf(narrowing, 0, self._round) if narrowing.terms else None
