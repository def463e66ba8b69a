"""Every count opens what it counts: cells of tables, by enter and by a click; lists say what they are limited to."""

from __future__ import annotations

import pytest

from tests.console.sample_crawl import API, WWW
from tests.console.support import Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.navigation import MANY_SCREENS
from tui_crawler.console.overview.rows import opened_by
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.tabs import TabBar
from tui_crawler.console.rules.pattern import literal
from tui_crawler.console.tree.rows import NodeKind
from tui_crawler.domain.rules.page_filter import PageFilter, read_page_filter


def where(held: Stage) -> Where:
    return held.on_top.WHERE


async def to_column(held: Stage, column: str, selector: str = "#origins") -> None:
    """Goes to a column by keys."""
    table = held.table(selector)
    for _ in range(len(table.columns)):
        if table.current_column == column:
            return
        await held.press("right", rounds=0)
    raise AssertionError(f"{column} is not shown")


def failing_of(held: Stage, origin: str) -> int:
    return sum(one.origin == origin for one in held.reports.pages)


async def test_enter_on_the_failed_pages_of_an_origin_shows_exactly_these_and_esc_shows_all_then_leaves() -> None:
    async with stage() as held:
        table = held.table("#origins")
        table.move_cursor(key=API)
        await to_column(held, "fail")
        assert ("nav.open", "its failures") in {(one, label) for one, _, label in held.on_top.footer_keys()}
        await held.press("enter", rounds=3)
        assert where(held) is Where.failures
        groups = held.table("#groups")
        assert sum(groups.record(key).count for key in groups.row_order) == failing_of(held, API)
        held.sees("Failures · api.example.org")
        assert ("nav.back", "back to all") in {(one, label) for one, _, label in held.on_top.footer_keys()}
        await held.press("escape", rounds=3)
        assert sum(groups.record(key).count for key in groups.row_order) == len(held.reports.pages)
        assert "Failures · api" not in held.text()
        await held.press("escape")
        assert where(held) is Where.overview


async def test_a_count_of_none_opens_the_origin_as_any_other_cell_does() -> None:
    async with stage() as held:
        table = held.table("#origins")
        none = next(name for name, view in held.app.live_state.origins.items() if not view.failed)
        table.move_cursor(key=none)
        await to_column(held, "fail")
        await held.press("enter")
        assert where(held) is Where.origin


async def test_a_click_on_a_count_opens_it_and_elsewhere_selects_the_row() -> None:
    async with stage() as held:
        table = held.table("#origins")
        row = table.row_order.index(API)
        held.text()  # it is painted
        places = {place.column.id: place for place in table._painter.layout.places}  # type: ignore[union-attr]
        frame = table.content_region.x - table.region.x
        await held.pilot.click(table, offset=(frame + places["origin"].x, row + 2))
        await held.quiet()
        assert (where(held), table.cursor_key) == (Where.overview, API)
        fail = places["fail"]
        await held.pilot.click(table, offset=(frame + fail.x + fail.width - 1, row + 2))
        await held.settle(3)
        assert where(held) is Where.failures
        held.sees("Failures · api.example.org")


async def test_the_todo_list_of_an_origin_opens_with_the_cursor_in_it() -> None:
    async with stage() as held:
        held.table("#origins").move_cursor(key=API)
        await to_column(held, "todo")
        await held.press("enter", rounds=3)
        assert (where(held), held.focused) == (Where.origin, "todo")


async def test_other_counts_open_urls_that_pass_a_filter() -> None:
    async with stage((250, 30)) as held:
        held.table("#origins").move_cursor(key=API)
        await to_column(held, "blocked")
        await held.press("enter", rounds=3)
        assert where(held) is Where.urls
        held.sees("filter: origin:api.example.org exit:blocked")
        await held.press("escape", rounds=2)
        assert "filter:" not in held.text()
        await held.press("escape")
        assert where(held) is Where.overview


@pytest.mark.parametrize("column", ["done", "blocked", "pending"])
def test_every_such_filter_is_understood_and_twins_are_named_whole(column: str) -> None:
    twin = API.replace("https://", "http://")
    place, text = opened_by(column, API, {API})
    assert (place, isinstance(read_page_filter(str(text)), PageFilter)) == (Where.urls, True)
    assert "://" not in str(text)
    assert f"origin:{API} " in str(opened_by(column, API, {API, twin})[1])


async def test_a_filter_of_the_view_does_not_hide_what_a_count_opens_and_is_kept() -> None:
    async with stage(keys="2") as held:
        held.app.do("filter.open", "exit:blocked")
        await held.settle(2)
        await held.act("view.overview")
        held.table("#origins").move_cursor(key=API)
        await to_column(held, "fail")
        await held.press("enter", rounds=3)
        groups = held.table("#groups")
        assert sum(groups.record(key).count for key in groups.row_order) == failing_of(held, API)
        await held.act("view.failures", rounds=3)
        assert held.table("#groups").needle == "exit:blocked"


async def test_marked_origins_are_what_failures_are_limited_to() -> None:
    async with stage() as held:
        table = held.table("#origins")
        table.mark_keys([API, WWW])
        await held.act("view.failures", rounds=3)
        held.sees("Failures · 2 origins")
        groups = held.table("#groups")
        counted = sum(groups.record(key).count for key in groups.row_order)
        assert counted == failing_of(held, API) + failing_of(held, WWW)
        await held.act("view.failures", rounds=3)
        assert "2 origins" not in held.text(), "again: all"


async def test_without_marks_the_origin_is_meant_that_was_picked() -> None:
    async with stage() as held:
        await held.act("view.failures", rounds=3)
        assert "Failures · " not in held.text(), "nobody has gone to a row yet"
        await held.press("escape")
        table = held.table("#origins")
        table.pick(table.row_order.index(API))
        await held.act("view.failures", rounds=3)
        held.sees("Failures · api.example.org")


async def test_the_failures_of_an_origin_are_a_key_away_from_its_screen_and_esc_goes_back_there() -> None:
    async with stage() as held:
        held.table("#origins").move_cursor(key=API)
        await held.press("enter", rounds=2)
        await held.act("view.failures", rounds=3)
        held.sees("Failures · api.example.org")
        await held.press("escape", "escape", rounds=2)
        assert where(held) is Where.origin


async def test_the_origins_of_a_group_open_in_place_and_esc_goes_back_to_the_groups() -> None:
    async with stage(keys="2") as held:
        groups = held.table("#groups")
        wanted = groups.current
        await to_column(held, "origins", "#groups")
        await held.press("enter", rounds=3)
        shown = [groups.record(key) for key in groups.row_order]
        assert [(dict(one.key)["origin"], one.count) for one in shown] == list(wanted.origins)
        await held.press("escape", rounds=3)
        assert groups.current.key == wanted.key
        assert [name for name, _ in groups.current.key] == ["exit_code"]


async def test_an_exit_code_of_an_origin_opens_the_pages_that_ended_with_it() -> None:
    async with stage() as held:
        held.table("#origins").move_cursor(key=API)
        await held.press("enter", rounds=2)
        exits = held.table("#exits")
        exits.focus()
        exits.move_cursor(key="request_timeout")
        await held.press("enter", rounds=3)
        held.sees("Failures · api.example.org · timeout")
        pages = held.table("#pages")
        timed_out = [one for one in held.reports.pages if one.origin == API and one.last_exit_code == "request_timeout"]
        assert pages.row_count == len(timed_out) > 0
        await held.press("escape", rounds=1)
        await held.press("escape", rounds=1)
        assert where(held) is Where.origin
        exits.move_cursor(key="file_ingested")
        await held.press("enter", rounds=3)
        held.sees("filter: origin:api.example.org exit:file_ingested")


async def test_a_click_on_a_count_of_the_card_opens_it() -> None:
    async with stage() as held:
        held.table("#origins").move_cursor(key=API)
        await held.settle(2)
        card = held.app.screen.query_one("#summary", Lines)
        row = next(at for at, line in enumerate(card.text.splitlines()) if line.startswith("failed"))
        await held.pilot.click(card, offset=(4, row + 1))
        await held.settle(3)
        held.sees("Failures · api.example.org")


async def test_the_counts_of_a_branch_open_its_pages() -> None:
    async with stage((200, 40)) as held:
        held.table("#origins").move_cursor(key=API)
        await held.act("origin.tree", rounds=6)
        tree, branch = held.table("#tree"), (NodeKind.branch, f"{API}/products/")
        tree.move_cursor(key=branch)
        await to_column(held, "failed", "#tree")
        await held.press("enter", rounds=3)
        assert where(held) is Where.urls
        held.sees(f"re:^{literal(tree.record(branch).prefix)} state:failed,retry")
        await held.press("escape", "escape", rounds=1)
        assert where(held) is Where.tree


async def test_a_click_on_the_tab_of_failures_shows_all_that_it_counts() -> None:
    async with stage() as held:
        table = held.table("#origins")
        table.pick(table.row_order.index(API))
        bar = held.app.screen.query_one("#views", TabBar)
        place = dict(bar.places())["view.failures"]
        await held.pilot.click(offset=place.offset + (2, 0))  # noqa: RUF005  an offset is no list
        await held.settle(3)
        assert where(held) is Where.failures
        groups = held.table("#groups")
        assert sum(groups.record(key).count for key in groups.row_order) == len(held.reports.pages)


async def test_lists_of_many_counts_do_not_pile_up() -> None:
    async with stage() as held:
        for _ in range(MANY_SCREENS):
            held.app.go_to(Where.origin, API)
            held.app.go_to(Where.failures, (("origin", API),))
            await held.quiet()
        assert len(held.app.screen_stack) <= MANY_SCREENS
        held.sees("Failures · api.example.org")
