"""Stashes and limbo (B): READY <-> STASHED by name, dripping back a few at a time, and pages claimed for too long. A
stashed page is no candidate and not pending. One that has dripped out keeps the name of its stash, to be counted until
it is crawled."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import peewee

from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.known_word import nearest
from tui_crawler.domain.records.command import ReclaimPages, SetDripfeed, StashPages, UnstashPages
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.pattern import BadPattern, Pattern
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.storage.crawl.activity import note
from tui_crawler.storage.crawl.intake import MOVED, Moving
from tui_crawler.storage.crawl.jobs import job_id_of
from tui_crawler.storage.crawl.urls import ids_of
from tui_crawler.storage.db.claim import CLAIMED, EMPTY, ONE, STASHED, ZERO, Claim, is_pending
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import builds, columns, deletes, reads, slot, updates, upserts
from tui_crawler.storage.db.transaction import Row, Transaction
from tui_crawler.storage.models import Dripfeed, Origin, Page, Url

_CHUNK = 500
_COLUMNS = (*MOVED, Page.todo_order, Page.stash, Origin.origin, Url.href)
_PAGES = (
    Page.select(*_COLUMNS).join(Origin, on=(Origin.id == Page.origin)).switch(Page).join(Url, on=(Url.id == Page.url))
)


@dataclass(slots=True)
class MovedPages:
    """Pages (rows of `_COLUMNS`) that get into a stash, out of one or out of limbo, and what that comes to."""

    counts: Counter[str] = field(default_factory=Counter)
    unlisted: set[int] = field(default_factory=set)
    former: set[tuple[int, str]] = field(default_factory=set)  # jobs and stashes that pages came from

    def move(self, transaction: Transaction, rows: Sequence[Row], status: PageStatus, stash: str | None) -> None:
        """Give pages a status, and a stash unless it is None; they leave todo list and ignore list."""
        moving = Moving()
        moving.add(rows, status)
        for page_id, job_id, origin_id, *_, todo_order, former, origin, _ in rows:
            if todo_order:
                moving.moves[job_id].unlisted[origin_id] += 1
                self.unlisted.add(page_id)
            if former:
                self.former.add((job_id, former))
            self.counts[origin] += 1
        named = ((row[0], row[8] if stash is None else stash) for row in rows)
        transaction.run_many(_move, [{"page_id": one, "status": status.value, "stash": name} for one, name in named])
        moving.store(transaction)

    def change(self) -> QueueChange:
        return QueueChange(tuple(sorted(self.counts.items())), frozenset(self.unlisted))


def put_aside(transaction: Transaction, job_id: int, keys: Sequence[int], stash: str) -> None:
    """Put the pending pages of a job with these URLs (hashes) into a stash."""
    MovedPages().move(transaction, transaction.all_among(_pending, keys, job_id), PageStatus.STASHED, stash)


def change_stash(
    transaction: Transaction, claim: Claim, command: StashPages | UnstashPages | SetDripfeed
) -> QueueChange:
    """Carry out a command about a stash; return how many pages of which origin moved. Raises NoSuchJob, and ValueError
    for a bad name, origin, URL, pattern or number."""
    stash = clean(command.name)
    if not stash:
        raise ValueError("a stash has a name")
    job_id = job_id_of(transaction, claim, command.job)
    moving = MovedPages()
    match command:
        case StashPages():
            for pages in _ready(transaction, job_id, command):
                moving.move(transaction, pages, PageStatus.STASHED, stash)
            note(transaction, "pages_stashed", f"{moving.counts.total()} pages into {stash}", run_id=claim.run_id)
            for former in sorted({*moving.former, (job_id, stash)}):
                _top_up(transaction, claim, moving, *former)
        case UnstashPages(limit=limit):
            _require_stash(transaction, job_id, stash)
            if limit < 0:
                raise ValueError(f"limit {limit}: give 0 for all pages, or a number of them")
            for pages in _stashed(transaction, job_id, stash, limit):
                moving.move(transaction, pages, PageStatus.READY, "")
            note(transaction, "pages_unstashed", f"{moving.counts.total()} pages out of {stash}", run_id=claim.run_id)
        case SetDripfeed(ready=ready):
            _require_stash(transaction, job_id, stash)
            if ready < 0:
                raise ValueError(f"dripfeed {ready}: give 0 to end it, or a number of pages")
            transaction.run(_end_dripfeed, {"job_id": job_id, "stash": stash})
            transaction.insert(_keep_ready, [(job_id, stash, ready)] if ready else [])
            note(transaction, "dripfeed_changed", f"{ready} of {stash} are kept ready", run_id=claim.run_id)
            _top_up(transaction, claim, moving, job_id, stash)
        case _:
            assert_never(command)
    return moving.change()


def drip(transaction: Transaction, claim: Claim, job_id: int, stash: str) -> Counter[str]:
    """Let pages out of a stash, oldest first, until as many are READY with tries left as its dripfeed keeps: after a
    page that came out of it was settled or refused. Move the counters; return how many pages of which origin came
    out."""
    moving = MovedPages()
    _top_up(transaction, claim, moving, job_id, stash)
    return moving.counts


def drip_all(transaction: Transaction, claim: Claim) -> Counter[str]:
    """The same for every dripfeed: to be called after another depth may have taken pages out of those READY."""
    moving = MovedPages()
    for job_id, stash in transaction.fetch(Dripfeed.select(Dripfeed.job, Dripfeed.stash)):
        _top_up(transaction, claim, moving, job_id, stash)
    return moving.counts


def reclaim(transaction: Transaction, claim: Claim, command: ReclaimPages) -> QueueChange:
    """Take pages out of limbo: the URLs named, else all that were claimed more than `older_ms` ago. Their tries stay;
    what this session has in flight is left alone. Raises ValueError without a reason, for a negative age, and for a bad
    URL."""
    reason = clean(command.reason).strip()
    if not reason:
        raise ValueError("a reason is needed to reclaim pages")
    if command.older_ms < 0:
        raise ValueError(f"older than {command.older_ms} ms: give 0 or more")
    in_flight = (Page.claimed_by == claim.session_id) & (Origin.in_flight_url == Url.href)
    claimed = (Page.status == CLAIMED) & ~in_flight
    moving, old = MovedPages(), Page.claimed_at <= transaction.now - command.older_ms
    for chosen in _with_urls(command.urls) if command.urls else [(old,)]:
        rows = transaction.fetch(_PAGES.where(claimed, *chosen).order_by(Page.id))
        moving.move(transaction, rows, PageStatus.READY, None)
    if moving.counts.total():
        note(transaction, "pages_reclaimed", f"{moving.counts.total()} pages: {reason}", run_id=claim.run_id)
    return moving.change()


def _top_up(transaction: Transaction, claim: Claim, moving: MovedPages, job_id: int, stash: str) -> None:
    named = {"job_id": job_id, "stash": stash}
    feeds = transaction.all(_dripfeed, named)
    missing = feeds[0][0] - transaction.all(_dripped, named)[0][0] if feeds else 0
    if missing <= 0:
        return
    pages = transaction.all(_next_out, {**named, "limit": missing + 1})
    moving.move(transaction, pages[:missing], PageStatus.READY, None)
    if 0 < len(pages) <= missing:
        note(transaction, "stash_emptied", f"nothing is left in {stash}", run_id=claim.run_id)


def _ready(transaction: Transaction, job_id: int, command: StashPages) -> Iterator[list[Row]]:
    """The READY pages with tries left that a command means, oldest first, some at a time."""
    meant = (Page.job == job_id) & (Page.status == ZERO) & (Page.attempts_remaining > ZERO)
    if command.origins:
        meant &= Page.origin.in_(_origin_ids(transaction, command.origins))
    try:
        pattern = Pattern(command.pattern) if command.pattern else None
    except BadPattern as error:
        raise ValueError(f"pattern {error}") from error
    for chosen in _with_urls(command.urls) if command.urls else [()]:
        last = 0
        pages = _PAGES.where(meant, *chosen).order_by(Page.id).limit(_CHUNK)
        while rows := transaction.fetch(pages.where(Page.id > last)):
            last = rows[-1][0]
            yield [row for row in rows if pattern is None or pattern.search(row[-1])]


def _stashed(transaction: Transaction, job_id: int, stash: str, limit: int) -> Iterator[list[Row]]:
    """The pages of a stash, oldest first, some at a time, while the former are taken out of it. `limit` 0: all."""
    left, pages = limit or 2**62, _PAGES.where(_in_stash(job_id, stash)).order_by(Page.id)
    while left and (rows := transaction.fetch(pages.limit(min(_CHUNK, left)))):
        yield rows
        left -= len(rows)


def _with_urls(urls: Iterable[str]) -> list[tuple[Any]]:
    """Conditions for the pages of these URLs, many URLs in pieces. Raises ValueError for a URL that is none."""
    keys = set()
    for url in map(normalise, urls):
        if isinstance(url, InvalidUrl):
            raise ValueError(f"{url.raw[:200]}: {url.reason}")
        keys.add(url.hash)
    hashes = sorted(keys)
    chunks = (hashes[start : start + _CHUNK] for start in range(0, len(hashes), _CHUNK))
    return [(Page.url.in_(Url.select(Url.id).where(Url.hash.in_(chunk))),) for chunk in chunks]


def _origin_ids(transaction: Transaction, names: Iterable[str]) -> list[int]:
    wanted = [clean(name) for name in names]
    query = Origin.select(Origin.origin, Origin.id).where(Origin.origin.in_(wanted))
    found: dict[str, int] = dict(transaction.fetch(query))
    if unknown := [name for name in wanted if name not in found]:
        raise ValueError(f"not an origin of this crawl: {', '.join(unknown[:5])}")
    return list(found.values())


def _require_stash(transaction: Transaction, job_id: int, stash: str) -> None:
    of_pages = Page.select(Page.stash).where((Page.job == job_id) & (Page.status == STASHED)).distinct()
    of_feeds = Dripfeed.select(Dripfeed.stash).where(Dripfeed.job == job_id)
    known = sorted({row[0] for query in (of_pages, of_feeds) for row in transaction.fetch(query)})
    if stash not in known:
        near = nearest(stash, known)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known[:10]) or 'none'}"
        raise ValueError(f"there is no stash named {stash!r} in this job; {hint}")


def _in_stash(job_id: Any, stash: Any) -> Any:
    return (Page.status == STASHED) & (Page.job == job_id) & (Page.stash == stash)


_OUT = (Page.stash != EMPTY) & (Page.status <= CLAIMED) & (Page.attempts_remaining > ZERO) & (Page.beyond_depth == ZERO)
_MINE = (Page.job == slot("job_id")) & (Page.stash == slot("stash"))
_dripped = builds(Page.select(peewee.fn.COUNT(ONE)).where(_OUT & _MINE))
"""How many pages that came out of a stash are still to be crawled. The conditions are those of an index."""
_WAITING = _in_stash(slot("job_id"), slot("stash")) & (Page.beyond_depth == ZERO)
_next_out = builds(_PAGES.where(_WAITING).order_by(Page.id).limit(slot("limit")))


def _pending(size: int) -> Any:
    which = Page.url.in_(ids_of(size)) & (Page.job == slot("job_id"))
    return _PAGES.where(which & is_pending(Page) & (Page.external == ZERO))


_OFF_LISTS = dict.fromkeys(columns(Page, "todo_order ignored_run claimed_at claimed_by"), ZERO)
_move = updates([Page.id], Page.status, Page.stash, to=_OFF_LISTS)
_dripfeed = reads([Dripfeed.job, Dripfeed.stash], Dripfeed.ready)
_keep_ready = upserts([Dripfeed.job, Dripfeed.stash], [Dripfeed.ready])
_end_dripfeed = deletes(Dripfeed.job, Dripfeed.stash)
