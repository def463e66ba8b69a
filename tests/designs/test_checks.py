"""Checks (U): a HEAD request that changes no page; typed results of attempts (B); the activity log (R)."""

from __future__ import annotations

from typing import Any

from tests.designs.crawling import QUICK, WEEK, Crawling
from tests.designs.web import Answer
from tui_crawler.domain.records.command import ProbeUrls


def check_row(crawl: Crawling, url: str) -> dict[str, Any]:
    """The last check of a URL."""
    return crawl.rows("SELECT * FROM v_attempt WHERE kind = 'check' AND url = ? ORDER BY attempt_id", url)[-1]


def test_a_probe_is_a_head_request_and_an_attempt_of_kind_check(crawl: Crawling) -> None:
    site = crawl.site().pages("/a")
    site.answer("/gone", Answer(410))
    crawl.run(on_event=crawl.steering(site.url(), ProbeUrls((site.url("/a"), site.url("/gone")))), poll_ms=500)
    assert [one.method for one in site.requests("/gone")] == ["HEAD", "GET"], "GET decides"
    assert sorted(one.method for one in site.requests("/a")) == ["GET", "HEAD"]
    row = check_row(crawl, site.url("/gone"))
    assert (row["exit_code"], row["http_status"], row["requests"]) == ("file_gone", 410, 1)
    assert crawl.rows("SELECT * FROM v_page WHERE url = ?", site.url("/gone")) == []
    assert crawl.page(site.url("/a"))["attempts"] == 1
    assert min(site.gaps) >= 1_000, "as polite as any other request"


def test_get_decides_what_a_probe_reports(crawl: Crawling) -> None:
    site = crawl.site().front()
    site.answer("/shy", Answer(404), Answer(body=b"x" * 100_000))
    config = crawl.configure(QUICK)
    with crawl.web.in_thread():
        assert crawl.command("run", str(config)).status == 0
        said = crawl.command("pages", "probe", site.url("/shy"), "--db", str(crawl.database), "--json")
    (probe,) = said.json["probes"]
    assert (probe["exit_code"], probe["http_status"]) == ("file_ingested", 200)
    assert [one.method for one in site.requests("/shy")] == ["HEAD", "GET"]


def test_a_probe_on_a_resting_database(crawl: Crawling) -> None:
    site = crawl.site().front()
    site.answer("/moved", Answer(302, headers=(("Location", "/"),)))
    config = crawl.configure(QUICK)
    with crawl.web.in_thread():
        assert crawl.command("run", str(config)).status == 0
        said = crawl.command("pages", "probe", site.url("/moved"), "--db", str(crawl.database), "--json")
    (probe,) = said.json["probes"]
    assert (probe["url"], probe["exit_code"], probe["http_status"]) == (site.url("/moved"), "redirect", 302)
    assert check_row(crawl, site.url("/moved"))["exit_code"] == "redirect"


def test_a_probe_obeys_robots_txt(crawl: Crawling) -> None:
    site = crawl.site().pages("/a")
    site.robots("User-agent: *\nDisallow: /closed")
    crawl.run(on_event=crawl.steering(site.url(), ProbeUrls((site.url("/closed"),))), poll_ms=500)
    assert site.requests("/closed") == []
    assert check_row(crawl, site.url("/closed"))["exit_code"] == "blocked_by_robots_txt"


def results(crawl: Crawling, url: str) -> list[dict[str, str]]:
    """The results of the attempts for a URL, an attempt each."""
    ids = [row["attempt_id"] for row in crawl.rows("SELECT attempt_id FROM v_attempt WHERE url = ? ORDER BY 1", url)]
    with crawl.reports() as reports:
        return [{one.type: one.value for one in reports.results(attempt_id)} for attempt_id in ids]


def test_an_attempt_carries_typed_results(crawl: Crawling) -> None:
    site = crawl.site().front("/a", "/moved", body="<img src=/i.png><script src=/s.js></script>")
    site.page("/a")
    site.redirect("/moved", "/a")
    crawl.run()
    (home,) = results(crawl, site.url())
    assert home["status_code"] == "200"
    assert home["final_url"] == site.url()
    assert (home["outlinks"], home["requisites"]) == ("2", "2")
    (moved,) = results(crawl, site.url("/moved"))
    assert (moved["status_code"], moved["final_url"]) == ("301", site.url("/a"))


def test_the_activity_log_tells_what_happened_beside_the_attempts(crawl: Crawling) -> None:
    crawl.site().pages("/a")
    crawl.run(crawl__max_requests=2)
    crawl.ask("jobs", "pause", "crawl")
    crawl.ask("jobs", "resume", "crawl")
    crawl.run(later=WEEK)
    told = [row["event"] for row in crawl.rows("SELECT event FROM v_activity ORDER BY at, rowid")]
    assert told.count("run_started") == told.count("run_finished") == 2
    assert {"job_paused", "job_resumed", "job_finished", "origin_joined", "origin_finished"} <= set(told)
    log = crawl.ask("log", "--json").json["log"]
    assert [one["at"] for one in log] == sorted(one["at"] for one in log)
    assert {one["kind"] for one in log} == {"activity", "action"}
