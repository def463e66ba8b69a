"""Everything the commands print goes through here: answers to stdout, messages to stderr, never a raw byte."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable
from typing import TextIO

LINE_LIMIT = 8_192
"""The longest line that is printed, in characters; what is longer ends in `…`."""


class Printer:
    """Two streams and the wish for quiet. A reader that has gone away closes an output and raises nothing."""

    def __init__(self, out: TextIO, err: TextIO, *, quiet: bool = False) -> None:
        """`quiet` leaves out notes; answers and errors stay."""
        self._out = out
        self._err = err
        self.quiet = quiet
        self.closed = False

    def line(self, text: str = "") -> bool:
        """Prints one line of the answer and hands it on at once; control characters are spelled out.

        Answers whether somebody still reads.
        """
        return self._answer(_plain(text) + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Prints lines until there are no more or nobody reads them."""
        for text in texts:
            if not self.line(text):
                return

    def document(self, value: object) -> bool:
        """Prints one JSON value on a line of its own, in ASCII. Answers whether somebody still reads."""
        return self._answer(as_json(value) + "\n")

    def documents(self, key: str, values: Iterable[object]) -> None:
        """Prints `{"key": [ … ]}` value by value, however many there are."""
        self._answer("{" + as_json(key) + ": [")
        separator = "\n"
        for value in values:
            if not self._answer(separator + as_json(value)):
                return
            separator = ",\n"
        self._answer("\n]}\n")

    def note(self, text: str) -> None:
        """Prints a message to stderr, unless quiet is wished."""
        if not self.quiet:
            self._tell(text)

    def error(self, text: str) -> None:
        """Prints an error to stderr."""
        self._tell(f"tui-crawler: {text}")

    def detail(self, text: str) -> None:
        """Prints a further line of an error to stderr."""
        self._tell(text)

    def _answer(self, text: str) -> bool:
        if self.closed:
            return False
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError) as error:  # ValueError: the stream is closed already
            self.closed = True
            _silence(self._out)
            if isinstance(error, OSError) and error.errno not in {errno.EPIPE, errno.EIO}:
                self.error(f"the answer cannot be written: {error.strerror}")
        return not self.closed

    def _tell(self, text: str) -> None:
        try:
            self._err.write(_plain(text) + "\n")
            self._err.flush()
        except (OSError, ValueError):
            _silence(self._err)


def standard_printer() -> Printer:
    """The printer on the standard streams as they are now."""
    return Printer(sys.stdout, sys.stderr)


def as_json(value: object) -> str:
    """One JSON value as ASCII text that a terminal shows and never obeys (DEL is the one control JSON leaves)."""
    return json.dumps(value, ensure_ascii=True, default=str).replace("\x7f", "\\u007f")


def _plain(text: str) -> str:
    from tui_crawler.console.safe_text import safe

    return safe(text, LINE_LIMIT)


def _silence(stream: TextIO) -> None:
    """Points a dead standard stream at nothing, so that the interpreter's last flush finds no broken pipe."""
    try:
        dead = stream.fileno()
        nothing = os.open(os.devnull, os.O_WRONLY)
    except (OSError, ValueError):
        return
    try:
        os.dup2(nothing, dead)
    finally:
        os.close(nothing)
