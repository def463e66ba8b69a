"""What is told of a robots.txt: never more than was answered (RFC 9309 section 2.3.1); in `status`, `why`, reports."""

from __future__ import annotations

from tests.designs.crawling import DAY, WEEK, Crawling
from tests.designs.web import Answer
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.idle_reason import idle_reason
from tui_crawler.domain.records.view import OriginView

NOBODY = "User-agent: *\nDisallow: /"


def told(crawl: Crawling, url: str) -> dict[str, str]:
    """The steps of `why`, by stage."""
    return {step["stage"]: step["reason"] for step in crawl.ask("why", url, "--json").json["steps"]}


def reason(crawl: Crawling, origin: str) -> str:
    """Why an origin does nothing, as `status` has it; the console asks the same function."""
    (row,) = (one for one in crawl.ask("status", "--json").json["origins"] if one["origin"] == origin)
    view = shown(crawl, origin)
    with crawl.reports() as reports:
        assert idle_reason(view, crawl.now, reports.run()) == row["idle_reason"]
    return str(row["idle_reason"])


def shown(crawl: Crawling, origin: str) -> OriginView:
    """An origin as the overview shows it."""
    with crawl.reports() as reports:
        view = reports.origin(origin)
    assert view is not None
    return view


def test_a_refused_address_is_no_missing_robots_txt(crawl: Crawling) -> None:
    site = crawl.site().front()
    crawl.run("network: {allow_private_addresses: false}")
    robots = told(crawl, site.url())["robots"]
    assert robots == "robots.txt: no response (127.0.0.1 is not a public address)"
    why = crawl.ask("why", site.url()).out
    assert "network.allow_private_addresses decides" in " ".join(why.split())
    assert "tui-crawler retry" not in why


def test_a_missing_robots_txt_is_told_with_its_answer(crawl: Crawling) -> None:
    site = crawl.site().front()
    crawl.run()
    assert told(crawl, site.url())["robots"].startswith("no robots.txt (404): everything is allowed, fetched ")
    assert reason(crawl, site.origin) == "nothing left to crawl"


def test_an_origin_without_a_robots_txt_to_be_had_says_so(crawl: Crawling) -> None:
    broken, refusing = crawl.site(), crawl.site("127.0.0.2")
    broken.answer("/robots.txt", Answer(500))
    crawl.web.refuse(refusing)
    crawl.run(seeds=[broken.url(), refusing.url()])
    for site, words in ((broken, "HTTP 500"), (refusing, "connection refused")):
        assert reason(crawl, site.origin).startswith(f"robots.txt unreachable: {words}; empty: ")
        steps = told(crawl, site.url())
        assert steps["robots"].startswith(f"robots.txt unreachable: {words}; the origin is not crawled")
        assert f"stopped: errors, robots.txt unreachable: {words}" in steps["origin"]
        assert "WAITING: it waits for the next run" in crawl.ask("why", site.url()).out


def test_an_origin_that_robots_txt_disallows_as_a_whole_says_so(crawl: Crawling) -> None:
    closed, half = crawl.site(), crawl.site("127.0.0.2")
    closed.robots(NOBODY)
    half.robots("User-agent: *\nDisallow: /no")
    half.page("/", "/no/1")
    seeds = [closed.url(), half.url()]
    crawl.run(seeds=seeds)
    for _ in range(2):
        assert reason(crawl, closed.origin).startswith("robots.txt disallows all requested URLs; empty: ")
        assert reason(crawl, half.origin) == "nothing left to crawl"
        view = shown(crawl, closed.origin)
        assert (view.last_url, view.last_exit_code) == (closed.url(), "blocked_by_robots_txt")
        crawl.run(seeds=seeds, later=DAY)
    status = crawl.ask("status").out
    assert "empty" in status
    assert "robots.txt disallows all requested URLs" in status


def test_refusals_of_several_kinds_are_not_laid_at_the_door_of_robots_txt(crawl: Crawling) -> None:
    site = crawl.site()
    site.robots(NOBODY)
    config = "policies: {do_not_crawl: [{path: {prefix: /admin}}]}"
    crawl.run(config, seeds=[site.url(), site.url("/admin")])
    assert reason(crawl, site.origin).startswith("all requested URLs are refused; empty: ")


def test_the_last_attempt_of_an_origin_is_that_of_a_page(crawl: Crawling) -> None:
    site = crawl.site().front()
    site.robots("User-agent: *\nAllow: /")
    crawl.run()
    assert shown(crawl, site.origin).last_url == site.url()
    crawl.later(5 * WEEK)
    site.answer("/robots.txt", Answer(503))
    crawl.run()
    assert shown(crawl, site.origin).last_url == site.url("/robots.txt"), "one that failed stands there"
    site.robots("User-agent: *\nAllow: /")
    site.answer("/", Answer(410))
    crawl.run()
    assert shown(crawl, site.origin).last_exit_code == "file_gone"


def test_a_server_that_hangs_is_told_from_a_slow_one(crawl: Crawling) -> None:
    said: dict[str, str] = {}

    def look(event: Event) -> None:
        if event.event == "attempt_finished":
            with crawl.reports() as reports:
                view = reports.origin(event.origin)
                assert view is not None
                said[event.url] = idle_reason(view, crawl.now, reports.run()).partition(", ")[2]

    site = crawl.site().front("/slow", "/hangs")
    site.page("/slow", takes_ms=4_000)
    site.answer("/hangs", Answer(end="silent", raw=b""))
    crawl.run("crawl: {tries: 1}\nnetwork: {read_timeout: 20s}", on_event=look)
    assert crawl.codes(site.url("/hangs")) == ["request_timeout"]
    assert (said[site.url("/slow")], said[site.url("/hangs")]) == ("slow responses", "no response within 20 s")
