"""Several workers over one database: leases, claims and requests, under random lives and deaths."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import peewee
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.making import T0, plan, seed
from tests.storage.workbench import Workbench
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.crawl import settle
from tui_crawler.storage.db.owner import Owner
from tui_crawler.storage.models import Job, Origin, Page
from tui_crawler.storage.store import SqliteStore
from tui_crawler.storage.workers import leases, peers, sessions
from tui_crawler.storage.workers.leases import GATHERING_MS, Peers
from tui_crawler.storage.workers.sessions import Starter

LEASE_MS = 30_000
SITES = 6
ORIGINS = tuple(f"https://{name}.site{n}.example" for n in range(SITES) for name in ("www", "shop"))
SEEDS = tuple(seed(f"{origin}/") for origin in ORIGINS)
PLAN = replace(plan(), workers=3, max_requests=20, seeds=SEEDS)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["join", "look", "look", "leave", "die", "finish", "claim", "claim", "claim", "land", "requests", "add"]
        ),
        st.integers(0, 99),
    ),
    max_size=30,
)


def site_of(origin: str) -> str:
    return origin.partition(".")[2]


class Lives:
    """Workers on machines of their own, known to each other by their heartbeats only."""

    def __init__(self, work, now=T0):
        self.work = work
        self.work.now = now
        self.machines = itertools.count(1)
        self.claims = {}
        self.held = {}
        self.crews = {}
        self.taken = 0
        self.orphans = set()
        starter = self._starter()
        claim, start = sessions.begin(work, PLAN, starter)
        assert peers.open_to_all(work, claim, start).origins == ()
        self._enter(claim, starter)
        work.run(lambda: _limit(2), {})

    def _starter(self):
        return Starter(Owner(f"host{next(self.machines)}", f"machine{next(self.machines)}", 1, 1), LEASE_MS)

    def _enter(self, claim, starter):
        self.claims[claim.session_id] = claim
        self.crews[claim.session_id] = Peers(starter, 3, site_of)
        self.held[claim.session_id] = {}

    def pick(self, number):
        return sorted(self.claims)[number % len(self.claims)]

    def wait(self, ms, *but):
        """Time goes by; who lives sends heartbeats."""
        self.work.now += ms
        for session_id, claim in self.claims.items():
            if session_id not in but:
                assert sessions.renew(self.work, claim)

    def join(self, number):
        starter = self._starter()
        claim, start = peers.join(self.work, replace(PLAN, joins=True), starter)
        assert start.origins == ()
        self._enter(claim, starter)

    def look(self, number):
        """A worker leases what is free; nobody else holds it, and what a dead one held comes as unclean."""
        who = self.pick(number)
        worker = self.claims[who], self.crews[who]
        some_are_free = leases.are_free(self.work, *worker)
        taken = leases.take_origins(self.work, *worker)
        assert some_are_free or not taken
        for stored in taken:
            name = stored.record.origin
            assert not any(name in held for held in self.held.values())
            assert stored.unclean == (name in self.orphans)
            self.orphans.discard(name)
            self.held[who][name] = stored
        self.wait(1_000)

    def leave(self, number):
        if len(self.claims) > 1:
            who = self.pick(number)
            assert peers.leave(self.work, self.claims.pop(who), clean=True)
            self.orphans -= self.held.pop(who).keys()

    def die(self, number):
        if len(self.claims) > 1:
            who = self.pick(number)
            del self.claims[who]
            self.orphans |= self.held.pop(who).keys()
            for _ in range(4):
                self.wait(LEASE_MS // 3)

    def finish(self, number):
        who = self.pick(number)
        names = sorted(self.held[who])
        if names:
            self.work.run(lambda: _finish(names[number % len(names)]), {})

    def claim(self, number):
        who = self.pick(number)
        pages = [row[0] for row in self.work.fetch(_pages())]
        names = sorted(self.held[who])
        if names:
            page = pages[number % len(pages)]
            peers.claim_page(self.work, self.claims[who], page, names[0], f"{names[0]}/")

    def land(self, number):
        who = self.pick(number)
        claimed = [row[0] for row in self.work.fetch(_claimed_by(who))]
        if claimed:
            self.work.run(lambda: _give_back(claimed[0]), {})

    def add(self, number):
        """An origin of a site joins while the run is live: it is nobody's, until who holds its site looks."""
        name = f"https://new{number}.site{number % SITES}.example"
        sessions.add_origins(self.work, self.claims[self.pick(number)], [name])

    def requests(self, number):
        self.taken += peers.take_requests(self.work, self.claims[self.pick(number)], number % 40)

    def check(self):
        """What holds at every moment."""
        assert self.taken <= PLAN.max_requests
        everyone = [name for held in self.held.values() for name in held]
        assert len(everyone) == len(set(everyone))
        sites = [{site_of(name) for name in held} for held in self.held.values()]
        assert sum(map(len, sites)) == len(set().union(*sites)), "a site stays in one hand"
        assert self.work.fetch(_count_claimed())[0][0] <= 2
        leaders = [who for who, claim in self.claims.items() if peers.is_leading(self.work, claim)]
        assert leaders in ([min(self.claims)], []), "only the oldest leads; while a dead one is not found, nobody"


def _finish(name):
    return Origin.update({Origin.finish_reason: quoted("exhausted")}).where(Origin.origin == quoted(name))


def quoted(text):
    return peewee.SQL(f"'{text}'")


def number_of(number):
    return peewee.SQL(str(number))


def _limit(number):
    return Job.update({Job.concurrency: number_of(number)})


def _pages():
    return Page.select(Page.id).order_by(Page.id)


def _claimed_by(session_id):
    return Page.select(Page.id).where((Page.status == 2) & (Page.claimed_by == session_id)).order_by(Page.id)


def _count_claimed():
    return Page.select(peewee.fn.COUNT(Page.id)).where(Page.status == 2)


def _give_back(page_id):
    ready = {Page.status: number_of(0), Page.claimed_by: number_of(0), Page.claimed_at: number_of(0)}
    return Page.update(ready).where(Page.id == number_of(page_id))


@pytest.fixture(scope="module")
def crew_bench(template, tmp_path_factory):
    """One for all tests of this file, each of which is rolled back."""
    made = Workbench(Path(shutil.copy(template, tmp_path_factory.mktemp("crew") / "crew.db")))
    yield made
    made.close()


@given(STEPS)
def test_no_origin_is_ever_in_two_hands_and_none_is_lost(crew_bench, steps):
    with crew_bench.scratch() as work:
        lives = Lives(work)
        for name, number in steps:
            getattr(lives, name)(number)
            lives.check()
        lives.wait(GATHERING_MS)
        for _ in range(3):
            for who in sorted(lives.claims):
                lives.look(sorted(lives.claims).index(who))
        lives.check()
        unfinished = {row[0] for row in work.fetch(_unfinished())}
        assert unfinished <= {name for held in lives.held.values() for name in held}, "what is left has a holder"


@pytest.mark.parametrize(
    ("ends", "said", "reason"),
    [
        (("operator", "operator"), "exhausted", "operator"),
        (("operator", "exhausted"), "operator", "exhausted"),
        (("exhausted", "exhausted"), "exhausted", "exhausted"),
        (("operator", "operator"), "interrupted", "interrupted"),
    ],
)
def test_why_a_run_ends_is_told_of_all_its_origins_whoever_leaves_last(crew_bench, ends, said, reason):
    with crew_bench.scratch() as work:
        lives = Lives(work)
        for number, name in enumerate(ORIGINS):
            work.execute(Origin.update({Origin.finish_reason: ends[number % 2]}).where(Origin.origin == name))
        (claim,) = lives.claims.values()
        assert peers.end_reason(work, claim, said) == reason


def _unfinished():
    return Origin.select(Origin.origin).where((Origin.participates == 1) & (Origin.finish_reason == ""))


def test_while_workers_gather_none_takes_more_than_its_share(crew_bench):
    with crew_bench.scratch() as work:
        lives = Lives(work)
        lives.look(0)
        (mine,) = lives.held.values()
        assert len(mine) == 4
        lives.wait(GATHERING_MS)
        lives.look(0)
        assert len(mine) == len(ORIGINS), "nobody else has come"


async def test_who_has_done_its_share_is_given_more_at_its_next_look(tmp_path):
    """Others look for origins every fifth time."""
    store = SqliteStore(tmp_path / "crawl.db")
    await store.begin_run(replace(PLAN, workers=2))
    shared = store.peers(2, site_of)
    first = await shared.take_origins()
    assert len(first) == len(ORIGINS) // 2
    assert await shared.take_origins() == await shared.take_origins(idle=False) == ()
    await store.save_origins([replace(one.record, finish_reason="exhausted") for one in first])
    more = await shared.take_origins(idle=True)
    assert {one.record.origin for one in more} < set(ORIGINS) - {one.record.origin for one in first}
    assert more
    await asyncio.to_thread(store.close)


async def test_looking_for_origins_where_none_is_free_writes_nothing(tmp_path):
    store = SqliteStore(tmp_path / "crawl.db")
    await store.begin_run(replace(PLAN, workers=2))
    shared = store.peers(1, site_of)
    assert len(await shared.take_origins()) == len(ORIGINS)
    before = store.writer.load.commits
    assert [await shared.take_origins(idle=True) for _ in range(3)] == [()] * 3
    assert store.writer.load.commits == before
    await asyncio.to_thread(store.close)


@pytest.mark.parametrize("workers", [1, 3])
def test_what_a_killed_worker_held_waits_also_after_the_others_ended_in_order(crew_bench, workers):
    """K5: the next start, by one or by several, knows whose requests may have been in flight."""
    with crew_bench.scratch() as work:
        lives = Lives(work)
        lives.look(0)
        lives.join(0)
        lives.wait(GATHERING_MS)
        lives.look(1)
        first, second = sorted(lives.claims)
        killed, orderly = set(lives.held[first]), set(lives.held[second])
        assert killed
        assert orderly
        sessions.end(work, lives.claims[second], "interrupted", True)
        work.now += 2 * LEASE_MS
        starter = Starter(Owner("later", "machine of later", 1, 1), LEASE_MS)
        claim, start = sessions.begin(work, replace(PLAN, workers=workers), starter)
        assert start.continued
        if workers == 1:
            assert start.unclean
            return
        peers.open_to_all(work, claim, start)
        work.now += GATHERING_MS
        taken = leases.take_origins(work, claim, Peers(starter, 1, site_of))
        assert {one.record.origin for one in taken if one.unclean} == killed
        assert {one.record.origin for one in taken if not one.unclean} == set(ORIGINS) - killed


def test_nobody_can_join_a_run_that_is_over(crew_bench):
    with crew_bench.scratch() as work:
        lives = Lives(work)
        (claim,) = lives.claims.values()
        sessions.end(work, claim, "exhausted", True)
        with pytest.raises(StorageFailure, match="no live run"):
            peers.join(work, replace(PLAN, joins=True), Starter(Owner("h", "m", 1, 1), LEASE_MS))


def test_a_page_that_another_worker_has_claimed_is_not_claimed_again(crew_bench):
    with crew_bench.scratch() as work:
        lives = Lives(work)
        lives.join(0)
        first, second = (lives.claims[who] for who in sorted(lives.claims))
        page = work.fetch(_pages())[0][0]
        assert peers.claim_page(work, first, page, ORIGINS[0], f"{ORIGINS[0]}/")
        assert not peers.claim_page(work, second, page, ORIGINS[0], f"{ORIGINS[0]}/")
        settle.mark_in_flight(work, first, page, ORIGINS[0], f"{ORIGINS[0]}/")
        assert work.fetch(_count_claimed())[0][0] == 1
