"""The site of an origin as a tree: it unfolds, counts add up while they come, a branch is retried and barred."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.console.rule_stage import draft_text
from tests.console.sample_crawl import API
from tests.console.sample_tree import EVIL, SITE
from tests.console.support import FakeReports, Stage, stage
from tests.console.test_drill_down_on_a_database import OpenReports, database  # noqa: F401
from tests.storage.making import A
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.tree.rows import NodeKind, OpenBranch, branch_pattern, nodes
from tui_crawler.console.tree.screen import TreeScreen
from tui_crawler.console.url.screen import UrlScreen
from tui_crawler.domain.history.site_tree import OWN_PAGES, BranchCounts, BranchList, BranchTally
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.rules.pattern import Pattern
from tui_crawler.text.cells import cell_text

CALENDAR, PRODUCTS = (NodeKind.branch, f"{API}/calendar/"), (NodeKind.branch, f"{API}/products/")


@pytest.fixture
async def held() -> AsyncIterator[Stage]:
    async with stage((120, 40)) as held:
        held.table("#origins").move_cursor(key=API)
        await held.settle(2)
        await held.press("origin.tree", rounds=6)
        assert isinstance(held.app.screen, TreeScreen)
        yield held


def shown(held: Stage) -> dict[str, list[str]]:
    """The rows in view by what stands in their first cell."""
    cells = [[cell_text(cell).strip(" ▸▼") for cell in row.cells] for row in held.table("#tree").shown_rows()]
    return {first: rest for first, *rest in cells}


async def go_to(held: Stage, key: tuple[NodeKind, str]) -> None:
    held.table("#tree").move_cursor(key=key)
    await held.quiet()


async def test_the_root_is_unfolded_with_counts_and_a_trap(held: Stage) -> None:
    rows = shown(held)
    assert [*rows] == [f"{API}/", EVIL + "/", "calendar/", "products/", "search?", "pages here"]
    assert rows["products/"] == ["2 938", "2 798", "12", "128", "0", "50 MB", "437ms", "", ""]
    assert rows["calendar/"] == ["240", "0", "0", "0", "0", "0 B", "-", "+48.0", "⚠ trap?"]
    assert rows["search?"][:5] == ["1", "1", "0", "0", "1"]
    whole = [int(rows[name][0].replace(" ", "")) for name in rows]
    assert whole[0] == sum(whole[1:]) == len(SITE) - 1
    await go_to(held, CALENDAR)
    held.sees("240 known · 0 done", "⚠ trap suspected")


async def test_branches_unfold_and_fold_and_pages_open(held: Stage) -> None:
    await go_to(held, PRODUCTS)
    await held.press("enter", rounds=5)
    assert [*shown(held)][3:7] == ["products/", "bolts/", "nuts/", "pages here"]
    await go_to(held, (NodeKind.branch, f"{API}/products/nuts/"))
    await held.press("enter", rounds=5)
    assert "100" in shown(held)
    assert shown(held)["… further pages"] == ["…", *[""] * 8]
    await go_to(held, PRODUCTS)
    await held.press("enter", rounds=2)
    assert len(shown(held)) == 6
    await go_to(held, (NodeKind.own_pages, f"{API}/"))
    await held.press("enter", rounds=2)
    await go_to(held, (NodeKind.page, f"{API}/about"))
    await held.press("enter", rounds=2)
    assert isinstance(held.app.screen, UrlScreen)


async def test_numbers_are_least_ones_until_all_are_counted() -> None:
    reports = FakeReports()
    reports.looks_at = 100
    async with stage((120, 40), reports=reports) as held:
        held.table("#origins").move_cursor(key=API)
        await held.press("origin.tree", rounds=2)
        for _ in range(40):
            if "counting" not in held.text() and "⚠ trap?" in held.text():
                break
            await held.settle(1)
        assert shown(held)["products/"][0] == "2 938"
    branch = OpenBranch(f"{API}/")
    assert next(nodes(f"{API}/", {f"{API}/": branch}, frozenset())).sure is False


async def test_an_order_keeps_each_row_below_its_branch(held: Stage) -> None:
    await go_to(held, PRODUCTS)
    await held.press("enter", rounds=5)
    held.table("#tree").order_by("known", descending=True)
    await held.settle(1)
    names = [*shown(held)]
    assert names[:2] == [f"{API}/", "products/"]
    assert names[2:4] == ["nuts/", "bolts/"]
    assert [name for name in names if name in {"products/", "calendar/", "search?"}] == [
        "products/",
        "calendar/",
        "search?",
    ]
    held.table("#tree").order_by("known", descending=False)
    assert [*shown(held)][-2:] == ["bolts/", "nuts/"]
    assert held.table("#tree").cursor_key == PRODUCTS


async def test_what_is_not_listed_stays_last(held: Stage) -> None:
    for key in (PRODUCTS, (NodeKind.branch, f"{API}/products/nuts/")):
        await go_to(held, key)
        await held.press("enter", rounds=5)
    for descending in (False, True):
        held.table("#tree").order_by("path", descending=descending)
        below = [kind for kind, name in held.table("#tree").row_order if name.startswith(f"{API}/products/nuts/")]
        assert below[-101:] == [NodeKind.page] * 100 + [NodeKind.rest]


async def test_counting_waits_while_keys_are_pressed() -> None:
    reports = FakeReports()
    reports.looks_at = 100
    async with stage((120, 40), reports=reports) as held:
        held.table("#origins").move_cursor(key=API)
        await held.press("origin.tree", rounds=2)
        screen = held.app.screen
        assert isinstance(screen, TreeScreen)
        while screen._opened[screen._root].piece not in screen.wants():
            await held.settle(1)
        await held.press("j", rounds=0)
        assert screen._opened[screen._root].piece not in screen.wants()


async def test_failed_pages_of_a_branch_are_put_back_after_asking(held: Stage) -> None:
    await go_to(held, PRODUCTS)
    await held.press("R", rounds=3)
    assert "Retry 12 failed pages?" in held.text()
    await held.decide("enter", rounds=1)
    (command,) = held.journal.sent
    assert isinstance(command, RetryPages)
    assert len(command.urls) == 12
    await go_to(held, CALENDAR)
    await held.press("R", rounds=2)
    assert "no failed pages here" in held.text()


async def test_a_rule_is_drafted_for_a_branch(held: Stage) -> None:
    await go_to(held, CALENDAR)
    await held.press("m", rounds=3)
    assert isinstance(held.app.screen, RuleEditorScreen)
    assert r"match: '^https://api\.example\.org/calendar/" in draft_text(held)


async def test_a_branch_is_excluded_after_its_impact_is_counted(held: Stage) -> None:
    await go_to(held, CALENDAR)
    await held.press("rules.exclude", rounds=3)
    assert r"pattern: ^https://api\.example\.org/calendar/" in held.text()
    await held.press("escape", rounds=2)
    assert "240 known" in held.text()
    assert held.journal.sent == []


def test_patterns_name_what_is_below_and_nothing_else(held: Stage | None = None) -> None:
    branch = OpenBranch(f"{API}/")
    from tests.console.sample_tree import branch_list, branch_piece  # noqa: PLC0415

    branch.listed, branch.shown = branch_list(f"{API}/", 9, 9), branch.shown.plus(branch_piece(f"{API}/", "", 9_999))
    for node in nodes(f"{API}/", {f"{API}/": branch}, frozenset((f"{API}/",))):
        pattern = Pattern(branch_pattern(node))
        meant = sum(pattern.search(url) for url, counts in SITE.items() if counts.known)
        assert node.counts is not None
        assert meant == node.counts.known, node


def test_a_page_whose_url_is_the_prefix_of_its_branch_is_called_itself() -> None:
    branch = OpenBranch(f"{API}/a/")
    branch.listed = BranchList((), {f"{API}/a/": BranchCounts(known=1), f"{API}/a/b": BranchCounts(known=1)}, False)
    branch.shown = branch.shown.plus(BranchTally({OWN_PAGES: BranchCounts(known=2)}, 2, "", True))
    found = nodes(branch.prefix, {branch.prefix: branch}, frozenset())
    assert [node.name for node in found if node.url] == ["(itself)", "b"]


async def test_a_real_database_is_shown(database: Path) -> None:  # noqa: F811
    async with stage((120, 40), reports=OpenReports(database)) as held:
        await held.settle(3)
        await held.command(f"tree {A}", rounds=6)
        assert shown(held)[f"{A}/"][:4] == ["5", "1", "3", "1"]
        assert shown(held)["items/"][:4] == ["4", "0", "3", "1"]


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 10)])
async def test_it_fits_every_size(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        held.table("#origins").move_cursor(key=API)
        await held.press("origin.tree", rounds=6)
        assert "calendar/" in held.text()
        assert "\x1b" not in held.text()
