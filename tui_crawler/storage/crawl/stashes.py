"""Stashes and limbo (B): READY <-> STASHED by name, dripping back a few at a time, and pages claimed for too long.

A stashed page is no candidate and not pending. One that has dripped out keeps the name of its stash, so that it can
be counted until it is crawled.
"""

from __future__ import annotations

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
from tui_crawler.storage.crawl.counters import CounterChanges, tally_of
from tui_crawler.storage.crawl.intake import move_counters
from tui_crawler.storage.crawl.jobs import job_id_of
from tui_crawler.storage.db.claim import ONE, ZERO, Claim
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import columns, deletes, reads, slot, updates, upserts
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Dripfeed, Origin, Page, Url

_CHUNK = 500
_STASHED = peewee.SQL(str(PageStatus.STASHED.value))
_CLAIMED = peewee.SQL(str(PageStatus.CLAIMED.value))
_COLUMNS = (
    Page.id,
    Page.origin,
    Origin.origin,
    *columns(Page, "status attempts_remaining last_exit_code beyond_depth todo_order stash job"),
    Url.href,
)
_PAGES = (
    Page.select(*_COLUMNS).join(Origin, on=(Origin.id == Page.origin)).switch(Page).join(Url, on=(Url.id == Page.url))
)


@dataclass(frozen=True, slots=True)
class _Moved:
    """A page on its way into a stash, out of one or out of limbo, in the columns of `_COLUMNS`."""

    page_id: int
    origin_id: int
    origin: str
    status: int
    attempts_remaining: int
    last_exit_code: int | None
    beyond_depth: int
    todo_order: int
    stash: str
    job_id: int
    url: str


@dataclass(slots=True)
class _Moving:
    """Pages that change their status together, and what that comes to."""

    counts: dict[str, int] = field(default_factory=dict)
    unlisted: set[int] = field(default_factory=set)
    former: set[tuple[int, str]] = field(default_factory=set)  # jobs and stashes that pages came from

    def move(self, transaction: Transaction, pages: Sequence[_Moved], status: PageStatus, stash: str | None) -> None:
        """Gives pages a status, and a stash unless it is None; they leave todo list and ignore list."""
        moves: dict[int, CounterChanges] = {}
        rows = []
        for page in pages:
            of_job = moves.setdefault(page.job_id, CounterChanges())
            state = (page.attempts_remaining, page.last_exit_code, page.beyond_depth)
            of_job.add(page.origin_id, tally_of(status, *state).minus(tally_of(page.status, *state)))
            if page.todo_order:
                of_job.unlisted[page.origin_id] += 1
                self.unlisted.add(page.page_id)
            if page.stash:
                self.former.add((page.job_id, page.stash))
            self.counts[page.origin] = self.counts.get(page.origin, 0) + 1
            kept = page.stash if stash is None else stash
            rows.append({"page_id": page.page_id, "status": status.value, "stash": kept})
        transaction.run_many(_move, rows)
        for job_id, of_job in moves.items():
            move_counters(transaction, job_id, of_job)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def change(self) -> QueueChange:
        return QueueChange(tuple(sorted(self.counts.items())), frozenset(self.unlisted))


def change_stash(
    transaction: Transaction, claim: Claim, command: StashPages | UnstashPages | SetDripfeed
) -> QueueChange:
    """Carries out a command about a stash; answers how many pages of which origin moved.

    Raises NoSuchJob, and ValueError for a name, an origin, a URL, a pattern or a number that is none.
    """
    stash = clean(command.name)
    if not stash:
        raise ValueError("a stash has a name")
    job_id = job_id_of(transaction, claim, command.job)
    moving = _Moving()
    match command:
        case StashPages():
            for pages in _ready(transaction, job_id, command):
                moving.move(transaction, pages, PageStatus.STASHED, stash)
            note(transaction, "pages_stashed", f"{moving.total} pages into {stash}", run_id=claim.run_id)
            for former in sorted({*moving.former, (job_id, stash)}):
                _top_up(transaction, claim, moving, *former)
        case UnstashPages(limit=limit):
            _require_stash(transaction, job_id, stash)
            if limit < 0:
                raise ValueError(f"limit {limit}: give 0 for all pages, or a number of them")
            for pages in _stashed(transaction, job_id, stash, limit):
                moving.move(transaction, pages, PageStatus.READY, "")
            note(transaction, "pages_unstashed", f"{moving.total} pages out of {stash}", run_id=claim.run_id)
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


def drip(transaction: Transaction, claim: Claim, job_id: int, stash: str) -> dict[str, int]:
    """Lets pages out of a stash, oldest first, until as many are READY with tries left as its dripfeed keeps.

    To be called after a page that came out of this stash was settled or refused. It moves the counters of origins
    and job by itself; answers how many pages of which origin came out.
    """
    moving = _Moving()
    _top_up(transaction, claim, moving, job_id, stash)
    return moving.counts


def drip_all(transaction: Transaction, claim: Claim) -> dict[str, int]:
    """The same for every dripfeed: to be called after another depth may have taken pages out of those READY."""
    moving = _Moving()
    for job_id, stash in transaction.fetch(Dripfeed.select(Dripfeed.job, Dripfeed.stash)):
        _top_up(transaction, claim, moving, job_id, stash)
    return moving.counts


def reclaim(transaction: Transaction, claim: Claim, command: ReclaimPages) -> QueueChange:
    """Takes pages out of limbo: the URLs named, else all that were claimed more than `older_ms` ago.

    Their tries stay as they are. What this session has in flight is left alone. Raises ValueError without a reason,
    for a negative age, and for a URL that is none.
    """
    reason = clean(command.reason).strip()
    if not reason:
        raise ValueError("a reason is needed to reclaim pages")
    if command.older_ms < 0:
        raise ValueError(f"older than {command.older_ms} ms: give 0 or more")
    in_flight = (Page.claimed_by == claim.session_id) & (Origin.in_flight_url == Url.href)
    claimed = (Page.status == _CLAIMED) & ~in_flight
    moving = _Moving()
    if command.urls:
        conditions = [claimed & chosen for chosen in _with_urls(command.urls)]
    else:
        conditions = [claimed & (Page.claimed_at <= transaction.now - command.older_ms)]
    for condition in conditions:
        rows = transaction.fetch(_PAGES.where(condition).order_by(Page.id))
        moving.move(transaction, [_Moved(*row) for row in rows], PageStatus.READY, None)
    if moving.total:
        note(transaction, "pages_reclaimed", f"{moving.total} pages: {reason}", run_id=claim.run_id)
    return moving.change()


def _top_up(transaction: Transaction, claim: Claim, moving: _Moving, job_id: int, stash: str) -> None:
    row = transaction.one(_dripfeed, {"job_id": job_id, "stash": stash})
    if row is None:
        return
    counted = transaction.one(_dripped, {"job_id": job_id, "stash": stash})
    missing = row[0] - (counted[0] if counted else 0)
    if missing <= 0:
        return
    values = {"job_id": job_id, "stash": stash, "limit": missing + 1}
    pages = [_Moved(*found) for found in transaction.all(_next_out, values)]
    moving.move(transaction, pages[:missing], PageStatus.READY, None)
    if 0 < len(pages) <= missing:
        note(transaction, "stash_emptied", f"nothing is left in {stash}", run_id=claim.run_id)


def _ready(transaction: Transaction, job_id: int, command: StashPages) -> Iterator[list[_Moved]]:
    """The READY pages with tries left that a command means, oldest first, some at a time."""
    meant = (Page.job == job_id) & (Page.status == ZERO) & (Page.attempts_remaining > ZERO)
    if command.origins:
        meant &= Page.origin.in_(_origin_ids(transaction, command.origins))
    try:
        pattern = Pattern(command.pattern) if command.pattern else None
    except BadPattern as error:
        raise ValueError(f"pattern {error}") from error
    for chosen in _with_urls(command.urls) if command.urls else [None]:
        condition = meant if chosen is None else meant & chosen
        last = 0
        while rows := transaction.fetch(_PAGES.where(condition & (Page.id > last)).order_by(Page.id).limit(_CHUNK)):
            last = rows[-1][0]
            pages = [_Moved(*row) for row in rows]
            yield [page for page in pages if pattern is None or pattern.search(page.url)]


def _stashed(transaction: Transaction, job_id: int, stash: str, limit: int) -> Iterator[list[_Moved]]:
    """The pages of a stash, oldest first, some at a time, while the former are taken out of it. `limit` 0: all."""
    left = limit or -1
    while left:
        size = _CHUNK if left < 0 else min(_CHUNK, left)
        rows = transaction.fetch(_PAGES.where(_in_stash(job_id, stash)).order_by(Page.id).limit(size))
        if not rows:
            return
        yield [_Moved(*row) for row in rows]
        left -= len(rows) if left > 0 else 0


def _with_urls(urls: Iterable[str]) -> list[Any]:
    """Conditions for the pages of these URLs, many URLs in pieces. Raises ValueError for a URL that is none."""
    keys: dict[int, None] = {}
    for text in urls:
        url = normalise(text)
        if isinstance(url, InvalidUrl):
            raise ValueError(f"{url.raw[:200]}: {url.reason}")
        keys[url.hash] = None
    hashes = sorted(keys)
    chunks = (hashes[start : start + _CHUNK] for start in range(0, len(hashes), _CHUNK))
    return [Page.url.in_(Url.select(Url.id).where(Url.hash.in_(chunk))) for chunk in chunks]


def _origin_ids(transaction: Transaction, names: Iterable[str]) -> list[int]:
    wanted = [clean(name) for name in names]
    found: dict[str, int] = dict(
        transaction.fetch(Origin.select(Origin.origin, Origin.id).where(Origin.origin.in_(wanted)))
    )
    unknown = [name for name in wanted if name not in found]
    if unknown:
        raise ValueError(f"not an origin of this crawl: {', '.join(unknown[:5])}")
    return list(found.values())


def _require_stash(transaction: Transaction, job_id: int, stash: str) -> None:
    of_pages = Page.select(Page.stash).where((Page.job == job_id) & (Page.status == _STASHED)).distinct()
    of_feeds = Dripfeed.select(Dripfeed.stash).where(Dripfeed.job == job_id)
    known = sorted({row[0] for query in (of_pages, of_feeds) for row in transaction.fetch(query)})
    if stash not in known:
        near = nearest(stash, known)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known[:10]) or 'none'}"
        raise ValueError(f"there is no stash named {stash!r} in this job; {hint}")


def _in_stash(job_id: Any, stash: Any) -> Any:
    return (Page.status == _STASHED) & (Page.job == job_id) & (Page.stash == stash)


def _dripped() -> Any:
    """How many pages that came out of a stash are still to be crawled. The conditions are those of an index."""
    ready = (
        (Page.stash != peewee.SQL("''"))
        & (Page.status <= _CLAIMED)
        & (Page.attempts_remaining > ZERO)
        & (Page.beyond_depth == ZERO)
    )
    mine = (Page.job == slot("job_id")) & (Page.stash == slot("stash"))
    return Page.select(peewee.fn.COUNT(ONE)).where(ready & mine)


def _next_out() -> Any:
    waiting = _in_stash(slot("job_id"), slot("stash")) & (Page.beyond_depth == ZERO)
    return _PAGES.where(waiting).order_by(Page.id).limit(slot("limit"))


_OFF_LISTS = dict.fromkeys(columns(Page, "todo_order ignored_run claimed_at claimed_by"), ZERO)
_move = updates([Page.id], Page.status, Page.stash, to=_OFF_LISTS)
_dripfeed = reads([Dripfeed.job, Dripfeed.stash], Dripfeed.ready)
_keep_ready = upserts([Dripfeed.job, Dripfeed.stash], [Dripfeed.ready])
_end_dripfeed = deletes(Dripfeed.job, Dripfeed.stash)
