"""The terminal on Linux and macOS, so that losing it, or its standing still, never holds up the way out.

Textual writes through a queue of 30 blocks: a terminal that takes no more bytes stops the screen's loop, and one that
is gone ends its writer thread. Here a write is given up soon once the console is leaving.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import signal
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from textual import constants
from textual._time import get_time
from textual._xterm_parser import BRACKETED_PASTE_END, XTermParser
from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from types import FrameType

    from textual.app import App
    from textual.message import Message

ERASE_LINE = "\r\x1b[K"
LOOK_S = 0.25
LOOKS_WHEN_LEAVING = 12
LOOK_KEYS_S, READ_BYTES = 0.1, 4_096
MOST_AHEAD, LOOK_AHEAD_S = 64, 0.005
"""About how many events of the terminal wait for the app at most, and how often that is checked while they do."""
LONGEST_PASTE = 4_194_304
"""Characters of a paste at most; of a longer one the rest is dropped."""
ESC_S = 0.01
"""How long an ESC may be the beginning of a sequence (as long as tmux waits)."""
SIGNAL_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Exit status after a signal (docs/reliability.md, Signals)."""


class TerminalFile:
    """A file to the terminal with a description of its own, so that waiting for it can end."""

    def __init__(self, file: IO[str] | None, terminal_fd: int, *, ascii_only: bool = False) -> None:
        """Opens the terminal behind `terminal_fd` anew where that is possible; else writes to `file`.

        `ascii_only`: no byte above 0x7F is written. `waited_ms` is how long the terminal has let its writer wait so
        far.
        """
        self._file, self._encoding = file, "ascii" if ascii_only else "utf-8"
        self.leaving, self.lost, self.waited_ms = False, False, 0
        self._fd: int | None = None
        with suppress(OSError):
            self._fd = os.open(os.ttyname(terminal_fd), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)

    def write(self, text: str) -> None:
        """Writes; waits for a slow terminal, but not for long while leaving; one that is gone takes everything."""
        if self.lost:
            return
        try:
            if self._fd is None:
                self._plain().write(text.encode(self._encoding, "replace").decode(self._encoding))
            else:
                self._write_all(self._fd, text.encode(self._encoding, "replace"))
        except (OSError, ValueError):
            self.lost = True

    def flush(self) -> None:
        if self._fd is None and not self.lost:
            try:
                self._plain().flush()
            except (OSError, ValueError):
                self.lost = True

    def fileno(self) -> int:
        """The number of the original file."""
        return self._plain().fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._plain().isatty()

    def _plain(self) -> IO[str]:
        if self._file is None:
            raise OSError("there is no terminal to write to")
        return self._file

    def _write_all(self, fd: int, data: bytes) -> None:
        rest, waited = memoryview(data), 0
        while rest:
            began = time.monotonic_ns()
            ready = select.select([], [fd], [], LOOK_S)[1]
            self.waited_ms += (time.monotonic_ns() - began) // 1_000_000
            if not ready:
                waited += self.leaving  # however long it stood still before
                if waited >= LOOKS_WHEN_LEAVING:
                    self.lost = True
                    return
                continue
            with suppress(BlockingIOError):
                rest = rest[os.write(fd, rest[:4_096]) :]
                waited = 0


class KeyParser(XTermParser):
    """Textual's parser of keys; an ESC that comes alone, after a pause, is the key after ESC_S.

    Where anything came just before or with it, bytes of a paste or of a moving mouse may have been cut apart: then, and
    within a sequence that has begun, the rest is waited for as long as Textual does. ESCDELAY (ms) is for all cases.
    """

    _fed_at = 0.0
    _silent = 0  # characters since the last event: only a paste has many
    _dropped: str | None = None  # the last characters of what is dropped; None: nothing is

    @property
    def waits_s(self) -> float:
        """How long it waits for the rest of a sequence, in s from now; endless when it waits for nothing."""
        return math.inf if self._timeout_time is None else max(0.0, self._timeout_time - get_time())

    def feed(self, data: str) -> Iterator[Message]:
        """Takes what was typed, and gives its events."""
        before, self._fed_at = self._fed_at, get_time()
        if self._dropped is not None:
            _, end, after = (self._dropped + data).partition(BRACKETED_PASTE_END)
            self._dropped, data = None if end else (self._dropped + data)[-len(BRACKETED_PASTE_END) :], end + after
        self._silent += len(data)
        for event in super().feed(data) if data else ():
            self._silent = 0
            yield event
        if self._silent >= LONGEST_PASTE and self._dropped is None:
            self._dropped = data[-len(BRACKETED_PASTE_END) :]
        if data == "\x1b" and self._fed_at - before > constants.ESCAPE_DELAY and "ESCDELAY" not in os.environ:
            self._timeout_time = self._fed_at + ESC_S


class PatientDriver(LinuxDriver):
    """Textual's driver, writing through an `TerminalFile`."""

    def __init__(self, app: App[Any], **options: Any) -> None:  # Textual's own signature
        super().__init__(app, **options)
        self.outlet = TerminalFile(self._file, self.fileno, ascii_only=getattr(app, "ascii_only", False))
        self._file = self.outlet  # type: ignore[assignment]  # it has what the writer thread uses of a file
        self.outlet.write(ERASE_LINE)  # "starting": the screen that comes back afterwards is without it

    def start_application_mode(self) -> None:
        """Takes the terminal, with its title."""
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's
        if (signals := getattr(self._app, "signals", None)) is not None:
            self.write(signals.begin())

    def stop_application_mode(self) -> None:
        """Gives it back."""
        if (signals := getattr(self._app, "signals", None)) is not None:
            self.write(signals.end())
        super().stop_application_mode()

    def run_input_thread(self) -> None:
        """Reads keys; a terminal that went away ends it quietly. Textual's own loop looks every 0.1 s only whether the
        wait for the rest of a sequence is over, and bytes that are no UTF-8 end it; here they mean nothing."""
        parser, decode, ahead = KeyParser(), getincrementaldecoder("utf-8")("replace").decode, 0
        try:
            while not self.exit_event.is_set():
                ready = select.select([self.fileno], [], [], min(parser.waits_s, LOOK_KEYS_S))[0]
                read = os.read(self.fileno, READ_BYTES) if ready else b""
                if ready and not read:
                    raise OSError("the terminal has ended")
                typed = decode(read)
                for event in (*(parser.feed(typed) if typed else ()), *parser.tick()):
                    self.process_message(event)
                    ahead += 1
                    if ahead % MOST_AHEAD == 0:
                        self._let_app_follow()
        except (OSError, RuntimeError):  # RuntimeError: the app has closed its loop
            self.outlet.lost = True

    def _let_app_follow(self) -> None:
        """Wait until the app has acted on most of what was typed; the rest stays in the terminal, not in memory."""
        follows = asyncio.run_coroutine_threadsafe(self._app_follows(), self._loop)
        while not (self.exit_event.is_set() or follows.done() or self._loop.is_closed()):  # closed: left by an error
            wait((follows,), LOOK_KEYS_S)

    async def _app_follows(self) -> None:
        while self._waiting() > MOST_AHEAD:  # noqa: ASYNC110  a queue does not say when it becomes shorter
            await asyncio.sleep(LOOK_AHEAD_S)

    def _waiting(self) -> int:
        """Return how many messages wait where most do of the app and what it passes keys and the mouse on to."""
        top = self._app.screen_stack[-1:]
        pumps = self._app, self._app.mouse_over, *top, *(screen.focused for screen in top)
        return max(pump.message_queue_size for pump in pumps if pump is not None)

    def terminal_gone(self) -> bool:
        """Whether the other end of the terminal is closed."""
        if self.outlet.lost:
            return True
        poll = select.poll()
        try:
            poll.register(self.fileno, 0)
            return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
        except OSError:
            return True


def patient_driver() -> type[PatientDriver] | None:
    """The driver for this terminal; None leaves the choice to Textual (an environment variable names another)."""
    return None if os.environ.get("TEXTUAL_DRIVER") else PatientDriver


def catch_signals(caught: Callable[[int], object]) -> Callable[[], None]:
    """Calls `caught` with the exit status on SIGINT, SIGTERM and SIGHUP, in the main thread, even while it waits.

    Answers what puts the former handlers back.
    """

    return _handle_signals(lambda number, _: caught(SIGNAL_STATUS[signal.Signals(number)]))


def pass_signals_on(told: Callable[[int], object]) -> Callable[[], None]:
    """Calls `told` with the number of each of these signals before the handler does what it does anyway.

    Answers what puts the former handlers back.
    """

    def handler(number: int, frame: FrameType | None) -> None:
        told(number)
        if callable(former := before[signal.Signals(number)]):
            former(number, frame)

    before = {number: signal.getsignal(number) for number in SIGNAL_STATUS}
    return _handle_signals(handler)


def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> Callable[[], None]:
    before = {number: signal.signal(number, handler) for number in SIGNAL_STATUS}

    def restore() -> None:
        for number, former in before.items():
            signal.signal(number, former)

    return restore
