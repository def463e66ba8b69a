"""The table of URL texts: each stored once, found by its hash."""

from collections.abc import Iterable, Mapping
from typing import Any

import peewee

from tui_crawler.domain.url import url_hash
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import BuildOf, among, insert_rows, reads_among, slot
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Page, Url


def hashes(hrefs: Iterable[str]) -> dict[int, str]:
    """Each text, cleaned, under the hash of what was cleaned."""
    return {url_hash(href): href for href in map(clean, hrefs)}


def url_ids(transaction: Transaction, wanted: Mapping[int, str]) -> dict[int, int]:
    """The id of every URL in `wanted` (hash to cleaned text), under its hash; unknown ones are inserted."""
    return store_urls(transaction, wanted)[0]


def store_urls(transaction: Transaction, wanted: Mapping[int, str]) -> tuple[dict[int, int], set[int]]:
    """The same; and which of them are new: nothing names those yet."""
    known = transaction.memory.url_ids
    ids = {key: known[key] for key in wanted if key in known}
    keys = [key for key in wanted if key not in ids]  # in their order: pages that come together lie together
    rows = transaction.insert_returning(_insert, [(key, wanted[key]) for key in keys])
    new = {row[0] for row in rows}
    ids.update(rows)
    rest = [key for key in keys if key not in new]
    ids.update(transaction.all_among(_find, rest))
    known.update((key, ids[key]) for key in keys)
    return ids, new


def pages_by_hash(*chosen: Any) -> BuildOf:
    """What builds a SELECT of the pages of a job by the hashes of their URLs. An outer join that shows no URL without a
    page: a server that does not know how many pages there are begins with the URLs all the same."""
    pages = Url.select(*chosen).join(Page, peewee.JOIN.LEFT_OUTER, on=(Url.id == Page.url))
    of_job = peewee.fn.COALESCE(Page.job, peewee.SQL("-1")) == slot("job_id")
    return lambda size: pages.where(among(Url.hash, size) & of_job)


def ids_of(size: int) -> Any:
    """The ids of the URLs of `size` hashes, for a query of pages."""
    return Url.select(Url.id).where(among(Url.hash, size))


def _insert(size: int) -> Any:
    rows = insert_rows((Url.hash, Url.href), size).on_conflict(action="nothing", conflict_target=[Url.hash])
    return rows.returning(Url.hash, Url.id)


_find = reads_among(Url.hash, Url.hash, Url.id)
