"""Sitemaps (docs/behaviour.md): where they are found, index files, gzip, lastmod; bounded, nothing expanded."""

from __future__ import annotations

import gzip

import pytest

from tests.designs.crawling import DAY, HOUR, WEEK, Crawling
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
    site = crawl.site().front()
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
    site.file("/one.xml", urlset(site.url("/a"), lastmod="2027-01-02T03:04:05Z"), "application/xml")
    site.file("/two.xml.gz", gzip.compress(urlset(site.url("/b")).encode()), "application/x-gzip")
    crawl.run()
    assert set(site.asked) == {"/", "/index.xml", "/one.xml", "/two.xml.gz", "/a", "/b"}
    detail = crawl.detail(site.url("/a"))
    assert detail.lastmod == 1_798_859_045_000


def test_a_sitemap_goes_through_the_same_filters(crawl: Crawling) -> None:
    site, stranger = with_sitemap(crawl, "/sitemap.xml", "/a"), crawl.site()
    urls = (site.url("/a"), stranger.url("/x"), site.url("/t/t/t/t/t"), "http://a:99999/")
    site.file("/sitemap.xml", urlset(*urls), "application/xml")
    crawl.run(seeds=[site.url()])
    assert set(site.asked) == {"/", "/sitemap.xml", "/a"}
    assert stranger.seen == []
    assert crawl.refused() == {"scope": 1, "trap_repeat": 1, "invalid_url": 1}


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


AUTO = "crawl: {sitemaps: auto}"


@pytest.fixture
def crawl(crawl: Crawling) -> Crawling:
    """A crawl as the product makes it."""
    crawl.finds_sitemaps = True
    return crawl


def pages(crawl: Crawling, *paths: str) -> Site:
    """A site with these pages, which nothing links to."""
    site = crawl.site()
    for path in ("/", *paths):
        site.page(path)
    return site


def test_they_are_found_by_default(crawl: Crawling) -> None:
    site = pages(crawl, "/a")
    site.file("/sitemap.xml", urlset(site.url("/a")), "application/xml")
    crawl.run()
    assert set(site.asked) == {"/", "/sitemap.xml", "/a"}


@pytest.mark.parametrize("kind", ["application/xml", "text/html", "text/plain", "application/octet-stream"])
@pytest.mark.parametrize("form", ["urlset", "prefixed", "text", "gzip", "index"])
def test_a_seed_that_is_a_sitemap_is_read_whatever_its_type_says(crawl: Crawling, form: str, kind: str) -> None:
    site = pages(crawl, "/a", "/b")
    xml = urlset(site.url("/a"), site.url("/b"))
    prefix = xml.replace(f"<urlset {XMLNS}", f"<!-- {'x' * 5_000} --><s:urlset {XMLNS.replace('xmlns', 'xmlns:s')}")
    prefix = prefix.replace("</", "</s:").replace("<url>", "<s:url>").replace("<loc>", "<s:loc>")
    bodies: dict[str, str | bytes] = {
        "urlset": xml,
        "prefixed": prefix,
        "text": f"{site.url('/a')}\r\n{site.url('/b')}\r\n",
        "gzip": gzip.compress(xml.encode()),
        "index": index(site.url("/nested.xml")),
    }
    site.file("/list", bodies[form], kind)
    site.file("/nested.xml", xml, "text/plain")
    crawl.run(AUTO, seeds=[site.url("/list")])
    assert set(site.asked) == {"/list", "/a", "/b"} | ({"/nested.xml"} if form == "index" else set())
    found = crawl.ask("status", "--json").json["coverage"]
    assert (found["complete"], found["pages"]["failed"]) == (True, 0)
    assert crawl.value("SELECT kind FROM v_attempt WHERE url = ?", site.url("/list")) == "sitemap"


def test_a_page_is_no_sitemap_because_it_speaks_of_one(crawl: Crawling) -> None:
    site = crawl.site().front("/a", body="<pre>&lt;urlset&gt;</pre><urlset>")
    site.page("/a")
    crawl.run(AUTO)
    assert crawl.page(site.url())["title"] == "/"
    assert "/a" in site.asked


@pytest.mark.parametrize("how", ["head", "body", "link"])
def test_a_sitemap_that_a_page_names_is_read(crawl: Crawling, how: str) -> None:
    site = pages(crawl, "/a")
    element = '<link REL="Sitemap" type="application/xml" href="/files/my-sitemap.xml.gz">'
    given = {"head": element} if how == "head" else {"body": element if how == "body" else ""}
    site.page("/", *(["/files/my-sitemap.xml.gz"] if how == "link" else []), **given)
    site.file("/files/my-sitemap.xml.gz", gzip.compress(urlset(site.url("/a")).encode()), "application/gzip")
    crawl.run(AUTO)
    assert set(site.asked) == {"/", "/files/my-sitemap.xml.gz", "/a"}, "and none is looked for"
    assert crawl.page(site.url("/a"))["depth"] == (1 if how != "link" else 2)
    way = crawl.ask("why", site.url("/a"), "--json").json["provenance"]
    assert [step["kind"] for step in way] == (["a", "sitemap"] if how == "link" else ["sitemap", "sitemap"])


@pytest.mark.parametrize("named", ["robots", "link", "index", "redirect"])
def test_a_sitemap_on_another_host_is_read_and_nothing_else_there(crawl: Crawling, named: str) -> None:
    """Under the rules of that host: its robots.txt first, then its delay."""
    site, cdn = pages(crawl, "/a"), crawl.site()
    cdn.page("/")
    cdn.page("/private")
    cdn.robots("User-agent: *\nDisallow: /private\nCrawl-delay: 7")
    cdn.file("/map.xml", urlset(site.url("/a"), cdn.url("/"), cdn.url("/private")), "text/html")
    match named:
        case "robots":
            site.robots(f"User-agent: *\nDisallow:\nSitemap: {cdn.url('/map.xml')}")
        case "link":
            site.page("/", head=f'<link rel="sitemap" href="{cdn.url("/map.xml")}">')
        case "index":
            site.file("/sitemap.xml", index(cdn.url("/map.xml")), "application/xml")
        case "redirect":
            site.robots(f"User-agent: *\nDisallow:\nSitemap: {site.url('/sitemap.xml')}")
            site.redirect("/sitemap.xml", cdn.url("/map.xml"))
    crawl.run(AUTO, seeds=[site.url()])
    assert [one.target for one in cdn.seen] == ["/robots.txt", "/map.xml"]
    assert cdn.seen[1].method == "GET"
    assert cdn.gaps[0] >= 7_000
    assert "/a" in site.asked
    assert crawl.refused() == {"scope": 2}
    found = crawl.ask("status", "--json").json["coverage"]
    assert (found["complete"], found["pages"]["failed"]) == (True, 0)
    assert crawl.ask("audit", "--json").json["ok"]


@pytest.mark.parametrize("why", ["robots", "missing", "excluded", "unreachable"])
def test_a_sitemap_on_another_host_that_is_not_read_is_named(crawl: Crawling, why: str) -> None:
    site, cdn = pages(crawl), crawl.site()
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {cdn.url('/map.xml')}")
    if why == "robots":
        cdn.robots("User-agent: *\nDisallow: /")
    if why == "unreachable":
        crawl.web.refuse(cdn)
    text = f"\nexclusions: [{{pattern: '{cdn.origin}'}}]" if why == "excluded" else ""
    crawl.run(AUTO + text, seeds=[site.url()])
    assert "/map.xml" not in cdn.asked or why == "missing"
    assert cdn.url("/map.xml") in crawl.ask("status").out
    assert crawl.ask("status", "--json").json["coverage"]["pages"]["failed"] == 0


def test_sitemaps_on_other_hosts_are_left_alone_unless_auto(crawl: Crawling) -> None:
    site, cdn = pages(crawl, "/a"), crawl.site()
    cdn.file("/map.xml", urlset(site.url("/a")), "application/xml")
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {cdn.url('/map.xml')}")
    crawl.run("crawl: {sitemaps: robots}", seeds=[site.url()])
    assert (site.asked, cdn.seen) == (["/"], [])


def test_indexes_that_name_each_other_end(crawl: Crawling) -> None:
    site, cdn = pages(crawl, "/a"), crawl.site()
    site.file("/sitemap.xml", index(cdn.url("/one.xml"), site.url("/sitemap.xml")), "application/xml")
    cdn.file("/one.xml", index(site.url("/sitemap.xml"), cdn.url("/one.xml"), cdn.url("/two.xml")), "application/xml")
    cdn.file("/two.xml", urlset(site.url("/a")), "application/xml")
    crawl.run(AUTO, seeds=[site.url()])
    assert (site.asked.count("/sitemap.xml"), cdn.asked) == (1, ["/one.xml", "/two.xml"])
    assert "/a" in site.asked


def test_a_chain_of_indexes_over_hosts_is_bounded(crawl: Crawling) -> None:
    site, cdn = pages(crawl), crawl.site()
    for number in range(30):
        cdn.file(f"/{number}.xml", index(cdn.url(f"/{number + 1}.xml")), "application/xml")
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {cdn.url('/0.xml')}")
    crawl.run("crawl: {sitemaps: auto, max_redirect_hops: 3}", seeds=[site.url()])
    assert cdn.asked == [f"/{number}.xml" for number in range(4)]
    assert crawl.refused() == {"redirect_hops": 1}


def test_sitemap_xml_is_looked_for_once_where_nothing_names_one(crawl: Crawling) -> None:
    site = pages(crawl)
    crawl.run(AUTO)
    assert site.asked == ["/", "/sitemap.xml"], "after all that is linked"
    assert crawl.value("SELECT patience FROM v_origin") == 5
    status = crawl.ask("status", "--json").json
    assert (status["coverage"]["complete"], status["totals"]["failed"]) == (True, 0)
    assert crawl.ask("links", "--broken", "--json").json["broken"] == []
    assert crawl.ask("failures", "--list", "--json").json["pages"] == []
    assert crawl.rows("SELECT url FROM v_page") == [{"url": site.url()}]
    assert "looked for" in crawl.ask("why", site.url("/sitemap.xml")).out
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []
    assert crawl.ask("audit", "--json").json["ok"]


def test_the_sitemap_that_was_looked_for_is_asked_for_once_and_named_as_the_source(crawl: Crawling) -> None:
    site = crawl.site().front()
    site.file("/sitemap.xml", urlset(site.url("/dead")), "application/xml")
    crawl.run(AUTO)
    assert site.asked == ["/", "/sitemap.xml", "/dead"]
    (broken,) = crawl.ask("links", "--broken", "--json").json["broken"]
    assert [(one["url"], one["kind"]) for one in broken["referrers"]] == [(site.url("/sitemap.xml"), "sitemap")]
    assert crawl.ask("replay", "--check", "--json").json["differences"] == []


@pytest.mark.parametrize("answer", [Answer(500), Answer(200, b"<html>", (("Content-Type", "text/html"),)), Answer(403)])
def test_what_is_looked_for_in_vain_costs_nothing(crawl: Crawling, answer: Answer) -> None:
    site = pages(crawl)
    site.answer("/sitemap.xml", answer)
    crawl.run(AUTO)
    assert site.asked == ["/", "/sitemap.xml"]
    assert crawl.value("SELECT patience FROM v_origin") == 5
    assert crawl.ask("status", "--json").json["coverage"]["complete"]


def test_a_sitemap_that_is_looked_for_may_be_elsewhere(crawl: Crawling) -> None:
    site = pages(crawl, "/a")
    site.redirect("/sitemap.xml", "/wp-sitemap.xml")
    site.file("/wp-sitemap.xml", urlset(site.url("/a")), "application/xml")
    crawl.run(AUTO)
    assert site.asked == ["/", "/sitemap.xml", "/wp-sitemap.xml", "/a"]


def test_none_is_looked_for_where_no_page_was_read(crawl: Crawling) -> None:
    site = pages(crawl)
    crawl.run("policies: {do_not_crawl: [{path: {equals: /}}]}")
    assert site.asked == []


def test_none_is_looked_for_where_robots_txt_denies_it_or_the_origin_is_only_checked(crawl: Crawling) -> None:
    site, stranger = crawl.site(), crawl.site()
    site.page("/", stranger.url("/x"))
    stranger.page("/x")
    site.robots("User-agent: *\nDisallow: /sitemap.xml")
    crawl.run("crawl: {sitemaps: auto, check_external: true}", seeds=[site.url()])
    assert (site.asked, stranger.asked) == (["/"], ["/x"])
    assert crawl.ask("status", "--json").json["coverage"]["complete"]


def with_date(crawl: Crawling, when: str) -> Site:
    """A site whose sitemap gives /a this date."""
    site = with_sitemap(crawl, "/sitemap.xml", "/a", "/b")
    dated = f"{urlset(site.url('/a'), lastmod=when)[:-9]}<url><loc>{site.url('/b')}</loc></url></urlset>"
    site.file("/sitemap.xml", dated, "application/xml")
    return site


@pytest.mark.parametrize(
    ("later", "again"),
    [("2027-01-15", False), ("2027-01-16", True), ("2027-01-16T05:00:00+02:00", True), ("2099-01-01", True)],
)
def test_a_date_after_the_last_crawl_makes_a_page_due(crawl: Crawling, later: str, again: bool) -> None:
    """Once for each date, at the next reading of the sitemap: there is one in each run."""
    site = with_date(crawl, "2026-06-01")
    site.page("/a", headers=(("Cache-Control", "max-age=31536000"),))
    crawl.run()
    assert site.asked.count("/a") == 1
    with_dates = site.scripts["/sitemap.xml"].answers[0].body.replace(b"2026-06-01", later.encode())
    site.file("/sitemap.xml", with_dates, "application/xml")
    crawl.later(DAY)
    crawl.run(crawl__max_requests=2)  # robots.txt and the sitemap
    steps = {step["stage"]: step["reason"] for step in crawl.ask("why", site.url("/a"), "--json").json["steps"]}
    assert ("its sitemap says that it has changed" in steps["due"]) == again
    crawl.run()
    assert site.asked.count("/a") == 1 + again
    crawl.run(later=DAY)
    assert (site.asked.count("/a"), site.asked.count("/b")) == (1 + again, 1)
    assert site.asked.count("/sitemap.xml") == 4, "once in each run"


def test_a_date_to_come_does_not_crawl_a_page_twice_in_a_run(crawl: Crawling) -> None:
    site = with_date(crawl, "2099-01-01")
    site.page("/", "/a")
    crawl.run(seeds=[site.url(), site.url("/a")])
    assert site.asked.count("/a") == 1
    crawl.run(seeds=[site.url(), site.url("/a")], later=HOUR)
    crawl.run(seeds=[site.url(), site.url("/a")], later=HOUR)
    assert site.asked.count("/a") <= 2, "at most once for a date"
