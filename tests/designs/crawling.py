"""A crawl as the product makes it: configuration text, the real engine, store and fetcher, a real loopback web.

Only time is not real: it stands still while anything is at work and jumps when everything waits, so that delays of
minutes and intervals of weeks take milliseconds. What came out is read through the views, the reports and the commands.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.designs.web import Site, Web
from tui_crawler.cli.main import main
from tui_crawler.config.load import load_config
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, Reading, WaitingDocument
from tui_crawler.domain.records.command import Command
from tui_crawler.domain.records.page_view import PageDetail
from tui_crawler.domain.records.status_words import Ended, RunReason
from tui_crawler.domain.url import CrawlUrl
from tui_crawler.engine.clock import WALL_0, VirtualClock, VirtualLoop
from tui_crawler.fetch import connection_log
from tui_crawler.fetch.client import HttpFetcher
from tui_crawler.fetch.extract import PageReader, ReaderSetup
from tui_crawler.fetch.second_reading import SecondReader, read_again
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.owner import Owner, this_process
from tui_crawler.storage.db.writer import WriterSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.wiring import crawl as wiring_crawl
from tui_crawler.wiring import settings as wiring_settings
from tui_crawler.wiring.crawl import Crawl
from tui_crawler.wiring.launch import Launch

MOST_POLLS = 2_000  # of the journal, in one run; a run that goes on is endless
QUICK = "delay: {default: 0ms, floor: 0ms, start_politeness: 0, allow_impolite: true}"
USER_AGENT = "designs-crawler (for https://example.org/why)"
GONE = replace(this_process(), pid=2**22 + 1)  # a process of this machine that does not live: above the largest id
SECOND, MINUTE, HOUR, DAY, WEEK = 1_000, 60_000, 3_600_000, 86_400_000, 604_800_000


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said."""

    status: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        """Its answer as text."""
        return self.raw.decode("utf-8")

    @property
    def json(self) -> Any:
        """Its answer as JSON."""
        assert self.status == 0, self.err
        return json.loads(self.raw)


class Heard:
    """A listener that remembers, and calls `then` for each event."""

    def __init__(self, then: Callable[[Event], object] | None = None) -> None:
        self.events: list[Event] = []
        self._then = then

    def on_event(self, event: Event) -> None:
        self.events.append(event)
        if self._then is not None:
            self._then(event)

    def waits(self, origin: str) -> list[str]:
        """Why an origin waited, in order: delay, asleep."""
        return [
            str(dict(one.extra)["reason"])
            for one in self.events
            if one.event == "origin_waiting" and one.origin == origin
        ]


@dataclass(frozen=True, slots=True)
class Kit:
    """What takes long to make and is the same for every crawl: an empty database, the certificates of the machine."""

    database: Path
    tls: ssl.SSLContext


def make_kit(folder: Path) -> Kit:
    """A kit, its database in `folder`."""
    database = folder / "new.db"
    open_writable(database, OpenSettings()).close()
    return Kit(database, ssl.create_default_context())


class Crawling:
    """A folder with a configuration and a database, a web, and a clock that the test moves on."""

    def __init__(self, folder: Path, kit: Kit) -> None:
        self.folder = folder
        self.kit = kit
        self.file = folder / "crawl.yaml"
        self.database = folder / "crawl.db"
        shutil.copy(kit.database, self.database)
        self.web = Web()
        self.loop = VirtualLoop()
        self.heard = Heard()
        self._store: SqliteStore | None = None
        self._killed: Path | None = None
        self._fetching = 0
        self.finds_sitemaps = False
        """Whether /sitemap.xml is looked for, as in the product: most tests name the requests that they are about."""
        self.apart = False
        """Whether a process of its own validates, as in the product, which takes longer than most crawls here."""
        self.loop.watch(self._outstanding)

    def close(self) -> None:
        """Closes what is open."""
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        self.web.close()

    def site(self, host: str = "127.0.0.1") -> Site:
        """A new origin of the web."""
        return self.web.site(host)

    @property
    def now(self) -> int:
        """The present, epoch ms."""
        return WALL_0 + round(self.loop.now_s * 1000)

    def later(self, ms: int) -> None:
        """Lets time pass between two runs."""
        self.loop.now_s += ms / 1000

    def configure(self, text: str = "", seeds: Sequence[str] | None = None) -> Path:
        """Writes the configuration; seeds are the front pages of all sites unless they are given."""
        given = [site.url() for site in self.web.sites.values()] if seeds is None else seeds
        head = f"user_agent: {json.dumps(USER_AGENT)}\n" if "user_agent:" not in text else ""
        self.file.write_text(f"{head}seeds: {json.dumps(list(given))}\n{text}\n", encoding="utf-8")
        return self.file

    def run(
        self,
        text: str = "",
        *,
        seeds: Sequence[str] | None = None,
        launch: Launch | None = None,
        poll_ms: int = MINUTE,
        ready: Callable[[Crawl], object] | None = None,
        on_event: Callable[[Event], object] | None = None,
        owner: Owner | None = None,
        later: int = 0,
        **overrides: object,
    ) -> Ended:
        """One run to its end, in virtual time. `overrides` are values of the command line (`crawl__max_requests=1`).

        It begins `later` (ms). `poll_ms` is how often the operator's journal is looked at; `ready` is called when the
        crawl stands ready. `owner` None: this process.
        """
        self.later(later)
        self.configure(text, seeds)
        given = {key.replace("__", "."): value for key, value in overrides.items()}
        self.heard = Heard(on_event)

        def stored(**given: Any) -> StoreSettings:
            given["writing"] = WriterSettings(gather_ms=0)  # storing takes no time
            return StoreSettings(**given, now=lambda: self.now, owner=owner)

        ended = self.loop.run_until_complete(self._run(given, launch or Launch(), poll_ms, stored, ready))
        self.database, self._killed = self._killed or self.database, None
        return ended

    async def _run(
        self,
        overrides: dict[str, object],
        launch: Launch,
        poll_ms: int,
        stored: Callable[..., StoreSettings],
        ready: Callable[[Crawl], object] | None,
    ) -> Ended:

        def store(*arguments: Any) -> SqliteStore:
            self._store = SqliteStore(*arguments)
            return self._store

        def settings(*arguments: Any) -> Any:
            made = replace(engine_settings(*arguments), poll_ms=poll_ms)
            return replace(made, finds_sitemaps=made.finds_sitemaps and self.finds_sitemaps)

        engine_settings = wiring_settings.engine_settings
        with ExitStack() as faked:
            for room, name, fake in (
                (wiring_crawl, "SystemClock", VirtualClock),
                (wiring_crawl, "StoreSettings", stored),
                (wiring_crawl, "SqliteStore", store),
                (wiring_crawl, "engine_settings", settings),
                (connection_log, "silent_ms", lambda stream: 0),  # the kernel has another clock
                (wiring_settings, "HttpFetcher", partial(_TimedFetcher, self)),
                (wiring_crawl, "SecondReader", partial(_TimedSecondReader, self)),
            ):
                faked.enter_context(patch.object(room, name, fake))
            async with self.web.served(lambda: self.now):
                config = load_config(self.file, overrides)
                crawl = Crawl(config, self.database, launch, self.heard)
                if ready is not None:
                    ready(crawl)
                endless = self.loop.call_later(poll_ms * MOST_POLLS / 1000, crawl.engine.stop, RunReason.error, 0)
                ended = await crawl.run()
                endless.cancel()
                assert self.loop.time() < endless.when(), f"still running after {MOST_POLLS} looks at the journal"
                return ended

    def go_on_from_here(self, name: str = "killed.db") -> None:
        """The database as it is now, in the middle of a run of GONE, is the one that later runs and commands find: as
        after a SIGKILL of its process."""
        self._killed = self.folder / name
        with (
            contextlib.closing(sqlite3.connect(self.database)) as live,
            contextlib.closing(sqlite3.connect(self._killed)) as copy,
        ):
            live.backup(copy)

    def enter(self, fetching: int) -> None:
        """Counts what the fetcher does: exchanges and readings under way."""
        self._fetching += fetching

    def _outstanding(self) -> int:
        """Real work that time has to wait for: the store's, and exchanges that no site holds back."""
        stored = self._store.writer.outstanding if self._store is not None else 0
        return stored + max(0, self._fetching - self.web.waiting)

    def steer(self, command: Command, who: str = "tester") -> int:
        """Writes a wish into the operator journal, as console and commands do."""
        with contextlib.closing(Journal(self.database)) as journal:
            return journal.send(command, who)

    def steering(self, url: str, command: Command) -> Callable[[Event], object]:
        """A listener that sends a command at each end of an attempt for this URL."""
        return lambda event: event.event == "attempt_finished" and event.url == url and self.steer(command)

    def command(self, *words: str) -> Said:
        """A command of the command line, in this process."""
        written, err = io.BytesIO(), io.StringIO()
        out = io.TextIOWrapper(written, "utf-8", newline="")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(words)
        out.flush()
        return Said(status, written.getvalue(), err.getvalue())

    def live(self, *words: str, text: str = QUICK, seeds: Sequence[str] | None = None) -> Said:
        """The command `run` for this configuration, in real time."""
        config = self.configure(text, seeds)
        with self.web.in_thread():
            return self.command("run", str(config), "--db", str(self.database), *words)

    def command_meanwhile(self, *words: str) -> Said:
        """The same while a crawl runs, from one of its hooks: in a thread, since commands have event loops of their
        own. The crawl stands still until it has ended."""
        said: list[Said] = []
        thread = threading.Thread(target=lambda: said.append(self.command(*words)), name="command")
        thread.start()
        thread.join()
        return said[0]

    def ask(self, *words: str) -> Said:
        """A command on this database, at the present of this crawl."""
        with patch("time.time_ns", lambda: self.now * 1_000_000), patch("time.time", lambda: self.now / 1_000):
            return self.command(*words, "--db", str(self.database))

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows, read as any SQLite tool would."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query, values)]

    def change(self, statement: str, *values: object) -> None:
        """Changes the database at rest, as an earlier version may have left it."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.execute(statement, values)
            connection.commit()

    def value(self, query: str, *values: object) -> Any:
        """The one value of a query."""
        (row,) = self.rows(query, *values)
        return next(iter(row.values()))

    def page(self, url: str) -> dict[str, Any]:
        """A page as `v_page` has it."""
        (row,) = self.rows("SELECT * FROM v_page WHERE url = ?", url)
        return row

    def codes(self, url: str) -> list[str]:
        """The exit codes of the attempts for a URL, oldest first."""
        return [
            row["exit_code"]
            for row in self.rows("SELECT exit_code FROM v_attempt WHERE url = ? ORDER BY attempt_id", url)
        ]

    def refused(self) -> dict[str, int]:
        """Links that filters refused, counted by reason."""
        return {
            row["reason"]: row["n"] for row in self.rows("SELECT reason, sum(count) n FROM v_refused GROUP BY reason")
        }

    def detail(self, url: str) -> PageDetail:
        """A page as the console shows it."""
        with self.reports() as reports:
            found = reports.page_detail(url)
        assert found is not None
        return found

    def broken_counts(self) -> dict[str, int]:
        """How many links are broken, as `run --fail-on` counts them."""
        with self.reports() as reports:
            return dict(reports.broken_counts())

    @contextlib.contextmanager
    def reports(self) -> Iterator[Reports]:
        """What the console reads."""
        with contextlib.closing(Reports(self.database)) as reports:
            yield reports


class _TimedFetcher(HttpFetcher):
    """The product's fetcher on the test's clock; tells when it is at work."""

    def __init__(self, crawling: Crawling, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, now=VirtualClock().now, ssl_context=crawling.kit.tls, **more)
        self._crawling = crawling

    async def exchange(self, request: FetchRequest) -> Exchange:
        self._crawling.enter(1)
        try:
            return await super().exchange(request)
        finally:
            self._crawling.enter(-1)

    async def read(self, url: CrawlUrl, exchange: Exchange, *, sitemap: bool = False) -> Reading:
        self._crawling.enter(1)
        try:
            return await super().read(url, exchange, sitemap=sitemap)
        finally:
            self._crawling.enter(-1)


class _TimedSecondReader(SecondReader):
    """The product's second reader; tells when it is at work, which it does in this process unless it is `apart`."""

    def __init__(self, crawling: Crawling, setup: ReaderSetup) -> None:
        super().__init__(setup)
        self._crawling = crawling
        self._here = PageReader(setup.limits, setup.product_token, **setup.tasks)

    async def read(self, documents: Sequence[WaitingDocument]) -> list[Reading | None]:
        self._crawling.enter(1)
        try:
            if self._crawling.apart:
                return await super().read(documents)
            return [await read_again(self._here, one) for one in documents]
        finally:
            self._crawling.enter(-1)

    async def close(self) -> None:
        self._crawling.enter(1)
        try:
            await super().close()
        finally:
            self._crawling.enter(-1)
