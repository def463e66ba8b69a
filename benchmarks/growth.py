"""What storing costs as a crawl grows, in a file or on a PostgreSQL server.

`python -m benchmarks.growth [--server URL] [--most 10000000]`

The pages of 200 origins are stored as at full speed, with 60 links each, half of them to new URLs, without bodies: at
each size the pages stored a second since the last one, the bytes per known URL, and how long a look at the totals, at
the failures and at all origins takes.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.contestants import new_database
from tests.storage.making import T0, crawled, document, fill_of, plan
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore

_ORIGINS = [f"https://site{number}.example" for number in range(200)]
_NEW = 30
"""Links of a page to URLs that are new; as many lead to known ones."""


@dataclass(slots=True)
class Growth:
    """How many URLs are known, and are to be."""

    store: SqliteStore
    known: int = len(_ORIGINS)
    most: int = 0

    async def grow(self, most: int) -> float:
        """Pages stored a second until so many URLs are known."""
        before, self.most, began = self.known, most, time.monotonic()
        await asyncio.gather(*map(self._crawl, _ORIGINS))
        return (self.known - before) / _NEW / (time.monotonic() - began)

    async def _crawl(self, origin: str) -> None:
        while self.known < self.most:
            pages = (await self.store.candidates(origin, T0, 500, False)).pages
            await self.store.fill(fill_of(pages, origin))
            for page in pages:
                if self.known >= self.most:
                    return
                self.known += _NEW
                old = [f"{origin}/{number}" for number in range(_NEW)]
                new = [f"{origin}/a/path/of/some/length/{self.known - number}" for number in range(_NEW)]
                await self.store.settle(crawled(page, T0, *old, *new, document=document(page, None)))


def _size(place: DatabasePlace) -> int:
    if isinstance(place, Path):
        return sum(file.stat().st_size for file in place.parent.iterdir())
    with closing(psycopg.connect(place.url, autocommit=True)) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0


def _looks(place: DatabasePlace) -> str:
    with closing(Reports(place)) as reports:
        told = []
        for name in ("totals", "failure_count", "origins_changed"):
            began = time.perf_counter()
            getattr(reports, name)()
            told.append(f"{name} {(time.perf_counter() - began) * 1000:.0f} ms")
    return ", ".join(told)


async def measure(place: DatabasePlace, most: int) -> None:
    """Grows a crawl tenfold, and tenfold again."""
    with closing(SqliteStore(place)) as store:
        await store.begin_run(plan(*(f"{origin}/0" for origin in _ORIGINS)))
        growth, size = Growth(store), most
        while size > 30_000:
            size //= 10
        while size <= most:
            rate = await growth.grow(size)
            print(
                f"{growth.known:>10} URLs: {rate:5.0f} pages/s, {_size(place) / growth.known:4.0f} bytes per URL; ",
                end="",
            )
            print(_looks(place), flush=True)
            size *= 10


@contextmanager
def _place(server: str | None) -> Iterator[DatabasePlace]:
    if server:
        with new_database(server) as url:
            yield PostgresPlace(url)
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / "growth.db"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", metavar="URL", help="a PostgreSQL server; its role may make databases")
    parser.add_argument("--most", type=int, default=10_000_000, metavar="URLS")
    given = parser.parse_args()
    with _place(given.server) as place:
        asyncio.run(measure(place, given.most))


if __name__ == "__main__":
    main()
