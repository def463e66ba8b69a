"""Who holds the lock of the writer, as the system tells it."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from tui_crawler.storage.db.file_identity import write_lock_holder


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the locks of all processes")
def test_who_writes_just_now_is_found_and_who_only_reads_is_not(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (a)")
    assert write_lock_holder(path) == 0
    writer.execute("BEGIN EXCLUSIVE")
    assert write_lock_holder(path) == os.getpid()
    writer.execute("ROLLBACK")
    writer.execute("BEGIN")
    assert writer.execute("SELECT count(*) FROM t").fetchone() == (0,)
    assert write_lock_holder(path) == 0
    writer.close()


class System:
    """A database with its index, and a list of locks and descriptors as the system shows them."""

    def __init__(self, folder: Path) -> None:
        self.path, self.index, self.processes = folder / "some.db", folder / "some.db-shm", folder / "proc"
        self.processes.mkdir()
        self.index.write_bytes(b"")
        self.node, number = self.index.stat().st_ino, self.index.stat().st_dev
        self.device = f"{os.major(number):02x}:{os.minor(number):02x}"
        self.other = f"{os.major(number) + 1:02x}:{os.minor(number):02x}"

    def holder(self, *lines: str) -> int:
        """The answer where these are the locks."""
        (self.processes / "locks").write_text("\n".join(lines), encoding="ascii")
        return write_lock_holder(self.path, self.processes)

    def open(self, process: int, file: Path) -> None:
        """Has a process open a file."""
        folder = self.processes / str(process) / "fd"
        folder.mkdir(parents=True)
        (folder / "0").symlink_to("/dev/null")
        (folder / "3").symlink_to(file)


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


def test_the_list_is_read_with_care(system: System) -> None:
    at = f"{system.device}:{system.node}"
    assert write_lock_holder(system.path, system.processes) == 0, "elsewhere there is no such list"
    others = [
        f"1: POSIX  ADVISORY  READ 11 {at} 120 120",
        f"2: POSIX  ADVISORY  WRITE 12 {at} 121 121",
        f"3: POSIX  ADVISORY  WRITE 13 {system.device}:{system.node + 1} 120 120",
        f"4: -> POSIX  ADVISORY  WRITE 14 {at} 120 120",
        f"5: POSIX  ADVISORY  WRITE -1 {at} 120 120",
        "6: what is this",
    ]
    assert system.holder(*others) == 0
    assert system.holder(*others, f"7: POSIX  ADVISORY  WRITE 17 {at} 120 120") == 17


def test_a_file_of_the_same_number_on_another_device_is_another_one(system: System) -> None:
    elsewhere = f"1: POSIX  ADVISORY  WRITE 11 {system.other}:{system.node} 120 120"
    here = f"2: POSIX  ADVISORY  WRITE 12 {system.device}:{system.node} 120 120"
    assert system.holder(elsewhere) == 0
    assert system.holder(elsewhere, here) == 12
    system.open(11, system.index.with_name("other.db-shm"))
    assert system.holder(elsewhere) == 0


def test_where_the_device_is_told_otherwise_the_process_must_have_the_file_open(system: System) -> None:
    line = "{n}: POSIX  ADVISORY  WRITE {n} " + f"{system.other}:{system.node} 120 120"
    listed = [line.format(n=number) for number in (11, 12, 13)]
    copy = system.processes / system.index.name
    copy.write_bytes(b"")
    system.open(11, copy)
    assert system.holder(*listed) == 0, "a file of that name, but another one"
    system.open(13, system.index)
    assert system.holder(*listed) == 13
    here = f"9: POSIX  ADVISORY  WRITE 9 {system.device}:{system.node} 120 120"
    assert system.holder(*listed, here) == 9, "who is told with the right device comes first"
