"""What is asked of many origins costs few commits, and is done again where the database did not take it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from tests.engine.crawls import PLAN
from tests.support.memory_store import MemoryStore
from tests.support.virtual_time import VirtualClock
from tui_crawler.domain.admission import Admission, Limits, Scope
from tui_crawler.domain.command import (
    AddSeeds,
    Command,
    Exclude,
    PauseOrigins,
    PendingAction,
    RetryPages,
    StopOrigins,
)
from tui_crawler.domain.endings import FinishReason
from tui_crawler.domain.origin import CrawlSettings, OriginState, Takeover
from tui_crawler.domain.page import NewPage
from tui_crawler.domain.policy import EMPTY
from tui_crawler.domain.run import StorageFailure
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.commands import Carried, CommandDesk
from tui_crawler.engine.roster import EngineSettings, Roster

MANY = 150
NAMES = tuple(f"http://o{number}.test" for number in range(MANY))
TOGETHER = 3  # pieces of 64


def page(text: str) -> NewPage:
    url = normalise(text)
    assert isinstance(url, CrawlUrl)
    return NewPage(url.href, url.hash, url.origin, 0, seed=True)


class Desk:
    """A desk of many origins; `calls` counts what is asked of the store."""

    def __init__(self) -> None:
        self.store, self.calls = MemoryStore(lambda: 1_000), Counter[str]()
        self.fails = ""
        plan = replace(PLAN, seeds=tuple(page(f"{name}/0") for name in NAMES))
        crawl = CrawlSettings()
        settings = EngineSettings(plan, settings_of=lambda origin: crawl, key_of=lambda origin, address: origin)
        self.roster = Roster(settings, Admission(EMPTY, Scope(frozenset(NAMES)), Limits()))
        self.desk = CommandDesk(self.roster, self.store, VirtualClock())

    async def begin(self) -> None:
        start = await self.store.begin_run(self.roster.settings.plan)
        for stored in start.origins:
            self.roster.enter(stored, Takeover(continued=False, unclean=False), VirtualClock().now())
        self.store.fault = self.count

    def count(self, name: str) -> None:
        self.calls[name] += 1
        if name == self.fails:
            raise StorageFailure("the disk is full")

    async def do(self, command: Command) -> Carried:
        return await self.desk.carry_out(PendingAction(1, 0, "mara", command))

    @property
    def states(self) -> list[OriginState]:
        return [self.roster.states[name] for name in NAMES]


@pytest.fixture
async def desk() -> Desk:
    made = Desk()
    await made.begin()
    return made


async def test_many_origins_are_steered_in_few_commits(desk: Desk) -> None:
    carried = await desk.do(PauseOrigins())
    assert carried.touched == NAMES
    assert all(state.paused for state in desk.states)
    assert desk.store.crawlers[NAMES[-1]].record.paused
    assert desk.calls == {"save_origins": TOGETHER}
    await desk.do(PauseOrigins())
    assert desk.calls == {"save_origins": TOGETHER}, "nothing is another one now"


async def test_many_origins_are_excluded_and_come_back_in_few_commits(desk: Desk) -> None:
    await desk.do(Exclude("domain", "test"))
    assert {state.finished for state in desk.states} == {FinishReason.excluded}
    await desk.do(Exclude("domain", "test", remove=True))
    assert {state.finished for state in desk.states} == {None}
    assert desk.calls == {"change_exclusion": 2, "save_origins": 2 * TOGETHER}


async def test_seeds_of_many_origins_come_first_in_few_commits(desk: Desk) -> None:
    known, joining = [f"{name}/new" for name in NAMES], [f"http://new{number}.test/" for number in range(MANY)]
    desk.roster.judges.adopt((), (), "")
    await desk.do(AddSeeds((*known, *joining)))
    assert [[one.url for one in state.todo] for state in desk.states] == [[url] for url in known]
    assert len(desk.store.crawlers[NAMES[7]].todo) == 1
    assert desk.calls["add_origins"] == TOGETHER
    assert desk.calls["add_pages"] == 3, "128 seeds each"
    assert desk.calls["put_first"] == 5, "64 origins each"
    assert sum(desk.calls.values()) == 11


async def test_many_seeds_of_one_origin_keep_their_order_and_the_rest_waits(desk: Desk) -> None:
    urls = [f"{NAMES[0]}/new{number}" for number in range(1_100)]
    await desk.do(AddSeeds(tuple(urls)))
    assert [one.url for one in desk.states[0].todo] == urls[:1_000]
    stored = [desk.store.rows.pages[page_id].url for page_id in desk.store.crawlers[NAMES[0]].todo]
    assert stored == urls[:1_000]


async def test_seeds_that_turns_take_while_others_are_added_are_not_put_back(desk: Desk) -> None:
    urls = [f"{NAMES[0]}/new{number}" for number in range(300)]
    put_first = desk.store.put_first

    async def crawl_one(placed: object) -> None:
        await put_first(placed)  # type: ignore[arg-type]  # it is handed on
        state = desk.states[0]
        desk.roster.update(replace(state, todo=state.todo[1:]))

    desk.store.put_first = crawl_one  # type: ignore[method-assign]  # a turn comes after each piece
    await desk.do(AddSeeds(tuple(urls)))
    assert [one.url for one in desk.states[0].todo] == urls[3:]


async def test_origins_that_nothing_is_brought_forward_at_wake_up_in_few_commits(desk: Desk) -> None:
    await desk.do(StopOrigins())
    desk.calls.clear()
    for state in desk.states:
        desk.roster.update(replace(state, finished=FinishReason.exhausted))

    async def retry(selection: RetryPages) -> tuple[tuple[str, int], ...]:
        return tuple((name, 1) for name in NAMES)

    desk.store.retry = retry  # type: ignore[method-assign]  # of pages that wait for a job that is held
    await desk.do(RetryPages())
    assert {state.finished for state in desk.states} == {None}
    assert desk.calls == {"put_back": 1, "save_origins": TOGETHER}


async def test_what_the_database_did_not_take_is_done_whole_when_it_is_tried_again(desk: Desk) -> None:
    desk.fails = "save_origins"
    with pytest.raises(StorageFailure):
        await desk.do(PauseOrigins())
    assert not any(state.paused for state in desk.states)
    desk.fails = ""
    carried = await desk.do(PauseOrigins())
    assert carried.result is not None
    assert carried.result.after.count("true") == MANY
    assert all(one.record.paused for one in desk.store.crawlers.values())


async def test_what_a_turn_has_changed_meanwhile_is_not_taken_back(desk: Desk) -> None:
    """The failure comes after the turn."""
    turned = replace(desk.states[0], patience=1, paused=True)

    async def save(records: object) -> None:
        desk.roster.update(turned)
        raise StorageFailure("the disk is full")

    desk.store.save_origins = save  # type: ignore[method-assign]  # the turn comes in between
    with pytest.raises(StorageFailure):
        await desk.do(PauseOrigins())
    assert desk.states[0] == turned
    assert not desk.states[1].paused


async def test_others_have_their_turn_while_many_are_looked_at(desk: Desk) -> None:
    """Nothing changes, so nothing is waited for; the loop is let go even so."""
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(turn())
    await asyncio.sleep(0)
    before = turns
    await desk.do(PauseOrigins(()))
    await desk.do(PauseOrigins(()))
    other.cancel()
    assert turns - before >= TOGETHER
