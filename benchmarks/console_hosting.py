"""The console while it hosts its own engine at full speed, for `benchmarks.console --hosting`.

The crawl is that of `benchmarks.throughput`: 20 origins on loopback, delays off. Keys j and k at random times, then all
views in turn; meanwhile the crawl goes on. The minimal app has its keys in the same minute, beside the same crawl.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from threading import Thread

from benchmarks.console_terminal import Console, Keys
from benchmarks.contestants import Keeping, write_config
from benchmarks.site import Site, serving

HOST = "127.0.0.1"
PRESSES, TURNS, MOST_S = 40, 1, 0.7
SITE = Site(pages=1_500)
A_PAGE = b"\x1b[6~"
VIEWS = (
    ("2 Failures", b"2", r"─ By (?s:.*) Failures  "),
    ("3 URLs", b"3", r"─ URLs (?s:.*) URLs  "),
    ("4 Rules", b"4", r"─ Rules (?s:.*) Rules  "),
    ("5 Logs", b"5", r"─ Log (?s:.*) Logs  "),
    ("7 Jobs", b"7", r"─ Jobs (?s:.*) Jobs  "),
    ("1 Overview", b"1", r"─ Origins "),
)


def show_hosting(minimal: list[str], workers: str) -> None:
    """Measures and prints: keys while the console hosts the crawl of `workers`, and those of the minimal app."""
    with serving(SITE) as site, tempfile.TemporaryDirectory() as folder:
        config = write_config(site, Path(folder), Keeping.rows)
        more = ["--workers", workers] if workers != "1" else []
        with Console.start([sys.executable, "-m", "tui_crawler", str(config), *more]) as console:
            console.first_seen(b"Origins", HOST.encode())
            _until_it_crawls(console, config.with_suffix(".db"))
            _measure(console, minimal, config.with_suffix(".db"))
            console.quit()


def _measure(console: Console, minimal: list[str], database: Path) -> None:
    chance = random.Random(PRESSES)
    began, pages = time.perf_counter(), _pages(database)
    own, children = console.processor_s(), console.processor_of_children_s()
    show_keys("j and k", console.press_randomly(PRESSES, chance, HOST, A_PAGE, MOST_S))
    for name, keys in console.press_in_turn(VIEWS, TURNS, chance).items():
        show_keys(name, keys)
    took = time.perf_counter() - began
    crawled = (_pages(database) - pages) / took
    print(f"pages a second meanwhile: {crawled:.0f}", flush=True)
    shares = (console.processor_s() - own, console.processor_of_children_s() - children)
    print(
        "processor, of one core: console {:.0%}, processes of its crawl {:.0%}".format(*(one / took for one in shares))
    )
    with Console.start(minimal) as yardstick:
        beside = Thread(target=console.read_for, args=(PRESSES * MOST_S + 6,))  # a terminal that takes what it is given
        beside.start()
        yardstick.first_seen(b"row 0 ", b"row 7 ")
        show_keys("minimal app beside it: j and k", yardstick.press_randomly(PRESSES, chance, way=b"", most_s=MOST_S))
        beside.join()
    if _pages(database) >= SITE.origins * SITE.pages:
        print("the crawl was over before: the last figures are of a console at rest")


def _until_it_crawls(console: Console, database: Path) -> None:
    while _pages(database) < 2 * SITE.origins:
        console.read_for(0.2)


def _pages(database: Path) -> int:
    """How many requests were made so far."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as rows:
        return int(rows.execute("SELECT COALESCE(sum(requests), 0) FROM v_origin").fetchone()[0])


def show_keys(name: str, keys: Keys) -> None:
    """Prints how long keys took, and that less what they waited for a processor."""
    missed = f"  {keys.unanswered} not answered" if keys.unanswered else ""
    print(f"{name:44}p50 {keys.percentile(50):7.1f} ms  p99 {keys.percentile(99):7.1f} ms{missed}", flush=True)
    if keys.own:
        own = Keys(keys.own, 0)
        name = "  less what it waited for a processor"
        print(f"{name:44}p50 {own.percentile(50):7.1f} ms  p99 {own.percentile(99):7.1f} ms", flush=True)
