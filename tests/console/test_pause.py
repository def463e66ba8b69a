"""Pausing several marked origins: what can be is paused, what cannot is named."""

from __future__ import annotations

import pytest

from tests.console.sample_crawl import API, DOCS, WWW, origin
from tests.console.support import stage
from tests.console.test_marks import footer, mark
from tui_crawler.console.action import Situation, Where, why_not
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.intent import stop, toggle_pause
from tui_crawler.domain.command import PauseOrigins
from tui_crawler.domain.view import OriginView

TINY, SMALL, OLD = "https://tiny.example", "https://small.example", "https://old.example.org"
PAUSE = BY_ID["origin.toggle_pause"]


def ended(name: str) -> OriginView:
    return origin(name, state="FINISHED", finish_reason="exhausted")


def held(name: str) -> OriginView:
    return origin(name, paused=True)


@pytest.mark.parametrize(
    ("views", "says", "note"),
    [
        ((origin(API),), "pause api.example.org", ""),
        ((origin(API), ended(TINY)), "pause 1 of 2 origins: api.example.org", "tiny.example has finished"),
        ((origin(API), origin(WWW), ended(TINY)), "pause 2 of 3 origins", "tiny.example has finished"),
        ((origin(API), ended(TINY), ended(SMALL)), "pause 1 of 3 origins: api.example.org", "2 origins have finished"),
        ((origin(API), held(OLD)), "pause 1 of 2 origins: api.example.org", "old.example.org is paused already"),
        (
            (origin(API), origin(WWW), held(OLD), ended(TINY)),
            "pause 2 of 4 origins",
            "tiny.example has finished, old.example.org is paused already",
        ),
        ((held(OLD), ended(TINY)), "resume 1 of 2 origins: old.example.org", "tiny.example has finished"),
    ],
)
def test_what_is_left_out_is_named(views: tuple[OriginView, ...], says: str, note: str) -> None:
    intent = toggle_pause(views)
    assert intent is not None
    assert (intent.says, intent.note) == (says, note)


def test_why_nothing_can_be_paused_is_about_the_marked_ones() -> None:
    def reason(*views: OriginView) -> str:
        return why_not(PAUSE, Situation(Where.overview, origins=views, marked=len(views)))

    assert reason(origin(API), ended(TINY)) == ""
    assert reason(ended(TINY)) == "the origin has finished"
    assert reason(ended(TINY), ended(SMALL)) == "all 2 marked origins have finished"


def test_stopping_leaves_out_what_has_finished_and_says_so() -> None:
    assert "tiny.example has finished already" in stop((origin(API), ended(TINY))).text
    assert "has finished" not in stop((origin(API),)).text


async def test_of_the_marked_ones_those_that_can_be_paused_are_and_the_others_are_told() -> None:
    async with stage((200, 50)) as console:
        await mark(console, API, DOCS, TINY)
        assert "p pause 2" in footer(console)
        await console.press("p")
        await console.decided()
        assert console.journal.sent == [PauseOrigins((API, DOCS))]
        assert "✓ pause 2 of 3 origins; tiny.example has finished" in console.text()
        await console.press("z")
        await console.decided()
        assert "✓ undone: pause 2 of 3 origins" in console.text()
