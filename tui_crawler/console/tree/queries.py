"""What the tree of a site reads: what is right below a prefix, its counts in pieces, traps, failed pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import ONCE_MS, RARE_MS, reads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.domain.history.site_tree import BranchList, BranchTally
    from tui_crawler.domain.history.trap import TrapSuspicion

MOST_BRANCHES, MOST_PAGES = 500, 100
"""So many branches and so many own pages of a branch are rows."""
MOST_RETRIED = 10_000
"""So many failed pages of a branch are put back at once: each is named."""


class TreeReports(Protocol):
    """The branches of a site."""

    def branch_list(self, prefix: str, branches: int, pages: int) -> BranchList:
        """The first branches right below a prefix, and the first of its own pages with their counts."""

    def branch_piece(self, prefix: str, after: str = "") -> BranchTally:
        """Counts of the branches below a prefix in a piece of its URLs, after one of them; it takes a bounded time."""

    def branch_traps(self, prefixes: tuple[str, ...]) -> Mapping[str, TrapSuspicion]:
        """Which of these branches look like a trap; a bounded number of attempts of each is judged."""

    def branch_failures(self, origin: str, prefix: str, limit: int) -> tuple[str, ...]:
        """The URLs of the first failed pages of a branch; goes through the failed pages of the origin."""


level_of = reads(TreeReports.branch_list, RARE_MS)
piece_of = reads(TreeReports.branch_piece, ONCE_MS)
traps_of = reads(TreeReports.branch_traps, ONCE_MS)
failures_of = reads(TreeReports.branch_failures, ONCE_MS)
