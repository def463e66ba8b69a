"""What is painted and laid out anew, and what is not: keys answer at once only where little is."""

from __future__ import annotations

import importlib
import os
from dataclasses import replace

import pytest
from rich.segment import Segment
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from tests.console.sample_crawl import WWW
from tests.console.support import stage
from tui_crawler import console
from tui_crawler.console.panes.bars import Bar, FooterBar, HeaderBar
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.panes.tabs import TabBar
from tui_crawler.console.reading.poll_loop import PollTimer
from tui_crawler.console.table.cells import Row
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.paint import TablePainter

pytestmark = pytest.mark.usefixtures("painted_at_once")


@pytest.mark.parametrize("own", ["", "30"])
def test_frames_may_follow_one_another_sooner_unless_the_environment_says_otherwise(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXTUAL_FPS", own) if own else monkeypatch.delenv("TEXTUAL_FPS", raising=False)
    importlib.reload(console)
    assert os.environ["TEXTUAL_FPS"] == (own or "120")


@pytest.mark.parametrize(("size", "first"), [((60, 20), "enter"), ((120, 40), "Origins")], ids=str)
async def test_header_tabs_and_footer_are_in_the_first_frame(
    size: tuple[int, int], first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: dict[type[Bar], list[str]] = {HeaderBar: [], TabBar: [], FooterBar: []}
    paint = Bar.render_lines

    def note(self: Bar, crop: Region) -> list[Strip]:
        strips = paint(self, crop)
        painted[type(self)].append("".join(strip.text for strip in strips))
        return strips

    monkeypatch.setattr(Bar, "render_lines", note)
    async with stage(size):
        assert painted[HeaderBar][0].strip()
        assert painted[TabBar][0].startswith("▸1 Orig")
        assert painted[FooterBar][0].split()[0] == first


async def test_a_reading_paints_the_rows_that_changed_and_no_pane_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((120, 40)) as held:
        await held.press("j")
        await held.settle(12)
        table = held.app.screen.query_one("#origins", CrawlTable)
        whole: list[CrawlTable] = []
        paint = CrawlTable.refresh

        def note(self: CrawlTable, *regions: object, **options: object) -> object:
            if not regions and self is table:
                whole.append(self)
            return paint(self, *regions, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(CrawlTable, "refresh", note)
        view = held.reports.rows[WWW]
        held.reports.commit(replace(view, done=view.done + 1))
        await held.settle(1)
        assert not whole


async def test_the_focus_paints_the_cursor_anew_but_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((120, 40)) as held:
        await held.press("j", rounds=3)
        painted: list[Row] = []
        paint = TablePainter._paint

        def note(self: TablePainter, row: Row) -> list[Segment]:
            painted.append(row)
            return paint(self, row)

        monkeypatch.setattr(TablePainter, "_paint", note)
        await held.press("tab", "shift+tab", "/", rounds=0)
        assert len(painted) == len({row.key for row in painted}) <= 2, "those that have counted down meanwhile"
        await held.press("escape", "theme.next")
        assert painted, "another theme has other colours"


async def test_a_view_that_is_shown_again_keeps_its_styles_and_is_painted_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage((120, 40)) as held:
        await held.press("2", "1", rounds=3)
        held.app._beating = True  # as where nobody presses `beat`
        done: list[str] = []
        apply, display, ask = Stylesheet.apply, App._display, PollTimer.ask

        def styled(self: Stylesheet, node: DOMNode, **options: bool) -> None:
            done.append(f"style of {node}")
            apply(self, node, **options)  # type: ignore[arg-type]

        def displayed(self: App[object], *what: object) -> None:
            done.append("painted")
            display(self, *what)  # type: ignore[arg-type]

        def asked(self: PollTimer, *screen: object, **how: bool) -> bool:
            done.append("read")
            return ask(self, *screen, **how)  # type: ignore[arg-type]

        monkeypatch.setattr(Stylesheet, "apply", styled)
        monkeypatch.setattr(App, "_display", displayed)
        monkeypatch.setattr(PollTimer, "ask", asked)
        await held.press("2", rounds=0)
        assert not [one for one in done if one.startswith("style")]
        assert done.index("painted") < done.index("read")


async def test_a_step_of_the_cursor_does_not_lay_the_screen_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with stage((120, 40)) as held:
        await held.press("j")
        await held.settle(12)
        laid_out: list[Screen[object]] = []
        lay_out = Screen._refresh_layout

        def note(self: Screen[object], *arguments: object, **options: object) -> None:
            laid_out.append(self)
            lay_out(self, *arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(Screen, "_refresh_layout", note)
        await held.press("j", "j", "k", "k", "k")
        assert not laid_out
        await held.pilot.resize_terminal(120, 20)
        await held.press("j")
        card = held.app.screen.query_one("#summary", Lines)
        assert card.virtual_size.height > card.size.height, "what does not fit scrolls, and is told"
        assert "lines more" in held.text()
