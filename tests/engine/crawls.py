"""A crawl in virtual time for tests: engine, memory store, simulated web, and what an operator does meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import Answer, SimulatedWeb
from tui_crawler.domain.crawl.delay import DelaySettings
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.origin import CrawlSettings
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.command import Command
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.clock import VirtualClock, run_virtual
from tui_crawler.engine.engine import Engine
from tui_crawler.engine.origin_table import EngineSettings

PLAN = RunPlan("test", "test-crawler (for tests)", "test", (), 8, 3, 5, 2, 4 * 7 * 86_400_000)


@dataclass
class Heard:
    """A listener that remembers."""

    events: list[Event] = field(default_factory=list)

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.event == name]

    def finish_reasons(self) -> dict[str, object]:
        return {event.origin: dict(event.extra)["reason"] for event in self.named("origin_finished")}


class Crawling:
    """One start of the engine on a store. `origins` are the seeds, without path."""

    def __init__(
        self,
        origins: list[str],
        answer: Callable[[CrawlUrl], Answer],
        *,
        store: MemoryStore | None = None,
        web: SimulatedWeb | None = None,
        policies: PolicySet = EMPTY,
        limits: Limits | None = None,
        delay: DelaySettings | None = None,
        key_of: Callable[[str, str | None], str] = lambda origin, address: origin,
        more: dict[str, Any] | None = None,
        **plan: object,
    ) -> None:
        self.clock = VirtualClock()
        self.store = store or MemoryStore()
        self.web = web or SimulatedWeb(self.clock, answer)
        self.heard = Heard()
        seeds = []
        for origin in origins:
            url = normalise(origin + "/0")
            assert isinstance(url, CrawlUrl)
            seeds.append(NewPage(url.href, url.hash, url.origin, 0, seed=True))
        crawl = CrawlSettings(delay=delay or DelaySettings())
        settings = EngineSettings(
            replace(PLAN, seeds=tuple(seeds), **plan),  # type: ignore[arg-type]
            settings_of=lambda origin: crawl,
            key_of=key_of,
            poll_ms=500,
            **(more or {}),
        )
        scope = Scope(frozenset(page.origin for page in seeds))
        admission = Admission(policies, scope, limits or Limits())
        self.engine = Engine(settings, admission, self.store, self.web, self.clock, self.heard)

    async def run(self) -> str:
        reason = await self.engine.run()
        return reason.value

    async def run_with(self, operator: Callable[[Crawling], object]) -> str:
        """Runs while an operator (a coroutine function) does something."""
        other = asyncio.ensure_future(operator(self))  # type: ignore[arg-type]
        reason = await self.run()
        await other
        return reason

    async def crash_after(self, seconds: float) -> None:
        """Runs for a while and is then gone, as after a kill: nothing is closed, nothing more is written."""
        task = asyncio.ensure_future(self.engine.run())
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            self.store.freeze()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


Operator = Callable[[Crawling], Awaitable[None]]


def crawl(*args: Any, operator: Operator | None = None, **options: Any) -> tuple[Crawling, str]:
    """Run a whole crawl; return it and its finish reason."""

    async def main() -> tuple[Crawling, str]:
        crawling = Crawling(*args, **options)
        return crawling, await (crawling.run_with(operator) if operator else crawling.run())

    return cast("tuple[Crawling, str]", run_virtual(main()))


def asks(*steps: Command | float) -> Operator:
    """An operator that sends commands, and waits in between for so many seconds."""

    async def operator(crawling: Crawling) -> None:
        for step in steps:
            if isinstance(step, int | float):
                await asyncio.sleep(step)
            else:
                crawling.store.ask(step)

    return operator


def assert_polite(crawling: Crawling, least_ms: int = 1000) -> None:
    for origin, gaps in crawling.web.gaps().items():
        assert all(gap >= least_ms for gap in gaps), (origin, min(gaps))
