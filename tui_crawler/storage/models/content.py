"""What pages hold: documents, bodies, links, redirects, data blocks."""

from __future__ import annotations

from typing import Any

import peewee

from tui_crawler.storage.models.base import Row, flag, maybe, number, reference, text
from tui_crawler.storage.models.queue import Page, Url


class Document(Row):
    """The document of a page, replaced as a whole by each contentful crawl (G, U).

    `stored_at` is that crawl's time; it equals the page's `last_contentful_at` while the document is what the page
    last gave. `valid` is NULL until validated, `parsed_at` -1 while that is to come. `incomplete` names what was cut.
    `scanned_at`: read by the offline mode.
    """

    page: Any = peewee.ForeignKeyField(Page, column_name="page_id", primary_key=True, lazy_load=False, backref="+")
    kind: Any = text()
    content_type: Any = text()
    charset: Any = text()
    title: Any = text()
    sha256: Any = text()
    size: Any = number()
    etag: Any = text()
    last_modified: Any = text()
    cache_control: Any = text()
    expires: Any = text()
    age: Any = text()
    content_location: Any = text()
    canonical: Any = text()
    noindex: Any = flag()
    nofollow: Any = flag()
    incomplete: Any = text()
    stored_at: Any = number()
    validation_type: Any = text()
    valid: Any = maybe()
    validation_errors: Any = text()
    parsed_at: Any = number()
    scanned_at: Any = number()

    class Meta:
        table_name = "document"


Document.add_index(Document.index(Document.sha256, name="document_sha256"))
Document.add_index(Document.index(Document.page, name="document_unscanned", where=Document.scanned_at == 0))
Document.add_index(Document.index(Document.page, name="document_waiting", where=Document.parsed_at < 0))
Document.add_index(Document.index(Document.page, name="document_incomplete", where=Document.incomplete != ""))


class Body(Row):
    """A body, zstd-compressed, once per content. `size` is its length in bytes before compression."""

    sha256: Any = peewee.TextField(primary_key=True)
    size: Any = number()
    zstd: Any = peewee.BlobField()

    class Meta:
        table_name = "body"


class Link(Row):
    """A link of a page; diffed by each contentful crawl, so that a kept one keeps `first_seen_at` (G)."""

    from_page: Any = reference(Page, "from_page_id")
    kind: Any = peewee.TextField()
    to_url: Any = reference(Url, "to_url_id")
    nofollow: Any = flag()
    text: Any = text()
    first_seen_at: Any = number()

    class Meta:
        table_name = "link"
        primary_key = peewee.CompositeKey("from_page", "kind", "to_url")
        without_rowid = True
        indexes = ((("to_url",), False),)


class PageAnchors(Row):
    """What a fragment may name on a page: the hashes of its ids and names, 8 bytes each; of URLs that are checked."""

    url: Any = peewee.ForeignKeyField(Url, column_name="url_id", primary_key=True, lazy_load=False, backref="+")
    names: Any = peewee.BlobField()

    class Meta:
        table_name = "page_anchors"


class Fragment(Row):
    """A fragment that links of a page name, and the text of the first. `missing`: the page they lead to has it not."""

    to_url: Any = reference(Url, "to_url_id")
    fragment: Any = peewee.TextField()
    from_page: Any = reference(Page, "from_page_id")
    text: Any = text()
    missing: Any = flag()

    class Meta:
        table_name = "fragment"
        primary_key = peewee.CompositeKey("to_url", "fragment", "from_page")
        without_rowid = True
        indexes = ((("from_page",), False),)


Fragment.add_index(
    Fragment.index(Fragment.to_url, Fragment.fragment, name="fragment_missing", where=Fragment.missing == 1)
)


class Redirect(Row):
    """Where a page sends its reader. `source`: location, meta_refresh, refresh_header, canonical."""

    page: Any = reference(Page, "page_id")
    source: Any = peewee.TextField()
    to_url: Any = reference(Url, "to_url_id")
    to_fragment: Any = text()
    permanent: Any = flag()
    seen_at: Any = number()

    class Meta:
        table_name = "redirect"
        primary_key = peewee.CompositeKey("page", "source", "to_url")
        indexes = ((("to_url",), False),)


class DataBlock(Row):
    """A value that a data rule found in a document (R). `type`: link, video, picture, text."""

    id: Any = peewee.BigAutoField()
    page: Any = reference(Page, "page_id")
    name: Any = peewee.TextField()
    type: Any = peewee.TextField()
    place: Any = number()
    value: Any = text()

    class Meta:
        table_name = "data_block"
        indexes = ((("page", "name", "place"), True),)
