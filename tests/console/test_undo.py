"""What `z` takes back: one press nothing that is older than what was asked for last."""

from __future__ import annotations

from dataclasses import replace

from tests.console.sample_crawl import API
from tests.console.support import Stage, stage
from tui_crawler.console.operator import intent as intents
from tui_crawler.console.operator.commands import UndoStack
from tui_crawler.console.operator.intent import Intent
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins, StopOrigins

PAUSE = Intent((PauseOrigins((API,)),), "pause api", (ResumeOrigins((API,)),))
SEEDS = intents.add_seeds(("https://a/", "https://b/"))


def test_what_cannot_be_undone_stands_in_the_way_until_that_was_told() -> None:
    stack = UndoStack().did(PAUSE)
    assert stack.in_the_way == ""
    stack = stack.did(SEEDS)
    assert stack.in_the_way == "the last action, add 2 seeds, cannot be undone"
    assert stack.next_undo == "pause api"
    past_it = replace(stack, final=None)
    assert past_it.in_the_way == ""
    assert past_it.undo() is not None
    assert stack.did(PAUSE).in_the_way == "", "something newer can be undone"
    assert stack.without(SEEDS).in_the_way == "", "it was refused: it never was"
    assert stack.without(PAUSE).in_the_way != ""


def test_what_is_done_again_is_the_last_that_was_done() -> None:
    undone = UndoStack().did(PAUSE).undo()
    again = undone[1].did(SEEDS).redo()
    assert again[1].in_the_way == ""


def test_long_words_are_cut() -> None:
    stop = Intent((StopOrigins((API,)),), "x" * 400)
    assert len(UndoStack().did(stop).in_the_way) < 120


async def do(held: Stage, intent: Intent) -> None:
    held.app.command_queue.carry_out(intent)
    await held.decided()


async def press_z(held: Stage) -> str:
    await held.press("journal.undo", rounds=0)
    await held.quiet()
    return held.told


async def test_z_says_that_the_last_action_cannot_be_undone_and_undoes_an_older_one_only_when_pressed_again() -> None:
    async with stage() as held:
        await do(held, PAUSE)
        await do(held, SEEDS)
        told = await press_z(held)
        assert told == "the last action, add 2 seeds, cannot be undone; u again undoes pause api"
        assert held.journal.sent == [*PAUSE.commands, *SEEDS.commands]
        await held.press("journal.undo", rounds=0)
        await held.decided()
        assert held.journal.sent[-1] == ResumeOrigins((API,))


async def test_with_nothing_older_to_undo_z_says_what_it_cannot_undo() -> None:
    async with stage() as held:
        await do(held, SEEDS)
        for _ in range(2):
            assert await press_z(held) == "undo: the last action, add 2 seeds, cannot be undone"


async def test_z_goes_past_an_action_that_was_refused() -> None:
    async with stage() as held:
        await do(held, PAUSE)
        held.journal.answer = "no job named x"
        await do(held, SEEDS)
        held.journal.answer = ""
        await held.press("journal.undo", rounds=0)
        await held.decided()
        assert held.journal.sent[-1] == ResumeOrigins((API,))
