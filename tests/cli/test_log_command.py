"""`log`: what happened and what was asked for as one, listed and followed."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import A, B, store_crawl
from tests.export.crawl import store_crawl as store_attempts
from tui_crawler.cli.log_command import ActivityLog, follow
from tui_crawler.domain.records.command import PauseOrigins
from tui_crawler.domain.records.failure import StorageHeldUp
from tui_crawler.domain.records.operator_view import ActionView, ActivityView
from tui_crawler.domain.records.view import AttemptView
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.journal import Journal


def ask(path: Path, *origins: str) -> int:
    """Writes an action into the journal, where it waits."""
    with closing(Journal(path)) as journal:
        return journal.send(PauseOrigins(origins), "ann\x1b")


def finish(path: Path, action_id: int, error: str = "") -> None:
    """Notes that an action was carried out, or why it could not be."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            'UPDATE operator_action SET applied_at = 1, "after" = ?, error = ? WHERE id = ?',
            ("" if error else "{}", error, action_id),
        )


def happen(path: Path, event: str, message: str = "", at: int = 0, count: int = 1) -> None:
    """Writes entries into the activity log."""
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany(
            "INSERT INTO activity (at, run_id, origin_id, event, message) VALUES (?, 1, 0, ?, ?)",
            [(at, event, message)] * count,
        )


class TestList:
    def test_both_logs_in_the_order_of_time(self, crawl: Path, say: Say):
        say("pages", "stash", "later", f"{A}/one")
        entries = say("log", "--json").document["log"]
        assert all(before["at"] <= after["at"] for before, after in pairwise(entries))
        assert {"run_started", "run_finished", "pages_stashed"} <= {one.get("event") for one in entries}
        (action,) = (one for one in entries if one["kind"] == "action")
        assert list(action) == [
            *("kind", "at", "who", "action", "target", "before", "after", "undone", "applied", "error"),
            *("command", "command_line"),
        ]
        assert (action["action"], action["target"], action["after"]) == ("stash", "later", {"pages": {A: 1}})
        assert action["command"]["urls"] == [f"{A}/one"]
        assert action["command_line"] == f"tui-crawler pages stash later {A}/one"
        (stashed,) = (one for one in entries if one.get("event") == "pages_stashed")
        assert list(stashed) == ["kind", "at", "event", "origin", "run_id", "message"]
        assert entries.index(action) < entries.index(stashed)

    def test_lines(self, crawl: Path, say: Say):
        finish(crawl, ask(crawl, A), "no such \x1b[2Jthing")
        ask(crawl)
        happen(crawl, "strange\x1b", "with \x9b a control", at=1)
        said = say("log")
        assert (said.status, said.err) == (0, "")
        assert "strange\\x1b" in said.out.splitlines()[0]
        assert f"  pause               {A}  (by ann\\x1b; refused: no such \\x1b[2Jthing)\n" in said.out
        assert "  pause               all  (by ann\\x1b; not applied yet)\n" in said.out

    def test_what_was_asked_for_is_told_with_its_value(self, crawl: Path, say: Say):
        say("delay", A, "7s")
        say("exclude", "host", "c.example", "--reason", "they asked")
        out = say("log").out
        assert f"  delay               {A} 7s  (by " in out
        assert "  exclude             host c.example --reason 'they asked'  (by " in out

    def test_the_newest_are_shown_and_the_last_is_the_newest(self, crawl: Path, say: Say):
        happen(crawl, "of_old", at=1, count=60)
        happen(crawl, "of_late", at=4_000_000_000_000)
        assert len(say("log").out.splitlines()) == 50
        last = say("log", "--limit", "2").out.splitlines()
        assert len(last) == 2
        assert "of_late" in last[-1]

    def test_attempts_are_in_the_list_where_they_are_asked_for(self, here: Path, say: Say):
        asyncio.run(store_attempts(here / "attempts.db"))
        entries = say("log", "--attempts", "--json", "--db", "attempts.db").document["log"]
        assert all(before["at"] <= after["at"] for before, after in pairwise(entries))
        (missing,) = [one["attempt"] for one in entries if one.get("attempt", {}).get("exit_code") == "file_not_found"]
        assert (missing["url"], missing["http_status"], missing["kind"]) == (f"{A}/gone", 404, "page")
        said = say("log", "--attempts", "--db", "attempts.db")
        (line,) = [line for line in said.out.splitlines() if "file_not_found" in line]
        assert f"  page                file_not_found 404  {A}/gone" in line
        assert "file_not_found" not in say("log", "--db", "attempts.db").out
        assert "file_not_found" not in say("log", "--attempts", "--origin", B, "--db", "attempts.db").out

    def test_what_concerns_an_origin(self, crawl: Path, say: Say):
        finish(crawl, ask(crawl, A))
        finish(crawl, ask(crawl, B))
        finish(crawl, ask(crawl))
        entries = say("log", "--origin", "a.example", "--json").document["log"]
        assert [one["target"] for one in entries if one["kind"] == "action"] == [A, "all"]
        assert {one["origin"] for one in entries if one["kind"] == "activity"} == {A}

    def test_an_origin_is_not_taken_for_one_that_begins_like_it(self, here: Path, say: Say):
        crawl = store_crawl(here / "other.db", f"{A}/", f"{A}:8443/", f"{A}.org/")
        for origin in (f"{A}:8443", f"{A}.org"):
            finish(crawl, ask(crawl, origin))
        entries = say("log", "--origin", A, "--json").document["log"]
        assert [one for one in entries if one["kind"] == "action"] == []

    @pytest.mark.parametrize("words", [("--limit", "0"), ("--origin", "https://a.exmaple"), ("more",)])
    def test_what_is_wrong(self, words: tuple[str, ...], crawl: Path, say: Say):
        say("log", *words).refused()


HELD_UP = StorageHeldUp("the server is away")


class TestFollow:
    def test_it_goes_on_with_what_happens(self, crawl: Path):
        told: list[ActivityView | ActionView] = []
        notes: list[str] = []
        steps: list[Callable[[], object]] = [
            lambda: happen(crawl, "first"),
            lambda: None,
            lambda: happen(crawl, "many", count=1_500),
            lambda: ask(crawl, A),
            lambda: finish(crawl, 1),
            lambda: happen(crawl, "last"),
        ]

        def wait(_: float) -> None:
            steps.pop(0)()

        def tell(entry: ActivityView | ActionView) -> bool:
            told.append(entry)
            return not (isinstance(entry, ActivityView) and entry.event == "last")

        with closing(Reports(crawl)) as reports:
            log = ActivityLog(reports, "")
            follow(log.more, log.newest(1), tell, wait, notes.append)
        assert notes == []
        names = [one.action if isinstance(one, ActionView) else one.event for one in told]
        assert names == ["run_finished", "first", *["many"] * 1_500, "pause", "last"]

    def test_attempts_are_told_once_each_as_they_come(self, here: Path):
        asyncio.run(store_attempts(here / "attempts.db"))
        with closing(Reports(here / "attempts.db")) as reports:
            log = ActivityLog(reports, "", attempts=True)
            before = [one for one in log.newest(1_000) if isinstance(one, AttemptView)]
            assert log.more() == []
            with closing(sqlite3.connect(here / "attempts.db")) as database, database:
                names = ", ".join(row[1] for row in database.execute("PRAGMA table_info(attempt)") if row[1] != "id")
                database.execute(f"INSERT INTO attempt ({names}) SELECT {names} FROM attempt ORDER BY id LIMIT 2")
            added = log.more()
            ids = [one.attempt_id for one in added if isinstance(one, AttemptView)]
            assert ids == [len(before) + 1, len(before) + 2]
            assert len(added) == 2
            assert log.more() == []

    def test_what_is_written_after_the_list_was_read_is_not_missed(self, crawl: Path):
        told: list[str] = []

        def tell(entry: ActivityView | ActionView) -> bool:
            told.append(entry.action if isinstance(entry, ActionView) else entry.event)
            return told[-1] != "meanwhile"

        with closing(Reports(crawl)) as reports:
            log = ActivityLog(reports, "")
            entries = log.newest(1)
            happen(crawl, "meanwhile")
            follow(log.more, entries, tell, _interrupt, _no_note)
        assert told == ["run_finished", "meanwhile"]

    def test_an_action_that_waited_is_told_again_once_it_was_carried_out(self, crawl: Path):
        waiting = ask(crawl, A)
        with closing(Reports(crawl)) as reports:
            log = ActivityLog(reports, "")
            assert [one.applied for one in log.newest(5) if isinstance(one, ActionView)] == [False]
            assert log.more() == []
            finish(crawl, waiting)
            (again,) = log.more()
            assert isinstance(again, ActionView)
            assert again.applied
            assert log.more() == []

    def test_one_json_object_an_entry_until_interrupted(self, crawl: Path, say: Say, monkeypatch: pytest.MonkeyPatch):
        waits = iter((lambda: happen(crawl, "one more"), _interrupt))
        monkeypatch.setattr("tui_crawler.cli.log_command.time.sleep", lambda _: next(waits)())
        said = say("log", "--follow", "--json", "--limit", "2")
        assert said.status == 130
        entries = [json.loads(line) for line in said.out.splitlines()]
        assert [one["event"] for one in entries[1:]] == ["run_finished", "one more"]

    def test_what_holds_the_database_up_is_noted_once_and_nothing_is_missed(
        self, crawl: Path, monkeypatch: pytest.MonkeyPatch
    ):
        told: list[str] = []
        notes: list[str] = []

        def tell(entry: ActivityView | ActionView) -> bool:
            told.append(entry.event if isinstance(entry, ActivityView) else entry.action)
            return told[-1] != "last"

        with closing(Reports(crawl)) as reports:
            log = ActivityLog(reports, "")
            entries = log.newest(1)
            happen(crawl, "last")
            monkeypatch.setattr(reports, "actions", Mock(side_effect=[HELD_UP, HELD_UP, reports.actions(9)]))
            follow(log.more, entries, tell, lambda _: None, notes.append)
        assert (told, notes) == (["run_finished", "last"], ["the server is away"])

    def test_it_ends_when_nobody_reads(self, crawl: Path):
        with closing(Reports(crawl)) as reports:
            log = ActivityLog(reports, "")
            follow(log.more, log.newest(5), lambda _: False, _interrupt, _no_note)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _no_note(text: str) -> None:
    raise AssertionError(text)
