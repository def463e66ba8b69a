"""How fast rows leave, and how much memory that takes: `python -m tests.export.measure [ATTEMPTS]`.

The attempts are copies of one, of as many URLs, written by one statement; every export is a process of its own.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.export.crawl import HOME, store_attempts
from tests.storage.making import plan
from tui_crawler.storage.store import SqliteStore

_URLS = """INSERT INTO url (hash, href)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
SELECT i, 'https://a.example/some/folder/of/pages/number-' || i || '.html' FROM n"""
_ATTEMPTS = """INSERT INTO attempt ({columns}) SELECT {values} FROM attempt a JOIN url u WHERE a.id = 1 AND u.hash > 0
    AND u.hash <= ?"""


async def _begun(path: Path) -> None:
    store = SqliteStore(path)
    await store.begin_run(plan(HOME))
    await store_attempts(store, range(1, 2))
    await store.end_run("exhausted", True)
    store.close()


def make(path: Path, attempts: int) -> None:
    """A database with so many attempts."""
    asyncio.run(_begun(path))
    with closing(sqlite3.connect(path)) as database:
        names = [row[1] for row in database.execute("PRAGMA table_info(attempt)") if row[1] != "id"]
        values = ["u.id" if name == "url_id" else f"a.{name}" for name in names]
        database.execute(_URLS, (attempts,))
        database.execute(_ATTEMPTS.format(columns=", ".join(names), values=", ".join(values)), (attempts,))
        database.commit()


def measure(words: list[str]) -> tuple[float, int]:
    """Seconds and peak resident memory (bytes) of one export."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "tui_crawler", *words])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - began, used.ru_maxrss * 1024


def main() -> None:
    attempts = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "crawl.db"
        make(path, attempts)
        for form in ("jsonl", "csv", "parquet"):
            words = ["export", "attempts", "--format", form, "--db", str(path), "--output", f"{name}/out.{form}"]
            seconds, memory = measure([*words, "--quiet"])
            size = Path(f"{name}/out.{form}").stat().st_size
            print(
                f"{form:8} {attempts / seconds:10,.0f} rows/s {seconds:6.1f} s, start included "
                f"{memory / 1e6:6.0f} MB resident at most {size / 1e6:7.1f} MB written"
            )


if __name__ == "__main__":
    main()
