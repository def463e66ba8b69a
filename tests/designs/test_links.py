"""Links (G): seven kinds with their base, diffed per page; items with a pattern; bodies; the four published tables."""

from __future__ import annotations

import zstandard

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import HTML, Answer, Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import AddSeeds

EVERYTHING = """<!DOCTYPE html><html><head><base href="/base/">
<link rel="stylesheet" href="style.css"><link rel="alternate stylesheet" href="print.css">
<link rel=icon href="icon.png">
<script src="script.js"></script></head><body>
<a href="page">A page</a> <a href="../up" rel="nofollow">Up</a> <area href="area">
<img src="small.png" srcset="large.png 2x, huge.png 800w" alt="x">
<picture><source srcset="art.webp 1x, art2.webp 2x"><img src="art.png"></picture>
<video src="film.mp4" poster="poster.jpg"><source src="film.webm"></video>
<audio src="song.mp3"><source src="song.ogg"></audio>
<object data="thing.svg"></object><embed src="plug.bin"><iframe src="frame.html"></iframe>
</body></html>"""
PICTURES = ("icon.png", "small.png", "large.png", "huge.png", "art.webp", "art2.webp", "art.png", "poster.jpg")
KINDS = {
    "a": {"/base/page", "/up", "/base/area"},
    "css": {"/base/style.css", "/base/print.css"},
    "img": {f"/base/{name}" for name in PICTURES},
    "video": {"/base/film.mp4", "/base/film.webm"},
    "audio": {"/base/song.mp3", "/base/song.ogg"},
    "object": {"/base/thing.svg", "/base/plug.bin", "/base/frame.html"},
    "script": {"/base/script.js"},
}  # fmt: skip


def links_of(crawl: Crawling, site: Site) -> dict[str, set[str]]:
    """Targets of all links by kind, as paths."""
    found: dict[str, set[str]] = {}
    for row in crawl.rows("SELECT kind, to_url FROM v_link"):
        found.setdefault(row["kind"], set()).add(row["to_url"].removeprefix(site.origin))
    return found


def test_links_of_seven_kinds_are_resolved_against_the_base(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", EVERYTHING, HTML)
    crawl.run()
    assert links_of(crawl, site) == KINDS
    (row,) = crawl.rows("SELECT text, nofollow FROM v_link WHERE to_url = ?", site.url("/base/page"))
    assert row == {"text": "A page", "nofollow": 0}


def test_only_the_kinds_that_are_asked_for_become_pages(crawl: Crawling) -> None:
    site = crawl.site()
    site.file("/", EVERYTHING, HTML)
    crawl.run()
    assert set(site.asked) == {"/", "/base/page", "/base/area", "/base/frame.html"}
    crawl.run("crawl: {link_kinds_queued: [css, script], follow_frames: false}", later=5 * WEEK)
    assert set(site.asked[4:]) >= {"/base/style.css", "/base/print.css", "/base/script.js"}


FRAMESET = """<frameset><frame src=menu.html><frame src=start.html><frame src=about:blank><frameset>
<frame src={far}></frameset><noframes>no frames</noframes></frameset>"""


def framed(crawl: Crawling) -> tuple[Site, Site]:
    """A site whose front page has frames only, and another one that is framed by it."""
    home, far = crawl.site(), crawl.site()
    home.file("/", FRAMESET.format(far=far.url("/framed")), HTML)
    home.page("/menu.html", "/history")
    home.page("/start.html", body="<iframe src=/news loading=lazy></iframe><iframe data-src=/no></iframe>")
    home.page("/news", head="<meta name=robots content=nofollow>", body="<iframe src=/hidden></iframe>")
    home.page("/history", body="<iframe srcdoc='x' src=/shown-by-itself></iframe>")
    far.page("/framed")
    return home, far


def test_frames_of_crawled_origins_become_pages(crawl: Crawling) -> None:
    home, far = framed(crawl)
    crawl.run("crawl: {check_external: true}", seeds=[home.url()])
    assert sorted(home.asked) == ["/", "/history", "/menu.html", "/news", "/start.html"]
    assert far.asked == [], "what a page shows of another site is checked with check_embedded"
    depths = {row["url"]: row["depth"] for row in crawl.rows("SELECT url, depth FROM v_page")}
    assert (depths[home.url("/menu.html")], depths[home.url("/news")]) == (1, 2)
    rows = crawl.rows("SELECT to_url, kind, frame FROM v_link WHERE kind = 'object' ORDER BY to_url")
    marked = {row["to_url"].removeprefix(home.origin): row["frame"] for row in rows}
    assert marked.pop("/hidden") == 1, "recorded, though nothing of a nofollow page is followed"
    assert marked == {"/menu.html": 1, "/start.html": 1, "/news": 1, "/shown-by-itself": 0, far.url("/framed"): 1}
    assert {row["type"] for row in crawl.rows("SELECT type FROM crawler_links")} == {"a", "object"}
    found = crawl.ask("links", home.url("/news"), "--json").json["inlinks"]
    assert [(one["kind"], one["frame"]) for one in found] == [("object", True)]
    assert "frame" in crawl.ask("links", home.url("/news")).out
    assert "frame, depth 2" in crawl.ask("why", home.url("/news")).out


def test_frames_are_only_recorded_where_they_are_not_followed(crawl: Crawling) -> None:
    home, _ = framed(crawl)
    crawl.run("crawl: {follow_frames: false}", seeds=[home.url()])
    assert home.asked == ["/"]
    assert crawl.value("SELECT count(*) FROM v_link WHERE frame = 1") == 3
    assert "crawl.follow_frames" in crawl.ask("why", home.url("/menu.html")).out
    crawl.run("crawl: {recheck: true}", seeds=[home.url()])
    assert "/menu.html" in home.asked


def test_frames_of_all_seeds_are_followed_and_what_bounds_links_bounds_them(crawl: Crawling) -> None:
    home, far = framed(crawl)
    far.page("/")
    home.robots("User-agent: *\nDisallow: /start")
    crawl.run("crawl: {max_depth: 1}\nexclusions: [{pattern: /menu}]", seeds=[home.url(), far.url()])
    assert (home.asked, far.asked) == (["/"], ["/", "/framed"])


OTHERS = """<link rel=alternate hreflang=de href=/de><link rel=next href=/2><link rel=prev href=/0>
<link rel=author href=/me><link rel=manifest href=/app><link rel=icon href=/i.png>
<meta property=og:image content=/o.png><form method=post action=/delete></form><form action=/search></form>
<blockquote cite=/source></blockquote><button formaction=/buy>Buy</button><video><track src=/t.vtt></video>"""


def test_other_links_are_recorded_and_never_requested(crawl: Crawling) -> None:
    """A form is not sent, whatever its method, and what has no reader is not crawled."""
    site = crawl.site()
    site.file("/", OTHERS, HTML)
    for path in ("/i.png", "/o.png", "/t.vtt"):
        site.file(path, "there", "image/png")
    crawl.run("crawl: {check_embedded: true, check_external: true, link_kinds_queued: [a, object]}")
    assert sorted(site.asked) == ["/", "/i.png", "/o.png", "/t.vtt"]
    others = {"/de", "/2", "/0", "/me", "/app", "/delete", "/search", "/source", "/buy"}
    assert links_of(crawl, site) == {"other": others, "img": {"/i.png", "/o.png"}, "object": {"/t.vtt"}}
    why = crawl.ask("why", site.url("/delete")).out
    assert "other" in why
    assert "crawl.link_kinds_queued" not in why, "it cannot be configured"
    results = crawl.rows("SELECT type, value FROM v_result WHERE type = 'requisites' ORDER BY attempt_id")
    assert results[0]["value"] == "3"


def test_the_links_of_a_page_are_diffed(crawl: Crawling) -> None:
    """Gone ones are deleted, new ones inserted, kept ones keep the time they were first seen."""
    site = crawl.site().front("/kept", "/gone")
    crawl.run()
    first = crawl.value("SELECT first_seen_at FROM v_link WHERE to_url = ?", site.url("/kept"))
    crawl.later(5 * WEEK)
    site.page("/", "/new", "/kept")
    crawl.run()
    rows = crawl.rows("SELECT to_url, first_seen_at FROM v_link WHERE from_url = ?", site.url())
    assert {row["to_url"]: row["first_seen_at"] == first for row in rows} == {
        site.url("/kept"): True,
        site.url("/new"): False,
    }


def test_an_item_with_a_pattern_queues_only_links_that_match_and_they_inherit_it(crawl: Crawling) -> None:
    site = crawl.site().front("/catalogue")
    site.page("/list", "/item/1", "/item/2", "/about")
    site.page("/item/1", "/item/3", "/help")
    for path in ("/item/2", "/item/3", "/catalogue"):
        site.page(path)

    def on_event(event: Event) -> None:
        if event.event == "robots_fetched":
            crawl.steer(AddSeeds((site.url("/list"),), pattern=r"/item/\d+$"))

    crawl.run(on_event=on_event, poll_ms=500)
    assert set(site.asked) == {"/", "/catalogue", "/list", "/item/1", "/item/2", "/item/3"}
    assert crawl.refused() == {"item_pattern": 2}


def test_a_forced_item_is_crawled_though_it_is_not_due_and_its_links_inherit_force(crawl: Crawling) -> None:
    site = crawl.site().front("/list")
    site.page("/list", "/old")
    site.page("/old", headers=(("ETag", '"1"'),))
    crawl.run()

    def on_event(event: Event) -> None:
        if event.event == "run_started":
            crawl.steer(AddSeeds((site.url("/list"),), force=True))

    crawl.run(on_event=on_event, poll_ms=500)
    assert site.asked == ["/", "/list", "/old", "/list", "/old"]
    assert site.requests("/old")[1].header("If-None-Match") is None


def test_bodies_of_four_kinds_are_stored_and_of_others_what_is_known_about_them(crawl: Crawling) -> None:
    files = {
        "/h": ("<!DOCTYPE html><p>h", "text/html", "html"),
        "/x": ('<?xml version="1.0"?><x/>', "application/xml", "xml"),
        "/c": ("p { color: red }", "text/css", "css"),
        "/r": ('<?xml version="1.0"?><rss version="2.0"><channel/></rss>', "application/rss+xml", "rss"),
        "/p": ("%PDF-1.7", "application/pdf", None),
        "/sniffed": ('<?xml version="1.0"?><rss version="2.0"><channel/></rss>', "", "rss"),
    }
    site = crawl.site().front(*files)
    for path, (body, kind, _) in files.items():
        site.answer(path, Answer(200, body.encode(), (("Content-Type", kind),) if kind else ()))
    crawl.run()
    with crawl.reports() as reports:
        for path, (body, kind, stored) in files.items():
            page = crawl.page(site.url(path))
            assert page["size"] == len(body)
            assert page["content_type"] == kind
            assert reports.body(site.url(path)) == (body.encode() if stored else None)
    assert crawl.page(site.url("/p"))["last_exit_code"] == "file_of_unknown_type"


def test_what_is_of_no_kind_is_left_on_the_wire_unless_all_is_stored(crawl: Crawling) -> None:
    picture = bytes(range(256)) * 200
    site = crawl.site().front("/big", "/small")
    site.answer("/big", Answer(200, picture, (("Content-Type", "image/png"), ("ETag", '"1"'))))
    site.answer("/small", Answer(200, b"GIF89a", (("Content-Type", "image/gif"),)))
    crawl.run()
    big = crawl.page(site.url("/big"))
    assert (big["last_exit_code"], big["size"], big["sha256"]) == ("file_of_unknown_type", len(picture), "")
    (attempt,) = crawl.rows("SELECT bytes FROM v_attempt WHERE url = ?", site.url("/big"))
    assert attempt["bytes"] == 0
    crawl.run("storage: {store_bodies: all}", later=5 * WEEK)
    big = crawl.page(site.url("/big"))
    assert (big["last_exit_code"], big["size"]) == ("file_of_unknown_type", len(picture))
    with crawl.reports() as reports:
        assert reports.body(site.url("/big")) == picture
        assert reports.body(site.url("/small")) == b"GIF89a"


def test_bodies_of_the_kinds_that_are_not_asked_for_are_not_stored(crawl: Crawling) -> None:
    site = crawl.site().front("/c")
    site.file("/c", "p {}", "text/css")
    crawl.run("storage: {store_bodies: [css]}")
    with crawl.reports() as reports:
        assert reports.body(site.url()) is None
        assert reports.body(site.url("/c")) == b"p {}"
    assert crawl.page(site.url())["title"] == "/"


def test_a_feed_is_read_for_its_links(crawl: Crawling) -> None:
    site = crawl.site()
    feed = """<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>
    <item><link>/one</link><enclosure url="/one.mp3" type="audio/mpeg"/></item></channel></rss>"""
    site.page("/", "/feed")
    site.file("/feed", feed, "application/rss+xml")
    site.page("/one")
    crawl.run()
    assert site.asked == ["/", "/feed", "/one"]
    rows = crawl.rows("SELECT kind, to_url FROM v_link WHERE from_url = ? ORDER BY kind", site.url("/feed"))
    assert [(row["kind"], row["to_url"]) for row in rows] == [("a", site.url("/one")), ("audio", site.url("/one.mp3"))]


def test_a_stylesheet_is_read_for_its_links(crawl: Crawling) -> None:
    site = crawl.site().front(head='<link rel=stylesheet href="/css/a.css">')
    site.file("/css/a.css", '@import "b.css"; p { background: url(../i.png) }', "text/css")
    site.file("/css/b.css", "p {}", "text/css")
    crawl.run("crawl: {link_kinds_queued: [css]}")
    assert site.asked == ["/", "/css/a.css", "/css/b.css"]
    rows = crawl.rows("SELECT kind, to_url FROM v_link WHERE from_url = ? ORDER BY kind", site.url("/css/a.css"))
    assert [(row["kind"], row["to_url"]) for row in rows] == [
        ("css", site.url("/css/b.css")),
        ("img", site.url("/i.png")),
    ]


def test_an_attempt_is_stored_whole_or_not_at_all(crawl: Crawling) -> None:
    """Document, links, new pages, page, origin and log come in one transaction: whoever looks sees them together."""
    site = crawl.site()
    paths = [f"/{number}" for number in range(6)]
    seen: list[tuple[int, ...]] = []

    def look() -> None:
        (row,) = crawl.rows(
            """SELECT (SELECT count(*) FROM v_attempt WHERE kind = 'page') AS attempts,
            (SELECT count(*) FROM v_page WHERE last_exit_code <> '') AS crawled,
            (SELECT count(*) FROM v_page WHERE sha256 <> '') AS documents,
            (SELECT count(*) FROM v_link) / 2 AS linking,
            (SELECT done FROM v_origin) AS done, (SELECT requests - 1 FROM v_origin) AS requests"""
        )
        seen.append(tuple(row.values()))

    for path, after in zip(["/", *paths], [*paths, "/"], strict=True):
        site.page(path, after, f"http://127.0.0.1:1{path}")
        site.scripts[path].then = look
    crawl.run()
    assert seen == [(number,) * 6 for number in range(7)]


def test_the_four_published_tables_are_views(crawl: Crawling) -> None:
    site = crawl.site().front("/a", "/queued")
    site.page("/a")
    crawl.run(crawl__max_requests=3)
    (one,) = crawl.rows("SELECT * FROM crawler_sites")
    assert (one["site"], one["domain"], one["start_path"]) == (site.origin, site.origin.removeprefix("http://"), "/")
    (queued,) = crawl.rows("SELECT * FROM crawler_queue")
    assert {**queued, "id": 0} == {"site": site.origin, "id": 0, "url": site.url("/queued"), "pattern": "", "force": 0}
    crawled = {row["url"]: row for row in crawl.rows("SELECT * FROM crawler_urls")}
    assert set(crawled) == {site.url(), site.url("/a")}
    body = zstandard.ZstdDecompressor().decompress(crawled[site.url()]["response"])
    assert b"<title>/</title>" in body
    links = crawl.rows('SELECT site, "from", "to", type FROM crawler_links ORDER BY "to"')
    assert links == [
        {"site": site.origin, "from": site.url(), "to": site.url("/a"), "type": "a"},
        {"site": site.origin, "from": site.url(), "to": site.url("/queued"), "type": "a"},
    ]
