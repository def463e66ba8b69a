"""Everything the commands print goes through here: answers to stdout, messages to stderr, never a raw byte.
Tables have aligned columns, as wide as the terminal allows."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import math
import os
import queue
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, TypeVar

from tui_crawler.cli.problem import ExitStatus
from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.text.columns import Relation

R = TypeVar("R")

Stream = TextIO | io.TextIOBase

LINE_LIMIT = 8_192
"""The longest line that is printed, in characters; what is longer ends in `…`."""

URL_LIMIT = 2_048
"""The longest URL in a table, in characters."""

MOST_WAITING = 10_000
"""How many lines wait for a reader that takes none; what does not fit is left out and counted."""

STILL_S, HURRY_S = 5.0, 0.3
"""How long (s) the end waits for a reader that takes nothing; and for each output, after a stop."""

ERASE_LINE = "\r\x1b[K"

GAP = 2
"""Cells between two columns of a table."""

_GONE = frozenset({errno.EPIPE, errno.EIO})


class LineQueue(io.TextIOBase):
    """A stream behind a bounded queue and a thread of its own: who writes never waits for who reads. Once it is full,
    pieces are left out until half of it is taken; `left_out` makes the piece that then says how many. `ending`: what
    comes now always fits."""

    def __init__(self, stream: Stream, left_out: Callable[[int], str]) -> None:
        self._stream = stream
        self._left_out = left_out
        self._pieces: queue.Queue[str] = queue.Queue()
        self._missed = self._lost = 0
        self._full = self.ending = False
        self._error: OSError | None = None
        threading.Thread(target=self._hand_on, name="output", daemon=True).start()

    @property
    def pending(self) -> int:
        """How many pieces wait, with the one that is under way."""
        return self._pieces.unfinished_tasks

    def write(self, text: str) -> int:
        """Queue a piece, or leave it out. Raises OSError for what the thread has met."""
        if self._error is not None:
            raise self._error
        most = MOST_WAITING // 2 if self._full else MOST_WAITING
        self._full = not self.ending and self.pending >= most
        if self._full:
            self._missed += 1
            self._lost += 1
            return 0
        if self._missed:
            self._pieces.put(self._left_out(self._missed))
            self._missed = 0
        self._pieces.put(text)
        return len(text)

    def finish(self, still_s: float, most_s: float = math.inf) -> int:
        """Wait until everything is taken, nothing was for `still_s` seconds, or `most_s` are over; return how many
        pieces were not taken. While the stream has room, the thread is late, not the reader: that is waited for."""

        def has_room() -> bool:
            with contextlib.suppress(OSError, ValueError):
                return bool(select.select([], [self._stream.fileno()], [], 0)[1])
            return False

        until, before = time.monotonic() + most_s, -1
        with self._pieces.all_tasks_done:
            while self.pending and (has_room() or (self.pending != before and time.monotonic() < until)):
                before = self.pending
                self._pieces.all_tasks_done.wait(still_s)
        return 0 if self._error else self._lost + self.pending

    def _hand_on(self) -> None:
        while True:
            piece = self._pieces.get()
            try:
                if self._error is None:
                    self._write_out(piece)
            except (OSError, ValueError) as error:  # ValueError: the stream is closed already
                self._error = error if isinstance(error, OSError) else OSError(errno.EBADF, str(error))
            self._pieces.task_done()

    def _write_out(self, text: str) -> None:
        """Write by the descriptor where there is one: Python's own buffer, which the interpreter flushes at its end
        while this thread may be blocked, stays empty and unlocked."""
        try:
            descriptor = self._stream.fileno()
        except (OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
            return
        rest = text.encode(self._stream.encoding, self._stream.errors or "backslashreplace")
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:  # somebody else has made the terminal non-blocking
                select.select([], [descriptor], [])


class Printer:
    """The two output streams; `quiet` leaves out notes. A reader that has gone away closes an output; no error.
    `failed`: the output could not be written for another reason."""

    def __init__(self, out: Stream, err: Stream, *, quiet: bool = False) -> None:
        self._out, self._err, self.quiet = out, err, quiet
        self._still_s, self._most_s = STILL_S, math.inf
        self.closed = self.failed = self._starting = False

    def queue(self, left_out: Callable[[int], str]) -> LineQueue:
        """Print through queues from now on, so that nothing waits for its reader; return the one before stdout.
        `left_out` makes the line that says how many are missing there."""
        self._out = out = LineQueue(self._out, left_out)
        self._err = LineQueue(self._err, lambda number: f"{number} lines are missing here\n")
        return out

    def end(self, *, hurry: bool) -> None:
        """Announce the last lines; in a `hurry` their reader is not waited for."""
        if isinstance(self._out, LineQueue):
            self._out.ending = True
        if hurry:
            self._still_s = self._most_s = HURRY_S

    def finish(self) -> None:
        """Wait for the reader of what was queued, as long as it takes some; count on stderr what it did not take."""
        if isinstance(self._out, LineQueue) and (lost := self._out.finish(self._still_s, self._most_s)):
            self.error(f"{lost} lines of output were not taken by their reader")
        if isinstance(self._err, LineQueue):
            self._err.finish(HURRY_S, HURRY_S)

    def line(self, text: str = "") -> bool:
        """Print one line of the answer at once, control characters spelled out. Return whether somebody still reads."""
        return self.text(safe(_readable(text), LINE_LIMIT) + "\n")

    def lines(self, texts: Iterable[str]) -> None:
        """Prints lines until there are no more or nobody reads them."""
        for text in texts:
            if not self.line(text):
                return

    def document(self, value: object) -> bool:
        """Print one JSON value in ASCII, on a line of its own unless a member of it is an iterator, which is printed
        value by value, however many there are. Return whether somebody still reads."""
        if not isinstance(value, dict) or not any(isinstance(one, Iterator) for one in value.values()):
            return self.text(as_json(value) + "\n")
        opening = "{"
        for key, member in value.items():
            self.text(f"{opening}{as_json(key)}: " + ("[" if isinstance(member, Iterator) else as_json(member)))
            opening, separator = ",\n", "\n"
            if isinstance(member, Iterator):
                for one in member:
                    if not self.text(separator + as_json(one)):
                        return False
                    separator = ",\n"
                self.text("\n]")
        return self.text("}\n")

    def answer(self, as_json: bool, document: Mapping[str, object], lines: Iterable[str]) -> int:
        """Print an answer as one JSON value, else as lines for a person; return the exit status."""
        if as_json:
            self.document(document)
        else:
            self.lines(lines)
        return ExitStatus.ok

    def relation(
        self, name: str, relation: Relation[R], records: Sequence[R], *, as_json: bool, nothing: str = ""
    ) -> int:
        """Print records as one JSON value, else as a table, or that there are none; return the exit status."""
        lines = table(relation, records) if records else (nothing or relation.nothing,)
        return self.answer(as_json, {name: iter(relation.documents(records))}, lines)

    def starting(self) -> None:
        """Show at once that the console starts; its screen, or `started`, erases the line."""
        self._starting = self.text("starting\r")

    def started(self) -> None:
        """Erase what `starting` shows, if it was called."""
        if self._starting:
            self._starting = False
            self.text(ERASE_LINE)

    def note(self, text: str) -> None:
        """Prints a message to stderr, unless quiet is wished."""
        if not self.quiet:
            self.detail(text)

    def error(self, text: str) -> None:
        self.detail(f"tui-crawler: {text}")

    def detail(self, text: str, limit: int = LINE_LIMIT) -> None:
        """Print a further line of an error to stderr, at most `limit` characters of it."""
        try:
            self._err.write(safe(text, limit) + "\n")
            self._err.flush()
        except (OSError, ValueError):
            _silence(self._err)

    def text(self, text: str) -> bool:
        """Print a piece of our own text unchanged. Return whether somebody still reads."""
        if self.closed:
            return False
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError) as error:  # ValueError: the stream is closed already
            self.closed = True
            _silence(self._out)
            if isinstance(error, OSError) and error.errno not in _GONE:
                self.failed = not isinstance(self._out, LineQueue)  # what a run does is no answer
                self.error(f"the output cannot be written: {error.strerror}")
                return not self.failed
        return not self.closed


class Progress:
    """How many things were done so far, on stderr, in place and in a few words ("URLs judged"); silent where that is no
    terminal, and in the first second."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._begun = self._last = time.monotonic()
        self._shown = False

    def __call__(self, count: int) -> None:
        now = time.monotonic()
        if now - self._begun > 1.0 and now - self._last > 0.2 and sys.stderr.isatty():
            self._last, self._shown = now, True
            print(f"\r{count:,} {self._words}".replace(",", " "), end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            self._shown = False
            print(ERASE_LINE, end="", file=sys.stderr, flush=True)


def standard_printer() -> Printer:
    """Return the printer on the standard streams as they are now. Those that the parent has closed take nothing, and no
    file gets their numbers."""
    number = 0
    while number <= 2:
        number = os.open(os.devnull, os.O_RDONLY)
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    return Printer(sys.stdout, sys.stderr)


def as_json(value: object) -> str:
    """One JSON value as ASCII text that a terminal shows and never obeys (DEL is the one control JSON leaves)."""
    return json.dumps(value, ensure_ascii=True, default=str).replace("\x7f", "\\u007f")


def picked(record: object, *names: str) -> dict[str, object]:
    """The attributes of a record as members of a document; in a text of `names` they stand with spaces."""
    return {name: getattr(record, name) for text in names for name in text.split()}


def safe(text: str, *limit: int) -> str:
    """Return `text.safe_text.safe`, which is loaded with the first text that is shown; help shows none."""
    from tui_crawler.text import safe_text

    return safe_text.safe(text, *limit)


def _readable(text: str) -> str:
    """URLs in the letters that they encode where a person reads them: not in a pipe, and no paths in rules."""
    if "%" not in text or not sys.stdout.isatty() or "utf" not in (sys.stdout.encoding or "").lower():
        return text
    from tui_crawler.text import safe_text

    return re.sub(r"https?://\S+", lambda url: safe_text.readable_url(url[0]), text)


def _silence(stream: Stream) -> None:
    """Points a dead standard stream at nothing, so that the interpreter's last flush finds no broken pipe."""
    with contextlib.suppress(OSError, ValueError):
        dead = stream.fileno()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, dead)
        os.close(nothing)


@dataclass(frozen=True, slots=True)
class ColumnFit:
    """What a table gives up to fit in `width` cells: the columns `drops`, by index, the first of them first; and those
    of `shrinks` become narrower, down to so many cells, the first of them first. What is still too wide is cut."""

    width: int
    drops: tuple[int, ...]
    shrinks: Mapping[int, int]


def columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int], squeeze: ColumnFit | None = None
) -> Iterator[str]:
    """The lines of a table of safe texts; the columns whose index is in `right` are numbers and end flush. Without a
    `squeeze` every column is as wide as its widest cell."""
    from rich.cells import cell_len

    from tui_crawler.text.safe_text import clip, fit

    rows = [[_readable(cell) for cell in row] for row in rows]
    whole = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    widths = dict(enumerate(whole)) if squeeze is None else _squeezed(whole, squeeze)
    for row in (header, *rows):
        cells = (fit(row[index], width, "right" if index in right else "left") for index, width in widths.items())
        line = (" " * GAP).join(cells).rstrip()
        yield line if squeeze is None else clip(line, squeeze.width)


def table(relation: Relation[R], records: Iterable[R]) -> Iterator[str]:
    """The lines of a table of records."""
    from tui_crawler.text.cells import Present, cell_text

    present, shown = Present(time.time_ns() // 1_000_000, local_zone()), relation.text_columns
    rows = [
        [safe(cell_text(one.cell(record, present)), *((URL_LIMIT,) if one.kind == "place" else ())) for one in shown]
        for record in records
    ]
    right = frozenset(at for at, one in enumerate(shown) if one.align == "right")
    return columns([one.title for one in shown], rows, right)


def _squeezed(whole: Sequence[int], squeeze: ColumnFit) -> dict[int, int]:
    left = dict(enumerate(whole))
    for index in squeeze.drops:
        least = sum(min(width, squeeze.shrinks.get(one, width)) for one, width in left.items())
        if least + GAP * (len(left) - 1) <= squeeze.width:
            break
        del left[index]
    for index, narrow in squeeze.shrinks.items():
        excess = sum(left.values()) + GAP * (len(left) - 1) - squeeze.width
        left[index] = max(min(narrow, left[index]), left[index] - max(0, excess))
    return left


def local_zone() -> tzinfo:
    """The time zone of this machine."""
    from datetime import UTC, datetime

    return datetime.now(UTC).astimezone().tzinfo or UTC


def terminal_width() -> int | None:
    """How wide the terminal on stdout is, in cells; None where there is none: lines are then as long as they are."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
