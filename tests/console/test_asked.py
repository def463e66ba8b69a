"""Keys that follow each other before a row has been read anew build on what was asked before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.console.sample_crawl import WWW, origin
from tests.console.support import FrozenClock, Stage, stage
from tests.console.test_overview import select
from tui_crawler.console.operator import intent as intents
from tui_crawler.console.operator.commands import READ_MS, UNHEARD_MS, PendingCommands
from tui_crawler.console.operator.journal import IntentOutcome
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins, SetDelay
from tui_crawler.domain.records.view import OriginView

VIEW = origin(WWW, delay_ms=1_000)


class Stopped(FrozenClock):
    """A clock at 0."""

    def __init__(self) -> None:
        super().__init__()
        self.mono = 0


async def sent(held: Stage, number: int) -> None:
    """Waits until so many commands have come."""
    while len(held.journal.sent) < number:
        held.journal.arrived.clear()
        await asyncio.to_thread(held.journal.arrived.wait, 0.1)
    await held.quiet()


async def test_steps_of_the_delay_add_up_and_are_taken_back_one_by_one() -> None:
    async with stage() as held:
        held.journal.answer = None  # nobody carries anything out
        await select(held, WWW)
        await held.type("ddd")
        await sent(held, 3)
        steps = [command.delay_ms for command in held.journal.sent if isinstance(command, SetDelay)]
        assert steps == sorted(set(steps))
        assert len(steps) == 3
        await held.type("D")
        await sent(held, 4)
        assert held.journal.sent[-1] == SetDelay(WWW, steps[1])
        await held.type("uu")
        await sent(held, 6)
        assert held.journal.sent[4:] == [SetDelay(WWW, steps[2]), SetDelay(WWW, steps[1])]


async def test_a_pause_is_taken_off_by_the_same_key_at_once() -> None:
    async with stage() as held:
        held.journal.answer = None  # nobody carries anything out
        await select(held, WWW)
        await held.type("ppp")
        await sent(held, 3)
        assert held.journal.sent == [PauseOrigins((WWW,)), ResumeOrigins((WWW,)), PauseOrigins((WWW,))]


async def test_a_pause_of_all_too() -> None:
    async with stage() as held:
        held.journal.answer = None  # nobody carries anything out
        await held.type("PP")
        await sent(held, 2)
        assert held.journal.sent == [PauseOrigins(), ResumeOrigins()]


@pytest.mark.parametrize("outcome", [IntentOutcome.refused, IntentOutcome.failed, IntentOutcome.waiting])
def test_what_was_not_carried_out_is_forgotten(outcome: IntentOutcome) -> None:
    clock, up = Stopped(), slower(VIEW)
    asked = PendingCommands(clock)
    asked.note(up)
    clock.mono = 1
    assert own_delay(asked, VIEW) == 1_500
    clock.mono = 1
    asked.heard(up, outcome)
    clock.mono = 1
    assert own_delay(asked, VIEW) == 0


def test_what_was_carried_out_holds_until_the_row_is_read() -> None:
    clock, up = Stopped(), slower(VIEW)
    asked = PendingCommands(clock)
    asked.note(up)
    clock.mono = 10
    asked.heard(up, IntentOutcome.written)
    clock.mono = 100
    asked.heard(up, IntentOutcome.done)
    clock.mono = 100 + READ_MS - 1
    assert own_delay(asked, VIEW) == 1_500
    clock.mono = 100 + READ_MS
    assert own_delay(asked, VIEW) == 0


def test_a_wish_of_which_nothing_is_heard_does_not_hold_for_ever() -> None:
    clock, pause = Stopped(), intents.toggle_pause((VIEW,))
    assert pause is not None
    asked = PendingCommands(clock)
    asked.note(pause)
    clock.mono = UNHEARD_MS - 1
    assert asked.shown((VIEW,))[0].paused
    clock.mono = UNHEARD_MS
    assert not asked.shown((VIEW,))[0].paused


def test_other_origins_stay_as_they_are() -> None:
    asked, other = PendingCommands(Stopped()), origin("https://other.example", delay_ms=1_000)
    asked.note(slower(VIEW))
    assert asked.shown((other,)) == (other,)


def test_a_lowered_delay_is_what_the_next_step_starts_from() -> None:
    asked, slowed = PendingCommands(Stopped()), origin(WWW, delay_ms=3_000, operator_delay_ms=3_000)
    down: Callable[[OriginView], intents.Intent | None] = intents.faster
    first = down(slowed)
    assert first is not None
    asked.note(first)
    second = down(asked.shown((slowed,))[0])
    assert (first.commands, second.commands) == ((SetDelay(WWW, 2_000),), (SetDelay(WWW, 1_500),))
    up = intents.slower(asked.shown((slowed,))[0])
    assert up.commands == (SetDelay(WWW, 3_000),)


def slower(view: OriginView) -> intents.Intent:
    made = intents.slower(view)
    assert made is not None
    return made


def own_delay(asked: PendingCommands, view: OriginView) -> int:
    return asked.shown((view,))[0].operator_delay_ms
