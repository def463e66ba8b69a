"""`run --workers N`: processes that share one database, one run, and the politeness of every origin."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sqlite3
import subprocess
import sys

import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import ROOT, gaps, read_access_log, rows, tui_crawler, value
from tests.support.patience import PATIENT_S
from tui_crawler.demo.process import DemoProcess, demo_config

DELAY_MS = 60
STEADY = {"almanac", "observatory", "reserve", "chandlery", "forum", "museum"}


def configured(web, database, **changes):
    """A configuration of the sites whose answers do not depend on what was asked before."""
    steady = [site.seed for site in web.sites if site.name in STEADY]
    text = demo_config(steady, str(database), headless=True)
    text = text.replace("default: 20ms", f"default: {DELAY_MS}ms").replace("floor: 20ms", f"floor: {DELAY_MS}ms")
    for old, new in changes.items():
        text = text.replace(f"{old}:", new)
    return text, [seed.rstrip("/") for seed in steady]


@pytest.fixture(scope="module")
def shared_crawl(tmp_path_factory):
    """One run by three workers, one of which is killed on the way."""
    folder = tmp_path_factory.mktemp("workers")
    log, database, config = folder / "access.log", folder / "demo.db", folder / "demo.yaml"
    with DemoProcess.start(pace=0.1, access_log=log) as web:
        text, origins = configured(web, database)
        config.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database)]
        events = []
        with subprocess.Popen(
            [*command, "--json", "--workers", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        ) as process:
            killed = False
            for line in process.stdout:
                events.append(json.loads(line))
                pids = {} if killed else crawling(database, process.pid)
                if len(pids) == 2:
                    os.kill(pids["worker-3"], signal.SIGKILL)
                    killed = True
            errors = process.stderr.read()
        assert killed, "three workers were at work together"
        return process.returncode, errors, events, database, read_access_log(log), origins


def crawling(database, first_pid):
    """The other workers that hold an origin, by name."""
    query = (
        "SELECT s.worker, s.pid FROM session s WHERE s.ended_at = 0 AND EXISTS"
        " (SELECT 1 FROM origin o WHERE o.session_id = s.id AND o.requests > 1)"
    )
    found = {row["worker"]: row["pid"] for row in rows(database, query)}
    return {name: pid for name, pid in found.items() if pid != first_pid}


def test_the_run_comes_to_its_end_though_a_worker_was_killed(shared_crawl):
    status, errors, events, database, _, _ = shared_crawl
    assert status == 1, "what became of the crawl: one origin gave up, whichever worker had it"
    (ended,) = [event for event in events if event["event"] == "worker_ended"]
    assert ended["message"] == "worker 3 was ended by SIGKILL; the others take over what it held"
    assert f"tui-crawler: {ended['message']}\n" in errors
    assert events[-1]["event"] == "run_finished"
    assert events[-1]["reason"] == "exhausted", errors
    assert events[-1]["requests"] == value(database, "SELECT requests FROM v_run"), "with those of the killed worker"
    for name, column in (("pages_done", "done"), ("pages_failed", "failed")):
        assert events[-1][name] == value(database, f"SELECT sum({column}) FROM v_origin")
    assert [event["event"] for event in events].count("run_started") == 1
    assert value(database, "SELECT count(*) FROM v_run") == 1
    left = (
        "SELECT count(*) FROM v_page JOIN v_origin USING (origin)"
        " WHERE finish_reason = 'exhausted' AND status = 'READY' AND v_page.attempts = 0 AND attempts_remaining > 0"
    )
    assert value(database, left) == 0
    assert value(database, "PRAGMA integrity_check") == "ok"


def test_every_origin_had_one_owner_at_a_time_and_its_delay(shared_crawl):
    _, _, _, database, served, origins = shared_crawl
    for origin in origins:
        assert min(gaps(served, origin, database)) >= DELAY_MS - 1, origin
    assert len({row["worker"] for row in rows(database, "SELECT DISTINCT worker FROM v_attempt")}) == 3


def test_no_page_was_recorded_twice_and_none_was_lost(shared_crawl):
    _, _, _, database, served, _ = shared_crawl
    query = "SELECT url, count(*) n FROM v_attempt WHERE exit_code = 'file_ingested' AND kind = 'page' GROUP BY url"
    assert {row["n"] for row in rows(database, query)} == {1}
    pages = {row["url"] for row in rows(database, query)}
    assert pages <= {one.url for one in served}
    asked = [one.url for one in served if one.url in pages]
    repeated = len(asked) - len(pages)
    assert repeated <= 3, "at most what the killed worker had in flight"


def test_what_the_killed_worker_held_was_taken_over(shared_crawl):
    _, _, _, database, _, _ = shared_crawl
    ended = {row["worker"]: row["ended_by"] for row in rows(database, "SELECT worker, ended_by FROM session")}
    assert "found dead" in ended["worker-3"]
    assert value(database, "SELECT count(*) FROM page WHERE status = 2") == 0


def test_the_audit_holds_over_all_workers(shared_crawl):
    _, _, _, database, _, _ = shared_crawl
    done = tui_crawler("audit", "--db", str(database), "--json")
    assert json.loads(done.stdout)["ok"], done.stdout


def test_what_is_stored_follows_from_the_log_of_all_workers(shared_crawl):
    _, _, _, database, _, _ = shared_crawl
    proof = tui_crawler("replay", "--check", "--db", str(database), "--json")
    document = json.loads(proof.stdout)
    assert (document["ok"], document["differences"], proof.returncode) == (True, [], 0)
    assert document["attempts"] == value(database, "SELECT count(*) FROM v_attempt")


def test_a_worker_that_lost_its_lease_joins_again_and_the_run_comes_to_its_end(tmp_path):
    """As when it stood still for longer than its lease, and a process of another machine took what it held."""
    database, config, log = tmp_path / "demo.db", tmp_path / "demo.yaml", tmp_path / "access.log"
    with DemoProcess.start(pace=0.1, access_log=log) as web:
        text, _ = configured(web, database)
        config.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database), "--workers", "2"]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as run,
            ended(run),
        ):
            wait_for(lambda: is_made(database) and len(crawling(database, run.pid)) == 1, run)
            with contextlib.closing(sqlite3.connect(database, timeout=PATIENT_S)) as connection, connection:
                taken = "SELECT id FROM session WHERE worker = 'worker-2'"
                connection.execute(f"UPDATE origin SET free = 1 WHERE session_id = ({taken})")
                connection.execute("UPDATE session SET ended_at = 1, ended_by = 'found dead' WHERE worker = 'worker-2'")
            out, errors = run.communicate(timeout=PATIENT_S)
    assert run.returncode == 1, "what became of the crawl: one origin gave up"
    assert "has failed" not in out + errors
    assert value(database, "SELECT count(*) FROM session WHERE worker = 'worker-2' AND clean = 1") == 1
    assert value(database, "SELECT finish_reason FROM v_run") == "exhausted"
    done = tui_crawler("audit", "--db", str(database), "--json")
    assert json.loads(done.stdout)["ok"], done.stdout


def test_a_worker_that_comes_when_the_run_is_over_ends_in_order(tmp_path):
    """Of a single origin there is nothing for a second one, and perhaps no run any more."""
    config = tmp_path / "one.yaml"
    with DemoProcess.start(pace=0.1) as web:
        (reserve,) = (site.seed for site in web.sites if site.name == "reserve")
        config.write_text(demo_config([reserve], str(tmp_path / "one.db"), headless=True), encoding="utf-8")
        done = tui_crawler("run", str(config), "--workers", "2", "--max-requests", "1")
    assert done.returncode == 0, done.stderr
    assert "worker 2" not in done.stderr
    assert value(tmp_path / "one.db", "SELECT COUNT(*) FROM session WHERE ended_at = 0") == 0


def test_a_request_limit_holds_over_all_workers(tmp_path):
    database, config, log = tmp_path / "demo.db", tmp_path / "demo.yaml", tmp_path / "access.log"
    with DemoProcess.start(pace=0.1, access_log=log) as web:
        text, _ = configured(web, database)
        config.write_text(text, encoding="utf-8")
        done = tui_crawler(
            "run", str(config), "--db", str(database), "--json", "--workers", "2", "--max-requests", "70"
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["reason"] == "max_requests"
    assert 60 <= value(database, "SELECT requests FROM v_run") <= 70


def test_a_pause_reaches_the_worker_that_holds_the_origin_and_sigterm_ends_all(tmp_path):
    database, config = tmp_path / "endless.db", tmp_path / "endless.yaml"
    with endless_web() as seeds:
        config.write_text(endless_config(seeds, database, f"{DELAY_MS}ms"), encoding="utf-8")
        origins = [seed.rstrip("/") for seed in seeds]
        command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database), "--workers", "2"]
        with subprocess.Popen([*command, "--quiet"], stdout=subprocess.DEVNULL, cwd=ROOT) as run, ended(run):
            wait_for(lambda: is_made(database) and len(crawling(database, run.pid)) == 1, run)
            done = tui_crawler("pause", *origins, "--db", str(database), "--json")
            assert done.returncode == 0, done.stderr
            wait_for(lambda: value(database, "SELECT count(*) FROM v_origin WHERE paused = 1") == len(origins), run)
            run.send_signal(signal.SIGTERM)
            assert run.wait(PATIENT_S) == 128 + signal.SIGTERM
    assert value(database, "SELECT count(*) FROM session WHERE ended_at = 0") == 0
    assert value(database, "SELECT finish_reason FROM v_run") == "interrupted"


@contextlib.contextmanager
def ended(process):
    """Ends the process if it is still at work: nobody waits for a run that a failed test has left."""
    try:
        yield
    finally:
        process.kill()


def is_made(database):
    """Whether the database has its tables."""
    return database.exists() and value(database, "SELECT count(*) FROM sqlite_master WHERE name = 'v_run'") == 1


def wait_for(condition, *processes):
    """Look again and again until it is so, as long as these processes are at work."""
    while not condition():
        assert all(one.poll() is None for one in processes), [one.args for one in processes]
        select.select([], [], [], 0.05)


def test_what_workers_cannot_do_together_is_refused(tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text("seeds: [http://127.0.0.1:9/]\nqueue: {min_origins: 2}\n", encoding="utf-8")
    done = tui_crawler("run", str(config), "--workers", "2")
    assert done.returncode == 2
    assert "min_origins" in done.stderr
    assert not (tmp_path / "c.db").exists()
