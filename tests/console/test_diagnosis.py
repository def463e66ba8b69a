"""The line under the tabs: what needs a person, at any width, what its keys do, and that it stays away once hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.rule_stage import draft_text
from tests.console.sample_crawl import API, WWW, run_view
from tests.console.support import FakeReports, FrozenClock, Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.panes.bars import DiagnosisBar
from tui_crawler.console.panes.diagnosis import allow_label, diagnosis_line
from tui_crawler.console.panes.line import doors_in, width_of
from tui_crawler.console.replay.player import ReplayPlayer, Replays
from tui_crawler.console.session import SessionFile
from tui_crawler.domain.history.coverage import SeedEnd
from tui_crawler.domain.history.diagnosis import (
    Diagnosis,
    DiagnosisFacts,
    DiagnosisKind,
    LostPage,
    RefusedQueries,
)
from tui_crawler.domain.records.page_view import RefusedView
from tui_crawler.domain.records.status_words import UNCONFIGURED_USER_AGENT

SHOP = "https://shop.example"
PAGES = tuple(f"{SHOP}/list?page={number}" for number in range(9))
STOPPED = LostPage(
    API, SeedEnd(f"{API}/", "connection_failed", None, f"{API}/", "192.0.2.1 port 443: Connection refused")
)
MOVED = LostPage(WWW, SeedEnd(f"{WWW}/", "permanent_redirect", 301, "https://new.example/", ""))
GONE = LostPage(WWW, SeedEnd(f"{WWW}/x", "file_not_found", 404, f"{WWW}/x", ""))
DENIED = LostPage(WWW, SeedEnd(f"{WWW}/", "blocked_by_robots_txt", None, f"{WWW}/", ""))
QUERIES = DiagnosisFacts(queries=(RefusedQueries(SHOP, 9, PAGES, PAGES),))


def needing(facts: DiagnosisFacts, **run: object) -> FakeReports:
    """Reports of a crawl with these facts."""
    return FakeReports(facts=facts, newest_run=replace(run_view(), **run))  # type: ignore[arg-type]


def line(held: Stage) -> str:
    """The line, where it is shown."""
    bar = held.app.console_screen.query_one(DiagnosisBar)  # type: ignore[union-attr]
    return bar.text if bar.display else ""


async def read(held: Stage) -> None:
    """What needs a person is read every few seconds."""
    await held.settle(3, move_ms=5_100)


async def test_nothing_is_said_of_a_crawl_that_goes_well() -> None:
    async with stage() as held:
        await read(held)
        assert line(held) == ""
        await held.command("wrong")
        assert held.told == "what is wrong: nothing needs you"


async def test_what_is_gravest_is_said_on_every_screen_and_hidden_until_it_is_worse(tmp_path: Path) -> None:
    reports = needing(replace(QUERIES, stopped=(STOPPED,), stopped_total=1))
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage(reports=reports, memory=memory) as held:
        await read(held)
        assert line(held).startswith("⚠ api.example.org stopped: connection refused   ")
        await held.press("view.failures", rounds=3)
        assert "stopped: connection refused" in line(held)
        await held.act("diagnosis.dismiss", rounds=3)
        assert line(held).startswith("⚠ 9 query URLs of shop.example refused (?page=)   ")
        await held.act("diagnosis.dismiss", rounds=3)
        assert line(held) == ""
        reports.facts = replace(reports.facts, stopped=(STOPPED, GONE), stopped_total=2)
        reports.commit()
        await read(held)
        assert "2 origins stopped" in line(held)
        await held.act("diagnosis.dismiss")
        held.app.remember()
    async with stage(reports=reports, memory=memory) as held:
        await read(held)
        assert line(held) == "", "it is remembered"
        reports.newest_run = replace(run_view(), run_id=99)
        reports.commit()
        await read(held)
        assert "2 origins stopped" in line(held), "another run, another fault"


@pytest.mark.parametrize(
    ("facts", "where"),
    [
        (DiagnosisFacts(stopped=(STOPPED,), stopped_total=1), Where.origin),
        (DiagnosisFacts(stopped=(STOPPED, GONE), stopped_total=2), Where.failures),
        (DiagnosisFacts(seeds=(MOVED,)), Where.origin),
        (DiagnosisFacts(seeds=(GONE,)), Where.url),
        (DiagnosisFacts(seeds=(DENIED,)), Where.robots),
        (QUERIES, Where.urls),
        (DiagnosisFacts(traps=(RefusedView(API, "trap_repeat", 40, f"{API}/a/a/a/a/"),)), Where.tree),
        (DiagnosisFacts(elsewhere=((API, "30 of 40 pages name another URL"),)), Where.urls),
    ],
)
async def test_each_kind_is_shown_where_it_is_seen(facts: DiagnosisFacts, where: Where) -> None:
    async with stage(reports=needing(facts)) as held:
        await read(held)
        await held.act("diagnosis.show", rounds=3)
        assert held.on_top.WHERE is where


async def test_several_stopped_origins_are_shown_by_their_failures_alone() -> None:
    facts = DiagnosisFacts(stopped=(STOPPED, GONE), stopped_total=2)
    async with stage((120, 40), reports=needing(facts)) as held:
        await read(held)
        await held.act("diagnosis.show", rounds=3)
        held.sees("Failures · 2 origins · by")
        await held.press("nav.back")
        held.sees("By exit code")


async def test_m_drafts_the_policy_that_allows_what_is_refused() -> None:
    async with stage((160, 40), reports=needing(QUERIES)) as held:
        await read(held)
        assert "[m] allow page" in line(held)
        await held.act("diagnosis.allow", rounds=3)
        assert held.on_top.WHERE is Where.rule_draft
        assert "allow: [page]" in draft_text(held)
        assert SHOP in draft_text(held)


async def test_where_m_makes_a_rule_of_the_selection_the_line_does_not_claim_it() -> None:
    async with stage((160, 40), reports=needing(QUERIES)) as held:
        await read(held)
        await held.press("view.urls", rounds=3)
        assert "[m]" not in line(held)
        assert "allow page" in line(held), "a click does it"
        await held.pilot.resize_terminal(80, 24)
        await held.quiet()
        assert "[g w] show" in line(held), "what has a key comes first"


async def test_a_click_on_the_line_does_what_it_names_also_where_a_key_would_not() -> None:
    async with stage((160, 40), reports=needing(QUERIES)) as held:
        await read(held)
        await held.press("view.urls", rounds=3)
        bar = held.on_top.query_one(DiagnosisBar)
        (place,) = [start for start, _, goal in doors_in(bar.lines[0]) if goal == "diagnosis.allow"]
        await held.pilot.click(bar, offset=(place + 2, 0))
        await held.settle(3)
        assert "allow: [page]" in draft_text(held)


async def test_a_replay_asks_for_nobody() -> None:
    replays = Replays(ReplayPlayer(FrozenClock()))
    async with stage((160, 40), reports=needing(QUERIES), replays=replays) as held:
        await read(held)
        assert line(held) == ""


async def test_a_seed_that_moved_is_offered_to_be_added() -> None:
    async with stage((160, 40), reports=needing(DiagnosisFacts(seeds=(MOVED,)))) as held:
        await read(held)
        assert f"[{held.app.appearance.key_names('origin.add')}] add it" in line(held)
        await held.act("origin.add", rounds=1)
        held.sees("https://new.example/")


async def test_a_crawler_that_died_is_offered_to_be_continued_where_that_is_possible() -> None:
    reports = needing(DiagnosisFacts(pending=812), live=False)
    async with stage((160, 40), reports=reports) as held:
        await read(held)
        assert line(held).startswith("⚠ crawler died, 812 URLs to do")
    async with stage((160, 40), reports=reports, readonly=True) as held:
        await read(held)
        assert "continue" not in line(held)


@pytest.mark.parametrize("width", [40, 120])
async def test_a_crawler_without_a_name_is_warned_of_at_any_width(width: int) -> None:
    reports = needing(DiagnosisFacts(), user_agent=UNCONFIGURED_USER_AGENT)
    async with stage((width, 20), reports=reports) as held:
        await read(held)
        assert line(held).startswith("⚠ sites see tui-crawler")


async def test_one_that_only_watches_is_offered_no_command() -> None:
    async with stage((160, 40), reports=needing(DiagnosisFacts(seeds=(MOVED,))), readonly=True) as held:
        await read(held)
        assert "seed moved to https://new.example/" in line(held)
        assert "add it" not in line(held)


ANY = Diagnosis(DiagnosisKind.queries_refused, "9 query URLs of shop.example refused (?page=)", origins=(SHOP,))
OFFERS = [("diagnosis.allow", "m", "allow page"), ("diagnosis.show", "g !", "show"), ("x", "x", "hide")]


def test_the_words_are_cut_first_and_the_keys_go_last_to_first() -> None:
    shown = {width: diagnosis_line(ANY, OFFERS, width) for width in (100, 80, 60, 40, 24)}
    keys = {width: [goal for _, _, goal in [*doors_in(cells)][1:]] for width, cells in shown.items()}
    assert keys[100] == [action_id for action_id, _, _ in OFFERS]
    assert keys[80] == ["diagnosis.allow", "diagnosis.show"]
    assert keys[40] == ["diagnosis.allow"]
    assert keys[24] == []
    for width, cells in shown.items():
        assert width_of(cells) <= width  # type: ignore[arg-type]
        assert all(end <= width for _, end, _ in doors_in(cells))
        words = cells[1].text  # type: ignore[union-attr,index]  # its words
        assert ANY.words.startswith(words.removesuffix("…")), width
        assert words == ANY.words or ANY.words[len(words) - 1] == " ", "no word is cut"


@given(st.text(), st.frozensets(st.text(), min_size=1, max_size=4), st.integers(10, 250))
def test_hostile_words_and_parameters_stay_in_one_line(words: str, names: frozenset[str], width: int) -> None:
    from tui_crawler.domain.rules.policy import QueryPolicy  # noqa: PLC0415  what the line gets

    hostile = replace(ANY, words=words, policy=QueryPolicy(None, names))
    offers = [("diagnosis.allow", "m", allow_label(hostile)), *OFFERS[1:]]
    cells = diagnosis_line(hostile, offers, width)
    assert width_of(cells) <= width  # type: ignore[arg-type]
    assert all(0 <= start < end <= width for start, end, _ in doors_in(cells))
    assert all(cell_len(label) <= 24 and "\n" not in label for _, _, label in offers)
