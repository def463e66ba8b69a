"""A database of many known URLs, and a process that writes into it as a busy crawl does, for `benchmarks.console`."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.storage.making import plan
from tui_crawler.domain.crawl.run import RunPlan
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.models import Attempt, Origin, Page, Url
from tui_crawler.storage.store import SqliteStore

COMMIT_S = 0.08  # as long as the store lets a group of settles grow
HEARTBEAT_S = 5.0
DELAY_MS = 1_000
CODES = (ExitCode.file_ingested,) * 17 + (
    ExitCode.file_not_found,
    ExitCode.request_timeout,
    ExitCode.server_internal_error,
)
LOOK_S = 0.2


def names(origins: int) -> list[str]:
    """The origins."""
    return [f"https://site{n:04}.example" for n in range(origins)]


def make(path: Path, origins: int, pages: int, named: Sequence[str] = ()) -> None:
    """The database, unless it is there: every origin has its share of the URLs, most of them pending. `named`: the
    origins, where they are not to be those of `names`."""
    if path.exists():
        return
    began = time.perf_counter()
    making = path.with_suffix(".making")
    making.unlink(missing_ok=True)
    asyncio.run(_begin_and_end(making, _plan(named or names(origins))))
    with closing(sqlite3.connect(making)) as database:
        database.execute("PRAGMA cache_size = -400000")
        database.execute("PRAGMA synchronous = OFF")
        with database:
            _fill(database, pages // origins - 1)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    making.rename(path)
    print(f"made {path} in {time.perf_counter() - began:.0f} s", flush=True)


def make_twice(path: Path, pages: int) -> None:
    """The database of one origin whose pages were crawled by two runs, unless it is there: of a hundred the second run
    found three new, one gone, six changed, and the others as they were."""
    if path.exists():
        return
    making = path.with_suffix(".twice")
    making.unlink(missing_ok=True)
    make(making, 1, pages)
    with closing(sqlite3.connect(making)) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        columns = [row[1] for row in database.execute("PRAGMA table_info(run)") if row[1] != "id"]
        named = ", ".join(columns)
        database.execute(f"INSERT INTO run (id, {named}) SELECT 2, {named} FROM run WHERE id = 1")
        database.execute("UPDATE run SET keeps_former = 1, started_at = started_at + 1 WHERE id = 2")
        (last,) = database.execute("SELECT MAX(id) FROM page").fetchone()
        for run, before in ((1, 0), (2, last)):
            database.execute(
                "INSERT INTO attempt (id, run_id, session_id, origin_id, url_id, page_id, kind, exit_code, http_status,"
                " started_at, ended_at, response_ms, bytes, requests)"
                " SELECT id + ?, ?, 1, origin_id, url_id, id, 'page', ?, 200, created_at, created_at, id % 900, 9000, 1"
                " FROM page WHERE ? = 2 OR id % 100 > 2 ORDER BY id",
                (before, run, ExitCode.file_ingested.value, run),
            )
        database.execute(
            "UPDATE page SET attempts_remaining = 0, failed = 0, last_attempt_id = id + ?,"
            " last_http_status = CASE WHEN id % 100 = 3 THEN 404 ELSE 200 END,"
            " last_exit_code = CASE WHEN id % 100 = 3 THEN ? ELSE ? END",
            (last, ExitCode.file_not_found.value, ExitCode.file_ingested.value),
        )
        database.execute(
            "INSERT INTO document (page_id, kind, content_type, title, sha256, size)"
            " SELECT id, 'html', 'text/html', 'Page ' || id, printf('%064x', id), 9000 FROM page"
        )
        database.execute(
            "INSERT INTO former_page (run_id, origin_id, page_id, exit_code, http_status, sha256, title, links)"
            " SELECT 2, origin_id, id, CASE WHEN id % 100 > 2 THEN ? END, CASE WHEN id % 100 > 2 THEN 200 END,"
            " CASE WHEN id % 100 > 2 THEN 'f' ELSE '' END, 'Page ' || id, id % 2 FROM page WHERE id % 100 < 10",
            (ExitCode.file_ingested.value,),
        )
    making.rename(path)


def _plan(origins: Sequence[str]) -> RunPlan:
    return plan(*(f"{name}/" for name in origins))


async def _begin_and_end(path: Path, asked: RunPlan) -> None:
    store = SqliteStore(path)
    await store.begin_run(asked)
    await store.end_run("interrupted", True)
    await asyncio.to_thread(store.close)


def _fill(database: sqlite3.Connection, share: int) -> None:
    """`share` pages for every origin: of ten, seven pending, two done, one failed; counters to match."""
    homes = database.execute(
        "SELECT o.id, o.origin, p.job_id FROM origin o JOIN page p ON p.origin_id = o.id WHERE p.seed = 1"
    ).fetchall()
    first = database.execute("SELECT MAX(id) FROM url").fetchone()[0] + 1
    insert_url = f"INSERT INTO {_table(Url)} (id, hash, href) VALUES (?, ?, ?)"
    insert_page = (
        f"INSERT INTO {_table(Page)} (job_id, origin_id, url_id, status, attempts, attempts_remaining,"
        " depth, failed, last_exit_code, last_crawled_at, todo_order, created_at)"
        " VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    now = time.time_ns() // 1_000_000
    for place, (origin_id, name, job_id) in enumerate(homes):
        start = first + place * share
        hrefs = [f"{name}/section-{n % 37}/a-page-of-usual-length-{n}.html" for n in range(share)]
        keys = map(url_hash, hrefs)
        database.executemany(insert_url, zip(range(start, start + share), keys, hrefs, strict=True))
        database.executemany(
            insert_page,
            (
                (job_id, origin_id, start + n, *_fate(n, now), int(n % 10 < 7 and n < 600) and n + 1, now)
                for n in range(share)
            ),
        )
        of_ten = share // 10
        database.execute(
            f"UPDATE {_table(Origin)} SET pending = ?, done = ?, failed = ?, pages_known = ?, todo = ?, requests = ?,"
            " attempts = ?, bytes = ? WHERE id = ?",
            (7 * of_ten, 2 * of_ten, place % 90, share + 1, 420, 3 * of_ten, 3 * of_ten, 10**7, origin_id),
        )


def _fate(number: int, now: int) -> tuple[int, int, int, int, int | None, int]:
    """Attempts, those remaining, depth, failed, last exit code, time of the last crawl."""
    depth = 1 + number % 4
    match number % 10:
        case 9:
            return 1, 0, depth, 1, ExitCode.file_not_found.value, now - number
        case 7 | 8:
            return 1, 0, depth, 0, ExitCode.file_ingested.value, now - number
        case _:
            return 0, 3, depth, 0, None, 0


def _table(model: type) -> str:
    name: str = model._meta.table_name  # type: ignore[attr-defined]  # peewee's own place for it
    return name


class Crawl:
    """A process that holds the database as a run does and settles at a rate."""

    def __init__(self, database: Path, settles: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._count = context.Value("q", 0)
        self._stop = context.Event()
        ready = context.Event()
        arguments = (database, settles, self._count, self._stop, ready)
        self._process = context.Process(target=_write, args=arguments, daemon=True)
        self._ready = ready

    def __enter__(self) -> Self:
        """Starts it and waits until it writes."""
        self._process.start()
        if not self._ready.wait(120):
            raise TimeoutError("the writer has not begun")
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Ends it."""
        self._stop.set()
        self._process.join(60)

    def watch(self, wait_s: float, meanwhile: Callable[[float], object] = time.sleep) -> float:
        """Does `meanwhile(wait_s)` and answers how many settles a second there were."""
        before, began = self._count.value, time.perf_counter()
        meanwhile(wait_s)
        return (self._count.value - before) / (time.perf_counter() - began)


def _write(path: Path, settles: int, count, stop, ready) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, RUF100
    """The process: begins a run, and commits a group of settles every `COMMIT_S`."""
    asyncio.run(_run(path, settles, count, stop, ready))


async def _run(path: Path, settles: int, count, stop, ready) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, RUF100
    with closing(sqlite3.connect(path, timeout=30)) as database:
        database.execute("PRAGMA synchronous = NORMAL")
        with database:
            database.execute(f"DELETE FROM {_table(Attempt)}")
        origins = len(database.execute("SELECT id FROM origin").fetchall())
        store = SqliteStore(path)
        await store.begin_run(_plan(names(origins)))
        run_id, session_id = database.execute("SELECT MAX(run_id), MAX(id) FROM session").fetchone()
        work = _settles(database, run_id, session_id)
        ready.set()
        began, made = time.perf_counter(), 0
        beat_at = began
        while not stop.is_set():
            await asyncio.sleep(COMMIT_S)
            owed = int((time.perf_counter() - began) * settles) - made
            with database:
                database.execute("BEGIN IMMEDIATE")
                change = database.execute("UPDATE meta SET value = value + 1 WHERE name = 'change' RETURNING value")
                number = change.fetchone()[0]
                for _ in range(owed):
                    work(number)
            made += owed
            count.value = made
            if time.perf_counter() >= beat_at:
                await store.heartbeat()
                beat_at += HEARTBEAT_S
    await store.end_run("interrupted", True)
    await asyncio.to_thread(store.close)


def _settles(database: sqlite3.Connection, run_id: int, session_id: int) -> Callable[[int], object]:
    """What stores one settle under a change number: an attempt, its origin with its counters, the exit counts."""
    chance = random.Random(7)
    pages = database.execute("SELECT p.origin_id, p.url_id, p.id, u.href FROM page p JOIN url u ON u.id = p.url_id")
    some = [row for number, row in enumerate(pages) if number % 97 == 0]
    chance.shuffle(some)

    def forever() -> Iterator[tuple[int, int, int, str]]:
        while True:
            yield from some

    turns = forever()

    def settle(change: int) -> None:
        origin_id, url_id, page_id, href = next(turns)
        now, code, took = time.time_ns() // 1_000_000, chance.choice(CODES), chance.randrange(20, 900)
        failed = int(code is not ExitCode.file_ingested)
        status, size = (200, chance.randrange(2_000, 90_000)) if not failed else (None, 0)
        database.execute(
            "INSERT INTO attempt (run_id, session_id, origin_id, url_id, page_id, kind, exit_code, http_status,"
            " started_at, ended_at, response_ms, bytes, requests, patience_before, patience_after, politeness_after,"
            " delay_ms_before, delay_ms_after, delay_reason, new_pages, problem, message)"
            " VALUES (?, ?, ?, ?, ?, 'page', ?, ?, ?, ?, ?, ?, 1, 5, 5, 2, 1000, 1000, 'default', 3, ?, '')",
            (run_id, session_id, origin_id, url_id, page_id, code.value, status, now - took, now, took, size, failed),
        )
        database.execute(
            "UPDATE origin SET change = ?, todo = MAX(todo - 1, 0), pending = pending + 2, done = done + 1,"
            " failed = failed + ?, requests = requests + 1, attempts = attempts + 1, bytes = bytes + ?, last_url = ?,"
            " last_exit_code = ?, last_http_status = ?, last_attempt_at = ?, last_response_ms = ?,"
            " next_request_at = ?, delay_ms = ?, delay_reason = 'default', patience = 5 - ?, in_flight_url = ''"
            " WHERE id = ?",
            (change, failed, size, href, code.value, status, now, took, now + DELAY_MS, DELAY_MS, failed, origin_id),
        )
        for counted in (origin_id, 0):
            database.execute(
                "INSERT INTO exit_count (run_id, origin_id, exit_code, count) VALUES (?, ?, ?, 1)"
                " ON CONFLICT (run_id, origin_id, exit_code) DO UPDATE SET count = count + 1",
                (run_id, counted, code.value),
            )

    return settle
