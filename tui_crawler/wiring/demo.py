"""The demo: the built-in demo web in a process of its own, and a crawl of it."""

from __future__ import annotations

import contextlib
import random
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tui_crawler.config.load import read_config
from tui_crawler.demo.process import FIXED_BASE_PORT, HEADLESS_PACE, DemoProcess, DemoUnavailable, demo_config
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.db.database import upgrade
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.headless import run_headless
from tui_crawler.wiring.launch import Launch

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.engine.ports import Listener

_SITES = 10
_TRIES = 20
_LOOK_S = 0.5


def base_port_of(database: DatabasePlace) -> int | None:
    """The first port of the demo web that a database was crawled from, None when there is none. An older database is
    migrated, as its crawl would do. Raises RunHeld."""
    if not database.exists():
        return None
    try:
        upgrade(database)
        reports = Reports(database)
    except StorageFailure:
        return None
    with contextlib.closing(reports):
        origins = [row.origin for row in reports.origins_changed(0)]
    ports = sorted(urlsplit(origin).port or 0 for origin in origins)
    return ports[0] if len(ports) == _SITES and ports[-1] - ports[0] == _SITES - 1 else None


def free_base_port() -> int:
    """The first of ten consecutive free ports, below those that systems hand out by themselves (RFC 6335: from 49152;
    Linux: from 32768). Raises DemoUnavailable."""
    dice = random.SystemRandom()
    for _ in range(_TRIES):
        base = dice.randrange(20_000, 32_000)
        with contextlib.ExitStack() as opened:
            try:
                for port in range(base, base + _SITES):
                    taken = opened.enter_context(socket.socket())
                    taken.bind(("127.0.0.1", port))
            except OSError:
                continue
            return base
    raise DemoUnavailable("no ten consecutive ports are free on 127.0.0.1")


def demo_database(database: DatabasePlace | None) -> DatabasePlace:
    """Where the demo is kept: as asked, else a new folder for temporary files (its path is told at the end)."""
    return database or Path(tempfile.mkdtemp(prefix="tui-crawler-demo-")) / "demo.db"


def config_for(web: DemoProcess, database: DatabasePlace, *, headless: bool) -> Config:
    """The configuration of the demo, read as any other. Raises ConfigErrors."""
    text = demo_config(web.seeds, str(database.absolute()), headless=headless)
    return read_config(text, "demo", "the demo")


def demo_headless(database: DatabasePlace | None, port: int | None, listener: Listener) -> int:
    """Crawls the demo web at short delays. Answers 0 when the crawl came to its end: that some of its origins give
    up is part of the show. Raises DemoUnavailable, RunHeld, StorageFailure."""
    kept = demo_database(database)
    base = port or base_port_of(kept) or free_base_port()
    with DemoProcess.start(pace=HEADLESS_PACE, base_port=base) as web:
        status = run_headless(config_for(web, kept, headless=True), kept, Launch(), listener)
    return 0 if status == 1 else status


def demo_serve(port: int | None, access_log: Path | None, announce: Callable[[Sequence[str]], None]) -> int:
    """Serve the demo web until it is interrupted; `announce` gets the seeds. Raises DemoUnavailable."""
    with contextlib.suppress(KeyboardInterrupt):
        with DemoProcess.start(access_log=access_log, base_port=port or FIXED_BASE_PORT) as web:
            announce(web.seeds)
            while web.is_running:
                time.sleep(_LOOK_S)
        raise DemoUnavailable("the demo web ended by itself")
    return 0
