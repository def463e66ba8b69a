"""Several consoles on one run, in real pseudo terminals: they see the same, and none of them can end it unasked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import ROOT, read_access_log, value
from tests.support.patience import PATIENT_S
from tests.support.terminal import Terminal, in_terminal
from tui_crawler.domain.history.audit import audit
from tui_crawler.storage.reports.reports import Reports

WATCHES = "this console is read-only"


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    """Consoles of these tests keep nothing in the home of whoever runs them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def console(*words: object):
    """The console in a terminal of its own."""
    return in_terminal([sys.executable, "-m", "tui_crawler", *map(str, words)])


@contextmanager
def headless(config: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run in a process of its own, as `Q` leaves one behind."""
    command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--quiet"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_requests(run: subprocess.Popen[bytes], log: Path) -> None:
    while not log.exists() or log.read_bytes().count(b"\n") < 10:
        with suppress(subprocess.TimeoutExpired):
            pytest.fail(f"the run ended with status {run.wait(0.05)}")


def paused(database: Path) -> int:
    return value(database, "SELECT count(*) FROM v_origin WHERE paused = 1")


def assert_it_goes_on(terminal: Terminal, log: Path) -> None:
    seen = len(read_access_log(log))
    terminal.read_while(lambda: len(read_access_log(log)) < seen + 10)


@contextmanager
def three_consoles(log: Path, database: Path):
    """A run without a console that is at work, and three that are attached to it."""
    config = database.with_suffix(".yaml")
    with endless_web(log) as seeds, ExitStack() as stack:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        run = stack.enter_context(headless(config))
        wait_for_requests(run, log)
        consoles = [stack.enter_context(console("--db", database)) for _ in range(3)]
        for terminal in consoles:
            terminal.read_until("● attached")
        yield (run, *consoles)


def test_what_one_console_does_the_other_sees_and_neither_ends_the_run(tmp_path):
    log, database = tmp_path / "access.log", tmp_path / "demo.db"
    with three_consoles(log, database) as (run, one, two, three):
        one.press("P")
        two.read_until("‖ paused")
        one.read_until("‖ paused")
        assert paused(database) > 5
        two.press("P")
        one.read_until_gone("‖ paused")
        two.read_until_gone("‖ paused")
        assert paused(database) == 0

        three.child.send_signal(signal.SIGHUP)
        assert three.read_to_end() == 129
        assert_it_goes_on(one, log)
        os.close(two.master)  # the kernel sends SIGHUP, as when a window is closed
        assert two.child.wait(PATIENT_S) == 129
        two.master = os.open(os.devnull, os.O_RDONLY)
        assert_it_goes_on(one, log)
        assert run.poll() is None

        run.kill()
        run.wait()
        one.read_until("idle")
        one.press("q")
        one.read_to_good_end()
        assert b"Traceback" not in bytes(one.raw)
        assert "Run 1 of demo: crawler died after " in one.text()
        assert "; the next start continues it." in one.text()
    assert value(database, "SELECT count(*) FROM v_run") == 1


def test_after_a_kill_an_attached_console_carries_the_run_on_and_the_others_follow_it(tmp_path):
    log, database = tmp_path / "access.log", tmp_path / "demo.db"
    with three_consoles(log, database) as (run, one, two, three):
        run.kill()
        run.wait()
        for terminal in (one, two, three):
            terminal.read_until("[c] continue")
        one.press("c")
        two.press("c")  # only one of them can
        three.read_until("● attached")
        for terminal in (one, two):
            terminal.read_until_gone("○ idle")
            terminal.read_until_gone("◐ starting")
        hosts = [terminal for terminal in (one, two) if "▶ running" in terminal.text()]
        assert len(hosts) == 1
        assert sum("● attached" in terminal.text() for terminal in (one, two)) == 1
        assert_it_goes_on(three, log)
        for terminal in (three, *(terminal for terminal in (one, two) if terminal not in hosts), *hosts):
            terminal.press("q")
            terminal.read_to_good_end()
            assert b"Traceback" not in bytes(terminal.raw)
    assert value(database, "SELECT count(*) FROM v_run") == 1
    with closing(Reports(database)) as reports:
        assert all(one.ok for one in audit(reports.attempts_for_audit()))


def test_a_run_whose_database_is_deleted_ends_and_its_console_says_so(tmp_path):
    log, database, config = tmp_path / "access.log", tmp_path / "demo.db", tmp_path / "demo.yaml"
    with endless_web(log) as seeds:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        with headless(config) as run:
            wait_for_requests(run, log)
            with console("--db", database) as terminal:
                terminal.read_until("attached")
                database.unlink()
                terminal.read_until("the database was deleted or moved away")
                assert run.wait(PATIENT_S) == 3
                assert run.stderr is not None
                assert b"deleted or moved away while it was open" in run.stderr.read()
                terminal.press("q")
                assert terminal.read_to_end() == 0
                assert "The database failed: the database was deleted" in terminal.text()
    assert not database.exists()


CHANGING = {"p": "pause", "P": "pause all", "a": "add", "R": "retry failed", "d": "slower", "os": "stop", "u": "undo"}
"""Keys that change the crawl on the overview, and what they are called."""


def assert_only_watched(terminal: Terminal) -> None:
    """Every key that would change something says why it does not."""
    for key, label in CHANGING.items():
        terminal.press(key)
        terminal.read_until(f"{label}: {WATCHES}")
    terminal.press("?")
    terminal.read_until("Keys · Origins")
    terminal.read_until(WATCHES)
    terminal.press("\x1b[27u")
    terminal.read_until_gone("Keys · Origins")


def test_a_console_that_only_watches_writes_nothing_neither_beside_a_run_nor_alone(tmp_path):
    log, database, config = tmp_path / "access.log", tmp_path / "demo.db", tmp_path / "demo.yaml"
    with endless_web(log) as seeds:
        config.write_text(endless_config(seeds, database), encoding="utf-8")
        with headless(config) as run:
            wait_for_requests(run, log)
            with console("--db", database, "--readonly") as terminal:
                terminal.read_until("read-only")
                terminal.read_until("attached")
                assert_only_watched(terminal)
                assert_it_goes_on(terminal, log)
                terminal.press("q")
                assert terminal.read_to_end() == 0
            run.terminate()
            run.wait()
        asked = len(read_access_log(log))
        before = database.read_bytes()
        for words in (("--db", database), (config,)):
            with console(*words, "--readonly") as terminal:
                terminal.read_until("read-only")
                terminal.read_until("idle")
                assert_only_watched(terminal)
                terminal.press("Q")
                assert terminal.read_to_end() == 0
        assert database.read_bytes() == before
        assert not list(tmp_path.glob("demo.db-*")), "what it opened is put away"
        assert len(read_access_log(log)) == asked
    assert value(database, "SELECT count(*) FROM v_operator_action") == 0
    assert {path.name for path in tmp_path.iterdir()} <= {
        "access.log", "demo.yaml", "demo.db", "demo.db-wal", "demo.db-shm", "state"
    }  # fmt: skip
