"""What the screens show, made with clock and rows that stand still, and compared with what is committed.

Every scene once, at 120×40 in the dark theme, as text (in screens/, a file for each scene) and as a picture (in
screenshots/). The four richest also at other sizes, in the light theme and as terminals with fewer colours show them,
as text; the overview as pictures, too.
`TUI_CRAWLER_UPDATE_SCREENSHOTS=1` writes both again, and the PNG of those that README.md and docs/ show;
`TUI_CRAWLER_SCREENSHOTS=FOLDER` compares nothing; it writes a PNG of each scene there, in all sizes and themes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from difflib import unified_diff
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest
import rich.console
from rich.terminal_theme import TerminalTheme

from tests.console.rule_stage import counted
from tests.console.sample_crawl import API, DOCS, NOW, WWW
from tests.console.screen_text import Line, screen_lines, write_screens
from tests.console.support import FakeDetacher, FakeHost, FakeReports, FrozenClock, Stage, stage
from tests.console.test_welcome import welcome
from tui_crawler.console.replay.player import ReplayPlayer, Replays
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.theme import DARK, LIGHT
from tui_crawler.domain.history.replayed import ReplayGoal, ReplayMoment, ReplaySpan

PICTURES = Path(__file__).parents[2] / "screenshots"
SHOWN_IN = PICTURES.parent / "docs" / "pictures"
TEXTS = Path(__file__).parent / "screens"
UPDATE = os.environ.get("TUI_CRAWLER_UPDATE_SCREENSHOTS") == "1"
LOOK_AT = os.environ.get("TUI_CRAWLER_SCREENSHOTS", "")
GAINS = (9, 12, 14, 17, 15, 19, 22, 21, 18, 24, 26, 23, 19, 20, 22, 25, 27, 24, 21, 18, 17, 19, 21, 20)
"""Requests of each of the last seconds."""

DRAFTING = ("4", "rule.add")
DRAFTED = "/products/[a-z0-9]*[05e]$"
"""What the new rule skips."""

SCENES: dict[str, tuple[str, ...]] = {
    "overview": (),
    "columns": ("columns.choose", *"jj ", "J"),
    "origin": ("enter",),
    "failures": ("2", "tab", "j"),
    "url": ("2", "tab", "j", "enter"),
    "url-body": ("2", "tab", "j", "enter", "url.tab_body"),
    "url-text": ("2", "tab", "j", "enter", "url.tab_body", "url.read"),
    "url-why": ("2", "tab", "j", "enter", "i", "enter"),
    "urls": ("3", "/", *"exit:network !user", "enter", "j"),
    "rules": ("4",),
    "rules-draft": DRAFTING,
    "robots": ("enter", "robots.view"),
    "tree": ("origin.tree", "j", "j", "enter"),
    "timeline": ("timeline.open", *["pageup"] * 4, "left", "left", "left"),
    "logs": ("5", "log.search", *"timeout", "enter"),
    "jobs": ("7",),
    "pulse": ("6", *["left"] * 20),
    "workers": ("8",),
    "pivot": ("3", "right", "table.pivot"),
    "sql": ("sql.open", *"SELECT * FROM v_page", "enter"),
    "diff": (":", *"diff", "enter", "tab"),
    "diff-page": (":", *"diff", "enter", "tab", "enter"),
    "zoom": ("enter", "+"),
    "jump": ("enter", "focus.jump"),
    "help": ("?",),
    "pane-help": ("f1",),
    "copy": ("2", "tab", "j", "space", "space", "y"),
    "filter": ("enter", "/", *"exit:timeout", "enter"),
    "quit": ("ctrl+c",),
    "replay": ("j",),
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

RICHEST = ("overview", "origin", "url", "pulse", "timeline")
"""The scenes with the most parts, tables and charts. They are shown at all sizes and in all looks."""

SHOWN = frozenset({"overview-120x40-dark", "rules-draft-120x40-dark", "pulse-120x40-dark", "timeline-120x40-dark"})
"""What README.md and docs/ show, as PNG in docs/pictures/."""


def named(scene: str, size: tuple[int, int], look: str) -> str:
    """The name of a picture."""
    return f"{scene}-{size[0]}x{size[1]}-{look}"


KEPT = {named(scene, SIZES[0], "dark") for scene in (*SCENES, WELCOME)} | {
    *(named("overview", size, look) for size, look in product(SIZES, LOOKS)),
    *(named("overview", SIZES[0], look) for look in FEW_COLOURS),
}
"""The pictures that a reader looks at."""

READ_BY_WIDTH = frozenset({"timeline", "origin"})
HOSTED = frozenset({"quit"})
"""Scenes of a console that carries the run out itself, and could leave it."""


def views_of(scene: str) -> Iterable[tuple[tuple[int, int], str]]:
    """Return the sizes and themes in which a scene is shown."""
    return product(SIZES, LOOKS) if scene in RICHEST or LOOK_AT else [(SIZES[0], "dark")]


def played(scene: str) -> Replays:
    """A replay that goes on at 60 times its pace, in the scene of one."""
    if scene != "replay":
        return Replays()
    player = ReplayPlayer(FrozenClock())
    first, last = ReplayMoment(NOW - 3_600_000), ReplayMoment(NOW + 3_000_000, 96_310)
    player.arrived(ReplayGoal(at=0), ReplayMoment(NOW, 41_207), ReplaySpan(first, last))
    player.run_at(60)
    player.play()
    return Replays(player)


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
        await counted(held)


async def show(held: Stage, size: tuple[int, int], look: str, *, reads: bool = False) -> None:
    """Paints the screen at a size, in a theme; `reads`: what is read depends on the width."""
    held.app.theme = LOOKS[look] if look in LOOKS else FEW_COLOURS[look][0]
    await held.pilot.resize_terminal(*size)
    await held.quiet()
    held.clock.wall = NOW
    if reads:
        await held.settle(1, move_ms=0)
    screen = held.on_top
    screen.tick()
    held.app.show_header(screen)
    await held.quiet()


class Album:
    """The screens of one scene, to be compared with what is committed."""

    def __init__(self, scene: str) -> None:
        self.scene = scene
        self.screens: dict[str, dict[str, list[Line]]] = {}
        self.pictures: dict[str, str] = {}

    def add(self, app: Any, size: tuple[int, int], look: str) -> None:
        """Takes what is on the screen."""
        self.screens.setdefault(f"{size[0]}x{size[1]}", {})[look] = screen_lines(app)
        name = named(self.scene, size, look)
        if name not in KEPT and not LOOK_AT:
            return
        svg = plain(app.export_screenshot(title="tui-crawler"))
        if name in KEPT:
            self.pictures[name] = svg
        if LOOK_AT:
            write_png(svg, Path(LOOK_AT) / f"{name}.png")

    def compare(self, name: str) -> None:
        """Compares all that was taken with the text of that name and with the pictures, or puts it there."""
        if LOOK_AT:
            return
        text = write_screens(self.screens)
        if UPDATE:
            (TEXTS / f"{name}.txt").write_text(text, encoding="utf-8")
            for picture, svg in self.pictures.items():
                (PICTURES / f"{picture}.svg").write_text(svg, encoding="utf-8")
                if picture in SHOWN:
                    write_png(svg, SHOWN_IN / f"{picture}.png")
        committed = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
        if committed != text:
            lines = unified_diff(committed.split("\n"), text.split("\n"), "committed", "made", n=0, lineterm="")
            pytest.fail(f"{name} differs:\n" + "\n".join(islice(lines, 80)), pytrace=False)
        kept = {name: (PICTURES / f"{name}.svg").read_text(encoding="utf-8") for name in self.pictures}
        assert not [name for name, svg in self.pictures.items() if kept[name] != svg]


pytestmark = pytest.mark.usefixtures("painted_when_quiet")


@pytest.mark.parametrize("scene", SCENES)
async def test_screens_are_those_that_are_committed(scene: str) -> None:
    host = FakeHost(obeys=False) if scene in HOSTED else None
    album = Album(scene)
    replays, readonly = played(scene), scene == "replay"
    reports, detacher = FakeReports(), FakeDetacher()
    async with stage(TINY, reports=reports, host=host, detacher=detacher, readonly=readonly, replays=replays) as held:
        await set_scene(held, SCENES[scene])
        for size, look in views_of(scene):
            await show(held, size, look, reads=scene in READ_BY_WIDTH)
            album.add(held.app, size, look)
    album.compare(scene)


@pytest.mark.parametrize("scene", RICHEST)
async def test_screens_of_terminals_that_show_less(scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    album = Album(scene)
    for look, (_, environment) in FEW_COLOURS.items():
        if scene != "overview" and look not in {"16", "ascii"}:  # the others differ in the theme alone
            continue
        with monkeypatch.context() as terminal:
            for name, value in environment.items():
                terminal.setenv(name, value)
            terminal.setattr(rich.console, "SVG_EXPORT_THEME", XTERM)
            async with stage(TINY, reports=FakeReports(), detacher=FakeDetacher()) as held:
                await set_scene(held, SCENES[scene])
                await show(held, SIZES[0], look, reads=scene in READ_BY_WIDTH)
                album.add(held.app, SIZES[0], look)
    album.compare(f"{scene}-few-colours")


async def test_screens_of_the_welcome_are_those_that_are_committed() -> None:
    album = Album(WELCOME)
    async with welcome() as held:
        held.app.theme = LOOKS["dark"]
        await held.pilot.resize_terminal(*SIZES[0])
        await held.worked()
        album.add(held.app, SIZES[0], "dark")
    album.compare(WELCOME)


def test_nothing_else_lies_among_them() -> None:
    assert {path.name for path in PICTURES.iterdir()} == {f"{name}.svg" for name in KEPT}
    assert {path.name for path in SHOWN_IN.iterdir()} == {f"{name}.png" for name in SHOWN}
    texts = {*SCENES, WELCOME, *(f"{scene}-few-colours" for scene in RICHEST)}
    assert {path.name for path in TEXTS.iterdir()} == {f"{name}.txt" for name in texts}
