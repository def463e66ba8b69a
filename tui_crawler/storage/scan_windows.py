"""What a build reads: pages whose links were not taken yet, a window at a time, and what they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import peewee

from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.page import TodoPage
from tui_crawler.storage.claim import ZERO
from tui_crawler.storage.models import Attempt, Document, Link, Origin, Page, Redirect, Url
from tui_crawler.storage.statements import padded, slot
from tui_crawler.storage.transaction import Row, Transaction

_CHUNK = 256  # of ids in one statement
_WITHOUT_DOCUMENT = (
    ExitCode.permanent_redirect,
    ExitCode.redirect,
    ExitCode.not_canonical,
    ExitCode.noindex,
)
"""Exit codes of attempts that leave links or a redirect behind and no document."""

_PARENT = (
    Page.id,
    Page.job,
    Url.href,
    Page.depth,
    Page.nice,
    Page.redirect_hops,
    Page.item_pattern,
    Page.force,
    Page.sitemap,
    Page.origin,
)


@dataclass(frozen=True, slots=True)
class Parent:
    """A page that names others. `stored_at` is when its document was stored (epoch ms), 0 when it has none."""

    page: TodoPage
    origin_id: int
    stored_at: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """A URL that a page names: its text and its hash."""

    href: str
    key: int


def documents(transaction: Transaction, after: int, limit: int) -> list[Parent]:
    """Pages with a document that was not scanned, by id, after page `after`."""
    rows = transaction.all(_unscanned, {"after": after, "limit": limit})
    return [_parent(row, row[len(_PARENT)]) for row in rows]


def without_document(transaction: Transaction, after: int, last: int) -> list[Parent]:
    """Pages without a document that attempts with ids after `after`, up to `last`, have made redirects or noindex."""
    found = transaction.all(_attempted, {"after": after, "last": last})
    ids = sorted({row[0] for row in found})
    parents: list[Parent] = []
    for start in range(0, len(ids), _CHUNK):
        places = padded(ids[start : start + _CHUNK])
        parents += [_parent(row, 0) for row in transaction.all_of(_bare_pages, len(places), places)]
    return parents


def links(transaction: Transaction, page_ids: Sequence[int], kinds: Iterable[str]) -> dict[int, list[Named]]:
    """The links of pages that may be followed, of these kinds."""
    query = Link.select(Link.from_page, Url.href, Url.hash).join(Url, on=(Url.id == Link.to_url))
    chosen = Link.from_page.in_(list(page_ids)) & Link.kind.in_(sorted(kinds)) & (Link.nofollow == 0)
    return _by_page(transaction.fetch(query.where(chosen)))


def redirects(transaction: Transaction, page_ids: Sequence[int]) -> dict[int, list[Named]]:
    """Where pages send their readers."""
    query = Redirect.select(Redirect.page, Url.href, Url.hash).join(Url, on=(Url.id == Redirect.to_url))
    return _by_page(transaction.fetch(query.where(Redirect.page.in_(list(page_ids)))))


def last_attempt(transaction: Transaction) -> int:
    """The id of the newest attempt, 0 when there is none."""
    highest: int | None = transaction.fetch(Attempt.select(peewee.fn.MAX(Attempt.id)))[0][0]
    return highest or 0


def pages_by_origin(transaction: Transaction) -> dict[str, int]:
    """How many pages each origin has."""
    return dict(transaction.fetch(Origin.select(Origin.origin, Origin.pages_known)))


def mark_scanned(transaction: Transaction, pages: Iterable[tuple[int, int]]) -> None:
    """Notes that the documents of these pages were scanned, if they are still those that were stored at that time
    (epoch ms)."""
    rows = ({"page_id": page_id, "stored_at": stored_at, "scanned_at": transaction.now} for page_id, stored_at in pages)
    transaction.run_many(_mark, rows)


def _parent(row: Row, stored_at: int) -> Parent:
    page_id, job_id, url, depth, nice, hops, pattern, force, sitemap, origin_id = row[: len(_PARENT)]
    page = TodoPage(
        page_id=page_id,
        job_id=job_id,
        url=url,
        depth=depth,
        nice=nice,
        redirect_hops=hops,
        item_pattern=pattern,
        force=bool(force),
        sitemap=bool(sitemap),
    )
    return Parent(page, origin_id, stored_at)


def _by_page(rows: Iterable[Row]) -> dict[int, list[Named]]:
    found: dict[int, list[Named]] = {}
    for page_id, href, key in rows:
        found.setdefault(page_id, []).append(Named(href, key))
    return found


def _unscanned() -> Any:
    return (
        Page.select(*_PARENT, Document.stored_at)
        .join(Document, on=(Document.page == Page.id))
        .switch(Page)
        .join(Url, on=(Url.id == Page.url))
        .where((Document.scanned_at == ZERO) & (Document.page > slot("after")))
        .order_by(Document.page)
        .limit(slot("limit"))
    )


def _attempted() -> Any:
    window = (Attempt.id > slot("after")) & (Attempt.id <= slot("last"))
    codes = Attempt.exit_code.in_([peewee.SQL(str(code.value)) for code in _WITHOUT_DOCUMENT])
    return Attempt.select(Attempt.page).where(window & codes & Attempt.page.is_null(False))


def _bare_pages(size: int) -> Any:
    return (
        Page.select(*_PARENT)
        .join(Url, on=(Url.id == Page.url))
        .switch(Page)
        .join(Document, peewee.JOIN.LEFT_OUTER, on=(Document.page == Page.id))
        .where(Page.id.in_([slot("page_id")] * size) & Document.page.is_null())
    )


def _mark() -> Any:
    same = (Document.page == slot("page_id")) & (Document.stored_at == slot("stored_at"))
    return Document.update({Document.scanned_at: slot("scanned_at")}).where(same)
