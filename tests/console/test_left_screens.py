"""What is left of screens that were closed: neither their widgets nor the lines that these painted."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from functools import lru_cache

import pytest
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.widget import Widget

from tests.console.support import Stage, stage
from tui_crawler.console import terminal_app
from tui_crawler.console.app import PAUSE_MS
from tui_crawler.console.screen.base import STILL_MS
from tui_crawler.console.terminal_app import release_left_widgets

TIMES = 3
OPENED_BY = {
    "help": ("?",),
    "help of a pane": ("f1",),
    "palette": ("ctrl+p",),
    "jump letters": ("focus.jump",),
    "a choice": ("s",),
    "a confirmation": ("origin.stop",),
    "seeds": ("a",),
    "origin": ("enter",),
    "URL": ("3", "enter", "url.tab_links", "url.tab_headers", "url.tab_body"),
    "robots.txt": ("robots.view",),
    "why": ("i",),
    "site tree": ("origin.tree",),
    "timeline": ("timeline.open",),
    "runs compared": ("runs.diff",),
    "rule editor": ("4", "rule.add"),
    "SQL": ("sql.open",),
    "pivot": ("table.pivot",),
    "failures": ("2", "tab", "enter"),
}
"""Keys from the overview to every kind of screen that is made anew each time."""


class Opened:
    """The screens that were opened, as long as they live: the screens, their widgets, and the painters of these."""

    def __init__(self) -> None:
        self._kept = weakref.WeakSet[object]()
        self._at_once = Counter[str]()
        self.count = 0

    def note(self, held: Stage) -> None:
        """Notes what is on top, after it was painted."""
        screen = held.app.screen
        if held.app.is_screen_installed(screen) or screen is held.app.screen_stack[0]:
            return
        held.text()  # paints
        nodes = [*screen.walk_children(with_self=True)]
        made = [*nodes, *(one._styles_cache for one in nodes if isinstance(one, Widget))]
        self._kept.update(made)
        self._at_once |= Counter(type(one).__name__ for one in made)
        self.count += 1

    @property
    def piled_up(self) -> Counter[str]:
        """What is alive of more than one opening: a thread may hold the last one."""
        alive = Counter(type(one).__name__ for one in self._kept)
        return Counter({name: number for name, number in alive.items() if number > self._at_once[name]})


async def open_and_leave(held: Stage, keys: tuple[str, ...], opened: Opened) -> None:
    """Goes to a screen and back to the overview."""
    for key in keys:
        await held.press(key, rounds=1)
        opened.note(held)
    for _ in range(2 * len(keys)):
        if len(held.app.screen_stack) > 1 or held.app.screen.is_modal:
            await held.press("escape", rounds=0)
    await held.press("1", rounds=0)
    await held.quiet()


@pytest.mark.parametrize("name", OPENED_BY)
async def test_nothing_stays_of_a_screen_that_was_left(name: str) -> None:
    opened = Opened()
    async with stage((120, 40)) as held:
        for _ in range(TIMES):
            await open_and_leave(held, OPENED_BY[name], opened)
        assert opened.count >= TIMES
        assert len(held.app.screen_stack) == 1
        await held.settle(3, move_ms=STILL_MS)  # the operator is calm: what was left is collected
        held.app.screen.refresh()
        await held.quiet()
        assert not opened.piled_up


async def test_screens_that_were_left_are_collected_while_one_is_calm_or_when_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collected: list[int] = []
    async with stage((120, 40)) as held:
        await held.settle(1, move_ms=STILL_MS)
        monkeypatch.setattr(gc, "collect", lambda *young: young or collected.append(held.app.left_screens))
        await open_and_leave(held, ("?",), Opened())
        await held.settle(1, move_ms=10)
        assert not collected
        await held.settle(1, move_ms=STILL_MS)
        assert len(collected) == 1
        await held.settle(2, move_ms=STILL_MS)
        assert len(collected) == 1
        for _ in range(terminal_app.MOST_LEFT + 1):
            await held.press("?", "escape", rounds=0)
            held.app.beat()
            await held.quiet(1)
        assert len(collected) == 2


@pytest.mark.parametrize(
    ("idle_ms", "counts", "collects"),
    [
        (PAUSE_MS - 1, (terminal_app.MOST_YOUNG, 0, 0), []),
        (PAUSE_MS, (terminal_app.MOST_YOUNG - 1, 0, 0), []),
        (PAUSE_MS, (terminal_app.MOST_YOUNG, terminal_app.MOST_TIMES, 0), [0]),
        (STILL_MS, (terminal_app.MOST_YOUNG, terminal_app.MOST_TIMES, 0), [1]),
        (STILL_MS, (terminal_app.MOST_YOUNG, 0, terminal_app.MOST_TIMES), [2]),
    ],
)
async def test_young_garbage_is_collected_while_no_key_waits_for_it(
    idle_ms: int, counts: tuple[int, int, int], collects: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []
    async with stage((120, 40)) as held:
        await held.press("j")
        await held.settle(1, move_ms=STILL_MS)
        monkeypatch.setattr(gc, "get_count", lambda: counts)
        monkeypatch.setattr(gc, "collect", collected.append)
        monkeypatch.setattr(held.app, "idle_ms", lambda: idle_ms)
        held.app.beat()
    assert collected == collects


def colours() -> tuple[Color, Color]:
    return Color(1, 2, 3), Color(4, 5, 6)


def test_painters_are_not_kept_by_what_they_look_up() -> None:
    painter = StylesCache()
    gone = weakref.ref(painter)
    inner, outer = painter.get_inner_outer(*colours())
    assert (inner.background, outer.background) == (colours()[0] + colours()[1], colours()[0])
    assert painter.get_inner_outer(*colours())[0] is inner
    del painter
    gc.collect()
    assert gone() is None


def test_a_textual_that_keeps_no_painters_is_left_as_it_is() -> None:
    class Mended:
        @classmethod
        @lru_cache(8)
        def get_inner_outer(cls, base: int, own: int) -> int:
            return base + own

    class Plain:
        def get_inner_outer(self, base: int, own: int) -> int:
            return base + own

    class Without:
        pass

    for kind in (Mended, Plain, Without):
        before = dict(vars(kind))
        release_left_widgets(kind)
        assert dict(vars(kind)) == before
    assert Mended().get_inner_outer(1, 2) == Plain().get_inner_outer(1, 2) == 3
