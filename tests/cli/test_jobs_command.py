"""`jobs`: listed, changed, paused and aborted, on a real database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Say, Wiring
from tests.cli.crawls import asked_of
from tui_crawler.domain.records.command import Command, SetJob, SteerJobs

V_JOB = ("job", "status", "nice", "depth", "concurrency", "tag", "pending", "claimed", "done", "ruleset_id")


def job_named(name: str, say: Say) -> dict[str, object]:
    (job,) = (one for one in say("jobs", "--json").document["jobs"] if one["job"] == name)
    return job


class TestList:
    def test_the_rows_of_the_view(self, crawl: Path, say: Say):
        said = say("jobs", "--json")
        assert (said.status, said.err) == (0, "")
        main, news = said.document["jobs"]
        assert tuple(main)[: len(V_JOB)] == V_JOB
        assert (main["job"], main["status"], main["pending"], main["concurrency"]) == ("main", "ACTIVE", 4, None)
        assert (news["job"], news["pending"], news["concurrency"]) == ("news", 1, 2)
        assert news["note"] == "every \x1bmorning"

    def test_a_table_with_nothing_a_terminal_obeys(self, crawl: Path, say: Say):
        header, main, news = say("jobs").out.splitlines()
        assert header.split() == [
            *("JOB", "STATUS", "NICE", "DEPTH", "CONCURRENCY", "TAG", "PENDING", "CLAIMED", "DONE", "RULESET", "NOTE")
        ]
        assert main.split() == ["main", "active", "0", "none", "none", "-", "4", "0", "0", "1"]
        assert news.split()[:7] == ["news", "active", "0", "none", "2", "-", "1"]
        assert news.endswith("every \\x1bmorning")
        assert header.index("STATUS") == main.index("active") == news.index("active")

    def test_json_may_stand_on_either_side_of_a_command(self, crawl: Path, say: Say):
        for words in (("--json", "pause", "news"), ("pause", "news", "--json")):
            assert "actions" in say("jobs", *words).document


class TestChange:
    def test_values_are_set_and_told(self, crawl: Path, say: Say):
        words = ("--nice", "-5", "--depth", "3", "--concurrency", "none", "--tag", "night", "--note", "only at night")
        said = say("jobs", "set", "news", *words)
        assert (said.status, said.err) == (0, "")
        assert said.out == (
            "news: nice 0 -> -5, depth none -> 3, concurrency 2 -> none, tag none -> night, "
            "note every \\x1bmorning -> only at night\n"
        )
        job = job_named("news", say)
        assert (job["nice"], job["depth"], job["concurrency"], job["tag"]) == (-5, 3, None, "night")
        assert say("jobs", "set", "news", "--nice", "-5").out == "nothing to change\n"
        assert say("jobs", "set", "news", "--tag", "", "--depth", "none").status == 0
        job = job_named("news", say)
        assert (job["depth"], job["tag"], job["note"]) == (None, "", "only at night")

    def test_a_change_as_json(self, crawl: Path, say: Say):
        (action,) = say("jobs", "set", "news", "--concurrency", "0", "--json").document["actions"]
        assert action["before"] == {"job": {"news": {"concurrency": 2}}}
        assert action["after"] == {"job": {"news": {"concurrency": 0}}}
        assert (action["action"], action["target"], action["error"]) == ("job", "news", "")

    def test_pause_and_resume_give_the_concurrency_back(self, crawl: Path, say: Say):
        assert say("jobs", "pause", "news", "main").out == "paused: news\npaused: main\n"
        assert [job["concurrency"] for job in say("jobs", "--json").document["jobs"]] == [0, 0]
        assert "paused" in say("jobs").out
        assert say("jobs", "resume", "news").out == "resumed: news\n"
        assert job_named("news", say)["concurrency"] == 2
        assert say("jobs", "resume", "news").out == "nothing to change: news\n"

    def test_abort_and_unabort(self, crawl: Path, say: Say):
        assert say("jobs", "abort", "news").out == "aborted: news\n"
        assert job_named("news", say)["status"] == "ABORTED"
        assert say("jobs", "unabort", "news").out == "continued: news\n"
        assert job_named("news", say)["status"] == "ACTIVE"

    @pytest.mark.parametrize("words", [("set", "nwes", "--nice", "1"), ("pause", "news", "nwes"), ("abort", "nwes")])
    def test_an_unknown_job_is_answered_with_the_nearest_one(self, words: tuple[str, ...], crawl: Path, say: Say):
        say("jobs", *words).refused("no job 'nwes' is known here; did you mean news?")
        assert asked_of(crawl) == []


class TestWhatIsAsked:
    @pytest.fixture(autouse=True)
    def known(self, database: Path, wiring: Wiring) -> None:
        wiring.reports.job_names = ("main", "news")

    @pytest.mark.parametrize(
        ("words", "command"),
        [
            (("set", "news", "--nice", "-1000000"), SetJob("news", nice=-1_000_000)),
            (("set", "news", "--depth", "None"), SetJob("news", depth=-1)),
            (("set", "news", "--concurrency", "0"), SetJob("news", concurrency=0)),
            (("set", "news", "--note", ""), SetJob("news", note="")),
            (("pause", "news", "main", "news"), SteerJobs("pause", ("news", "main"))),
            (("resume", "main"), SteerJobs("resume", ("main",))),
            (("abort", "main"), SteerJobs("abort", ("main",))),
            (("unabort", "main"), SteerJobs("unabort", ("main",))),
        ],
    )
    def test_words_become_commands(self, words: tuple[str, ...], command: Command, say: Say, wiring: Wiring):
        assert say("jobs", *words).status == 0
        assert [one for _, one, _ in wiring.commands] == [command]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (("set", "news"), "name what is to change"),
            (("set",), "JOB"),
            (("pause",), "JOB"),
            (("pasue", "news"), "invalid choice"),
            (("set", "news", "--nice", "1000001"), "whole number from -1000000 to 1000000"),
            (("set", "news", "--nice", "low"), "whole number"),
            (("set", "news", "--nice", "9" * 5_000), "whole number"),
            (("set", "news", "--depth", "-2"), "whole number"),
            (("set", "news", "--depth", "9999999"), "at most 1000000"),
            (("set", "news", "--concurrency", "1.5"), "whole number"),
            (("set", "news", "--tag", "a\nb"), "line break"),
            (("set", "news", "--tag", "x" * 201), "at most 200 characters"),
            (("set", "news", "--note", "x" * 2_001), "at most 2000 characters"),
        ],
    )
    def test_what_is_wrong_is_told_and_nothing_is_asked(
        self, words: tuple[str, ...], told: str, say: Say, wiring: Wiring
    ):
        say("jobs", *words).refused(told)
        assert not wiring.commands
