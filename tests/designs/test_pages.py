"""Pages (B): attempts and tries, their order, depth as the shortest path, and putting failed ones back."""

from __future__ import annotations

import re
import shlex
from collections import Counter

from tests.designs.crawling import HOUR, WEEK, Crawling
from tests.designs.web import Answer, Site
from tui_crawler.domain.records.command import RetryPages


def test_attempts_and_what_remains_of_them(crawl: Crawling) -> None:
    site = crawl.site().front("/bad", "/good")
    site.answer("/bad", Answer(503))
    site.page("/good")
    crawl.run("crawl: {tries: 4}")
    bad, good = crawl.page(site.url("/bad")), crawl.page(site.url("/good"))
    assert (bad["status"], bad["attempts"], bad["attempts_remaining"]) == ("READY", 4, 0)
    assert (good["status"], good["attempts"], good["attempts_remaining"]) == ("READY", 1, 0)
    assert len(site.requests("/bad")) == 4


def test_a_page_that_is_retried_comes_after_those_that_were_not_tried(crawl: Crawling) -> None:
    """The order is nice + attempts, not_before, first in first out."""
    site = crawl.site().front("/bad", "/a")
    site.answer("/bad", Answer(503))
    site.page("/a", "/b")
    site.page("/b")
    crawl.run()
    assert site.asked == ["/", "/bad", "/a", "/b", "/bad", "/bad"]


def test_depth_is_the_shortest_path_and_what_is_beyond_waits_for_one(crawl: Crawling) -> None:
    site = crawl.site().front("/1")
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
    site = crawl.site().front("/1", "/late")
    site.page("/late")
    for number in range(1, 5):
        site.page(f"/{number}", f"/{number + 1}")
    site.page("/5", "/1", "/6")
    site.page("/6")
    crawl.run("crawl: {max_depth: 5}")
    assert "/6" not in site.asked
    site.page("/late", "/4")
    crawl.run("crawl: {max_depth: 5}", later=5 * WEEK)
    depths = {row["url"].removeprefix(site.origin): row["depth"] for row in crawl.rows("SELECT url, depth FROM v_page")}
    assert depths == {"/": 0, "/1": 1, "/late": 1, "/2": 2, "/3": 3, "/4": 2, "/5": 3, "/6": 4}
    assert site.asked[-1] == "/6"


def test_a_deeper_limit_brings_back_what_was_beyond(crawl: Crawling) -> None:
    site = crawl.site().front("/1")
    site.page("/1", "/2")
    site.page("/2")
    crawl.run("crawl: {max_depth: 1}")
    crawl.run("crawl: {max_depth: 2}")
    assert site.asked == ["/", "/1", "/2"]


def test_failed_pages_are_put_back(crawl: Crawling) -> None:
    """retry: their options narrow each other."""
    site = crawl.site().front("/a", "/b", "/c")
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


ENDINGS = """
policies: {do_not_crawl: [{path: {prefix: /admin}}]}
exclusions: [{pattern: /private/}]
rules: [{match: /slides/, skip: true}]
network: {max_body_bytes: 4KiB}
crawl: {tries: 1, patience: 90}
"""


def every_ending(crawl: Crawling) -> Site:
    """A site whose pages end with every exit code that a page can be left with."""
    site = crawl.site()
    site.robots("User-agent: *\nDisallow: /secret")
    answers = {
        "/gone": Answer(410),
        "/missing": Answer(404),
        "/teapot": Answer(418),
        "/limit": Answer(429),
        "/broken": Answer(500),
        "/nonsense": Answer(raw=b"what?\r\n\r\n", end="close"),
        "/short": Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx", end="close"),
        "/reset": Answer(end="reset"),
        "/slow": Answer(408),
        "/picture": Answer(200, b"x", (("Content-Type", "image/png"),)),
        "/large": Answer(200, b"x" * 9_999, (("Content-Type", "text/html"),)),
    }
    for path, answer in answers.items():
        site.answer(path, answer)
    site.redirect("/moved", "/fine")
    site.redirect("/elsewhere", "/fine", 302)
    site.page("/fine")
    site.page("/copy", head="<link rel=canonical href=/fine>")
    site.page("/hidden", head="<meta name=robots content=noindex>")
    refused = ("/admin", "/private/x", "/slides/1", "/secret", "/list?page=1")
    site.page("/", *answers, "/moved", "/elsewhere", "/fine", "/copy", "/hidden", *refused)
    return site


def test_every_page_that_a_retry_names_is_asked_for_again(crawl: Crawling) -> None:
    """Whatever its exit code is: advice to retry one that nothing would put back is worse than none."""
    every_ending(crawl)
    crawl.run(ENDINGS)
    pages = crawl.rows("SELECT url, last_exit_code AS code FROM v_page")
    by_code = Counter(row["code"] for row in pages)
    assert len(by_code) >= 18, sorted(by_code)
    before = Counter(row["url"] for row in crawl.rows("SELECT url FROM v_attempt WHERE kind = 'page'"))
    for code, number in by_code.items():
        (action,) = crawl.ask("retry", "--exit-code", code, "--json").json["actions"]
        assert sum(action["after"]["retried"].values()) == number, code
    crawl.run(ENDINGS, later=HOUR)
    after = Counter(row["url"] for row in crawl.rows("SELECT url FROM v_attempt WHERE kind = 'page'"))
    assert {row["url"] for row in pages if after[row["url"]] == before[row["url"]]} == set()
    crawled = {"file_ingested", "file_of_unknown_type", "redirect", "permanent_redirect", "file_did_not_change"}
    others = sum(number for code, number in by_code.items() if code not in crawled)
    assert crawl.ask("retry", *(row["url"] for row in pages)).out.startswith(f"{others} pages requeued")


def test_what_why_advises_brings_each_page_back(crawl: Crawling) -> None:
    """The command that is printed, word by word, on a database of a run that is over."""
    site = every_ending(crawl)
    crawl.run(ENDINGS)
    crawl.later(HOUR)
    crawl.run(ENDINGS)  # so that crawled pages were crawled before
    advised = 0
    for row in crawl.rows("SELECT url FROM v_page"):
        url = row["url"]
        advice = re.search(r"→ (tui-crawler .*?)(?: (?:gives|crawls|puts) |$)", crawl.ask("why", url).out, re.MULTILINE)
        if advice is None:
            continue
        advised += 1
        words = [url if word == "URL" else word for word in shlex.split(advice[1])[1:]]
        assert crawl.ask(*words).status == 0, words
        assert crawl.page(url)["attempts_remaining"] > 0, (url, words)
    assert advised >= 12
    fine = site.url("/fine")
    before = len(crawl.codes(fine))
    crawl.run(ENDINGS)
    assert len(crawl.codes(fine)) == before + 1


def test_pages_of_a_mirror_come_back_as_the_warning_says(crawl: Crawling) -> None:
    """`status` names a key and a retry; both together keep the pages, whose content was dropped."""
    site = crawl.site()
    paths = [f"/{number}" for number in range(25)]
    for path in ("/", *paths):
        site.page(path, *paths, head=f"<link rel=canonical href='https://example.org{path}'>")
    crawl.run(seeds=[site.url(path) for path in ("/", *paths)])
    warning = crawl.ask("status", "--json").json["origins"][0]["warning"]
    key, value = re.search(r"(crawl\.canonical): (same_origin)", warning).groups()
    advice = re.search(r"retry --exit-code \w+", warning)[0]
    assert crawl.ask(*advice.split()).out.startswith("26 pages requeued")
    crawl.run(f"crawl: {{{key.partition('.')[2]}: {value}}}", seeds=[site.url(path) for path in ("/", *paths)])
    kept = crawl.rows("SELECT url FROM v_page WHERE last_exit_code = 'file_ingested' AND sha256 IS NOT NULL")
    assert len(kept) == 26


def test_failed_pages_are_put_back_while_the_run_is_live(crawl: Crawling) -> None:
    """They come next, before what is on the todo list."""
    site = crawl.site()
    others = ("/b", "/c", "/d", "/e", "/f")
    site.page("/", "/a", *others)
    site.answer("/a", Answer(404), Answer(200))
    for path in others:
        site.page(path)
    crawl.run(on_event=crawl.steering(site.url("/a"), RetryPages((site.url("/a"),))), poll_ms=500)
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
