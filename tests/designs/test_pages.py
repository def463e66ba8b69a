"""Pages (B): attempts and tries, their order, depth as the shortest path, and putting failed ones back."""

from __future__ import annotations

from tests.designs.crawling import WEEK, Crawling
from tests.designs.web import Answer
from tui_crawler.domain.command import RetryPages
from tui_crawler.domain.event import Event


def test_attempts_and_what_remains_of_them(crawl: Crawling) -> None:
    site = crawl.site()
    site.page("/", "/bad", "/good")
    site.answer("/bad", Answer(503))
    site.page("/good")
    crawl.run("crawl: {tries: 4}")
    bad, good = crawl.page(site.url("/bad")), crawl.page(site.url("/good"))
    assert (bad["status"], bad["attempts"], bad["attempts_remaining"]) == ("READY", 4, 0)
    assert (good["status"], good["attempts"], good["attempts_remaining"]) == ("READY", 1, 0)
    assert len(site.requests("/bad")) == 4


def test_a_page_that_is_retried_comes_after_those_that_were_not_tried(crawl: Crawling) -> None:
    """The order is nice + attempts, not_before, first in first out."""
    site = crawl.site()
    site.page("/", "/bad", "/a")
    site.answer("/bad", Answer(503))
    site.page("/a", "/b")
    site.page("/b")
    crawl.run()
    assert site.asked == ["/", "/bad", "/a", "/b", "/bad", "/bad"]


def test_depth_is_the_shortest_path_and_what_is_beyond_waits_for_one(crawl: Crawling) -> None:
    site = crawl.site()
    site.page("/", "/1")
    site.page("/1", "/2")
    site.page("/2", "/3")
    site.page("/3", "/4")
    site.page("/4")
    crawl.run("crawl: {max_depth: 2}")
    assert site.asked == ["/", "/1", "/2"]
    depths = {row["url"].removeprefix(site.origin): row["depth"] for row in crawl.rows("SELECT url, depth FROM v_page")}
    assert depths == {"/": 0, "/1": 1, "/2": 2, "/3": 3}
    assert crawl.value("SELECT count(*) FROM v_page WHERE last_crawled_at IS NULL AND attempts_remaining > 0") == 1


def test_a_shorter_path_lowers_all_pages_below_it(crawl: Crawling) -> None:
    """Breadth first and cycle-safe: the chain leads back to its beginning."""
    site = crawl.site()
    site.page("/", "/1", "/late")
    site.page("/late")
    for number in range(1, 5):
        site.page(f"/{number}", f"/{number + 1}")
    site.page("/5", "/1", "/6")
    site.page("/6")
    crawl.run("crawl: {max_depth: 5}")
    assert "/6" not in site.asked
    site.page("/late", "/4")
    crawl.later(5 * WEEK)
    crawl.run("crawl: {max_depth: 5}")
    depths = {row["url"].removeprefix(site.origin): row["depth"] for row in crawl.rows("SELECT url, depth FROM v_page")}
    assert depths == {"/": 0, "/1": 1, "/late": 1, "/2": 2, "/3": 3, "/4": 2, "/5": 3, "/6": 4}
    assert site.asked[-1] == "/6"


def test_a_deeper_limit_brings_back_what_was_beyond(crawl: Crawling) -> None:
    site = crawl.site()
    site.page("/", "/1")
    site.page("/1", "/2")
    site.page("/2")
    crawl.run("crawl: {max_depth: 1}")
    crawl.run("crawl: {max_depth: 2}")
    assert site.asked == ["/", "/1", "/2"]


def test_failed_pages_are_put_back(crawl: Crawling) -> None:
    """retry: their options narrow each other."""
    site = crawl.site()
    site.page("/", "/a", "/b", "/c")
    site.answer("/a", Answer(404))
    site.answer("/b", Answer(410))
    site.answer("/c", Answer(404))
    crawl.run()
    said = crawl.ask("retry", "--exit-code", "file_not_found", "--origin", site.origin)
    assert said.status == 0
    remaining = {
        row["url"][-2:]: row["attempts_remaining"] for row in crawl.rows("SELECT url, attempts_remaining FROM v_page")
    }
    assert (remaining["/a"], remaining["/b"], remaining["/c"]) == (3, 0, 3)
    site.page("/a")
    crawl.run()
    assert site.asked[4:] == ["/a", "/c"]


def test_failed_pages_are_put_back_while_the_run_is_live(crawl: Crawling) -> None:
    """They come next, before what is on the todo list."""
    site = crawl.site()
    others = ("/b", "/c", "/d", "/e", "/f")
    site.page("/", "/a", *others)
    site.answer("/a", Answer(404), Answer(200))
    for path in others:
        site.page(path)

    def on_event(event: Event) -> None:
        if event.event == "attempt_finished" and event.url == site.url("/a"):
            crawl.steer(RetryPages((site.url("/a"),)))

    crawl.run(on_event=on_event, poll_ms=500)
    again = site.asked.index("/a", 2)
    assert again < len(site.asked) - 1
    assert site.asked[:again] + site.asked[again + 1 :] == ["/", "/a", *others]


def test_failures_are_grouped(crawl: Crawling) -> None:
    site = crawl.site()
    paths = ("/item/1", "/item/2", "/page/x")
    site.page("/", *paths)
    for path in paths:
        site.answer(path, Answer(404))
    site.answer("/page/x", Answer(503))
    crawl.run()
    groups = crawl.ask("failures", "--by", "exit_code,pattern", "--json").json["groups"]
    assert {(group["key"]["exit_code"], group["count"], group["recoverable"]) for group in groups} == {
        ("file_not_found", 2, 0),
        ("server_internal_error", 1, 1),
    }
    by_origin = crawl.ask("failures", "--by", "origin", "--json").json["groups"]
    assert [(group["key"]["origin"], group["count"]) for group in by_origin] == [(site.origin, 3)]


def test_seeds_are_added_one_by_one_or_from_a_file_to_a_job(crawl: Crawling) -> None:
    site, other = crawl.site(), crawl.site()
    for one in (site, other):
        for path in ("/", "/a", "/b", "/n"):
            one.page(path)
    text = f"jobs: [{{name: news, seeds: ['{site.url('/n')}']}}]"
    crawl.run(text, seeds=[site.url()])
    listed = crawl.folder / "seeds.txt"
    listed.write_text(f"# more\n{site.url('/b')}\n{other.url('/a')}\n", encoding="utf-8")
    assert crawl.ask("add", site.url("/a"), "--job", "news").status == 0
    assert crawl.ask("add", "--file", str(listed)).status == 0
    refused = crawl.ask("add", site.url("/c"), "--job", "nws")
    assert refused.status == 2
    assert "news" in refused.err
    crawl.run(text, seeds=[site.url()])
    assert set(site.asked) == {"/", "/n", "/a", "/b"}
    assert other.asked == ["/a"], "its origin has joined the crawl"
    assert crawl.page(site.url("/a"))["job"] == "news"
    assert crawl.page(site.url("/b"))["depth"] == 0
