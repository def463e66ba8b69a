"""A page: a URL known to a job. Crawl candidate, queue row and result are one row (docs/behaviour.md)."""

from __future__ import annotations

from typing import NamedTuple

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, ExitCode
from tui_crawler.domain.records.status import PageStatus

EXTERNAL = 1
"""`external` of a URL that leaves the crawl: it is only checked."""
EMBEDDED = 2
"""`external` of an image, style, script or media file of a page on a crawled origin: it is only checked, too."""


@dataclass(frozen=True, slots=True)
class TodoPage:
    """A page as the crawl loop holds it in a todo list.

    `last_contentful_at` is epoch ms, 0 when the page never gave content. `body_kept` says whether the stored
    body still exists; without it a recrawl is unconditional. `external`: EXTERNAL or EMBEDDED, it is checked only.
    `ignores` is the canonical URL that it named and that leads nowhere; `kept`: what it gave then is read again.
    """

    page_id: int
    job_id: int
    url: str
    depth: int = 0
    nice: int = 0
    seed: bool = False
    attempts: int = 0
    attempts_remaining: int = 3
    redirect_hops: int = 0
    item_pattern: str = ""
    force: bool = False
    sitemap: bool = False
    etag: str = ""
    last_modified: str = ""
    last_contentful_at: int = 0
    body_kept: bool = False
    external: int = 0
    ignores: str = ""
    kept: bool = False

    @property
    def begins(self) -> bool:
        """Return whether a crawl begins here: a seed, or where one redirects, which costs no depth."""
        return self.seed or (self.redirect_hops > 0 and not self.depth and not self.sitemap)

    @property
    def is_check(self) -> bool:
        """Return whether it is only checked: what is external is, but for a sitemap, which is read."""
        return bool(self.external) and not self.sitemap


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pages for a fill, in order. `next_due_at` (epoch ms) is set only when there is no page now but one later.

    `held`: there are pages, but of jobs that are paused; set only when there is no other page now. `has_sitemap`: a
    page of the origin is a sitemap; looked up only when there is none to crawl, now or later.
    """

    pages: tuple[TodoPage, ...]
    next_due_at: int | None = None
    held: bool = False
    has_sitemap: bool = False

    @property
    def exhausted(self) -> bool:
        """Return whether there is no page to crawl, now or later."""
        return not self.pages and self.next_due_at is None and not self.held


RETRIED_AT_ONCE = 2_000
"""So many pages that are put back at once come next at most, over all origins: the first of every origin before the
second of any. The others keep their place in the order of their queues."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """Pages that an operator has put back and that come next, by origin, the soonest first. `listed` are the ids of
    those that stand on a todo list already."""

    origins: tuple[tuple[str, tuple[TodoPage, ...]], ...] = ()
    listed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class NewPage:
    """A URL that passed every filter and is to become a page, unless it is already known.

    A duplicate find keeps the lower `nice` and the lower `depth` (B). `sitemap`: it is read as a sitemap, not as a
    page; `lastmod` (epoch ms, 0: none) is what a sitemap says of it. `external`: EXTERNAL or EMBEDDED, it is checked
    and its links are never followed. `start_path`: what its origin gets where it joins the crawl with this page.
    `again`: a chain of redirects comes back to it with other cookies.
    """

    url: str
    url_hash: int
    origin: str
    depth: int
    nice: int = 0
    seed: bool = False
    redirect_hops: int = 0
    item_pattern: str = ""
    force: bool = False
    not_before: int = 0
    sitemap: bool = False
    lastmod: int = 0
    external: int = 0
    start_path: str = ""
    again: bool = False


class KnownPage(NamedTuple):
    """The known values of a page: only a find that is lower, or newer, brings news of it (B)."""

    nice: int
    depth: int
    redirect_hops: int
    seed: bool
    lastmod: int
    external: int

    def learns_of(self, page: NewPage) -> bool:
        """Return whether a find may change anything of the page."""
        values = page.nice, page.depth, page.redirect_hops, page.lastmod
        return page.force or page.again or page.sitemap or self.learns(*values, seed=page.seed, external=page.external)

    def learns(
        self, nice: int, depth: int, redirect_hops: int, lastmod: int, *, seed: bool = False, external: int = 0
    ) -> bool:
        """The same for a find with these values."""
        return (
            depth < self.depth
            or nice < self.nice
            or redirect_hops < self.redirect_hops
            or lastmod > self.lastmod
            or seed > self.seed
            or external < self.external
        )


class Tally(NamedTuple):
    """One page in the counters of its origin: 0 or 1 each; or how these change. A failed page with tries left is also
    pending."""

    pending: int = 0
    done: int = 0
    failed: int = 0
    blocked: int = 0

    def minus(self, other: Tally) -> Tally:
        """The change of the counters when a page moves from `other` to this tally."""
        return self.plus(other, -1)

    def plus(self, other: Tally, times: int = 1) -> Tally:
        """Return both together, the other `times` times."""
        return Tally(
            self.pending + times * other.pending,
            self.done + times * other.done,
            self.failed + times * other.failed,
            self.blocked + times * other.blocked,
        )


def tally(status: PageStatus, attempts_remaining: int, last_exit_code: ExitCode | None, external: int = 0) -> Tally:
    """The counters of its origin in which a page counts. What is embedded is never a page done.

    `last_exit_code` is None for a page that was never attempted.
    """
    pending = int(status in {PageStatus.READY, PageStatus.CLAIMED} and attempts_remaining > 0)
    blocked, failed = last_exit_code in BLOCKED, last_exit_code in FAILURES
    done = not (last_exit_code is None or blocked or failed or pending or external == EMBEDDED)
    return Tally(pending, int(done), int(failed), int(blocked))
