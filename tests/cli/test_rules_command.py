"""`rules`: shown, tested, previewed, applied, undone, listed, compared; on real databases."""

from __future__ import annotations

import io
import json
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CONFIG, Say, Terminal
from tests.cli.crawls import NEWS, OF_RULES, SEEDS, asked_of, store_crawl
from tests.storage.making import A, B
from tui_crawler.cli import printer
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring import operator_name
from tui_crawler.wiring import rules as wiring_rules

SITES = (f"{A}/", f"{A}/admin/x", f"{A}/list?page=1", f"{A}/slides/1", f"{B}/members/1")
POLICIES = PolicySet(
    do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/admin/"), "my.yaml:3"),),
    url_query_parameters=(QueryPolicy(Test("path", "prefix", "/list"), frozenset({"page"}), source="my.yaml:5"),),
    exclusions=(OF_RULES,),
    rules=(Rule("/slides/", skip=True, ua="slow/1", source="my.yaml:9"),),
    whitelist=Whitelist(("*.example",), ()),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one job, and rules of every section."""
    return store_crawl(tmp_path_factory.mktemp("rules") / "crawl.db", *SITES, policies=POLICIES, jobs=())


@pytest.fixture
def crawl(stored: Path, here: Path) -> Path:
    """The same, for one test alone."""
    return Path(shutil.copy(stored, here / "crawl.db"))


def taken_back(crawl: Path) -> list[bool]:
    """Which actions of the operator journal were undone, the oldest first."""
    with closing(Reports(crawl)) as reports:
        return [one.undone for one in reversed(reports.actions())]


def rules_file(here: Path, text: str) -> str:
    (here / "new.yaml").write_text(text, encoding="utf-8")
    return "new.yaml"


class TestShow:
    def test_as_json(self, crawl: Path, say: Say) -> None:
        assert say("rules", "show", "--json").document == {
            "ruleset_id": 1,
            "policies": {
                "do_not_crawl": [{"path": {"prefix": "/admin/"}}],
                "url_query_parameters": [{"match": {"path": {"prefix": "/list"}}, "allow": ["page"]}],
            },
            "rules": [{"match": "/slides/", "skip": True, "ua": "slow/1"}],
            "exclusions": [{"pattern": "/members/", "reason": "they asked", "who": "the society"}],
            "whitelist": {"domains": ["*.example"]},
        }

    def test_for_people(self, crawl: Path, say: Say) -> None:
        assert say("rules", "show").out.splitlines() == [
            "# version 1 of job main",
            "policies:",
            "  do_not_crawl:",
            "    - {path: {prefix: /admin/}}  # my.yaml:3",
            "  url_query_parameters:",
            "    - {match: {path: {prefix: /list}}, allow: [page]}  # my.yaml:5",
            "rules:",
            "  - {match: /slides/, skip: true, ua: slow/1}  # my.yaml:9",
            "exclusions:",
            "  - {pattern: /members/, reason: they asked, who: the society}  # my.yaml:7",
            "whitelist:",
            "  domains:",
            "    - '*.example'",
            "  patterns:",
        ]

    def test_what_is_shown_can_be_applied_and_changes_nothing(self, here: Path, crawl: Path, say: Say) -> None:
        assert say("exclude", "host", "gone.example", "--reason", "asked").status == 0
        text = say("rules", "show").out
        assert "#  - {host: gone.example, reason: asked, who:" in text
        assert say("rules", "apply", rules_file(here, text)).out == "nothing to change: version 1 says the same\n"

    def test_what_operators_excluded_is_there_with_their_name(self, crawl: Path, say: Say) -> None:
        assert say("exclude", "host", "gone.example", "--reason", "asked").status == 0
        shown = say("rules", "show", "--json").document
        assert shown["ruleset_id"] == 1
        assert shown["exclusions"][1] == {"host": "gone.example", "reason": "asked", "who": operator_name()}

    def test_that_no_query_policy_refuses_every_query_is_said(self, here: Path, say: Say) -> None:
        store_crawl(here / "crawl.db", policies=PolicySet(), jobs=())
        assert say("rules", "show").out.splitlines()[-1].endswith("every URL with a query is refused")

    def test_of_a_job(self, here: Path, say: Say) -> None:
        own = JobPlan("own", NEWS.seeds, rules=(Rule("/own/", skip=True),))
        store_crawl(here / "crawl.db", jobs=(own,))
        assert say("rules", "show", "--json").document["rules"] == []
        assert say("rules", "show", "--job", "own", "--json").document["rules"] == [{"match": "/own/", "skip": True}]
        say("rules", "show", "--job", "onw").refused("did you mean own?")


class TestTest:
    @pytest.mark.parametrize(
        ("url", "verdict", "code", "decided_by"),
        [
            (f"{A}/", "allowed", None, ""),
            (f"{A}/admin/x", "do_not_crawl", "blocked_url_by_local_policy", "(my.yaml:3)"),
            (f"{A}/list?page=1", "allowed", None, ""),
            (f"{A}/list?sort=1", "query_policy", "blocked_url_by_local_policy", "(my.yaml:5)"),
            ("HTTPS://A.example/slides/1", "rule_skip", "skipped_by_rule", "(my.yaml:9)"),
            ("http://other.example/members/", "exclusion", "blocked_by_exclusion_list", "(my.yaml:7)"),
        ],
    )
    def test_a_url(self, url: str, verdict: str, code: str | None, decided_by: str, crawl: Path, say: Say) -> None:
        document = say("rules", "test", url, "--json").document
        assert (document["verdict"], document["exit_code"]) == (verdict, code)
        assert document["decided_by"].endswith(decided_by)
        assert set(document) == {"url", "verdict", "exit_code", "decided_by", "settings"}

    def test_settings(self, crawl: Path, say: Say) -> None:
        document = say("rules", "test", f"{A}/slides/1", "--json").document
        assert document["settings"] == {"accept": True, "skip": True, "ua": "slow/1", "custom_js": None}
        assert say("rules", "test", f"{A}/slides/1").out.splitlines() == [
            f"{A}/slides/1",
            "rule_skip (skipped_by_rule): rule /slides/: skip true (my.yaml:9)",
            "  skip True by rule /slides/  (my.yaml:9)",
            "  ua slow/1 by rule /slides/  (my.yaml:9)",
        ]

    def test_what_is_no_url(self, crawl: Path, say: Say) -> None:
        said = say("rules", "test", "ftp://x\x1b")
        assert said.status == 2
        assert "\x1b" not in said.err


class TestPreview:
    def test_as_json(self, here: Path, crawl: Path, say: Say) -> None:
        file = rules_file(here, "rules: []\nexclusions: [{host: a.example, reason: asked}]\n")
        assert say("rules", "preview", file, "--json").document == {
            "known": 5,
            "newly_blocked": 2,
            "newly_allowed": 1,
            "unchanged": 2,
            "by_origin": [
                {"origin": A, "newly_blocked": 2, "newly_allowed": 0, "unchanged": 2},
                {"origin": B, "newly_blocked": 0, "newly_allowed": 1, "unchanged": 0},
            ],
            "seeds_hit": [f"{A}/", f"{A}/list?page=1"],
            "samples": [
                {
                    "url": f"{A}/",
                    "before": "allowed",
                    "after": "exclusion",
                    "decided_by": "exclusion list: host a.example, asked (new.yaml:2)",
                },
                {
                    "url": f"{A}/list?page=1",
                    "before": "allowed",
                    "after": "exclusion",
                    "decided_by": "exclusion list: host a.example, asked (new.yaml:2)",
                },
                {
                    "url": f"{B}/members/1",
                    "before": "exclusion",
                    "after": "allowed",
                    "decided_by": "exclusion list: pattern /members/, they asked (by the society) (my.yaml:7)",
                },
            ],
        }
        assert asked_of(crawl) == [], "a preview asks for nothing"

    def test_for_people(self, here: Path, crawl: Path, say: Say) -> None:
        lines = say("rules", "preview", rules_file(here, "policies: {url_query_parameters: []}\n")).out.splitlines()
        assert lines[0] == "of 5 known URLs 1 newly blocked, 0 newly allowed, 4 unchanged"
        assert lines[1] == "newly blocked by what became of them so far: 1 waiting (what is stored is kept)"
        assert lines[2:4] == ["this blocks 1 seed:", f"  {A}/list?page=1"]
        assert f"- {A}/list?page=1" in lines
        assert lines[-1].startswith("    allowed → query_policy: no url_query_parameters policy is configured")

    def test_what_operators_excluded_stays_excluded(self, here: Path, crawl: Path, say: Say) -> None:
        assert say("exclude", "host", "b.example").status == 0
        document = say("rules", "preview", rules_file(here, "exclusions: []\n"), "--json").document
        assert (document["newly_allowed"], document["unchanged"]) == (0, 5)

    def test_windows(self, here: Path, crawl: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wiring_rules, "WINDOW", 2)
        assert say("rules", "preview", rules_file(here, "rules: []\n"), "--json").document["known"] == 5

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("ruls: []\n", "ruls: unknown key"),
            ("", "contains no rules"),
            ("rules: [{match: '('}]\n", "new.yaml:1"),
            ("rules:\n<<<<<<< mine\n=======\n", "new.yaml:2:1: a conflict is not resolved: <<<<<<< mine"),
        ],
    )
    def test_a_wrong_file(self, text: str, words: str, here: Path, crawl: Path, say: Say) -> None:
        for command in ("preview", "apply"):
            say("rules", command, rules_file(here, text)).refused(words)
        assert asked_of(crawl) == []

    def test_no_file(self, crawl: Path, say: Say) -> None:
        assert "no such file" in say("rules", "preview", "none.yaml").err

    def test_a_sign_of_life(self, here: Path, crawl: Path, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
        screen, ticks = Terminal(), iter(range(100))
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(printer.time, "monotonic", lambda: float(next(ticks)))
        monkeypatch.setattr(wiring_rules, "WINDOW", 1)
        assert say("rules", "preview", rules_file(here, "rules: []\n"), "--json").document["known"] == 5
        assert "\r2 URLs judged" in screen.getvalue()
        assert screen.getvalue().endswith("\r\x1b[K")

    def test_no_sign_of_life_in_a_pipe(
        self, here: Path, crawl: Path, say: Say, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pipe, ticks = io.StringIO(), iter(range(100))
        monkeypatch.setattr(sys, "stderr", pipe)
        monkeypatch.setattr(printer.time, "monotonic", lambda: float(next(ticks)))
        assert say("rules", "preview", rules_file(here, "rules: []\n")).status == 0
        assert pipe.getvalue() == ""


class TestApply:
    def test_a_version_is_written_and_the_preview_told(self, here: Path, crawl: Path, say: Say) -> None:
        said = say("rules", "apply", rules_file(here, "exclusions: []\n"), "--note", "they came back")
        assert said.out == ("version 2 is in force: of 5 known URLs 0 newly blocked, 1 newly allowed, 4 unchanged\n")
        shown = say("rules", "show", "--json").document
        assert (shown["ruleset_id"], shown["exclusions"]) == (2, [])
        assert shown["rules"], "what the file does not name stays"
        history = say("rules", "history", "--json").document["rulesets"]
        assert [list(one) for one in history] == [["ruleset_id", "at", "who", "note", "current"]] * 2
        assert [(one["ruleset_id"], one["who"], one["note"], one["current"]) for one in history] == [
            (2, operator_name(), "they came back", True),
            (1, "configuration", "read from the configuration", False),
        ]

    def test_seeds_that_are_hit_are_named(self, here: Path, crawl: Path, say: Say) -> None:
        lines = say("rules", "apply", rules_file(here, "rules: [{match: ., skip: true}]\n")).out.splitlines()
        assert lines[1] == "this blocks 2 seeds:"
        assert f"  {A}/" in lines

    def test_what_changes_nothing(self, here: Path, crawl: Path, say: Say) -> None:
        same = "rules: [{match: /slides/, skip: true, ua: slow/1}]\n"
        assert say("rules", "apply", rules_file(here, same)).out == "nothing to change: version 1 says the same\n"
        assert say("rules", "apply", rules_file(here, same), "--json").document["changed"] is False
        changed = say("rules", "apply", rules_file(here, "exclusions: []\n"), "--json").document
        assert (changed["changed"], changed["rulesets"], changed["newly_allowed"]) == (True, {"main": 2}, 1)

    def test_another_version_is_current(self, here: Path, crawl: Path, say: Say) -> None:
        assert say("rules", "apply", rules_file(here, "rules: []\n")).status == 0
        say("rules", "apply", rules_file(here, "exclusions: []\n"), "--base", "1").refused(
            "began with version 1, but version 2 is current"
        )
        assert say("rules", "show", "--json").document["ruleset_id"] == 2
        assert say("rules", "apply", rules_file(here, "exclusions: []\n"), "--base", "2").status == 0
        assert "no version 99" in say("rules", "apply", "new.yaml", "--base", "99").err

    def test_undo_and_undo_again(self, here: Path, crawl: Path, say: Say) -> None:
        before = say("rules", "show", "--json").document
        assert "none before it" in say("rules", "undo").err
        assert say("rules", "apply", rules_file(here, "rules: []\nwhitelist: {}\n")).status == 0
        told = say("rules", "undo", "--note", "a mistake").out.splitlines()
        assert told[0] == "version 3 is in force: of 5 known URLs 1 newly blocked, 0 newly allowed, 4 unchanged"
        assert told[1:] == [
            "this blocks 1 seed:",
            f"  {A}/slides/1",
            "another undo restores what version 2 says",
        ]
        assert say("rules", "show", "--json").document == {**before, "ruleset_id": 3}
        assert say("rules", "undo", "--json").document["ruleset_id"] == 4
        shown = say("rules", "show", "--json").document
        assert (shown["rules"], shown["ruleset_id"]) == ([], 4)
        notes = [one["note"] for one in say("rules", "history", "--json").document["rulesets"]]
        assert notes[:2] == ["undo: back to version 2", "a mistake"]

    def test_undo_marks_the_action_that_it_takes_back(self, here: Path, crawl: Path, say: Say) -> None:
        file = rules_file(here, "rules: []\n")
        assert say("rules", "apply", file).status == 0
        assert say("rules", "apply", file).status == 0  # changes nothing, and comes later
        assert say("rules", "undo").status == 0
        assert taken_back(crawl) == [True, False, False]
        assert say("rules", "undo").status == 0
        assert taken_back(crawl) == [True, False, True, False]

    def test_undo_for_one_job_of_what_was_applied_to_all_takes_no_action_back(self, here: Path, say: Say) -> None:
        crawl = store_crawl(here / "crawl.db")
        file = rules_file(here, "exclusions: [{host: a.example}]\n")
        assert set(say("rules", "apply", file, "--json").document["rulesets"]) == {"main", "news"}
        assert say("rules", "undo", "--job", "news").status == 0
        assert taken_back(crawl) == [False, False]
        assert say("rules", "apply", file, "--job", "news").status == 0
        assert say("rules", "undo", "--job", "news").status == 0
        assert taken_back(crawl) == [False, False, True, False]
        assert say("rules", "undo").status == 0
        assert taken_back(crawl) == [True, False, True, False, False]

    def test_one_job_and_every_job(self, here: Path, say: Say) -> None:
        crawl = store_crawl(here / "crawl.db")
        file = rules_file(here, "rules: [{match: /one, skip: true}]\n")
        both = say("rules", "apply", file, "--json").document
        assert set(both["rulesets"]) == {"main", "news"}
        assert both["newly_blocked"] == 1
        news = say("rules", "apply", rules_file(here, "rules: []\n"), "--job", "news", "--json").document
        assert news["newly_allowed"] == 0
        assert say("rules", "show", "--json").document["rules"]
        assert say("rules", "show", "--job", "news", "--json").document["rules"] == []
        assert len(asked_of(crawl)) == 2

    def test_a_note_is_one_line(self, here: Path, crawl: Path, say: Say) -> None:
        assert say("rules", "apply", rules_file(here, "rules: []\n"), "--note", "a\nb").status == 2
        assert asked_of(crawl) == []


class TestDiff:
    def test_an_entry_that_moved(self, here: Path, crawl: Path, say: Say) -> None:
        for order in ("a", "b", "c"), ("b", "c", "a", "d"):
            entries = ", ".join(f"{{match: /{name}/, skip: true}}" for name in order)
            assert say("rules", "apply", rules_file(here, f"rules: [{entries}]\n")).status == 0
        diff = say("rules", "diff", "2").out.splitlines()
        assert diff[:2] == ["--- version 2", "+++ version 3"]
        assert [line for line in diff[3:] if line[0] != " "] == [
            "-  - {match: /a/, skip: true}  # new.yaml:1",
            "+  - {match: /a/, skip: true}  # new.yaml:1",
            "+  - {match: /d/, skip: true}  # new.yaml:1",
        ]
        lines = say("rules", "diff", "2", "--json").document["lines"]
        assert [line["added"] for line in lines] == [False, True, True]

    def test_two_versions(self, here: Path, crawl: Path, say: Say) -> None:
        assert say("rules", "apply", rules_file(here, "rules: [{match: /new/, skip: true}]\n")).status == 0
        assert say("rules", "diff", "1").out.splitlines() == [
            "--- version 1",
            "+++ version 2",
            "@@ -4,7 +4,7 @@ rules:",
            "   url_query_parameters:",
            "     - {match: {path: {prefix: /list}}, allow: [page]}  # my.yaml:5",
            " rules:",
            "-  - {match: /slides/, skip: true, ua: slow/1}  # my.yaml:9",
            "+  - {match: /new/, skip: true}  # new.yaml:1",
            " exclusions:",
            "   - {pattern: /members/, reason: they asked, who: the society}  # my.yaml:7",
            " whitelist:",
        ]
        document = say("rules", "diff", "2", "1", "--json").document
        assert (document["from"], document["to"]) == (2, 1)
        assert [(line["section"], line["added"]) for line in document["lines"]] == [("rules", False), ("rules", True)]
        assert "say the same" in say("rules", "diff", "2", "2").out
        assert "no version 9" in say("rules", "diff", "9").err


def test_hostile_texts_are_made_safe(here: Path, say: Say) -> None:
    evil = "\x1b]52;c;x\x07\u202e[/]"
    policies = PolicySet(
        rules=(Rule("/", skip=True, source=evil),), exclusions=(Exclusion("pattern", "x", evil, evil, evil),)
    )
    store_crawl(here / "crawl.db", *SEEDS, policies=policies, config_text=CONFIG, jobs=())
    rules_file(here, "rules: []\n")
    for words in ("show", "test https://a.example/x", "preview new.yaml", "apply new.yaml", "history", "diff 1"):
        said = say("rules", *words.split())
        assert said.status == 0, said.err
        assert all(char.isprintable() or char == "\n" for char in said.out + said.err)


def test_history_before_any_run(here: Path, say: Say) -> None:
    open_writable(here / "crawl.db", OpenSettings()).close()
    assert say("rules", "history", "--json").document == {"rulesets": []}
    assert "the first run writes one" in say("rules", "history").out
    shown: dict[str, Any] = json.loads(say("rules", "show", "--json").out)
    assert shown["ruleset_id"] == 0
    assert say("rules", "undo").status == 2
