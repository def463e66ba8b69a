"""What breaks under a console, in real pseudo terminals: whatever it is, the way out works, nothing is a traceback, the
terminal is as it was, and what is printed is true."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import socket
import sqlite3
import struct
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.e2e.endless_web import endless_config, endless_web
from tests.e2e.served import read_access_log, value
from tests.support.patience import PATIENT_S
from tests.support.terminal import Terminal, in_terminal
from tui_crawler.storage.db.database import check_integrity

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")

SHOWN_AT_REST = frozenset({7, 25})
"""Private modes that a terminal has set: wrapping, the cursor."""
SHM_LOCKS, SHM_LOCK_COUNT = 120, 8
"""Where SQLite locks the index of its write-ahead log: all of them shut out readers and writers."""


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    """Consoles of these tests keep nothing in the home of whoever runs them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """The seeds of one web for all of them, which has no end, and its access log."""
    log = tmp_path_factory.mktemp("web") / "access.log"
    with endless_web(log) as seeds:
        yield seeds, log


@pytest.fixture
def config(web, tmp_path) -> Path:
    path = tmp_path / "demo.yaml"
    path.write_text(endless_config(web[0], tmp_path / "demo.db"), encoding="utf-8")
    return path


def console(*words: object):
    """The console in a terminal of its own."""
    return in_terminal([sys.executable, "-m", "tui_crawler", *map(str, words)])


def own(config: Path, name: str) -> tuple[object, ...]:
    """The words for a database beside the others."""
    return (config, "--db", config.with_name(name), "--ignore-database-name")


def at_rest() -> list[object]:
    """How a terminal is set before anybody has used it."""
    master, slave = pty.openpty()
    try:
        return termios.tcgetattr(slave)
    finally:
        os.close(master)
        os.close(slave)


def assert_given_back(terminal: Terminal) -> None:
    """The terminal is as it was before: modes, keyboard, line discipline; and nothing was a traceback."""
    raw = bytes(terminal.raw)
    assert b"Traceback" not in raw
    assert b"unexpected error" not in raw
    modes: dict[int, bool] = {}
    for numbers, switch in re.findall(rb"\x1b\[\?([\d;]+)([hl])", raw):
        modes.update(dict.fromkeys(map(int, numbers.split(b";")), switch == b"h"))
    assert {mode for mode, on in modes.items() if on} <= SHOWN_AT_REST, raw[-2_000:]
    assert modes[1049] is modes[1003] is modes[2004] is False
    assert modes[25]
    assert len(re.findall(rb"\x1b\[>\d*u", raw)) == len(re.findall(rb"\x1b\[<\d*u", raw))
    assert termios.tcgetattr(terminal.master) == at_rest()


def summary(terminal: Terminal) -> str:
    """What was printed after the screen was given back."""
    return bytes(terminal.raw).rpartition(b"\x1b[?1049l")[2].decode().replace("\r\n", "")


def resize(terminal: Terminal, width: int, height: int) -> None:
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))


@contextmanager
def silent_server() -> Iterator[tuple[str, socket.socket]]:
    """A URL of a server that takes connections and never answers, and its socket."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", listening


def test_every_way_out_of_a_crawl_gives_the_terminal_back(config):
    ways = {"q": 0, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
    with ExitStack() as stack:
        terminals = {way: stack.enter_context(console(*own(config, f"{way}.db"))) for way in ways}
        for terminal in terminals.values():
            terminal.read_until("◷ waiting")
        for way, terminal in terminals.items():
            if isinstance(way, str):
                terminal.press(way)
            else:
                terminal.child.send_signal(way)
        while any(terminal.child.poll() is None for terminal in terminals.values()):
            for terminal in terminals.values():  # who leaves waits only a moment for a terminal that takes nothing
                terminal._read(0.05)
        for way, status in ways.items():
            ended, told = terminals[way].read_to_end(), summary(terminals[way])
            gave_up = way == "q" and "Stopped after errors" in told  # one of the demo's origins is, after some seconds
            assert ended == (1 if gave_up else status), told
            assert_given_back(terminals[way])
            assert "Run 1 of demo: interrupted" in summary(terminals[way])
            assert value(config.with_name(f"{way}.db"), "SELECT count(*) FROM v_run WHERE finish_reason <> ''") == 1


def test_a_signal_ends_a_console_whose_crawl_is_seen_again_meanwhile(config):
    with console(config) as terminal:
        terminal.read_until("◷ waiting")
        terminal.press(":replay\r")
        terminal.read_until("REPLAY of the past")
        terminal.child.send_signal(signal.SIGTERM)
        assert terminal.read_to_end() == 143
        assert_given_back(terminal)
        assert "Run 1 of demo: interrupted" in summary(terminal)


def test_a_request_without_an_answer_is_waited_for_and_q_again_cancels_it(tmp_path):
    database = tmp_path / "silent.db"
    with silent_server() as (seed, server), console("crawl", seed, "--db", database) as terminal:
        terminal.read_while(lambda: not select.select([server], [], [], 0)[0])
        terminal.read_until("▶ running")
        terminal.press("q")
        terminal.read_until("Finishing 1 request…")
        terminal.press("q")
        terminal.read_to_good_end()
        assert_given_back(terminal)
        assert "stopped by force" in summary(terminal)
    assert check_integrity(database).problems == ()


def test_a_database_that_is_deleted_or_replaced_is_told_and_nothing_more_is_asked(web, config):
    words = {"gone.db": "deleted or moved away", "other.db": "replaced by another file"}
    foreign = b"another file " * 500
    with ExitStack() as stack:
        terminals = {name: stack.enter_context(console(*own(config, name))) for name in words}
        for terminal in terminals.values():
            terminal.read_until("◷ waiting")
        config.with_name("gone.db").unlink()
        config.with_name("foreign").write_bytes(foreign)
        config.with_name("foreign").replace(config.with_name("other.db"))
        for name, terminal in terminals.items():
            terminal.read_until(words[name])
        asked = len(read_access_log(web[1]))
        for name, terminal in terminals.items():
            terminal.read_until("✗ engine failed")
            terminal.press("2")
            terminal.read_until("▸2 Failures ")
            terminal.press("q")
            assert terminal.read_to_end() == 3
            assert_given_back(terminal)
            assert words[name] in summary(terminal)
    in_flight = len(terminals) * len(web[0])
    assert len(read_access_log(web[1])) <= asked + in_flight  # of each origin at most the one under way
    assert config.with_name("other.db").read_bytes() == foreign
    assert not config.with_name("gone.db").exists()


def test_a_database_that_is_overwritten_is_told_and_can_be_left(config):
    with console(config) as terminal:
        terminal.read_until("◷ waiting")
        config.with_name("demo.db").write_bytes(b"another file " * 50_000)
        terminal.read_until("is damaged")
        terminal.press("2")
        terminal.read_until("▸2 Failures ")
        terminal.press("q")
        assert terminal.read_to_end() == 3
        assert_given_back(terminal)
        assert "is damaged" in summary(terminal)


def test_pages_that_are_overwritten_in_place_end_the_run_and_are_told(config):
    database = config.with_name("demo.db")
    with console(config) as terminal:
        terminal.read_until("◷ waiting")
        terminal.read_while(lambda: value(database, "SELECT count(*) FROM v_attempt") < 20)
        with closing(sqlite3.connect(database, timeout=PATIENT_S)) as another:
            another.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with database.open("r+b") as file:
            file.seek(4 * 4_096)
            file.write(b"\xa5" * (database.stat().st_size - 4 * 4_096))
        terminal.read_until("is damaged")
        terminal.read_until("✗ engine failed")
        terminal.press("q")
        assert terminal.read_to_end() == 3
        assert_given_back(terminal)
        assert "is damaged" in summary(terminal)


def test_a_locked_database_is_stale_and_goes_on_when_the_lock_is_given_back(web, config):
    with console(config) as terminal:
        terminal.read_until("◷ waiting")
        with config.with_name("demo.db-shm").open("r+b") as index:
            fcntl.lockf(index, fcntl.LOCK_EX, SHM_LOCK_COUNT, SHM_LOCKS)
            terminal.read_until("⚠ stale")
            asked = len(read_access_log(web[1]))
            terminal.press("2")
            terminal.read_until("▸2 Failures ")
            terminal.press("1")
            fcntl.lockf(index, fcntl.LOCK_UN, SHM_LOCK_COUNT, SHM_LOCKS)
        terminal.read_until_gone("⚠ stale")
        terminal.read_while(lambda: len(read_access_log(web[1])) < asked + 10)
        terminal.press("q")
        terminal.read_to_good_end()
        assert_given_back(terminal)
    assert value(config.with_name("demo.db"), "SELECT count(*) FROM v_attempt WHERE exit_code = 'database_error'") == 0


def test_a_lock_of_a_writer_is_told_and_what_is_asked_for_meanwhile_is_written_afterwards(web, config):
    with ExitStack() as stack:
        hosting = stack.enter_context(console(config))
        hosting.read_until("◷ waiting")
        attached = stack.enter_context(console(*own(config, "demo.db")))
        watching = stack.enter_context(console("--db", config.with_name("demo.db"), "--readonly"))
        for terminal in (attached, watching):
            terminal.read_until("● attached")
        another = sqlite3.connect(config.with_name("demo.db"), isolation_level=None, timeout=PATIENT_S)
        another.execute("BEGIN EXCLUSIVE")
        for terminal in (hosting, attached, watching):
            terminal.read_until(f"⚠ database locked  by another program (process {os.getpid()})")
        asked = len(read_access_log(web[1]))
        for terminal, key in ((hosting, "P"), (attached, "d")):
            terminal.press(key)
            terminal.read_until("waits, the database is locked by another program")
        another.execute("ROLLBACK")
        another.close()
        for terminal in (hosting, attached, watching):
            terminal.read_until_gone("⚠ database locked")
            terminal.read_until("‖ paused")
        for terminal in (hosting, attached):
            terminal.read_until("u undoes")
        hosting.press("P")
        hosting.read_while(lambda: len(read_access_log(web[1])) < asked + 10)
        for terminal in (watching, attached, hosting):
            terminal.press("q")
            terminal.read_to_good_end()
            assert_given_back(terminal)
    lost = "SELECT count(*) FROM v_attempt WHERE exit_code = 'database_error'"
    assert value(config.with_name("demo.db"), lost) == 0


def test_a_full_disk_is_told_and_the_crawl_goes_on_when_there_is_room(web, config, tmp_path):
    full = tmp_path / "full"
    child = [sys.executable, "-m", "tests.e2e.full_disk_child", str(full), str(config)]
    with in_terminal(child) as terminal:
        terminal.read_until("◷ waiting")
        full.touch()
        terminal.read_until("the disk is full")
        asked = len(read_access_log(web[1]))
        full.unlink()
        terminal.read_while(lambda: len(read_access_log(web[1])) < asked + 10)  # by itself
        terminal.read_until_gone("the disk is full")
        terminal.press("q")
        terminal.read_to_good_end()
        assert_given_back(terminal)
    assert check_integrity(config.with_name("demo.db")).problems == ()


def test_an_engine_that_raises_is_a_state_and_the_console_is_left_as_ever():
    with in_terminal([sys.executable, "-m", "tests.console.pty_child", "failing"]) as terminal:
        terminal.read_until("✗ engine failed")
        terminal.read_until("ZeroDivisionError: a bug of the engine")
        terminal.press("2")
        terminal.read_until("▸2 Failures ")
        terminal.press("q")
        assert terminal.read_to_end() == 3
        assert_given_back(terminal)
        assert "The engine failed: ZeroDivisionError" in summary(terminal)


VIEWS = {
    ("1", "▸1 Origins "): {"?": "Keys · Origins", "s": "Order by", "a": "Add seeds", ":": "an action by its word"},
    ("2", "▸2 Failures "): {"\x10": "Palette"},
    ("3", "▸3 URLs "): {"i": "Why is a URL"},
    ("4", "▸4 Rules "): {"?": "Keys · Rules"},
    ("5", "▸5 Logs "): {"?": "Keys · Logs"},
    ("7", "▸7 Jobs "): {"\x03": "Quit?"},
}
"""Key and tab of views; keys and words of what is opened over each."""
ESCAPE = "\x1b[27u"
"""The key as a terminal spells it that never leaves its end open."""
SIZES = ((1, 1), (500, 200), (2, 60), (40, 10), (120, 40))


def storm(terminal: Terminal, sizes: Sequence[tuple[int, int]] = SIZES) -> None:
    """Many sizes in a row, some of them before the last one is painted."""
    for width, height in sizes:
        resize(terminal, width, height)
        terminal._read(0.1)


def press_until(terminal: Terminal, key: str, reached: Callable[[], bool]) -> None:
    terminal.press(key)
    terminal.read_while(lambda: not reached())


def test_a_storm_of_sizes_on_every_view_and_dialog_raises_nothing():
    with in_terminal([sys.executable, "-m", "tests.console.pty_child"]) as terminal:
        terminal.read_until("running")
        for (view, title), dialogs in VIEWS.items():
            press_until(terminal, view, lambda title=title: title in terminal.text())
            storm(terminal)
            for dialog, words in dialogs.items():
                terminal.press(dialog)
                terminal.read_until(words)
                storm(terminal, SIZES[2:])
                terminal.read_until(words)  # else it seems to be gone before the last size is painted
                press_until(terminal, ESCAPE, lambda words=words: words not in terminal.text())
        terminal.press("q")
        terminal.read_to_good_end()
        assert_given_back(terminal)


def test_a_lone_escape_goes_back():
    with in_terminal([sys.executable, "-m", "tests.console.pty_child"]) as terminal:
        terminal.read_until("running")
        press_until(terminal, "2", lambda: "▸2 Failures " in terminal.text())
        terminal.press("\x1b")
        terminal.read_until("▸1 Origins ")


def test_a_key_in_pieces_is_one_key(monkeypatch):
    monkeypatch.setenv("ESCDELAY", "20000")  # however late the second piece is
    with in_terminal([sys.executable, "-m", "tests.console.pty_child"]) as terminal:
        terminal.read_until("running")
        press_until(terminal, "3", lambda: "▸3 URLs " in terminal.text())
        terminal.press("\x1b[")
        terminal._read(0.05)
        terminal.press("15~")
        terminal._read(0.5)
        assert "▸3 URLs " in terminal.text()  # F5 means nothing; an escape in it would have gone back
        terminal.press("q")
        terminal.read_to_good_end()
