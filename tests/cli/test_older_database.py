"""A database of an earlier version: whoever would read it says the same, and only what is to migrate it does."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import CONFIG, Say, Terminal
from tests.cli.crawls import store_crawl
from tests.storage.making import A
from tests.support.older_schema import OLDER, make_older
from tui_crawler.cli import console_command
from tui_crawler.console.app import Operator
from tui_crawler.console.operator.exit_summary import ExitSummary
from tui_crawler.storage.drivers.faults import OlderDatabase, ReadOnlyDatabase
from tui_crawler.storage.migrations import latest_version
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring import console
from tui_crawler.wiring.demo import base_port_of
from tui_crawler.wiring.launch import Launch

READING = (
    "status", "failures", "failures --list", f"why {A}/", f"links {A}/", "audit", "log", "jobs", "rules show",
    f"rules test {A}/", "rules history", "rules preview my.yaml", "export pages --format csv", "exclude --list",
    "pages limbo", "pages stashes", "queue build", "diff",
)  # fmt: skip
STEERING = (
    "pause --all", f"pause {A}", "resume --all", f"stop {A}", "add http://new.example/",
    "retry --exit-code file_not_found", "exclude host x.example", "jobs set news --nice 3",
    f"pages stash s --origin {A}", f"pages probe {A}/", "rules apply my.yaml",
)  # fmt: skip


@pytest.fixture
def older(here: Path) -> Path:
    """The only database here, of an earlier schema."""
    path = store_crawl(here / "crawl.db")
    make_older(path)
    (here / "my.yaml").write_text("rules: []\n")
    return path


@pytest.mark.parametrize("words", [*READING, *STEERING])
def test_every_command_says_the_same_and_leaves_it_alone(words: str, older: Path, say: Say):
    before = hashlib.sha256(older.read_bytes()).digest()
    said = say(*words.split())
    assert (said.status, said.out) == (3, "")
    assert said.err.startswith(f"tui-crawler: {older} has an older schema than this program reads ({latest_version()})")
    assert "`tui-crawler db upgrade` migrates it" in said.err and said.err.count("\n") == 1
    assert hashlib.sha256(older.read_bytes()).digest() == before
    assert {file.name for file in older.parent.iterdir()} == {"crawl.db", "my.yaml"}


def test_it_is_checked_as_it_is(older: Path, say: Say):
    said = say("db", "check")
    assert (said.status, said.err) == (0, "")
    assert said.out == (
        f"{older}: ok (schema {OLDER}; this program reads {latest_version()}: `tui-crawler db upgrade` migrates it)\n"
    )
    assert say("db", "check", "--json").document == {"ok": True, "path": str(older), "problems": [], "schema": OLDER}
    assert {file.name for file in older.parent.iterdir()} == {"crawl.db", "my.yaml"}


def test_what_is_broken_in_it_is_found(older: Path, say: Say):
    with closing(sqlite3.connect(older)) as database, database:
        database.execute("DELETE FROM job WHERE id = (SELECT job_id FROM page LIMIT 1)")
    said = say("db", "check")
    assert said.status == 3
    assert "refers to a missing row of job" in said.out
    assert said.err == f"tui-crawler: {older} is damaged\n"


def test_an_upgrade_makes_it_readable_and_keeps_a_copy(older: Path, say: Say):
    said = say("db", "upgrade").ok
    (copy,) = older.parent.glob("*.bak")
    assert said.out == f"{older}: schema {OLDER} is now {latest_version()}\nbackup: {copy}\n"
    assert say("status").status == 0
    assert say("db", "check").out == f"{older}: ok\n"


class NoScreen:
    """A console that is left at once; what it was made with."""

    def __init__(self, sources: object, operator: Operator, *more: object, **later: object) -> None:
        MADE.append((operator.journal is not None, operator.watches))

    def run_to_end(self) -> ExitSummary:
        return ExitSummary()


MADE: list[tuple[bool, str]] = []


@pytest.fixture
def screens(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, str]]:
    """The consoles that were opened: whether they could write, and why not."""
    monkeypatch.setattr(console, "CrawlerApp", NoScreen)
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
    monkeypatch.setattr(console_command, "sys", SimpleNamespace(stdin=Terminal(), stdout=Terminal()))
    MADE.clear()
    return MADE


def test_a_console_that_only_watches_ends_before_the_screen(older: Path, say: Say, screens: list[tuple[bool, str]]):
    say("--readonly").refused("has an older schema", "`tui-crawler db upgrade` migrates it", status=3)
    assert not screens
    assert {file.name for file in older.parent.iterdir()} == {"crawl.db", "my.yaml"}


def test_so_does_one_on_what_is_no_database(here: Path, say: Say, screens: list[tuple[bool, str]]):
    (here / "crawl.db").write_bytes(b"no database" * 100)
    assert say("--readonly", "--db", "crawl.db").status == 3
    (here / "crawl.db").write_bytes(b"")
    assert say("--readonly", "--db", "crawl.db").status == 3
    assert not screens


def test_a_console_that_may_write_migrates_it(older: Path, say: Say, screens: list[tuple[bool, str]]):
    assert say().status == 0
    assert screens == [(True, "")]
    assert len(list(older.parent.glob("*.bak"))) == 1
    with closing(Reports(older)) as reports:
        assert reports.standing(f"{A}/").page is not None, "known as before"
    assert say("--readonly").status == 0
    assert screens[1:] == [(False, "")]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_cannot_be_written_is_watched_and_the_reason_told(
    what: str, here: Path, screens: list[tuple[bool, str]], monkeypatch: pytest.MonkeyPatch
):
    path = store_crawl(here / "crawl.db", config_text=CONFIG)
    kept = path if what == "file" else path.parent
    monkeypatch.setattr("os.access", lambda place, mode: Path(place) != kept)
    assert console.open_console(None, path, False, Launch()) == 0
    assert screens == [(False, f"the {what} is read-only: {kept}")]
    make_older(path)
    with pytest.raises(OlderDatabase):
        console.open_console(None, path, False, Launch())
    assert len(screens) == 1


def test_a_new_database_where_nothing_can_be_written_is_refused(
    here: Path, screens: list[tuple[bool, str]], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("os.access", lambda place, mode: Path(place) != here)
    with pytest.raises(ReadOnlyDatabase, match="the folder is read-only"):
        console.open_console(None, here / "new.db", False, Launch())
    assert not screens


def test_the_demo_goes_on_at_the_ports_an_older_database_knows(here: Path):
    path = store_crawl(here / "demo.db", *(f"http://127.0.0.1:{port}/" for port in range(20_000, 20_010)), jobs=())
    make_older(path)
    assert base_port_of(path) == 20_000
    assert len(list(here.glob("*.bak"))) == 1
    (here / "none.db").write_bytes(b"no database" * 100)
    assert base_port_of(here / "none.db") is None
    assert base_port_of(here / "absent.db") is None


def test_the_next_run_of_an_older_database_is_compared_with_the_one_before_it(older: Path, say: Say) -> None:
    assert say("db", "upgrade").status == 0
    say("diff").refused("there is only one run")
    store_crawl(older)
    document = say("diff", "--json").document
    assert (document["runs"], document["pages"], document["robots"]) == ([1, 2], [], [])
