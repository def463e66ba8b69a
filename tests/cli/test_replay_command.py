"""`replay`: a run seen again, and its log compared with what is stored."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import store_crawl
from tests.storage.lives import Life


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    life = Life(tmp_path_factory.mktemp("life"), 2)
    life.lives, life.operates = ["ends"], False
    return life.run()


def test_check_says_that_all_follows_from_the_log(crawled: Path, say: Say):
    document = say("replay", "--check", "--db", str(crawled), "--json").document
    assert list(document)[:4] == ["ok", "run", "attempts", "differences"]
    assert (document["ok"], document["run"], document["differences"]) == (True, 1, [])
    assert document["attempts"] > 10
    said = say("replay", "--check", "--db", str(crawled)).ok
    assert f"what is stored follows from the log: run 1, {document['attempts']} attempts" in said.out


def test_a_difference_is_status_one(crawled: Path, tmp_path: Path, say: Say):
    path = tmp_path / "changed.db"
    with closing(sqlite3.connect(crawled)) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
        with copy:
            copy.execute("UPDATE origin SET patience = 1 WHERE origin = 'http://a.test'")
    said = say("replay", "--check", "--db", str(path), "--json")
    assert said.status == 1
    (difference,) = said.document["differences"]
    assert difference == {
        "origin": "http://a.test",
        "field": "patience",
        "stored": 1,
        "folded": difference["folded"],
        "attempt_id": 0,
    }
    said = say("replay", "--check", "--db", str(path))
    assert "✗ http://a.test  patience  stored 1, folded" in said.out
    assert "1 difference between the log and what is stored" in said.out


@pytest.mark.parametrize("words", [("--check",), ("--speed", "max")])
def test_a_run_that_was_never(words: tuple[str, ...], crawled: Path, tmp_path: Path, say: Say):
    said = say("replay", *words, "--run", "9", "--db", str(crawled))
    assert said.status == 2
    assert "there is no run 9" in said.err
    assert said.err.endswith("\n  runs: 1\n")
    bare = store_crawl(tmp_path / "bare.db")
    assert say("replay", *words, "--db", str(bare)).status == 0


def test_the_events_of_a_run_again(crawled: Path, say: Say):
    told = [json.loads(line) for line in say("replay", "--speed", "0", "--db", str(crawled), "--json").out.splitlines()]
    names = [one["event"] for one in told]
    assert (names[0], names[-1]) == ("run_started", "run_finished")
    assert told[0]["origins"] == 3
    with closing(sqlite3.connect(crawled)) as database:
        attempts = database.execute("SELECT kind, COUNT(*) FROM attempt GROUP BY kind").fetchall()
        done, failed = database.execute("SELECT SUM(done), SUM(failed) FROM origin").fetchone()
        requests = database.execute("SELECT requests FROM run").fetchone()[0]
    by_kind = dict(attempts)
    assert names.count("robots_fetched") == by_kind.pop("robots")
    assert names.count("attempt_finished") == sum(by_kind.values())
    assert names.count("origin_finished") == 3
    assert {key: told[-1][key] for key in ("requests", "pages_done", "pages_failed")} == {
        "requests": requests,
        "pages_done": done,
        "pages_failed": failed,
    }
    assert [one["at"] for one in told] == sorted(one["at"] for one in told)


def test_its_lines_are_those_of_run(crawled: Path, say: Say):
    lines = say("replay", "--speed", "max", "--db", str(crawled)).out.splitlines()
    assert lines[0].endswith("run started: 3 origins")
    assert any("robots " in line and "http://a.test/robots.txt" in line for line in lines)
    assert any("finished http://a.test" in line for line in lines)
    assert any(line.startswith("run finished") for line in lines)


def test_it_keeps_the_pace_of_the_run(crawled: Path, say: Say, monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    out = say("replay", "--speed", "10", "--db", str(crawled), "--json").out.splitlines()
    took = json.loads(out[-1])["at"] - json.loads(out[0])["at"]
    assert sum(slept) == pytest.approx(took / 10_000)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it(number: signal.Signals, crawled: Path):
    command = [sys.executable, "-m", "tui_crawler", "replay", "--db", str(crawled), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert "run_started" in process.stdout.readline()
        process.send_signal(number)
        assert process.wait() == 128 + number
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize("speed", ["fast", "-1", "nan", "inf"])
def test_a_speed_that_is_none(speed: str, crawled: Path, say: Say):
    say("replay", "--speed", speed, "--db", str(crawled)).refused("neither max nor a number")
