"""Documents with what was found in them, bodies, links and redirects of a page, as one attempt leaves them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import peewee
import zstandard

from tui_crawler.domain.attempt import (
    DataValue,
    DocumentRecord,
    FoundLink,
    LinkKind,
    Reading,
    RedirectRecord,
    Validation,
    WaitingDocument,
)
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.models import Attempt, Body, DataBlock, Document, Link, Page, Redirect, Url
from tui_crawler.storage.statements import insert_rows, slot, slots
from tui_crawler.storage.transaction import Transaction

_COLUMNS = (
    Document.page,
    Document.kind,
    Document.content_type,
    Document.charset,
    Document.title,
    Document.sha256,
    Document.size,
    Document.etag,
    Document.last_modified,
    Document.cache_control,
    Document.expires,
    Document.age,
    Document.content_location,
    Document.canonical,
    Document.noindex,
    Document.nofollow,
    Document.incomplete,
    Document.stored_at,
    Document.validation_type,
    Document.valid,
    Document.validation_errors,
    Document.parsed_at,
    Document.scanned_at,
)
_KINDS = {kind: kind.value for kind in LinkKind}
_ERRORS_KEPT = 20  # of a validation (G)
_WAITS = -1  # in place of `parsed_at`


def pack(transaction: Transaction, document: DocumentRecord) -> bytes | None:
    """The compressed body (zstd) of a document; None when it has none to store, or the same is stored already."""
    if document.body is None or transaction.one(_body_of, {"sha256": document.sha256}) is not None:
        return None
    return zstandard.ZstdCompressor().compress(document.body)


def store_document(transaction: Transaction, document: DocumentRecord, packed: bytes | None, stored_at: int) -> None:
    """Replaces the document of a page as a whole, with its validation and data blocks; a body that nothing refers to
    any more goes.

    `packed` is what `pack` answered before the transaction began.
    """
    former = transaction.one(_former, {"page_id": document.page_id})
    store_body(transaction, document, packed)
    transaction.insert(insert_documents, [document_row(document, stored_at)])
    if former is not None and former[0] != document.sha256:
        _drop_body(transaction, former[0])
    if document.data or (former is not None and former[1]):
        _replace_data(transaction, document.page_id, document.data)


def store_body(transaction: Transaction, document: DocumentRecord, packed: bytes | None) -> None:
    """Stores the body of a document, if it has one that is not stored; `packed` as in `store_document`."""
    packed = packed or pack(transaction, document)
    if packed is not None:
        transaction.run(_insert_body, {"sha256": document.sha256, "size": document.size, "zstd": packed})


def document_row(document: DocumentRecord, stored_at: int) -> tuple[Any, ...]:
    """The values of a document, for `insert_documents`."""
    return (
        document.page_id,
        clean(document.kind),
        clean(document.content_type),
        clean(document.charset),
        clean(document.title),
        document.sha256,
        document.size,
        clean(document.etag),
        clean(document.last_modified),
        clean(document.cache_control),
        clean(document.expires),
        clean(document.age),
        clean(document.content_location),
        clean(document.canonical),
        document.noindex,
        document.nofollow,
        ",".join(document.incomplete),
        stored_at,
        *_validation_values(document.validation, _WAITS if document.waits else stored_at),
        stored_at if document.scanned else 0,
    )


def waiting_documents(transaction: Transaction) -> list[WaitingDocument]:
    """The first few documents that wait for validators and data rules."""
    return [WaitingDocument(*row) for row in transaction.all(_waiting, {})]


def store_second_reading(transaction: Transaction, document: WaitingDocument, found: Reading | None) -> None:
    """Stores what validators and data rules say of a document that waits, unless another has come in its place; None:
    they came to no end, and are not asked again."""
    kind, valid, errors, at = _validation_values(found.validation if found else None, transaction.now)
    values = {"page_id": document.page_id, "sha256": document.sha256, "parsed_at": at}
    stored = transaction.one(
        _store_validation, values | {"validation_type": kind, "valid": valid, "validation_errors": errors}
    )
    if stored is None or found is None:
        return
    if found.data:
        _replace_data(transaction, document.page_id, found.data)
    if found.incomplete:
        said = {"page_id": document.page_id, "message": clean(found.message), "ended_at": stored[0]}
        transaction.run(_store_cut, said)
        transaction.run(_store_message, said)


def drop_document(transaction: Transaction, page_id: int) -> None:
    """Removes the document of a page with its data blocks, and its body unless another page has the same."""
    former = transaction.one(_former, {"page_id": page_id})
    if former is None:
        return
    transaction.run(_drop_document, {"page_id": page_id})
    _drop_body(transaction, former[0])
    if former[1]:
        _replace_data(transaction, page_id, ())


def store_links(
    transaction: Transaction, page_id: int, links: Iterable[FoundLink], ids: Mapping[int, int], at: int
) -> None:
    """Replaces the links of a page by their difference: kept ones keep when they were first seen (G)."""
    stored = {
        (kind, to_url): (nofollow, text)
        for kind, to_url, nofollow, text in transaction.all(_links_of, {"page_id": page_id})
    }
    found = link_rows(page_id, links, ids, at)
    gone = stored.keys() - {(kind, to_url) for _, kind, to_url, *_ in found}
    if gone:
        rows = [{"page_id": page_id, "kind": kind, "to_url_id": to_url} for kind, to_url in gone]
        transaction.run_many(_delete_link, rows)
    changed = [row for row in found if stored.get(row[1:3]) != row[3:5]]
    transaction.insert(insert_links, changed)


def link_rows(
    page_id: int, links: Iterable[FoundLink], ids: Mapping[int, int], at: int
) -> list[tuple[int, str, int, bool, str, int]]:
    """The links of a page by kind and target, for `insert_links`; the first of several to one target counts."""
    found: dict[tuple[str, int], tuple[int, str, int, bool, str, int]] = {}
    for link_kind, url, text, nofollow in links:
        key = kind, to_url = _KINDS[link_kind], ids[url.hash]
        if key not in found:
            found[key] = (
                page_id,
                kind,
                to_url,
                nofollow,
                text if text.isascii() and "\0" not in text else clean(text),
                at,
            )
    return [found[key] for key in sorted(found)]


def store_redirect(
    transaction: Transaction, page_id: int, redirect: RedirectRecord | None, ids: Mapping[int, int], at: int
) -> None:
    """Where the page sends its reader now; None: nowhere. Former targets go."""
    if redirect is None:
        transaction.run(_delete_redirects, {"page_id": page_id})
        return
    to_url = ids[url_hash(clean(redirect.to_url))]
    key = {"page_id": page_id, "source": redirect.source.value, "to_url_id": to_url}
    transaction.run(_delete_other_redirects, key)
    values = {
        **key,
        "to_fragment": clean(redirect.to_fragment),
        "permanent": redirect.permanent,
        "seen_at": at,
    }
    transaction.run(_store_redirect, values)


def _validation_values(validation: Validation | None, parsed_at: int) -> tuple[str, int | None, str, int]:
    """The columns of a validation; NULL and empty where no validator has looked at the document (G)."""
    if validation is None:
        return "", None, "", min(parsed_at, 0)
    errors = [[error.line, error.column, clean(error.message)] for error in validation.errors[:_ERRORS_KEPT]]
    text = json.dumps(errors, separators=(",", ":")) if errors else ""
    return clean(validation.type), int(validation.valid), text, parsed_at


def _replace_data(transaction: Transaction, page_id: int, data: Sequence[DataValue]) -> None:
    transaction.run(_delete_data, {"page_id": page_id})
    rows = [(page_id, clean(one.name), one.type, one.place, clean(one.value)) for one in data]
    transaction.insert(_insert_data, rows)


def _drop_body(transaction: Transaction, sha256: str) -> None:
    if transaction.one(_page_with, {"sha256": sha256}) is None:
        transaction.run(_delete_body, {"sha256": sha256})


def _former() -> Any:
    """The content hash of a page's document, and whether it has data blocks."""
    data = DataBlock.select(peewee.SQL("1")).where(DataBlock.page == Document.page)
    return Document.select(Document.sha256, peewee.fn.EXISTS(data)).where(Document.page == slot("page_id"))


def _body_of() -> Any:
    return Body.select(Body.size).where(Body.sha256 == slot("sha256"))


def _insert_body() -> Any:
    return Body.insert(slots([Body.sha256, Body.size, Body.zstd])).on_conflict(
        action="nothing", conflict_target=[Body.sha256]
    )


def insert_documents(size: int) -> Any:
    """An INSERT of documents; one of the same page is replaced."""
    kept = {column: getattr(peewee.EXCLUDED, column.column_name) for column in _COLUMNS[1:]}
    return insert_rows(_COLUMNS, size).on_conflict(conflict_target=[Document.page], update=kept)


def _waiting() -> Any:
    columns = (Document.page, Url.href, Document.sha256, Document.content_type, Document.charset, Body.size, Body.zstd)
    return (
        Document.select(*columns)
        .join(Page, on=(Page.id == Document.page))
        .join(Url, on=(Url.id == Page.url))
        .join(Body, on=(Body.sha256 == Document.sha256))
        .where(Document.parsed_at < peewee.SQL("0"))
        .order_by(Document.page)
        .limit(peewee.SQL("8"))
    )


def _store_validation() -> Any:
    columns = (Document.validation_type, Document.valid, Document.validation_errors, Document.parsed_at)
    same = (Document.page == slot("page_id")) & (Document.sha256 == slot("sha256"))
    return (
        Document.update(slots(columns))
        .where(same & (Document.parsed_at < peewee.SQL("0")))
        .returning(Document.stored_at)
    )


def _store_cut() -> Any:
    more = peewee.SQL("LTRIM(incomplete || ',data', ',')")
    return Document.update({Document.incomplete: more}).where(Document.page == slot("page_id"))


def _store_message() -> Any:
    """The attempt that brought the document says it, too."""
    last = Page.select(Page.last_attempt_id).where(Page.id == slot("page_id"))
    more = {Attempt.cut: peewee.SQL("LTRIM(cut || ',data', ',')"), Attempt.message: slot("message")}
    return Attempt.update(more).where((Attempt.id == last) & (Attempt.ended_at == slot("ended_at")))


def _drop_document() -> Any:
    return Document.delete().where(Document.page == slot("page_id"))


def _delete_data() -> Any:
    return DataBlock.delete().where(DataBlock.page == slot("page_id"))


def _insert_data(size: int) -> Any:
    """A rule that gives two values for one place keeps the first."""
    columns = [DataBlock.page, DataBlock.name, DataBlock.type, DataBlock.place, DataBlock.value]
    return insert_rows(columns, size).on_conflict(
        action="nothing", conflict_target=[columns[0], columns[1], columns[3]]
    )


def _page_with() -> Any:
    return Document.select(Document.page).where(Document.sha256 == slot("sha256")).limit(peewee.SQL("1"))


def _delete_body() -> Any:
    return Body.delete().where(Body.sha256 == slot("sha256"))


def _links_of() -> Any:
    return Link.select(Link.kind, Link.to_url, Link.nofollow, Link.text).where(Link.from_page == slot("page_id"))


def _delete_link() -> Any:
    key = (Link.from_page == slot("page_id")) & (Link.kind == slot("kind")) & (Link.to_url == slot("to_url_id"))
    return Link.delete().where(key)


def insert_links(size: int) -> Any:
    """An INSERT of links; one that is there gets the new text."""
    columns = [Link.from_page, Link.kind, Link.to_url, Link.nofollow, Link.text, Link.first_seen_at]
    return insert_rows(columns, size).on_conflict(
        conflict_target=columns[:3],
        update={Link.nofollow: peewee.EXCLUDED.nofollow, Link.text: peewee.EXCLUDED.text},
    )


def _delete_redirects() -> Any:
    return Redirect.delete().where(Redirect.page == slot("page_id"))


def _delete_other_redirects() -> Any:
    same = (Redirect.source == slot("source")) & (Redirect.to_url == slot("to_url_id"))
    return Redirect.delete().where((Redirect.page == slot("page_id")) & ~same)


def _store_redirect() -> Any:
    columns = [
        Redirect.page,
        Redirect.source,
        Redirect.to_url,
        Redirect.to_fragment,
        Redirect.permanent,
        Redirect.seen_at,
    ]
    update = {
        Redirect.to_fragment: peewee.EXCLUDED.to_fragment,
        Redirect.permanent: peewee.EXCLUDED.permanent,
        Redirect.seen_at: peewee.EXCLUDED.seen_at,
    }
    return Redirect.insert(slots(columns)).on_conflict(conflict_target=columns[:3], update=update)
