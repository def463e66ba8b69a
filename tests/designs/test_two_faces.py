"""The console and `run` do the same: one configuration, one served web, the same database, times aside."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tests.designs.crawling import Crawling, Kit
from tests.designs.web import Answer
from tests.support.terminal import in_terminal

CONFIG = """
delay: {default: 0ms, floor: 0ms, start_politeness: 0, allow_impolite: true}
policies: {do_not_crawl: [{path: /admin}], url_query_parameters: [{match: {path: /list}, allow: [page]}]}
exclusions: [{pattern: /private/, reason: asked}]
rules: [{match: /cal/, skip: true}, {match: /feed, ua: feed-reader}]
"""
STORED = {
    "v_page": "url, origin, job, status, attempts, attempts_remaining, nice, depth, last_exit_code, last_http_status, "
    "etag, content_type, size, title, sha256, validation_type, valid",
    "v_attempt": "run_id, url, origin, kind, exit_code, http_status, bytes, requests, patience_after, message",
    "v_request": "url, method, http_status, conditional, fluke_retry",
    "v_link": "from_url, to_url, kind, nofollow, text",
    "v_redirect": "from_url, to_url, to_fragment, permanent, source",
    "v_refused": "origin, reason, count, sample_url",
    "v_origin": "origin, state, finish_reason, paused, patience, politeness, robots_status, todo, pending, done, "
    "failed, blocked, requests",
    "v_job": "job, status, nice, depth, concurrency, tag, pending, claimed, done",
    "v_run": "finish_reason, requests, user_agent, config_name",
    "crawler_urls": 'site, url, "content-type", "content-length", status, etag, validation_type, valid',
}


def stored(crawl: Crawling) -> dict[str, list[dict[str, Any]]]:
    """What a crawl left, without times."""
    return {view: sorted(crawl.rows(f"SELECT {columns} FROM {view}"), key=repr) for view, columns in STORED.items()}


def write(crawl: Crawling) -> None:
    """A small web with something of everything."""
    site, other = crawl.site(), crawl.site()
    site.robots("User-agent: *\nDisallow: /secret")
    links = (
        "/a",
        "/admin",
        "/list?page=2",
        "/list?sid=1",
        "/private/x",
        "/cal/1",
        "/feed",
        "/moved",
        "/gone",
        "/secret",
        "/broken",
    )
    site.page("/", *links, other.url("/linked"), "/canonical", "/t/t/t/t/t", headers=(("ETag", '"1"'),))
    for path in ("/a", "/list?page=2"):
        site.page(path, "/")
    site.file(
        "/feed", "<rss version='2.0'><channel><item><link>/a</link></item></channel></rss>", "application/rss+xml"
    )
    site.redirect("/moved", "/a#x")
    site.page("/canonical", head='<link rel=canonical href="/a">')
    site.answer("/gone", Answer(410))
    other.page("/", "/bad")
    other.page("/linked")
    other.answer("/bad", Answer(404))
    site.answer("/broken", Answer(500))


def has_ended(crawl: Crawling) -> bool:
    """Whether the one run of the database is over."""
    return crawl.database.exists() and any(crawl.rows("SELECT 1 FROM v_run WHERE finished_at > 0"))


def test_the_console_and_run_leave_the_same(crawl: Crawling, kit: Kit) -> None:
    write(crawl)
    assert crawl.live(text=CONFIG).status == 0
    headless = stored(crawl)
    asked = {origin: sorted(one.target for one in site.seen) for origin, site in crawl.web.sites.items()}
    crawl.database = Path(shutil.copy(kit.database, crawl.folder / "console.db"))
    command = [sys.executable, "-m", "tui_crawler", str(crawl.file), "--db", str(crawl.database)]
    with in_terminal(command) as terminal, crawl.web.in_thread():
        terminal.read_while(lambda: not has_ended(crawl))
        terminal.press("q")
        assert terminal.read_to_end() == 0
    left = stored(crawl)
    for view in STORED:
        assert left[view] == headless[view], view
    for origin, site in crawl.web.sites.items():
        assert sorted(one.target for one in site.seen) == sorted(2 * asked[origin])
