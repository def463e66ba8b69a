"""The pictures in screenshots/: made here, with clock and rows that stand still, and compared with what is committed.

`TUI_CRAWLER_UPDATE_SCREENSHOTS=1` writes them anew, with a PNG beside each SVG.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.console.rule_stage import counted
from tests.console.sample_crawl import API, DOCS, NOW, WWW
from tests.console.support import FakeDetacher, FakeHost, FakeReports, Stage, stage
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.theme import LIGHT

FOLDER = Path(__file__).parents[2] / "screenshots"
UPDATE = os.environ.get("TUI_CRAWLER_UPDATE_SCREENSHOTS") == "1"
GAINS = (9, 12, 14, 17, 15, 19, 22, 21, 18, 24, 26, 23, 19, 20, 22, 25, 27, 24, 21, 18, 17, 19, 21, 20)
"""Requests of each of the last seconds."""

DRAFTING = ("4", "j", "D", "e")
DRAFTED = "skip: /products/[a-z0-9]*[05e]$"
"""An entry is deleted, this one is new."""

PICTURES = {
    "overview": ((120, 40), ()),
    "origin": ((120, 40), ("enter",)),
    "failures": ((120, 40), ("2", "tab", "j")),
    "url": ((120, 40), ("2", "tab", "j", "enter")),
    "url-body": ((120, 40), ("2", "tab", "j", "enter", "B")),
    "url-why": ((120, 40), ("2", "tab", "j", "enter", "i", "enter")),
    "url-why-light": ((120, 40), ("2", "tab", "j", "enter", "i", "enter")),
    "url-why-80x24": ((80, 24), ("2", "tab", "j", "enter", "i", "enter")),
    "url-why-80x24-light": ((80, 24), ("2", "tab", "j", "enter", "i", "enter")),
    "urls": ((120, 40), ("3", "/", *"exit:network !user", "enter", "j")),
    "urls-light": ((120, 40), ("3", "/", *"exit:network !user", "enter", "j")),
    "urls-80x24": ((80, 24), ("3", "j")),
    "urls-80x24-light": ((80, 24), ("3", "j")),
    "help": ((120, 40), ("?",)),
    "logs": ((120, 40), ("5", "/", *"timeout", "enter")),
    "logs-light": ((120, 40), ("5", "/", *"timeout", "enter")),
    "logs-80x24": ((80, 24), ("5",)),
    "logs-80x24-light": ((80, 24), ("5",)),
    "stats": ((120, 40), ("6",)),
    "stats-light": ((120, 40), ("6",)),
    "stats-80x24": ((80, 24), ("6",)),
    "stats-80x24-light": ((80, 24), ("6",)),
    "quit": ((120, 40), ("ctrl+c",)),
    "quit-80x24": ((80, 24), ("Q",)),
    "copy": ((120, 40), ("2", "tab", "j", "space", "space", "y")),
    "filter": ((120, 40), ("enter", "/", *"exit:timeout", "enter")),
    "rules": ((120, 40), ("4",)),
    "rules-light": ((120, 40), ("4",)),
    "rules-80x24": ((80, 24), ("4",)),
    "rules-80x24-light": ((80, 24), ("4",)),
    "rules-draft": ((120, 40), DRAFTING),
    "rules-draft-light": ((120, 40), DRAFTING),
    "rules-draft-80x24": ((80, 24), DRAFTING),
    "rules-draft-80x24-light": ((80, 24), DRAFTING),
    "overview-80x24": ((80, 24), ()),
    "overview-60x20": ((60, 20), ()),
    "overview-200x60": ((200, 60), ()),
}

HOSTED = frozenset({"quit", "quit-80x24"})
"""Pictures of a console that carries the run out itself, and could leave it."""


async def crawl_a_while(held: Stage) -> None:
    """Lets requests come in for some seconds, ends at the moment of the sample crawl with its rows."""
    rows = dict(held.reports.rows)
    held.clock.wall = NOW - len(GAINS) * 1_000
    missing = sum(GAINS)
    for gain in (0, *GAINS):
        missing -= gain
        for name, part in ((WWW, 70), (DOCS, 20), (API, 10)):
            view = rows[name]
            gone = missing * part // 100
            held.reports.commit(
                replace(view, requests=view.requests - gone, bytes=max(0, view.bytes - gone * 24_000), done=view.done)
            )
        await held.settle(1, move_ms=1_000)


def plain(svg: str) -> str:
    """An SVG without what differs from run to run: the number in its class names."""
    return re.sub(r"terminal-\d+", "terminal-0", svg)


def write_png(svg: str, path: Path) -> None:
    """Draws an SVG; the font of the terminal is one that is everywhere."""
    import resvg_py  # noqa: PLC0415  only where pictures are made anew

    fonts = "/usr/share/fonts/truetype/dejavu"
    drawn = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    data = resvg_py.svg_to_bytes(svg_string=drawn, font_dirs=[fonts], monospace_family="DejaVu Sans Mono")
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("name", PICTURES)
async def test_picture_is_the_one_that_is_committed(name: str) -> None:
    size, keys = PICTURES[name]
    theme = LIGHT.name if name.endswith("-light") else ""
    host = FakeHost(obeys=False) if name in HOSTED else None
    async with stage(size, reports=FakeReports(), theme=theme, host=host, detacher=FakeDetacher()) as held:
        await crawl_a_while(held)
        held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
        await held.press(*keys, rounds=3)
        if keys == DRAFTING:
            await held.type(DRAFTED)
            await held.press("enter", rounds=3)
            await counted(held)
        held.clock.wall = NOW
        screen = held.app.console_screen
        assert screen is not None
        screen.tick()
        held.app.show_header(screen, held.clock.mono_ms())
        await held.quiet()
        svg = plain(held.app.export_screenshot(title="tui-crawler"))
    path = FOLDER / f"{name}.svg"
    if UPDATE:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(svg, encoding="utf-8")
        write_png(svg, path.with_suffix(".png"))
    assert path.read_text(encoding="utf-8") == svg
