"""`why` on thirteen kinds of URL of one crawl: right, on one screen, and machine readable."""

from __future__ import annotations

import pytest

from tests.designs.crawling import DAY, Crawling
from tests.designs.web import Answer, Site

CONFIG = """
policies:
  do_not_crawl:
    - path: {prefix: /admin/}
  url_query_parameters:
    - {match: {path: /list}, allow: [page]}
exclusions:
  - {pattern: /private/, reason: asked}
"""
KINDS = {  # path, answer, exit code, where the line that decided stands
    "crawled": ("/new", "crawled", "file_ingested", ""),
    "failed": ("/gone", "failed", "file_gone", ""),
    "retry-pending": ("/teapot", "retry_pending", "server_blamed_client", ""),
    "not-due": ("/a", "not_due", "file_ingested", ""),
    "policy": ("/admin/x", "policy", "blocked_url_by_local_policy", "crawl.yaml:6"),
    "query-policy": ("/list?sid=1", "query_policy", "blocked_url_by_local_policy", "crawl.yaml:8"),
    "robots": ("/closed", "robots", "blocked_by_robots_txt", "robots.txt:2"),
    "exclusion": ("/private/x", "exclusion", "blocked_by_exclusion_list", "crawl.yaml:10"),
    "out-of-scope": ("/blog", "out_of_scope", None, "sites"),
    "other-origin": ("http://example.org/", "other_origin", None, "seeds"),
    "trap": ("/t/t/t/t/t", "trap", None, "trap guard"),
    "never-seen": ("/never", "never_seen", None, ""),
    "waiting": ("/waiting", "waiting", None, ""),
}
KEYS = {
    "url", "normalized", "known", "verdict", "exit_code", "steps", "provenance", "attempts", "due_at", "queue_position",
}  # fmt: skip


@pytest.fixture(scope="module")
def asked(shared_crawl: Crawling) -> tuple[Crawling, Site, Site]:
    """Two runs: one to its end, and on the next day one that reached its limit of requests."""
    crawl = shared_crawl
    site, docs = crawl.site(), crawl.site()
    site.robots("User-agent: *\nDisallow: /closed")
    links = (
        "/a",
        "/gone",
        "/teapot",
        "/admin/x",
        "/list?sid=1",
        "/closed",
        "/private/x",
        "/t/t/t/t/t",
        "http://example.org/",
    )
    site.page("/", *links)
    for path in ("/a", "/new", "/waiting"):
        site.page(path, "/waiting")
    site.page("/a")
    site.answer("/gone", Answer(410))
    site.answer("/teapot", Answer(418))
    docs.page("/docs/", "/blog")
    config = f"{CONFIG}sites: [{{origin: {docs.origin}, start_path: /docs/}}]"
    crawl.run(config, seeds=[site.url(), docs.url("/docs/")])
    crawl.run(config, seeds=[site.url(), site.url("/new"), docs.url("/docs/")], crawl__max_requests=4, later=DAY)
    return crawl, site, docs


@pytest.mark.parametrize("kind", KINDS)
def test_why(asked: tuple[Crawling, Site, Site], kind: str) -> None:
    (crawl, site, docs), (path, answer, code, source) = asked, KINDS[kind]
    url = path if "://" in path else (docs if kind == "out-of-scope" else site).url(path)
    told = crawl.ask("why", url, "--json").json
    assert set(told) == KEYS
    assert (told["verdict"], told["exit_code"]) == (answer, code)
    refusing = [step["source"] for step in told["steps"] if step["verdict"] == "refuse" and step["source"]]
    if source:
        assert any(source in place for place in refusing)
    assert told["known"] is bool(crawl.rows("SELECT 1 FROM v_page WHERE url = ?", url))
    screen = crawl.ask("why", url).out.splitlines()
    assert 4 <= len(screen) <= 30
    assert answer.upper().replace("_", " ") in screen[1]
    if kind in {"retry-pending", "waiting"}:
        assert "in the next run: it has tries left" in " ".join(" ".join(screen).split()), "the run is over"


def test_the_path_from_the_seed_is_told(asked: tuple[Crawling, Site, Site]) -> None:
    crawl, site, _ = asked
    told = crawl.ask("why", site.url("/a"), "--json").json
    assert [(hop["from"], hop["to"], hop["kind"]) for hop in told["provenance"]] == [(site.url(), site.url("/a"), "a")]
    assert [one["exit_code"] for one in told["attempts"]] == ["file_ingested"]


def test_the_key_that_adds_a_query_policy_is_told(asked: tuple[Crawling, Site, Site]) -> None:
    crawl, site, _ = asked
    assert "url_query_parameters" in crawl.ask("why", site.url("/list?sid=1")).out
