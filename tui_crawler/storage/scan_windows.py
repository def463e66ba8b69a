"""What a build reads: pages whose links were not taken yet, a window at a time, and what they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import peewee

from tui_crawler.domain.page import TodoPage
from tui_crawler.storage.claim import ZERO
from tui_crawler.storage.models import Document, Link, Origin, Page, Redirect, Url
from tui_crawler.storage.statements import slot
from tui_crawler.storage.transaction import Row, Transaction

_ONE = peewee.SQL("1")
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
    """A page that names others, with or without a document. `read_at` is when it last gave them (epoch ms)."""

    page: TodoPage
    origin_id: int
    read_at: int
    document: bool


@dataclass(frozen=True, slots=True)
class Named:
    """A URL that a page names: its text and its hash."""

    href: str
    key: int


def documents(transaction: Transaction, after: int, limit: int) -> list[Parent]:
    """Pages with a document that was not scanned, by id, after page `after`."""
    rows = transaction.all(_unscanned, {"after": after, "limit": limit})
    return [_parent(row, document=True) for row in rows]


def without_document(transaction: Transaction, after: int, limit: int) -> list[Parent]:
    """Pages that redirect or are noindex and were not scanned, by id, after page `after`."""
    rows = transaction.all(_bare, {"after": after, "limit": limit})
    return [_parent(row, document=False) for row in rows]


def links(transaction: Transaction, page_ids: Sequence[int], kinds: Iterable[str]) -> dict[int, list[Named]]:
    """The links of pages that may be followed, of these kinds."""
    query = Link.select(Link.from_page, Url.href, Url.hash).join(Url, on=(Url.id == Link.to_url))
    chosen = Link.from_page.in_(list(page_ids)) & Link.kind.in_(sorted(kinds)) & (Link.nofollow == 0)
    return _by_page(transaction.fetch(query.where(chosen)))


def redirects(transaction: Transaction, page_ids: Sequence[int]) -> dict[int, list[Named]]:
    """Where pages send their readers."""
    query = Redirect.select(Redirect.page, Url.href, Url.hash).join(Url, on=(Url.id == Redirect.to_url))
    return _by_page(transaction.fetch(query.where(Redirect.page.in_(list(page_ids)))))


def pages_by_origin(transaction: Transaction) -> dict[str, int]:
    """How many pages each origin has."""
    return dict(transaction.fetch(Origin.select(Origin.origin, Origin.pages_known)))


def mark_scanned(transaction: Transaction, pages: Sequence[tuple[int, int, bool]]) -> None:
    """Notes that these pages were scanned, with a document or without, if what they name is still what they gave at
    that time (epoch ms)."""
    now = transaction.now
    stored = ({"page_id": one, "stored_at": at, "scanned_at": now} for one, at, document in pages if document)
    transaction.run_many(_mark_document, stored)
    bare = ({"page_id": one, "read_at": at} for one, at, document in pages if not document)
    transaction.run_many(_mark_page, bare)


def _parent(row: Row, *, document: bool) -> Parent:
    page_id, job_id, url, depth, nice, hops, pattern, force, sitemap, origin_id, read_at = row
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
    return Parent(page, origin_id, read_at, document)


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


def _bare() -> Any:
    return (
        Page.select(*_PARENT, Page.last_contentful_at)
        .join(Url, on=(Url.id == Page.url))
        .where((Page.unscanned == _ONE) & (Page.id > slot("after")))
        .order_by(Page.id)
        .limit(slot("limit"))
    )


def _mark_page() -> Any:
    same = (Page.id == slot("page_id")) & (Page.last_contentful_at == slot("read_at"))
    return Page.update({Page.unscanned: ZERO}).where(same)


def _mark_document() -> Any:
    same = (Document.page == slot("page_id")) & (Document.stored_at == slot("stored_at"))
    return Document.update({Document.scanned_at: slot("scanned_at")}).where(same)
