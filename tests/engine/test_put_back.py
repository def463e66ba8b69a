"""Pages that an operator puts back come next: in memory at once, in the store right after, at every worker."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from tui_crawler.domain.crawl.delay import Pace
from tui_crawler.domain.crawl.origin import OriginState
from tui_crawler.domain.records.attempt import OriginRecord
from tui_crawler.domain.records.command import PendingAction, RetryPages
from tui_crawler.domain.records.page import PutBack, TodoPage
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.engine import origin_table
from tui_crawler.engine.commands import CommandExecutor
from tui_crawler.engine.peers import PeerWorker

A, B, C = "http://a.test", "http://b.test", "http://c.test"


def page(number: int, origin: str = A, tries: int = 3) -> TodoPage:
    return TodoPage(number, 1, f"{origin}/{number}", attempts_remaining=tries)


@dataclass
class OriginTable:
    """The origins of this worker."""

    states: dict[str, OriginState]

    def update(self, state: OriginState) -> OriginState:
        self.states[state.origin] = state
        return state


@dataclass
class Store:
    """Answers what was put back; while it is stored what comes first, turns go on."""

    found: PutBack
    meanwhile: Any = None
    firsts: list[tuple[OriginRecord, tuple[int, ...]]] = field(default_factory=list)

    async def put_back(self, selection: RetryPages) -> PutBack:
        return self.found

    async def put_first(self, placed: list[tuple[OriginRecord, tuple[int, ...]]]) -> None:
        self.firsts += placed
        if self.meanwhile is not None:
            self.meanwhile()


def desk_of(store: Store, **todo: tuple[TodoPage, ...]) -> tuple[CommandExecutor, OriginTable]:
    states = {
        name: OriginState(name, 5, Pace(0), todo=todo.get(key, ()), finished=FinishReason.exhausted)
        for key, name in (("a", A), ("b", B))
    }
    table = OriginTable(states)
    return CommandExecutor(table, store, None), table  # type: ignore[arg-type]  # what a retry needs of them


def numbers(pages: tuple[TodoPage, ...]) -> list[int]:
    return [one.page_id for one in pages]


def test_they_stand_before_the_rest_each_once_and_with_their_tries() -> None:
    store = Store(PutBack(((A, (page(7), page(3))), (C, (page(9, C),))), frozenset({3})))
    executor, table = desk_of(store, a=(page(1), page(3, tries=1), page(4)))
    assert asyncio.run(executor.bring_forward(RetryPages())) == (A,)
    state = table.states[A]
    assert numbers(state.todo) == [7, 3, 1, 4]
    assert state.todo[1].attempts_remaining == 3
    assert state.finished is None, "there is work again"
    ((record, first),) = store.firsts
    assert (record.origin, record.finish_reason, first) == (A, "", (7, 3))
    assert table.states[B].finished is FinishReason.exhausted, "nothing of it was put back"


def test_a_page_whose_attempt_is_over_but_not_stored_is_not_asked_again() -> None:
    """The store still has it on the todo list, the engine no more."""
    store = Store(PutBack(((A, (page(3), page(7))),), frozenset({3})))
    executor, table = desk_of(store, a=(page(1),))
    asyncio.run(executor.bring_forward(RetryPages()))
    assert numbers(table.states[A].todo) == [7, 1]
    assert store.firsts[0][1] == (7,)


def test_what_a_turn_takes_meanwhile_is_not_written_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin_table, "TOGETHER", 1)
    store = Store(PutBack(((A, (page(7),)), (B, (page(8, B),)))))
    executor, table = desk_of(store, a=(page(1),), b=(page(2, B),))

    def turn() -> None:
        """While the first origin is stored, a page of the other one is crawled."""
        last = [name for name in (A, B) if name != store.firsts[0][0].origin]
        for name in last:
            state = table.states[name]
            table.update(OriginState(name, 5, Pace(0), todo=state.todo[1:]))

    store.meanwhile = turn
    asyncio.run(executor.bring_forward(RetryPages()))
    (_, first), (_, second) = store.firsts
    assert len(first) == 1
    assert second == (), "it was crawled before it could be stored"


class SlowStore(Store):
    """Counts how much is stored at once."""

    most = 0

    async def put_first(self, placed: list[tuple[OriginRecord, tuple[int, ...]]]) -> None:
        await asyncio.sleep(0)
        self.most = max(self.most, len(placed))
        self.firsts += placed


def test_many_origins_are_stored_together_but_not_all_at_once() -> None:
    """One after the other each would have a commit of its own; all at once, what turns bring would wait behind."""
    names = [f"http://o{number}.test" for number in range(150)]
    store = SlowStore(PutBack(tuple((name, (page(number, name),)) for number, name in enumerate(names))))
    executor, table = desk_of(store)
    for name in names:
        table.update(OriginState(name, 5, Pace(0), todo=(page(1_000, name),)))
    assert asyncio.run(executor.bring_forward(RetryPages())) == tuple(names)
    assert store.most == 64
    assert [record.origin for record, _ in store.firsts] == names
    assert [first for _, first in store.firsts] == [(number,) for number in range(150)]


def test_every_worker_brings_forward_what_it_holds() -> None:
    store = Store(PutBack(((A, (page(7),)),)))
    executor, table = desk_of(store, a=(page(1),))
    table.settings = type("Settings", (), {"plan": type("Plan", (), {"max_requests": None})})  # type: ignore[attr-defined]
    member = PeerWorker(table, executor, None)  # type: ignore[arg-type]
    command = RetryPages(origins=(A,))
    assert asyncio.run(member.mirror(PendingAction(1, 0, "mara", command))) == (command, (A,))
    assert numbers(table.states[A].todo) == [7, 1]
