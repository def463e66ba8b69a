"""What is wanted of one worker among several: it is paused, drained and stopped, gives origins back, and loses some."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.crawls import Crawling
from tests.engine.test_joined import Peers
from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import Answer
from tui_crawler.domain.records.worker import WorkerOrder, WorkerOrders
from tui_crawler.engine.clock import run_virtual
from tui_crawler.engine.peers import PeerWorker

A, B = "http://a.test", "http://b.test"
PAGES = 30


class Ordered(Peers):
    """Whose orders change in the course of time; what is given back is noted."""

    def __init__(self) -> None:
        self.now = WorkerOrders()
        self.given_back: list[tuple[str, ...]] = []
        self.apart: dict[str, str] = {}
        self.decide: Callable[[], WorkerOrders] = lambda: self.now

    async def orders(self) -> WorkerOrders:
        return self.decide()

    async def give_back(self, origins: Any) -> None:
        self.given_back.append(tuple(origins))

    async def keep_apart(self, keys: Any) -> tuple[str, ...]:
        self.apart |= keys
        return (B,)


def crawl(act: Callable[[Crawling, Ordered], Any], latency_ms: int = 400, **more: Any) -> tuple[Crawling, Ordered, str]:
    """A crawl of two origins, of PAGES pages each, during which something is wanted of its worker."""

    def answer(url: Any) -> Answer:
        number = int(url.path[1:]) if url.path[1:].isdigit() else 0
        return Answer(links=(f"{url.origin}/{number + 1}",) if number + 1 < PAGES else (), latency_ms=latency_ms)

    crawling, peers, reasons = Crawling([A, B], answer, **more), Ordered(), list[str]()
    engine = crawling.engine
    engine._peers = engine.slots.peers = PeerWorker(engine.table, engine._executor, peers)  # type: ignore[arg-type]
    engine.table.shared = True

    async def run() -> None:
        reasons.append(await crawling.run_with(lambda one: act(one, peers)))

    run_virtual(run())
    return crawling, peers, reasons[0]


class Hinting(MemoryStore):
    """A store that hints at what others do, so that they are looked at seldom."""

    def watch(self, told: Any, hinted: Any) -> bool:
        super().watch(told, hinted)
        return True


def test_where_hints_come_who_has_nothing_left_looks_at_the_others_at_once():
    looks: list[float] = []
    finished: list[float] = []

    async def act(crawling: Crawling, peers: Ordered) -> None:
        async def others_at_work() -> bool:
            looks.append(asyncio.get_running_loop().time())
            return not finished

        peers.others_at_work = others_at_work  # type: ignore[method-assign]
        while not crawling.web.asked or not crawling.engine.table.all_finished():  # noqa: ASYNC110  the clock is virtual
            await asyncio.sleep(0.01)
        finished.append(asyncio.get_running_loop().time())

    crawling, _, reason = crawl(act, store=Hinting())
    assert reason == "exhausted"
    assert min(at for at in looks if at > finished[0]) - finished[0] <= crawling.engine._settings.poll_ms / 1000
    assert looks[1] - looks[0] == pytest.approx(1.0)


def between(crawling: Crawling, begin: int, end: int) -> list[str]:
    """What was asked in a span (virtual ms)."""
    return [one.url for one in crawling.web.asked if begin < one.started < end]


def test_paused_it_asks_nothing_and_goes_on_where_it_was():
    async def act(crawling: Crawling, peers: Ordered) -> None:
        await asyncio.sleep(10)
        peers.now = WorkerOrders(WorkerOrder.pause)
        await asyncio.sleep(20)
        peers.now = WorkerOrders()

    crawling, peers, reason = crawl(act)
    began = crawling.web.asked[0].started
    assert not between(crawling, began + 10_600, began + 29_900)
    assert reason == "exhausted"
    assert len({one.url for one in crawling.web.asked if "robots" not in one.url}) >= 2 * PAGES
    assert peers.given_back == []


@pytest.mark.parametrize("order", [WorkerOrder.drain, WorkerOrder.stop])
def test_drained_it_finishes_what_is_in_flight_and_ends(order):
    async def act(crawling: Crawling, peers: Ordered) -> None:
        await asyncio.sleep(10)
        peers.now = WorkerOrders(order)

    crawling, _, reason = crawl(act)
    assert reason == "interrupted"
    assert all(attempt.exit_code.name != "cancelled" for attempt in crawling.store.attempts)
    assert len(crawling.web.asked) < 2 * PAGES


def test_what_a_drain_waits_for_is_cancelled_by_a_stop():
    async def act(crawling: Crawling, peers: Ordered) -> None:
        await asyncio.sleep(10)
        peers.now = WorkerOrders(WorkerOrder.drain)
        await asyncio.sleep(2)
        peers.now = WorkerOrders(WorkerOrder.stop)

    crawling, _, reason = crawl(act, latency_ms=20_000)
    assert reason == "interrupted"
    assert {attempt.exit_code.name for attempt in crawling.store.attempts} == {"cancelled"}


def test_an_origin_that_is_to_go_is_given_back_when_nothing_of_it_is_in_flight():
    async def act(crawling: Crawling, peers: Ordered) -> None:
        await asyncio.sleep(10)
        peers.now = WorkerOrders(leave=(A,))

    crawling, peers, reason = crawl(act)
    assert peers.given_back == [(A,)]
    assert A not in crawling.engine.table.states
    began = crawling.web.asked[0].started
    assert not [url for url in between(crawling, began + 10_600, 1 << 40) if url.startswith(A)]
    assert reason == "exhausted"
    assert len({one.url for one in crawling.web.asked if one.origin == B}) >= PAGES


def test_an_origin_that_was_to_go_and_is_wanted_here_again_has_its_turns():
    """Its share grew again, because another worker ended, before it could be given back."""

    times = []

    async def act(crawling: Crawling, peers: Ordered) -> None:
        def decide() -> WorkerOrders:
            if crawling.engine.slots.in_flight([A]) and len(times) < 3:
                times.append(1)
                return WorkerOrders(leave=(A,))
            return WorkerOrders()

        peers.decide = decide

    crawling, _, reason = crawl(act)
    assert reason == "exhausted"
    assert times
    assert len({one.url for one in crawling.web.asked if one.origin == A}) >= PAGES


def test_an_origin_that_is_in_other_hands_is_let_go_and_not_given_back():
    async def act(crawling: Crawling, peers: Ordered) -> None:
        await asyncio.sleep(10)
        peers.now = WorkerOrders(lost=(A,))
        await asyncio.sleep(1)
        peers.now = WorkerOrders()

    crawling, peers, reason = crawl(act)
    assert [names for names in peers.given_back if names] == []
    assert (set(crawling.engine.table.states), reason) == ({B}, "exhausted")


def test_of_two_origins_under_one_address_the_one_that_another_worker_has_is_not_asked():
    async def act(crawling: Crawling, peers: Ordered) -> None:
        return None

    more = {"by_address": True}
    crawling, peers, _ = crawl(act, more=more, key_of=lambda origin, address: "192.0.2.1")
    assert peers.apart == {A: "192.0.2.1", B: "192.0.2.1"}
    assert {one.origin for one in crawling.web.asked} == {A}


def test_without_its_lease_a_worker_asks_nothing_and_goes_on_when_it_has_it_again():
    async def act(crawling: Crawling, peers: Ordered) -> None:
        await asyncio.sleep(10)
        crawling.store.asks = False
        await asyncio.sleep(20)
        crawling.store.asks = True

    crawling, _, reason = crawl(act)
    began = crawling.web.asked[0].started
    assert not between(crawling, began + 10_100, began + 29_900)
    assert reason == "exhausted"
    assert len({one.url for one in crawling.web.asked if "robots" not in one.url}) >= 2 * PAGES
