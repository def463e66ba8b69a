"""`worker`: processes that go on with a crawl together, come and go, and obey operators."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest

from tests.e2e.served import ROOT, gaps, read_access_log, rows, tui_crawler, value
from tests.e2e.test_workers import DELAY_MS, configured, is_made, wait_for
from tests.support.patience import PATIENT_S
from tui_crawler.demo.process import DemoProcess
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports


@contextlib.contextmanager
def worker(database, *options, **environment):
    """A worker, killed at the end if it is still there."""
    command = [sys.executable, "-m", "tui_crawler", "worker", "--db", str(database), *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def crawl(tmp_path):
    """A crawl that was interrupted after its first pages: database, access log, origins."""
    database, config, log = tmp_path / "demo.db", tmp_path / "demo.yaml", tmp_path / "access.log"
    with DemoProcess.start(pace=0.1, access_log=log) as web:
        text, origins = configured(web, database)
        config.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as run:
            wait_for(lambda: is_made(database) and value(database, "SELECT count(*) FROM v_attempt") > 3, run)
            run.terminate()
            run.communicate(timeout=PATIENT_S)
        yield database, log, origins


def live(database):
    """The workers, by name."""
    with contextlib.closing(Reports(database)) as reports:
        return {one.name: one for one in reports.workers()}


def holding(database):
    """The names of the workers that hold origins."""
    return {name for name, one in live(database).items() if one.origins}


def test_two_workers_one_of_which_is_killed_find_everything_once(crawl):
    database, log, origins = crawl
    with worker(database, "--name", "north", "--slots", "3") as north:
        wait_for(lambda: "north" in holding(database), north)
        with worker(database, "--name", "south") as south:
            wait_for(lambda: "south" in holding(database), north, south)
            both = live(database)
            assert (both["north"].leads, both["north"].slots, both["south"].leads) == (True, 3, False)
            twin = tui_crawler("worker", "--db", str(database), "--name", "south")
            assert (twin.returncode, "a live worker is named south" in twin.stderr) == (3, True)
            north.send_signal(signal.SIGKILL)
            _, errors = south.communicate(timeout=PATIENT_S)
            assert south.returncode in {0, 1}, errors
    assert value(database, "SELECT finish_reason FROM v_run") == "exhausted"
    again = (
        "SELECT url FROM v_attempt WHERE exit_code = 'file_ingested' AND kind = 'page' GROUP BY url HAVING count(*) > 1"
    )
    assert list(rows(database, again)) == []
    left = (
        "SELECT count(*) FROM v_page JOIN v_origin USING (origin)"
        " WHERE finish_reason = 'exhausted' AND v_page.attempts = 0"
    )
    assert value(database, f"{left} AND attempts_remaining > 0 AND status = 'READY'") == 0
    served = read_access_log(log)
    for origin in origins:
        assert min(gaps(served, origin, database)) >= DELAY_MS - 1, origin
    checked = tui_crawler("audit", "--db", str(database), "--json")
    assert json.loads(checked.stdout)["ok"], checked.stdout
    over = tui_crawler("worker", "--db", str(database))
    assert (over.returncode, "the last run is over (exhausted)" in over.stderr) == (3, True)


def test_a_worker_is_paused_drained_and_given_origins(crawl):
    database, _, _ = crawl
    with worker(database, "--name", "north") as north, worker(database, "--name", "south", "--tag", "x") as south:
        wait_for(lambda: holding(database) == {"north", "south"}, north, south)
        (mine,) = rows(database, "SELECT origin FROM v_origin WHERE worker = 'north' AND finish_reason = '' LIMIT 1")
        moved = tui_crawler("workers", "move", mine["origin"], "south", "--db", str(database))
        assert moved.returncode == 0, moved.stderr
        held_by = f"SELECT worker FROM v_origin WHERE origin = '{mine['origin']}'"
        wait_for(lambda: value(database, held_by) == "south")
        for words, state in ((("pause", "south"), "paused"), (("resume", "south"), "crawling")):
            assert tui_crawler("workers", *words, "--db", str(database)).returncode == 0
            wait_for(lambda state=state: getattr(live(database).get("south"), "state", "crawling") == state)  # or over
        assert tui_crawler("workers", "drain", "north", "--db", str(database)).returncode == 0
        north.communicate(timeout=PATIENT_S)
        assert north.returncode in {0, 1}
        assert value(database, "SELECT clean FROM session WHERE worker = 'north'") == 1
        _, errors = south.communicate(timeout=PATIENT_S)
        assert south.returncode in {0, 1}, errors
    assert value(database, "SELECT finish_reason FROM v_run") == "exhausted"
    who = {row["who"] for row in rows(database, "SELECT who FROM v_operator_action")}
    assert "" not in who
    gone = tui_crawler("workers", "pause", "north", "--db", str(database))
    assert (gone.returncode, "no worker of this name is at work: north" in gone.stderr) == (2, True)
    assert tui_crawler("workers", "--db", str(database)).stdout == "no workers are running\n"


def test_without_a_run_a_worker_says_how_to_begin_one(tmp_path):
    database = tmp_path / "new.db"
    assert tui_crawler("worker", "--db", str(database)).returncode == 2
    open_writable(database, OpenSettings()).close()
    none = tui_crawler("worker", "--db", str(database))
    words = f"{database} contains no crawl yet: start with tui-crawler run CONFIG --db {database}"
    assert (none.returncode, words in none.stderr) == (3, True)
