"""Origins in the hands of other workers: that they have joined the run is written once, not by each page that names
them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.engine.crawls import Crawling
from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import Answer
from tui_crawler.domain.records.command import PauseOrigins
from tui_crawler.domain.records.worker import WorkerOrders
from tui_crawler.domain.rules.policy import PolicySet, Whitelist
from tui_crawler.engine import origin_table
from tui_crawler.engine.clock import run_virtual
from tui_crawler.engine.peers import PeerWorker

A, B = "http://a.test", "http://b.test"


class Counting(MemoryStore):
    """Counts what joins."""

    def __init__(self) -> None:
        super().__init__()
        self.joined: list[tuple[str, bool]] = []

    async def add_origins(self, names: Any, external: bool = False, start_path: str = "") -> Any:
        self.joined += [(name, external) for name in names]
        return await super().add_origins(names, external)


class Peers:
    """Another worker holds every origin but those of the start."""

    async def take_origins(self, *, idle: bool = False) -> tuple[()]:
        return ()

    async def orders(self) -> WorkerOrders:
        return WorkerOrders()

    async def pass_on(self, origins: Any) -> tuple[()]:
        return ()

    async def is_leading(self) -> bool:
        return True

    async def others_at_work(self) -> bool:
        return False

    async def followed_actions(self) -> tuple[()]:
        return ()

    async def claim_page(self, page_id: int, origin: str, url: str) -> bool:
        return True

    async def held_elsewhere(self, origins: Any) -> frozenset[str]:
        return frozenset(origins)


def crawled(operator: Any = None, *, external: bool = False) -> Counting:
    def answer(url: Any) -> Answer:
        number = int(url.path[1:]) if url.path[1:].isdigit() else 0
        links = (f"{A}/{number + 1}", f"{B}/{number}", f"{B}/of/{number}")
        return Answer(links=links if number < 10 else ())

    store = Counting()

    async def run() -> None:
        crawling = shared_crawl(answer, store, external)
        await (crawling.run_with(operator) if operator else crawling.run())

    run_virtual(run())
    return store


def shared_crawl(answer: Any, store: Counting, external: bool) -> Crawling:
    policies = PolicySet() if external else PolicySet(whitelist=Whitelist(domains=("b.test",)))
    crawling = Crawling([A], answer, store=store, policies=policies, more={"check_external": external})
    engine = crawling.engine
    engine._peers = engine.slots.peers = PeerWorker(engine.table, engine._executor, Peers())  # type: ignore[arg-type]
    engine.table.shared = True
    return crawling


@pytest.mark.parametrize("external", [False, True])
def test_an_origin_in_other_hands_joins_once(external: bool) -> None:
    assert crawled(external=external).joined == [(B, external)]


def test_an_origin_that_joins_with_the_last_page_is_leased_before_the_worker_ends() -> None:
    store = Counting()

    class Leasing(Peers):
        async def take_origins(self, *, idle: bool = False) -> Any:
            return tuple(store._stored(name) for name, _ in store.joined if name not in crawling.engine.table.states)

    def answer(url: Any) -> Answer:
        return Answer(links=(f"{B}/last",) if url.path == "/0" else ())

    async def run() -> None:
        await crawling.run()

    crawling = shared_crawl(answer, store, external=False)
    crawling.engine._peers.store = Leasing()  # type: ignore[assignment, union-attr]
    run_virtual(run())
    assert f"{B}/last" in crawling.web.pages()


def test_what_an_operator_does_has_the_database_asked_again() -> None:
    async def operator(crawling: Crawling) -> None:
        await asyncio.sleep(5)
        crawling.store.ask(PauseOrigins((B,)))

    assert crawled(operator).joined == [(B, False)] * 2


def test_no_more_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin_table, "_REMEMBERED", 2)
    table = Crawling([A], lambda url: Answer()).engine.table
    for number in range(7):
        table.remember_joined([f"http://o{number}.test"], external=False)
    assert [number for number in range(7) if table.takes_part(f"http://o{number}.test", external=False)] == [6]


def test_an_origin_that_was_only_checked_joins_once_more_to_be_crawled() -> None:
    table = Crawling([A], lambda url: Answer()).engine.table
    table.remember_joined([B], external=True)
    assert (table.takes_part(B, external=True), table.takes_part(B, external=False)) == (True, False)
    table.remember_joined([B], external=False)
    table.remember_joined([B], external=True)
    assert (table.takes_part(B, external=True), table.takes_part(B, external=False)) == (True, True)
