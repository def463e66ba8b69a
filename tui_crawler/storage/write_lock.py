"""Who holds the lock that a writer of a database takes, as the system's list of locks has it: nothing is opened or
locked to find out, so that nobody is in the way and no lock of this process is lost."""

from __future__ import annotations

from pathlib import Path

_LIST = Path("/proc/locks")  # of Linux; elsewhere, and across process namespaces, nobody is found
_WRITE_BYTE = "120"  # of the index of the write-ahead log (SQLite, wal.c: WAL_WRITE_LOCK)


def write_lock_holder(database: Path, locks: Path = _LIST) -> int:
    """The process that may write to the database just now and shuts all others out; 0: none, or it cannot be told."""
    try:
        index = str(database.with_name(f"{database.name}-shm").stat().st_ino)
        listed = locks.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in listed.splitlines():
        words = line.split()  # "5: POSIX ADVISORY WRITE 4366 fe:00:2162840 120 120"; who only waits has an arrow more
        if len(words) != 8 or words[1:4] != ["POSIX", "ADVISORY", "WRITE"] or not words[4].isdecimal():
            continue
        if words[5].rpartition(":")[2] == index and words[6] == _WRITE_BYTE:
            return int(words[4])
    return 0
