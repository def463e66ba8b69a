"""What programs cost that run as processes of their own: time, processor, memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.1  # how often the memory of the processes is looked at


@dataclass(frozen=True, slots=True)
class Spent:
    """`wall` from the first start to the last end (s); `cpu` of all processes, user and system (s); `peak` memory (MB):
    the sum over the processes of what each had at most."""

    wall: float
    cpu: float
    peak: float

    def beyond(self, start: Spent) -> Spent:
        """What was spent after a start that costs `start`."""
        return Spent(max(0.0, self.wall - start.wall), max(0.0, self.cpu - start.cpu), self.peak)


def run_measured(
    commands: Sequence[Sequence[str]],
    folder: Path,
    accepted: frozenset[int] = frozenset({0}),
    environment: Mapping[str, str] | None = None,
) -> Spent:
    """Runs commands at once, with the processes they start, and waits for all of them.

    Raises RuntimeError with what the first one wrote to stderr that ended with another status than one `accepted`.
    """
    began = time.perf_counter()
    with tempfile.TemporaryFile() as complaints:
        processes = [
            subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                env={**os.environ, **(environment or {})},
            )
            for command in commands
        ]
        waiters = [_Waiter(process) for process in processes]
        highest: dict[int, int] = {}
        while any(waiter.is_alive() for waiter in waiters):
            for process in processes:
                _look(process.pid, highest)
            waiters[-1].join(_LOOK_S)
        wall = max(waiter.ended for waiter in waiters) - began
        for process in processes:
            if process.returncode not in accepted:
                complaints.seek(0)
                text = complaints.read().decode(errors="replace")[-4_000:]
                raise RuntimeError(f"{process.args!r} ended with {process.returncode}:\n{text}")
    peaks = sum(highest.values()) or sum(waiter.peak for waiter in waiters)
    return Spent(wall, sum(waiter.cpu for waiter in waiters), peaks / 1024)


class _Waiter(threading.Thread):
    """Waits for a process; knows then when it ended, and what it and those that it waited for have used."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self._process = process
        self.ended = self.cpu = 0.0
        self.peak = 0
        self.start()

    def run(self) -> None:
        _, status, used = os.wait4(self._process.pid, 0)
        self.ended = time.perf_counter()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = used.ru_utime + used.ru_stime
        self.peak = used.ru_maxrss


def _look(pid: int, highest: dict[int, int]) -> None:
    """The most memory (KB) of a process and those it has started, as the system tells it; nothing where it does not."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        started = [path.read_text(encoding="ascii") for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            highest[pid] = int(line.split()[1])
    for children in started:
        for child in children.split():
            _look(int(child), highest)
