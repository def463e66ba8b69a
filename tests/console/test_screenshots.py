"""The pictures in screenshots/: made here, with clock and rows that stand still, and compared with what is committed.

Every scene at four sizes, in a dark and in a light theme. `TUI_CRAWLER_UPDATE_SCREENSHOTS=1` writes them anew, and the
PNG of those that README.md shows; `TUI_CRAWLER_SCREENSHOTS=FOLDER` writes a PNG of each there, to be looked at.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import rich.console
from rich.terminal_theme import TerminalTheme

from tests.console.rule_stage import counted
from tests.console.sample_crawl import API, DOCS, NOW, WWW
from tests.console.support import FakeDetacher, FakeHost, FakeReports, Stage, stage
from tests.console.test_welcome import welcome
from tui_crawler.console.crawl_table import CrawlTable
from tui_crawler.console.theme import DARK, LIGHT

FOLDER = Path(__file__).parents[2] / "screenshots"
UPDATE = os.environ.get("TUI_CRAWLER_UPDATE_SCREENSHOTS") == "1"
LOOK_AT = os.environ.get("TUI_CRAWLER_SCREENSHOTS", "")
GAINS = (9, 12, 14, 17, 15, 19, 22, 21, 18, 24, 26, 23, 19, 20, 22, 25, 27, 24, 21, 18, 17, 19, 21, 20)
"""Requests of each of the last seconds."""

DRAFTING = ("4", "j", "D", "e")
DRAFTED = "skip: /products/[a-z0-9]*[05e]$"
"""An entry is deleted, this one is new."""

SCENES: dict[str, tuple[str, ...]] = {
    "overview": (),
    "origin": ("enter",),
    "failures": ("2", "tab", "j"),
    "url": ("2", "tab", "j", "enter"),
    "url-body": ("2", "tab", "j", "enter", "B"),
    "url-why": ("2", "tab", "j", "enter", "i", "enter"),
    "urls": ("3", "/", *"exit:network !user", "enter", "j"),
    "rules": ("4",),
    "rules-draft": DRAFTING,
    "robots": ("enter", "b"),
    "logs": ("5", "/", *"timeout", "enter"),
    "stats": ("6",),
    "pivot": ("3", "right", "F"),
    "sql": (";", *"SELECT * FROM v_page", "enter"),
    "zoom": ("enter", "+"),
    "jump": ("enter", "ctrl+o"),
    "help": ("?",),
    "pane-help": ("f1",),
    "copy": ("2", "tab", "j", "space", "space", "y"),
    "filter": ("enter", "/", *"exit:timeout", "enter"),
    "quit": ("ctrl+c",),
}
"""The keys that lead to each."""

WELCOME = "welcome"
SIZES = ((120, 40), (200, 60), (80, 24), (60, 20))
TINY = (30, 8)
LOOKS = {"dark": DARK.name, "light": LIGHT.name}
FEW_COLOURS: dict[str, tuple[str, dict[str, str]]] = {
    "256": (DARK.name, {"COLORTERM": ""}),
    "16": (DARK.name, {"COLORTERM": "", "TERM": "xterm"}),
    "16-light": (LIGHT.name, {"COLORTERM": "", "TERM": "linux"}),
    "none": (DARK.name, {"NO_COLOR": "1"}),
    "ascii": (DARK.name, {"LC_ALL": "C"}),
}
"""What terminals that show less say of themselves, and the theme there."""

XTERM = TerminalTheme(
    (0, 0, 0),
    (229, 229, 229),
    [(0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)],
    [
        *((127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0)),
        *((92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)),
    ],
)
"""What xterm shows its 16 colours as."""

FEW_SCENES = ("overview", "failures", "origin")
SHOWN = frozenset({"overview-120x40-dark", "rules-draft-120x40-dark"})
"""What README.md shows, as PNG."""

HOSTED = frozenset({"quit"})
"""Scenes of a console that carries the run out itself, and could leave it."""


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


async def set_scene(held: Stage, keys: tuple[str, ...]) -> None:
    """Lets the crawl run for a while, painting next to nothing, and goes where the keys lead."""
    await crawl_a_while(held)
    await held.pilot.resize_terminal(*SIZES[0])
    await held.quiet()
    held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
    await held.settle(3)  # what the pane beside it shows was read
    await held.press(*keys, rounds=3)
    if keys == DRAFTING:
        await held.type(DRAFTED)
        await held.press("enter", rounds=3)
        await counted(held)


async def picture(held: Stage, size: tuple[int, int], look: str) -> str:
    """The screen at a size, in a theme, as SVG."""
    held.app.theme = LOOKS[look] if look in LOOKS else FEW_COLOURS[look][0]
    await held.pilot.resize_terminal(*size)
    await held.quiet()
    held.clock.wall = NOW
    screen = held.app.console_screen
    assert screen is not None
    screen.tick()
    held.app.board.show_header(screen, held.clock.mono_ms())
    await held.quiet()
    return plain(held.app.export_screenshot(title="tui-crawler"))


@pytest.mark.parametrize("scene", SCENES)
async def test_pictures_are_those_that_are_committed(scene: str) -> None:
    host = FakeHost(obeys=False) if scene in HOSTED else None
    made: dict[str, str] = {}
    async with stage(TINY, reports=FakeReports(), host=host, detacher=FakeDetacher()) as held:
        await set_scene(held, SCENES[scene])
        for size, look in product(SIZES, LOOKS):
            made[named(scene, size, look)] = await picture(held, size, look)
    compare(made)


@pytest.mark.parametrize(("scene", "look"), list(product(FEW_SCENES, FEW_COLOURS)))
async def test_pictures_of_terminals_that_show_less(scene: str, look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FEW_COLOURS[look][1].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(rich.console, "SVG_EXPORT_THEME", XTERM)
    async with stage(TINY, reports=FakeReports(), detacher=FakeDetacher()) as held:
        await set_scene(held, SCENES[scene])
        compare({named(scene, SIZES[0], look): await picture(held, SIZES[0], look)})


async def test_pictures_of_the_welcome_are_those_that_are_committed() -> None:
    made: dict[str, str] = {}
    async with welcome() as held:
        for size, look in product(SIZES, LOOKS):
            held.app.theme = LOOKS[look]
            await held.pilot.resize_terminal(*size)
            await held.worked()
            made[named(WELCOME, size, look)] = plain(held.app.export_screenshot(title="tui-crawler"))
    compare(made)


def named(scene: str, size: tuple[int, int], look: str) -> str:
    """The name of a picture."""
    return f"{scene}-{size[0]}x{size[1]}-{look}"


def compare(made: dict[str, str]) -> None:
    """Compares pictures with those in the folder, or puts them there."""
    for name, svg in made.items():
        if UPDATE:
            (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
            if name in SHOWN:
                write_png(svg, FOLDER / f"{name}.png")
        if LOOK_AT:
            write_png(svg, Path(LOOK_AT) / f"{name}.png")
    differing = [name for name, svg in made.items() if (FOLDER / f"{name}.svg").read_text(encoding="utf-8") != svg]
    assert not differing


def test_nothing_else_lies_among_the_pictures() -> None:
    names = {named(*parts) for parts in product((*SCENES, WELCOME), SIZES, LOOKS)}
    names |= {named(*parts) for parts in product(FEW_SCENES, SIZES[:1], FEW_COLOURS)}
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.svg" for name in names} | {f"{n}.png" for n in SHOWN}
