"""Who holds the lock of the writer, as the system tells it."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from tui_crawler.storage.write_lock import write_lock_holder


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


def test_the_list_is_read_with_care(tmp_path: Path) -> None:
    path, listed = tmp_path / "some.db", tmp_path / "locks"
    assert write_lock_holder(path, listed) == 0
    index = tmp_path / "some.db-shm"
    index.write_bytes(b"")
    assert write_lock_holder(path, listed) == 0, "elsewhere there is no such list"
    node = index.stat().st_ino
    others = [
        f"1: POSIX  ADVISORY  READ 11 fe:00:{node} 120 120",
        f"2: POSIX  ADVISORY  WRITE 12 fe:00:{node} 121 121",
        f"3: POSIX  ADVISORY  WRITE 13 fe:00:{node + 1} 120 120",
        f"4: -> POSIX  ADVISORY  WRITE 14 fe:00:{node} 120 120",
        f"5: POSIX  ADVISORY  WRITE -1 fe:00:{node} 120 120",
        "6: what is this",
    ]
    listed.write_text("\n".join(others), encoding="ascii")
    assert write_lock_holder(path, listed) == 0
    listed.write_text("\n".join([*others, f"7: POSIX  ADVISORY  WRITE 17 fe:00:{node} 120 120"]), encoding="ascii")
    assert write_lock_holder(path, listed) == 17
