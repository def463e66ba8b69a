"""Whatever lies over the rows is left with the keys that go back, and with esc."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from tests.console.support import Stage, stage
from tui_crawler import console
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.dialogs.add import AddScreen
from tui_crawler.console.dialogs.choose import ChooseScreen, ColumnsScreen, ConfirmScreen, PivotScreen
from tui_crawler.console.dialogs.help import HelpScreen
from tui_crawler.console.dialogs.jump import JumpScreen
from tui_crawler.console.dialogs.pane_help import PaneHelpScreen
from tui_crawler.console.dialogs.quit import AskQuitScreen
from tui_crawler.console.dialogs.search import PaletteScreen
from tui_crawler.console.keys import canonical
from tui_crawler.console.operator.intent import Confirmation
from tui_crawler.console.overview.screen import OverviewScreen
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.rules.applying import TypeCountScreen
from tui_crawler.console.screen.dialog import Dialog
from tui_crawler.console.url.why import AskUrlScreen

OPENED_BY = {
    "help.keys": HelpScreen,
    "help.pane": PaneHelpScreen,
    "cmd.palette": PaletteScreen,
    "focus.jump": JumpScreen,
    "sort.pick": ChooseScreen,
    "columns.choose": ColumnsScreen,
    "table.pivot": PivotScreen,
    "origin.add": AddScreen,
    "origin.stop": ConfirmScreen,
    "app.ask_quit": AskQuitScreen,
    "url.inspect_why": AskUrlScreen,
}
"""The action that opens each dialog."""
OTHERS = {
    "TypeCountScreen",
    "SearchDialog",
    "FirstSeedsScreen",
    "QuitScreen",
    "ExportingScreen",
}
"""Tried by themselves below; the ground of others; those of the welcome, which has no key map; the countdown, which is
not left but forced; the progress of an export, which comes after a choice."""
KEYMAPS: tuple[dict[str, str], ...] = ({}, {"nav.back": "ctrl+g,escape"}, {"nav.back": "h,backspace,f9"})


def back_keys(keymap: dict[str, str]) -> list[str]:
    written = keymap.get("nav.back", BY_ID["nav.back"].keys)
    return [*dict.fromkeys((*canonical(written), "escape"))]


async def still_there(held: Stage, key: str) -> bool:
    await held.press(key, rounds=0)
    return not isinstance(held.app.screen, OverviewScreen)


@pytest.mark.parametrize("keymap", KEYMAPS, ids=lambda keymap: keymap.get("nav.back", "usual"))
async def test_every_dialog_is_left_with_the_keys_that_go_back(keymap: dict[str, str]) -> None:
    async with stage(keymap=keymap) as held:
        dispatcher = held.app.dispatcher
        for key in back_keys(keymap):
            for action_id, kind in OPENED_BY.items():
                dispatcher.do(action_id)
                await held.quiet()
                assert isinstance(held.app.screen, kind), action_id
                types = kind in {HelpScreen, PaletteScreen, AddScreen, AskUrlScreen}
                ours = kind is JumpScreen and any(target.key == key for target in held.app.screen._targets)
                stays = (types and key in {"h", "backspace"}) or (kind in {ConfirmScreen, AskQuitScreen} and key == "h")
                if not ours:
                    assert await still_there(held, key) is stays, (action_id, key)
                await held.press("escape", rounds=0)
            held.app.push_screen(TypeCountScreen(Confirmation("Sure?", "It is much.", ()), 5))
            await held.quiet()
            assert await still_there(held, key) is (key in {"h", "backspace"}), key
            if held.app.screen.is_modal:
                await held.press("escape", rounds=0)
            assert isinstance(held.app.screen, OverviewScreen)
        assert held.journal.sent == []


@pytest.mark.parametrize("keymap", KEYMAPS, ids=lambda keymap: keymap.get("nav.back", "usual"))
async def test_every_line_is_left_with_the_keys_that_go_back(keymap: dict[str, str]) -> None:
    async with stage(keymap=keymap) as held:
        for key in back_keys(keymap):
            for view, action_id in (("1", "cmd.prompt"), ("1", "filter.open"), ("7", "job.nice"), ("5", "log.search")):
                await held.press(view, rounds=2)
                screen = held.app.screen
                held.app.dispatcher.do(action_id)
                await held.quiet()
                line = held.app.screen.query_one(EntryLine)
                assert line.display, action_id
                await held.press(key, rounds=0)
                assert line.display is (key in {"h", "backspace"}), (action_id, key)
                assert held.app.screen is screen
                if line.display:
                    await held.press("escape", rounds=0)
                assert not line.display


def dialogs(kind: type[Dialog] = Dialog) -> Iterator[str]:
    for sub in kind.__subclasses__():
        yield sub.__name__
        yield from dialogs(sub)


def test_no_dialog_is_forgotten_here() -> None:
    for module in pkgutil.walk_packages(console.__path__, f"{console.__name__}."):
        importlib.import_module(module.name)
    assert {*dialogs()} == {kind.__name__ for kind in OPENED_BY.values()} | OTHERS
