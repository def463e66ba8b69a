"""How URLs become pages. New ones are queued, known ones keep the lower nice and depth (B), forced ones run again (G).
Depth is the length of the shortest discovery path (B): a shorter path lowers all below it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, NamedTuple

import peewee

from tui_crawler.domain.records.page import NewPage, Tally
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.crawl import origins
from tui_crawler.storage.crawl.counters import CounterChanges, add_to_job, tally_of
from tui_crawler.storage.crawl.urls import pages_by_hash
from tui_crawler.storage.db.claim import ZERO, Claim
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.memory import standing_of
from tui_crawler.storage.db.statements import BuildOf, builds_among, columns, inserts, reads, slot, updates
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Job, Link, Page, Redirect, Url


def is_beyond(depth: int, max_depth: int | None) -> bool:
    """Whether a page lies beyond the depth of its job: it stays in the table, unclaimed."""
    return max_depth is not None and depth > max_depth


def lower_below(
    transaction: Transaction, job_id: int, lowered: Sequence[int], max_depth: int | None, moves: CounterChanges
) -> None:
    """Follow links and redirects from pages whose depth was lowered, as long as they shorten another path; add to
    `moves` how the counters change. Every round only lowers depths, so a cycle ends."""
    frontier = list(dict.fromkeys(lowered))
    while frontier:
        best: dict[int, Row] = {}
        for row in (found for build in _SHORTER for found in transaction.all_among(build, frontier, job_id)):
            if row[0] not in best or row[2] < best[row[0]][2]:
                best[row[0]] = row
        rows = []
        for page_id, parent, depth, origin_id, beyond, status, left, code in best.values():
            beyond_now = int(is_beyond(depth, max_depth))
            rows.append({"page_id": page_id, "depth": depth, "found_on_page_id": parent, "beyond_depth": beyond_now})
            before, after = (tally_of(status, left, code, one) for one in (beyond, beyond_now))
            moves.add(origin_id, after.minus(before))
        transaction.run_many(_lower, rows)
        frontier = list(best)


def change_max_depth(transaction: Transaction, job_id: int, max_depth: int | None) -> CounterChanges:
    """Judge every page of a job by another depth; return how the counters change."""
    transaction.execute(Job.update({Job.max_depth: max_depth}).where(Job.id == job_id))
    wrong = Page.beyond_depth != 0
    if max_depth is not None:
        wrong = Page.beyond_depth != peewee.Case(None, [(Page.depth > max_depth, 1)], 0)
    alike = columns(Page, "origin status attempts_remaining last_exit_code beyond_depth")
    moved = (Page.job == job_id) & wrong
    moves = CounterChanges()
    counted = Page.select(*alike, peewee.fn.COUNT(Page.id)).where(moved).group_by(*alike)
    for origin_id, status, left, code, beyond, count in transaction.fetch(counted):
        before, after = (tally_of(status, left, code, one) for one in (beyond, not beyond))
        moves.add(origin_id, after.minus(before), count)
    if moves.changes:
        transaction.execute(Page.update({Page.beyond_depth: 1 - Page.beyond_depth}).where(moved))
    return moves


def _shorter(edge: Any, source: Any, step: int, *which: Any) -> BuildOf:
    """What builds a query of the pages that edges from N pages reach by a shorter path: id, parent, depth, state."""
    parent, child = Page.alias("parent"), Page.alias("child")
    depth = parent.depth + peewee.SQL(str(step))
    state = columns(child, "origin beyond_depth status attempts_remaining last_exit_code")
    reached = edge.select(child.id, parent.id, depth, *state).join(parent, on=(parent.id == source))
    reached = reached.join(child, on=(child.url == edge.to_url)).where(child.depth > depth, *which)
    return builds_among(reached, source, child.job == slot("job_id"))


_SHORTER = (
    _shorter(Link, Link.from_page, 1, Link.kind == peewee.SQL("'a'"), Link.nofollow == ZERO),
    _shorter(Redirect, Redirect.page, 0),
)

_PLAIN = "nice depth seed force redirect_hops not_before sitemap lastmod external"
_NEW = columns(Page, "job origin url attempts_remaining beyond_depth item_pattern found_on created_at", _PLAIN)
_plain = attrgetter(*_PLAIN.split())
"""What is stored of a new page as it is, in columns of the same names."""


class Known(NamedTuple):
    """A page that is already known."""

    url_hash: int
    page_id: int
    origin_id: int
    status: int
    attempts: int
    attempts_remaining: int
    nice: int
    depth: int
    redirect_hops: int
    seed: int
    force: int
    item_pattern: str
    beyond_depth: int
    last_exit_code: int | None
    ignored_run: int
    found_on: int | None
    lastmod: int
    external: int
    last_crawled_at: int

    def tally(self) -> Tally:
        """What it adds to the counters of its origin."""
        return tally_of(self.status, self.attempts_remaining, self.last_exit_code, self.beyond_depth, self.external)


_KNOWN = (Url.hash, Page.id, Page.origin, *columns(Page, *Known._fields[3:]))


class Source(NamedTuple):
    """Where pages come from: the job they join, the page that named them (None for seeds), the time (epoch ms)."""

    job_id: int
    found_on: int | None
    at: int


def queue_pages(
    transaction: Transaction,
    claim: Claim,
    source: Source,
    pages: Iterable[NewPage],
    ids: Mapping[int, int],
    known: Mapping[int, Known] | None = None,
) -> tuple[Counter[str], CounterChanges]:
    """Queue pages; return how many new ones each origin got, and how the counters are to be moved. `ids` are URL ids by
    hash, `known` the known pages among them if they were read already."""
    wanted, moves, counts = _merged(pages), CounterChanges(), Counter[str]()
    if not wanted:
        return counts, moves
    row = transaction.one(_max_depth, {"job_id": source.job_id})
    max_depth = row[0] if row else None
    if known is None:
        known = find_known(transaction, source.job_id, list(wanted))
    origin_ids: dict[str, int] = {}
    rows, pending = [], Counter[int]()
    for key, page in wanted.items():
        if key in known:
            continue
        if page.origin not in origin_ids:
            origin_ids[page.origin] = origins.ensure(transaction, page.origin).id
        origin_id, beyond = origin_ids[page.origin], is_beyond(page.depth, max_depth)
        rows.append(new_row(page, origin_id, claim, source, ids, beyond))
        counts[page.origin] += 1
        pending[origin_id] += not beyond
    transaction.insert(insert_pages, rows)
    moves.added.update({origin_ids[origin]: count for origin, count in counts.items()})
    moves.changes.update((origin_id, Tally(pending=count)) for origin_id, count in pending.items())
    found_again = [(known[key], page) for key, page in wanted.items() if key in known]
    _find_again(transaction, claim, source, found_again, max_depth, moves)
    return counts, moves


def find_known(transaction: Transaction, job_id: int, keys: Sequence[int]) -> dict[int, Known]:
    """The pages of a job among these URL hashes."""
    return {row[0]: Known(*row) for row in transaction.all_among(_find, keys, job_id)}


def update_known(transaction: Transaction, pages: Iterable[Known]) -> None:
    """Write what may change of a known page when it is found again or added by hand."""
    rows = [
        {**page._asdict(), "item_pattern": clean(page.item_pattern), "found_on_page_id": page.found_on}
        for page in pages
    ]
    if rows:
        transaction.run_many(_update, rows)


def move_counters(transaction: Transaction, job_id: int, moves: CounterChanges) -> None:
    """Move the counters of a job and its origins."""
    origins.move(transaction, moves)
    add_to_job(transaction, job_id, moves.total())


MOVED = columns(Page, "id job origin beyond_depth status attempts_remaining last_exit_code")
"""What the rows begin with that `Moving` counts."""


@dataclass(slots=True)
class Moving:
    """How pages that change their status together move the counters, by job."""

    moves: defaultdict[int, CounterChanges] = field(default_factory=lambda: defaultdict(CounterChanges))

    def add(self, rows: Iterable[Row], status: PageStatus, remaining: int | None = None) -> None:
        """Count pages (MOVED) that get this status and number of tries, None: the one they have."""
        for alike, number in Counter(row[1:7] for row in rows).items():
            job_id, origin_id, beyond, before, left, code = alike
            after = tally_of(status, left if remaining is None else remaining, code, beyond)
            self.moves[job_id].add(origin_id, after.minus(tally_of(before, left, code, beyond)), number)

    def put_back(self, transaction: Transaction, rows: Sequence[Row], tries: int) -> None:
        """Give pages their tries back and take them off the ignore list."""
        self.add(rows, PageStatus.READY, tries)
        transaction.run_among(_put_back, [row[0] for row in rows], tries)

    def store(self, transaction: Transaction) -> None:
        """Move the counters of jobs and origins."""
        for job_id, of_job in self.moves.items():
            move_counters(transaction, job_id, of_job)


def again(page: Known, claim: Claim, wanted: NewPage) -> Known:
    """A known page that is to be crawled once more, as a new item of the queue (G)."""
    return page._replace(
        status=int(PageStatus.READY),
        attempts=0,
        attempts_remaining=claim.tries,
        force=int(wanted.force),
        item_pattern=wanted.item_pattern,
        ignored_run=0,
    )


def _merged(pages: Iterable[NewPage]) -> dict[int, NewPage]:
    merged: dict[int, NewPage] = {}
    for page in pages:
        other = merged.setdefault(page.url_hash, page)
        if other is not page:
            merged[page.url_hash] = replace(
                other,
                nice=min(page.nice, other.nice),
                depth=min(page.depth, other.depth),
                redirect_hops=min(page.redirect_hops, other.redirect_hops),
                seed=page.seed or other.seed,
                lastmod=max(page.lastmod, other.lastmod),
            )
    return merged


def new_row(
    page: NewPage, origin_id: int, claim: Claim, source: Source, ids: Mapping[int, int], beyond: bool
) -> tuple[Any, ...]:
    """The values of `_NEW`."""
    state = (source.job_id, origin_id, ids[page.url_hash], claim.tries, beyond, clean(page.item_pattern))
    return (*state, source.found_on, source.at, *_plain(page))


def _find_again(
    transaction: Transaction,
    claim: Claim,
    source: Source,
    found: Sequence[tuple[Known, NewPage]],
    max_depth: int | None,
    moves: CounterChanges,
) -> None:
    changed: list[Known] = []
    lowered: list[int] = []
    for page, wanted in found:
        learns = standing_of(page).learns_of(wanted)
        if learns and (new := _found_once_more(page, claim, source, wanted, max_depth)) != page:
            changed.append(new)
            moves.add(page.origin_id, new.tally().minus(page.tally()))
            lowered += [page.page_id] * (new.depth < page.depth)
    update_known(transaction, changed)
    lower_below(transaction, source.job_id, lowered, max_depth, moves)


def _found_once_more(page: Known, claim: Claim, source: Source, wanted: NewPage, max_depth: int | None) -> Known:
    """Keep the lower of both, and the newer `lastmod`; a page does not become a sitemap, nor a sitemap a page.

    A forced find of a page that is done runs it again, once in a run (G); so does a new `lastmod` later than its last
    crawl, the find of a sitemap, the first find of a page that was only checked, and a chain of redirects that comes
    back with other cookies. A `lastmod` that comes after its page was considered in this run is left for the next
    run."""
    depth = min(page.depth, wanted.depth)
    done = page.status == PageStatus.READY and not page.attempts_remaining
    is_first = page.ignored_run != claim.run_id
    changed = done and wanted.lastmod > max(page.lastmod, page.last_crawled_at)
    is_wanted = wanted.force or changed or (wanted.sitemap and not 0 < wanted.lastmod <= page.last_crawled_at)
    new = page._replace(
        nice=min(page.nice, wanted.nice),
        depth=depth,
        redirect_hops=min(page.redirect_hops, wanted.redirect_hops),
        seed=int(page.seed or wanted.seed),
        lastmod=max(page.lastmod, wanted.lastmod) if is_first or not changed else page.lastmod,
        beyond_depth=int(is_beyond(depth, max_depth)),
        found_on=source.found_on if depth < page.depth else page.found_on,
    )
    if wanted.external < page.external:
        return again(new._replace(external=wanted.external), claim, wanted)
    if done and (wanted.again or (is_wanted and is_first)):
        return again(new, claim, wanted)
    return new


_put_back = builds_among(
    Page.update(
        {
            **dict.fromkeys(columns(Page, "status attempts not_before ignored_run"), ZERO),
            Page.attempts_remaining: slot("tries"),
        }
    ),
    Page.id,
)
_FIXED = frozenset({"hash", "id", "origin", "last_exit_code", "last_crawled_at"})
_update = updates([Page.id], *(column for column in _KNOWN if column.name not in _FIXED))
_lower = updates([Page.id], *columns(Page, "depth found_on beyond_depth"))
_max_depth = reads([Job.id], Job.max_depth)
_find = pages_by_hash(*_KNOWN)
insert_pages = inserts(_NEW, once=[Page.url, Page.job])
"""In the columns of `new_row`."""
