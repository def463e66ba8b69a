"""What the writer knows of the database without asking it: the ids of URLs, how far known pages are known, what it
counts in the present minute, and its last heartbeat.

All of it only saves questions. A URL keeps its id, and a page that is known stays known, whoever else writes; how far
it is known may be out of date, which at worst asks the database once more. What was rolled back, and what operators do,
makes it forget.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tui_crawler.domain.history.pulse import PulseCount
from tui_crawler.domain.records.page import KnownPage

MOST = 200_000
"""How many URLs, and how many pages, are kept; about 100 bytes each."""


def standing_of(page: Any) -> KnownPage:
    """How far a page is known, of whatever record was found or read."""
    return KnownPage(page.nice, page.depth, page.redirect_hops, bool(page.seed), page.lastmod, page.external)


class Memory:
    """Bounded: where it is full it begins anew. What a transaction adds counts when it is committed (`keep`)."""

    __slots__ = ("_added", "_pages", "_size", "_standings", "counts", "signed_at", "url_ids")

    def __init__(self) -> None:
        self.signed_at = 0  # epoch ms: the last sign of life
        self.url_ids: dict[int, int] = {}
        self.counts: dict[tuple[int, int, int, int], PulseCount] = {}  # rows of `pulse`, as this transaction has them
        self._pages: dict[int, dict[int, KnownPage]] = {}
        self._standings: dict[KnownPage, KnownPage] = {}
        self._added: list[tuple[int, dict[int, KnownPage]]] = []
        self._size = 0

    def pages_of(self, job_id: int) -> Mapping[int, KnownPage]:
        """The known pages of a job by the hash of their URL."""
        return self._pages.setdefault(job_id, {})

    def learn(self, job_id: int, pages: Iterable[Any]) -> dict[int, KnownPage]:
        """These pages are known once the transaction is committed; answers how far, by the hash of their URL."""
        standings = self._standings
        learnt = {page.url_hash: standings.setdefault(one, one) for page in pages for one in (standing_of(page),)}
        self._added.append((job_id, learnt))
        return learnt

    def keep(self) -> None:
        """What was learnt since the last call is committed. Forgets where too much is known."""
        for job_id, learnt in self._added:
            known = self._pages.setdefault(job_id, {})
            known.update(learnt)
            self._size += len(learnt)
        self._added.clear()
        if self._size > MOST:
            self.forget_pages()
        if len(self.url_ids) > MOST:
            self.url_ids.clear()

    def forget_pages(self) -> None:
        """Knows no page any more."""
        for known in self._pages.values():
            known.clear()  # others may hold it
        self._standings.clear()
        self._added.clear()
        self._size = 0

    def forget(self) -> None:
        """Knows nothing any more."""
        self.forget_pages()
        self.url_ids.clear()
        self.counts.clear()
        self.signed_at = 0
