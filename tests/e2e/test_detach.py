"""A crawl that is left to itself and found again, in real pseudo terminals; and consoles whose terminal is closed."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import signal
import sqlite3
import sys

import psutil
import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import gaps, read_access_log, rows, tui_crawler, value
from tests.support.patience import PATIENT_S
from tests.support.terminal import in_terminal
from tui_crawler.console.operator.detach import CannotDetach
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.wiring.detach import DetachedRun

STARTED = "running"


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    """Consoles of these tests keep nothing in the home of whoever runs them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def console(*words: object):
    """The console in a terminal of its own."""
    return in_terminal([sys.executable, "-m", "tui_crawler", *map(str, words)])


def detached_pid(text: str) -> int:
    """The process that a console names as it leaves."""
    found = re.search(r"process (\d+)", text)
    assert found is not None, text
    return int(found[1])


def end(pid: int) -> None:
    """Ends a process that a test has left behind."""
    if psutil.pid_exists(pid):
        psutil.Process(pid).kill()


def test_detach_attach_pause_and_stop(tmp_path):
    log, database, config = tmp_path / "access.log", tmp_path / "demo.db", tmp_path / "demo.yaml"
    with endless_web(log) as seeds:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        with console(config) as terminal:
            terminal.read_until(STARTED)
            terminal.read_while(lambda: len(read_access_log(log)) < 10)
            terminal.press("Q")
            assert terminal.read_to_end() == 0
            words = terminal.text()
        assert "continues as process" in words
        assert f"tui-crawler --db {database}" in words.replace("\n", "")
        pid = detached_pid(words)
        try:
            process = psutil.Process(pid)
            assert os.getsid(pid) == pid
            seen = len(read_access_log(log))
            with console("--db", database) as second:
                second.read_until("attached")
                second.read_while(lambda: len(read_access_log(log)) < seen + 10)
                second.press("y")
                second.read_until("esc closes")
                second.press("u")
                second.read_until("copied URL")
                copied = (tmp_path / "state" / "tui-crawler" / "copied.txt").read_text().strip()
                assert copied in {f"{one.origin}/" for one in read_access_log(log)}
                assert b"\x1b]52;c;" + base64.b64encode(copied.encode()) + b"\x07" in bytes(second.raw)
                second.press("P")
                second.read_until("all 8 open origins are paused")
                second.press("q")
                assert second.read_to_end() == 0
                assert f"continues in process {pid}" in second.text()
            assert value(database, "SELECT min(paused) FROM v_origin WHERE state <> 'FINISHED'") == 1
            with console("--db", database) as third:
                third.read_until("attached")
                third.press(":end\r")
                third.read_until("End run 1 of demo?")
                assert f"process {pid} on " in third.text()
                third.press("y")
                third.read_until("idle")
                third.press("q")
                third.read_to_good_end()
            psutil.wait_procs([process], timeout=PATIENT_S)
            assert not process.is_running()
        finally:
            end(pid)
    assert value(database, "SELECT count(*) FROM v_run") == 1
    served = read_access_log(log)
    for origin in {one.origin for one in served}:
        assert min(gaps(served, origin, database), default=1_000) >= 999
    assert (tmp_path / "demo.db.log").read_text().startswith("20")


def test_without_a_file_the_stored_configuration_goes_on(tmp_path):
    database = tmp_path / "seeds.db"
    with endless_web() as seeds:
        with console("crawl", seeds[0], "--db", database) as terminal:
            terminal.read_until(STARTED)
            terminal.read_until("◷ waiting")
            terminal.press("\x03")
            terminal.read_until("d detaches")
            terminal.press("d")
            assert terminal.read_to_end() == 0
            pid = detached_pid(terminal.text())
        try:
            process = psutil.Process(pid)
            assert process.cmdline()[-4:-2] == ["run", "--db"]
            assert tui_crawler("status", "--db", str(database)).returncode == 0
            process.terminate()
            assert not psutil.wait_procs([process], timeout=PATIENT_S)[1]
        finally:
            end(pid)
    assert value(database, "SELECT count(*) FROM v_run") == 1


def test_short_delays_stay_allowed_for_a_crawl_that_is_left_to_itself_and_in_the_next_console(tmp_path):
    database, config = tmp_path / "fast.db", tmp_path / "fast.yaml"
    with endless_web() as seeds:
        config.write_text(f"seeds: ['{seeds[0]}']\ndelay: {{default: 300ms, floor: 300ms}}\n", encoding="utf-8")
        with console(config, "--allow-impolite") as terminal:
            terminal.read_until(STARTED)
            terminal.press("Q")
            assert terminal.read_to_end() == 0
            pid = detached_pid(terminal.text())
        try:
            process = psutil.Process(pid)
            assert {str(config), "--allow-impolite"} <= set(process.cmdline())
            process.terminate()
            assert not psutil.wait_procs([process], timeout=PATIENT_S)[1]
        finally:
            end(pid)
        with console("--db", database) as terminal:  # from what the database keeps
            terminal.read_until(STARTED)
            terminal.press("q")
            terminal.read_to_good_end()
    assert value(database, "SELECT count(*) FROM v_run") == 1


def test_a_delay_that_has_no_effect_is_shown_as_the_crawl_begins(tmp_path):
    config = tmp_path / "slow.yaml"
    with endless_web() as seeds:
        config.write_text(f"seeds: ['{seeds[0]}']\ndelay: {{default: 300ms}}\n", encoding="utf-8")
        with console(config) as terminal:
            terminal.read_until(STARTED)
            terminal.read_until("delay.default: 300ms has no effect: delay.floor makes it 1s")
            terminal.press("q")
            terminal.read_to_good_end()


def test_a_console_does_not_crawl_by_a_configuration_that_cannot_be_read(tmp_path):
    database, config = tmp_path / "fast.db", tmp_path / "fast.yaml"
    with endless_web() as seeds:
        config.write_text(f"seeds: ['{seeds[0]}']\ndelay: {{default: 300ms, floor: 300ms}}\n", encoding="utf-8")
        done = tui_crawler("run", str(config), "--allow-impolite", "--max-requests", "1")
        assert done.returncode == 0, done.stderr
        with contextlib.closing(sqlite3.connect(database)) as opened, opened:
            opened.execute("UPDATE run SET config_text = ?", (config.read_text(),))  # as an earlier version kept it
        with console("--db", database) as terminal:
            assert terminal.read_to_end() == 3
            assert "delay.allow_impolite: true" in " ".join(terminal.text().split())
        with console("--db", database, "--readonly") as terminal:
            terminal.read_until("1 page")
            terminal.press("q")
            terminal.read_to_good_end()
        with console("--db", database, "--allow-impolite") as terminal:
            terminal.read_until(STARTED)
            terminal.press("q")
            terminal.read_to_good_end()


def test_a_closed_terminal_of_an_attached_console_leaves_the_crawl_alone(tmp_path):
    log, database, config = tmp_path / "access.log", tmp_path / "demo.db", tmp_path / "demo.yaml"
    with endless_web(log) as seeds:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        with console(config) as first:
            first.read_until(STARTED)
            with console("--db", database) as second:
                second.read_until("attached")
                os.close(second.master)  # the kernel sends SIGHUP, as when a window is closed
                assert second.child.wait(PATIENT_S) == 129
                second.master = os.open(os.devnull, os.O_RDONLY)
            seen = len(read_access_log(log))
            first.read_while(lambda: len(read_access_log(log)) < seen + 10)
            assert [row["live"] for row in rows(database, "SELECT finished_at IS NULL AS live FROM v_run")] == [1]
            first.press("q")
            first.read_to_good_end()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('no configuration\x1b[2J')", "no configuration"),
        ("raise SystemExit(3)", "it ended at once with status 3"),
    ],
)
def test_a_run_that_ends_at_once_is_told_and_leaves_nothing(tmp_path, script, reason):
    database = tmp_path / "a b.db"
    open_writable(database, OpenSettings()).close()
    detached = DetachedRun(None, database, words=(sys.executable, "-c", script))
    with pytest.raises(CannotDetach, match=reason):
        detached.start()
    assert detached.process is not None
    assert detached.process.returncode == (1 if "no" in reason else 3)
    assert f"run --db '{database}' --quiet" in detached.log.read_text()


def test_a_run_with_nothing_left_has_ended_well(tmp_path):
    database = tmp_path / "a.db"
    open_writable(database, OpenSettings()).close()
    detached = DetachedRun(None, database, words=(sys.executable, "-c", ""))
    departure = detached.start()
    assert departure.attach == f"tui-crawler --db {database}"
    assert departure.log == str(tmp_path / "a.db.log")


def test_what_cannot_be_started_is_told(tmp_path):
    database = tmp_path / "a.db"
    open_writable(database, OpenSettings()).close()
    with pytest.raises(CannotDetach, match="cannot be started"):
        DetachedRun(None, database, words=(str(tmp_path / "missing"),)).start()
    (tmp_path / "a.db.log").unlink()
    (tmp_path / "a.db.log").mkdir()
    with pytest.raises(CannotDetach, match="cannot be written"):
        DetachedRun(None, database).start()


def test_run_needs_a_configuration_or_a_stored_one(tmp_path):
    database = tmp_path / "a.db"
    open_writable(database, OpenSettings()).close()
    empty = tui_crawler("run", "--db", str(database))
    assert empty.returncode == 2
    assert "keeps no configuration" in empty.stderr
    assert tui_crawler("run", "--db", str(tmp_path / "b.db")).returncode == 2


def test_the_demo_is_left_with_its_web_and_found_again(tmp_path):
    database = tmp_path / "demo.db"
    with console("demo", "--db", database) as terminal:
        terminal.read_until(STARTED)
        terminal.read_until("◷ waiting")
        children = psutil.Process(terminal.child.pid).children()  # a validator may be one
        (web,) = [child for child in children if "tui_crawler.demo" in child.cmdline()]
        terminal.press("Q")
        assert terminal.read_to_end() == 0
        words = terminal.text()
    assert f"tui-crawler --db {database}" in words.replace("\n", "")
    assert "The demo is kept in" not in words
    pid = detached_pid(words)
    run = psutil.Process(pid)
    try:
        assert web.is_running()
        with console("demo", "--db", database) as second:
            second.read_until("attached")
            before = value(database, "SELECT count(*) FROM v_attempt")
            second.read_while(lambda: value(database, "SELECT count(*) FROM v_attempt") < before + 10)
            second.press("q")
            second.read_to_good_end()
        assert tui_crawler("stop", "--all", "--db", str(database)).returncode == 0
        assert not psutil.wait_procs([run, web], timeout=PATIENT_S)[1]
    finally:
        end(pid)
    assert value(database, "SELECT count(*) FROM v_run") == 1
    healthy = "origin = (SELECT min(origin) FROM v_origin)"
    assert value(database, f"SELECT count(*) FROM v_attempt WHERE {healthy} AND exit_code = 'connection_failed'") == 0


def test_a_demo_that_goes_on_has_its_web_again(tmp_path):
    database = tmp_path / "demo.db"

    def crawled(terminal, more: int) -> None:
        before = value(database, "SELECT count(*) FROM v_attempt")
        terminal.read_while(lambda: value(database, "SELECT count(*) FROM v_attempt") < before + more)

    with console("demo", "--db", database) as first:
        first.read_until(STARTED)
        crawled(first, 10)
        first.press("Q")
        assert first.read_to_end() == 0
        pid = detached_pid(first.text())
    try:
        with console("demo", "--db", database) as second:
            second.read_until("attached")
            os.kill(pid, signal.SIGKILL)
            second.read_until("[c] continue")
            second.press("c")
            second.read_until("▶ running")
            crawled(second, 10)
            second.press("q")
            second.read_to_good_end()
    finally:
        end(pid)
    with console("--db", database) as third:
        third.read_until("▶ running")
        crawled(third, 5)
        third.press("q")
        third.read_to_good_end()
    assert value(database, "SELECT count(*) FROM v_run") == 1
    healthy = "origin = (SELECT min(origin) FROM v_origin)"
    assert value(database, f"SELECT count(*) FROM v_attempt WHERE {healthy} AND exit_code = 'connection_failed'") == 0
