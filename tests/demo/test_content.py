"""The words of the demo web: links that lead somewhere, titles that differ, documents that are what they say."""

import re
import zlib
from collections import Counter
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from lxml import etree
from protego import Protego

from tui_crawler.demo.pages import SITE_NAMES, build_sites
from tui_crawler.demo.responses import DemoRequest, Responder, Response
from tui_crawler.demo.site import DemoPage, Site, freeze_pages

_ORIGINS = {name: f"http://127.0.0.1:{18081 + number}" for number, name in enumerate(SITE_NAMES)}
_ENCODINGS = {"/cabinet/utf-16": "utf-16", "/cabinet/koi8": "koi8-r"}
_SITES = {site.name: site for site in build_sites(_ORIGINS, 1.0)}
_MISSING_ON_PURPOSE = {"/admin/", "/members/letters", "/basket", "/booking/", "/search", "/studio/", "/store/"}


def _html_pages(site: Site) -> list[DemoPage]:
    return [page for page in site.pages.values() if (page.content_type or "").startswith("text/html")]


def _links(page: DemoPage) -> list[str]:
    return [unescape(href) for href in re.findall(r'(?:href|src)="([^"]*)"', page.body.decode(errors="replace"))]


def _title(page: DemoPage) -> str:
    text = page.body.decode(_ENCODINGS.get(page.target, "utf-8"), errors="replace")
    found = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    return unescape(found[1]) if found else ""


@pytest.mark.parametrize("name", [name for name in SITE_NAMES if name != "museum"])
def test_links_between_demo_pages_lead_to_pages(name: str) -> None:
    by_origin = {_ORIGINS[site.name]: site for site in _SITES.values()}
    for page in _html_pages(_SITES[name]):
        for href in _links(page):
            target = urlsplit(urljoin(_ORIGINS[name] + page.target, href))
            there = by_origin.get(f"{target.scheme}://{target.netloc}")
            if there is None or target.path in _MISSING_ON_PURPOSE or target.path.startswith(("/reading", "/dome")):
                continue
            assert there.find_page(target.path) is not None, f"{page.target} links {href}"


@pytest.mark.parametrize("name", SITE_NAMES)
def test_each_site_has_robots_a_seed_page_and_titles_that_differ(name: str) -> None:
    site = _SITES[name]
    assert Protego.parse(site.pages["/robots.txt"].body.decode()).can_fetch(_ORIGINS[name] + "/", "demo")
    assert site.find_page("/") is not None
    titles = Counter(_title(page) for page in _html_pages(site) if page.status == 200 and page.body)
    assert [title for title, count in titles.items() if count > 1 and title] == []


def test_every_page_has_a_title_and_words_but_for_the_two_that_are_there_to_have_none() -> None:
    bare = set()
    for site in _SITES.values():
        for page in _html_pages(site):
            text = re.sub(r"<[^>]*>", " ", page.body.decode(_ENCODINGS.get(page.target, "utf-8"), errors="replace"))
            assert "lorem" not in text.lower()
            if page.status == 200 and (not _title(page) or len(text.split()) < 4):
                bare.add(page.target)
    assert bare == {"/cabinet/untitled", "/cabinet/empty"}


def test_the_same_words_every_time() -> None:
    again = build_sites(_ORIGINS, 1.0)
    assert [dict(site.pages) for site in again] == [dict(site.pages) for site in _SITES.values()]


def test_the_sites_know_each_other_and_the_world_outside() -> None:
    linked = {name: set[str]() for name in SITE_NAMES}
    outside = set()
    names = {urlsplit(origin).netloc: name for name, origin in _ORIGINS.items()}
    for site in _SITES.values():
        pages = [*_html_pages(site)] + ([page] if (page := site.find_page("/")) else [])
        for page in pages:
            for href in _links(page):
                if href.startswith("http"):
                    place = re.match(r"https?://([^/]*)", href)
                    linked[site.name].add(names.get(place[1], ""))
                    outside.add(place[1])
    assert all(others - {"", name} for name, others in linked.items())
    assert set().union(*linked.values()) >= set(SITE_NAMES)
    assert "example.org" in outside


def test_the_crawl_delay_and_retry_after_follow_the_pace() -> None:
    quick = {site.name: site for site in build_sites(_ORIGINS, 0.1)}
    rules = [Protego.parse(sites["observatory"].pages["/robots.txt"].body.decode()) for sites in (_SITES, quick)]
    assert [one.crawl_delay("demo") for one in rules] == [3.0, 0.3]
    waits = []
    for pace in (0, 0.1, 1, 1.2):
        responder = Responder(_SITES["ferries"], pace)
        *_, refused = (responder.respond(DemoRequest("GET", "/")) for _ in range(6))
        assert isinstance(refused, Response)
        waits.append(dict(refused.headers)["Retry-After"])
    assert waits == ["1", "1", "2", "3"]


def test_the_reserve_has_a_group_for_each_visitor() -> None:
    rules = Protego.parse(_SITES["reserve"].pages["/robots.txt"].body.decode())
    home = _ORIGINS["reserve"]
    asked = ("/species/", "/nests/", "/nests/viewing", "/drafts/plan", "/species.bak")
    allowed = {
        agent: [rules.can_fetch(home + path, agent) for path in asked]
        for agent in ("greedy-harvester", "anybody", "tui-crawler-demo-crawler")
    }
    assert allowed == {
        "greedy-harvester": [False] * 5,
        "anybody": [True, False, True, True, False],
        "tui-crawler-demo-crawler": [True, False, True, False, False],
    }


def test_feed_and_sitemap_are_well_formed_and_lead_home() -> None:
    almanac = _SITES["almanac"]
    feed = etree.fromstring(almanac.pages["/feed.xml"].body)
    addresses = [link.text or "" for link in feed.iter("link")][1:]
    sitemap = etree.fromstring(almanac.pages["/sitemap.xml"].body)
    listed = [location.text or "" for location in sitemap.iter("{*}loc")]
    assert len(addresses) == 10
    assert len(listed) == 12
    for address in addresses + listed:
        assert almanac.find_page(address.removeprefix(_ORIGINS["almanac"])) is not None
    linked = {href for page in _html_pages(almanac) for href in _links(page)}
    orphans = [address for address in listed if address.removeprefix(_ORIGINS["almanac"]) not in linked]
    assert len(orphans) == 2


def test_the_documents_are_what_they_say() -> None:
    png = _SITES["almanac"].pages["/harbour.png"].body
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    size = int.from_bytes(png[33:37], "big")
    assert png[37:41] == b"IDAT"
    assert len(zlib.decompress(png[41 : 41 + size])) == 120 * (1 + 3 * 320)
    pdf = _SITES["almanac"].pages["/handbook.pdf"].body
    start = int(re.findall(rb"startxref\n(\d+)\n%%EOF\n$", pdf)[0])
    assert pdf.startswith(b"%PDF-1.4")
    assert pdf[start:].startswith(b"xref")
    assert rb"lights \(all of them\)" in pdf
    wav = _SITES["radio"].pages["/pips.wav"].body
    assert (wav[:4], wav[8:12], int.from_bytes(wav[4:8], "little")) == (b"RIFF", b"WAVE", len(wav) - 8)


def test_the_cabinet_holds_what_a_screen_must_survive() -> None:
    cabinet = {target.removeprefix("/cabinet/"): page for target, page in _SITES["museum"].pages.items()}
    titles = "".join(map(_title, cabinet.values()))
    for hostile in ("[/]", "[@click=app.quit]x", "\x1b]52;c;", "\x1b[2J", "\x9b31m", "\u202e", "\b", "\r", "\n"):
        assert hostile in titles
    assert max(len(_title(page)) for page in cabinet.values()) > 2000
    assert "Café – déjà vu" in cabinet["windows-1252"].body.decode("cp1252")
    assert "Θάλασσα" in cabinet["utf-16"].body.decode("utf-16")
    assert "Море" in cabinet["koi8"].body.decode("koi8-r")
    assert len(cabinet["ledger"].body) > 2**20
    linked = set(_links(cabinet[""]))
    assert {f"/cabinet/{name}" for name in cabinet if not name.startswith("/") and name} <= linked


def test_the_chandlery_has_no_end_and_no_page_but_its_own() -> None:
    shop = _SITES["chandlery"]
    month = "/calendar?month=2026-12"
    for expected in ("2027-01", "2027-02", "2027-03"):
        page = shop.find_page(month)
        assert page is not None
        assert f"/calendar?month={expected}" in _links(page)
        month = f"/calendar?month={expected}"
    here = "/find-us/"
    for _ in range(30):
        page = shop.find_page(here)
        assert page is not None
        here = next(href for href in _links(page) if href.startswith(here) and "?" not in href and href != here)
    assert here.count("/") == 32
    sessions = {_session(page) for target in ("/", "/help", "/?session=1") if (page := shop.find_page(target))}
    assert len(sessions) == 3
    for missing in ("/list?page=8", "/list?page=0", "/list?page=last", "/calendar?month=2026-13", "/item/anchor", "/x"):
        assert shop.find_page(missing) is None
    assert shop.find_page("/calendar?month=0000-01") is None
    assert shop.find_page("/calendar?month=0001-01") is not None


def test_what_a_client_asks_for_is_text_on_the_page() -> None:
    target = "/find-us/{almanac}](/x)\n- \"><b>'"
    page = _SITES["chandlery"].find_page(target)
    assert b"<b>" not in page.body
    assert [href for href in _links(page) if "find-us" in href][1:] == [
        f"{target}/the/",
        f"{target}?session={_session(page)[-8:]}",
    ]


def _session(page: DemoPage) -> str:
    return next(href for href in _links(page) if "session=" in href)


def test_a_target_given_twice_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"given twice: \['/a'\]"):
        freeze_pages((DemoPage("/a"), DemoPage("/b"), DemoPage("/a")))
