"""`pause`, `resume`, `stop`, `add`, `retry`: what is asked for, and what is told of the outcome."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ORIGIN, Say, Terminal, Wiring, origin_view
from tui_crawler.cli import printer, steer_command
from tui_crawler.config.units import show_duration
from tui_crawler.console.operator.retry_start import gave_up_words
from tui_crawler.domain.records.command import (
    ActionResult,
    AddSeeds,
    Command,
    PauseOrigins,
    RefetchRobots,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.database_place import PostgresPlace
from tui_crawler.domain.records.view import RunView
from tui_crawler.wiring import operator_name

OTHER = "http://example.org:8080"


@pytest.fixture(autouse=True)
def known(database: Path, wiring: Wiring) -> None:
    wiring.reports.origins = (origin_view(), origin_view(OTHER), origin_view("http://example.org"))


def answer(after: Any, error: str = "") -> Callable[[Command], ActionResult]:
    return lambda _: ActionResult(3, "{}", "" if after is None else json.dumps(after), error)


def asked(wiring: Wiring) -> Command:
    ((_, command, _),) = wiring.commands
    return command


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("pause", PauseOrigins),
        ("resume", ResumeOrigins),
        ("stop", StopOrigins),
        ("top-up", TopUpPatience),
        ("refetch", RefetchRobots),
    ],
)
def test_one_origin_and_all(word: str, kind: type, database: Path, say: Say, wiring: Wiring):
    assert say(word, ORIGIN).status == 0
    assert say(word, "--all").status == 0
    assert wiring.commands == [
        (database, kind((ORIGIN,)), operator_name()),
        (database, kind(()), operator_name()),
    ]


@pytest.mark.parametrize(("written", "ms"), [("5s", 5_000), ("1500ms", 1_500), ("1 minute", 60_000), ("0s", 0)])
def test_a_delay_of_ones_own(written: str, ms: int, say: Say, wiring: Wiring):
    wiring.answer = answer({ORIGIN: ms})
    said = say("delay", ORIGIN, written)
    done = f"your delay is set to {show_duration(ms)}:" if ms else "your delay is removed:"
    assert (said.status, said.out) == (0, f"{done} {ORIGIN}\n")
    assert asked(wiring) == SetDelay(ORIGIN, ms)


@pytest.mark.parametrize("written", ["soon", "-5s", "", "8 days"])
def test_a_delay_that_is_none_changes_nothing(written: str, say: Say, wiring: Wiring):
    assert say("delay", ORIGIN, written).status == 2
    assert not wiring.commands


@pytest.mark.parametrize(
    "text", ["http://example.org:8080/some/page?x#y", "example.org:8080", "HTTP://Example.ORG:8080"]
)
def test_an_origin_may_be_named_by_a_url_or_its_host(text: str, say: Say, wiring: Wiring):
    assert say("pause", text).status == 0
    assert asked(wiring) == PauseOrigins((OTHER,))


def test_a_host_alone_means_its_only_origin_whatever_the_port(say: Say, wiring: Wiring):
    wiring.reports.origins = (origin_view("http://127.0.0.1:8080"), origin_view("http://[::1]:8080"), origin_view())
    assert say("pause", "127.0.0.1", "[::1]", "example.org").status == 0
    assert asked(wiring) == PauseOrigins(("http://127.0.0.1:8080", "http://[::1]:8080", ORIGIN))


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("404", "HTTP 404 is file_not_found"),
        ("503", "HTTP 503 is server_internal_error"),
        ("44", "exit code 44 is file_not_found"),
        ("200", "exit code 200 is blocked_by_robots_txt, HTTP 200 is file_ingested"),
        ("999", "unknown exit code '999'\n"),
    ],
)
def test_a_number_for_an_exit_code_is_told_what_it_means(typed: str, words: str, say: Say, wiring: Wiring):
    say("retry", "--exit-code", typed).refused(words)
    assert not wiring.commands


def test_seeds_without_a_scheme_are_read_as_the_console_reads_them(here: Path, say: Say, wiring: Wiring):
    (here / "seeds.txt").write_text("b.test\nexample.org:8080/listed\nnonsense\n")
    said = say("add", "example.org:8080/x", "localhost:81/y", "a.test/z", "seeds.txt").ok
    assert asked(wiring) == AddSeeds(
        (f"{OTHER}/x", "http://localhost:81/y", "https://a.test/z", "https://b.test/", f"{OTHER}/listed")
    )
    assert said.err.count("no scheme given: https:// used, http:// where local or the only one known") == 1
    assert "seeds.txt:3: nonsense" in said.err
    assert say("add", "example.net").status == 0, "a host under a public suffix needs no slash"
    assert wiring.commands.pop()[1] == AddSeeds(("https://example.net/",))
    say("add", "seedz.txt").refused("there is no file seedz.txt; did you mean https://seedz.txt/?")


def test_a_host_of_two_origins_is_not_guessed(say: Say, wiring: Wiring):
    say("pause", "example.org").refused("more than one origin")
    assert not wiring.commands


@pytest.mark.parametrize("text", ["https://exmaple.org", "nowhere.example", "https://", "\x1b[31m"])
def test_an_unknown_origin_changes_nothing(text: str, say: Say, wiring: Wiring):
    said = say("pause", ORIGIN, text)
    assert said.status == 2
    assert "no origin" in said.err
    assert "\x1b" not in said.err
    assert not wiring.commands


def test_a_near_origin_is_suggested(say: Say):
    assert "did you mean https://example.org?" in say("pause", "https://exmaple.org").err


@pytest.mark.parametrize("words", [("pause",), ("stop", "--all", ORIGIN)])
def test_name_them_or_all(words: tuple[str, ...], say: Say, wiring: Wiring):
    assert say(*words).status == 2
    assert not wiring.commands


def test_outcomes_are_told(say: Say, wiring: Wiring):
    wiring.answer = answer({ORIGIN: True})
    assert say("pause", ORIGIN).out == f"paused {ORIGIN}\n"
    wiring.answer = answer({})
    assert say("pause", ORIGIN).out == "nothing to change\n"
    wiring.answer = answer(None)
    assert "not taken it up yet" in say("pause", ORIGIN).out


def test_outcomes_as_json(say: Say, wiring: Wiring):
    wiring.answer = answer({ORIGIN: True})
    assert say("pause", ORIGIN, "--json").document == {
        "actions": [
            {
                "action_id": 3,
                "action": "pause",
                "target": ORIGIN,
                "before": {},
                "after": {ORIGIN: True},
                "error": "",
            }
        ]
    }


def test_a_refused_action_is_an_error(say: Say, wiring: Wiring):
    wiring.answer = answer(None, "not an origin of this crawl\x1b")
    said = say("pause", ORIGIN)
    assert (said.status, said.out, said.err) == (2, "", "tui-crawler: not an origin of this crawl\\x1b\n")
    as_json = say("pause", ORIGIN, "--json")
    assert as_json.status == 2
    assert as_json.document["actions"][0]["error"] == "not an origin of this crawl\x1b"


def test_a_journal_text_that_is_no_json_is_shown_as_it_is(say: Say, wiring: Wiring):
    wiring.answer = lambda _: ActionResult(3, "was\x1b", "is")
    assert say("pause", ORIGIN, "--json").document["actions"][0]["before"] == "was\x1b"
    assert say("pause", ORIGIN).status == 0


class TestAdd:
    def test_seeds_are_normalised_and_each_added_once(self, say: Say, wiring: Wiring):
        wiring.answer = answer({"added": 2, "known": 1, "refused": ["http://x/: scope"]})
        said = say("add", "HTTPS://Example.org/a#b", "https://example.org/a", "https://example.org/c")
        assert asked(wiring) == AddSeeds(("https://example.org/a", "https://example.org/c"))
        assert said.out == "2 pages added, 1 already known\n  refused: http://x/: scope\n"

    def test_job_pattern_and_force(self, say: Say, wiring: Wiring):
        wiring.reports.job_names = ("crawl", "news")
        assert say("add", "https://h/", "--job", "news", "--pattern", "/news/", "--force").status == 0
        assert asked(wiring) == AddSeeds(("https://h/",), "news", "/news/", True)

    def test_an_unknown_job_is_answered_with_the_nearest_one(self, say: Say, wiring: Wiring):
        wiring.reports.job_names = ("crawl", "news")
        say("add", "https://h/", "--job", "nwes").refused("no job 'nwes' is known here; did you mean news?")
        assert not wiring.commands

    def test_a_word_may_be_a_file_of_seeds(self, here: Path, say: Say, wiring: Wiring):
        (here / "seeds.txt").write_text("# mine\nhttps://h/1\nnonsense\n\nhttps://h/2\n")
        said = say("add", "https://h/0", "seeds.txt").ok
        assert asked(wiring) == AddSeeds(("https://h/0", "https://h/1", "https://h/2"))
        assert "seeds.txt:3: nonsense" in said.err

    def test_a_url_is_a_url_even_if_a_file_has_its_name(self, here: Path, say: Say, wiring: Wiring):
        folder = here / "https:" / "h"
        folder.mkdir(parents=True)
        (folder / "x").write_text("https://other/\n")
        assert say("add", "https://h/x").status == 0
        assert asked(wiring) == AddSeeds(("https://h/x",))

    @pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1"])
    def test_a_bad_pattern(self, pattern: str, say: Say, wiring: Wiring):
        say("add", "https://h/", "--pattern", pattern).refused("--pattern")
        assert not wiring.commands

    def test_a_time_before_which_they_may_not_be_requested(self, say: Say, wiring: Wiring):
        say("add", "https://h/", "--not-before", "2030-01-02T03:04:05")
        assert asked(wiring) == AddSeeds(("https://h/",), not_before=1_893_553_445_000)
        say("add", "https://h/", "--not-before", "soon").refused("soon")

    def test_no_password_is_told(self, say: Say, wiring: Wiring):
        said = say("pause", "https://me:secret@example.org")
        assert "no origin 'https://•••@example.org'" in said.err
        assert "secret" not in said.err + said.out
        said = say("add", "https://me:secret@example.org/", "me:secret@example.org")
        assert "https://•••@example.org/ has a user name or password" in said.err
        assert "secret" not in said.err + said.out

    def test_a_bad_url_adds_nothing(self, say: Say, wiring: Wiring):
        said = say("add", "https://h/", "ftp://h/", "nonsense")
        assert said.status == 2
        assert "ftp://h/ is not http or https" in said.err
        assert "nonsense" in said.err
        assert not wiring.commands

    def test_many_from_stdin(self, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
        lines = b"\xef\xbb\xbfhttps://h/1\r\n\r\n# comment\nnonsense\x1b\nhttps://h/2\nhttps://h/\xff\nhttps://h/1\n"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
        said = say("add", "-", "https://h/0").ok
        assert asked(wiring) == AddSeeds(("https://h/0", "https://h/1", "https://h/2", "https://h/%EF%BF%BD"))
        assert "stdin:4: nonsense\\x1b" in said.err
        assert "1 of the listed lines cannot be crawled" in said.err

    def test_many_from_a_file_go_in_bulk(self, here: Path, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(steer_command, "BULK", 10)
        (here / "seeds.txt").write_text("".join(f"https://h/{n}\n" for n in range(25)))
        wiring.answer = answer({"added": 10, "known": 0, "refused": []})
        said = say("add", "--file", "seeds.txt", "--json")
        sizes = [len(command.urls) for _, command, _ in wiring.commands if isinstance(command, AddSeeds)]
        assert sizes == [10, 10, 5]
        assert len(said.document["actions"]) == 3

    def test_a_list_is_stored_as_it_is_read(
        self, here: Path, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
    ):
        """However long it is: what was stored is told even when the rest of it cannot be read or is refused."""
        monkeypatch.setattr(steer_command, "BULK", 10)
        stream = io.BytesIO(b"".join(b"https://h/%d\n" % number for number in range(25)))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        read: list[int] = []

        def take(command: Command) -> ActionResult:
            read.append(stream.tell())
            outcome = {"added": 9, "known": 1, "refused": [f"{len(read)}"]}
            return answer(outcome, "no room" if len(read) == 3 else "")(command)

        wiring.answer = take
        said = say("add", "-")
        assert read[0] < read[1] < read[2], "lines are asked for one after the other"
        assert (said.status, said.out) == (2, "18 pages added, 2 already known\n  refused: 1\n  refused: 2\n")
        assert "no room" in said.err

    def test_progress_on_a_terminal(self, here: Path, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
        screen, ticks = Terminal(), iter(range(100))
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(printer.time, "monotonic", lambda: float(next(ticks)))
        monkeypatch.setattr(steer_command, "BULK", 10)
        (here / "seeds.txt").write_text("".join(f"https://h/{n}\n" for n in range(25)))
        wiring.answer = answer({"added": 1_000, "known": 0, "refused": []})
        assert say("add", "seeds.txt").out == "3 000 pages added\n"
        assert screen.getvalue() == "\r2 000 URLs stored\r3 000 URLs stored\r\x1b[K"
        say("add", "seeds.txt", "--json")
        say("add", "seeds.txt", "--quiet")
        assert screen.getvalue().count("stored") == 2

    def test_the_first_refusal_ends_a_bulk(self, here: Path, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(steer_command, "BULK", 1)
        wiring.answer = answer(None, "refused")
        assert say("add", "https://h/1", "https://h/2").status == 2
        assert len(wiring.commands) == 1

    @pytest.mark.parametrize("words", [(), ("--file", "absent.txt"), ("--file", ".")])
    def test_nothing_to_add(self, words: tuple[str, ...], say: Say, wiring: Wiring):
        assert say("add", *words).status == 2
        assert not wiring.commands

    def test_a_list_without_a_good_line(self, here: Path, say: Say, wiring: Wiring):
        (here / "seeds.txt").write_text("x\n" * 100)
        said = say("add", "--file", "seeds.txt")
        assert said.status == 2
        assert len(said.err.splitlines()) < 30


class TestRetry:
    def test_options_narrow_each_other(self, say: Say, wiring: Wiring):
        wiring.answer = answer({"retried": {ORIGIN: 3, OTHER: 1}})
        said = say(
            *("retry", "https://example.org/a#x", "--exit-code", "request_timeout,File-Gone"),
            *("--exit-code", "request_timeout", "--origin", ORIGIN),
        )
        assert asked(wiring) == RetryPages(("https://example.org/a",), ("request_timeout", "file_gone"), (ORIGIN,))
        assert said.out == f"4 pages requeued\n  3 {ORIGIN}\n  1 {OTHER}\n"

    @pytest.mark.parametrize("live", [True, False])
    def test_where_an_origin_gave_up_it_says_that_nothing_is_asked(self, live: bool, say: Say, wiring: Wiring):
        tired = {"state": "FINISHED", "finish_reason": "patience"}
        wiring.reports.origins = (origin_view(**tired), origin_view(OTHER))
        wiring.reports.run_row = RunView(7, 1_000, 0 if live else 2_000, "", 9, "ua", "my-index", live=live)
        wiring.answer = answer({"retried": {ORIGIN: 3, OTHER: 1}})
        lines = say("retry", "--exit-code", "request_timeout").out.splitlines()
        words = f"{gave_up_words((ORIGIN,))} tui-crawler top-up {ORIGIN}"
        assert lines[3:] == ([words] if live else []), "a run that is yet to begin gives new patience"
        wiring.reports.origins = (origin_view(**tired), origin_view(OTHER, **tired))
        lines = say("retry", "--exit-code", "request_timeout").out.splitlines()
        assert lines[3:] == ([f"{gave_up_words((ORIGIN, OTHER))} tui-crawler top-up ORIGIN"] if live else [])
        wiring.answer = answer({"retried": {}})
        assert say("retry", "--exit-code", "file_gone").out == "no page matches\n"

    def test_nothing_named(self, say: Say, wiring: Wiring):
        say("retry").refused("name what to retry")

    @pytest.mark.parametrize("words", [("nonsense",), ("--exit-code", "timeout"), ("--origin", "nowhere.example")])
    def test_wrong_names(self, words: tuple[str, ...], say: Say, wiring: Wiring):
        assert say("retry", *words).status == 2
        assert not wiring.commands

    def test_nothing_was_put_back(self, say: Say, wiring: Wiring):
        wiring.answer = answer({"retried": {}})
        assert say("retry", "--exit-code", "file_gone").out == "no page matches\n"


def test_a_user_the_system_does_not_know(monkeypatch: pytest.MonkeyPatch):
    def unknown() -> str:
        raise KeyError("uid")

    monkeypatch.setattr("getpass.getuser", unknown)
    assert operator_name() == "operator"


def test_who_asks_a_crawl_on_a_server_is_named_with_the_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("getpass.getuser", lambda: "mara")
    monkeypatch.setattr("socket.gethostname", lambda: "lighthouse")
    assert operator_name(PostgresPlace("postgresql://db/crawl")) == "mara@lighthouse"
    assert operator_name(Path("crawl.db")) == "mara"
