"""That an origin has finished is told, and logged, when it has: not again for having looked for work in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engine.crawls import Crawling
from tests.storage.bench import GONE
from tests.support.simulated_web import Answer, linked_site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import (
    AddSeeds,
    ApplyRules,
    Command,
    RefetchRobots,
    ResumeOrigins,
    SetJob,
    StopOrigins,
)
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.domain.rules.ruleset import to_json
from tui_crawler.domain.url import CrawlUrl
from tui_crawler.engine.clock import WALL_0, VirtualLoop, run_virtual
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal

BUSY, IDLE = "http://busy.test", "http://idle.test"
REFUSING = PolicySet(exclusions=(Exclusion("pattern", "/none-of-them/", "not these"),))
NOT_THE_LAST = PolicySet(exclusions=(Exclusion("pattern", "idle.test/[12]$", "not this"),))
SHORT = 10
"""Seconds after which the origin with three pages has nothing left."""


@dataclass
class Operated:
    """A crawl on a database of its own: a long origin and a short one, and an operator who asks for something."""

    path: Path
    loop: VirtualLoop

    def crawl(self, *steps: tuple[float, Command]) -> list[Event]:
        """Crawls while the operator does the steps, each so many seconds after the one before; what was told."""
        now = lambda: WALL_0 + round(self.loop.time() * 1000)  # noqa: E731  of one use each
        store = SqliteStore(self.path, StoreSettings(now=now, owner=GONE))
        self.loop.watch(lambda: store.writer.outstanding)

        async def operator(_: Crawling) -> None:
            for seconds, command in steps:
                await asyncio.sleep(seconds)
                with closing(Journal(self.path, now=now)) as journal:
                    journal.send(command, "ann")

        async def main() -> Crawling:
            crawling = Crawling([BUSY, IDLE], site, store=store)
            assert await crawling.run_with(operator) == "exhausted"
            return crawling

        crawled = run_virtual(main(), self.loop)
        store.close()
        with closing(Reports(self.path)) as reports:
            assert [one.error for one in reports.actions()] == [""] * len(steps)
        return [event for event in crawled.heard.events if event.event == "origin_finished"]

    def logged(self) -> list[tuple[str, str]]:
        """Which origins finished and why, as the activity log has it, oldest first."""
        with closing(Reports(self.path)) as reports:
            found = reports.activity(limit=200)
        return [(one.origin, one.message) for one in reversed(found) if one.event == "origin_finished"]


def site(url: CrawlUrl) -> Answer:
    return linked_site(60 if url.origin == BUSY else 3)(url)


@pytest.fixture
def operated(database_path: Path) -> Iterator[Operated]:
    loop = VirtualLoop()
    yield Operated(database_path, loop)
    loop.close()


def told(events: list[Event]) -> list[tuple[str, object]]:
    return [(event.origin, dict(event.extra)["reason"]) for event in events]


def test_rules_that_bring_no_work_are_no_end_of_an_origin(operated: Operated):
    events = operated.crawl(
        (SHORT, ApplyRules(to_json(REFUSING), 1)),
        (5, ApplyRules(to_json(EMPTY), 2)),
        (5, SetJob("test", nice=3)),
        (5, AddSeeds((f"{IDLE}/1",))),
    )
    assert told(events) == operated.logged() == [(IDLE, "exhausted"), (BUSY, "exhausted")]


def test_an_origin_that_has_asked_for_something_since_has_finished_again(operated: Operated):
    events = operated.crawl((SHORT, AddSeeds((f"{IDLE}/new",))), (SHORT, RefetchRobots((IDLE,))))
    assert told(events) == operated.logged() == [*[(IDLE, "exhausted")] * 3, (BUSY, "exhausted")]


def test_pages_that_rules_revive_are_an_origin_that_goes_on(operated: Operated):
    events = operated.crawl((1.6, ApplyRules(to_json(NOT_THE_LAST), 1)), (SHORT, ApplyRules(to_json(EMPTY), 2)))
    assert told(events) == operated.logged() == [(IDLE, "exhausted"), (IDLE, "exhausted"), (BUSY, "exhausted")]


def test_another_end_is_told_whatever_came_between(operated: Operated):
    events = operated.crawl(
        (3, StopOrigins((IDLE,))), (1, ResumeOrigins((IDLE,))), (1, StopOrigins((IDLE,))), (1, ResumeOrigins((IDLE,)))
    )
    reasons = [reason for origin, reason in told(events) if origin == IDLE]
    assert reasons[0] == "operator"
    assert reasons[-1] == "exhausted"
    assert reasons.count("exhausted") == 1
    assert {reason for origin, reason in operated.logged() if origin == IDLE} == {"operator", "exhausted"}
