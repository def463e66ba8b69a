"""Whole crawls with random faults, pauses and crashes in virtual time; what must hold whatever happens.

`TUI_CRAWLER_SIMULATIONS=2000 pytest tests/engine/test_simulation.py` runs more of them.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
from collections import Counter

import pytest

from tests.engine.crawls import Crawling
from tests.support.simulated_web import linked_site
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.records.command import (
    PauseOrigins,
    ProbeUrls,
    ResumeOrigins,
    RetryPages,
    SetJob,
    SteerJobs,
    TopUpPatience,
)
from tui_crawler.domain.records.exit_code import DISPOSITIONS
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.clock import run_virtual

ORIGINS = ["http://a.test", "http://b.test", "http://c.test"]
JOBS = ("test", "other")
SIMULATIONS = int(os.environ.get("TUI_CRAWLER_SIMULATIONS", "40"))


def seed_page(text):
    url = normalise(text)
    assert isinstance(url, CrawlUrl)
    return NewPage(url.href, url.hash, url.origin, 0, seed=True)


async def operate(crawling, dice):
    """An operator who pauses, resumes and retries at random, and resumes everything in the end."""
    for _ in range(dice.randrange(0, 4)):
        await asyncio.sleep(dice.uniform(0.5, 30))
        origin = (dice.choice(ORIGINS),)
        wishes = [
            PauseOrigins(origin),
            ResumeOrigins(origin),
            RetryPages(origins=origin),
            SteerJobs(dice.choice(["pause", "abort", "resume", "unabort"]), (dice.choice(JOBS),)),
            SetJob(dice.choice(JOBS), concurrency=dice.choice([0, 1, 2, -1])),
            ProbeUrls((f"{origin[0]}/1", f"{origin[0]}/2")),
        ]
        crawling.store.ask(dice.choice(wishes))
    await asyncio.sleep(5)
    crawling.store.ask(ResumeOrigins())
    for order in ("unabort", "resume"):
        crawling.store.ask(SteerJobs(order, JOBS))


async def simulate(seed):
    """Starts, crashes and starts again until a run ends by itself."""
    dice = random.Random(seed)
    answer = linked_site(dice.randrange(1, 40), faults=dice.choice([0.0, 0.1, 0.4]), seed=seed)
    other_job = (JobPlan("other", (seed_page(f"{ORIGINS[0]}/3"),), concurrency=1),)
    crawling = Crawling(ORIGINS[: dice.randrange(1, 4)], answer, jobs=other_job)
    store, web, heard = crawling.store, crawling.web, []
    for _ in range(dice.randrange(0, 4)):
        other = asyncio.ensure_future(operate(crawling, dice))
        await crawling.crash_after(dice.uniform(0.05, 40))
        other.cancel()
        heard.append(crawling.heard)
        await asyncio.sleep(dice.choice([0, 0.2, 60]))
        crawling = Crawling(ORIGINS, answer, store=store, web=web, jobs=other_job)
    other = asyncio.ensure_future(operate(crawling, dice))
    reason = await crawling.run()
    other.cancel()
    heard.append(crawling.heard)
    return crawling, reason, heard


def check_delays(served):
    """One request at a time and 1 s between two of them.

    A killed crawler has not seen the end of its last answer: its successor allows for the time that the slowest of
    the answers before it took. What took longer still is nothing that it could know.
    """
    for index, (one, following) in enumerate(itertools.pairwise(served)):
        unforeseen = 0
        if one.cut_off:
            seen = [before.took for before in served[max(0, index - 4) : index] if not before.cut_off]
            unforeseen = max(0, one.took - max(seen, default=1000))
        assert following.started - one.ended >= 1000 - unforeseen, (one, following)


@pytest.mark.parametrize("seed", range(SIMULATIONS))
def test_invariants_of_a_whole_life(seed):
    crawling, reason, heard = run_virtual(simulate(seed))
    assert reason == "exhausted"
    for served in crawling.web.served().values():
        check_delays(served)
    for one in heard:
        lowest: dict[str, int] = {}
        for event in one.named("attempt_finished"):
            patience = dict(event.extra)["patience"]
            assert patience <= lowest.get(event.origin, 5), "patience rose by itself"
            lowest[event.origin] = patience
    committed = [one for one in crawling.store.attempts if one.page_id and DISPOSITIONS[one.exit_code].contentful]
    done = Counter(one.page_id for one in committed)
    assert set(done.values()) <= {1}, done.most_common(2)


def test_topped_up_patience_is_the_only_way_up():
    async def operator(crawling):
        await asyncio.sleep(12)
        crawling.store.ask(TopUpPatience())

    async def main():
        crawling = Crawling(ORIGINS[:1], linked_site(30, faults=0.5, seed=3), patience=50)
        await crawling.run_with(operator)
        return crawling

    crawling = run_virtual(main())
    values = [dict(event.extra)["patience"] for event in crawling.heard.named("attempt_finished")]
    assert all(later <= earlier for earlier, later in itertools.pairwise(values))
