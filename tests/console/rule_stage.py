"""A stage with a draft of rules on it: waits for what another thread counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.console.support import PATIENT_S, Stage
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.screens.rule_editor import RuleEditorScreen


async def until(held: Stage, fact: Callable[[], bool]) -> None:
    """Lets the app work until something holds."""

    async def look() -> None:
        while not fact():
            await held.quiet(1)

    await asyncio.wait_for(look(), PATIENT_S)


def editor(held: Stage) -> RuleEditorScreen:
    """The draft on top."""
    screen = held.app.console_screen
    assert isinstance(screen, RuleEditorScreen)
    return screen


async def counted(held: Stage) -> str:
    """The impact as it is shown once it is known."""
    screen = editor(held)
    await until(held, lambda: (news := screen._news) is not None and bool(news.preview is not None or news.error))
    await held.quiet()
    return screen.query_one("#draft-impact", Lines).text
