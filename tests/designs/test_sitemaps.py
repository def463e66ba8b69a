"""Sitemaps (CRAWL.md section 5): those robots.txt names, index files, gzip, lastmod; bounded, nothing expanded."""

from __future__ import annotations

import gzip

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import Answer, Site

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str, lastmod: str = "") -> str:
    """A sitemap."""
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>{url}</loc>{date}</url>" for url in urls)
    return f'<?xml version="1.0"?><urlset {XMLNS}>{entries}</urlset>'


def index(*urls: str) -> str:
    """An index of sitemaps."""
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex {XMLNS}>{entries}</sitemapindex>'


def with_sitemap(crawl: Crawling, path: str = "/sitemap.xml", *pages: str) -> Site:
    """A site with these pages, which nothing links to, and a robots.txt that names a sitemap."""
    site = crawl.site()
    site.page("/")
    for page in pages:
        site.page(page)
    site.robots(f"User-agent: *\nDisallow: /closed\nSitemap: {site.url(path)}")
    return site


def test_urls_of_a_sitemap_become_pages_and_it_is_an_attempt_of_its_kind(crawl: Crawling) -> None:
    site = with_sitemap(crawl, "/sitemap.xml", "/a", "/b")
    site.file("/sitemap.xml", urlset(site.url("/a"), site.url("/b"), site.url("/closed")), "application/xml")
    crawl.run()
    assert set(site.asked) == {"/", "/sitemap.xml", "/a", "/b"}
    kinds = {row["url"]: row["kind"] for row in crawl.rows("SELECT url, kind FROM v_attempt")}
    assert kinds[site.url("/sitemap.xml")] == "sitemap"
    assert kinds[site.url("/a")] == "page"
    assert crawl.codes(site.url("/closed")) == ["blocked_by_robots_txt"]
    assert crawl.value("SELECT count(*) FROM v_link") == 0


def test_index_files_and_gzip(crawl: Crawling) -> None:
    site = with_sitemap(crawl, "/index.xml", "/a", "/b")
    site.file("/index.xml", index(site.url("/one.xml"), site.url("/two.xml.gz")), "application/xml")
    site.file("/one.xml", urlset(site.url("/a")), "application/xml")
    site.file("/two.xml.gz", gzip.compress(urlset(site.url("/b")).encode()), "application/x-gzip")
    crawl.run()
    assert set(site.asked) == {"/", "/index.xml", "/one.xml", "/two.xml.gz", "/a", "/b"}


def test_a_sitemap_goes_through_the_same_filters(crawl: Crawling) -> None:
    site, stranger = with_sitemap(crawl, "/sitemap.xml", "/a"), crawl.site()
    urls = (site.url("/a"), stranger.url("/x"), site.url("/t/t/t/t/t"), "http://a:99999/")
    site.file("/sitemap.xml", urlset(*urls), "application/xml")
    crawl.run(seeds=[site.url()])
    assert set(site.asked) == {"/", "/sitemap.xml", "/a"}
    assert stranger.seen == []
    assert crawl.refused() == {"scope": 1, "trap_repeat": 1, "invalid_url": 1}


def test_lastmod_is_kept_with_the_page(crawl: Crawling) -> None:
    site = with_sitemap(crawl, "/sitemap.xml", "/a")
    site.file("/sitemap.xml", urlset(site.url("/a"), lastmod="2027-01-02T03:04:05Z"), "application/xml")
    crawl.run()
    with crawl.reports() as reports:
        detail = reports.page_detail(site.url("/a"))
    assert detail is not None
    assert detail.lastmod == 1_798_859_045_000


def test_sitemaps_are_left_alone_when_they_are_not_wanted(crawl: Crawling) -> None:
    site = with_sitemap(crawl, "/sitemap.xml", "/a")
    site.file("/sitemap.xml", urlset(site.url("/a")), "application/xml")
    crawl.run("crawl: {sitemaps: false}")
    assert site.asked == ["/"]


def test_no_entity_is_expanded(crawl: Crawling) -> None:
    site = with_sitemap(crawl, "/sitemap.xml", "/a")
    evil = f'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset {XMLNS}><url><loc>'
    site.file("/sitemap.xml", f"{evil}{site.url('/')}&e;</loc></url></urlset>", "application/xml")
    crawl.run()
    assert set(site.asked) == {"/", "/sitemap.xml"}


def test_what_is_no_sitemap_is_told(crawl: Crawling) -> None:
    site = with_sitemap(crawl)
    site.answer("/sitemap.xml", Answer(200, b"<html><p>not found", (("Content-Type", "text/html"),)))
    crawl.run()
    (row,) = crawl.rows("SELECT exit_code, message FROM v_attempt WHERE kind = 'sitemap'")
    assert row["exit_code"] == "local_processing_error"
    assert "not a sitemap" in row["message"]


def test_a_sitemap_is_read_again_when_it_is_due(crawl: Crawling) -> None:
    site = with_sitemap(crawl, "/sitemap.xml", "/a", "/b")
    site.file("/sitemap.xml", urlset(site.url("/a")), "application/xml", ("ETag", '"1"'))
    crawl.run()
    crawl.later(5 * WEEK)
    site.file("/sitemap.xml", urlset(site.url("/a"), site.url("/b")), "application/xml", ("ETag", '"2"'))
    crawl.run()
    assert "/b" in site.asked
