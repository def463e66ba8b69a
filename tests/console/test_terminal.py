"""The console in a real pseudo terminal: what bytes reach it, and how it is left."""

from __future__ import annotations

import codecs
import fcntl
import os
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack

import psutil
import pytest

from tests.console.pty_child import CASES
from tests.support.patience import PATIENT_S
from tests.support.terminal import HEIGHT, WIDTH, Terminal, in_terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")

OWN_COLOUR = "\x1b[38;2;212"
"""How the console itself sets a colour; one payload is the beginning of it."""
HIDDEN = frozenset({0x202E, 0xFEFF, 0xFFF9, 0xFFFB, 0xFFFE, 0xFFFF, 0xFFFD})


def console(mode: str = "") -> AbstractContextManager[Terminal]:
    """The console on made-up data in a terminal of its own."""
    return in_terminal([sys.executable, "-m", "tests.console.pty_child", mode])


def text_of(written: bytes) -> str:
    """What was written, as text: it may begin and end in the middle of a character, and is whole between."""
    return codecs.getincrementaldecoder("utf-8")().decode(written.lstrip(bytes(range(0x80, 0xC0))))


def assert_left_with_an_origin_given_up(terminal: Terminal) -> None:
    """The console hosted the run, and one origin of it has given up: status 1 (docs/behaviour.md), and why."""
    status = terminal.read_to_end()
    shown = terminal.text()
    assert status == 1, f"status {status} after:\n{shown}"
    assert "Stopped after errors: " in shown, shown


ESCAPE = "\x1b[27u"
"""An escape that ends where it ends: a bare one makes one key of itself and the next."""
TOUR = (
    ("\r", "Links refused"),
    ("\x1b[Z\r", "Politeness"),
    (ESCAPE, "Links refused"),
    ("\x1b[Z\r", "Why is it here?"),
    ("oh", "Received"),
    ("ol", "Links to it"),
    ("ob", "Stored body"),
    ("oy", "Stored body"),
    (ESCAPE, "-Stored body"),
    ("or", "What it means"),
    ("ot", "URL or path"),
    ("/x\r", "-URL or path"),
    ("2", "row 1 of 15"),
    ("\t\r", "Why is it here?"),
    ("?", "Keys ·"),
    (ESCAPE, "-Keys ·"),
    ("\x1bOP", "Keys here"),
    (ESCAPE, "-Keys here"),
    ("gj", "Jump"),
    (ESCAPE, "-Jump"),
    ("3", "URLs ·"),
    ("tf", "enter: filter by it"),
    (ESCAPE, "-enter: filter by it"),
    ("4", "in force"),
    ("od", "newly"),
    (ESCAPE, "Discard"),
    ("y", "in force"),
    ("5", "Log"),
    ("7", "Refused links"),
    *(("ts", words) for words in ("Limbo", "Stashes", "Validat", "Runs", "Actions")),
    ("8", "4 at work"),
    ("gq", "no query yet"),
    ("\r", "35 rows"),
    ("fail\r", "of the query before"),
    (" u\t", "union all"),
    (ESCAPE, "-SQL · read-only"),
    ("1", "Origins"),
    ("os", "Stop "),
    ("n", "-Stop "),
    ("\x10", "Palette"),
    (ESCAPE, "-Palette"),
    ("p", "✓ pause"),
)
"""Keys, and the words that are seen after them (with `-`: are gone)."""


def go(terminal: Terminal, tour: Iterable[tuple[str, str]]) -> None:
    """Presses keys, and waits for what each of them shows."""
    for keys, words in tour:
        terminal.press(keys)
        if words.startswith("-"):
            terminal.read_until_gone(words[1:])
        else:
            terminal.read_until(words)


def assert_unheard(written: bytes) -> None:
    """Nothing of what is hostile was written."""
    hostile = [case for case in CASES if not case.isprintable() and not OWN_COLOUR.startswith(case)]
    assert len(hostile) > 20
    text = text_of(written)
    for case in hostile:
        assert case not in text
    assert not [char for char in text if 0x7F <= ord(char) <= 0x9F or ord(char) in HIDDEN]


def test_no_payload_byte_reaches_the_terminal_on_any_screen_nor_after_it() -> None:
    with console("poison") as terminal:
        terminal.read_until("running")
        began = len(terminal.raw)
        go(terminal, TOUR)
        during = bytes(terminal.raw[began:])
        terminal.press("q")
        assert_left_with_an_origin_given_up(terminal)
        after = bytes(terminal.raw).rpartition(b"\x1b[?1049l")[2]
        assert b"Run 7 of" in after
        for written in (during, after):
            assert_unheard(written)


def test_no_payload_byte_reaches_the_terminal_in_the_welcome() -> None:
    with console("welcome") as terminal:
        terminal.read_until("in this folder:")
        began = len(terminal.raw)
        go(terminal, (("jj\r", "FromConfiguration"), ("a", "no limit"), (ESCAPE, "-no limit")))
        assert_unheard(bytes(terminal.raw[began:]))
        terminal.press("q")
        assert terminal.read_to_end() == 0


def test_a_signal_drains_restores_the_terminal_and_decides_the_status() -> None:
    signals = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
    with ExitStack() as stack:
        terminals = [(number, stack.enter_context(console())) for number in signals]
        for number, terminal in terminals:
            terminal.read_until("running")
            terminal.child.send_signal(number)  # a terminal that is left is read at once: it is not waited for long
            assert terminal.read_to_end() == signals[number]
            end = bytes(terminal.raw)
            for switched_on, switched_off in ((b"?1049h", b"?1049l"), (b"?25l", b"?25h"), (b"?1003h", b"?1003l")):
                assert end.rfind(b"\x1b[" + switched_off) > end.rfind(b"\x1b[" + switched_on) >= 0
            assert b"Traceback" not in end
            assert "Run 7 of my-index: stopped" in terminal.text()


def test_a_second_signal_does_not_wait() -> None:
    with console("stubborn") as terminal:
        terminal.read_until("running")
        terminal.child.send_signal(signal.SIGINT)
        terminal.read_until("Finishing 12 requests")
        terminal.child.send_signal(signal.SIGINT)
        assert terminal.read_to_end() == 130
        assert "stopped by force" in terminal.text()


def test_a_closed_terminal_ends_it() -> None:
    with console() as terminal:
        terminal.read_until("running")
        os.close(terminal.master)
        assert terminal.child.wait(PATIENT_S) == 129


def test_a_terminal_that_takes_no_more_bytes_does_not_hold_up_the_way_out() -> None:
    with console("restless") as terminal:
        terminal.read_until("running")
        fill_up(terminal)
        terminal.child.send_signal(signal.SIGTERM)
        assert terminal.child.wait(PATIENT_S) == 143


def fill_up(terminal: Terminal) -> None:
    """Reads nothing until the terminal's buffer stops growing: the child's next write has nowhere to go."""
    before, same = -1, 0
    while same < 3:
        waiting = struct.unpack("i", fcntl.ioctl(terminal.master, termios.FIONREAD, b"\0" * 4))[0]
        same = same + 1 if waiting == before else 0
        before = waiting
        select.select([], [], [], 0.3)


def test_resizing_storms_raise_nothing() -> None:
    with console("restless") as terminal:
        terminal.read_until("running")
        for width, height in ((1, 1), (500, 200), (39, 9), (40, 10), (80, 24), (250, 70), (WIDTH, HEIGHT)):
            fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
            terminal._read(0.05)
        terminal.press("?")
        terminal.read_until("Keys · Origins")
        terminal.press("\x1b[27u")  # escape, as a terminal spells it that never leaves its end open
        terminal.read_until_gone("Keys · Origins")
        terminal.press("q")
        assert_left_with_an_origin_given_up(terminal)
        assert b"Traceback" not in terminal.raw


def test_a_byte_that_is_no_utf8_is_let_be_and_after_ctrl_z_the_whole_screen_comes_back() -> None:
    with console("attached") as terminal:
        terminal.read_until("Events")
        os.write(terminal.master, b"\xe9\xff")
        terminal.press("2")
        terminal.read_until("By exit code")
        terminal.press("\x1a")
        terminal.read_while(lambda: b"\x1b[?1049l" not in terminal.raw)
        terminal.read_while(lambda: psutil.Process(terminal.child.pid).status() != psutil.STATUS_STOPPED)
        terminal.clear()
        terminal.child.send_signal(signal.SIGCONT)
        for words in ("my-index", "By exit code", "Page", "Failures"):
            terminal.read_until(words)
        terminal.press("q")
        terminal.read_to_end()
