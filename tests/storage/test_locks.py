"""A POSIX lock is gone when its process closes *any* descriptor of the file: nothing here may do that while SQLite
holds locks. Otherwise another process takes itself for the last one and removes the write-ahead log in use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.storage.making import T0, A, crawled, fill_of, plan
from tui_crawler.config.load import load_config, read_config
from tui_crawler.storage.db.database import open_readonly, open_writable
from tui_crawler.storage.db.file_identity import examine
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore
from tui_crawler.storage.workers.journal import Journal

LOOK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM attempt").fetchone()[0])
connection.close()
"""


def look_from_elsewhere(path: Path) -> int:
    """How many attempts another process sees, which opens and closes the file as any SQLite tool does."""
    done = subprocess.run([sys.executable, "-c", LOOK, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def open_and_close_a_writer(path: Path) -> None:
    open_writable(path, OpenSettings()).close()


def open_and_close_a_reader(path: Path) -> None:
    open_readonly(path).close()


def open_and_close_a_journal(path: Path) -> None:
    Journal(path).close()


def open_and_close_reports(path: Path) -> None:
    Reports(path).close()


def read_the_stored_configuration(path: Path) -> None:
    read_config(f"seeds: [{A}/]\nuser_agent: x-crawler\ndatabase: {path}\n", "stored")


@pytest.mark.parametrize(
    "act",
    [
        examine,
        open_and_close_a_writer,
        open_and_close_a_reader,
        open_and_close_a_journal,
        open_and_close_reports,
        read_the_stored_configuration,
    ],
)
async def test_what_a_process_does_beside_its_run_keeps_its_locks(tmp_path: Path, act) -> None:
    path = tmp_path / "crawl.db"
    store = SqliteStore(path)
    await store.begin_run(plan(f"{A}/1", f"{A}/2", f"{A}/3"))
    pages = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of(pages))
    await store.settle(crawled(pages[0], T0 + 1))
    act(path)
    assert look_from_elsewhere(path) == 1
    await store.settle(crawled(pages[1], T0 + 2))
    assert look_from_elsewhere(path) == 2
    await store.settle(crawled(pages[2], T0 + 3))
    store.close()
    assert look_from_elsewhere(path) == 3


def test_a_start_reads_the_database_of_its_configuration_before_it_opens_it(tmp_path: Path) -> None:
    config = tmp_path / "crawl.yaml"
    config.write_text(f"seeds: [{A}/]\nuser_agent: x-crawler\ndatabase: junk.db\n", encoding="utf-8")
    (tmp_path / "junk.db").write_text("this is no database\n", encoding="utf-8")
    with pytest.raises(Exception, match="not an SQLite database"):
        load_config(config)
