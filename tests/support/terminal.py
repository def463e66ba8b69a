"""A child process in a real pseudo terminal that is its controlling terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import pyte

ROOT = Path(__file__).parents[2]
WIDTH, HEIGHT = 120, 40
SIZE_VARIABLES = ("COLUMNS", "LINES")
"""They would win over the size of the terminal; test runners set them."""


class Terminal:
    """A child in a pseudo terminal; `raw` is every byte it wrote, `screen` what a person would see. `ended`: nobody
    writes any more, and nothing that is waited for will come. Who reads one reads all that are open, as people's
    terminals take what comes whether they are looked at or not: a console whose terminal is full stands still."""

    open: ClassVar[list[Terminal]] = []

    def __init__(self, child: subprocess.Popen[bytes], master: int) -> None:
        self.child = child
        self.master = master
        self.raw = bytearray()
        self.ended = False
        self.screen = pyte.Screen(WIDTH, HEIGHT)
        self._text = ""
        self._stream = pyte.ByteStream(self.screen)

    def read_until(self, words: str) -> None:
        """Reads until the words stand on the screen."""
        while words not in self.text():
            assert not self.ended, f"{words!r} not seen in:\n{self.text()}"
            self._read(0.2)

    def read_to_end(self) -> int:
        """Reads until the child has ended; gives its exit status."""
        while self.child.poll() is None:
            self._read(0.1)
        before = -1
        while before != len(self.raw) and not self.ended:  # the terminal hands out a little at a time, and late
            before = len(self.raw)
            self._read(0.5)  # to its end, unless a process that the child has left behind holds it open
        return self.child.returncode

    def read_to_good_end(self) -> None:
        """Reads until the child has ended with the status that its summary explains: 1 where origins of its run
        stopped after errors, as some of the demo's do when they are given the time, else 0."""
        status = self.read_to_end()
        assert status == 0 or (status == 1 and "Stopped after errors: " in self.text()), f"{status}:\n{self.text()}"

    def read_until_gone(self, words: str) -> None:
        """Reads until the words stand on the screen no more."""
        while words in self.text():
            assert not self.ended, f"{words!r} still seen in:\n{self.text()}"
            self._read(0.2)

    def read_while(self, condition: Callable[[], bool]) -> None:
        """Reads as long as something holds."""
        while condition():
            assert not self.ended, f"still so:\n{self.text()}"
            self._read(0.2)

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def clear(self) -> None:
        """Forget what is on the screen."""
        self.screen.reset()
        self._text = ""

    def text(self) -> str:
        if not self._text:  # the cell behind a wide character is empty, so that nothing has to be measured
            rows = (self.screen.buffer[y] for y in range(self.screen.lines))
            cells = range(self.screen.columns)
            self._text = "\n".join("".join([row[x].data for x in cells]).rstrip() for row in rows)
        return self._text

    def _read(self, wait_s: float) -> None:
        until = time.monotonic() + wait_s
        while True:
            living = {one.master: one for one in (self, *Terminal.open) if not one.ended}
            ready = select.select(living, [], [], max(0.0, until - time.monotonic()))[0]
            for master in ready:
                living[master]._take()
            if self.master in ready or time.monotonic() >= until:
                return

    def _take(self) -> None:
        try:
            data = os.read(self.master, 65_536)
        except OSError:  # the other end is closed
            data = b""
        self.ended = not data
        self.raw += data
        self._stream.feed(data)
        self._text = ""


@contextmanager
def in_terminal(command: list[str]) -> Iterator[Terminal]:
    """Runs a command in a terminal of 120 x 40 and ends it at the latest with the block.

    Unless XDG_STATE_HOME is set, what it remembers for the next time is forgotten with the block.
    """
    with TemporaryDirectory() as state:
        yield from _in_terminal(command, {"XDG_STATE_HOME": state, **os.environ})


def _in_terminal(command: list[str], environment: dict[str, str]) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
    kept = {name: value for name, value in environment.items() if name not in SIZE_VARIABLES}
    child = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  no thread runs in this test
    )
    os.close(slave)
    terminal = Terminal(child, master)
    Terminal.open.append(terminal)
    try:
        yield terminal
    finally:
        Terminal.open.remove(terminal)
        if child.poll() is None:
            child.kill()
        child.wait()
        with suppress(OSError):
            os.close(master)
