"""What every table of every screen can do: filter, sort, count a column, mark, click and scroll, drop columns."""

from __future__ import annotations

import pytest
from textual import events

from tests.console.support import Stage, stage
from tui_crawler.console.dialogs.choose import PivotScreen
from tui_crawler.console.dialogs.pivot_rows import pivot_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text.columns import AnyColumn, is_missing, order_of

SCREENS: dict[str, tuple[str, ...]] = {
    "overview": ("1",),
    "origin": ("1", "enter"),
    "failures": ("2",),
    "urls": ("3",),
    "url": ("3", "enter"),
    "url links": ("3", "enter", "url.tab_links"),
    "rules": ("4",),
    "logs": ("5",),
    "jobs": ("7",),
    "workers": ("8",),
    "sql": ("sql.open", "enter"),
}
IN_THE_DATABASE = {"urls", "origins"}
"""Narrowed and counted by the database, or by the screen itself: their own tests say how."""
LARGE, NARROW = (200, 60), (60, 20)


async def tables_of(held: Stage, screen: str) -> list[CrawlTable]:
    """The tables of a screen that have rows and room, after going there."""
    await held.press(*SCREENS[screen], rounds=2)
    asked = [one for one in held.app.workers if one.group == "sql"]
    if asked:
        await held.app.workers.wait_for_complete(asked)
    await held.settle(2)
    found = [table for table in held.app.screen.query(CrawlTable) if table.can_focus and table.region.area]
    assert found, "there is a table"
    return [table for table in found if table.row_count]


def texts(table: CrawlTable, column: str) -> list[str]:
    return [table.fields_of(row)[column] for row in table.shown_rows()]


@pytest.mark.parametrize("screen", SCREENS)
async def test_every_table_can_do_what_all_tables_can(screen: str) -> None:
    async with stage(LARGE) as held:
        for table in await tables_of(held, screen):
            held.app.screen.set_focus(table)
            if table.id == "held":  # by the worker under the cursor of the table before
                held.app.screen.query_one("#workers", CrawlTable).move_cursor(key=4)
                await held.quiet()
            if not table.row_count:
                await held.settle(2, move_ms=1_100)  # what the tables before have narrowed is shown again
            await marks_rows_by_keys_and_goes_where_one_clicks(held, table)
            if table.id not in IN_THE_DATABASE:
                keeps_rows_by_text_fuzzily_by_pattern_and_the_other_way_round(held, table, screen)
                await counts_the_values_of_a_column_and_keeps_the_rows_of_one(held, table)
            if table.orders_itself:
                if table.id not in IN_THE_DATABASE:
                    orders_by_every_column_and_holds_the_cursor(held, table)
                await orders_by_the_header_that_is_clicked(held, table)
        await held.pilot.resize_terminal(*NARROW)
        await held.quiet()
        for table in held.app.screen.query(CrawlTable):
            if table.region.area and table.row_count:
                drops_the_least_important_columns_first(table)


def keeps_rows_by_text_fuzzily_by_pattern_and_the_other_way_round(held: Stage, table: CrawlTable, screen: str) -> None:
    do, opens = held.app.dispatcher.do, "log.filter" if screen == "logs" else "filter.open"
    all_keys = list(table.row_order)
    column = max(table.columns, key=lambda one: len(set(texts(table, one.id)))).id
    word = max(texts(table, column)[0].split() or [""], key=len).strip('"')
    for needle in (word, f"~{word}", f"{column}:{word}"):
        do(opens, needle)
        kept = list(table.row_order)
        assert all_keys[0] in kept
        do("filter.clear")
        do(opens, f"!{needle}")
        assert [key for key in all_keys if key not in kept] == list(table.row_order)
        assert "/ !" in str(table.border_subtitle)
        do("filter.clear")
        assert list(table.row_order) == all_keys
    table.keep_only("re:^(")
    assert list(table.row_order) == all_keys
    assert len(table.filter_words.split(" · ")) == 3, "it says what is wrong with the pattern"
    table.keep_only("")


def assert_ordered(table: CrawlTable, column: AnyColumn) -> None:
    """The rows are ordered by the values of a column; those without one are the last."""
    values = [column.value_of(table.record(key)) for key in table.row_order]
    held = [order_of(value) for value in values if not is_missing(value)]
    assert table.order is not None
    assert held == sorted(held, reverse=table.order[1])
    assert all(map(is_missing, values[len(held) :]))


def orders_by_every_column_and_holds_the_cursor(held: Stage, table: CrawlTable) -> None:
    given, key = list(table.row_order), table.cursor_key
    for column in table.columns:
        held.app.dispatcher.do("sort.pick", column.id)
        assert table.order is not None
        assert table.sort == table.order
        assert table.order[0] == column.id
        assert_ordered(table, column)
        before = table.order
        held.app.dispatcher.do("sort.reverse")
        assert table.order == (column.id, not before[1])
        assert_ordered(table, column)
        assert table.cursor_key == key
    table.order_by(None)
    assert list(table.row_order) == given


async def counts_the_values_of_a_column_and_keeps_the_rows_of_one(held: Stage, table: CrawlTable) -> None:
    await held.press("table.pivot", rounds=0)
    assert isinstance(held.app.screen, PivotScreen)
    pivot = held.app.screen.query_one("#pivot", CrawlTable)
    value, column = pivot.cursor_key, table.current_column
    assert column is not None
    number = int(pivot.fields_of(pivot.shown_rows()[0])["count"].replace(" ", ""))
    spans = pivot_of(texts(table, column), "").span

    def is_counted(text: str) -> bool:
        return text.strip().startswith(str(value)) if spans else text.strip() == value

    assert number == sum(map(is_counted, texts(table, column)))
    await held.press("enter", rounds=0)
    assert table.row_count == number
    assert all(map(is_counted, texts(table, column)))
    await held.press("escape", rounds=0)
    assert table.needle == ""


async def marks_rows_by_keys_and_goes_where_one_clicks(held: Stage, table: CrawlTable) -> None:
    await held.press("move.first", "space", "move.last", "mark.range", rounds=0)
    assert table.marked == frozenset(table.row_order)
    await held.press("mark.clear", rounds=0)
    assert table.marked == frozenset()
    await held.press("mark.all", rounds=0)
    assert table.marked == frozenset(table.row_order)
    await held.press("mark.all", "move.first", rounds=0)
    assert table.marked == frozenset()
    x, y = table.content_region.offset - table.region.offset
    x += 25 if table.columns[0].opens else 0  # a click on a count opens what it counts
    last = min(table.row_count, table.content_region.height - 1)
    await held.pilot.click(table, offset=(x + 5, y + last))
    assert table.cursor_index - round(table.scroll_y) == last - 1
    table.post_message(events.MouseScrollDown(table, x + 5, y + 1, 0, 1, 0, False, False, False))
    await held.quiet(1)
    assert table.scroll_y > 0 or table.max_scroll_y == 0


async def orders_by_the_header_that_is_clicked(held: Stage, table: CrawlTable) -> None:
    x, y = table.content_region.offset - table.region.offset
    for _ in range(2):
        await held.pilot.click(table, offset=(x + 3, y))
        await held.quiet(1)
    assert table.order is not None
    assert table.order[0] == table.visible_columns[0]


def drops_the_least_important_columns_first(table: CrawlTable) -> None:
    shown = table.visible_columns
    priorities = {column.id: column.priority for column in table.columns}
    dropped = [priorities[name] for name in priorities if name not in shown]
    assert set(shown) <= set(priorities)
    assert max((priorities[name] for name in shown), default=0) <= min(dropped, default=99)
