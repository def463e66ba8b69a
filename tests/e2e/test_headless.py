"""`run` on the served demo web, end to end: exit status, views and `status --json` against what the servers counted."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.e2e.served import gaps, read_access_log, rows, tui_crawler, value
from tui_crawler.demo.process import HEADLESS_PACE, DemoProcess, demo_config

DELAY_MS = 20


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    """One whole crawl of the demo: the finished process, the database, the servers' log, sites by name."""
    folder = tmp_path_factory.mktemp("headless")
    log, database, config = folder / "access.log", folder / "demo.db", folder / "demo.yaml"
    with DemoProcess.start(pace=HEADLESS_PACE, access_log=log) as web:
        config.write_text(demo_config(web.seeds, str(database), headless=True), encoding="utf-8")
        done = tui_crawler("run", str(config), "--json")
        sites = {site.name: site.seed.rstrip("/") for site in web.sites}
    return done, database, read_access_log(log), sites


def test_it_ends_by_itself_and_says_which_origins_gave_up(crawl):
    done, _, _, sites = crawl
    assert done.returncode == 1, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0]["event"] == "run_started"
    last = events[-1]
    assert (last["event"], last["reason"]) == ("run_finished", "exhausted")
    ended = {event["origin"]: event["reason"] for event in events if event["event"] == "origin_finished"}
    assert {origin for origin, reason in ended.items() if reason == "patience"} == {sites["forum"], sites["tramway"]}
    assert {reason for origin, reason in ended.items() if origin not in {sites["forum"], sites["tramway"]}} == {
        "exhausted"
    }


def test_every_page_once(crawl):
    _, database, served, sites = crawl
    for name in ("almanac", "records", "observatory", "chandlery", "reserve"):
        asked = Counter(one.target for one in served if one.origin == sites[name])
        assert set(asked.values()) == {1}, (name, asked.most_common(3))
    pages = value(database, f"SELECT count(*) FROM v_page WHERE origin = '{sites['almanac']}' AND attempts = 1")
    assert pages == sum(one.origin == sites["almanac"] for one in served) - 1


def test_the_database_has_each_request_the_servers_saw_and_no_other(crawl):
    _, database, served, sites = crawl
    seen = Counter(one.url for one in served)
    logged = Counter(row["url"] for row in rows(database, "SELECT url FROM v_request"))
    dead = {sites["tramway"], sites["radio"]}  # a refused connection is a request that no server has seen
    for url in {*seen, *logged}:
        if not any(url.startswith(origin) for origin in dead):
            assert seen[url] == logged[url], url


def test_each_request_tells_how_it_came_by_its_connection(crawl):
    _, database, _, sites = crawl
    requests = list(rows(database, "SELECT * FROM v_request ORDER BY request_id"))
    first = next(one for one in requests if one["url"].startswith(sites["almanac"]))
    assert (first["connection_reused"], first["connect_ms"] >= 0) == (0, True)
    kept = [one for one in requests if one["connection_reused"] == 1]
    assert len(kept) > len(requests) // 4
    assert {(one["dns_ms"], one["connect_ms"], one["tls_ms"]) for one in kept} == {(None, None, None)}
    made = [one for one in requests if one["connection_reused"] == 0]
    assert len(kept) + len(made) == len(requests)
    assert all(one["connect_ms"] is not None and one["tls_ms"] is None for one in made)
    assert all(one["remote_address"] for one in requests if one["http_status"])


def test_robots_first_and_no_gap_shorter_than_the_delay(crawl):
    _, database, served, sites = crawl
    for name, origin in sites.items():
        mine = [one for one in served if one.origin == origin]
        assert mine[0].target == "/robots.txt", name
        assert min(gaps(served, origin, database)) >= DELAY_MS - 1, name


def test_what_robots_txt_forbids_was_not_asked(crawl):
    _, database, served, _ = crawl
    refused = {
        row["url"] for row in rows(database, "SELECT url FROM v_attempt WHERE exit_code = 'blocked_by_robots_txt'")
    }
    assert refused
    assert not refused & {one.url for one in served}


def test_status_and_views_agree(crawl):
    _, database, _, _ = crawl
    status = json.loads(tui_crawler("status", "--db", str(database), "--json").stdout)
    views = {row["origin"]: dict(row) for row in rows(database, "SELECT * FROM v_origin")}
    assert {one["origin"] for one in status["origins"]} == set(views)
    for one in status["origins"]:
        view = views[one["origin"]]
        for field in ("state", "finish_reason", "patience", "done", "failed", "blocked", "pending", "requests", "todo"):
            assert one[field] == view[field], (one["origin"], field)
        assert one["idle_reason"]
    assert status["run"]["finish_reason"] == "exhausted"


def test_counters_are_what_counting_gives(crawl):
    _, database, _, _ = crawl
    counted = rows(
        database,
        """SELECT o.origin, o.blocked, o.pending,
             (SELECT count(*) FROM v_page p WHERE p.origin = o.origin AND p.last_exit_code IN
               ('blocked_by_robots_txt','blocked_url_by_local_policy','blocked_by_exclusion_list','skipped_by_rule')) b,
             (SELECT count(*) FROM v_page p
               WHERE p.origin = o.origin AND p.status = 'READY' AND p.attempts_remaining > 0) q,
             o.requests,
             (SELECT count(*) FROM v_request r JOIN v_attempt a USING (attempt_id) WHERE a.origin = o.origin) r
           FROM v_origin o""",
    )
    for row in counted:
        assert (row["blocked"], row["pending"], row["requests"]) == (row["b"], row["q"], row["r"]), row["origin"]


def test_audit_and_failures_read_the_same_log(crawl):
    _, database, _, _ = crawl
    audit = tui_crawler("audit", "--db", str(database), "--json")
    assert json.loads(audit.stdout)["ok"] is True
    failures = json.loads(tui_crawler("failures", "--db", str(database), "--by", "exit_code", "--json").stdout)
    named = {dict(group["key"])["exit_code"]: group["count"] for group in failures["groups"]}
    assert named["connection_failed"] == 5
    assert "file_not_found" in named
