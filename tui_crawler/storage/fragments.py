"""Fragments that links name, judged against the names on their target whenever one of the two pages is crawled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import peewee

from tui_crawler.domain.url import indicated, url_hash
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.models import Fragment, PageAnchors
from tui_crawler.storage.statements import insert_rows, slot, slots

if TYPE_CHECKING:
    from tui_crawler.domain.attempt import FoundFragment
    from tui_crawler.storage.transaction import Transaction

_BYTES = 8  # of a hash


def store_fragments(
    transaction: Transaction,
    page_id: int,
    url_id: int,
    found: Sequence[FoundFragment],
    anchors: Iterable[str] | None,
    ids: Mapping[int, int],
) -> None:
    """Replaces the fragments that the links of a page name, and what they may name on it (`anchors` None: that is not
    known, nothing is missing there). `ids` are URL ids by hash."""
    packed = None if anchors is None else b"".join(sorted({_hash(name) for name in anchors}))
    former = transaction.one(_names, {"url_id": url_id})
    if packed is None and former is not None:
        transaction.run(_drop_names, {"url_id": url_id})
    elif packed is not None and (former is None or former[0] != packed):
        transaction.run(_store_names, {"url_id": url_id, "names": packed})
    if packed != (former[0] if former else None):
        _judge_again(transaction, url_id, packed)
    transaction.run(_delete, {"page_id": page_id})
    targets = [(ids[one.url.hash], clean(one.url.fragment), clean(one.text)) for one in found]
    known = _names_of(transaction, sorted({to_url for to_url, _, _ in targets}))
    rows = [(to_url, name, page_id, text, _is_missing(name, known.get(to_url))) for to_url, name, text in targets]
    transaction.insert(_insert, [row for row in rows if row[4] or row[0] != url_id])


def _judge_again(transaction: Transaction, url_id: int, packed: bytes | None) -> None:
    """The names on a page are others than before: links to it that were broken may be whole, and the other way."""
    names = _unpacked(packed)
    for name, missing in transaction.all(_named, {"url_id": url_id}):
        if _is_missing(name, names) != missing:
            values = {"missing": int(not missing), "url_id": url_id, "fragment": name}
            transaction.run(_mark, values)


def _is_missing(fragment: str, names: frozenset[bytes] | None) -> bool:
    wanted = indicated(fragment)
    return bool(wanted) and names is not None and not any(_hash(name) in names for name in wanted)


def _names_of(transaction: Transaction, url_ids: Sequence[int]) -> dict[int, frozenset[bytes] | None]:
    return {row[0]: _unpacked(row[1]) for row in transaction.all_among(_names_of_many, url_ids)}


def _hash(name: str) -> bytes:
    return url_hash(clean(name)).to_bytes(_BYTES, "big", signed=True)


def _unpacked(packed: bytes | None) -> frozenset[bytes] | None:
    if packed is None:
        return None
    return frozenset(packed[start : start + _BYTES] for start in range(0, len(packed), _BYTES))


def _names() -> Any:
    return PageAnchors.select(PageAnchors.names).where(PageAnchors.url == slot("url_id"))


def _names_of_many(size: int) -> Any:
    return PageAnchors.select(PageAnchors.url, PageAnchors.names).where(PageAnchors.url.in_([slot("url_id")] * size))


def _store_names() -> Any:
    return PageAnchors.insert(slots([PageAnchors.url, PageAnchors.names])).on_conflict(
        conflict_target=[PageAnchors.url], update={PageAnchors.names: peewee.EXCLUDED.names}
    )


def _drop_names() -> Any:
    return PageAnchors.delete().where(PageAnchors.url == slot("url_id"))


def _named() -> Any:
    columns = (Fragment.fragment, Fragment.missing)
    return Fragment.select(*columns).where(Fragment.to_url == slot("url_id")).distinct()


def _mark() -> Any:
    of_url = (Fragment.to_url == slot("url_id")) & (Fragment.fragment == slot("fragment"))
    return Fragment.update(slots([Fragment.missing])).where(of_url)


def _delete() -> Any:
    return Fragment.delete().where(Fragment.from_page == slot("page_id"))


def _insert(size: int) -> Any:
    columns = [Fragment.to_url, Fragment.fragment, Fragment.from_page, Fragment.text, Fragment.missing]
    return insert_rows(columns, size).on_conflict(action="nothing", conflict_target=columns[:3])
