"""Help of a pane: one text per pane, one meaning per column, its keys; and what the help sheet says besides keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.console.support import stage
from tests.console.test_sizes import SCREENS
from tui_crawler.console.action import NOTHING_TO_UNDO, Where
from tui_crawler.console.dialogs import pane_help
from tui_crawler.console.dialogs.help import _LEGEND
from tui_crawler.console.dialogs.pane_help import PaneText, text_of, texts_in
from tui_crawler.console.jobs.queries import LEDGERS
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.text.cells import cell_text
from tui_crawler.text.glyphs import STATES

SOURCES = Path(__file__).parents[2] / "tui_crawler" / "console"
VIEWS = sorted(path.parent for path in SOURCES.glob("*/screen.py"))
CHARTS = {"pulse", "timeline"}
"""Views whose panes are made one by one: they say what they show in their titles."""


def written(view: Path, pattern: str) -> set[str]:
    """What the modules of a view have that fits a pattern."""
    return {name for path in view.glob("*.py") for name in re.findall(pattern, path.read_text())}


def explained(view: Path) -> set[str]:
    """The panes that the help of a view explains."""
    return set(texts_in(view.name)) - {"columns"}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_has_its_style_and_the_help_of_its_panes_in_its_folder(view: Path) -> None:
    assert (view / "style.tcss").read_text()
    panes = written(view, r'id="([a-z-]+)",\s*classes="pane"')
    panes |= written(view, r'FactsPane\([^=]*?id="([a-z-]+)"(?!, classes="")')
    panes |= written(view, r'"(url-(?:in|out)links)"\)')
    assert explained(view) == panes
    assert panes or view.name in CHARTS
    for pane in panes:
        assert text_of(view.name, pane).shows.endswith(".")


def test_no_view_is_styled_elsewhere() -> None:
    """What the shared styles name by its id is in no folder of a view."""
    names = {
        name
        for path in (SOURCES / "console.tcss", SOURCES / "dialogs/style.tcss")
        for name in re.findall(r"#([a-z-]+)", path.read_text())
    }
    assert {"header", "entry-input", "needle"} <= names
    assert not names & {name for view in VIEWS for name in written(view, r'id="([a-z-]+)"')} - {"body"}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_column_that_a_view_writes_has_a_meaning(view: Path) -> None:
    meanings = {name for pane in explained(view) for name in text_of(view.name, pane).columns}
    assert written(view, r'\bColumn\(\s*"([a-z_]+)"') <= meanings | {"answer"}


@pytest.mark.parametrize("name", SCREENS)
async def test_every_column_of_every_screen_has_a_meaning(name: str) -> None:
    keys, _ = SCREENS[name]
    async with stage((120, 40)) as held:
        await held.press(*keys, rounds=1)
        screen = held.on_top
        for table in screen.query(CrawlTable):
            for column in table.columns:
                text = text_of(type(screen).__module__.split(".")[-2], table.id or "")
                assert text.column or text.columns[column.id], (table.id, column.id)


def test_every_column_of_every_ledger_has_a_meaning() -> None:
    for columns in (ledger.relation.columns for ledger in LEDGERS.values()):
        for column in columns:
            assert text_of("jobs", "ledger").columns[column.id]


def test_meanings_are_short() -> None:
    texts = [text_of(view.name, pane) for view in VIEWS for pane in explained(view)]
    assert all(len(meaning) < 100 for text in texts for meaning in text.columns.values())
    assert text_of("overview", "no-such-pane").shows


async def test_f1_explains_the_pane_with_the_focus() -> None:
    async with stage((120, 40)) as held:
        await held.press("tab", "tab", "f1", rounds=0)
        text = held.text()
        assert "Events · Origins" in text
        assert "Every attempt of the crawl as it ends" in text
        assert "LAST EXIT" not in held.app.screen.query_one("#pane-help").text  # type: ignore[attr-defined]
        assert "enter         opens the URL" in text
        await held.press("escape", rounds=0)
        assert held.app.screen is held.app.console_screen
        await held.press("shift+tab", "f1", rounds=0)
        assert "The origin under the cursor in short" in held.text()
        await held.press("?", rounds=0)
        assert "Keys · Origins" in held.text()


async def test_f1_says_why_a_key_does_nothing_and_names_the_operators_keys() -> None:
    async with stage((120, 60), keymap={"origin.stop": "X"}) as held:
        await held.press("f1", rounds=0)
        assert "you have not raised it" in held.text()
        assert re.search(r"X\s+Stop the origin", held.text())


async def test_enter_on_a_grey_entry_of_the_help_sheet_says_why() -> None:
    async with stage((120, 40)) as held:
        await held.press("?", rounds=0)
        await held.enter("journal.undo", rounds=0)
        assert "Keys · Origins" in held.text()
        assert held.told == f"undo: {NOTHING_TO_UNDO}"


async def test_enter_in_the_help_sheet_does_it() -> None:
    async with stage((120, 40)) as held:
        await held.press("?", rounds=0)
        await held.enter("zoom.in")
        assert "zoom full" in held.text()


@pytest.mark.parametrize("size", [(120, 40), (60, 20)], ids=["large", "small"])
async def test_the_legend_is_there_at_every_size(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await held.press("?", rounds=0)
        assert ("failing" in held.text()) is (size == (120, 40))
        await held.type("sign failing")
        assert "half of its patience or more is lost" in held.text()
        assert "f1 explains the pane" in held.text()


def test_the_legend_names_states_that_exist_and_every_screen_is_explained() -> None:
    assert {word for states in _LEGEND for word in states} <= set(STATES)
    assert all(where.about for where in set(Where) - {Where.welcome})


async def test_the_help_sheet_names_the_undo_key_that_holds() -> None:
    async with stage((120, 40), keymap={"journal.undo": "u"}) as held:
        await held.press("?", rounds=0)
        await held.type("origin.toggle_pause")
        assert "u  resumes" in held.text()
    async with stage((120, 40), keymap={"journal.undo": "none"}) as held:
        await held.press("?", rounds=0)
        await held.type("origin.toggle_pause")
        assert "undo  resumes" in held.text()


async def test_a_key_written_as_it_is_anyway_is_not_a_changed_one() -> None:
    async with stage((120, 40), keymap={"view.freeze": "f"}) as held:
        await held.press("?", rounds=0)
        assert "changed keys" not in held.text()
        await held.type("view.freeze")
        assert "✎ f" not in held.text()


async def test_f1_at_the_newest_entry_of_the_logs_says_so_and_names_the_pane_once() -> None:
    async with stage((120, 60)) as held:
        await held.press("5", rounds=3)
        await held.press("f1", rounds=0)
        assert "— this is the newest entry" in held.text()
        assert "beginning of the list" not in held.text()
        await held.press("escape", "3", rounds=2)
        await held.press("f1", rounds=0)
        assert "URLs · URLs" not in held.text()
        assert "─ URLs ─" in held.text() or "╭ URLs" in held.text()


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_help_sheet_shows_all_of_the_selected_row_and_no_cursor_on_a_heading(size: tuple[int, int]) -> None:
    async with stage(size) as held:
        await held.press("?", rounds=0)
        table = held.app.screen.query_one("#found", CrawlTable)
        notes = held.app.screen.query_one("#notes", Lines)
        entries = {one.key: one for one in held.app.screen._entries}  # type: ignore[attr-defined]
        height = notes.size.height
        seen = set()
        for _ in range(30):
            entry = entries[table.cursor_key]
            seen.add(entry.key)
            assert entry.words
            row = cell_text(entry.cells[0]).rstrip()
            assert row in held.text() or entry.text[:90] in " ".join(notes.text.split())
            assert notes.size.height == height, "the list stays where it is"
            await held.press("down", rounds=0)
        assert len(seen) == 30
        await held.press(*["up"] * 31, rounds=0)
        assert table.cursor_index == 1


async def test_the_legend_is_whole_and_headings_stand_at_the_left() -> None:
    async with stage((120, 60)) as held:
        await held.press("?", rounds=0)
        text = held.text()
        assert "○ idle" in text
        assert "⚠ trap suspected" in text
        box = held.app.screen.query_one("#found").region
        lines = [line[box.x : box.right] for line in text.splitlines()]
        heading = next(at for at, line in enumerate(lines) if line.strip() == "Looking")
        assert lines[heading].index("Looking") == 2
        assert not lines[heading - 1].strip()
        assert any(line.startswith("  d       slower          Raise the delay") for line in lines)


async def test_the_first_line_is_laid_out_beside_the_scroll_bar_like_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage((120, 26)) as held:
        await held.press("2", rounds=2)
        await held.press("f1", rounds=0)
        pane = held.app.screen.query_one("#pane-help", Lines)
        assert pane.show_vertical_scrollbar
        width = pane.scrollable_content_region.width
        long = "a" * (width - 5)  # beside the bar there is no room for the next word, without it there is
        monkeypatch.setattr(pane_help, "text_of", lambda *_: PaneText(f"{long} bbbbb end"))
        await held.press("escape", "f1", rounds=0)
        shown = held.text()
        assert f"│ {long} " in shown
        assert "│ bbbbb end " in shown
        assert "a b" not in shown
