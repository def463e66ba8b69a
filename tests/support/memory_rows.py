"""The rows of the memory store: pages with what they hold, and the rules by which they are queued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace

from tui_crawler.domain.crawl.canonical import CanonicalHop, ClaimState, decide
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.attempt import DocumentRecord, Exchange, OriginRecord, RedirectRecord, Settle
from tui_crawler.domain.records.exit_code import REFUSED_BY_RULES, ExitCode
from tui_crawler.domain.records.page import NewPage, Tally, TodoPage, tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.preview import Effect, Rejudgement
from tui_crawler.domain.url import url_hash

_UNTOUCHED = {ExitCode.cancelled, ExitCode.someone_stole_my_work}


@dataclass(slots=True)
class StoredPage:
    """A page; `exit_code` None: never attempted."""

    page_id: int
    job_id: int
    origin: str
    url: str
    url_hash: int
    depth: int
    nice: int
    seed: bool
    remaining: int
    hops: int = 0
    not_before: int = 0
    pattern: str = ""
    force: bool = False
    sitemap: bool = False
    status: PageStatus = PageStatus.READY
    attempts: int = 0
    exit_code: ExitCode | None = None
    http_status: int | None = None
    crawled_at: int = 0
    contentful_at: int = 0
    fresh_until: int = 0
    ignored_run: int = 0
    found_on: int | None = None
    external: bool = False
    lastmod: int = 0

    def rank(self) -> tuple[int, int, int]:
        """Lower is sooner."""
        return self.nice + (self.attempts if self.remaining else 0), self.not_before, self.page_id


@dataclass(slots=True)
class StoredCrawler:
    """An origin, with its todo list as page ids."""

    record: OriginRecord
    participates: bool = False
    added: bool = False
    external: bool = False
    todo: list[int] = field(default_factory=list)
    requests: int = 0


@dataclass(slots=True)
class StoredClaim:
    """The claim of a page that names this canonical URL."""

    to_url: str
    answer: Exchange
    state: ClaimState = ClaimState.open


@dataclass(slots=True)
class StoredRun:
    """A run; `clean` is None while it lasts."""

    run_id: int
    plan: RunPlan
    started_at: int
    reason: str = ""
    clean: bool | None = None
    requests: int = 0


@dataclass(slots=True)
class Rows:
    """Pages by id, and what they hold. `links` are by kind and target: nofollow, and when they were first seen."""

    pages: dict[int, StoredPage] = field(default_factory=dict)
    documents: dict[int, tuple[DocumentRecord, int]] = field(default_factory=dict)
    links: dict[int, dict[tuple[str, str], tuple[bool, int]]] = field(default_factory=dict)
    redirects: dict[int, RedirectRecord] = field(default_factory=dict)
    max_depths: dict[int, int | None] = field(default_factory=dict)
    by_url: dict[tuple[int, int], int] = field(default_factory=dict)
    of_origin: dict[str, list[int]] = field(default_factory=dict)
    claims: dict[int, StoredClaim] = field(default_factory=dict)

    def copy(self) -> Rows:
        """Rows of their own, with the same values."""
        return Rows(
            {key: replace(page) for key, page in self.pages.items()},
            dict(self.documents),
            {key: dict(value) for key, value in self.links.items()},
            dict(self.redirects),
            dict(self.max_depths),
            dict(self.by_url),
            {key: list(value) for key, value in self.of_origin.items()},
            {key: replace(claim) for key, claim in self.claims.items()},
        )

    def resolve(self, run: StoredRun, listed: Container[int], now: int, *, last: bool) -> int:
        """Decides claims; answers how many pages came back. All are looked at each time."""
        back = 0
        for page_id in sorted(self.claims):
            claim, page = self.claims[page_id], self.pages[page_id]
            if claim.state is ClaimState.nowhere:
                continue

            def look(url: int, job_id: int = page.job_id) -> CanonicalHop | None:
                return self._hop(run, job_id, url, listed, now, last=last)

            found, _ = decide(page_id, url_hash(claim.to_url), look)
            if found is ClaimState.settled:
                del self.claims[page_id]
                page.contentful_at = 0 if claim.state is ClaimState.ignored else page.contentful_at
            elif claim.state is ClaimState.open:
                claim.state = found
                if found is ClaimState.nowhere and page_id not in listed:
                    page.status, page.attempts, page.remaining = PageStatus.READY, 0, run.plan.tries
                    page.not_before = page.ignored_run = 0
                    back += 1
        return back

    def _hop(
        self, run: StoredRun, job_id: int, url: int, listed: Container[int], now: int, *, last: bool
    ) -> CanonicalHop | None:
        page_id = self.by_url.get((job_id, url))
        if page_id is None:
            return None
        page, claim, redirect = self.pages[page_id], self.claims.get(page_id), self.redirects.get(page_id)
        waits = False
        if not last and not self.is_beyond(page):
            due = page.ignored_run != run.run_id and self.is_due(run, page, now)
            ready = page.status is PageStatus.READY and (page.remaining > 0 or due)
            waits = page.status is PageStatus.CLAIMED or page_id in listed or ready
        to_url = url_hash(redirect.to_url) if redirect else None
        return CanonicalHop(page_id, page.exit_code, page.http_status, waits, to_url, claim.state if claim else None)

    def queue(self, run: StoredRun, job_id: int, parent: int | None, pages: Iterable[NewPage]) -> Counter[str]:
        """Queues new pages, keeps the lower nice and depth of known ones; answers how many are new, by origin."""
        new: Counter[str] = Counter()
        known: list[tuple[int, NewPage]] = []
        for wanted in pages:
            page_id = self.by_url.get((job_id, wanted.url_hash))
            if page_id is None:
                self._insert(run, job_id, parent, wanted)
                new[wanted.origin] += 1
            else:
                known.append((page_id, wanted))
        for page_id, wanted in known:
            self._find_again(run, self.pages[page_id], parent, wanted)
        return new

    def crawl_again(self, run: StoredRun, page: StoredPage, wanted: NewPage) -> None:
        """A known page becomes a new item of the queue."""
        page.status, page.attempts, page.remaining = PageStatus.READY, 0, run.plan.tries
        page.force, page.pattern, page.ignored_run = wanted.force, wanted.item_pattern, 0

    def leave(self, run: StoredRun, settle: Settle) -> None:
        """The page and its content as an attempt leaves them."""
        outcome = settle.page
        if outcome is None:
            return
        page = self.pages[outcome.page_id]
        if settle.attempt.exit_code not in _UNTOUCHED:
            page.status, page.attempts, page.remaining = outcome.status, outcome.attempts, outcome.attempts_remaining
            if outcome.stays:
                page.ignored_run = 0
                return
            page.exit_code = outcome.exit_code
            page.http_status, page.crawled_at = outcome.http_status, outcome.crawled_at
            page.fresh_until, page.not_before = outcome.fresh_until, 0
            page.contentful_at = outcome.crawled_at if outcome.contentful else page.contentful_at
            page.ignored_run, page.sitemap = 0 if outcome.forget_ignored else run.run_id, outcome.sitemap
        self._keep_content(settle, page.page_id, outcome.crawled_at, outcome.contentful)
        self._keep_claim(settle, page.page_id)
        document, _ = self.documents.get(page.page_id, (None, 0))
        if outcome.unlinks and (document is None or document.scanned):
            page.contentful_at = 0 if self.links.pop(page.page_id, None) else page.contentful_at
            self.redirects.pop(page.page_id, None)

    def judge_again(self, rejudgement: Rejudgement, tries: int, listed: Container[int]) -> Counter[str]:
        """Refused pages whose verdict is another one now get their tries back; those waiting that are refused as they
        were lose them again. Answers how many of which origin came back; `listed` are on todo lists."""
        back = Counter[str]()
        for page in self.pages.values():
            code, free = page.exit_code, page.status in {PageStatus.READY, PageStatus.SKIPPED}
            if code is None or code not in REFUSED_BY_RULES or not free or page.page_id in listed:
                continue
            effect = rejudgement.effect(page.url, code)
            waits = page.status is PageStatus.READY and page.remaining > 0
            if effect is Effect.overturned and not waits:
                page.status, page.attempts, page.remaining = PageStatus.READY, 0, tries
                page.not_before = page.ignored_run = 0
                back[page.origin] += 1
            elif effect is Effect.upheld and waits and not page.not_before:
                if code is ExitCode.skipped_by_rule:
                    page.status = PageStatus.SKIPPED
                else:
                    page.remaining = 0
        return back

    def free(self, run: StoredRun, origin: str, todo: Iterable[int]) -> list[StoredPage]:
        """Pages that may be taken: ready, not too deep, neither on the ignore list nor on the todo list."""
        listed = set(todo)
        return [
            page
            for page in (self.pages[page_id] for page_id in self.of_origin.get(origin, ()))
            if page.status is PageStatus.READY
            and page.ignored_run != run.run_id
            and page.page_id not in listed
            and not self.is_beyond(page)
        ]

    def is_beyond(self, page: StoredPage) -> bool:
        """Whether it lies beyond the depth of its job."""
        deepest = self.max_depths.get(page.job_id)
        return deepest is not None and page.depth > deepest

    def is_due(self, run: StoredRun, page: StoredPage, now: int) -> bool:
        """Whether a done page may be crawled again."""
        plan = run.plan
        if page.not_before > now:
            return False
        if plan.force_recrawl and page.crawled_at <= run.started_at:
            return True
        due = page.crawled_at + plan.recrawl_interval_ms
        if plan.respect_http_freshness and not plan.force_recrawl:
            due = max(due, page.fresh_until)
        return due <= now

    def tally(self, origin: str) -> Tally:
        """The counters of an origin, counted from its pages."""
        counts = [self._tally_of(self.pages[page_id]) for page_id in self.of_origin.get(origin, ())]
        return Tally(*map(sum, zip(*counts, strict=True)))

    def todo_page(self, run: StoredRun, page: StoredPage) -> TodoPage:
        """The page as the engine sees it; a done one starts again."""
        again = not page.remaining
        claim = self.claims.get(page.page_id)
        document, stored_at = self.documents.get(page.page_id, (None, -1))
        current = document if stored_at == page.contentful_at else None
        return TodoPage(
            page.page_id,
            page.job_id,
            page.url,
            page.depth,
            page.nice,
            page.seed,
            0 if again else page.attempts,
            run.plan.tries if again else page.remaining,
            page.hops,
            "" if again else page.pattern,
            False if again else page.force,
            page.sitemap,
            current.etag if current else "",
            current.last_modified if current else "",
            page.contentful_at,
            current is not None and current.body is not None,
            page.external,
            claim.to_url if claim is not None and claim.state is not ClaimState.open else "",
            claim is not None and claim.state is ClaimState.nowhere,
        )

    def _insert(self, run: StoredRun, job_id: int, parent: int | None, wanted: NewPage) -> None:
        page = StoredPage(
            len(self.pages) + 1,
            job_id,
            wanted.origin,
            wanted.url,
            wanted.url_hash,
            wanted.depth,
            wanted.nice,
            wanted.seed,
            run.plan.tries,
            wanted.redirect_hops,
            wanted.not_before,
            wanted.item_pattern,
            wanted.force,
            wanted.sitemap,
            found_on=parent,
            external=wanted.external,
            lastmod=wanted.lastmod,
        )
        self.pages[page.page_id] = page
        self.by_url[job_id, page.url_hash] = page.page_id
        self.of_origin.setdefault(page.origin, []).append(page.page_id)

    def _find_again(self, run: StoredRun, page: StoredPage, parent: int | None, wanted: NewPage) -> None:
        page.nice, page.hops = min(page.nice, wanted.nice), min(page.hops, wanted.redirect_hops)
        page.seed = page.seed or wanted.seed
        done = not page.remaining and page.status is PageStatus.READY
        is_first = page.ignored_run != run.run_id
        changed = done and wanted.lastmod > max(page.lastmod, page.crawled_at)
        is_wanted = wanted.force or changed or (wanted.sitemap and not 0 < wanted.lastmod <= page.crawled_at)
        page.lastmod = page.lastmod if changed and not is_first else max(page.lastmod, wanted.lastmod)
        if (is_wanted and done and is_first) or wanted.external < page.external:
            page.external = wanted.external
            self.crawl_again(run, page, wanted)
        if wanted.depth < page.depth:
            page.depth, page.found_on = wanted.depth, parent
            self._lower_below(page)

    def _lower_below(self, page: StoredPage) -> None:
        links = self.links.get(page.page_id, {}).items()
        nexts = [(url, 1) for (kind, url), (nofollow, _) in links if kind == "a" and not nofollow]
        redirect = self.redirects.get(page.page_id)
        nexts += [(redirect.to_url, 0)] if redirect else []
        for url, step in nexts:
            page_id = self.by_url.get((page.job_id, url_hash(url)))
            if page_id is not None and self.pages[page_id].depth > page.depth + step:
                below = self.pages[page_id]
                below.depth, below.found_on = page.depth + step, page.page_id
                self._lower_below(below)

    def _keep_content(self, settle: Settle, page_id: int, at: int, contentful: bool) -> None:
        if settle.drop_document:
            self.documents.pop(page_id, None)
        if settle.document is not None:
            self.documents[page_id] = (settle.document, at)
        if settle.links is not None:
            former = self.links.get(page_id, {})
            found: dict[tuple[str, str], tuple[bool, int]] = {}
            for link in settle.links:
                key = (link.kind.value, link.url.href)
                found.setdefault(key, (link.nofollow, former[key][1] if key in former else at))
            self.links[page_id] = found
        if settle.redirect is not None:
            self.redirects[page_id] = settle.redirect
        elif contentful:
            self.redirects.pop(page_id, None)

    def _keep_claim(self, settle: Settle, page_id: int) -> None:
        claim, outcome = self.claims.get(page_id), settle.page
        if settle.claim is not None and settle.redirect is not None:
            self.claims[page_id] = StoredClaim(settle.redirect.to_url, settle.claim)
        elif settle.ignores and claim is not None:
            claim.state = ClaimState.ignored
        elif outcome is not None and (outcome.contentful or outcome.unlinks):
            self.claims.pop(page_id, None)

    def _tally_of(self, page: StoredPage) -> Tally:
        counted = tally(page.status, page.remaining, page.exit_code)
        return counted._replace(pending=0) if self.is_beyond(page) else counted
