"""SIGKILL at random moments of a crawl of real servers, each followed by a restart (docs/reliability.md, K1 to K8)."""

from __future__ import annotations

import json
import random
import signal

import pytest

from tests.e2e.served import CODES_WITH_RECORD, KILLED, gaps, read_access_log, rows, run_until, tui_crawler, value
from tui_crawler.demo.process import DemoProcess, demo_config

DELAY_MS = 60
STEADY = {
    "almanac",
    "observatory",
    "reserve",
    "chandlery",
}  # sites whose answers do not depend on what was asked before


@pytest.fixture(scope="module")
def killed_crawl(tmp_path_factory):
    """A crawl that was killed five times and then ran to its end; the delay is long enough to be seen in the log."""
    folder = tmp_path_factory.mktemp("killed")
    log, database, config = folder / "access.log", folder / "demo.db", folder / "demo.yaml"
    dice = random.Random(20261121)
    with DemoProcess.start(pace=0.1, access_log=log) as web:
        steady = [site.seed for site in web.sites if site.name in STEADY]
        text = demo_config(steady, str(database), headless=True)
        text = text.replace("default: 20ms", f"default: {DELAY_MS}ms").replace("floor: 20ms", f"floor: {DELAY_MS}ms")
        config.write_text(text, encoding="utf-8")
        for _ in range(5):
            assert run_until(config, database, dice.randrange(3, 40), signal.SIGKILL) == KILLED
            assert value(database, "PRAGMA integrity_check") == "ok"
            assert not list(rows(database, "PRAGMA foreign_key_check"))
        done = tui_crawler("run", str(config), "--db", str(database), "--json")
    return done, database, read_access_log(log), [seed.rstrip("/") for seed in steady]


def test_the_run_was_continued_and_came_to_its_end(killed_crawl):
    done, database, _, _ = killed_crawl
    assert done.returncode == 0, done.stderr
    assert "run 1 was killed; it is continued" in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["reason"] == "exhausted"
    assert value(database, "SELECT count(*) FROM v_run") == 1


def test_every_page_was_crawled(killed_crawl):
    _, database, _, _ = killed_crawl
    assert value(database, "SELECT count(*) FROM v_page WHERE attempts_remaining > 0 AND status = 'READY'") == 0
    assert value(database, "SELECT count(*) FROM v_page WHERE last_exit_code = 'file_ingested'") >= 190


def test_nothing_was_asked_again_after_its_record_was_committed(killed_crawl):
    _, database, served, _ = killed_crawl
    names = ", ".join(f"'{code}'" for code in CODES_WITH_RECORD)
    recorded = {
        row["url"]: row["ended_at"]
        for row in rows(
            database, f"SELECT url, min(ended_at) ended_at FROM v_attempt WHERE exit_code IN ({names}) GROUP BY url"
        )
    }
    again = [one.url for one in served if one.url in recorded and one.started > recorded[one.url] + 1]
    assert again == []


def test_at_most_the_page_in_flight_was_repeated(killed_crawl):
    _, _, served, origins = killed_crawl
    asked = [one.url for one in served]
    repeated = {url for url in asked if asked.count(url) > 1}
    assert len(repeated) <= 5 * len(origins)


def test_no_gap_is_shorter_than_the_delay_and_none_overlap(killed_crawl):
    _, database, served, origins = killed_crawl
    for origin in origins:
        found = gaps(served, origin, database)
        assert found
        assert min(found) >= DELAY_MS - 1, origin


def test_robots_txt_was_asked_first_and_once(killed_crawl):
    _, _, served, origins = killed_crawl
    for origin in origins:
        targets = [one.target for one in served if one.origin == origin]
        assert targets[0] == "/robots.txt"
        assert targets.count("/robots.txt") <= 2


def test_records_are_whole(killed_crawl):
    _, database, _, _ = killed_crawl
    without = "SELECT count(*) FROM v_page WHERE last_exit_code = 'file_ingested' AND (sha256 = '' OR size = 0)"
    assert value(database, without) == 0
    names = ", ".join(f"'{code}'" for code in CODES_WITH_RECORD)
    counted = f"""SELECT done - (SELECT count(*) FROM v_page p WHERE p.origin = o.origin
        AND p.attempts_remaining = 0 AND p.last_exit_code IN ({names})) FROM v_origin o"""
    assert all(row[0] == 0 for row in rows(database, counted))


def test_the_audit_agrees(killed_crawl):
    _, database, _, _ = killed_crawl
    proof = tui_crawler("audit", "--db", str(database), "--json")
    document = json.loads(proof.stdout)
    assert document["ok"] is True, document
    assert proof.returncode == 0


def test_what_is_stored_follows_from_the_log(killed_crawl):
    _, database, _, _ = killed_crawl
    proof = tui_crawler("replay", "--check", "--db", str(database), "--json")
    document = json.loads(proof.stdout)
    assert (document["ok"], document["differences"], proof.returncode) == (True, [], 0)
    assert document["attempts"] == value(database, "SELECT count(*) FROM v_attempt")
