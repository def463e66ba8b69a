"""Documents with what was found in them, bodies, links and redirects of a page, as one attempt leaves them; fragments
that links name, judged against the names on their target whenever one of the two pages is crawled."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import peewee
import zstandard

from tui_crawler.domain.records.attempt import (
    DataValue,
    DocumentRecord,
    FoundLink,
    Reading,
    RedirectRecord,
    Settle,
    Validation,
    WaitingDocument,
)
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.url import indicated, url_hash
from tui_crawler.storage.crawl.former import Keeper, drop_body
from tui_crawler.storage.db.claim import ONE, ZERO
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import (
    builds,
    builds_among,
    columns,
    deletes,
    inserts,
    reads,
    reads_among,
    slot,
    updates,
    upserts,
)
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import (
    Attempt,
    Body,
    DataBlock,
    Document,
    Fragment,
    Link,
    Page,
    PageAnchors,
    Redirect,
    Url,
)

_TEXTS = "kind content_type charset title etag last_modified cache_control expires age content_location canonical"
_PLAIN = "sha256 size noindex nofollow"
_VALIDATION = "validation_type valid validation_errors parsed_at"
_COLUMNS = columns(Document, *("page", _TEXTS, _PLAIN), *("incomplete stored_at", _VALIDATION, "scanned_at"))
_texts, _plain = attrgetter(*_TEXTS.split()), attrgetter(*_PLAIN.split())
_DATA = columns(DataBlock, "page name place type value")
_FRAGMENT = columns(Fragment, "to_url fragment from_page text missing")
_LINK = columns(Link, "from_page kind to_url nofollow text first_seen_at")
_LINK_KEY = tuple(column.column_name for column in _LINK[:3])
_KINDS = {kind: kind.value for kind in LinkKind}
_ERRORS_KEPT = 20  # of a validation (G)
_WAITS = -1  # in place of `parsed_at`

LinkRow = tuple[int, str, int, bool, str, int]
"""A link: its page, kind, id of the target, nofollow, text, and when it was first seen (epoch ms)."""


class _Compressor(threading.local):
    """One for each thread: to make one takes a fifth of the time that a page takes to compress."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=1).compress


_COMPRESSOR = _Compressor()


def pack(document: DocumentRecord) -> bytes | None:
    """The compressed body (zstd) of a document, None without one. To ask whether it is stored takes half as long."""
    return None if document.body is None else _COMPRESSOR.compress(document.body)


def store_documents(
    transaction: Transaction,
    documents: Sequence[tuple[DocumentRecord, bytes | None, int]],
    again: Sequence[int],
    keeper: Keeper,
) -> None:
    """Replace the documents of pages, with their validations and data blocks; remove bodies without any reference. Each
    comes with what `pack` returned before the transaction, and its time (epoch ms). `again`: pages that may have had
    one."""
    former = {row[0]: row[1:] for row in transaction.all_among(_former, again)}
    if keeper.keeps and former:
        again_stored = (one for one, _, _ in documents if one.page_id in former)
        said = ((one.page_id, (one.sha256, clean(one.title), clean(one.canonical))) for one in again_stored)
        keeper.pages([page_id for page_id, now in said if former[page_id][:3] != now])
    for document, packed, _ in documents:
        if body := packed or pack(document):
            transaction.insert(_insert_body, [(document.sha256, document.size, body)])
    transaction.insert(insert_documents, [_document_row(document, at) for document, _, at in documents])
    for document, _, _ in documents:
        sha256, *_, had_data = former.get(document.page_id, (document.sha256, 0))
        if sha256 != document.sha256:
            drop_body(transaction, sha256)
        if document.data or had_data:
            _replace_data(transaction, document.page_id, document.data)


def _document_row(document: DocumentRecord, stored_at: int) -> tuple[Any, ...]:
    return (
        document.page_id,
        *map(clean, _texts(document)),
        *_plain(document),
        ",".join(document.incomplete),
        stored_at,
        *_validation_values(document.validation, _WAITS if document.waits else stored_at),
        stored_at if document.scanned else 0,
    )


def waiting_documents(transaction: Transaction) -> list[WaitingDocument]:
    """The first few documents that wait for validators and data rules."""
    return [WaitingDocument(*row) for row in transaction.all(_waiting, {})]


def store_second_reading(transaction: Transaction, document: WaitingDocument, found: Reading | None) -> None:
    """Store what validators and data rules say of a waiting document, unless it was replaced; None: they did not
    finish."""
    said = _validation_values(found.validation if found else None, transaction.now)
    values = dict(zip(_VALIDATION.split(), said, strict=True))
    values |= {"page_id": document.page_id, "sha256": document.sha256}
    stored = transaction.one(_store_validation, values)
    if stored is None or found is None:
        return
    if found.data:
        _replace_data(transaction, document.page_id, found.data)
    if found.incomplete:
        cut = {"page_id": document.page_id, "message": clean(found.message), "ended_at": stored[0]}
        transaction.run(_store_cut, cut)
        transaction.run(_store_message, cut)


def drop_document(transaction: Transaction, page_id: int) -> None:
    """Removes the document of a page with its data blocks, and its body unless another page has the same."""
    for _, sha256, *_, had_data in transaction.all_of(_former, 1, [page_id]):
        transaction.run(_drop_document, {"page_id": page_id})
        drop_body(transaction, sha256)
        if had_data:
            _replace_data(transaction, page_id, ())


def store_links(transaction: Transaction, found: Sequence[LinkRow], again: Sequence[int], keeper: Keeper) -> None:
    """Store links (`link_rows`); pages that may have had some (`again`) keep when a link was first seen (G)."""
    if again:
        stored = {row[:5]: row[5] for row in transaction.all_among(_links_of, again)}
        kept = {row[:5] for row in found}
        lost = [(*row, since) for row, since in stored.items() if row not in kept]
        came = [row for row in found if row[:5] not in stored]
        if keeper.keeps and (lost or came):  # another text of a link that stays is no change
            before, now = {row[:3] for row in lost}, {row[:3] for row in came}
            gone_links = [row for row in lost if row[:3] not in now]
            changed = {row[0] for row in gone_links} | {key[0] for key in now - before}
            keeper.links(sorted(changed.intersection(again)), gone_links)
        gone = {row[:3]: row[5] for row in lost}
        transaction.run_many(_delete_link, [dict(zip(_LINK_KEY, key, strict=True)) for key in gone])
        found = [(*row[:5], gone.get(row[:3], row[5])) for row in came]
    transaction.insert(insert_links, found)


def drop_links(transaction: Transaction, pages: Sequence[int], keeper: Keeper) -> None:
    """Deletes links, fragments and redirects of pages that are gone or refused, unless the offline mode has still to
    scan them. A page that had some is asked for without conditions when it is back, and has them again."""
    waiting = {row[0] for row in transaction.all_among(_unscanned, pages)}
    if gone := [page_id for page_id in pages if page_id not in waiting]:
        transaction.run_among(_forget_content, gone)
        store_links(transaction, (), gone, keeper)
        drop_redirects(transaction, gone, keeper)
        transaction.run_many(_delete_fragments, [{"from_page_id": page_id} for page_id in gone])


def link_rows(page_id: int, links: Iterable[FoundLink], to_urls: Iterable[int], at: int) -> list[LinkRow]:
    """The links of a page by kind and target (`to_urls`: their ids), for `store_links`; the first to one target
    counts."""
    found: dict[tuple[str, int], LinkRow] = {}
    for (link_kind, _, text, nofollow), to_url in zip(links, to_urls, strict=True):
        key = kind, _ = _KINDS[link_kind], to_url
        if key not in found:
            plain = text if text.isascii() and "\0" not in text else clean(text)
            found[key] = (page_id, kind, to_url, nofollow, plain, at)
    return [found[key] for key in sorted(found)]


def store_redirect(
    transaction: Transaction, page_id: int, redirect: RedirectRecord, to_url: int, at: int, keeper: Keeper
) -> None:
    """Where the page sends its reader now (`to_url`: the id of it). Former targets go."""
    keeper.redirect(page_id, to_url)
    key = {"page_id": page_id, "source": redirect.source.value, "to_url_id": to_url}
    transaction.run(_delete_other_redirects, key)
    transaction.insert(_store_redirect, [(*key.values(), clean(redirect.to_fragment), redirect.permanent, at)])


def drop_redirects(transaction: Transaction, pages: Sequence[int], keeper: Keeper) -> None:
    """These pages send their readers nowhere any more."""
    if pages:
        if keeper.keeps:
            keeper.unnamed(sorted({to_url for (to_url,) in transaction.all_among(_redirects_of, pages)}))
        transaction.run_among(_delete_redirects, pages)


def _validation_values(validation: Validation | None, parsed_at: int) -> tuple[str, int | None, str, int]:
    """The columns of a validation; NULL and empty where no validator has looked at the document (G)."""
    if validation is None:
        return "", None, "", min(parsed_at, 0)
    errors = [[error.line, error.column, clean(error.message)] for error in validation.errors[:_ERRORS_KEPT]]
    text = json.dumps(errors, separators=(",", ":")) if errors else ""
    return clean(validation.type), int(validation.valid), text, parsed_at


def _replace_data(transaction: Transaction, page_id: int, data: Sequence[DataValue]) -> None:
    transaction.run(_delete_data, {"page_id": page_id})
    rows = [(page_id, clean(one.name), one.place, one.type, clean(one.value)) for one in data]
    transaction.insert(_insert_data, rows)


_HAS_DATA = peewee.fn.EXISTS(DataBlock.select(ONE).where(DataBlock.page == Document.page))
_former = reads_among(Document.page, *columns(Document, "page sha256 title canonical"), _HAS_DATA)
"""The stated facts of the documents of pages, and whether they have data blocks."""
_WAITING = (Document.page, Url.href, Document.sha256, Document.content_type, Document.charset, Body.size, Body.zstd)
_waiting = builds(
    Document.select(*_WAITING)
    .join(Page, on=(Page.id == Document.page))
    .join(Url, on=(Url.id == Page.url))
    .join(Body, on=(Body.sha256 == Document.sha256))
    .where(Document.parsed_at < ZERO)
    .order_by(Document.page)
    .limit(peewee.SQL("8"))
)
_LAST = Page.select(Page.last_attempt_id).where(Page.id == slot("page_id"))
_store_message = builds(
    Attempt.update({Attempt.cut: peewee.SQL("LTRIM(cut || ',data', ',')"), Attempt.message: slot("message")}).where(
        (Attempt.id == _LAST) & (Attempt.ended_at == slot("ended_at"))
    )
)
"""The attempt that brought the document says it, too."""
_SAME = (Redirect.source == slot("source")) & (Redirect.to_url == slot("to_url_id"))
_delete_other_redirects = builds(Redirect.delete().where((Redirect.page == slot("page_id")) & ~_SAME))
_BYTES = 8  # of a hash


def store_fragments(
    transaction: Transaction, page_id: int, settle: Settle, found: Sequence[FoundLink], ids: Mapping[int, int]
) -> None:
    """Replaces the fragments that the links of a page name (`found`), and what they may name on it (`anchors` None:
    that is not known, nothing is missing there). `ids` are URL ids by hash."""
    packed = None if settle.anchors is None else b"".join(sorted({_hash(name) for name in settle.anchors}))
    url_id = ids[url_hash(clean(settle.attempt.url))]
    former = transaction.one(_anchors, {"url_id": url_id})
    if packed is None and former is not None:
        transaction.run(_drop_anchors, {"url_id": url_id})
    elif packed is not None and (former is None or former[0] != packed):
        transaction.insert(_store_anchors, [(url_id, packed)])
    if packed != (former[0] if former else None):
        names = _unpacked(packed)
        for name, missing in transaction.all(_named_fragments, {"url_id": url_id}):
            if _is_missing(name, names) != missing:
                transaction.run(_mark_fragment, {"missing": int(not missing), "to_url_id": url_id, "fragment": name})
    transaction.run(_delete_fragments, {"from_page_id": page_id})
    targets = [(ids[one.url.hash], clean(one.url.fragment), clean(one.text)) for one in found]
    named = transaction.all_among(_anchors_among, sorted({to_url for to_url, _, _ in targets}))
    known = {row[0]: _unpacked(row[1]) for row in named}
    rows = [(to_url, name, page_id, text, _is_missing(name, known.get(to_url))) for to_url, name, text in targets]
    transaction.insert(_insert_fragments, [row for row in rows if row[4] or row[0] != url_id])


def lacks(packed: bytes, fragment: str) -> bool:
    """Whether a page with these names (`PageAnchors.names`) has nothing that a fragment names."""
    return _is_missing(fragment, _unpacked(packed))


def _is_missing(fragment: str, names: frozenset[bytes] | None) -> bool:
    wanted = indicated(fragment)
    return bool(wanted) and names is not None and not any(_hash(name) in names for name in wanted)


def _hash(name: str) -> bytes:
    return url_hash(clean(name)).to_bytes(_BYTES, "big", signed=True)


def _unpacked(packed: bytes | None) -> frozenset[bytes] | None:
    if packed is None:
        return None
    return frozenset(packed[start : start + _BYTES] for start in range(0, len(packed), _BYTES))


_insert_body = inserts(columns(Body, "sha256 size zstd"), once=[Body.sha256])
insert_documents = upserts(_COLUMNS[:1], _COLUMNS[1:])
_drop_document = deletes(Document.page)
_delete_data = deletes(DataBlock.page)
_insert_data = inserts(_DATA, once=_DATA[:3])
"""A rule that gives two values for one place keeps the first."""
_links_of = reads_among(Link.from_page, *_LINK)
_delete_link = deletes(*_LINK[:3])
insert_links = inserts(_LINK)
_redirects_of = reads_among(Redirect.page, Redirect.to_url)
_store_redirect = upserts(columns(Redirect, "page source to_url"), columns(Redirect, "to_fragment permanent seen_at"))
_anchors = reads([PageAnchors.url], PageAnchors.names)
_anchors_among = reads_among(PageAnchors.url, PageAnchors.url, PageAnchors.names)
_store_anchors = upserts([PageAnchors.url], [PageAnchors.names])
_drop_anchors = deletes(PageAnchors.url)
_mark_fragment = updates([Fragment.to_url, Fragment.fragment], Fragment.missing)
_delete_fragments = deletes(Fragment.from_page)
_insert_fragments = inserts(_FRAGMENT, once=_FRAGMENT[:3])
_named_fragments = builds(
    Fragment.select(Fragment.fragment, Fragment.missing).where(Fragment.to_url == slot("url_id")).distinct()
)
_unscanned = builds_among(Document.select(Document.page), Document.page, Document.scanned_at == ZERO)
_forget_content = builds_among(
    Page.update({Page.last_contentful_at: ZERO}),
    Page.id,
    peewee.fn.EXISTS(Link.select(Link.to_url).where(Link.from_page == Page.id))
    | peewee.fn.EXISTS(Fragment.select(Fragment.to_url).where(Fragment.from_page == Page.id)),
)
_store_validation = updates(
    [Document.page, Document.sha256],
    *columns(Document, _VALIDATION),
    where=Document.parsed_at < ZERO,
    returning=[Document.stored_at],
)
_store_cut = updates([Document.page], to={Document.incomplete: peewee.SQL("LTRIM(incomplete || ',data', ',')")})
_delete_redirects = builds_among(Redirect.delete(), Redirect.page)
