"""A monkey at the console: steps drawn from a seed, done on a stage, with what must hold after each of them.

Steps know nothing of what is on the screen, so that those left over when some are taken out mean the same.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from textual import events
from textual.keys import _character_to_key

from tests.console.fake_reports import FakeReports
from tests.console.poison import CASES, OWN, WORST, PoisonedReports, PoisonedRules
from tests.console.sample_crawl import origins, run_view
from tests.console.support import FakeHost, Stage, stage
from tests.support.patience import PATIENT_S
from tui_crawler.console.actions import ACTIONS
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.dialogs.quit import QuitScreen
from tui_crawler.console.keys import TABLE_BINDINGS, USUAL, canonical, character_of
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.bars import HeaderBar
from tui_crawler.console.panes.typing import TakesText

MOST_SCREENS = 40
"""How many screens may lie over each other, dialogs among them."""
MOST_ESCAPES = 3 * MOST_SCREENS
SIZES = ((40, 10), (60, 20), (80, 24), (81, 24), (120, 40), (200, 60), (250, 70), (39, 20), (40, 9), (3, 2), (1, 1))
LEAVES = frozenset({"app.quit", "app.detach", "app.ask_quit"})
VIEWS = ("1", "2", "3", "4", "5", "6", "7", "8")
OFTEN = ("enter", "enter", "enter", "tab", "down", "up", "escape", *VIEWS)
DEEPER = OFTEN[:6]
EDITING = ("backspace", "delete", "left", "right", "home", "end", "shift+tab", "space", "y", "n", "ctrl+a", "ctrl+k")
TEXT = "abcxyz019 /:?!*[](){}<>\\'\"~.,;-_=%&#é日 "
PASTES = (*CASES.values(), *OWN.values(), *WORST, "https://x.example/\nhttps://y.example/", "re:(", "~", "exit:")


@dataclass(frozen=True, slots=True)
class Press:
    """A key by its name, or two with a space between them."""

    key: str


@dataclass(frozen=True, slots=True)
class Rush:
    """Keys without a look at the screen in between."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Type:
    """Characters without a look at the screen in between."""

    text: str


@dataclass(frozen=True, slots=True)
class Insert:
    """A text put in at once."""

    text: str


@dataclass(frozen=True, slots=True)
class Resize:
    """Another size of the terminal."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Click:
    """A mouse button, `times` over, at a place given as shares of the screen."""

    across: float
    down: float
    times: int
    button: int


@dataclass(frozen=True, slots=True)
class Wheel:
    """The wheel, at a place given as shares of the screen."""

    across: float
    down: float
    up: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Something else happens in the database, drawn from a seed of its own; then `ms` go by and it is read."""

    seed: int
    ms: int


Step = Press | Rush | Type | Insert | Resize | Click | Wheel | Change


def all_keys() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys of the key map but those that leave, and those that do."""
    stays: list[str] = list(EDITING)
    leaves: list[str] = []
    for action in ACTIONS:
        (leaves if action.id in LEAVES else stays).extend(canonical(action.keys))
    for binding in TABLE_BINDINGS:
        stays.extend(canonical(USUAL[str(binding.id)]))
    return tuple(dict.fromkeys(stays)), tuple(dict.fromkeys(leaves))


STAYS, ENDS = all_keys()
BACK = frozenset({"escape", "g l", "g b", "g f", *VIEWS})
"""Keys that lead to where one was, or to another numbered view."""


def draw(chance: random.Random, number: int, *, leaves: bool = False) -> list[Step]:
    """Draws steps; `leaves`: also keys that leave the console. Every third time they only go deeper."""
    often: tuple[str, ...] = OFTEN
    keys: tuple[str, ...] = STAYS
    if chance.random() < 0.33:
        often, keys = DEEPER, tuple(key for key in STAYS if key not in BACK)
    return [_draw_one(chance, often, keys, leaves=leaves) for _ in range(number)]


def _draw_one(chance: random.Random, often: Sequence[str], keys: Sequence[str], *, leaves: bool) -> Step:
    match chance.choices(range(10), (42, 24, 7, 2, 3, 6, 3, 8, 1 if leaves else 0, 5))[0]:
        case 0:
            return Press(chance.choice(keys))
        case 1:
            return Press(chance.choice(often))
        case 2:
            return Type("".join(chance.choices(TEXT, k=chance.randint(1, 6))))
        case 3:
            return Insert(chance.choice(PASTES))
        case 4:
            return Resize(*chance.choice(SIZES))
        case 5:
            return Click(
                chance.random(), chance.random(), chance.choice((1, 1, 1, 2, 3)), chance.choice((1, 1, 1, 2, 3))
            )
        case 6:
            return Wheel(chance.random(), chance.random(), chance.random() < 0.5)
        case 7:
            return Change(chance.getrandbits(32), chance.choice((50, 120, 600, 1_100, 5_000, 70_000)))
        case 8:
            return Press(chance.choice(ENDS))
        case _:
            return Rush(tuple(chance.choice((chance.choice(keys), chance.choice(often))) for _ in range(4)))


# what is crawled


def _plain() -> FakeReports:
    return FakeReports()


def _empty() -> FakeReports:
    return FakeReports(
        rows={}, log=(), newest_run=None, pages=(), happened=(), asked_for=(), groups_of_pages=(), past_runs=(),
        versions=(), added=(), robots=None, stored=None, detail=lambda _: None, ends=lambda _, __: (),
    )  # fmt: skip


def _finished() -> FakeReports:
    views = {
        view.origin: replace(view, state="FINISHED", finish_reason=view.finish_reason or "exhausted", todo=0, pending=0)
        for view in origins()
    }
    return FakeReports(rows=views, newest_run=replace(run_view(live=False), finish_reason="exhausted"))


def _paused() -> FakeReports:
    return FakeReports(rows={view.origin: replace(view, paused=True, paused_by="mara") for view in origins()})


def _hostile(payload: str, *, names: bool) -> FakeReports:
    shown = PoisonedReports()
    shown.load(payload, names=names)
    return shown


WORLDS: dict[str, Callable[[], FakeReports]] = {
    "crawl": _plain,
    "empty": _empty,
    "finished": _finished,
    "paused": _paused,
    "hostile": lambda: _hostile(WORST[0] + WORST[1], names=False),
    "hostile names": lambda: _hostile(WORST[1], names=True),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a monkey plays."""

    world: str
    size: tuple[int, int]
    readonly: bool
    hosted: bool

    def staged(self) -> AbstractAsyncContextManager[Stage]:
        """A stage of it."""
        rules = None
        if self.world.startswith("hostile"):
            rules = PoisonedRules()
            rules.payload = WORST[0]
        return stage(
            self.size,
            reports=WORLDS[self.world](),
            readonly=self.readonly,
            host=FakeHost() if self.hosted else None,
            rules=rules,
        )


def scene(chance: random.Random) -> Scene:
    """Draws one."""
    return Scene(chance.choice(tuple(WORLDS)), chance.choice(SIZES[:7]), chance.random() < 0.4, chance.random() < 0.3)


class Fell(AssertionError):
    """The console did not bear it; `steps` is what was done, the last one was too much."""

    def __init__(self, what: str, where: Scene, steps: Sequence[Step]) -> None:
        super().__init__(f"{what}\nin {where}\nafter {list(steps)}")
        self.steps = list(steps)


class Monkey:
    """Does steps on a stage."""

    def __init__(self, held: Stage, where: Scene) -> None:
        self._held = held
        self._where = where
        self.done: list[Step] = []

    async def play(self, steps: Iterable[Step]) -> bool:
        """Does all steps, and looks after each; True when the console was left on the way. Raises Fell."""
        for step in steps:
            self.done.append(step)
            try:
                await self._do(step)
                self._look()
            except Fell:
                raise
            except Exception as error:
                raise Fell(f"{type(error).__name__}: {error}", self._where, self.done) from error
            if self._left():
                return True
        return False

    async def go_home(self) -> None:
        """`esc` leads back to a numbered view, and `q` leaves from there. Raises Fell."""
        app = self._held.app
        await self.play([Resize(120, 40)])
        for _ in range(MOST_ESCAPES):
            if isinstance(app.screen, OverviewScreen) and not isinstance(app.focused, TakesText):
                break
            discards = isinstance(app.screen, ConfirmScreen) and "Discard" in self._held.text()
            if await self.play([Press("y" if discards else "escape")]):
                return
        if not isinstance(app.screen, OverviewScreen):
            raise Fell(f"esc does not lead back from {app.screen}", self._where, self.done)
        assert app.screen.query_one(HeaderBar).display
        await self.play([Press("q")])
        if isinstance(app.screen, QuitScreen):
            await self.play([Press("q")])
            await asyncio.wait_for(app.engine_over.wait(), PATIENT_S)
            await self._held.quiet(1)
        await asyncio.wait_for(self._held.gone(), PATIENT_S)
        self._look()

    def _left(self) -> bool:
        app = self._held.app
        return bool(app._exit) or app.hosting.quitting or app.way_out.leaving

    def _look(self) -> None:
        app = self._held.app
        if app._exception is not None:
            raise app._exception
        deep = len(app.screen_stack)
        if deep > MOST_SCREENS:
            raise Fell(f"{deep} screens lie over each other", self._where, self.done)

    async def _do(self, step: Step) -> None:
        held, app = self._held, self._held.app
        match step:
            case Press(key):
                self._press(key)
            case Rush(keys):
                for key in keys:
                    self._press(key)
            case Type(text):
                for char in text:
                    app.post_message(events.Key(char if char.isalnum() else _character_to_key(char), char))
            case Insert(text):
                app.post_message(events.Paste(text))
            case Resize(width, height):
                await held.pilot.resize_terminal(width, height)
            case Click(across, down, times, button):
                for _ in range(times):
                    for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
                        self._mouse(kind, across, down, button)
            case Wheel(across, down, up):
                self._mouse(events.MouseScrollUp if up else events.MouseScrollDown, across, down, 0)
            case Change(seed, ms):
                self._change(random.Random(seed))
                await held.settle(1, ms)
                return
        await held.quiet(1)

    def _press(self, keys: str) -> None:
        for key in keys.split():
            self._held.app.post_message(events.Key(key, key if len(key) == 1 else character_of(key)))

    def _mouse(self, kind: type[events.MouseEvent], across: float, down: float, button: int) -> None:
        size = self._held.app.size
        x, y = int(across * size.width), int(down * size.height)
        self._held.app.post_message(kind(None, x, y, 0, 0, button, False, False, False, x, y))

    def _change(self, chance: random.Random) -> None:
        """Origins go on, or the database cannot be read for once."""
        reports = self._held.reports
        reports.failure = "disk I/O error [/]\x1b[2J" if chance.random() < 0.05 else ""
        views = list(reports.rows.values())
        for view in chance.sample(views, min(len(views), 3)):
            gone_on = replace(view, failed=view.failed + chance.randint(0, 9), done=view.done + 1)
            if chance.random() < 0.1:
                gone_on = replace(gone_on, state="FINISHED", finish_reason="patience", patience=0)
            reports.commit(gone_on)
        if chance.random() < 0.05:
            reports.rows.clear()
            for view in origins():
                reports.commit(view)


async def play_alone(where: Scene, steps: Sequence[Step]) -> int:
    """A stage, all steps, and the way home; gives how many steps were done. Raises Fell."""
    async with where.staged() as held:
        monkey = Monkey(held, where)
        if not await monkey.play(steps):
            await monkey.go_home()
        return len(monkey.done)
