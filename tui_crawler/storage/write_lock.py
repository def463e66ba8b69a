"""Who holds the lock that a writer of a database takes, as the system's list of locks has it: nothing is opened or
locked to find out, so that nobody is in the way and no lock of this process is lost."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_PROCESSES = Path("/proc")  # of Linux; elsewhere, and across process namespaces, nobody is found
_WRITE_BYTE = "120"  # of the index of the write-ahead log (SQLite, wal.c: WAL_WRITE_LOCK)


def write_lock_holder(database: Path, processes: Path = _PROCESSES) -> int:
    """The process that may write to the database just now and shuts all others out; 0: none, or it cannot be told.

    An inode has its number on one device only. Some file systems (btrfs, overlayfs) tell another device of a file than
    the list of locks does: then the process must have the file open.
    """
    index = database.with_name(f"{database.name}-shm")
    try:
        file = index.stat()
        listed = (processes / "locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}"
    elsewhere: list[int] = []
    for line in listed.splitlines():
        words = line.split()  # "5: POSIX ADVISORY WRITE 4366 fe:00:2162840 120 120"; who only waits has an arrow more
        if len(words) != 8 or words[1:4] != ["POSIX", "ADVISORY", "WRITE"] or not words[4].isdecimal():
            continue
        on, _, inode = words[5].rpartition(":")
        if inode == str(file.st_ino) and words[6] == _WRITE_BYTE:
            if on == device:
                return int(words[4])
            elsewhere.append(int(words[4]))
    return next((process for process in elsewhere if _has_open(processes / str(process), index, file)), 0)


def _has_open(process: Path, index: Path, file: os.stat_result) -> bool:
    """Whether a process has a file open, as far as its descriptors may be seen; only one of that name is looked at."""
    try:
        descriptors = list((process / "fd").iterdir())
    except OSError:
        return False
    for descriptor in descriptors:
        with contextlib.suppress(OSError):  # closed meanwhile
            if descriptor.readlink().name == index.name and os.path.samestat(descriptor.stat(), file):
                return True
    return False
