"""How the frontier grows: what a new URL costs, by links and by `tui-crawler add`, and what grows with their number.

`python -m benchmarks.frontier [--sizes 50000 500000 1000000] [--five-million] [--only links|add]`

By links: attempts of 500 links each over 20 origins go into the store, as the engine hands them over; making them is
not counted. By `add`: files of lines go in by the command, its start told apart. CPU is that of the whole process.
Bytes are those of the file after a checkpoint, all that belongs to a URL included (by links: its link).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from benchmarks.measured import run_measured
from tests.storage.making import T0, crawled, fill_of, plan
from tui_crawler.domain.records.attempt import Settle
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore

T = TypeVar("T")
ORIGINS = [f"https://site{number}.example" for number in range(20)]
LINKS = 500  # of one attempt
HEADS = (
    "URLs by links",
    "new µs",
    "known µs",
    "known lately µs",
    "bytes each",
    "memory MB",
    "candidates ms",
    "fill ms",
    "status ms",
    "overview ms",
)
AGAIN = 20_000  # so many known URLs are found again at each size


@dataclass(frozen=True, slots=True)
class Grown:
    """At a number of URLs: CPU µs of a new one since the size before, of one known anywhere and one known lately;
    bytes each; memory (MB) of the process; ms of what is to be the same at every size."""

    urls: int
    new_us: float
    known_us: float
    lately_us: float
    bytes_each: float
    memory: float
    candidates_ms: float
    fill_ms: float
    status_ms: float
    overview_ms: float

    def cells(self) -> tuple[str, ...]:
        """A line of the table."""
        costs = (self.new_us, self.known_us, self.lately_us, self.bytes_each, self.memory)
        times = (self.candidates_ms, self.fill_ms, self.status_ms, self.overview_ms)
        return (f"{self.urls:,}", *(f"{one:.0f}" for one in costs), *(f"{one:.1f}" for one in times))


class Frontier:
    """A database that grows by links."""

    def __init__(self, path: Path, origins: Sequence[str] = ORIGINS, links: int = LINKS, again: int = AGAIN) -> None:
        self._path, self._origins, self._links, self._again = path, origins, links, again
        self._store = SqliteStore(path)
        self._todo: dict[str, deque[TodoPage]] = {name: deque() for name in origins}
        self._chance = random.Random(7)
        self._each = 0  # URLs of one origin
        self._now = T0

    async def begin(self) -> None:
        """The run begins with one seed of each origin."""
        await self._store.begin_run(plan(*(f"{name}/" for name in self._origins)))
        self._empty_bytes = _stored_bytes(self._path)

    async def close(self) -> None:
        """The run ends."""
        await self._store.end_run("interrupted", True)
        self._store.close()

    async def grow(self, size: int) -> Grown:
        """Goes on to `size` URLs, and measures there."""
        before, spent = self._made, 0.0
        while self._made < size:
            spent += await self._settle(range(self._each, self._each + self._links), with_links=True)
            self._each += self._links
        new_us = spent * 1e6 / (self._made - before)
        bytes_each = (_stored_bytes(self._path) - self._empty_bytes) / self._made
        known_us = await self._find_again(range(self._each))
        lately_us = await self._find_again(range(self._each)[-self._links :])
        name = self._origins[0]
        candidates_ms, pages = await _timed(lambda: self._store.candidates(name, self._now, 500, False))
        fill_ms, _ = await _timed(lambda: self._store.fill(fill_of(pages.pages, name)))
        self._todo[name] = deque(pages.pages)
        gc.collect()
        status_ms, overview_ms = report_times(self._path)
        memory = _memory_mb()
        return Grown(
            self._made, new_us, known_us, lately_us, bytes_each, memory, candidates_ms, fill_ms, status_ms, overview_ms
        )

    @property
    def _made(self) -> int:
        return self._each * len(self._origins)

    async def _find_again(self, known: range) -> float:
        """CPU µs of finding one of the URLs of each origin that are known; no link is stored."""
        rounds = max(1, self._again // (self._links * len(self._origins)))
        spent = 0.0
        for _ in range(rounds):
            spent += await self._settle(self._chance.choices(known, k=self._links), with_links=False)
        return spent * 1e6 / (rounds * self._links * len(self._origins))

    async def _settle(self, numbers: Sequence[int], *, with_links: bool) -> float:
        """One attempt at each origin that finds its URLs of these numbers; answers the CPU seconds of storing them."""
        made: list[Settle] = []
        for name in self._origins:
            page = await self._next(name)
            self._now += 50
            found = dict.fromkeys(f"{name}/articles/of/the/section/{number}.html" for number in numbers)
            one = crawled(page, self._now, *found)
            made.append(one if with_links else replace(one, links=None))
        began = time.process_time()
        await asyncio.gather(*(self._store.settle(one) for one in made))
        return time.process_time() - began

    async def _next(self, name: str) -> TodoPage:
        todo = self._todo[name]
        if not todo:
            pages = (await self._store.candidates(name, self._now, 500, False)).pages
            await self._store.fill(fill_of(pages, name))
            todo.extend(pages)
        return todo.popleft()


async def _timed(work: Callable[[], Awaitable[T]]) -> tuple[float, T]:
    began = time.perf_counter()
    answer = await work()
    return (time.perf_counter() - began) * 1000, answer


def report_times(path: Path) -> tuple[float, float]:
    """Ms of what `status` reads of a database, and of what the overview reads first."""
    with closing(Reports(path)) as reports:
        began = time.perf_counter()
        reports.run()
        reports.totals()
        between = time.perf_counter()
        reports.origins_changed()
        reports.attempts()
        return (between - began) * 1000, (time.perf_counter() - between) * 1000


def add_steps(folder: Path, sizes: Sequence[int]) -> Iterator[tuple[int, float, float, float]]:
    """By `tui-crawler add`: the URLs, CPU µs of a new one since the size before, bytes each, and the peak memory (MB)
    of the command."""
    path, lines = folder / "added.db", folder / "lines.txt"
    asyncio.run(_begun(path))
    empty, command = _stored_bytes(path), [sys.executable, "-m", "tui_crawler", "add", "--db", str(path), "--quiet"]
    start = run_measured([[*command, f"{ORIGINS[0]}/first"]], folder)
    known = 0
    for size in sizes:
        urls = (
            f"{ORIGINS[number % len(ORIGINS)]}/articles/of/the/section/{number}.html" for number in range(known, size)
        )
        lines.write_text("\n".join(urls) + "\n", encoding="utf-8")
        spent = run_measured([[*command, "--file", str(lines)]], folder)
        stored = _count(path)
        if stored < size:
            raise RuntimeError(f"{stored} of {size} URLs were added")
        yield size, spent.beyond(start).cpu * 1e6 / (size - known), (_stored_bytes(path) - empty) / size, spent.peak
        known = size


async def _begun(path: Path) -> None:
    store = SqliteStore(path)
    await store.begin_run(plan(*(f"{name}/" for name in ORIGINS)))
    await store.end_run("interrupted", True)
    store.close()


def _count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        number: int = database.execute("SELECT count(*) FROM page").fetchone()[0]
        return number


def _stored_bytes(path: Path) -> int:
    """The size of the database after a checkpoint."""
    with closing(sqlite3.connect(path, timeout=30)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path.stat().st_size


def _memory_mb() -> float:
    """What this process has in memory now; where the system does not tell, the most it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def _by_links(folder: Path, sizes: Sequence[int]) -> None:
    frontier = Frontier(folder / "links.db")
    await frontier.begin()
    print("| " + " | ".join(HEADS) + " |\n" + "|---" * len(HEADS) + "|", flush=True)
    for size in sizes:
        print("| " + " | ".join((await frontier.grow(size)).cells()) + " |", flush=True)
    await frontier.close()


def main(words: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.frontier", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[50_000, 500_000, 1_000_000])
    parser.add_argument("--five-million", action="store_true", help="and 5,000,000")
    parser.add_argument("--only", choices=["links", "add"])
    given = parser.parse_args(words)
    sizes = [*given.sizes, *([5_000_000] if given.five_million else [])]
    with tempfile.TemporaryDirectory(prefix="crawl-benchmark-") as folder:
        if given.only != "add":
            asyncio.run(_by_links(Path(folder), sizes))
        if given.only != "links":
            print("\n| URLs by add | new µs | bytes each | peak MB |\n|---|---|---|---|", flush=True)
            for urls, spent_us, bytes_each, peak in add_steps(Path(folder), sizes):
                print(f"| {urls:,} | {spent_us:.0f} | {bytes_each:.0f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
