"""`CrawlTable` on a screen: cursor, marks, columns, header, mouse, sizes, colours, hostile text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncIterator, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot
from textual.theme import Theme
from textual.widgets import Input

from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.theme import DARK, LIGHT, THEMES, role_colours
from tui_crawler.text import shown
from tui_crawler.text.cells import Styled
from tui_crawler.text.columns import AnyColumn, Column, Relation

CORPUS = json.loads((Path(__file__).parent / "corpora" / "terminal_injection.json").read_text("utf-8"))
COLUMNS = (
    Column("state", "STATE", shown.plain(), 11, 0, min_width=1, short="ST"),
    Column("origin", "ORIGIN", shown.plain(), None, 0, min_width=12),
    Column("todo", "TODO", shown.plain(), 7, 2, "right", min_width=4),
    Column("fail", "FAIL", shown.plain(), 5, 1, "right"),
)


def row(key: Hashable, origin: str = "", todo: int = 0) -> Row:
    state = Styled("▶ crawling", "ok", "▶")
    return Row(key, (state, origin or f"https://{key}.example", f"{todo}", Styled("0", "error")))


def rows(keys: Iterable[Hashable]) -> list[Row]:
    return [row(key) for key in keys]


def shown_in(columns: Sequence[AnyColumn]) -> Relation[Any]:
    """A relation of rows that are given with their cells."""
    return Relation(tuple(columns), key=lambda row: row)


class WatchedTable(CrawlTable):
    """A table that remembers which lines it asked to be painted."""

    asked: list[Region]

    def refresh(self, *regions: Region, **kwargs: Any) -> WatchedTable:
        self.__dict__.setdefault("asked", []).extend(regions or [Region(0, 0, 999, 999)])
        return super().refresh(*regions, **kwargs)


class TableApp(App[None]):
    """One table, and a line to take the focus away."""

    def __init__(self, table: CrawlTable | None = None, theme: str = "") -> None:
        super().__init__()
        self.table = table or WatchedTable(shown_in(COLUMNS), placeholder="Nothing here.\nPress a.")
        self.table.sort = ("fail", True)
        self.heard: list[Message] = []
        self.marked: list[frozenset[Hashable]] = []  # what was marked at each message
        for own in THEMES:
            self.register_theme(own)
        self.theme = theme or DARK.name

    def compose(self) -> ComposeResult:
        yield self.table
        yield Input()

    def on_mount(self) -> None:
        self.table.focus()

    def on_crawl_table_row_highlighted(self, message: CrawlTable.RowHighlighted) -> None:
        assert message.table is self.table
        self.heard.append(message)

    def on_crawl_table_row_selected(self, message: CrawlTable.RowSelected) -> None:
        self.heard.append(message)

    def on_crawl_table_header_selected(self, message: CrawlTable.HeaderSelected) -> None:
        self.heard.append(message)

    def on_crawl_table_marks_changed(self, message: CrawlTable.MarksChanged) -> None:
        self.marked.append(message.table.marked)

    def highlighted(self) -> list[Hashable | None]:
        return [heard.key for heard in self.heard if isinstance(heard, CrawlTable.RowHighlighted)]


def screen_lines(table: CrawlTable) -> list[str]:
    """What is on the screen, through the caches that a forgotten repaint would leave stale."""
    width, height = table.outer_size
    return [strip.text for strip in table.render_lines(Region(0, 0, width, height))]


def segments(table: CrawlTable, line: int) -> list[Segment]:
    width, height = table.outer_size
    return list(table.render_lines(Region(0, 0, width, height))[line])


def style_of(table: CrawlTable, line: int, text: str) -> Any:
    return next(segment.style for segment in segments(table, line) if text in segment.text)


@asynccontextmanager
async def shown_table(
    keys: Iterable[Hashable] = "abc", size: tuple[int, int] = (80, 12), app: TableApp | None = None
) -> AsyncIterator[tuple[TableApp, CrawlTable, Pilot[None]]]:
    """A table on a screen, with its rows."""
    app = app or TableApp()
    async with app.run_test(size=size) as pilot:
        app.table.set_rows(rows(keys))
        await pilot.pause()
        yield app, app.table, pilot


async def test_rows_header_and_sort_arrow_are_shown() -> None:
    async with shown_table() as (_, table, pilot):
        lines = screen_lines(table)
        assert lines[0].split() == ["STATE", "ORIGIN", "TODO", "FAIL▼"]
        assert lines[1].split() == ["▸", "▶", "crawling", "https://a.example", "0", "0"]
        assert lines[2].startswith("  ▶ crawling")
        assert all(len(line) == 80 for line in lines)
        table.sort = ("origin", False)
        await pilot.pause()
        assert screen_lines(table)[0].split() == ["STATE", "ORIGIN▲", "TODO", "FAIL"]
        assert table.sort == ("origin", False)
        assert list(table.row_order) == ["a", "b", "c"]
        assert table.row("b") == row("b")


async def test_rows_set_before_there_is_a_screen_are_shown() -> None:
    table = CrawlTable(shown_in(COLUMNS))
    table.set_rows(rows(range(50)), cursor="last")
    app = TableApp(table)
    async with app.run_test(size=(80, 12)):
        assert table.max_scroll_y > 0
        assert "https://49.example" in "".join(screen_lines(table))


async def test_the_placeholder_stands_where_rows_are_missing() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        assert "Nothing here." not in "".join(screen_lines(app.table))
        assert "reading…" in "".join(screen_lines(app.table))
        app.table.set_rows(())
        await pilot.pause()
        assert "Nothing here." in "".join(screen_lines(app.table))
        app.table.placeholder = "No match."
        await pilot.pause()
        assert "No match." in "".join(screen_lines(app.table))
        app.table.set_rows(rows("a"))
        await pilot.pause()
        assert "No match." not in "".join(screen_lines(app.table))
        app.table.remove_rows(["a"])
        await pilot.pause()
        assert "No match." in "".join(screen_lines(app.table))
        assert app.table.placeholder == "No match."
        assert app.table.remove_rows(["a"]) == 0
        assert app.highlighted() == ["a", None]
        app.table.await_rows()
        await pilot.pause()
        assert "No match." not in "".join(screen_lines(app.table))


async def test_the_cursor_row_keeps_key_and_line_when_rows_move() -> None:
    async with shown_table(range(100), size=(80, 15)) as (app, table, pilot):
        table.move_cursor(index=40)
        await pilot.pause()
        table.move_cursor(index=35)
        await pilot.pause()
        line = next(i for i, text in enumerate(screen_lines(table)) if text.startswith("▸"))
        table.set_rows(rows([*range(1000, 1025), *range(100)]))
        await pilot.pause()
        assert table.cursor_key == 35
        assert table.cursor_index == 60
        assert screen_lines(table)[line].startswith("▸ ▶ crawling")
        assert "https://35.example" in screen_lines(table)[line]
        table.set_rows(rows(reversed(range(100))))
        await pilot.pause()
        assert "https://35.example" in screen_lines(table)[line]
        assert app.highlighted() == [0, 40, 35], "a new order is no move of the cursor"
        table.remove_rows([35])
        await pilot.pause()
        assert app.highlighted()[-1] == table.cursor_key == 34


async def test_a_cursor_out_of_view_leaves_the_view_where_it_is() -> None:
    async with shown_table(range(100), size=(80, 15)) as (_, table, pilot):
        table.scroll_to(y=50, animate=False)
        await pilot.pause()
        table.set_rows(rows(range(100)))
        await pilot.pause()
        assert "https://50.example" in screen_lines(table)[1]
        await pilot.press("j")
        await pilot.pause()
        assert "https://1.example" in screen_lines(table)[1], "a key brings the cursor back into view"


async def test_keys_move_the_cursor() -> None:
    async with shown_table(range(200), size=(80, 24)) as (_, table, pilot):
        body = table.size.height - 1
        steps = [("j", 1), ("down", 2), ("k", 1), ("up", 0), ("end", 199), ("home", 0)]
        steps += [("pagedown", body), ("pageup", 0), ("k", 0)]
        for key, index in steps:
            await pilot.press(key)
            assert table.cursor_index == index, key
            assert any(text.startswith("▸") for text in screen_lines(table)), "the cursor is in view"


async def test_moves_by_key_and_index_from_outside() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 24)) as pilot:
        table = app.table
        assert not table.move_cursor(index=3)
        for key in ("j", "end", "pagedown", "space", "enter"):
            await pilot.press(key)
        assert table.cursor_index == -1
        table.set_rows(rows("abc"))
        assert table.move_cursor(key="c")
        assert not table.move_cursor(key="zzz")
        assert table.cursor_key == "c"
        assert table.move_cursor(index=-7)
        await pilot.pause()
        assert app.highlighted() == ["a", "c", "a"]


async def test_enter_and_double_click_open_a_row() -> None:
    async with shown_table() as (app, table, pilot):
        await pilot.press("j", "enter")
        await pilot.click(table, offset=(20, 3), times=2)
        opened = [heard.key for heard in app.heard if isinstance(heard, CrawlTable.RowSelected)]
        assert opened == ["b", "c"]
        assert table.cursor_key == "c"


async def test_a_click_moves_the_cursor_and_one_in_the_gutter_marks() -> None:
    async with shown_table() as (_, table, pilot):
        await pilot.click(table, offset=(30, 2))
        assert (table.cursor_key, table.marked) == ("b", frozenset())
        await pilot.click(table, offset=(0, 3))
        assert (table.cursor_key, table.marked) == ("c", frozenset("c"))
        await pilot.click(table, offset=(30, 6))
        assert table.cursor_key == "c", "below the last row there is nothing to click"


async def test_a_click_on_a_header_names_its_column() -> None:
    async with shown_table() as (app, table, pilot):
        header = screen_lines(table)[0]
        for title in ("STATE", "ORIGIN", "TODO", "FAIL"):
            await pilot.click(table, offset=(header.index(title), 0))
        await pilot.click(table, offset=(0, 0))
        clicked = [heard.column_id for heard in app.heard if isinstance(heard, CrawlTable.HeaderSelected)]
        assert clicked == ["state", "origin", "todo", "fail"]
        assert table.cursor_index == 0


async def test_a_border_moves_what_a_click_hits() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.styles.border = ("round", "white")
        app.table.set_rows(rows("abc"))
        await pilot.click(app.table, offset=(20, 3))
        assert app.table.cursor_key == "b"
        await pilot.click(app.table, offset=(20, 0))
        assert not [heard for heard in app.heard if isinstance(heard, CrawlTable.HeaderSelected)]
        app.table.update_row(row("c", todo=77))
        await pilot.pause()
        assert "77" in screen_lines(app.table)[4], "the right line is painted again"


async def test_the_wheel_scrolls_without_moving_the_cursor() -> None:
    async with shown_table(range(100)) as (_, table, pilot):
        await pilot._post_mouse_events([MouseScrollDown], table, offset=(5, 5))  # pilot has no public wheel
        await pilot.pause()
        assert table.scroll_y > 0
        assert table.cursor_index == 0
        assert screen_lines(table)[0].split()[0] == "STATE", "the header stays"


async def test_marks() -> None:
    async with shown_table("abcdef") as (app, table, pilot):
        await pilot.press("space", "j", "j")
        table.action_mark_range()
        assert table.marked == frozenset("abcd")
        assert [line[0] for line in screen_lines(table)[1:7]] == ["◆", "◆", "◆", "◆", " ", " "]
        table.action_mark_all()
        assert table.marked == frozenset("abcdef")
        table.action_mark_clear()
        assert table.marked == frozenset()
        await pilot.press("space")
        table.set_rows(rows("fed"))
        assert table.marked == frozenset("d")
        table.set_rows(rows("xyz"), keep_marks=True)
        assert table.marked == frozenset("d")
        assert app.marked[0] == frozenset("a")
        assert app.marked[-1] == frozenset("d")


async def test_columns_drop_when_the_screen_gets_narrow_and_come_back() -> None:
    async with shown_table() as (_, table, pilot):
        seen = {}
        for width in (80, 30, 22, 10, 80):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            seen[width] = table.visible_columns
            assert all(len(line) == width for line in screen_lines(table))
        assert seen == {
            80: ("state", "origin", "todo", "fail"),
            30: ("state", "origin", "todo", "fail"),
            22: ("state", "origin", "fail"),
            10: ("state", "origin"),
        }


async def test_the_current_column_moves_over_what_is_visible() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        table = app.table
        assert table.current_column == "state"
        await pilot.press("right", "right")
        assert table.current_column == "todo"
        assert style_of(table, 0, "TODO").underline
        assert not style_of(table, 0, "STATE").underline
        await pilot.press("right", "right", "right", "left", "left")
        assert table.current_column == "origin"
        await pilot.press("right")
        await pilot.resize_terminal(22, 12)
        await pilot.press("right")
        assert table.current_column == "state", "a column that was dropped is left at the near end"


async def test_other_columns_can_be_set() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.set_columns([Column("one", "ONE", shown.plain(), 9)])
        app.table.set_rows([Row("k", ("first", "second"))])
        await pilot.pause()
        assert screen_lines(app.table)[0].split() == ["ONE"]
        assert screen_lines(app.table)[1].split() == ["▸", "first"]
        assert app.table.current_column == "one"
        app.table.set_columns([])
        await pilot.press("right")
        await pilot.pause()
        assert screen_lines(app.table)[0].strip() == ""
        assert app.table.current_column is None


async def test_a_row_may_have_fewer_cells_than_there_are_columns() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.set_rows([Row("k", ("one",), role="error"), Row("l", ())])
        await pilot.pause()
        assert screen_lines(app.table)[1].split() == ["▸", "one"]
        assert style_of(app.table, 1, "one").color.get_truecolor().hex == role_colours(True)["error"]


async def test_an_update_paints_only_the_lines_it_changed() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        table = app.table
        assert isinstance(table, WatchedTable)
        table.set_rows(rows(range(1_000)))
        await pilot.pause()
        screen_lines(table)
        table.asked.clear()
        assert table.update_rows([row(key, todo=7) for key in range(500, 1_000)]) == 500
        assert table.update_rows([row(3), row(4)]) == 2
        assert not table.update_row(row("unknown"))
        assert table.asked == [], "nothing on the screen changed"
        assert table.update_row(row(2, todo=5))
        assert table.update_row(row(2, todo=6))
        assert [(region.y, region.height) for region in table.asked] == [(3, 1)], "asked once until it is painted"
        await pilot.pause()
        assert screen_lines(table)[3].split()[-2] == "6"
        table.move_cursor(index=999)
        await pilot.pause()
        assert screen_lines(table)[-1].split()[-2] == "7", "rows out of view show their newest value when they come"
        table.update_row(row(999, todo=8))
        await pilot.pause()
        assert screen_lines(table)[-1].split()[-2] == "8"


async def test_a_hundred_thousand_rows() -> None:
    async with shown_table(range(100_000)) as (_, table, pilot):
        await pilot.press("end")
        assert table.cursor_key == 99_999
        assert "https://99999.example" in screen_lines(table)[-1]
        assert len(table.row_order) == table.row_count == 100_000


async def test_without_a_header() -> None:
    async with shown_table(app=TableApp(CrawlTable(shown_in(COLUMNS), show_header=False))) as (_, table, pilot):
        await pilot.click(table, offset=(20, 1))
        assert "https://a.example" in screen_lines(table)[0]
        assert table.cursor_key == "b"


async def test_no_size_is_too_small_or_too_large() -> None:
    sizes = [(1, 1), (2, 3), (80, 1), (1, 40), (500, 200), (3, 2), (40, 10), (12, 5), (59, 7), (500, 1), (80, 24)]
    app = TableApp(CrawlTable(shown_in(COLUMNS), placeholder="Nothing to see here."))
    async with app.run_test(size=(80, 24)) as pilot:
        for keys in ((), range(500)):
            app.table.set_rows(rows(keys))
            for width, height in sizes:
                await pilot.resize_terminal(width, height)
                await pilot.press("pagedown")
                assert all(line.isprintable() for line in screen_lines(app.table))
                assert len(screen_lines(app.table)) == app.table.outer_size.height
        assert any(line.startswith("▸") for line in screen_lines(app.table)), "the cursor is still in view"


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
async def test_the_cursor_looks_different_with_and_without_focus(theme: Any) -> None:
    async with shown_table(app=TableApp(theme=theme.name)) as (_, table, pilot):
        focused, plain = style_of(table, 1, "https"), style_of(table, 2, "https")
        assert focused.bgcolor.get_truecolor().hex == theme.variables["primary-muted"]
        assert focused.bold
        await pilot.press("tab")
        blurred = style_of(table, 1, "https")
        assert len({focused.bgcolor, plain.bgcolor, blurred.bgcolor}) == 3


async def test_a_theme_change_repaints_the_roles() -> None:
    async with shown_table() as (app, table, pilot):
        assert style_of(table, 2, "crawling").color.get_truecolor().hex == role_colours(True)["ok"]
        app.theme = LIGHT.name
        await pilot.pause()
        assert style_of(table, 2, "crawling").color.get_truecolor().hex == role_colours(False)["ok"]
        app.theme = "textual-dark"
        await pilot.pause()
        assert style_of(table, 2, "crawling").color.get_truecolor().hex == role_colours(True)["ok"]


async def test_without_colours_the_cursor_is_reversed_and_underlined_when_blurred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with shown_table() as (_, table, pilot):
        assert all(segment.style.reverse for segment in segments(table, 1) if segment.style)
        assert not style_of(table, 2, "https").reverse
        await pilot.press("tab")
        blurred = style_of(table, 1, "https")
        assert (blurred.reverse, blurred.underline) == (None, True)


async def test_roles_may_carry_attributes_and_unknown_words_say_nothing() -> None:
    app = TableApp(CrawlTable(shown_in([Column("a", "A")])))
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.set_rows([Row(0, ("",)), Row(1, (Styled("loud", "error bold nonsense"),))])
        await pilot.pause()
        style = style_of(app.table, 2, "loud")
        assert style.bold
        assert style.color.get_truecolor().hex == role_colours(True)["error"]


async def test_a_bad_colour_in_a_theme_falls_back_to_ours() -> None:
    app = TableApp()
    app.register_theme(Theme(name="bad", primary="#ffffff", variables={"role-ok": "nonsense"}))
    app.theme = "bad"
    async with app.run_test(size=(80, 12)) as pilot:
        app.table.set_rows(rows("abc"))
        await pilot.pause()
        assert style_of(app.table, 2, "crawling").color.get_truecolor().hex == role_colours(True)["ok"]


async def test_keys_can_be_changed_by_their_ids() -> None:
    app = TableApp()
    async with app.run_test(size=(80, 12)) as pilot:
        app.set_keymap({"move.down": "x"})
        app.table.set_rows(rows("abc"))
        await pilot.press("x", "j", "down")
        assert app.table.cursor_key == "b"
        ids = {binding.id for _, binding in app.table._bindings}
        assert all(name and name.split(".")[0] in {"move", "mark", "nav"} for name in ids)


async def test_no_hostile_text_gets_through_any_part_of_the_table() -> None:
    app = TableApp(CrawlTable(shown_in([Column("b", "B")])))
    async with app.run_test(size=(60, 12)) as pilot:
        table = app.table
        for text in (case["text"] for case in CORPUS["cases"]):
            table.set_columns([Column("a", text), Column("b", "B", width=20, short=text)])
            table.placeholder = text
            table.set_rows([])
            shown = screen_lines(table)
            table.set_rows([Row(text, (text, Styled(text, text, text))), Row(1, ((text, text),))])
            shown += screen_lines(table)
            assert not [char for line in shown for char in line if unicodedata.category(char)[0] == "C"], text
            painted = [segment for line in range(table.size.height) for segment in segments(table, line)]
            assert not any(segment.style.meta for segment in painted if segment.style), "no action and no link"
        await pilot.click(table, offset=(6, 1))
