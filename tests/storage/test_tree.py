"""The branches of a site as the database knows them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.making import T0, A, B, crawled, failed, fill_of, link, plan, refusal
from tui_crawler.domain.history.site_tree import OWN_PAGES, BranchCounts, BranchList, BranchTally, end_of, name_below
from tui_crawler.domain.records.attempt import FoundLink
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.reports import tree
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore

HOME = f"{A}/"
PATHS = ("a/1", "a/2", "a/b/3", "a", "s?q=1", "s?u=/x/y", "z%2Fz/4", "/5", "0")


@pytest.fixture
def reports(tmp_path: Path) -> Iterator[Reports]:
    """A home page, the pages it links to, of which some are done, one failed, one is barred; and what was refused."""
    path = tmp_path / "crawl.db"
    pages = tuple(f"{HOME}{one}" for one in PATHS)
    refused = (link(f"{HOME}a/refused"), link(f"{HOME}new/refused"), FoundLink(LinkKind.img, link(f"{HOME}i.png").url))

    async def run() -> None:
        store = SqliteStore(path)
        await store.begin_run(plan(HOME))
        (home,) = (await store.candidates(A, T0, 10, True)).pages
        await store.fill(fill_of((home,)))
        made = crawled(home, T0 + 10, *pages)
        await store.settle(replace(made, links=(*(link(one) for one in pages), *refused)))
        asked = {page.url: page for page in (await store.candidates(A, T0 + 20, 20, False)).pages}
        await store.fill(fill_of(tuple(asked.values())))
        await store.settle(crawled(asked[f"{HOME}a/1"], T0 + 30, f"{A}/a/1"))
        await store.settle(failed(asked[f"{HOME}a/2"], T0 + 40, ExitCode.file_not_found, 404))
        await store.settle(refusal(asked[f"{HOME}a/b/3"], T0 + 50))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(run())
    opened = Reports(path, now=lambda: T0 + 60)
    yield opened
    opened.close()


def counted(reports: Reports, prefix: str) -> BranchTally:
    tally = BranchTally()
    while not tally.ended:
        tally = tally.plus(reports.branch_piece(prefix, tally.last))
    return tally


def test_the_root_counts_as_the_origin_does(reports: Reports) -> None:
    root, origin = counted(reports, HOME).total, reports.origin(A)
    assert (root.done, root.failed, root.blocked) == (origin.done, origin.failed, origin.blocked) == (2, 1, 1)
    assert (root.known, root.refused) == (len(PATHS) + 1, 2)
    assert root.bytes > 0
    assert root.fresh == len(PATHS)  # the seed was known for longer
    assert counted(reports, f"{B}/").total == BranchCounts()


def test_what_is_below_a_prefix_is_counted_by_branches(reports: Reports) -> None:
    branches = counted(reports, HOME).counts
    assert {name: (one.known, one.done, one.failed, one.blocked, one.refused) for name, one in branches.items()} == {
        OWN_PAGES: (3, 1, 0, 0, 0),
        "a/": (3, 1, 1, 1, 1),
        "new/": (0, 0, 0, 0, 1),
        "s?": (2, 0, 0, 0, 0),
        "z%2Fz/": (1, 0, 0, 0, 0),
        "/": (1, 0, 0, 0, 0),
    }
    assert counted(reports, f"{HOME}a/").total == branches["a/"]
    assert counted(reports, f"{HOME}s?").counts == {OWN_PAGES: branches["s?"]}


def test_counting_goes_on_where_it_stopped(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = counted(reports, HOME)
    monkeypatch.setattr(tree, "STEP", 2)
    monkeypatch.setattr(tree, "LOOK_S", 0.0)
    first = reports.branch_piece(HOME)
    assert (first.urls, first.ended) == (2, False)
    assert counted(reports, HOME) == whole


def test_branches_are_listed_by_hops(reports: Reports) -> None:
    found = reports.branch_list(HOME, 10, 10)
    assert set(found.names) == {"a/", "new/", "s?", "z%2Fz/", "/"}
    assert [*found.names] == sorted(found.names, key=lambda name: HOME + name)
    assert set(found.pages) == {HOME, f"{HOME}a", f"{HOME}0", f"{HOME}i.png"}
    assert not found.more
    few = reports.branch_list(HOME, 2, 1)
    assert (few.names, [*few.pages], few.more) == (found.names[:2], [*found.pages][:1], True)
    assert reports.branch_list(f"{HOME}s?", 9, 9).pages.keys() == {f"{HOME}s?q=1", f"{HOME}s?u=/x/y"}


def test_a_branch_behind_many_pages_is_found_by_counting(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "_NEXT_BRANCH", tree._NEXT_BRANCH.replace(f"LIMIT {tree.STEP}", "LIMIT 1"))
    assert "z%2Fz/" not in reports.branch_list(HOME, 10, 1).names
    assert "z%2Fz/" in counted(reports, HOME).counts


def test_pages_are_counted_one_by_one(reports: Reports) -> None:
    found = reports.branch_list(f"{HOME}a/", 9, 9).pages
    assert {url: (one.known, one.done, one.failed, one.refused) for url, one in found.items()} == {
        f"{HOME}a/1": (1, 1, 0, 0),
        f"{HOME}a/2": (1, 0, 1, 0),
        f"{HOME}a/refused": (0, 0, 0, 1),
    }
    assert reports.branch_list(f"{B}/", 9, 9) == BranchList((), {}, more=False)


def test_failed_pages_of_a_branch(reports: Reports) -> None:
    assert reports.branch_failures(A, f"{HOME}a/", 9) == (f"{HOME}a/2",)
    assert reports.branch_failures(A, f"{HOME}s?", 9) == ()


def test_an_endless_branch_is_suspected(tmp_path: Path) -> None:
    path, months = tmp_path / "endless.db", [f"{HOME}calendar/{number}" for number in range(40)]

    async def run() -> None:
        store = SqliteStore(path)
        await store.begin_run(plan(HOME, *months))
        pages = (await store.candidates(A, T0, 99, True)).pages
        await store.fill(fill_of(pages))
        for at, page in enumerate(pages):
            await store.settle(crawled(page, T0 + at, f"{page.url}/next"))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(run())
    with closing(Reports(path)) as opened:
        found = opened.branch_traps((f"{HOME}calendar/", HOME + "nothing/"))
    assert list(found) == [f"{HOME}calendar/"]
    assert found[f"{HOME}calendar/"].evidence[0].startswith("/calendar/{n}: 40 of the last 40 pages")


PARTS = st.text("ab/?%2F.-", max_size=9)


@given(PARTS, PARTS)
def test_the_database_and_the_domain_name_branches_alike(path: str, rest: str) -> None:
    prefix = f"{HOME}{path.replace('?', '')}/"
    for one in (prefix, f"{prefix[:-1]}?"):
        with closing(sqlite3.connect(":memory:")) as database:
            place = {**tree._place(one), "href": one + rest}
            (named,) = database.execute(f"SELECT {tree._NAME} FROM (SELECT :href AS href)", place).fetchone()
        assert named == name_below(one, one + rest)


@pytest.mark.parametrize("analyzed", [False, True])
def test_every_query_goes_by_an_index(reports: Reports, tmp_path: Path, *, analyzed: bool) -> None:
    texts = (
        tree._NEXT,
        tree._NEXT_BRANCH,
        tree._PIECE.format(sign=">"),
        tree._PAGES.format(":low, :end"),
        tree._SAMPLE,
    )
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as database:
        if analyzed:
            database.execute("ANALYZE")
        for text in (*texts, tree._FAILED):
            values = {**tree._place(HOME), "limit": 1, "since": 0, "origin": A, "end": end_of(HOME)}
            plan_of = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {text}", values)]
            assert not [step for step in plan_of if step.startswith("SCAN ") and step.split()[1] != "u"], plan_of
            if text is not tree._FAILED:
                assert any("url_href" in step for step in plan_of), plan_of
