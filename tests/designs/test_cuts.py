"""What reading leaves out is told wherever a crawl is looked at, with the key that raises the bound."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import UTC

import pytest

from tests.console.sample_relations import texts_of
from tests.designs.crawling import Crawling
from tests.designs.test_sitemaps import urlset
from tests.designs.web import Site
from tui_crawler.cli.run_watch import event_line
from tui_crawler.console.logs.attempts import note
from tui_crawler.console.logs.rows import attempt_line, log_lines
from tui_crawler.console.url.rows import TRIES, content_lines, page_lines, tries_of
from tui_crawler.domain.crawl import outcome
from tui_crawler.storage.reports import coverage as coverage_reports

BOUNDS = "reading: {max_links: 3, max_input_bytes: 1KiB, max_sitemap_urls: 2}"


def cut_site(crawl: Crawling) -> Site:
    """Pages with too many links, one of them noindex; one that is too long; a long sitemap; a page that is whole."""
    site = crawl.site()
    links = "".join(f"<a href=/x/{n}>x</a>" for n in range(5))
    site.page("/", body=links)
    site.page("/long", "/a", body=f"<p>{'x' * 2_000}</p><a href=/lost>lost</a>")
    site.page("/noindex", head="<meta name=robots content=noindex>", body=links)
    site.page("/whole")
    site.file("/sitemap.xml", urlset(*(site.url(f"/{name}") for name in ("long", "noindex", "whole"))), "text/xml")
    site.robots(f"User-agent: *\nSitemap: {site.url('/sitemap.xml')}")
    return site


def crawled(crawl: Crawling) -> tuple[Site, dict[str, str]]:
    """Such a site, crawled, and what was cut of each page that was not read whole."""
    site = cut_site(crawl)
    crawl.run(BOUNDS, seeds=[site.url("/"), site.url("/whole")])
    return site, {row["url"]: row["incomplete"] for row in crawl.rows("SELECT * FROM v_page WHERE incomplete <> ''")}


def test_what_was_cut_is_in_the_views_why_status_and_exports(crawl: Crawling) -> None:
    site, cut = crawled(crawl)
    assert cut == {
        site.url("/"): "links",
        site.url("/long"): "input",
        site.url("/noindex"): "links",
        site.url("/sitemap.xml"): "urls",
    }
    logged = {row["url"]: row["cut"] for row in crawl.rows("SELECT url, cut FROM v_attempt WHERE cut <> ''")}
    assert logged == cut

    why = crawl.ask("why", site.url("/"), "--json").json
    assert (why["cut"], why["attempts"][0]["cut"]) == (["links"], ["links"])
    assert "links over the bound (links: raise reading.max_links)" in crawl.ask("why", site.url("/")).out
    assert "cut" not in crawl.ask("why", site.url("/whole"), "--json").json

    assert crawl.ask("status", "--json").json["totals"]["cut"] == len(cut)
    status = crawl.ask("status").out
    assert "4 truncated" in status
    assert "reading.max_links stopped" in status
    exported = crawl.ask("export", "pages", "--format", "csv").out.splitlines()
    assert exported[0].split(",").count("incomplete") == 1
    assert sum(",links," in f"{line}," for line in exported) == 2


def test_pages_that_are_read_whole_the_next_time_are_cut_no_more(crawl: Crawling) -> None:
    site = cut_site(crawl)
    crawl.run(BOUNDS, seeds=[site.url("/")])
    assert crawl.ask("status", "--json").json["totals"]["cut"] > 0
    crawl.run("crawl: {force_recrawl: true}", seeds=[site.url("/")])
    assert crawl.rows("SELECT url FROM v_page WHERE incomplete <> ''") == []
    assert crawl.ask("status", "--json").json["totals"]["cut"] == 0
    assert "truncated" not in crawl.ask("status").out


def test_the_console_and_the_lines_of_a_run_tell_it(crawl: Crawling) -> None:
    site, _ = crawled(crawl)
    with crawl.reports() as reports:
        detail = reports.page_detail(site.url("/"))
        (attempt,) = (one for one in reports.attempts() if one.url == site.url("/"))
    assert detail is not None
    told = "links over the bound (links: raise reading.max_links)"
    assert told in str(page_lines(detail.page, UTC))
    assert told in str(content_lines(detail, UTC))
    assert told in str(log_lines(attempt_line(attempt), UTC))
    assert "cut: links" in str(note(attempt))
    assert "cut: links" in texts_of(TRIES, tries_of(detail)[0])["note"]


def test_a_run_tells_each(crawl: Crawling) -> None:
    lines: list[str] = []
    site = cut_site(crawl)
    crawl.run(BOUNDS, seeds=[site.url("/")], on_event=lambda event: lines.append(event_line(event)))
    assert [line for line in lines if "cut: links" in line and f" {site.url('/')} " in line]
    assert [one for one in crawl.heard.events if one.as_document().get("cut") == ["links"] and one.url == site.url("/")]


def test_the_pages_are_counted_by_an_index(crawl: Crawling) -> None:
    crawled(crawl)
    with closing(sqlite3.connect(crawl.database)) as database:
        plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {coverage_reports._CUT}")]
    assert not [
        step
        for step in plan
        if step.startswith("SCAN") and "INDEX" not in step and "CONSTANT" not in step and step != "SCAN c"
    ]
    assert any("document_incomplete" in step for step in plan)
    assert any("attempt_cut" in step for step in plan)


def test_a_long_list_is_judged_off_the_event_loop_and_is_whole(
    crawl: Crawling, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_in: list[bool] = []
    queue_of = outcome.queue_of

    def watched(*arguments):  # type: ignore[no-untyped-def]
        judged_in.append(threading.current_thread() is threading.main_thread())
        return queue_of(*arguments)

    monkeypatch.setattr(outcome, "queue_of", watched)
    site = crawl.site()
    site.file("/map.xml", urlset(*(site.url(f"/{n}") for n in range(2_500))), "text/xml")
    site.robots(f"User-agent: *\nSitemap: {site.url('/map.xml')}")
    crawl.run("crawl: {max_requests: 3}")
    assert sorted(judged_in) == [False, True]
    assert crawl.value("SELECT count(*) FROM v_page") == 2_502
