"""`why`: the decision chain of one URL, on a real database: as a document and on one screen."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import NEWS
from tests.storage.making import T0, A, B, attempt, crawled, failed, fill_of, link, plan, refusal, robots, url
from tui_crawler.cli import why_command
from tui_crawler.config.load import read_config
from tui_crawler.domain.history.explanation import query_advice
from tui_crawler.domain.records.attempt import RefusedCount, Settle
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import DoNotCrawl, PolicySet, QueryPolicy
from tui_crawler.domain.rules.verdict import Cleared
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.store import SqliteStore

HOME = f"{A}/"
EVIL = "\x1b]52;c;x\x07[/]\u202e"
CONFIG = f"""\
seeds: [{A}/]
sites: [{{origin: {A}, start_path: /}}]
jobs: [{{name: news, seeds: [{A}/news], concurrency: 2}}]
user_agent: "bot/1 (for https://example.org/why)"
"""
POLICIES = PolicySet(
    do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/admin/"), "my.yaml:3"),),
    url_query_parameters=(QueryPolicy(Test("path", "prefix", "/list"), frozenset({"page"}), source="my.yaml:5"),),
    exclusions=(Exclusion("pattern", "/members/", "they asked", "ann", "my.yaml:7"),),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home page that was crawled, pages it led to, robots.txt, and a link that was refused."""
    path = tmp_path_factory.mktemp("why") / "crawl.db"
    targets = [f"{A}/gone", f"{A}/no/x", f"{A}/broken", f"{A}/later"]

    async def run() -> None:
        store = SqliteStore(path)
        await store.begin_run(plan(HOME, policies=POLICIES, config_text=CONFIG, jobs=(NEWS,), user_agent="bot/1"))
        (home,) = (await store.candidates(A, T0, 10, True)).pages[:1]
        log = attempt(home, ExitCode.file_ingested, T0 + 5, kind=AttemptKind.robots, page_id=None)
        origin = replace(fill_of(()).origin, robots=robots())
        await store.settle(Settle(replace(log, url=f"{A}/robots.txt"), origin, save_robots=True))
        await store.fill(fill_of((home,)))
        made = crawled(home, T0 + 10, *targets)
        far = (*(made.links or ()), link(f"{B}/far", text="far away"))
        counted = (RefusedCount("scope", 3, f"{B}/other"),)
        await store.settle(replace(made, origin=origin, links=far, refused=counted))
        pages = {page.url: page for page in (await store.candidates(A, T0 + 20, 10, False)).pages}
        await store.fill(replace(fill_of(tuple(pages.values())), origin=origin))
        gone = failed(pages[f"{A}/gone"], T0 + 30, ExitCode.file_not_found, 404)
        await store.settle(replace(gone, origin=origin, attempt=replace(gone.attempt, message=EVIL)))
        await store.settle(replace(refusal(pages[f"{A}/no/x"], T0 + 40), origin=origin))
        broken = failed(pages[f"{A}/broken"], T0 + 50, ExitCode.connection_failed)
        await store.settle(replace(broken, origin=origin))
        await store.end_run("interrupted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(run())
    return path


@pytest.fixture(autouse=True)
def crawl(stored: Path, here: Path) -> Path:
    return Path(shutil.copy(stored, here / "crawl.db"))


@pytest.mark.parametrize(
    ("url", "verdict", "code", "known"),
    [
        (HOME, "crawled", "file_ingested", True),
        (f"{A}/gone", "failed", "file_not_found", True),
        (f"{A}/broken", "retry_pending", "connection_failed", True),
        (f"{A}/no/x", "robots", "blocked_by_robots_txt", True),
        (f"{A}/later", "waiting", None, True),
        (f"{A}/news", "waiting", None, True),
        (f"{A}/admin/x", "policy", "blocked_url_by_local_policy", False),
        (f"{A}/list?sort=1", "query_policy", "blocked_url_by_local_policy", False),
        (f"{A}/members/x", "exclusion", "blocked_by_exclusion_list", False),
        (f"{A}/no/y", "robots", "blocked_by_robots_txt", False),
        (f"{A}/never", "never_seen", None, False),
        (f"{A}/x/x/x/x", "trap", None, False),
        (f"{B}/far", "other_origin", None, False),
        ("ftp://a.example/", "invalid_url", "invalid_url", False),
        (EVIL, "invalid_url", "invalid_url", False),
    ],
)
def test_kinds(url: str, verdict: str, code: str | None, known: bool, say: Say) -> None:
    document = say("why", url, "--json").ok.document
    assert (document["verdict"], document["exit_code"], document["known"]) == (verdict, code, known)
    assert say("why", url).status == 0


def test_the_document(say: Say) -> None:
    document = say("why", "HTTPS://A.example:443/gone#x", "--json").document
    assert list(document) == [
        *("url", "normalized", "known", "verdict", "exit_code", "steps", "provenance", "attempts"),
        *("due_at", "queue_position"),
    ]
    assert (document["url"], document["normalized"]) == ("HTTPS://A.example:443/gone#x", f"{A}/gone")
    assert all(set(step) == {"stage", "verdict", "reason", "source"} for step in document["steps"])
    assert document["provenance"] == [{"from": HOME, "to": f"{A}/gone", "kind": "a", "depth": 1}]
    (attempted,) = document["attempts"]
    assert list(attempted) == [
        *("attempt_id", "run_id", "url", "origin", "kind", "exit_code", "exit_code_id", "http_status", "started_at"),
        *("ended_at", "response_ms", "bytes", "requests", "patience_after", "politeness_after", "delay_ms_after"),
        *("ruleset_id", "worker", "message", "cut"),
    ]
    assert document["due_at"] > T0
    assert document["queue_position"] is None


def test_a_url_without_a_scheme_is_read_as_a_seed_is(say: Say) -> None:
    document = say("why", HOME.removeprefix("https://"), "--json").document
    assert (document["url"], document["known"]) == (HOME, True)


def test_the_lines_that_decided(say: Say) -> None:
    def sources(url: str) -> dict[str, str]:
        steps = say("why", url, "--json").document["steps"]
        return {step["stage"]: step["source"] for step in steps}

    assert sources(f"{A}/admin/x")["do_not_crawl"] == "my.yaml:3"
    assert sources(f"{A}/list?x=1")["query_policy"] == "my.yaml:5"
    assert sources(f"{A}/members/x")["exclusion"] == "my.yaml:7"
    assert sources(f"{A}/no/y")["robots"] == "robots.txt:2"
    assert sources(HOME)["start_path"] == "sites, line 2 of the configuration"
    assert sources(f"{B}/far")["scope"] == "seeds, line 1 of the configuration"


def test_a_link_that_was_refused_has_a_path_and_a_counter(say: Say) -> None:
    document = say("why", f"{B}/far", "--json").document
    assert document["provenance"] == [{"from": HOME, "to": f"{B}/far", "kind": "a", "depth": 1}]
    told = document["steps"][-1]["reason"]
    assert told == (
        f"named by {HOME}, and is refused: {B} is not one of the origins that are crawled (3 links of {A} refused so)"
    )
    assert f"found on a page of {A}" in say("why", f"{B}/other", "--json").document["steps"][-1]["reason"]


def test_the_place_on_the_todo_list(say: Say) -> None:
    document = say("why", f"{A}/later", "--json").document
    assert document["queue_position"] == 2, "after the page of the other job"
    assert "number 2 of the todo list" in document["steps"][-1]["reason"]


def test_a_job_may_be_named(say: Say) -> None:
    other = say("why", f"{A}/news", "--job", "main", "--json").document
    assert (other["known"], other["verdict"]) == (False, "never_seen")
    assert any("it is one of job news" in step["reason"] for step in other["steps"])
    say("why", HOME, "--job", "nwes").refused("did you mean news?")


def test_what_operators_asked_for_counts_at_once(say: Say) -> None:
    assert say("exclude", "pattern", "/later", "--reason", "asked").status == 0
    assert say("why", f"{A}/later", "--json").document["verdict"] == "exclusion"
    assert "--remove" in say("why", f"{A}/later").out


def test_one_screen(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(len(line) > 80 for line in say("why", HOME).out.splitlines()), "in a pipe nothing is wrapped or cut"
    monkeypatch.setattr(why_command, "terminal_width", lambda: 80)
    for asked in (HOME, f"{A}/gone", f"{A}/no/x", f"{A}/list?sort=1", f"{B}/far", f"{A}/later"):
        lines = say("why", asked).out.splitlines()
        assert len(lines) <= 24, asked
        assert all(len(line) <= 80 for line in lines), asked
        assert lines[0] == asked


def test_for_people(say: Say) -> None:
    lines = say("why", f"{A}/list?sort=1").out.splitlines()
    assert lines[1].startswith("QUERY POLICY: never seen, and would be refused: url_query_parameters: parameter")
    assert any(line.startswith("  → change the policy at my.yaml:5") for line in lines)
    assert any(line.startswith("✗ query_policy") for line in lines)
    assert any(line.startswith("✓ passes        scope, whitelist, exclusion") for line in lines)
    gone = say("why", f"{A}/gone").out
    assert f"  {HOME}  seed\n  ↳ {A}/gone  a, depth 1\n" in gone
    assert "file_not_found  404" in gone


def test_verbose_has_every_stage_on_a_line(say: Say) -> None:
    lines = say("why", f"{A}/later", "--verbose").out.splitlines()
    stages = [line.split()[1] for line in lines if line[:2] in {"✓ ", "✗ ", "? "}]
    assert stages[0] == "normalise"
    assert {"trap_repeat", "rule_skip", "depth", "tries", "queue"} <= set(stages)


def test_hostile_texts_are_made_safe(say: Say) -> None:
    for words in ((f"{A}/gone",), (f"{A}/gone", "--json"), (EVIL,), (f"{A}/?{EVIL}=1", "--verbose")):
        assert say("why", *words).out


def test_a_database_without_a_run(here: Path, say: Say) -> None:
    open_writable(here / "new.db", OpenSettings()).close()
    document = say("why", HOME, "--db", "new.db", "--json").document
    assert (document["verdict"], document["known"]) == ("other_origin", False)
    assert say("links", HOME, "--db", "new.db").status == 0


@pytest.mark.parametrize(
    "path", ["/list?page=1", '/a"b?x%20y=1&%C3%A9=2&[=3', "/é?{a: b}=1&#c", "/x?=", "/:?- a=[]", "/x?%00=1", "/x?😀=1"]
)
def test_the_advice_for_a_query_is_configuration_that_lets_it_pass(path: str) -> None:
    page = url(A + path)
    advice = query_advice(page)
    config = read_config(f"seeds: [{A}/]\n{advice.removeprefix('add ')}\n", "advised")
    assert isinstance(Admission(config.policy_set, Scope(frozenset({A})), Limits()).judge(page, None), Cleared)
