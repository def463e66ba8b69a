"""A reader of `run` that stands still: it holds its output, never the crawl, an operator's wish or a signal."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.e2e.served import ROOT, tui_crawler, value
from tests.e2e.test_workers import configured, is_made, wait_for
from tui_crawler.demo.process import DemoProcess


def standing(kind):
    """A full pipe or terminal that nobody reads: the end to read, and the end to write."""
    reading, writing = pty.openpty() if kind == "terminal" else os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 512)
    os.set_blocking(writing, True)
    return reading, writing


@pytest.mark.parametrize(
    ("kind", "options", "ended_by"),
    [
        ("pipe", ("--json",), "stop"),
        ("pipe", (), signal.SIGTERM),
        ("pipe", ("--json", "--workers", "2"), signal.SIGINT),
        ("terminal", (), "stop"),
    ],
)
def test_the_crawl_goes_on_and_ends_when_it_is_told_to(tmp_path, kind, options, ended_by):
    database, config = tmp_path / "demo.db", tmp_path / "demo.yaml"
    reading, writing = standing(kind)
    with DemoProcess.start(pace=0.1) as web:
        config.write_text(configured(web, database)[0], encoding="utf-8")
        command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database), *options]
        environment = os.environ | {"TERM": "xterm"}
        with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, env=environment) as run:
            os.close(writing)
            wait_for(lambda: is_made(database) and value(database, "SELECT count(*) FROM v_attempt") > 60)
            if ended_by == "stop":
                done = tui_crawler("stop", "--all", "--db", str(database))
                assert done.returncode == 0, done.stderr
            else:
                run.send_signal(ended_by)
            errors = run.communicate(timeout=30)[1].decode()
    os.close(reading)
    assert run.returncode == (0 if ended_by == "stop" else 128 + ended_by), errors
    assert "lines of output were not taken by their reader" in errors
    assert "Traceback" not in errors
    assert value(database, "SELECT finish_reason FROM v_run") == ("operator" if ended_by == "stop" else "interrupted")
