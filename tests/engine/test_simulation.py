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
from tests.support.virtual_time import run_virtual
from tui_crawler.domain.command import PauseOrigins, ResumeOrigins, RetryPages, TopUpPatience
from tui_crawler.domain.exit_code import DISPOSITIONS

ORIGINS = ["http://a.test", "http://b.test", "http://c.test"]
SIMULATIONS = int(os.environ.get("TUI_CRAWLER_SIMULATIONS", "40"))


async def operate(crawling, dice):
    """An operator who pauses, resumes and retries at random, and resumes everything in the end."""
    for _ in range(dice.randrange(0, 4)):
        await asyncio.sleep(dice.uniform(0.5, 30))
        origin = (dice.choice(ORIGINS),)
        crawling.store.ask(dice.choice([PauseOrigins(origin), ResumeOrigins(origin), RetryPages(origins=origin)]))
    await asyncio.sleep(5)
    crawling.store.ask(ResumeOrigins())


async def simulate(seed):
    """Starts, crashes and starts again until a run ends by itself."""
    dice = random.Random(seed)
    answer = linked_site(dice.randrange(1, 40), faults=dice.choice([0.0, 0.1, 0.4]), seed=seed)
    crawling = Crawling(ORIGINS[: dice.randrange(1, 4)], answer)
    store, web, heard = crawling.store, crawling.web, []
    for _ in range(dice.randrange(0, 4)):
        other = asyncio.ensure_future(operate(crawling, dice))
        await crawling.crash_after(dice.uniform(0.05, 40))
        other.cancel()
        heard.append(crawling.heard)
        await asyncio.sleep(dice.choice([0, 0.2, 60]))
        crawling = Crawling(ORIGINS, answer, store=store, web=web)
    other = asyncio.ensure_future(operate(crawling, dice))
    reason = await crawling.run()
    other.cancel()
    heard.append(crawling.heard)
    return crawling, reason, heard


@pytest.mark.parametrize("seed", range(SIMULATIONS))
def test_invariants_of_a_whole_life(seed):
    crawling, reason, heard = run_virtual(simulate(seed))
    assert reason == "exhausted"
    for origin, gaps in crawling.web.gaps().items():
        assert all(gap >= 1000 for gap in gaps), (origin, min(gaps))
    for one in heard:
        lowest: dict[str, int] = {}
        for event in one.named("attempt_finished"):
            patience = dict(event.extra)["patience"]
            assert patience <= lowest.get(event.origin, 5), "patience rose by itself"
            lowest[event.origin] = patience
    committed = [event for one in heard for event in one.named("attempt_finished")]
    done = Counter(event.url for event in committed if is_contentful(event.exit_code))
    assert set(done.values()) <= {1}, done.most_common(2)


def is_contentful(name):
    """Whether an exit code, by its name, is contentful."""
    return next(row.contentful for code, row in DISPOSITIONS.items() if code.name == name)


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
