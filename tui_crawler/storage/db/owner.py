"""Who holds a database: a process, recognised again by its machine, its number and its start.

On the same machine a dead owner is recognised at once; elsewhere only its lease can tell (docs/behaviour.md).
"""

import os
import socket
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import peewee

from tui_crawler.domain.records.failure import RunHeld
from tui_crawler.storage.db.views import NOW_MS
from tui_crawler.storage.drivers.driver import execute

_PROCESSES = Path("/proc")  # of Linux
_GONE = frozenset("ZX")  # a zombie, or dead (proc(5))
_START_TOLERANCE_MS = 50  # start times are told in clock ticks; two processes of one number are further apart


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. `machine` names the running system and its process numbers: two with the same share them.
    `started_ms` is counted from the start of the system on Linux, so that setting the wall clock kills no owner."""

    host: str
    machine: str
    pid: int
    started_ms: int

    def describe(self) -> str:
        """The owner as messages name it."""
        return f"process {self.pid} on host {self.host}"

    def used_ms(self) -> int | None:
        """The processor time it has used, taken for a process of this machine; None where it is gone."""
        started, used = _times_ms(self.pid) or (None, 0)
        return used if started is not None and abs(started - self.started_ms) <= _START_TOLERANCE_MS else None

    def cpu_ms(self) -> int | None:
        """The processor time it has used; None where it is gone, or on another machine."""
        return self.used_ms() if self.machine == _machine() else None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session that has not ended: its owner, since when, and its lease (all times epoch ms).

    `rest`: it does not run, it only applies operator commands. `shared`: one of several workers, which stops
    at the end of its lease.
    """

    owner: Owner
    since: int
    heartbeat_at: int
    lease_ms: int
    rest: bool = False
    shared: bool = False

    def is_live(self, here: Owner, now: int) -> bool:
        """Whether the owner lives, as far as process `here` can know at `now`; what stands still beyond its lease lives
        only where nothing else ends it."""
        if self.owner.machine != here.machine:
            return self.heartbeat_at + self.lease_ms > now
        return (not self.shared or self.heartbeat_at + self.lease_ms > now) and self.owner.used_ms() is not None

    def describe(self) -> str:
        """The message of RunHeld."""
        since = datetime.fromtimestamp(self.since / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"another run holds this database: {self.owner.describe()}, since {since}"


def this_process() -> Owner:
    """The process that asks."""
    pid = os.getpid()
    return Owner(socket.gethostname(), _machine(), pid, (_times_ms(pid) or (0, 0))[0])


def open_holds(database: peewee.Database) -> tuple[OpenSession, ...]:
    """The sessions of a database that have not ended, oldest first. Raises the drivers' errors.

    The columns are read by name in SQL: every version of the schema has them.
    """
    columns = "host, machine, pid, process_started_ms, started_at, heartbeat_at, lease_ms, rest"
    rows = execute(database, f"SELECT {columns} FROM session WHERE ended_at = 0 ORDER BY id").fetchall()  # noqa: S608
    return tuple(OpenSession(Owner(*row[:4]), *row[4:]) for row in rows)


def check_at_rest(database: peewee.Database) -> None:
    """Raises RunHeld while a process that lives has a session open, and the drivers' errors."""
    now = execute(database, f"SELECT {NOW_MS}").fetchone()[0]
    for hold in open_holds(database):
        if hold.is_live(this_process(), now):
            raise RunHeld(hold.describe())


def _times_ms(pid: int) -> tuple[int, int] | None:
    """When a living process started and how much processor time it has used (ms); None when there is none of this
    number or it is only a zombie."""
    if (_PROCESSES / "self/ns").is_dir():
        return _times_on_linux(pid)
    import psutil  # noqa: PLC0415  only where there is a run; commands that read start sooner without

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        used = process.cpu_times()
        return round(process.create_time() * 1000), round((used.user + used.system) * 1000)
    except psutil.Error:
        return None


def _times_on_linux(pid: int) -> tuple[int, int] | None:
    """The same from the system's own file, which is read in a thousandth of the time that psutil takes to load."""
    try:
        said = (_PROCESSES / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *numbers = said.rpartition(")")[2].split()  # the name before it may hold anything
    if state in _GONE:
        return None
    started, used = int(numbers[18]), int(numbers[10]) + int(numbers[11])
    return round(started * 1000 / os.sysconf("SC_CLK_TCK")), round(used * 1000 / os.sysconf("SC_CLK_TCK"))


def _machine() -> str:
    """One running system with one set of process numbers: host name, and on Linux its boot and pid namespace."""
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    except OSError:
        parts.append(sys.platform)
    return "/".join(parts)
