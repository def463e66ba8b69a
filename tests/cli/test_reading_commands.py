"""`status`, `failures`, `audit`, `check`, `db`: what is printed for people and for programs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import CONFIG, ORIGIN, Say, Wiring, origin_view, page_view
from tests.cli.test_printer import HOSTILE
from tui_crawler.domain.history.audit import SentRequest
from tui_crawler.domain.records.page_view import FailureGroup
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.records.view import RunView
from tui_crawler.storage.db import database as checkup
from tui_crawler.storage.db import database as storage_database
from tui_crawler.storage.db.database import IntegrityCheck, Upgrade, open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.migrations import latest_version
from tui_crawler.text.standing import standing

RUN = RunView(7, 1_000, 0, "", 9, "ua", "my-index", live=True, owner="process 4711 on host h")
GROUP = FailureGroup((("exit_code", "file_not_found"), ("origin", ORIGIN)), 4, 1, f"{ORIGIN}/gone", 5, 6)

pytestmark = pytest.mark.usefixtures("database")


class TestStatus:
    def test_json_has_the_promised_fields(self, say: Say, wiring: Wiring):
        wiring.reports.run_row = RUN
        wiring.reports.origins = (origin_view("https://b.example"), origin_view("https://a.example", paused=True))
        document = say("status", "--json").ok.document
        assert set(document) == {"run", "totals", "diagnosis", "origins", "coverage"}
        assert [one["origin"] for one in document["origins"]] == ["https://a.example", "https://b.example"]
        assert list(document["origins"][0]) == [
            *("origin", "state", "finish_reason", "paused", "patience", "politeness", "delay_ms", "delay_reason"),
            *("next_request_at", "todo", "pending", "done", "failed", "blocked", "requests", "robots_status"),
            *("robots_expires_at", "eta_s", "idle_reason", "not_canonical", "warning"),
        ]
        paused, ready = document["origins"]
        assert paused["idle_reason"] == "paused"
        assert paused["eta_s"] is None
        assert ready["idle_reason"] == "robots.txt first: being fetched, or waiting for its turn"
        assert ready["eta_s"] == 5
        assert document["run"]["run_id"] == 7
        assert document["run"]["live"] is True
        assert document["totals"]["exit_codes"] == {"file_ingested": 5}
        assert wiring.reports.closed == 1

    def test_a_database_without_a_run(self, say: Say, wiring: Wiring):
        assert say("status", "--json").document["run"] is None
        assert "no run has started yet" in say("status").out

    def test_text_names_state_and_reason(self, say: Say, wiring: Wiring):
        wiring.reports.run_row = RUN
        wiring.reports.origins = (
            origin_view(),
            origin_view("https://down.example", state="FINISHED", finish_reason="patience"),
        )
        lines = say("status").out.splitlines()
        assert lines[0].startswith("run 7 of my-index, started ")
        assert lines[0].endswith("live: process 4711 on host h")
        assert ", 9 turns with a request, " in lines[0]
        assert lines[1].startswith("in all runs: ")
        assert " on todo lists, " in lines[1]
        assert " pending, " in lines[1]
        assert lines[2].split() == [
            *("STATE", "ORIGIN", "TODO", "PENDING", "DONE", "FAILED", "BLOCKED", "PATIENCE", "DELAY", "ETA", "WHY")
        ]
        assert lines[3].startswith("✗ stopped: errors  https://down.example")
        assert "out of patience" in lines[3]
        assert lines[4].startswith("◐ ready            https://example.org")

    @pytest.mark.parametrize(
        "changes",
        [
            {"state": "BUSY", "in_flight_url": f"{ORIGIN}/page"},
            {"state": "WAITING"},
            {"state": "READY"},
            {"state": "IDLE"},
            {"patience": 2},
            {"paused": True},
            *({"state": "FINISHED", "finish_reason": reason.value} for reason in FinishReason),
        ],
    )
    def test_the_state_has_the_word_and_the_glyph_that_the_console_shows(
        self, changes: dict[str, object], say: Say, wiring: Wiring
    ):
        wiring.reports.run_row, view = RUN, origin_view(**changes)
        wiring.reports.origins = (view,)
        assert say("status").out.splitlines()[3].startswith(f"{standing(view).label}  {ORIGIN}")

    def test_where_two_counts_hold_the_same_pages_that_is_said(self, say: Say, wiring: Wiring):
        wiring.reports.run_row = RUN
        wiring.reports.origins = (origin_view(state="FINISHED", finish_reason="exhausted", pending=2, failed=2),)
        lines = say("status").out.splitlines()
        assert lines[1].endswith(
            "4 pending, 5 done, 1 failed, 2 blocked (failed pages with tries left are pending, too)"
        )
        assert lines[3].endswith("nothing left in this run; 2 pages wait for the next")

    def test_a_slot_is_waited_for_while_all_are_taken(self, say: Say, wiring: Wiring):
        wiring.reports.run_row = replace(RUN, max_in_flight=1)
        hour = time.time_ns() // 1_000_000 + 3_600_000
        ready = origin_view(state="READY", next_request_at=1, robots_expires_at=hour, worker="a")
        wiring.reports.origins = (ready,)
        assert say("status").out.splitlines()[3].endswith("ready, waits for its turn")
        busy = origin_view("https://z.example", state="BUSY", in_flight_url="https://z.example/x", worker="a")
        wiring.reports.origins = (ready, busy)
        assert say("status").out.splitlines()[3].endswith("ready, waits for a free slot")
        assert say("status", "--json").document["origins"][0]["idle_reason"] == "ready, waits for a free slot"

    @pytest.mark.parametrize("state", ["BUSY", "WAITING", "READY"])
    def test_nobody_is_busy_after_a_run_that_was_killed(self, state: str, say: Say, wiring: Wiring):
        wiring.reports.run_row = replace(RUN, live=False)
        wiring.reports.origins = (
            origin_view(state=state, in_flight_url=f"{ORIGIN}/page", worker="w1"),
            origin_view("https://paused.example", paused=True),
            origin_view("https://done.example", state="FINISHED", finish_reason="exhausted"),
        )
        lines = say("status").out.splitlines()
        assert ", crawler died (last heartbeat " in lines[0]
        assert lines[0].endswith(": no worker is running, the next start continues it")
        assert [line.split()[1] for line in lines[3:]] == ["finished", "waiting", "paused"]
        assert lines[4].endswith("no worker running")
        _, broken_off, paused = say("status", "--json").document["origins"]
        assert broken_off["eta_s"] is paused["eta_s"] is None
        assert broken_off["state"] == ("READY" if state == "BUSY" else state), "one of the states of v_origin"
        assert broken_off["idle_reason"] == "no worker running"

    @pytest.mark.parametrize(
        ("run", "words"),
        [
            (replace(RUN, live=False), ", crawler died (last heartbeat 1970-01-01 "),
            (
                replace(RUN, live=False, finished_at=9_000, finish_reason="exhausted"),
                ":09: finished, 4 pages wait for the next",
            ),
        ],
    )
    def test_how_the_last_run_ended(self, run: RunView, words: str, say: Say, wiring: Wiring):
        wiring.reports.run_row = run
        assert words in say("status").out.splitlines()[0]

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_rows_are_made_safe(self, text: str, say: Say, wiring: Wiring):
        wiring.reports.run_row = replace(RUN, config_name=text, owner=text, finish_reason=text)
        wiring.reports.origins = (origin_view(f"https://{text}", finish_reason=text, state=text),)
        assert say("status").out
        assert say("status", "--json").out


class TestFailures:
    def test_groups(self, say: Say, wiring: Wiring):
        wiring.reports.groups = (GROUP,)
        assert say("failures", "--json").document == {
            "groups": [
                {
                    "key": {"exit_code": "file_not_found", "origin": ORIGIN},
                    "count": 4,
                    "recoverable": 1,
                    "sample_url": f"{ORIGIN}/gone",
                    "first_at": 5,
                    "last_at": 6,
                }
            ]
        }
        assert wiring.reports.grouped_by == ("exit_code", "origin")
        header, row = say("failures").out.splitlines()
        assert header.split() == ["PAGES", "RECOVERABLE", "EXIT", "CODE", "ORIGIN", "LAST", "SAMPLE"]
        assert row.split()[:4] == ["4", "1", "file_not_found", ORIGIN]

    def test_grouping_is_chosen(self, say: Say, wiring: Wiring):
        assert say("failures", "--by", "pattern,exit_code,pattern").out == "no page has failed\n"
        assert wiring.reports.grouped_by == ("pattern", "exit_code")

    @pytest.mark.parametrize(("by", "words"), [("orign", "did you mean origin?"), (",", "names no key")])
    def test_a_wrong_grouping(self, by: str, words: str, say: Say, wiring: Wiring):
        say("failures", "--by", by).refused(words)

    def test_a_list_reads_every_window(self, say: Say, wiring: Wiring):
        wiring.reports.pages = tuple(page_view(number) for number in range(1, 1_203))
        document = say("failures", "--list", "--json").document
        assert len(document["pages"]) == 1_202
        first = document["pages"][0]
        assert first["url"] == f"{ORIGIN}/gone"
        assert first["message"] == "Not Found"
        assert first["last_exit_code"] == "file_not_found"
        assert {"attempts_remaining", "not_before", "due_at", "sha256", "validation_type", "valid"} <= set(first)
        assert "page_id" not in first

    def test_a_list_for_people(self, say: Say, wiring: Wiring):
        later = 2**42
        wiring.reports.pages = (
            page_view(1, due_at=later),
            page_view(2, due_at=later, recoverable=True, last_http_status=None, message=""),
            page_view(3, attempts=1, attempts_remaining=2, recoverable=True, message=""),
            page_view(4),
        )
        first, second, third, fourth = say("failures", "--list").out.splitlines()
        assert first == f"file_not_found           404  3 tries, retry: final  {ORIGIN}/gone  (Not Found)"
        assert second == f"file_not_found             -  3 tries, retry: tries used up  {ORIGIN}/gone"
        assert third == f"file_not_found           404  1 try, retry: next run  {ORIGIN}/gone"
        assert fourth == f"file_not_found           404  3 tries, retry: next run  {ORIGIN}/gone  (Not Found)", (
            "it is due"
        )

    def test_a_list_says_what_the_console_says_of_an_origin_that_asks_for_nothing(self, say: Say, wiring: Wiring):
        def said(*, live: bool, **origin: object) -> str:
            wiring.reports.run_row = replace(RUN, live=live)
            wiring.reports.origins = (origin_view(**origin),)
            (line,) = say("failures", "--list").out.splitlines()
            return line.partition("retry: ")[2].partition("  ")[0]

        wiring.reports.pages = (page_view(1, attempts=1, attempts_remaining=2),)
        gave_up = {"state": "FINISHED", "finish_reason": "patience"}
        assert said(live=True) == "now"
        assert said(live=True, **gave_up) == "stopped: errors"
        assert said(live=False, **gave_up) == "next run", "which begins with full patience"
        assert said(live=True, paused=True) == said(live=False, paused=True) == "paused"
        wiring.reports.pages = (page_view(1, due_at=2**42),)
        assert said(live=True, **gave_up) == "final"

    def test_a_list_is_narrowed_by_known_names(self, say: Say, wiring: Wiring):
        wiring.reports.origins = (origin_view(),)
        assert say("failures", "--list", "--exit-code", "file-not-found", "--origin", "example.org").status == 0
        assert wiring.reports.asked == [{"exit_code": "file_not_found", "origin": ORIGIN}]
        say("failures", "--list", "--exit-code", "file_not_fond").refused("did you mean file_not_found?")
        assert say("failures", "--exit-code", "file_gone").status == 2

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_rows_are_made_safe(self, text: str, say: Say, wiring: Wiring):
        wiring.reports.pages = (page_view(1, text, message=text, title=text, last_exit_code=text),)
        wiring.reports.groups = (replace(GROUP, key=(("exit_code", text), ("origin", text)), sample_url=text),)
        for words in ("failures", "failures --json", "failures --list", "failures --list --json"):
            assert say(*words.split()).out


def sent(attempt: int, at: int, delay: int = 1_000) -> SentRequest:
    return SentRequest(attempt, ORIGIN, ORIGIN, f"{ORIGIN}/{attempt}\x1b", at, at + 100, False, delay)


class TestAudit:
    def test_a_kept_promise(self, say: Say, wiring: Wiring):
        wiring.reports.requests = (sent(1, 0), sent(2, 1_200))
        assert say("audit", "--json").ok.document == {
            "ok": True,
            "origins": [
                {
                    "origin": ORIGIN,
                    "requests": 2,
                    "min_gap_ms": 1_100,
                    "promised_ms": 1_000,
                    "violations": 0,
                    "overlaps": 0,
                }
            ],
        }
        text = say("audit").out.splitlines()
        assert text[0] == f"✓ {ORIGIN}  2 requests  shortest gap 1.1s, promised 1.0s  kept"
        assert text[1] == "every delay was kept: 1 origin"

    def test_a_broken_promise_is_status_one(self, say: Say, wiring: Wiring):
        wiring.reports.requests = (sent(1, 0), sent(2, 600), sent(3, 650))
        said = say("audit", "--json", "--verbose")
        assert said.status == 1
        assert said.document["ok"] is False
        (origin,) = said.document["origins"]
        assert (origin["violations"], origin["overlaps"], origin["min_gap_ms"]) == (1, 1, -50)
        assert [finding["fault"] for finding in origin["findings"]] == ["gap", "overlap"]
        text = say("audit", "--verbose").out.splitlines()
        assert text[0].endswith("1 violation, 1 overlap")
        assert "gap 500ms of 1.0s" in text[1]
        assert "overlap of 50ms" in text[2]
        assert text[3] == "promises were broken at 1 of 1 origin"
        assert len(say("audit").out.splitlines()) == 2

    def test_nothing_was_requested(self, say: Say, wiring: Wiring):
        assert say("audit", "--json").document == {"ok": True, "origins": []}

    def test_a_long_list_says_how_much_is_left_out(self, say: Say, wiring: Wiring):
        wiring.reports.requests = tuple(sent(number, number * 200) for number in range(200))
        assert "    … and 99 more" in say("audit", "--verbose").out.splitlines()


class TestCheck:
    def test_a_valid_configuration_is_shown_with_its_sources(self, here: Path, say: Say):
        (here / "my.yaml").write_text(CONFIG + "crawl: {max_in_flight: 3}\n")
        said = say("check", "my.yaml").ok
        assert "crawl.max_in_flight: 3  (my.yaml:3)" in said.out.splitlines()
        assert 'robots.expiry: "30m"  (default)' in said.out.splitlines()
        assert "my.yaml is valid" in said.err
        assert "estimate: 5 000 pages of an origin take at least 1h23m at 1s;" in said.err

    def test_how_long_an_origin_takes_by_its_delay(self, here: Path, say: Say):
        more = (
            "delay: {default: 500ms}\nhosts: [{host: b.test, default_delay: 5s}, {host: c.test, default_delay: 5s}]\n"
        )
        (here / "my.yaml").write_text(CONFIG + more + "crawl: {max_pages_per_origin: 200}\n")
        assert say("check", "my.yaml", "--json").document["estimate"] == [
            {"pages_per_origin": 200, "delay_ms": 1_000, "least_s": 200},
            {"pages_per_origin": 200, "delay_ms": 5_000, "least_s": 1_000},
        ]

    def test_a_theme_that_does_not_exist_and_a_script_no_browser_runs(self, here: Path, say: Say):
        (here / "my.yaml").write_text(CONFIG + "rules: [{match: /x/, custom_js: go()}]\n")
        said = say("check", "my.yaml").ok
        assert "my.yaml:3:" in said.err
        assert "warning" in said.err
        assert "rules[0].custom_js: the browser extra does not exist yet" in said.err
        (here / "my.yaml").write_text(CONFIG + "theme: textual-drak\n")
        say("check", "my.yaml").refused("my.yaml:3:8: theme: expected one of", "did you mean textual-dark?")
        (here / "my.yaml").write_text(CONFIG + "theme: nope\n")
        assert say("check", "my.yaml").err.count("textual-dark") == 1, "the list is told once"

    def test_as_json(self, here: Path, say: Say):
        (here / "my.yaml").write_text(CONFIG)
        document = say("check", "my.yaml", "--json").document
        assert document["ok"] is True
        assert document["errors"] == []
        assert document["effective"]["crawl.max_in_flight"] == {"value": 8, "source": "default"}

    def test_mistakes(self, here: Path, say: Say):
        (here / "my.yaml").write_text(CONFIG + "crawl: {max_in_flihgt: 3}\nrobots: {expiry: 30}\n")
        said = say("check", "my.yaml")
        assert (said.status, said.out, len(said.err.splitlines())) == (2, "", 2)
        as_json = say("check", "my.yaml", "--json")
        document = as_json.document
        assert (as_json.status, document["ok"], document["effective"]) == (2, False, None)
        first, second = document["errors"]
        assert set(first) == {"file", "line", "column", "key", "message", "suggestion"}
        assert (first["file"], first["line"]) == ("my.yaml", 3)
        assert "max_in_flight" in first["suggestion"]
        assert second["key"] == "robots.expiry"

    def test_the_schema_needs_no_file(self, say: Say):
        assert say("check", "--schema").ok.document["properties"]["seeds"]

    def test_no_file(self, say: Say):
        say("check").refused("name the configuration")

    def test_nothing_is_made(self, here: Path, say: Say):
        (here / "my.yaml").write_text(CONFIG)
        before = sorted(here.iterdir())
        say("check", "my.yaml")
        assert sorted(here.iterdir()) == before


class TestDatabase:
    @pytest.fixture
    def made(self, database: Path) -> Path:
        """A real database of this version."""
        open_writable(database, OpenSettings()).close()
        return database

    def test_a_whole_database(self, made: Path, say: Say):
        assert say("db", "check").out == f"{made}: ok\n"
        schema = latest_version()
        document = say("db", "check", "--json").document
        assert document == {"ok": True, "path": str(made), "problems": [], "schema": schema}

    def test_a_damaged_database_is_status_three(self, made: Path, say: Say, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(
            checkup, "check_integrity", lambda path: IntegrityCheck(("row 3 missing from index",), 4, 4)
        )
        said = say("db", "check")
        assert said.status == 3
        assert said.out == "row 3 missing from index\n"
        assert "is damaged" in said.err
        assert say("db", "check", "--json").document["problems"] == ["row 3 missing from index"]

    @pytest.mark.parametrize("command", ["check", "upgrade"])
    def test_a_file_that_is_not_ours_is_left_alone(self, command: str, database: Path, say: Say):
        database.write_bytes(b"not a database" * 50)
        said = say("db", command)
        assert (said.status, said.out, len(said.err.splitlines())) == (3, "", 1)
        assert database.read_bytes() == b"not a database" * 50

    def test_nothing_to_upgrade(self, made: Path, say: Say):
        assert "of this version already" in say("db", "upgrade").out
        assert say("db", "upgrade", "--json").document == {"path": str(made), "upgraded": False, "backup": None}

    def test_an_upgrade_names_the_copy(self, made: Path, say: Say, monkeypatch: pytest.MonkeyPatch):
        copy = made.with_name("crawl.db.bak")
        monkeypatch.setattr(storage_database, "upgrade", lambda path: Upgrade(1, 2, copy))
        assert say("db", "upgrade").out == f"{made}: schema 1 is now 2\nbackup: {copy}\n"
        assert say("db", "upgrade", "--json").document["backup"] == str(copy)
