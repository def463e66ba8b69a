"""Both faces do the same: a headless run and a console run of one configuration on the same served web leave the same
database behind, times aside."""

from __future__ import annotations

import sys

import pytest

from tests.e2e.served import read_access_log, rows, tui_crawler, value
from tests.support.terminal import in_terminal
from tui_crawler.demo.process import DemoProcess, demo_config
from tui_crawler.wiring.demo import free_base_port

STEADY = {"reserve", "museum"}  # sites whose answers do not depend on what was asked before
QUERIES = {
    "pages": "SELECT url, origin, job, status, attempts, attempts_remaining, nice, depth, last_exit_code,"
    " last_http_status, etag, last_modified, content_type, size, title, sha256, validation_type, valid"
    " FROM v_page ORDER BY url",
    "links": "SELECT from_url, to_url, kind, nofollow, text FROM v_link ORDER BY from_url, kind, to_url",
    "redirects": "SELECT from_url, to_url, to_fragment, permanent, source FROM v_redirect ORDER BY from_url, to_url",
    "refused": "SELECT origin, reason, count FROM v_refused ORDER BY origin, reason",
    "attempts": "SELECT url, kind, exit_code, http_status, bytes, requests, patience_after, message, ruleset_id"
    " FROM v_attempt ORDER BY url, attempt_id",
    "requests": "SELECT url, method, http_status, conditional, fluke_retry, error FROM v_request"
    " ORDER BY url, request_id",
    "origins": "SELECT origin, state, finish_reason, paused, patience, robots_status, crawl_delay_ms, todo, pending,"
    " done, failed, blocked, requests FROM v_origin ORDER BY origin",
    "jobs": "SELECT job, status, nice, depth, concurrency, tag, pending, claimed, done, ruleset_id FROM v_job",
    "runs": "SELECT finish_reason, requests, user_agent, config_name FROM v_run",
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """One configuration, crawled by both faces; answers database and access log of each."""
    folder = tmp_path_factory.mktemp("faces")
    logs = {name: folder / f"{name}.log" for name in ("headless", "console")}
    databases = {name: folder / f"{name}.db" for name in logs}
    config = folder / "same.yaml"
    base = free_base_port()
    with DemoProcess.start(pace=0.1, base_port=base, access_log=logs["headless"]) as web:
        seeds = [site.seed for site in web.sites if site.name in STEADY]
        text = demo_config(seeds, "same.db", headless=True)
        config.write_text(text, encoding="utf-8")
        done = tui_crawler("run", str(config), "--db", str(databases["headless"]), "--ignore-database-name")
        assert done.returncode == 0, done.stderr
    with DemoProcess.start(pace=0.1, base_port=base, access_log=logs["console"]):
        database = databases["console"]
        command = [sys.executable, "-m", "tui_crawler", str(config), "--db", str(database), "--ignore-database-name"]
        with in_terminal(command) as terminal:
            terminal.read_while(lambda: not _has_ended(database))
            terminal.press("q")
            assert terminal.read_to_end() == 0, terminal.text()
    return databases, logs


def _has_ended(database):
    made = database.exists() and value(database, "SELECT count(*) FROM sqlite_master WHERE name = 'v_run'")
    return bool(made) and value(database, "SELECT count(*) FROM v_run WHERE finished_at IS NOT NULL") == 1


@pytest.mark.parametrize("name", QUERIES)
def test_both_databases_are_the_same_times_aside(both, name):
    databases, _ = both
    headless, console = ([tuple(row) for row in rows(databases[face], QUERIES[name])] for face in databases)
    assert headless
    assert headless == console


def test_both_asked_for_the_same(both):
    _, logs = both
    headless, console = (sorted(one.url for one in read_access_log(log)) for log in logs.values())
    assert headless == console
