"""A reader of `run` that stands still: it holds its output, never the crawl, an operator's wish or a signal."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import ROOT, tui_crawler, value
from tests.e2e.test_workers import is_made, wait_for
from tests.support.patience import PATIENT_S


def standing(kind):
    """A full pipe that nobody reads, or a terminal that was told to stand still, as Ctrl-S does (one that is full takes
    more whenever the kernel has handed on some of it): the end to read, and the end to write."""
    if kind == "terminal":
        reading, writing = pty.openpty()
        termios.tcflow(writing, termios.TCOOFF)
        return reading, writing
    reading, writing = os.pipe()
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
    database, config = tmp_path / "endless.db", tmp_path / "endless.yaml"
    reading, writing = standing(kind)
    with endless_web() as seeds:
        config.write_text(endless_config(seeds, database, "60ms"), encoding="utf-8")
        command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--db", str(database), *options]
        environment = os.environ | {"TERM": "xterm"}
        with subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, env=environment) as run:
            os.close(writing)
            wait_for(lambda: is_made(database) and value(database, "SELECT count(*) FROM v_attempt") > 60, run)
            if ended_by == "stop":
                done = tui_crawler("stop", "--all", "--db", str(database))
                assert done.returncode == 0, done.stderr
            else:
                run.send_signal(ended_by)
            errors = run.communicate(timeout=PATIENT_S)[1].decode()
    os.close(reading)
    assert run.returncode == (0 if ended_by == "stop" else 128 + ended_by), errors
    assert "lines of output were not taken by their reader" in errors
    assert "Traceback" not in errors
    assert value(database, "SELECT finish_reason FROM v_run") == ("operator" if ended_by == "stop" else "interrupted")
