"""The console and the process that crawls for it, in a real pseudo terminal: either may be killed or stand still."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import gaps, read_access_log, rows, value
from tests.support.patience import PATIENT_S
from tests.support.terminal import Terminal, in_terminal
from tui_crawler.domain.history.audit import audit
from tui_crawler.storage.reports.reports import Reports


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    """A configuration that crawls a web without an end, and the access log of that."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    config, log = tmp_path / "demo.yaml", tmp_path / "access.log"
    with endless_web(log) as seeds:
        config.write_text(endless_config(seeds, "demo.db"), encoding="utf-8")
        yield config, log


def console(config: Path, *more: str):
    """The console in a terminal of its own."""
    return in_terminal([sys.executable, "-m", "tui_crawler", str(config), *more])


def crawling(terminal: Terminal) -> psutil.Process:
    """The process that crawls for a console."""
    terminal.read_until("◷ waiting")
    (child,) = psutil.Process(terminal.child.pid).children()
    return child


def await_more(terminal: Terminal, log: Path, more: int = 10) -> None:
    seen = len(read_access_log(log))
    terminal.read_while(lambda: len(read_access_log(log)) < seen + more)


def assert_polite(config: Path, log: Path) -> None:
    """One run, and every origin had its delay, whoever asked."""
    database, served = config.with_name("demo.db"), read_access_log(log)
    assert value(database, "SELECT count(*) FROM v_run") == 1
    for origin in {one.origin for one in served}:
        assert min(gaps(served, origin, database), default=1_000) >= 999
    with closing(Reports(database)) as reports:
        assert all(one.ok for one in audit(reports.attempts_for_audit()))


def test_a_crawling_process_that_was_killed_is_told_and_can_be_started_again(crawl):
    config, log = crawl
    with console(config) as terminal:
        child = crawling(terminal)
        await_more(terminal, log)
        child.kill()
        terminal.read_until(f"✗ engine failed  its process {child.pid} was ended by SIGKILL")
        terminal.read_until("[c] continue")
        terminal.press("c")
        terminal.read_until("▶ running")
        await_more(terminal, log)
        assert crawling(terminal).pid != child.pid
        crawling(terminal).send_signal(signal.SIGTERM)  # it ends in order, as if somebody had stopped it
        terminal.read_until("[c] continue")
        terminal.press("c")
        await_more(terminal, log)
        terminal.press("q")
        terminal.read_to_good_end()
    assert_polite(config, log)


def test_a_console_that_was_killed_leaves_no_crawl_behind_and_the_next_goes_on(crawl):
    config, log = crawl
    with console(config) as terminal:
        child = crawling(terminal)
        await_more(terminal, log)
        terminal.child.kill()
        assert psutil.wait_procs([child], timeout=PATIENT_S)[0]
    assert [row["finish_reason"] for row in rows(config.with_name("demo.db"), "SELECT * FROM v_run")] == ["interrupted"]
    with console(config) as terminal:
        await_more(terminal, log)
        terminal.press("q")
        terminal.read_to_good_end()
    assert_polite(config, log)


def test_a_crawling_process_that_stands_still_does_not_hold_up_the_way_out(crawl):
    config, _ = crawl
    with console(config) as terminal:
        child = crawling(terminal)
        child.suspend()
        terminal.press("q")
        terminal.read_until("Finishing")
        terminal.press("q")
        assert terminal.read_to_end() == 3
        assert "did not end" in terminal.text()
        assert psutil.wait_procs([child], timeout=PATIENT_S)[0]
    with console(config) as terminal:
        terminal.read_until("▶ running")
        terminal.press("q")
        terminal.read_to_good_end()


def test_workers_share_the_crawl_of_a_console_and_are_shown(crawl):
    config, log = crawl
    with console(config, "--workers", "2") as terminal:
        first = crawling(terminal)
        terminal.press("8")
        terminal.read_until("Workers · 2 at work")
        terminal.read_while(lambda: re.search(r"worker-[12] .* \d+%", terminal.text()) is None)
        (second,) = (
            one for one in first.children(recursive=True) if any(word.startswith("--join=") for word in one.cmdline())
        )
        second.kill()
        terminal.read_until("Workers · 1 at work")
        await_more(terminal, log)
        assert "▶ running" in terminal.text()
        terminal.press("q")
        terminal.read_to_good_end()
    assert not first.is_running()
    assert_polite(config, log)
