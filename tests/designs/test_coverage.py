"""The coverage statement: what a crawl covered and left out, at the end of `run`, in `status` and in events."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.designs.crawling import GONE, QUICK, WEEK, Crawling
from tests.designs.web import Answer, Site
from tui_crawler.domain.records.exit_code import ExitCode

SHOP = tuple(f"/article.php?id={number}" for number in range(39))


def covered(crawl: Crawling) -> dict[str, Any]:
    """The coverage as `status` has it."""
    found: dict[str, Any] = crawl.ask("status", "--json").json["coverage"]
    return found


def shop(crawl: Crawling) -> Site:
    """A shop of 41 pages, 39 of them behind a query."""
    site = crawl.site().front("/ok", "https://other.example/x", *SHOP)
    site.page("/ok", "/")
    return site


def test_a_crawl_that_went_well_is_complete(crawl: Crawling) -> None:
    before = covered(crawl)
    assert (before["complete"], before["seeds"]) == (False, [])
    assert "coverage" not in crawl.ask("status").out, "there is no statement before any run"
    site = crawl.site().front("/a", "https://other.example/x", "mailto:a@example.org")
    site.page("/a", "/")
    crawl.run()
    found = covered(crawl)
    assert (found["complete"], found["reasons"], found["limits"]) == (True, [], [])
    assert found["seeds"] == [
        {"url": site.url(), "exit_code": "file_ingested", "http_status": 200, "ended_at_url": site.url(), "message": ""}
    ]
    assert found["pages"] == {"crawled": 2, "failed": 0, "refused": 0, "truncated": 0, "not_canonical": 0}
    assert {one["reason"] for one in found["refused"]} == {"scope", "invalid_url"}
    text = crawl.ask("status").out
    assert "coverage: complete" in text
    assert "other.example" not in text, "what is out of scope makes no noise"


def test_a_default_that_refuses_is_named(crawl: Crawling) -> None:
    site = shop(crawl)
    crawl.run()
    found = covered(crawl)
    assert found["complete"] is False
    assert found["pages"]["refused"] == len(SHOP)
    refused = [one for one in found["refused"] if one["reason"] != "scope"]
    assert refused == [
        {
            "origin": site.url().rstrip("/"),
            "reason": ExitCode.blocked_url_by_local_policy.name,
            "count": 39,
            "sample_url": site.url(SHOP[0]),
            "decided_by": "policies.url_query_parameters",
        }
    ]
    assert "39 × blocked_url_by_local_policy" in crawl.ask("status").out


def test_what_the_operator_refuses_is_named_by_its_line_and_nothing_is_missing(crawl: Crawling) -> None:
    site = crawl.site().front("/admin/1", "/admin/2", "/cal/1", "/private/x", "/a")
    site.page("/a")
    crawl.run(
        "policies:\n  do_not_crawl:\n  - {path: {prefix: /admin}}\nrules:\n- {match: /cal/, skip: true}\n"
        "exclusions:\n- {pattern: /private/}"
    )
    found = covered(crawl)
    assert found["complete"] is True
    by = {one["reason"]: (one["count"], one["decided_by"].rpartition("/")[2]) for one in found["refused"]}
    assert by == {
        "blocked_url_by_local_policy": (2, "crawl.yaml:5"),
        "skipped_by_rule": (1, "crawl.yaml:7"),
        "exclusion": (1, "crawl.yaml:9"),
    }


def test_what_robots_txt_refuses_is_named_by_its_line(crawl: Crawling) -> None:
    site = crawl.site()
    site.robots("User-agent: *\nDisallow: /a\nDisallow: /b")
    site.page("/", "/a", "/b1", "/b2", "/c")
    site.page("/c")
    crawl.run()
    found = covered(crawl)
    assert found["complete"] is False
    assert [(one["count"], one["decided_by"]) for one in found["refused"]] == [(2, "robots.txt:3"), (1, "robots.txt:2")]


@pytest.mark.parametrize(
    ("limit", "key", "count"),
    [
        ("crawl: {max_requests: 3}", "crawl.max_requests", 10),
        ("crawl: {max_depth: 1}", "crawl.max_depth", 10),
        ("crawl: {max_pages_per_origin: 11}", "crawl.max_pages_per_origin", 10),
        ("crawl: {max_url_length: 64}", "crawl.max_url_length", 10),
    ],
)
def test_a_limit_that_stops_something_is_named(crawl: Crawling, limit: str, key: str, count: int) -> None:
    site = crawl.site().front(*[f"/{number}" for number in range(10)])
    for number in range(10):
        site.page(f"/{number}", f"/{number}/{'x' * 64}")
        site.page(f"/{number}/{'x' * 64}")
    crawl.run(limit)
    found = covered(crawl)
    assert found["complete"] is False
    assert [(one["key"], one["count"]) for one in found["limits"]] == [(key, count)]
    assert key in crawl.ask("status").out


def test_long_urls_traps_and_redirects_are_limits(crawl: Crawling) -> None:
    """What is no URL at all is told from one that is too long."""
    site = crawl.site()
    deep = "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v"
    site.page("/", "mailto:a@example.org", f"/{'x' * 2_100}", "mailto:b@example.org", "/a" * 30, deep, "/0")
    for number in range(20):
        site.redirect(f"/{number}", f"/{number + 1}")
    crawl.run("crawl: {max_redirect_hops: 3}")
    found = covered(crawl)
    limits = {one["key"]: one["count"] for one in found["limits"]}
    assert limits == {"crawl.max_url_length": 1, "crawl.max_redirect_hops": 1, "trap guard": 2}
    assert {one["decided_by"] for one in found["refused"] if one["reason"].startswith("trap")} == {"trap guard"}


def test_pages_cut_and_too_large_are_limits(crawl: Crawling) -> None:
    site = crawl.site().front("/big", *[f"/missing{number}" for number in range(30)])
    site.page("/big", body="x" * 200_000)
    crawl.run("reading: {max_links: 5}\nnetwork: {max_body_bytes: 100000}")
    found = covered(crawl)
    assert found["pages"]["truncated"] == 1
    assert {one["key"] for one in found["limits"]} == {"reading.max_links", "network.max_body_bytes"}


def status_of(crawl: Crawling, text: str = "", seeds: list[str] | None = None, *more: str) -> tuple[int, list[Any]]:
    """The exit status of `run`, and its events."""
    said = crawl.live("--json", *more, text=f"{QUICK}\n{text}", seeds=seeds)
    return said.status, [json.loads(line) for line in said.out.splitlines()]


NOINDEX = "<meta name=robots content='noindex, nofollow'>"


def nothing(site: Site, other: Site, how: str) -> str:
    """Makes the front page one that gives no document; the configuration that belongs to it."""
    site.page("/a")
    other.page("/", "/x")
    match how:
        case "not found":
            site.answer("/", Answer(404))
        case "forbidden":
            site.answer("/", Answer(403))
        case "no content":
            site.answer("/", Answer(204))
        case "moved":
            site.redirect("/", other.url("/"))
        case "moved to nothing":
            site.redirect("/", "/gone")
        case "circle":
            site.redirect("/", "/b")
            site.redirect("/b", "/")
        case "noindex":
            site.page("/", "/a", head=NOINDEX)
        case "canonical":
            site.page("/", head=f"<link rel=canonical href='{other.url('/')}'>")
        case "robots.txt":
            site.robots("User-agent: *\nDisallow: /")
        case "excluded":
            return "exclusions: [{pattern: '^http'}]"
        case "skipped":
            return "rules: [{match: '/', skip: true}]"
    return ""


HOW = [
    "not found", "forbidden", "no content", "moved", "moved to nothing", "circle", "noindex", "canonical",
    "robots.txt", "excluded", "skipped",
]  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_a_run_that_got_nothing_is_no_success(crawl: Crawling, how: str) -> None:
    site, other = crawl.site(), crawl.site("127.0.0.2")
    text = nothing(site, other, how)
    status, events = status_of(crawl, text, [site.url()], "--fail-on", "empty")
    assert status == 1
    assert [one["event"] for one in events[-2:]] == ["coverage", "run_finished"]
    assert events[-1]["fail_on"] == {"empty": 1}
    (seed,) = events[-2]["seeds"]
    assert (events[-2]["complete"], seed["url"]) == (False, site.url())
    assert seed["message"]
    assert seed["ended_at_url"] == {
        "moved": other.url("/"), "canonical": other.url("/"), "moved to nothing": site.url("/gone"),
    }.get(how, site.url())  # fmt: skip
    text = crawl.ask("status").out
    assert "empty" in text
    assert seed["ended_at_url"] in text
    assert (seed["exit_code"] or "") in text
    (origin,) = crawl.rows("SELECT finish_reason FROM v_origin WHERE done + failed + blocked > 0")
    assert origin["finish_reason"] == "exhausted", "the views keep their values"


def test_an_origin_that_sends_us_away_is_no_success(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/robots.txt", Answer(429, headers=(("Retry-After", "90000"),)))
    status, events = status_of(crawl)
    assert (status, events[-2]["seeds"][0]["exit_code"]) == (1, None)
    assert [one["key"] for one in events[-2]["limits"]] == ["delay.retry_after_max"]


def test_a_seed_that_led_to_documents_is_a_success(crawl: Crawling) -> None:
    site = crawl.site()
    site.redirect("/", "/en/")
    site.page("/en/", "/hub")
    site.page("/hub", head="<meta name=robots content=noindex>")
    status, events = status_of(crawl, "", [site.url("/"), site.url("/hub")])
    assert status == 0
    assert (events[-2]["event"], events[-2]["complete"]) == ("coverage", True)
    assert events[-2]["seeds"][0]["ended_at_url"] == site.url("/en/")


def test_a_seed_that_moved_to_another_seed_is_a_success(crawl: Crawling) -> None:
    old, new = crawl.site(), crawl.site()
    old.redirect("/", new.url("/"))
    new.page("/")
    status, events = status_of(crawl, "", None, "--fail-on", "empty")
    assert (status, events[-2]["complete"], events[-1]["fail_on"]) == (0, True, {"empty": 0})
    assert {one["ended_at_url"] for one in events[-2]["seeds"]} == {new.url()}
    assert "empty" not in crawl.ask("status").out


def test_one_good_seed_of_two_is_a_success_that_is_not_complete(crawl: Crawling) -> None:
    good, bad = crawl.site(), crawl.site()
    good.page("/")
    status, events = status_of(crawl, "", None, "--fail-on", "refused")
    assert (status, events[-2]["complete"], events[-1]["fail_on"]) == (0, False, {"refused": 0})
    assert [one["url"] for one in events[-2]["seeds"]] == [bad.url(), good.url()], "those without a document first"


def test_several_workers_report_it_once(crawl: Crawling) -> None:
    bad = [crawl.site(), crawl.site()]
    for site in bad:
        site.page("/", head=NOINDEX)
    status, events = status_of(crawl, "", None, "--workers", "2")
    assert status == 1
    assert [one["event"] for one in events].count("coverage") == 1
    assert [one["event"] for one in events[-2:]] == ["coverage", "run_finished"]
    assert {one["url"] for one in events[-2]["seeds"]} == {site.url() for site in bad}


def test_the_end_of_a_run_says_it_in_lines(crawl: Crawling) -> None:
    site = crawl.site()
    site.redirect("/", "http://localhost:9/")
    said = crawl.live()
    told = said.out[said.out.index("coverage: not complete") :]
    assert "add http://localhost:9/ to seeds" in told
    assert told in crawl.ask("status").out


def test_fail_on_refused(crawl: Crawling) -> None:
    shop(crawl)
    status, events = status_of(crawl, "", None, "--fail-on", "refused,empty")
    assert (status, events[-1]["fail_on"]) == (1, {"refused": 39, "empty": 0})


def test_a_run_with_nothing_left_to_do_is_complete(crawl: Crawling) -> None:
    crawl.site().pages("/a")
    assert status_of(crawl)[0] == 0
    status, events = status_of(crawl)
    assert (status, events[-2]["complete"]) == (0, True)


def test_unchanged_documents_are_documents(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(200, b"<title>x</title>", (("Content-Type", "text/html"), ("ETag", '"1"'))))
    crawl.run("crawl: {recrawl_interval: 1d}")
    site.answer("/", Answer(304))
    crawl.run("crawl: {recrawl_interval: 1d}", later=WEEK)
    found = covered(crawl)
    assert (found["seeds"][0]["exit_code"], found["complete"]) == ("file_did_not_change", True)


def test_the_offline_mode_is_not_complete_before_its_links_are_queued(crawl: Crawling) -> None:
    crawl.site().front("/a")
    crawl.run("crawl: {mode: offline}")
    (reason,) = covered(crawl)["reasons"]
    assert "queue build" in reason


def test_a_run_that_was_killed_is_not_complete(crawl: Crawling) -> None:
    site = crawl.site().front("/a", "/b")

    def on_event(event: Any) -> None:
        if event.url == site.url():
            crawl.go_on_from_here()

    crawl.run(on_event=on_event, owner=GONE)
    found = covered(crawl)
    assert found["complete"] is False
    assert found["reasons"][0] == "the run is not over"


def test_the_report_has_the_statement_in_every_form(crawl: Crawling) -> None:
    site, bad = shop(crawl), crawl.site()
    crawl.run()
    document = crawl.ask("report", "--json").json
    assert document["coverage"] == covered(crawl)
    for form in ("html", "md"):
        text = crawl.ask("report", "--format", form).out.replace("\\", "")
        for told in ("Coverage gaps", "1 of 2 seeds gave no document", bad.url(), "policies.url_query_parameters"):
            assert told in text, (form, told)
        assert "other.example/x" not in text, "what is out of scope makes no noise"
    suites = {one.get("name"): one for one in ElementTree.fromstring(crawl.ask("report", "--format", "junit").raw)}
    assert suites["Coverage gaps"].get("skipped") == "2"
    assert suites["Seeds without a document"].get("failures") == "1"
    assert suites["Refused URLs and links"].get("skipped") == "1"
    assert site.url() in crawl.ask("report", "--run", "1", "--json").out
    crawl.run()
    assert crawl.ask("report", "--run", "1", "--json").json["coverage"] is None, "of an earlier run"
    assert "Coverage gaps" not in crawl.ask("report", "--run", "1").out
    assert crawl.ask("report", "--run", "2", "--json").json["coverage"] == covered(crawl)


def test_long_lists_are_cut_and_counted(crawl: Crawling) -> None:
    crawl.site()
    seeds = [site.url(f"/{number}") for site in crawl.web.sites.values() for number in range(12)]
    crawl.run(seeds=seeds)
    text = crawl.ask("status").out
    assert "12 of 12 seeds gave no document" in text
    assert "… and 7 more" in text
    assert len(covered(crawl)["seeds"]) == 12


@pytest.mark.parametrize(("urls", "body"), [(9, "sorry"), (10, "sorry"), (40, "sorry"), (12, "")])
def test_many_urls_with_one_content_are_named(crawl: Crawling, urls: int, body: str) -> None:
    """A soft 404: at the end of the run, by `status`, in its JSON, in the event and in the report."""
    site = crawl.site()
    paths = [f"/product-{number}" for number in range(urls)]
    site.page("/", "/a", "/missing", *paths)
    site.page("/a")
    for path in paths:
        site.file(path, body, "text/html")
    crawl.run(QUICK)
    found = covered(crawl)
    text = crawl.ask("status").out
    audit = crawl.ask("report", "--format", "json").json
    if urls < 10:
        assert found["same_content"] == []
        assert "product" not in text
        return
    (group,) = found["same_content"]
    assert (group["count"], group["bytes"], group["exit_code"]) == (urls, len(body), "file_ingested")
    assert group["urls"] == [site.url(path) for path in paths[:5]]
    assert f"{urls} URLs" in text
    assert site.url(paths[0]) in text
    assert audit["coverage"]["same_content"] == [group]
    assert site.url(paths[4]) in crawl.ask("report", "--format", "md").out.replace("\\", "")
    assert found["complete"], "nothing is missing"


def test_urls_that_are_mended_are_no_longer_named(crawl: Crawling) -> None:
    site = crawl.site()
    paths = [f"/product-{number}" for number in range(10)]
    site.page("/", *paths)
    for path in paths:
        site.file(path, "sorry", "text/html")
    crawl.run(QUICK)
    assert len(covered(crawl)["same_content"]) == 1
    site.answer(paths[0], Answer(404))
    crawl.run(QUICK, later=5 * WEEK)
    assert covered(crawl)["same_content"] == []
