"""Pages that an operator puts back come next: in memory at once, in the store right after, at every worker."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from tui_crawler.domain.attempt import FillRecord
from tui_crawler.domain.command import PendingAction, RetryPages
from tui_crawler.domain.delay import Pace
from tui_crawler.domain.origin import FinishReason, OriginState
from tui_crawler.domain.page import PutBack, TodoPage
from tui_crawler.engine.commands import CommandDesk
from tui_crawler.engine.crew import CrewMember

A, B, C = "http://a.test", "http://b.test", "http://c.test"


def page(number: int, origin: str = A, tries: int = 3) -> TodoPage:
    return TodoPage(number, 1, f"{origin}/{number}", attempts_remaining=tries)


@dataclass
class Roster:
    """The origins of this worker."""

    states: dict[str, OriginState]

    def update(self, state: OriginState) -> OriginState:
        self.states[state.origin] = state
        return state


@dataclass
class Store:
    """Answers what was put back; while a fill is stored, turns go on."""

    found: PutBack
    meanwhile: Any = None
    fills: list[FillRecord] = field(default_factory=list)

    async def put_back(self, selection: RetryPages) -> PutBack:
        return self.found

    async def fill(self, record: FillRecord) -> None:
        self.fills.append(record)
        if self.meanwhile is not None:
            self.meanwhile()


def desk_of(store: Store, **todo: tuple[TodoPage, ...]) -> tuple[CommandDesk, Roster]:
    states = {
        name: OriginState(name, 5, Pace(0), todo=todo.get(key, ()), finished=FinishReason.exhausted)
        for key, name in (("a", A), ("b", B))
    }
    roster = Roster(states)
    return CommandDesk(roster, store, None), roster  # type: ignore[arg-type]  # what a retry needs of them


def numbers(pages: tuple[TodoPage, ...]) -> list[int]:
    return [one.page_id for one in pages]


def test_they_stand_before_the_rest_each_once_and_with_their_tries() -> None:
    store = Store(PutBack((page(7), page(3), page(9, C)), frozenset({3})))
    desk, roster = desk_of(store, a=(page(1), page(3, tries=1), page(4)))
    assert asyncio.run(desk.bring_forward(RetryPages())) == (A,)
    state = roster.states[A]
    assert numbers(state.todo) == [7, 3, 1, 4]
    assert state.todo[1].attempts_remaining == 3
    assert state.finished is None, "there is work again"
    (record,) = store.fills
    assert (record.todo, sorted(record.ignored)) == ((7, 3, 1, 4), [3, 7])
    assert roster.states[B].finished is FinishReason.exhausted, "nothing of it was put back"


def test_a_page_whose_attempt_is_over_but_not_stored_is_not_asked_again() -> None:
    """The store still has it on the todo list, the engine no more."""
    store = Store(PutBack((page(3), page(7)), frozenset({3})))
    desk, roster = desk_of(store, a=(page(1),))
    asyncio.run(desk.bring_forward(RetryPages()))
    assert numbers(roster.states[A].todo) == [7, 1]
    assert store.fills[0].ignored == (7,)


def test_what_a_turn_takes_meanwhile_is_not_written_back() -> None:
    store = Store(PutBack((page(7), page(8, B)), frozenset()))
    desk, roster = desk_of(store, a=(page(1),), b=(page(2, B),))

    def turn() -> None:
        """While the first origin is stored, a page of the other one is crawled."""
        last = [name for name in (A, B) if name != store.fills[0].origin.origin]
        for name in last:
            state = roster.states[name]
            roster.update(OriginState(name, 5, Pace(0), todo=state.todo[1:]))

    store.meanwhile = turn
    asyncio.run(desk.bring_forward(RetryPages()))
    first, second = store.fills
    assert len(first.todo) == 2
    assert second.todo == (2 if second.origin.origin == B else 1,), "it was crawled before it could be stored"
    assert second.ignored == ()


def test_every_worker_brings_forward_what_it_holds() -> None:
    store = Store(PutBack((page(7),), frozenset()))
    desk, roster = desk_of(store, a=(page(1),))
    roster.settings = type("Settings", (), {"plan": type("Plan", (), {"max_requests": None})})  # type: ignore[attr-defined]
    member = CrewMember(roster, desk, None)  # type: ignore[arg-type]
    command = RetryPages(origins=(A,))
    assert asyncio.run(member.mirror(PendingAction(1, 0, "mara", command))) == (command, (A,))
    assert numbers(roster.states[A].todo) == [7, 1]
