"""The first run in an empty folder, in a real pseudo terminal: the welcome, and every way from it into a crawl."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import read_access_log, value
from tests.e2e.test_console_breaks import assert_given_back, resize, summary
from tests.support.patience import PATIENT_S
from tests.support.terminal import in_terminal
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings

WELCOME = "How do you want to begin?"
PASTE = "\x1b[200~{}\x1b[201~"


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    """Consoles of these tests keep nothing in the home of whoever runs them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("TUI_CRAWLER_DB", raising=False)


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    return path


def console_in(folder: Path):
    """`tui-crawler` without any word in a folder."""
    command = shlex.join(["cd", str(folder)]) + " && exec " + shlex.join([sys.executable, "-m", "tui_crawler"])
    return in_terminal(["sh", "-c", command])


def test_seeds_are_pasted_and_the_crawl_of_them_can_be_carried_on(folder, tmp_path):
    log = tmp_path / "access.log"
    with endless_web(log) as seeds:
        with console_in(folder) as terminal:
            terminal.read_until(WELCOME)
            terminal.press("a")
            terminal.read_until("Begin with seeds")
            terminal.press(PASTE.format("\r".join(seeds[:2])))
            terminal.read_until("2 seeds of 2 origins")
            terminal.press("\ttest-crawler (for https://example.org/why)\t\t3\r")
            terminal.read_until("running")
            terminal.read_while(lambda: not log.exists() or len(read_access_log(log)) < 4)
            terminal.press("q")
            terminal.read_to_good_end()
            assert_given_back(terminal)
            assert "Run 1 of 127.0.0.1: interrupted" in summary(terminal)
        database = folder / "127.0.0.1.db"
        assert value(database, "SELECT user_agent FROM v_run") == "test-crawler (for https://example.org/why)"
        assert '"crawl.max_depth": 3' in value(database, "SELECT config_text FROM run")
        asked = len(read_access_log(log))
        with console_in(folder) as terminal:  # the only database here is opened, and goes on
            terminal.read_until("running")
            terminal.read_while(lambda: len(read_access_log(log)) < asked + 2)
            terminal.press("q")
            terminal.read_to_good_end()
        assert value(database, "SELECT count(*) FROM v_run") == 1


def test_a_configuration_is_put_right_while_the_welcome_waits(folder, tmp_path):
    config = folder / "mine.yaml"
    with endless_web() as seeds, console_in(folder) as terminal:
        text = endless_config(seeds, folder / "mine.db")
        config.write_text(f"crawll: 3\n{text}", encoding="utf-8")
        terminal.read_until(WELCOME)
        terminal.read_until("in this folder:")
        terminal.press("jj\r")
        terminal.read_until("mine.yaml:1:1: crawll: unknown key")
        config.write_text(text, encoding="utf-8")
        terminal.press("\r")
        terminal.read_until("running")
        terminal.read_until("◷ waiting")
        terminal.press("q")
        assert terminal.read_to_end() == 0
        assert_given_back(terminal)
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {"mine.db", "mine.yaml"}


def test_the_demo_begins_from_the_welcome(folder):
    with console_in(folder) as terminal:
        terminal.read_until("is in this folder")
        terminal.press("j\r")
        terminal.read_until("◷ waiting")
        terminal.press("q")
        terminal.read_to_good_end()
        assert_given_back(terminal)
        assert "continue it: tui-crawler demo --db" in summary(terminal)
    assert list(folder.iterdir()) == []


def test_one_of_several_crawls_is_opened_with_the_mouse(folder):
    for name in ("one.db", "two.db"):
        open_writable(folder / name, OpenSettings()).close()
    with console_in(folder) as terminal:
        terminal.read_until("two.db")
        row = next(y for y, line in enumerate(terminal.screen.display, 1) if "two.db" in line)
        terminal.press(f"\x1b[<0;40;{row}M\x1b[<0;40;{row}m")
        terminal.read_until("No origins yet.")
        terminal.press("q")
        terminal.read_to_good_end()
        assert_given_back(terminal)


@pytest.mark.parametrize(("way", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), ("\x03", 0)])
def test_the_welcome_is_left_as_a_console_is(folder, way, status):
    with console_in(folder) as terminal:
        terminal.read_until(WELCOME)
        for width, height in ((1, 1), (500, 200), (39, 9), (120, 40)):
            resize(terminal, width, height)
        if isinstance(way, str):
            terminal.press(way)
        else:
            terminal.child.send_signal(way)
        assert terminal.read_to_end() == status
        assert_given_back(terminal)
    assert list(folder.iterdir()) == []


def test_a_closed_terminal_ends_the_welcome(folder):
    with console_in(folder) as terminal:
        terminal.read_until(WELCOME)
        os.close(terminal.master)
        assert terminal.child.wait(PATIENT_S) == 129
        terminal.master = os.open(os.devnull, os.O_RDONLY)
