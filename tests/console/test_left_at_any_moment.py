"""Left at any moment: whatever was just opened and whatever is under way, nothing is raised, and every thread ends.

`TUI_CRAWLER_LEAVINGS=2000 pytest tests/console/test_left_at_any_moment.py` tries more of them.
"""

from __future__ import annotations

import asyncio
import os
import random
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.message import Message

from tests.console.monkey import ENDS, STAYS
from tests.console.support import FakeHost, Stage, StageApp, stage
from tests.console.test_welcome import FakeFolder
from tests.support.patience import PATIENT_S
from tui_crawler.console.app import CrawlerApp
from tui_crawler.console.keys import character_of
from tui_crawler.console.reading.poll_loop import ReadFailed
from tui_crawler.console.welcome.app import WelcomeApp
from tui_crawler.console.welcome.first_step import StepProblem

pytestmark = pytest.mark.usefixtures("painted_at_once")

LEAVINGS = int(os.environ.get("TUI_CRAWLER_LEAVINGS", "45"))
PLACES: dict[str, tuple[str, ...]] = {
    "overview": (),
    "origin": ("enter",),
    "failures": ("2",),
    "group": ("2", "enter"),
    "urls": ("3",),
    "url": ("3", "enter"),
    "links": ("3", "enter", "url.tab_links"),
    "why": ("3", "i", "enter"),
    "rules": ("4",),
    "draft": ("4", "rule.delete"),
    "entry": ("4", "rule.add"),
    "logs": ("5",),
    "jobs": ("7",),
    "workers": ("8",),
    "robots": ("robots.view",),
    "sql": ("sql.open",),
    "filter": ("slash", "a"),
}
"""Where one can be, and the keys that lead there."""
OPENERS = (
    *(("overview", keys) for keys in ("question_mark", "f1", "ctrl+p", "g j", "s", "y", "t f", "a", "o s", "o x", "R")),
    *(
        ("overview", keys)
        for keys in ("ctrl+c", "i", "2", "3", "4", "5", "6", "g q", "o r", "enter", "colon", "q", "g")
    ),
    *(("rules", keys) for keys in ("enter", "a", "o d", "o x", "o t", "o b")),
    *(("urls", keys) for keys in ("enter", "m", "t f", "slash", "g l", "g b")),
    *(("draft", keys) for keys in ("ctrl+s", "escape", "4")),
    *(("failures", keys) for keys in ("t g", "enter", "R")),
)
"""Every view and every dialog: where, and the keys that open it."""
WELCOME_KEYS = ("a", "down", "up", "q", "enter")
WELCOME_WAYS = ("end", "exit", "leave", "back")
TURNS = (0, 0, 1, 1, 2, 3, 4, 5, 6, 8, 11, 15, 25, 40)
WAYS = ("exit", "leave", "again", "end", "signal", "pop", "home")
MOST_LATE = 40
"""So many times something comes late in one leaving; each sends messages that would bring more of it."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """Keys at a place, and after so many turns of the loop a way to leave. `hasty`: the screens are taken down while
    the app goes on. `held_up`: a reading is under way. `late`: readings, beats and failures come with every message."""

    place: str
    keys: tuple[str, ...]
    turns: int
    way: str
    hasty: bool
    held_up: bool
    late: bool
    hosted: bool
    narrow: bool

    def __str__(self) -> str:
        marks = [name for name in ("hasty", "held_up", "late", "hosted", "narrow") if getattr(self, name)]
        return f"{self.place}-{'-'.join(self.keys)}-{self.turns}-{self.way}-{'-'.join(marks)}"


def draw(number: int) -> list[Leaving]:
    """Draws leavings from their numbers: first from each screen right after it was opened, then after any keys."""
    drawn = []
    for seed in range(number):
        chance = random.Random(seed)
        marks = [chance.random() < share for share in (0.5, 0.4, 0.5, 0.4, 0.2)]
        if seed < len(OPENERS):
            place, key = OPENERS[seed]
            keys, turns, way = [key], chance.choice(TURNS[:8]), chance.choice(WAYS[:4])
        else:
            place, turns, way = chance.choice(tuple(PLACES)), chance.choice(TURNS), chance.choice(WAYS)
            keys = chance.choices((*STAYS, *ENDS), k=chance.choice((1, 2, 3)))
        drawn.append(Leaving(place, tuple(keys), turns, way, *marks))
    return drawn


class Latecomer:
    """Brings what comes late, once the app is being left, at every message that a widget is about to handle."""

    def __init__(self, *, brings: bool) -> None:
        self.app: StageApp | None = None
        self.failures: list[BaseException] = []
        self._left = MOST_LATE if brings else 0
        self._busy = False

    def hear(self, _message: Message) -> None:
        app = self.app
        if app is None or not self._left or self._busy:
            return
        self._left -= 1
        self._busy = True
        answers = (app.answered, ReadFailed("disk I/O error"))
        for answer in answers:
            self._try(app, CrawlerApp.Delivered(answer))
        self._busy = False

    def _try(self, app: StageApp, message: CrawlerApp.Delivered) -> None:
        try:
            CrawlerApp.on_crawler_app_delivered(app, message)
            app.beat()
        except Exception as error:  # what handles a message here would hide it
            self.failures.append(error)

    def fell(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Something was raised where nobody waits for it."""
        self.failures.append(context.get("exception") or AssertionError(context["message"]))


async def turn(times: int) -> None:
    """Lets the loop go round."""
    for _ in range(times):
        await asyncio.sleep(0)


def press(held: Stage, keys: str) -> None:
    """Presses a key, or two, and does not wait for what comes of it."""
    for key in keys.split():
        held.app.post_message(events.Key(key, key if len(key) == 1 else character_of(key)))


async def leave(held: Stage, way: str, turns: int) -> None:
    """Leaves; at the latest the end of the stage does."""
    app = held.app
    match way:
        case "exit":
            app.exit()
        case "leave" | "again":
            app.way_out.leave()
            if way == "again":
                await turn(1)
                app.post_message(CrawlerApp.SignalCaught(143))
                press(held, "2")
        case "signal":
            app.way_out.begin(143)
            await turn(turns)
        case "pop" | "home":
            if way == "home":
                app.dispatcher.show_view("view.overview")
            elif len(app.screen_stack) > 1 and app.is_running:
                app.pop_screen()
            await turn(turns)


async def play(leaving: Leaving) -> None:
    """Raises what was raised, wherever that was."""
    late = Latecomer(brings=leaving.late)
    asyncio.get_running_loop().set_exception_handler(late.fell)
    host = FakeHost() if leaving.hosted else None
    async with stage((60 if leaving.narrow else 120, 30), host=host, hears=late.hear) as held:
        held.app.hasty = leaving.hasty
        for key in PLACES[leaving.place]:
            await held.press(key, rounds=2)
        if leaving.held_up:
            held.reports.gate = threading.Event()
            held.clock.move(2_000)
            held.app.beat()
        for key in leaving.keys:
            press(held, key)
        await turn(leaving.turns)
        late.app = held.app
        await leave(held, leaving.way, leaving.turns)
    assert not late.failures
    assert held.app._exception is None
    assert held.reports.closed.wait(PATIENT_S)


def drawn_at_the_welcome(number: int) -> list[tuple[str, int, str, int]]:
    """Draws what is done at the welcome: a key, how many turns of the loop later it is left, and how; the seed."""
    drawn = []
    for seed in range(number):
        chance = random.Random(seed)
        drawn.append((WELCOME_KEYS[seed % len(WELCOME_KEYS)], chance.choice(TURNS), chance.choice(WELCOME_WAYS), seed))
    return drawn


@pytest.mark.parametrize(("key", "turns", "way", "seed"), drawn_at_the_welcome(max(6, LEAVINGS // 6)))
async def test_so_is_the_welcome(key: str, turns: int, way: str, seed: int) -> None:
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    folder = FakeFolder(problems=(StepProblem("no such thing"),) if seed % 2 else ())
    app = WelcomeApp(folder)
    async with app.run_test(size=(100, 30)) as pilot:
        if seed % 3:
            await pilot.pause()
        app.post_message(events.Key(key, key if len(key) == 1 else character_of(key)))
        if key == "down":
            folder.gate.clear()
            app.post_message(events.Key("enter", "\r"))
        await turn(turns)
        match way:
            case "exit":
                app.exit()
            case "leave":
                app.leave(143)
            case "back" if len(app.screen_stack) > 1:
                app.pop_screen()
        folder.gate.set()
        await turn(turns)
    assert not failures
    assert app._exception is None


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures and exports are written here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("leaving", draw(LEAVINGS), ids=str)
async def test_nothing_is_raised_and_every_thread_ends(leaving: Leaving) -> None:
    await play(leaving)
