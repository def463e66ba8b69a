"""How URLs become pages.

New ones are queued, known ones keep the lower nice and depth (B), forced ones run again (G).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tui_crawler.domain.page import NewPage, PageStatus, Tally
from tui_crawler.storage import origins
from tui_crawler.storage.claim import Claim
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.counters import Moves, add_to_job, tally_of
from tui_crawler.storage.depths import is_beyond, lower_below
from tui_crawler.storage.memory import standing_of
from tui_crawler.storage.models import Job, Page
from tui_crawler.storage.statements import insert_rows, padded, slot, slots
from tui_crawler.storage.transaction import Transaction

_CHUNK = 256
_KNOWN = (
    Page.url_hash,
    Page.id,
    Page.origin,
    Page.status,
    Page.attempts,
    Page.attempts_remaining,
    Page.nice,
    Page.depth,
    Page.redirect_hops,
    Page.seed,
    Page.force,
    Page.item_pattern,
    Page.beyond_depth,
    Page.last_exit_code,
    Page.ignored_run,
    Page.found_on,
    Page.lastmod,
    Page.external,
)
_NEW = (
    Page.job,
    Page.origin,
    Page.url,
    Page.url_hash,
    Page.attempts_remaining,
    Page.nice,
    Page.depth,
    Page.seed,
    Page.force,
    Page.beyond_depth,
    Page.redirect_hops,
    Page.not_before,
    Page.item_pattern,
    Page.found_on,
    Page.created_at,
    Page.sitemap,
    Page.lastmod,
    Page.external,
)


@dataclass(frozen=True, slots=True)
class Known:
    """A page that is known already, in the columns of `_KNOWN`."""

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

    def tally(self) -> Tally:
        """What it adds to the counters of its origin."""
        return tally_of(self.status, self.attempts_remaining, self.last_exit_code, self.beyond_depth)


@dataclass(frozen=True, slots=True)
class Source:
    """Where pages come from: the job they join, the page that named them (None for seeds), the time (epoch ms)."""

    job_id: int
    found_on: int | None
    at: int


def queue_pages(
    transaction: Transaction, claim: Claim, source: Source, pages: Iterable[NewPage], ids: Mapping[int, int]
) -> tuple[dict[str, int], Moves]:
    """Queues pages; answers how many new ones each origin got, and how the counters are to be moved.

    `ids` are URL ids by hash.
    """
    wanted, moves, counts = _merged(pages), Moves(), dict[str, int]()
    if not wanted:
        return counts, moves
    row = transaction.one(_max_depth, {"job_id": source.job_id})
    max_depth = row[0] if row else None
    known = find_known(transaction, source.job_id, list(wanted))
    origin_ids: dict[str, int] = {}
    rows = []
    for key, page in wanted.items():
        if key in known:
            continue
        if page.origin not in origin_ids:
            origin_ids[page.origin] = origins.ensure(transaction, page.origin).id
        origin_id, beyond = origin_ids[page.origin], is_beyond(page.depth, max_depth)
        rows.append(new_row(page, origin_id, claim, source, ids, beyond))
        counts[page.origin] = counts.get(page.origin, 0) + 1
        moves.added[origin_id] = moves.added.get(origin_id, 0) + 1
        moves.add(origin_id, Tally(pending=int(not beyond)))
    transaction.insert(insert_pages, rows)
    found_again = [(known[key], page) for key, page in wanted.items() if key in known]
    _find_again(transaction, claim, source, found_again, max_depth, moves)
    return counts, moves


def find_known(transaction: Transaction, job_id: int, keys: Sequence[int]) -> dict[int, Known]:
    """The pages of a job among these URL hashes."""
    known: dict[int, Known] = {}
    for start in range(0, len(keys), _CHUNK):
        places = padded(keys[start : start + _CHUNK])
        for row in transaction.all_of(_find, len(places), [*places, job_id]):
            known[row[0]] = Known(*row)
    return known


def update_known(transaction: Transaction, pages: Iterable[Known]) -> None:
    """Writes what may change of a known page when it is found again or added by hand."""
    rows = [
        {
            "page_id": page.page_id,
            "status": page.status,
            "attempts": page.attempts,
            "attempts_remaining": page.attempts_remaining,
            "nice": page.nice,
            "depth": page.depth,
            "redirect_hops": page.redirect_hops,
            "seed": page.seed,
            "force": page.force,
            "item_pattern": clean(page.item_pattern),
            "beyond_depth": page.beyond_depth,
            "ignored_run": page.ignored_run,
            "found_on_page_id": page.found_on,
            "lastmod": page.lastmod,
            "external": page.external,
        }
        for page in pages
    ]
    if rows:
        transaction.run_many(_update, rows)


def move_counters(transaction: Transaction, job_id: int, moves: Moves) -> None:
    """Moves the counters of origins and of their job."""
    origins.move(transaction, moves)
    add_to_job(transaction, job_id, moves.total())


def again(page: Known, claim: Claim, wanted: NewPage) -> Known:
    """A known page that is to be crawled once more, as a new item of the queue (G)."""
    return replace(
        page,
        status=int(PageStatus.READY),
        attempts=0,
        attempts_remaining=claim.tries,
        force=int(wanted.force),
        item_pattern=wanted.item_pattern,
        ignored_run=0,
    )


def _merged(pages: Iterable[NewPage]) -> dict[int, NewPage]:
    """One page per URL, with the lowest nice, depth and number of hops, and the newest `lastmod`."""
    merged: dict[int, NewPage] = {}
    for page in pages:
        other = merged.get(page.url_hash)
        if other is not None:
            page = replace(  # noqa: PLW2901  # the merged page takes the place of the found one
                other,
                nice=min(page.nice, other.nice),
                depth=min(page.depth, other.depth),
                redirect_hops=min(page.redirect_hops, other.redirect_hops),
                seed=page.seed or other.seed,
                lastmod=max(page.lastmod, other.lastmod),
            )
        merged[page.url_hash] = page
    return merged


def new_row(
    page: NewPage, origin_id: int, claim: Claim, source: Source, ids: Mapping[int, int], beyond: bool
) -> tuple[Any, ...]:
    """The values of `_NEW`."""
    return (
        source.job_id,
        origin_id,
        ids[page.url_hash],
        page.url_hash,
        claim.tries,
        page.nice,
        page.depth,
        page.seed,
        page.force,
        beyond,
        page.redirect_hops,
        page.not_before,
        clean(page.item_pattern),
        source.found_on,
        source.at,
        page.sitemap,
        page.lastmod,
        page.external,
    )


def _find_again(
    transaction: Transaction,
    claim: Claim,
    source: Source,
    found: Sequence[tuple[Known, NewPage]],
    max_depth: int | None,
    moves: Moves,
) -> None:
    """Known pages that were found once more; how the counters change is added to `moves`."""
    changed: list[Known] = []
    lowered: list[int] = []
    for page, wanted in found:
        if not standing_of(page).learns_of(wanted):
            continue
        new = _found_once_more(page, claim, source, wanted, max_depth)
        changed.append(new)
        moves.add(page.origin_id, new.tally().minus(page.tally()))
        if new.depth < page.depth:
            lowered.append(page.page_id)
    update_known(transaction, changed)
    moves.add_all(lower_below(transaction, source.job_id, lowered, max_depth))


def _found_once_more(page: Known, claim: Claim, source: Source, wanted: NewPage, max_depth: int | None) -> Known:
    """The lower of both, and the newer `lastmod`; a page does not become a sitemap, nor a sitemap a page.

    A forced find of a page that is done runs it again, once in a run (G). So does the first find in the crawl of
    one that was only checked until now.
    """
    depth = min(page.depth, wanted.depth)
    new = replace(
        page,
        nice=min(page.nice, wanted.nice),
        depth=depth,
        redirect_hops=min(page.redirect_hops, wanted.redirect_hops),
        seed=int(page.seed or wanted.seed),
        lastmod=max(page.lastmod, wanted.lastmod),
        beyond_depth=int(is_beyond(depth, max_depth)),
        found_on=source.found_on if depth < page.depth else page.found_on,
    )
    done = page.status == PageStatus.READY and not page.attempts_remaining
    if wanted.external < page.external:
        return again(replace(new, external=0), claim, wanted)
    if wanted.force and done and page.ignored_run != claim.run_id:
        return again(new, claim, wanted)
    return new


def _max_depth() -> Any:
    return Job.select(Job.max_depth).where(Job.id == slot("job_id"))


def _find(size: int) -> Any:
    return Page.select(*_KNOWN).where(Page.url_hash.in_([slot("url_hash")] * size) & (Page.job == slot("job_id")))


def insert_pages(size: int) -> Any:
    """An INSERT of new pages, in the columns of `new_row`."""
    return insert_rows(_NEW, size).on_conflict(action="nothing", conflict_target=[Page.url_hash, Page.origin, Page.job])


def _update() -> Any:
    columns = [column for column in _KNOWN if column.name not in {"url_hash", "id", "origin", "last_exit_code"}]
    return Page.update(slots(columns)).where(Page.id == slot("page_id"))
