"""What is asked of many origins costs few commits, and is done again where the database did not take it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.engine.crawls import PLAN
from tests.support.memory_store import MemoryStore
from tui_crawler.domain.crawl.origin import CrawlSettings, OriginState, Takeover, record_of
from tui_crawler.domain.records.attempt import FillRecord
from tui_crawler.domain.records.command import (
    AddSeeds,
    Command,
    Exclude,
    PauseOrigins,
    PendingAction,
    RetryPages,
    StopOrigins,
)
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.policy import EMPTY
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.clock import VirtualClock
from tui_crawler.engine.commands import CommandExecutor, CommandResult
from tui_crawler.engine.origin_table import EngineSettings, OriginTable

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
        self.table = OriginTable(settings, Admission(EMPTY, Scope(frozenset(NAMES)), Limits()))
        self.executor = CommandExecutor(self.table, self.store, VirtualClock())

    async def begin(self) -> None:
        start = await self.store.begin_run(self.table.settings.plan)
        for stored in start.origins:
            self.table.enter(stored, Takeover(continued=False, unclean=False), VirtualClock().now())
        self.store.fault = self.count

    def count(self, name: str) -> None:
        self.calls[name] += 1
        if name == self.fails:
            raise StorageFailure("the disk is full")

    async def do(self, command: Command) -> CommandResult:
        return await self.executor.carry_out(PendingAction(1, 0, "mara", command))

    @property
    def states(self) -> list[OriginState]:
        return [self.table.states[name] for name in NAMES]


@pytest.fixture
async def executor() -> Desk:
    made = Desk()
    await made.begin()
    return made


async def test_many_origins_are_steered_in_few_commits(executor: Desk) -> None:
    carried = await executor.do(PauseOrigins())
    assert carried.touched == NAMES
    assert all(state.paused for state in executor.states)
    assert executor.store.crawlers[NAMES[-1]].record.paused
    assert executor.calls == {"save_origins": TOGETHER}
    await executor.do(PauseOrigins())
    assert executor.calls == {"save_origins": TOGETHER}, "nothing is another one now"


async def test_many_origins_are_excluded_and_come_back_in_few_commits(executor: Desk) -> None:
    await executor.do(Exclude("domain", "test"))
    assert {state.finished for state in executor.states} == {FinishReason.excluded}
    await executor.do(Exclude("domain", "test", remove=True))
    assert {state.finished for state in executor.states} == {None}
    assert executor.calls == {"change_exclusion": 2, "save_origins": 2 * TOGETHER}


async def test_seeds_of_many_origins_come_first_in_few_commits(executor: Desk) -> None:
    known, joining = [f"{name}/new" for name in NAMES], [f"http://new{number}.test/" for number in range(MANY)]
    executor.table.job_filters.adopt((), (), "")
    await executor.do(AddSeeds((*known, *joining)))
    assert [[one.url for one in state.todo] for state in executor.states] == [[url] for url in known]
    assert len(executor.store.crawlers[NAMES[7]].todo) == 1
    assert executor.calls["add_origins"] == TOGETHER
    assert executor.calls["add_pages"] == 1, "1,000 seeds each"
    assert executor.calls["put_first"] == executor.calls["added_pages"] == 5, "64 origins each"
    assert sum(executor.calls.values()) == 14


async def test_many_seeds_of_one_origin_keep_their_order_and_the_rest_waits(executor: Desk) -> None:
    urls = [f"{NAMES[0]}/new{number}" for number in range(1_100)]
    await executor.do(AddSeeds(tuple(urls)))
    assert [one.url for one in executor.states[0].todo] == urls[:1_000]
    stored = [executor.store.rows.pages[page_id].url for page_id in executor.store.crawlers[NAMES[0]].todo]
    assert stored == urls[:1_000]


async def test_seeds_that_a_turn_takes_while_others_are_added_are_listed_once(executor: Desk) -> None:
    urls = [f"{NAMES[0]}/new{number}" for number in range(300)]
    add_pages = executor.store.add_pages

    async def fill(pages: Sequence[NewPage], job: str) -> tuple[int, ...]:
        keys = await add_pages(pages, job)
        (page,) = await executor.store.added_pages(keys[:1], job)
        state = replace(executor.states[0], todo=(page,))
        await executor.store.fill(FillRecord(record_of(state), (page.page_id,), (page.page_id,)))
        executor.table.update(state)
        return keys

    executor.store.add_pages = fill  # type: ignore[method-assign]  # a turn comes before they are put first
    await executor.do(AddSeeds(tuple(urls)))
    assert [one.url for one in executor.states[0].todo] == [*urls[1:], urls[0]]


async def test_a_long_list_of_seeds_makes_no_long_todo_list(executor: Desk) -> None:
    for start in range(0, 1_600, 400):
        await executor.do(AddSeeds(tuple(f"{NAMES[0]}/new{number}" for number in range(start, start + 400))))
    assert len(executor.states[0].todo) == 1_000
    await executor.do(AddSeeds((f"{NAMES[0]}/one",)))
    assert [one.url for one in executor.states[0].todo[:2]] == [f"{NAMES[0]}/one", f"{NAMES[0]}/new800"], (
        "few come next"
    )


async def test_while_nobody_crawls_a_list_makes_todo_lists_of_a_bounded_sum(executor: Desk) -> None:
    """They are loaded with every command then."""
    executor.executor.crawls = False
    for start in range(0, 120, 60):
        urls = (f"{name}/new{number}" for number in range(start, start + 60) for name in NAMES)
        await executor.do(AddSeeds(tuple(urls)))
    assert {len(state.todo) for state in executor.states} == {34}, "5,000 of 150 origins"
    assert [one.url for one in executor.states[7].todo][:2] == [f"{NAMES[7]}/new0", f"{NAMES[7]}/new1"]
    await executor.do(AddSeeds((f"{NAMES[7]}/one",)))
    assert executor.states[7].todo[0].url == f"{NAMES[7]}/one"


async def test_origins_that_nothing_is_brought_forward_at_wake_up_in_few_commits(executor: Desk) -> None:
    await executor.do(StopOrigins())
    executor.calls.clear()
    for state in executor.states:
        executor.table.update(replace(state, finished=FinishReason.exhausted))

    async def retry(selection: RetryPages) -> tuple[tuple[str, int], ...]:
        return tuple((name, 1) for name in NAMES)

    executor.store.retry = retry  # type: ignore[method-assign]  # of pages that wait for a job that is held
    await executor.do(RetryPages())
    assert {state.finished for state in executor.states} == {None}
    assert executor.calls == {"put_back": 1, "save_origins": TOGETHER}


async def test_what_the_database_did_not_take_is_done_whole_when_it_is_tried_again(executor: Desk) -> None:
    executor.fails = "save_origins"
    with pytest.raises(StorageFailure):
        await executor.do(PauseOrigins())
    assert not any(state.paused for state in executor.states)
    executor.fails = ""
    carried = await executor.do(PauseOrigins())
    assert carried.result is not None
    assert carried.result.after.count("true") == MANY
    assert all(one.record.paused for one in executor.store.crawlers.values())


async def test_what_a_turn_has_changed_meanwhile_is_not_taken_back(executor: Desk) -> None:
    """The failure comes after the turn."""
    turned = replace(executor.states[0], patience=1, paused=True)

    async def save(records: object) -> None:
        executor.table.update(turned)
        raise StorageFailure("the disk is full")

    executor.store.save_origins = save  # type: ignore[method-assign]  # the turn comes in between
    with pytest.raises(StorageFailure):
        await executor.do(PauseOrigins())
    assert executor.states[0] == turned
    assert not executor.states[1].paused


async def test_others_have_their_turn_while_many_are_looked_at(executor: Desk) -> None:
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
    await executor.do(PauseOrigins(()))
    await executor.do(PauseOrigins(()))
    other.cancel()
    assert turns - before >= TOGETHER
