"""Pausing several marked origins: what can be is paused, what cannot is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import API, DOCS, WWW, origin
from tests.console.support import stage
from tests.console.test_marks import footer, mark
from tui_crawler.console.action import Situation, Where, why_not
from tui_crawler.console.actions import BY_ID
from tui_crawler.console.operator.intent import (
    pause,
    pause_all,
    resume,
    resume_all,
    stop,
    toggle_pause,
    toggle_pause_all,
)
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins
from tui_crawler.domain.records.view import OriginView

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
        ((origin(API), held(OLD)), "pause 1 of 2 origins: api.example.org", "old.example.org is already paused"),
        (
            (origin(API), origin(WWW), held(OLD), ended(TINY)),
            "pause 2 of 4 origins",
            "tiny.example has finished, old.example.org is already paused",
        ),
        (
            (origin(API), ended(TINY), origin(OLD, state="FINISHED", finish_reason="patience")),
            "pause 1 of 3 origins: api.example.org",
            "1 origin stopped after errors, 1 has finished",
        ),
        ((held(OLD), ended(TINY)), "resume 1 of 2 origins: old.example.org", "tiny.example has finished"),
    ],
)
def test_what_is_left_out_is_named(views: tuple[OriginView, ...], says: str, note: str) -> None:
    intent = toggle_pause(views)
    assert (intent.says, intent.note) == (says, note)


def test_why_nothing_can_be_paused_is_about_the_marked_ones() -> None:
    def reason(*views: OriginView) -> str:
        return why_not(PAUSE, Situation(Where.overview, origins=views))

    assert reason(origin(API), ended(TINY)) == ""
    assert reason(ended(TINY)) == "the origin has finished"
    assert reason(ended(TINY), ended(SMALL)) == "all 2 marked origins have finished"
    weary = origin(OLD, state="FINISHED", finish_reason="patience")
    assert reason(weary) == "the origin stopped after errors"
    assert reason(ended(TINY), weary, ended(SMALL)) == "1 origin stopped after errors, 2 have finished"


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
        await console.press("journal.undo")
        await console.decided()
        assert "✓ undone: pause 2 of 3 origins" in console.text()


def stopped(name: str) -> OriginView:
    return origin(name, state="FINISHED", finish_reason="operator")


def test_one_way_words_leave_the_others_as_they_are() -> None:
    assert pause((held(OLD), ended(TINY))) is None
    assert resume((origin(API), ended(TINY))) is None
    some = resume((held(OLD), origin(API)))
    assert (some.commands, some.note) == ((ResumeOrigins((OLD,)),), "api.example.org is not paused")
    over = resume((origin(TINY, state="FINISHED", finish_reason="patience", paused=True),))
    assert over.commands == (ResumeOrigins((TINY,)),), "the next run starts it"


def test_an_undone_pause_of_all_lets_only_those_go_that_it_held() -> None:
    intent = pause_all((origin(API), held(OLD), ended(TINY)))
    assert (intent.commands, intent.inverse) == ((PauseOrigins(),), (ResumeOrigins((API, TINY)),))
    whole = toggle_pause_all((origin(API), ended(TINY)))
    assert (whole.commands, whole.inverse) == ((PauseOrigins(),), (ResumeOrigins(),))


def test_pausing_and_resuming_all_starts_no_origin_that_an_operator_has_stopped() -> None:
    views = (origin(API), ended(TINY), stopped(WWW))
    paused = pause_all(views)
    assert (paused.commands, paused.inverse) == ((PauseOrigins((API, TINY)),), (ResumeOrigins((API, TINY)),))
    back = resume_all((held(API), ended(TINY), stopped(WWW)))
    assert (back.commands, back.inverse) == ((ResumeOrigins((API,)),), (PauseOrigins((API,)),))


async def test_where_every_origin_has_finished_pausing_all_says_so_and_writes_nothing() -> None:
    async with stage((160, 40)) as console:
        gone = {name: replace(view, state="FINISHED") for name, view in console.reports.rows.items()}
        console.reports.commit(
            *(replace(view, finish_reason=view.finish_reason or "exhausted") for view in gone.values())
        )
        await console.settle()
        await console.press("P")
        assert console.app.notices[-1].text == "pause all: every origin has ended its run"
        await console.press("question_mark")
        assert "— every origin has ended its run" in console.text()
        assert console.journal.sent == []


async def test_where_there_is_no_origin_yet_pausing_all_says_so() -> None:
    async with stage(reports=FakeReports(rows={})) as console:
        await console.press("P")
        assert console.app.notices[-1].text == "pause all: no origins yet"
        assert console.journal.sent == []
