"""`db copy`: what it says, and what it refuses."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import store_crawl
from tui_crawler.domain.records.failure import StorageHeldUp
from tui_crawler.storage import database_copy


@pytest.fixture
def crawl(here: Path) -> Path:
    """A crawl that nobody holds, with a segment that waits."""
    path = store_crawl(here / "crawl.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE session SET ended_at = 1")
        database.execute("INSERT INTO segment (name, path) VALUES ('one', 'segments/one.segment')")
    return path


def rows_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        count: int = database.execute("SELECT COUNT(*) FROM url").fetchone()[0]
        return count


def test_it_says_what_was_copied_and_what_was_not(crawl: Path, say: Say) -> None:
    copy = crawl.with_name("copy.db")
    said = say("db", "copy", "crawl.db", "copy.db").ok
    assert said.out.startswith(f"{crawl} is copied to {copy}: ")
    left = crawl.parent / "segments" / "one.segment"
    assert said.err == f"not copied: {left}; `tui-crawler queue load {left} --db {copy}` loads it\n"
    assert rows_in(copy) == rows_in(crawl) > 0
    assert say("status", "--db", "copy.db").status == 0


def test_as_json(crawl: Path, say: Say) -> None:
    told: Any = say("db", "copy", "crawl.db", "copy.db", "--json", "--quiet").document
    assert set(told) == {
        "from", "to", "tables", "rows", "bytes", "seconds", "resumed_rows", "changed_texts", "not_copied"
    }  # fmt: skip
    urls = next(table for table in told["tables"] if table["table"] == "url")
    assert (urls["rows"], len(urls["hash"])) == (rows_in(crawl), 32)
    assert told["rows"] == sum(table["rows"] for table in told["tables"])
    assert told["bytes"] == sum(table["bytes"] for table in told["tables"])
    assert told["not_copied"] == [str(crawl.parent / "segments" / "one.segment")]


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (StorageHeldUp, 3)])
def test_interrupted_it_says_how_it_goes_on(
    error: type[BaseException], status: int, crawl: Path, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(database_copy._Copier, "_verify", interrupt)
        said = say("db", "copy", "crawl.db", "copy.db")
    assert (said.status, said.out) == (status, "")
    assert said.err.startswith("interrupted; run the same command again to continue\n")
    for words in ("status", "failures", "db check", "db upgrade", "pause --all", "export pages --format csv"):
        say(*words.split(), "--db", "copy.db").refused("is not finished; `tui-crawler db copy FROM", status=3)
    again = say("db", "copy", "crawl.db", "copy.db", "--json")
    assert (again.status, again.document["resumed_rows"]) == (0, again.document["rows"])


def test_what_it_refuses(crawl: Path, say: Say) -> None:
    assert say("db", "copy", "nowhere.db", "copy.db").status == 2
    assert say("db", "copy", "crawl.db").status == 2
    server = "postgresql://me:secret@db.example.org/crawl"
    assert "passwords of their own" in say("db", "copy", server, server.replace("secret", "other")).err
    store_crawl(crawl.with_name("other.db"))
    said = say("db", "copy", "crawl.db", "other.db")
    assert (said.status, said.out) == (3, "")
    assert said.err == f"tui-crawler: {crawl.with_name('other.db')} holds a crawl already; it was not touched\n"
