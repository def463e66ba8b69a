"""`pages`: stashes, dripfeed and limbo on a real database; probes answered by a stand-in."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.cli.conftest import CONFIG, ORIGIN, Say, Wiring, origin_view
from tests.cli.crawls import A, B, asked_of, claim_pages, store_crawl
from tui_crawler.domain.records.command import (
    ActionResult,
    Command,
    ProbeUrls,
    ReclaimPages,
    SetDripfeed,
    StashPages,
    UnstashPages,
)
from tui_crawler.wiring.origin_settings import kept_config

HOUR = 3_600_000
DAY = 24 * HOUR


def pages_of(say: Say) -> list[tuple[str, int, int, int]]:
    stashes = say("pages", "stashes", "--json").document["stashes"]
    return [(one["stash"], one["pages"], one["ready"], one["dripfeed"]) for one in stashes]


class TestStash:
    def test_everything_of_the_job(self, crawl: Path, say: Say):
        said = say("pages", "stash", "later")
        assert (said.status, said.err) == (0, "")
        assert said.out == f"4 pages stashed\n  3 {A}\n  1 {B}\n"
        assert pages_of(say) == [("later", 4, 0, 0)]

    def test_urls_origins_and_a_pattern_narrow_each_other(self, crawl: Path, say: Say):
        assert say("pages", "stash", "s", f"{A}/one", f"{B}/", "--origin", "b.example").out.startswith("1 page stashed")
        assert say("pages", "stash", "s", "--origin", A, "--pattern", "/o.e$").out == f"1 page stashed\n  1 {A}\n"
        assert say("pages", "stash", "s", f"{A}/one").out == "no READY page matches\n"

    def test_the_pages_of_another_job(self, crawl: Path, say: Say):
        (action,) = say("pages", "stash", "s", "--job", "news", "--json").document["actions"]
        assert action["after"] == {"pages": {A: 1}}
        assert say("pages", "stashes", "--json").document["stashes"][0]["job"] == "news"

    def test_pages_come_back(self, crawl: Path, say: Say):
        say("pages", "stash", "later")
        assert say("pages", "unstash", "later", "--limit", "1").out == f"1 page requeued\n  1 {A}\n"
        assert pages_of(say) == [("later", 3, 0, 0)]
        assert say("pages", "unstash", "later").out.startswith("3 pages requeued\n")
        assert say("pages", "stashes").out == "there is no stash\n"

    def test_a_stash_drips(self, crawl: Path, say: Say):
        say("pages", "stash", "later")
        assert say("pages", "dripfeed", "later", "2").out == f"2 pages requeued\n  2 {A}\n"
        assert pages_of(say) == [("later", 2, 2, 2)]
        assert say("pages", "dripfeed", "later", "2").out == "no page requeued now\n"
        assert say("pages", "dripfeed", "later", "0").out == "the dripfeed has ended\n"
        assert pages_of(say) == [("later", 2, 2, 0)]

    def test_a_table_with_nothing_a_terminal_obeys(self, crawl: Path, say: Say):
        say("pages", "stash", "for räson")
        header, row = say("pages", "stashes").out.splitlines()
        assert header.split() == ["STASH", "JOB", "PAGES", "READY", "DRIPFEED"]
        assert row.split() == ["for", "räson", "main", "4", "0", "-"]

    def test_an_unknown_stash_is_answered_with_the_nearest_one(self, crawl: Path, say: Say):
        say("pages", "stash", "later")
        for words in (("unstash", "latr"), ("dripfeed", "latr", "3")):
            say("pages", *words).refused("'latr'", "did you mean 'later'?")

    def test_an_unknown_job_or_origin_is_answered_with_the_nearest_one(self, crawl: Path, say: Say):
        assert "did you mean news?" in say("pages", "stash", "s", "--job", "nwes").err
        assert f"did you mean {A}?" in say("pages", "stash", "s", "--origin", "https://a.exmaple").err
        assert asked_of(crawl) == []


class TestLimbo:
    @pytest.fixture(autouse=True)
    def claimed(self, crawl: Path) -> None:
        claim_pages(crawl, time.time_ns() // 1_000_000 - 25 * HOUR)

    def test_pages_claimed_for_longer_than_a_day(self, say: Say):
        pages = say("pages", "limbo", "--json").document["pages"]
        assert {page["url"] for page in pages} == {f"{A}/", f"{A}/one", f"{A}/two", f"{A}/news"}
        assert set(pages[0]) == {"url", "origin", "job", "worker", "claimed_at", "age_ms"}
        assert 25 * HOUR <= pages[0]["age_ms"] < 26 * HOUR

    def test_a_table(self, say: Say):
        header, *rows = say("pages", "limbo").out.splitlines()
        assert header.split() == ["CLAIMED", "FOR", "WORKER", "JOB", "URL"]
        assert rows[0].split() == ["1d01h", "-", "main", f"{A}/"]

    @pytest.mark.parametrize("older", ["26h", "2 days"])
    def test_a_greater_age(self, older: str, say: Say):
        assert say("pages", "limbo", "--older", older).out == "no page is in limbo\n"
        assert say("pages", "limbo", "--older", older, "--json").document == {"pages": []}
        assert say("pages", "reclaim", "--reason", "r", "--older", older).out == "no page is in limbo\n"

    def test_pages_are_taken_back_with_a_reason(self, crawl: Path, say: Say):
        assert say("pages", "reclaim", f"{A}/one", "--reason", "one is enough").out == f"1 page reclaimed\n  1 {A}\n"
        assert len(say("pages", "limbo", "--json").document["pages"]) == 3
        assert say("pages", "reclaim", "--reason", "the worker died").out == f"3 pages reclaimed\n  3 {A}\n"
        assert say("pages", "limbo").out == "no page is in limbo\n"
        assert "3 pages: the worker died" in say("log").out


def test_limbo_begins_where_the_configuration_says(here: Path, say: Say):
    crawl = store_crawl(here / "crawl.db", config_text=CONFIG + "storage: {limbo: 2h}\n")
    claim_pages(crawl, time.time_ns() // 1_000_000 - 3 * HOUR)
    assert len(say("pages", "limbo", "--json").document["pages"]) == 4


def test_without_a_configuration_it_is_a_day_and_that_is_said(here: Path, say: Say):
    crawl = store_crawl(here / "crawl.db", config_text="")
    claim_pages(crawl, time.time_ns() // 1_000_000 - 23 * HOUR)
    said = say("pages", "limbo")
    assert said.out == "no page is in limbo\n"
    assert "keeps no configuration" in said.err


def test_a_configuration_that_cannot_be_read_is_an_error(here: Path, say: Say):
    store_crawl(here / "crawl.db", config_text="seeds: nonsense\n")
    say("pages", "limbo").refused("seeds", status=3)


class TestProbe:
    @pytest.fixture(autouse=True)
    def answered(self, database: Path, wiring: Wiring) -> None:
        answers = [
            {"url": f"{ORIGIN}/a", "exit_code": "file_ingested", "http_status": 200, "response_ms": 31, "message": ""},
            {
                "url": f"{ORIGIN}/b",
                "exit_code": "connection_failed",
                "http_status": None,
                "response_ms": None,
                "message": "refused \x1b",
            },
            {"url": "https://x/", "exit_code": "", "http_status": None, "response_ms": None, "message": "not here"},
        ]
        wiring.answer = lambda _: ActionResult(1, "{}", json.dumps({"probed": answers}))

    def test_a_line_for_each_answer(self, say: Say, wiring: Wiring):
        said = say("pages", "probe", f"{ORIGIN}/a", f"{ORIGIN}/b#x", "https://x/", f"{ORIGIN}/a").ok
        assert [command for _, command, _ in wiring.commands] == [
            ProbeUrls((f"{ORIGIN}/a", f"{ORIGIN}/b", "https://x/"))
        ]
        first, second, third = said.out.splitlines()
        assert first.split() == ["file_ingested", "200", "0.0s", f"{ORIGIN}/a"]
        assert second.split(maxsplit=4) == ["connection_failed", "-", "-", f"{ORIGIN}/b", "(refused \\x1b)"]
        assert third.startswith("not requested ")
        assert third.endswith("https://x/  (not here)")

    def test_the_answers_as_json(self, say: Say):
        assert [list(one) for one in say("pages", "probe", f"{ORIGIN}/a", "--json").document["probes"]] == [
            ["url", "exit_code", "http_status", "response_ms", "message"]
        ] * 3

    @pytest.mark.parametrize(("words", "seconds"), [((), 60.0), (("--wait", "1m 30s"), 90.0), (("--wait", "0"), 0.0)])
    def test_how_long_it_waits(
        self, words: tuple[str, ...], seconds: float, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
    ):
        waited: list[float] = []

        def carry_out(database: Path, command: Command, who: str, patience_s: float, undoes: int) -> ActionResult:
            waited.append(patience_s)
            return ActionResult(1, "{}", '{"probed": []}')

        monkeypatch.setattr(wiring, "carry_out", carry_out)
        assert say("pages", "probe", f"{ORIGIN}/a", *words).status == 0
        assert waited == [seconds]

    def test_a_refusal_is_an_error(self, say: Say, wiring: Wiring):
        wiring.answer = lambda _: ActionResult(1, "", "", "at most 1000 URLs at once")
        said = say("pages", "probe", f"{ORIGIN}/a")
        assert (said.status, said.out, said.err) == (2, "", "tui-crawler: at most 1000 URLs at once\n")


class TestWhatIsAsked:
    @pytest.fixture(autouse=True)
    def known(self, database: Path, wiring: Wiring) -> None:
        wiring.reports.job_names = ("main", "news")
        wiring.reports.origins = (origin_view(),)

    @pytest.mark.parametrize(
        ("words", "command"),
        [
            (("stash", " later "), StashPages("later")),
            (
                ("stash", "s", f"{ORIGIN}/a#b", "--origin", "example.org", "--pattern", "a+", "--job", "news"),
                StashPages("s", (f"{ORIGIN}/a",), (ORIGIN,), "a+", "news"),
            ),
            (("unstash", "s"), UnstashPages("s")),
            (("unstash", "s", "--limit", "7", "--job", "news"), UnstashPages("s", 7, "news")),
            (("dripfeed", "s", "3", "--job", "news"), SetDripfeed("s", 3, "news")),
            (("dripfeed", "s", "0"), SetDripfeed("s", 0)),
            (("reclaim", "--reason", "r", f"{ORIGIN}/a"), ReclaimPages("r", (f"{ORIGIN}/a",))),
            (("reclaim", "--reason", "r", "--older", "1 day"), ReclaimPages("r", (), DAY)),
            (("reclaim", "--reason", "r", "--older", "0"), ReclaimPages("r")),
        ],
    )
    def test_words_become_commands(self, words: tuple[str, ...], command: Command, say: Say, wiring: Wiring):
        assert say("pages", *words).status == 0
        assert [one for _, one, _ in wiring.commands] == [command]

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            ((), "COMMAND"),
            (("stash",), "STASH"),
            (("stash", " "), "the name of the stash is empty"),
            (("stash", "a\tb"), "line break or control character"),
            (("stash", "x" * 201), "at most 200 characters"),
            (("stash", "s", "ftp://x/"), "is not http or https"),
            (("stash", "s", "--pattern", "("), "--pattern '('"),
            (("unstash", "s", "--limit", "0"), "above 0"),
            (("dripfeed", "s"), "N"),
            (("dripfeed", "s", "-1"), "from 0 on"),
            (("reclaim", f"{ORIGIN}/a"), "--reason"),
            (("reclaim", "--reason", "  "), "--reason is empty"),
            (("reclaim", "--reason", "r", f"{ORIGIN}/a", "--older", "1h"), "not both"),
            (("reclaim", "--reason", "r", "--older", "soon"), "expected a duration such as 30m"),
            (("limbo", "--older", "5"), "expected a duration"),
            (("probe",), "URL"),
            (("probe", "nonsense"), "nonsense"),
        ],
    )
    def test_what_is_wrong_is_told_and_nothing_is_asked(
        self, words: tuple[str, ...], told: str, say: Say, wiring: Wiring
    ):
        say("pages", *words).refused(told)
        assert not wiring.commands


def test_the_configuration_a_database_keeps_has_its_own_name_and_text(here: Path) -> None:
    """A console that goes on from a file of another name goes on with the same job."""
    path = store_crawl(here / "moved.db", config_name="site")
    config = kept_config(path)
    assert (config.name, config.text) == ("site", CONFIG)
