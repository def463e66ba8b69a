"""How wide what a table showed is: columns grow with it, and hold still else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from tests.console.sample_crawl import API, WWW
from tests.console.support import stage
from tui_crawler.console.table import view as table_view
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.columns import Layout, Width, arrange
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.view import SeenWidths
from tui_crawler.domain.records.status_words import outcome_words
from tui_crawler.text import shown
from tui_crawler.text.cells import Styled
from tui_crawler.text.columns import AnyColumn, Column, Relation
from tui_crawler.text.safe_text import safe

COLUMNS = (
    Column("exit", "EXIT", shown.plain(), 29, 0, min_width=10, kind="bar"),
    Column("url", "URL", shown.plain(), None, 0, min_width=12, kind="place"),
    Column("count", "COUNT", shown.plain(), 8, 0, "right", min_width=5),
)


def row(key: int, url: str = "/a", *, exit_name: str = "✓ file_ingested", short: str = "✓ ingested") -> Row:
    return Row(key, (Styled(exit_name, "ok", short=short), url, str(key)))


def test_the_widest_cells_seen_count_with_their_short_forms() -> None:
    seen = SeenWidths(COLUMNS)
    assert seen.widths == ()
    assert seen.take([row(1), row(22, "/longer")])
    assert list(seen.widths) == [Width(15, 10), Width(7, 7), Width(2, 2)]


def test_widths_only_grow() -> None:
    seen = SeenWidths(COLUMNS)
    seen.take([row(1, "/a-long-one")])
    assert not seen.take([row(2, "/b")])
    assert not seen.take([])
    assert seen.widths[1].whole == len("/a-long-one")
    assert not seen.take_one(row(2, "/c"))
    assert seen.take_one(row(2, "/a-longer-one"))
    assert seen.widths[1].whole == len("/a-longer-one")


def test_a_row_that_is_as_it_was_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(number) for number in range(50)]
    seen = SeenWidths(COLUMNS)
    seen.take(rows)
    measured: list[Row] = []
    measure = SeenWidths._measure
    monkeypatch.setattr(SeenWidths, "_measure", lambda self, one: (measured.append(one), measure(self, one))[1])
    seen.take(rows)
    assert not measured
    seen.take([*rows[1:], row(50)])
    assert [one.key for one in measured] == [50]


def test_hostile_cells_are_as_wide_as_they_are_shown() -> None:
    seen = SeenWidths(COLUMNS[::2])
    hostile = "日\x1b[2J\u202e\ud800" + "e\u0301" * 3
    seen.take([Row(1, (hostile, ("\x07", Styled("é", short="日本")), "no column"))])
    assert list(seen.widths) == [Width(len(safe(hostile)) + 1 - 3, 24), Width(5, 8)]


class TableApp(App[None]):
    """One table."""

    def __init__(self) -> None:
        super().__init__()
        self.table = CrawlTable(Relation[Row](COLUMNS, key=lambda row: row.key))

    def compose(self) -> ComposeResult:
        yield self.table


@asynccontextmanager
async def shown_table(rows: Sequence[Row], width: int = 80) -> AsyncIterator[tuple[CrawlTable, Pilot[None]]]:
    """A table on a screen, with its rows."""
    app = TableApp()
    async with app.run_test(size=(width, 8)) as pilot:
        app.table.set_rows(rows)
        await pilot.pause()
        yield app.table, pilot


def lines(table: CrawlTable) -> list[str]:
    return [table.render_line(line).text.rstrip() for line in range(table.size.height)]


async def test_a_row_that_grows_out_of_its_column_widens_it_on_all_lines() -> None:
    async with shown_table([row(1), row(2)]) as (table, pilot):
        assert lines(table)[1] == "▸ ✓ file_ingested  /a             1"
        table.update_row(row(2, "/a-longer-one", exit_name="✗ server_internal_error", short="✗ server"))
        await pilot.pause()
        assert lines(table)[:3] == [
            "  EXIT                     URL                 COUNT",
            "▸ ✓ file_ingested          /a                      1",
            "  ✗ server_internal_error  /a-longer-one           2",
        ]
        table.update_row(row(2))
        await pilot.pause()
        assert lines(table)[0].endswith("                 COUNT"), "it does not shrink again"


async def test_a_row_that_fits_makes_no_other_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Layout] = []

    def note(columns: Sequence[AnyColumn], width: int, seen: Sequence[Width] = ()) -> Layout:
        made.append(arrange(columns, width, seen))
        return made[-1]

    async with shown_table([row(number, "/some/where") for number in range(10, 100)]) as (table, pilot):
        painter = table._painter
        monkeypatch.setattr(table_view, "arrange", note)
        for number in range(10, 15):
            table.update_row(row(number, f"/{number}"))
        table.set_rows([row(number, "/elsewhere") for number in range(13, 100)])
        await pilot.press("j", "j", "end")
        assert not made
        assert table._painter is painter


async def test_rows_out_of_view_do_not_count_until_they_come_into_view() -> None:
    async with shown_table([row(number, "/" + "x" * number) for number in range(40)]) as (table, pilot):
        assert "x" * 30 not in "".join(lines(table))
        before = lines(table)[0]
        await pilot.press("end")
        assert "x" * 39 in "".join(lines(table))
        assert len(lines(table)[0]) > len(before)


async def test_other_columns_begin_anew_and_the_same_do_not() -> None:
    async with shown_table([row(1, "/a-rather-long-one")]) as (table, pilot):
        wide = lines(table)[0]
        table.set_rows([row(1)])
        table.set_columns(COLUMNS)
        await pilot.pause()
        assert lines(table)[0] == wide
        table.set_columns([*COLUMNS[:2], replace(COLUMNS[2], title="OTHER")])
        await pilot.pause()
        assert len(lines(table)[0]) < len(wide)


async def test_one_bar_that_does_not_fit_puts_all_in_their_short_form() -> None:
    async with shown_table([row(1), row(2, "/a-rather-long-one/and/more")], 50) as (table, pilot):
        assert "file_ingested" in lines(table)[1]
        table.update_row(row(2, exit_name="✗ server_internal_error", short="✗ server"))
        await pilot.pause()
        assert [line[1:].split(" /")[0] for line in lines(table)[1:3]] == ["✓ ingested", "✗ server  "]


async def test_origins_of_the_overview_hold_still_while_their_numbers_change() -> None:
    async with stage((120, 40)) as held:
        table = held.app.screen.query_one("#origins", CrawlTable)
        painter = table._painter
        for name in (API, WWW):
            view = held.reports.rows[name]
            held.reports.commit(replace(view, failed=view.failed + 1, last_response_ms=412))
        await held.settle(3)
        assert table._painter is painter


async def test_no_number_touches_another_and_names_are_all_short_or_all_whole() -> None:
    async with stage((120, 40)) as held:
        text = held.text()
        assert "12k  88 120" in text
        origins = [line[:86] for line in text.splitlines()[4:17]]
        assert outcome_words("rate_limited") in next(line for line in origins if "busy.example.io" in line)
        assert not [line for line in origins if "_" in line]
        await held.press("7", rounds=2)
        assert re.search("scope {2,}89 408", held.text())
