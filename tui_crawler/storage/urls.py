"""The table of URL texts: each stored once, found by its hash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tui_crawler.domain.url import url_hash
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.models import Url
from tui_crawler.storage.statements import padded, slot
from tui_crawler.storage.transaction import Transaction

_CHUNK = 256


def hashes(hrefs: Iterable[str]) -> dict[int, str]:
    """Each text, cleaned, under the hash of what was cleaned."""
    cleaned = (clean(href) for href in hrefs)
    return {url_hash(href): href for href in cleaned}


def url_ids(transaction: Transaction, wanted: Mapping[int, str]) -> dict[int, int]:
    """The id of every URL in `wanted` (hash to cleaned text), under its hash; unknown ones are inserted."""
    known = transaction.memory.url_ids
    ids = {key: known[key] for key in wanted if key in known}
    keys = sorted(wanted.keys() - ids.keys())
    for start in range(0, len(keys), _CHUNK):
        places = padded(keys[start : start + _CHUNK])
        ids.update(transaction.all_of(_find, len(places), places))
    missing = [key for key in keys if key not in ids]
    for start in range(0, len(missing), _CHUNK):
        places = padded(missing[start : start + _CHUNK])
        values = [value for key in places for value in (key, wanted[key])]
        ids.update(transaction.all_of(_insert, len(places), values))
    if keys:
        known.update((key, ids[key]) for key in keys)
    return ids


def _find(size: int) -> Any:
    return Url.select(Url.hash, Url.id).where(Url.hash.in_([slot("hash")] * size))


def _insert(size: int) -> Any:
    """The padding repeats the last row, which then is in conflict with itself and inserts nothing."""
    return (
        Url.insert_many([(slot("hash"), slot("href"))] * size, fields=[Url.hash, Url.href])
        .on_conflict(action="nothing", conflict_target=[Url.hash])
        .returning(Url.hash, Url.id)
    )
