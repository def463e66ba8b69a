"""Filters, orders and what is shown of the numbered views are there again when one comes back, now or the next time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API
from tests.console.support import Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.session import MOST_BYTES, ConsoleSession, SessionFile, _session
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.layouts import LONGEST, TableLayout, ViewLayout
from tui_crawler.console.urls.cells import host_of


def table(held: Stage, selector: str) -> CrawlTable:
    return held.app.screen.query_one(selector, CrawlTable)


async def leave(held: Stage) -> None:
    await held.press("q", rounds=0)
    await held.gone()


async def test_grouping_filter_and_order_of_failures_are_there_again(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage((160, 40), memory=memory) as held:
        await held.press("2", "failures.group", "enter", rounds=2)
        await held.type("/api")
        await held.press("enter", "sort.reverse", rounds=1)
        groups = table(held, "#groups")
        assert groups.needle == "api"
        before, order = list(groups.row_order), groups.order
        assert before
        assert order is not None
        await held.press("1", "2", rounds=2)
        assert list(table(held, "#groups").row_order) == before, "another view lay over it"
        await leave(held)
    async with stage((160, 40), memory=memory) as held:
        await held.settle(2)
        groups = table(held, "#groups")
        assert (list(groups.row_order), groups.order) == (before, order)
        assert "By origin" in held.text()
        assert "/ api · " in held.text()
        await held.press("escape", *("failures.group", "enter") * 5, rounds=1)
        assert groups.needle == ""
        held.app.screen.query_one("#groups", CrawlTable).order_by(None)
        await leave(held)
    assert memory.recall().looks == ()


async def test_the_filter_of_all_urls_and_their_order_are_there_again(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage((120, 40), memory=memory) as held:
        await held.press("3", rounds=2)
        await held.type("/exit:timeout")
        await held.press("enter", "sort.reverse", rounds=2)
        assert "newest first · filter: exit:timeout" in held.text()
        before = list(table(held, "#urls").row_order)
        await held.press("1", "3", rounds=2)
        assert list(table(held, "#urls").row_order) == before
        await leave(held)
    async with stage((120, 40), memory=memory) as held:
        await held.settle(2)
        assert "newest first · filter: exit:timeout" in held.text()
        assert list(table(held, "#urls").row_order) == before
        await held.press("escape", rounds=2)
        assert "filter:" not in held.text()
        assert len(table(held, "#urls").row_order) > len(before)


async def test_level_origin_search_and_time_of_the_log_are_there_again(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage((160, 40), memory=memory) as held:
        await held.press("5", "view.problems", rounds=2)
        held.app.do("log.origin", API)  # type: ignore[attr-defined]
        held.app.do("log.search", "TIME")  # type: ignore[attr-defined]
        held.app.do("log.time")  # type: ignore[attr-defined]
        await held.settle(2)
        title = table(held, "#log").border_title
        before = list(table(held, "#log").row_order)
        assert before
        await leave(held)
    async with stage((160, 40), memory=memory) as held:
        await held.settle(2)
        assert table(held, "#log").border_title == title
        assert list(table(held, "#log").row_order) == before
        text = held.text()
        assert host_of(API) in text
        assert "search time:" in text


async def test_the_ledger_and_the_filter_of_the_jobs_are_there_again(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "/data/a.db")
    async with stage((160, 50), memory=memory) as held:
        await held.press("7", rounds=2)
        held.app.do("stats.ledger", "runs")  # type: ignore[attr-defined]
        table(held, "#jobs").keep_only("news")
        await leave(held)
    async with stage((160, 50), memory=memory) as held:
        await held.settle(2)
        assert table(held, "#jobs").needle == "news"
        assert "Runs" in str(table(held, "#ledger").border_title)
        held.app.do("stats.ledger", "stashes")  # type: ignore[attr-defined]
        await leave(held)
    (look,) = [look for name, look in memory.recall().looks if name == "jobs"]
    assert "ledger" not in dict(look.words), "what takes long to count is counted when one asks"


async def test_a_look_that_fits_nothing_here_does_no_harm(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    tables = (
        TableLayout("groups", "re:(", "no-such-column"),
        TableLayout("nowhere", "x"),
        TableLayout("urls", "", "url"),
    )
    words = ("by", "filter", "order", "level", "origin", "search", "time", "origins by", "ledger")
    for value in ("", "no such thing", "\x1b]52;c;x\x07[/]", "http://[", "status:failed status:("):
        looks = tuple(
            (where.name, ViewLayout(tables, tuple((name, value) for name in words)))
            for where in Where
            if where.remembered
        )
        assert memory.keep(ConsoleSession(looks=looks))
        async with stage(memory=memory) as held:
            for key in "2356":
                await held.press(key, rounds=2)
                assert held.app.screen.has_read  # type: ignore[attr-defined]
                assert "\x1b" not in held.text()
            assert held.app.is_running


LOOKS = [("failures", ViewLayout((TableLayout("pages", "a b", "url", False),), (("by", "origin"),)))]


def test_looks_are_read_as_they_were_written(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    session = ConsoleSession(needle="kept", looks=tuple(LOOKS))
    assert memory.keep(session)
    assert memory.recall() == session


def test_looks_that_are_too_long_are_left_out_and_nothing_else(tmp_path: Path) -> None:
    memory = SessionFile(tmp_path, "x")
    look = ViewLayout(tuple(TableLayout(f"table {number}", "\udcff" * LONGEST) for number in range(20)))
    assert memory.keep(ConsoleSession(needle="kept", looks=(("urls", look),)))
    assert memory.recall() == ConsoleSession(needle="kept")
    (file,) = (tmp_path / "sessions").iterdir()
    assert file.stat().st_size < MOST_BYTES


@pytest.mark.parametrize(
    "looks",
    [3, {}, [3], [["failures"]], [["failures", {}]], [["overview", {"tables": [], "words": []}]], [["rules", 1]],
     [["failures", {"tables": 3, "words": []}]], [[1, {"tables": [], "words": []}]]],
)  # fmt: skip
def test_a_look_that_is_none_is_left_out(tmp_path: Path, looks: object) -> None:
    memory = SessionFile(tmp_path, "x")
    assert memory.keep(ConsoleSession())
    (file,) = (tmp_path / "sessions").iterdir()
    file.write_text(json.dumps({"needle": "kept", "looks": looks}))
    assert memory.recall() == ConsoleSession(needle="kept")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("failures"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["tables", "words", "table", "needle", "column", "descending"]), inner)
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_document_is_a_session(looks: object) -> None:
    for _, look in _session({"looks": looks}).looks:
        assert isinstance(look, ViewLayout)
