"""Validation (G): `validation_type` and `valid`, and the first 20 errors with their places."""

from __future__ import annotations

import pytest

from tests.designs.crawling import Crawling
from tests.designs.web import Answer, Site

RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>/</link><description>d</description>
<item><title>x</title></item></channel></rss>"""
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><title>t</title>
<updated>2027-01-01T00:00:00Z</updated></feed>"""
CASES = {  # Content-Type, a valid document, one that is not
    "html": ("text/html", "<!DOCTYPE html><html lang=en><title>t</title><p>a</p></html>", "<p>no doctype <b><i>x</b>"),
    "xml": ("application/xml", '<?xml version="1.0"?><a><b/></a>', '<?xml version="1.0"?><a><b></a>'),
    "rss": ("application/rss+xml", RSS, RSS.replace("<link>/</link>", "")),
    "atom": ("application/atom+xml", ATOM, ATOM.replace("<id>urn:x</id>", "")),
    "css": ("text/css", "p { color: red }", 'p { color: "red\n } q { width: 1 } }'),
}


@pytest.fixture(scope="module")
def read(shared_crawl: Crawling) -> tuple[Crawling, Site]:
    """One crawl of a good and a bad document of each kind."""
    site = shared_crawl.site()
    site.page("/", *(f"/{kind}/{word}" for kind in CASES for word in ("good", "bad")))
    for kind, (mime, right, wrong) in CASES.items():
        site.file(f"/{kind}/good", right, mime)
        site.file(f"/{kind}/bad", wrong, mime)
    shared_crawl.run()
    return shared_crawl, site


@pytest.mark.parametrize("kind", CASES)
def test_a_document_is_valid_or_says_where_it_is_not(read: tuple[Crawling, Site], kind: str) -> None:
    crawl, site = read
    named = {"atom": "rss"}.get(kind, kind)
    urls = [site.url(f"/{kind}/{word}") for word in ("good", "bad")]
    pages = [crawl.page(url) for url in urls]
    assert [(page["validation_type"], page["valid"]) for page in pages] == [(named, 1), (named, 0)]
    with crawl.reports() as reports:
        good, bad = (reports.validation(url) for url in urls)
    assert good is not None
    assert bad is not None
    assert (good.type, good.valid, good.errors) == (named, True, ())
    assert (bad.type, bad.valid) == (named, False)
    assert bad.errors
    assert all(error.message and error.line >= 0 for error in bad.errors)


def test_valid_is_unknown_until_a_document_was_read(crawl: Crawling) -> None:
    site = crawl.site()
    site.page("/", "/p", "/gone")
    site.answer("/p", Answer(200, b"%PDF-1.7", (("Content-Type", "application/pdf"),)))
    crawl.run()
    for path in ("/p", "/gone"):
        page = crawl.page(site.url(path))
        assert (page["validation_type"], page["valid"]) == (None, None)
    (failed,) = crawl.ask("failures", "--list", "--json").json["pages"]
    failed.pop("message")
    assert failed == crawl.page(site.url("/gone")), "a row of v_page: NULL is null"
    rows = crawl.rows("SELECT url, validation_type, valid FROM crawler_urls WHERE valid IS NULL")
    assert {row["url"] for row in rows} == {site.url("/p"), site.url("/gone")}


def test_the_first_twenty_errors_are_kept_with_line_and_column(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", "<!DOCTYPE html><title>t</title>\n" + "</nothing>\n" * 30, "text/html")
    crawl.run()
    with crawl.reports() as reports:
        found = reports.validation(site.url())
    assert found is not None
    errors = found.errors
    assert len(errors) == 20
    assert [error.line for error in errors] == list(range(2, 22))
    assert all(error.column >= 1 for error in errors)
