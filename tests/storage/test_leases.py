"""Several stores over one database: who is given which origin, what is given back, and what comes too late."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace

import pytest

from tests.storage.making import T0, crawled, fill_of, plan, seed
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.records.command import MoveOrigins, SteerWorkers, TagWorker
from tui_crawler.domain.records.failure import RunHeld, StorageFailure
from tui_crawler.domain.records.worker import WorkerOrder, WorkerState
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.workers.leases import GATHERING_MS

LEASE_MS = 30_000
ORIGINS = tuple(f"https://site{number}.example" for number in range(4))
MEMBER = replace(plan(*(f"{origin}/" for origin in ORIGINS)), may_join=True)


def names(taken) -> set[str]:
    return {one.record.origin for one in taken}


async def enter(store, name, group_of=lambda origin: origin, **more):
    """A worker that has joined, or leads: its store, and what it shares."""
    made = store(**{key: more.pop(key) for key in ("token_hash", "lease_clock") if key in more})
    shared = made.peers(1, group_of)
    await made.begin_run(replace(MEMBER, worker=name, **more))
    return made, shared


def rows(store, text):
    with closing(Reports(store.path)) as reports:
        return reports._reader.all(text)


def workers_of(store):
    with closing(Reports(store.path, now=lambda: store.now)) as reports:
        return reports.workers()


async def test_who_comes_later_is_given_its_share_and_then_all_stay_where_they_are(store):
    """100 looks: nobody takes what another one has, until one of them is gone."""
    _, north = await enter(store, "north")
    assert names(await north.take_origins(idle=True)) == set(ORIGINS)
    second, south = await enter(store, "south")
    store.now += GATHERING_MS
    while not (leave := (await north.orders()).leave):
        await north.take_origins()
    assert len(leave) == 2
    await north.give_back(leave)
    assert names(await south.take_origins(idle=True)) == set(leave)
    for _ in range(100):
        for worker in (north, south):
            assert await worker.take_origins(idle=True) == ()
            orders = await worker.orders()
            assert (orders.leave, orders.lost) == ((), ())
    await second.end_run("interrupted", True)
    assert names(await north.take_origins(idle=True)) == set(leave)


async def test_the_sooner_and_among_those_the_nicer_is_taken_first(store):
    seeds = [seed(f"{origin}/", nice=nice) for origin, nice in zip(ORIGINS, (0, 5, -5, 0), strict=True)]
    first = store()
    await first.begin_run(replace(MEMBER, seeds=tuple(seeds)))
    north = first.peers(4, lambda origin: origin)
    taken = await north.take_origins(idle=True)
    assert names(taken) == {ORIGINS[2]}, "one of four is its share while workers gather"


@pytest.mark.parametrize(
    ("tags", "matchonly", "taken"),
    [
        ((), False, {"plain"}),
        ((), True, set()),
        (("news",), False, {"plain", "news"}),
        (("news",), True, {"news"}),
        (("other",), False, {"plain"}),
        (("other",), True, set()),
    ],
)
async def test_jobs_are_bound_to_tags(store, tags, matchonly, taken):
    leader, first = await enter(store, "leader", jobs=jobs(), seeds=(), tags=("none",), matchonly=True)
    assert await first.take_origins(idle=True) == ()
    _, worker = await enter(store, "worker", tags=tags, matchonly=matchonly)
    store.now += GATHERING_MS
    assert names(await worker.take_origins(idle=True)) == {f"https://{name}.example" for name in taken}
    assert not await worker.others_at_work(), "what is left no worker takes"
    await leader.end_run("interrupted", True)


def jobs():
    """A job without a tag and one with, each with an origin of its own."""
    return (
        JobPlan("plain", (seed("https://plain.example/"),)),
        JobPlan("tagged", (seed("https://news.example/"),), tag="news"),
    )


async def test_what_one_worker_has_nothing_left_for_goes_to_the_one_that_takes_its_job(store):
    both = "https://both.example"
    mixed = (JobPlan("plain", (seed(f"{both}/a"),)), JobPlan("tagged", (seed(f"{both}/b"),), tag="news"))
    north, plain = await enter(store, "plain", jobs=mixed, seeds=())
    assert names(await plain.take_origins(idle=True)) == {both}
    _, tagged = await enter(store, "tagged", tags=("news",), matchonly=True)
    assert await tagged.take_origins(idle=True) == ()
    assert await plain.pass_on([both]) == ()  # its own page is left
    (page,) = (await north.candidates(both, T0, 10, False)).pages
    await north.fill(fill_of((page,), both))
    done = crawled(page, T0 + 10)
    await north.settle(replace(done, origin=replace(done.origin, finish_reason="exhausted")))
    assert await plain.pass_on([both]) == (both,)
    assert await plain.take_origins(idle=True) == ()
    (got,) = await tagged.take_origins(idle=True)
    assert (got.record.origin, got.handed_on, got.unclean) == (both, True, False)


async def test_other_tags_take_pages_off_the_lists_and_free_what_they_bring(store):
    north, worker = await enter(store, "north", jobs=jobs(), seeds=(), tags=("news",))
    assert len(await worker.take_origins(idle=True)) == 2
    (page,) = (await north.candidates("https://news.example", T0, 10, False)).pages
    await north.fill(fill_of((page,), "https://news.example"))
    assert await north.steer_workers(TagWorker("north", ())) == ({"north": "news"}, {"north": ""})
    assert (await worker.orders()).unlisted == {page.page_id}
    assert (await worker.orders()).unlisted == frozenset()
    assert (await north.candidates("https://news.example", T0, 10, False)).pages == ()


async def test_a_job_has_no_more_in_flight_than_it_may_over_all_workers(store):
    """Four workers ask at the same moment, each by a connection and a thread of its own."""
    urls = [f"{origin}/{number}" for number in range(10) for origin in ORIGINS]
    few = JobPlan("few", tuple(map(seed, urls)), concurrency=3)
    _, first = await enter(store, "w0", jobs=(few,), seeds=())
    workers = [first, *[(await enter(store, f"w{number}"))[1] for number in range(1, 4)]]
    pages = rows(
        store,
        "SELECT p.id, o.origin, u.href FROM page p JOIN origin o ON o.id = p.origin_id"
        " JOIN url u ON u.id = p.url_id ORDER BY p.id",
    )
    asked = (workers[number % 4].claim_page(*page) for number, page in enumerate(pages))
    assert sum(await asyncio.gather(*asked)) == 3
    assert rows(store, "SELECT COUNT(*) FROM page WHERE status = 2") == [(3,)]


async def test_origins_of_one_address_are_in_one_hand(store):
    """Which is known only when their holders have asked for their names."""
    _, north = await enter(store, "north")
    await north.take_origins(idle=True)
    _, south = await enter(store, "south")
    await north.give_back(ORIGINS[2:])
    await north.keep_apart(dict.fromkeys(ORIGINS[:2], "192.0.2.1"))
    store.now += GATHERING_MS
    assert names(await south.take_origins(idle=True)) == set(ORIGINS[2:])
    assert await south.keep_apart({ORIGINS[2]: "192.0.2.1", ORIGINS[3]: "192.0.2.2"}) == (ORIGINS[2],)
    assert await south.take_origins(idle=True) == ()
    assert names(await north.take_origins(idle=True)) == {ORIGINS[2]}


async def test_what_comes_after_the_lease_was_lost_changes_nothing_and_is_logged(store):
    first, north = await enter(store, "north")
    await north.take_origins(idle=True)
    (page, *_) = (await first.candidates(ORIGINS[0], T0, 10, False)).pages
    await first.fill(fill_of((page,), ORIGINS[0]))
    store.now += LEASE_MS + 1
    second, south = await enter(store, "south")
    taken = await south.take_origins(idle=True)
    assert names(taken) == set(ORIGINS)
    assert all(one.unclean and one.handed_on for one in taken)
    before = rows(store, "SELECT * FROM origin"), rows(store, "SELECT * FROM page")
    settled = await first.settle(crawled(page, T0 + 10, f"{ORIGINS[0]}/new"))
    assert settled.stolen
    assert (rows(store, "SELECT * FROM origin"), rows(store, "SELECT * FROM page")) == before
    assert rows(store, "SELECT COUNT(*) FROM attempt") == [(0,)]
    ((message,),) = rows(store, "SELECT message FROM v_activity WHERE event = 'late_write'")
    assert f"file_ingested {page.url}" in message
    assert not await first.heartbeat()
    assert not first.may_ask()
    assert (await north.orders()).order is WorkerOrder.pause, "who was ended asks nothing"
    assert not (await second.settle(crawled(page, store.now + 10))).stolen


async def test_requests_end_before_the_lease_does_and_go_on_when_it_is_renewed(store):
    clock = [0]
    first, _ = await enter(store, "north", lease_clock=lambda: clock[0])
    assert await first.heartbeat()
    for at, may_ask in ((LEASE_MS * 9 // 10 - 1, True), (LEASE_MS * 9 // 10, False)):
        clock[0] = at
        assert first.may_ask() is may_ask
    assert await first.heartbeat()
    assert first.may_ask()


async def test_two_workers_never_have_one_name(store):
    await enter(store, "north", token_hash="a")
    with pytest.raises(StorageFailure, match="a live worker is named north"):
        await enter(store, "north", token_hash="b")
    again, _ = await enter(store, "north", token_hash="a")
    assert [one.name for one in workers_of(store)] == ["north"]
    assert await again.heartbeat()


async def test_a_run_that_works_alone_takes_no_other_workers(store):
    alone = store()
    await alone.begin_run(replace(MEMBER, may_join=False))
    with pytest.raises(RunHeld, match="it takes no other workers"):
        await enter(store, "south")
    with pytest.raises(ValueError, match="crawls alone"):
        await alone.steer_workers(SteerWorkers("pause", (workers_of(store)[0].name,)))


async def test_workers_are_steered_by_their_names(store):
    first, north = await enter(store, "north")
    await north.take_origins(idle=True)
    _, south = await enter(store, "south")
    for order, wanted in (
        ("pause", WorkerOrder.pause),
        ("resume", WorkerOrder.work),
        ("drain", WorkerOrder.drain),
        ("stop", WorkerOrder.stop),
    ):
        await first.steer_workers(SteerWorkers(order, ("south",)))
        assert (await south.orders()).order is wanted
        assert (await north.orders()).order is WorkerOrder.work
    states = [one.state for one in workers_of(store)]
    assert states == [WorkerState.crawling, WorkerState.stopping]
    with pytest.raises(ValueError, match="no worker of this name is at work: west"):
        await first.steer_workers(SteerWorkers("pause", ("west",)))
    with pytest.raises(ValueError, match="cannot be told to dance"):
        await first.steer_workers(SteerWorkers("dance", ("south",)))


async def test_an_origin_goes_to_the_worker_that_is_to_have_it_with_its_site(store):
    def site_of(origin):
        return "one" if origin in ORIGINS[:2] else origin

    first, north = await enter(store, "north", site_of)
    await north.take_origins(idle=True)
    second, south = await enter(store, "south", site_of)
    before, after = await first.steer_workers(MoveOrigins((ORIGINS[0],), "south"))
    assert (before, after) == ({ORIGINS[0]: "north"}, {ORIGINS[0]: "south"})
    leave = (await north.orders()).leave
    assert set(leave) == set(ORIGINS[:2])
    await north.give_back(leave)
    assert await north.take_origins(idle=True) == ()
    assert names(await south.take_origins(idle=True)) == set(ORIGINS[:2])
    with pytest.raises(ValueError, match=r"not an origin of this crawl: https://no\.example"):
        await first.steer_workers(MoveOrigins(("https://no.example",), "south"))
    await second.end_run("interrupted", True)
    assert names(await north.take_origins(idle=True)) == set(ORIGINS[:2]), "wanted there only while it lasts"
