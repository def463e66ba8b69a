"""Whole lives of crawls on SQLite in virtual time: faults, redirects of robots.txt, operators, kills, new runs."""

from __future__ import annotations

import asyncio
import contextlib
import random
import shutil
from pathlib import Path

from tests.engine.crawls import Crawling
from tests.storage.bench import GONE
from tests.support.simulated_web import Answer, linked_site
from tui_crawler.domain.crawl.delay import DelaySettings
from tui_crawler.domain.crawl.origin import CrawlSettings, SettingsByOrigin
from tui_crawler.domain.records.command import (
    Command,
    Exclude,
    PauseOrigins,
    ProbeUrls,
    RefetchRobots,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.domain.url import CrawlUrl
from tui_crawler.engine.clock import WALL_0, VirtualLoop, run_virtual
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal

ORIGINS = ["http://a.test", "http://b.test", "http://c.test"]


class Life:
    """A crawl that is started, stopped, killed and started again. `path` is where its database lies now: a kill leaves
    the file as it was and goes on with a copy, which nobody holds."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.folder = folder
        self.path = folder / "0.db"
        self.loop = VirtualLoop()
        self.stores: list[SqliteStore] = []
        ways = ["ends", "stopped", "killed", "killed"]
        self.lives = [self.dice.choice(ways) for _ in range(self.dice.randrange(1, 6))]
        self.operates = True
        model = self.dice.choice(["politeness", "politeness", "politeness", "running_average", "fixed"])
        self.delay = DelaySettings(model=model)
        site = linked_site(self.dice.randrange(1, 30), faults=self.dice.choice([0.0, 0.1, 0.4]), seed=seed)
        robots = self.dice.choice([None, b"", b"User-agent: *\nCrawl-delay: 3\n", "redirect", "elsewhere", "fails"])

        def answer(url: CrawlUrl) -> Answer:
            if url.path.startswith("/robots") and robots is not None:
                return self._robots(url, robots)
            return site(url)

        self.answer = answer

    def _robots(self, url: CrawlUrl, robots: bytes | str) -> Answer:
        if isinstance(robots, bytes):
            return Answer(body=robots)
        if robots == "fails":
            return self.dice.choice([Answer(ExitCode.server_internal_error, 503), Answer(body=b"")])
        if url.path == "/robots.txt":
            host = ORIGINS[0] if robots == "elsewhere" else url.origin
            return Answer(ExitCode.permanent_redirect, 301, location=f"{host}/robots2.txt")
        return Answer(body=self.dice.choice([b"", b"User-agent: *\nCrawl-delay: 7\n"]))

    def now(self) -> int:
        return WALL_0 + round(self.loop.time() * 1000)

    def start(self, new_run: bool) -> Crawling:
        store = SqliteStore(self.path, StoreSettings(now=self.now, owner=GONE))
        self.stores.append(store)
        self.loop.watch(lambda: store.writer.outstanding)
        settings = SettingsByOrigin(CrawlSettings(delay=self.delay)).to_json()
        more = {"delay": self.delay, "crawl_settings": settings, "new_run": new_run, "force_recrawl": new_run}
        limit = self.dice.choice([None, None, None, 12])
        return Crawling(ORIGINS, self.answer, store=store, max_requests=limit, **more)

    def ask(self, command: Command) -> None:
        journal = Journal(self.path, now=self.now)
        journal.send(command, "operator")
        journal.close()

    async def operate(self) -> None:
        dice = self.dice
        for _ in range(dice.randrange(0, 7) if self.operates else 0):
            await asyncio.sleep(dice.uniform(0.05, 15))
            named = dice.choice([(), (dice.choice(ORIGINS),)])
            wishes = [
                PauseOrigins(named),
                ResumeOrigins(named),
                StopOrigins(named),
                TopUpPatience(named),
                RefetchRobots(named),
                RetryPages(origins=named),
                SetDelay(dice.choice(ORIGINS), dice.choice([0, 2_500, 9_000])),
                ProbeUrls((f"{ORIGINS[0]}/1",)),
                Exclude("host", "c.test", remove=dice.random() < 0.5),
            ]
            self.ask(dice.choice(wishes))

    async def live(self, crawling: Crawling, how: str) -> None:
        """One start: until it ends by itself, is stopped, or is killed."""
        operator = asyncio.ensure_future(self.operate())
        engine = asyncio.ensure_future(crawling.engine.run())
        await asyncio.wait({engine}, timeout=self.dice.uniform(0.05, 60) if how != "ends" else 600)
        operator.cancel()
        if how == "killed" and not engine.done():
            copy = self.folder / f"{len(self.stores)}.db"
            for end in ("", "-wal"):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(f"{self.path}{end}", f"{copy}{end}")
            self.path = copy
            engine.cancel()
        else:
            crawling.engine.stop(RunReason.interrupted, 1_000)
        await asyncio.gather(engine, operator, return_exceptions=True)

    def run(self) -> Path:
        """Lives it; answers where the database lies that is left."""
        for number, how in enumerate(self.lives):
            crawling = self.start(new_run=number > 0 and self.dice.random() < 0.3)
            run_virtual(self.live(crawling, how), self.loop)
            self.stores[-1].close()
            self.loop.now_s += self.dice.choice([0.0, 0.2, 60.0, 3_000.0])
        self.loop.close()
        return self.path
