"""A program in a pseudo terminal, timed by its bytes, for `benchmarks.console`."""

from __future__ import annotations

import fcntl
import math
import os
import pty
import random
import re
import select
import struct
import subprocess
import tempfile
import termios
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyte

from tui_crawler.text.glyphs import CURSOR

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 120, 40
LEAST_S, MOST_S = 0.15, 1.6  # between two keys; orders change a second after the last one
BETWEEN_S = (1.2, 1.6)  # in a turn: what is read meanwhile has come
PATIENT_S = 30.0
PANE_END, NAME = "╰", "site"
WAY_DOWN, UP_AND_DOWN = b"\x1b[6~" * 3, (b"j", b"k")  # three pages
UNWANTED = {"COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE"}
BYTECODE = Path(tempfile.gettempdir()) / f"tui-crawler-bytecode-{os.getuid()}"
WANTED = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "PYTHONPATH": str(ROOT),
    "PYTHONPYCACHEPREFIX": str(BYTECODE),
}
"""An installed program has its bytecode: it is made by the first start, which is not measured."""


@dataclass(frozen=True, slots=True)
class Seen:
    """When a word had come, in ms after the start, and what had been read from the disk by then, in MiB."""

    ms: float
    read_mib: float


@dataclass(frozen=True, slots=True)
class Keys:
    """How long each key took to move the cursor, in ms, shortest first, and how many never did. `own` are the times
    less what the child waited for a processor that others had."""

    times: tuple[float, ...]
    unanswered: int
    own: tuple[float, ...] = ()

    def percentile(self, percent: int) -> float:
        """The time that `percent` of the keys kept within."""
        if not self.times:
            return float("inf")
        return self.times[min(len(self.times) - 1, len(self.times) * percent // 100)]

    @property
    def worst(self) -> float:
        """The longest time."""
        return self.percentile(100)


class Console:
    """A child in a pseudo terminal. What it writes is kept with the time it came, and looked at afterwards."""

    def __init__(self, child: subprocess.Popen[bytes], master: int, began: float) -> None:
        self._child = child
        self._process = psutil.Process(child.pid)
        self._master = master
        self._began = began
        self._chunks: list[tuple[float, bytes]] = []
        self._waited: dict[float, float] = {}
        self._screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.ByteStream(self._screen)
        self._name = NAME
        self.count = 0

    @classmethod
    @contextmanager
    def start(cls, command: list[str]) -> Iterator[Console]:
        """Runs a command in a terminal of 120 x 40, and ends it with the block."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
        with tempfile.TemporaryDirectory() as state:  # how a console looked before this one is not remembered
            began = time.perf_counter()
            child = subprocess.Popen(
                command,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=ROOT,
                env={**kept, **WANTED, "XDG_STATE_HOME": state},
                start_new_session=True,
            )
            os.close(slave)
            try:
                yield cls(child, master, began)
            finally:
                if child.poll() is None:
                    child.kill()
                child.wait()
                os.close(master)

    def read_for(self, wait_s: float) -> None:
        """Reads what comes."""
        until = time.perf_counter() + wait_s
        while (left := until - time.perf_counter()) > 0:
            self._read(left)

    def read_until_quiet(self, quiet_s: float, longest_s: float) -> None:
        """Reads what comes until something has come and then nothing for so long."""
        until = time.perf_counter() + longest_s
        came = False
        while (left := until - time.perf_counter()) > 0:
            if self._read(min(left, quiet_s)):
                came = True
            elif came:
                return

    def forget(self) -> None:
        """Drops what has come: it is not to be painted."""
        self._chunks.clear()
        self._waited.clear()

    @property
    def process_id(self) -> int:
        """That of the child."""
        return self._child.pid

    def first_seen(self, *words: bytes) -> tuple[Seen, ...]:
        """When each of the words had come. Raises TimeoutError."""
        found: dict[bytes, Seen] = {}
        seen = b""
        until = self._began + PATIENT_S
        while len(found) < len(words):
            if time.perf_counter() > until or self._child.poll() is not None:
                raise TimeoutError(f"{words} not seen in {seen[-2_000:]!r}")
            if self._read(0.05):
                at, data = self._chunks[-1]
                seen += data
                now = Seen((at - self._began) * 1_000, self._read_mib())
                found |= {word: now for word in words if word not in found and word in seen}
        return tuple(found[word] for word in words)

    def press_randomly(
        self, presses: int, chance: random.Random, name: str = NAME, way: bytes = WAY_DOWN, most_s: float = MOST_S
    ) -> Keys:
        """Presses j or k at random times, at most `most_s` apart, some way down the table; what came before is only
        painted. `name` is in the word by which a row is known, `way` are the keys that lead down."""
        self._name = name
        self.press(way)
        self.read_for(2)
        self._replay([])
        pressed: list[float] = []
        for _ in range(presses):
            self.read_for(chance.uniform(LEAST_S, most_s))
            pressed.append(time.perf_counter())
            self._waited[pressed[-1]] = self._waited_ms()
            self.press(chance.choice(UP_AND_DOWN))
        self.read_for(2)
        return self._replay(pressed)

    def press_in_turn(
        self, turn: Sequence[tuple[str, bytes, str]], turns: int, chance: random.Random
    ) -> dict[str, Keys]:
        """Presses the keys of a turn one after the other, and that many turns after a first one, which opens everything
        and is not counted. A key is answered when its word (a regular expression) stands on the screen; of what has one
        name, such as back from any view, the times are told together."""
        pressed: list[tuple[float, str, str]] = []
        for number in range(turns + 1):
            for name, key, word in turn:
                pressed.append((time.perf_counter(), name if number else "", word))
                self._waited[pressed[-1][0]] = self._waited_ms()
                self.press(key.replace(b"#", b"%d" % number))
                self.read_for(chance.uniform(*BETWEEN_S))
        found: dict[str, list[tuple[float, float]]] = {name: [] for name, _, _ in turn}
        missed = Counter[str]()
        ends = [at for at, _, _ in pressed[1:]] + [math.inf]
        chunks = deque(self._chunks)
        self._chunks.clear()
        for (began, name, word), end in zip(pressed, ends, strict=True):
            answered = None
            while chunks and chunks[0][0] < end:
                at, data = chunks.popleft()
                self._stream.feed(data)
                if answered is None and at >= began and re.search(word, "\n".join(self._screen.display)):
                    took = (at - began) * 1_000
                    answered = took, took - self._waited[at] + self._waited[began]
            if name and answered is not None:
                found[name].append(answered)
            missed[name] += answered is None
        return {
            name: Keys(tuple(sorted(took for took, _ in times)), missed[name], tuple(sorted(own for _, own in times)))
            for name, times in found.items()
        }

    def press(self, keys: bytes) -> None:
        """Writes keys."""
        os.write(self._master, keys)

    def processor_s(self) -> float:
        """The processor time it has used, in s; that of processes it has started is not in it."""
        used = self._process.cpu_times()
        return used.user + used.system

    def processor_of_children_s(self) -> float:
        """The processor time that the processes which it has started, and those of theirs, have used so far, in s."""
        used = (one.cpu_times() for one in self._process.children(recursive=True))
        return sum(one.user + one.system for one in used)

    def memory_mib(self) -> float:
        """Its resident memory, in MiB."""
        return self._process.memory_info().rss / 2**20

    def _waited_ms(self) -> float:
        """How long its first thread was ready so far and had no processor; 0 where the system does not tell."""
        with suppress(OSError):
            waited = Path(f"/proc/{self._child.pid}/task/{self._child.pid}/schedstat").read_text(encoding="ascii")
            return int(waited.split()[1]) / 1e6
        return 0.0

    def _read_mib(self) -> float:
        """What it has had read from the disk so far, in MiB; not a number where the system does not tell."""
        if not hasattr(self._process, "io_counters"):
            return math.nan
        return self._process.io_counters().read_bytes / 2**20

    def quit(self) -> None:
        """Leaves it by its key."""
        self.press(b"q")
        until = time.perf_counter() + PATIENT_S
        while self._child.poll() is None and time.perf_counter() < until:
            self._read(0.1)

    def _read(self, wait_s: float) -> bool:
        if not select.select([self._master], [], [], wait_s)[0]:
            return False
        with suppress(OSError):  # the other end is closed
            data = os.read(self._master, 65_536)
            self._chunks.append((time.perf_counter(), data))
            self._waited[self._chunks[-1][0]] = self._waited_ms()
            self.count += len(data)
            return True
        time.sleep(wait_s)
        return False

    def _replay(self, pressed: list[float]) -> Keys:
        """Paints all chunks in their order; a key is answered by the first that puts the cursor on another row."""
        times: list[float] = []
        own: list[float] = []
        coming = list(reversed(pressed))
        waiting: float | None = None
        here = self._cursor_row()
        for at, data in self._chunks:
            while coming and coming[-1] <= at:
                waiting = coming.pop()
            self._stream.feed(data)
            row = self._cursor_row()
            if row and row != here:
                here = row
                if waiting is not None:
                    times.append((at - waiting) * 1_000)
                    own.append(times[-1] - self._waited[at] + self._waited[waiting])
                    waiting = None
        self._chunks.clear()
        return Keys(tuple(sorted(times)), len(pressed) - len(times), tuple(sorted(own)))

    def _cursor_row(self) -> str:
        """Which row of the first table the cursor stands before: the words that name it."""
        for line in self._screen.display:
            if line.startswith(PANE_END):
                break
            if CURSOR in line[:4]:
                named = [word for word in line.split() if self._name in word]
                return named[0] if named else " ".join(line.split()[:3])
        return ""
