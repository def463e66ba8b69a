"""What the charts of a large crawl cost: `python -m benchmarks.pulse [--folder KEPT] [--attempts N] [--workers 4]`.

Makes a database whose counts are those of so many attempts (ten million) in a month, by minute and hour, of two jobs
and some workers, and whose log has 600,000 attempts of one origin among as many of another one (kept in --folder, so
that the next time is quick). Then every span is read of the whole crawl, a job, a worker, that origin and the wall:
first over a connection just opened, then again. Processor time is told (files are in memory): other work does not show
in it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.storage.making import plan
from tui_crawler.domain.history.pulse import (
    HOUR_MS,
    KEPT_MS,
    MINUTE_MS,
    SPANS_MS,
    PulseCount,
    PulseOf,
    PulseScope,
    packed,
    pulse_span,
)
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore
from tui_crawler.text.format import coarse

MONTH_MS, JOBS, LOGGED, AGAIN = 30 * 24 * HOUR_MS, 2, 600_000, 7
ORIGIN, OTHER = "https://site0000.example", "https://site0001.example"


def make(path: Path, attempts: int, workers: int) -> None:
    """The database, unless it is there."""
    if path.exists():
        return
    making = path.with_suffix(".making")
    making.unlink(missing_ok=True)
    asyncio.run(_begin_and_end(making))
    now = time.time_ns() // 1_000_000
    with closing(sqlite3.connect(making)) as database:
        database.execute("PRAGMA synchronous = OFF")
        with database:
            sessions = [1]
            for number in range(2, workers + 1):
                copied = "INSERT INTO session SELECT ?, {} FROM session WHERE id = 1"
                names = [row[1] for row in database.execute("PRAGMA table_info(session)") if row[1] != "id"]
                values = ", ".join("'worker-2'" if name == "worker" else f'"{name}"' for name in names)
                database.execute(copied.format(values), (number,))
                sessions.append(number)
            row = f"INSERT OR REPLACE INTO pulse VALUES ({', '.join('?' * 9)})"
            database.executemany(row, _counts(now, attempts, sessions))
            _log(database, now)
        database.execute("ANALYZE")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    making.rename(path)


async def _begin_and_end(path: Path) -> None:
    store = SqliteStore(path)
    await store.begin_run(plan(f"{ORIGIN}/", f"{OTHER}/"))
    await store.end_run("interrupted", True)
    await asyncio.to_thread(store.close)


def _counts(now: int, attempts: int, sessions: list[int]) -> Iterator[tuple[object, ...]]:
    """Rows of minutes and hours: each worker has its share of each job in each."""
    rng = random.Random(7)
    samples = [_count(rng, max(1, attempts * MINUTE_MS // MONTH_MS // JOBS // len(sessions))) for _ in range(50)]
    for length in KEPT_MS:
        for at in range((now - MONTH_MS) // length * length, now, length):
            for session in sessions:
                for job in range(1, JOBS + 1):
                    one = PulseCount()
                    one.merge(rng.choice(samples), length / MINUTE_MS)
                    yield length, at, session, job, one.attempts, one.pages, one.failed, one.bytes, packed(one.cells)


def _count(rng: random.Random, attempts: int) -> PulseCount:
    """A minute of a worker."""
    count = PulseCount()
    for _ in range(attempts):
        failed = ExitCode.request_timeout.value if rng.random() < 0.03 else None
        count.add(round(rng.lognormvariate(5, 1)), page=True, code=failed, size=20_000)
        for phase in range(1, 5):
            one = PulseCount()
            one.add(round(rng.lognormvariate(3, 1)), page=False, code=None, size=0)
            count.cells |= {128 * phase + cell: number for cell, number in one.cells.items()}
    return count


def _log(database: sqlite3.Connection, now: int) -> None:
    """As many attempts of the origin as of another one, in turn, at last ten a second."""
    run, session = database.execute("SELECT r.id, s.id FROM run r, session s LIMIT 1").fetchone()
    homes = [
        database.execute("SELECT id FROM origin WHERE origin = ?", (name,)).fetchone()[0] for name in (ORIGIN, OTHER)
    ]
    url = database.execute("SELECT MIN(id) FROM url").fetchone()[0]
    rng = random.Random(3)
    attempt = """INSERT INTO attempt (id, run_id, session_id, origin_id, url_id, kind, exit_code, http_status,
        started_at, ended_at, response_ms, bytes, requests) VALUES (?, ?, ?, ?, ?, 'page', ?, 200, ?, ?, ?, 20000, 1)"""
    request = """INSERT INTO request (id, attempt_id, url_id, method, sent_at, head_at, ended_at, dns_ms, connect_ms)
        VALUES (?, ?, ?, 'GET', ?, ?, ?, 3, 20)"""
    number = 2 * LOGGED
    ends = [now - 100 * (number - place) for place in range(number)]
    took = [round(rng.lognormvariate(5, 1)) for _ in range(number)]
    code = ExitCode.file_ingested.value
    database.executemany(
        attempt,
        (
            (place + 1, run, session, homes[place % 2], url, code, ends[place] - took[place], ends[place], took[place])
            for place in range(number)
        ),
    )
    database.executemany(
        request,
        (
            (place + 1, place + 1, url, ends[place] - took[place], ends[place] - took[place] // 3, ends[place])
            for place in range(number)
        ),
    )


def show(path: Path) -> None:
    """Reads every span, and prints what it took."""
    with closing(sqlite3.connect(path)) as database:
        job = database.execute("SELECT name FROM job LIMIT 1").fetchone()[0]
        worker = database.execute("SELECT worker FROM session LIMIT 1").fetchone()[0]
        counted = database.execute("SELECT SUM(attempts), COUNT(*) FROM pulse WHERE length = ?", (HOUR_MS,)).fetchone()
        minutes = database.execute("SELECT COUNT(*) FROM pulse WHERE length = ?", (MINUTE_MS,)).fetchone()
    print(
        f"{counted[0]:,} attempts in {counted[1]:,} rows of hours, {minutes[0]:,} of minutes; "
        f"{path.stat().st_size / 2**20:.0f} MiB"
    )
    print(f"{'CPU ms: first, again':16}" + "".join(f"{coarse(span):>14}" for span in SPANS_MS))
    for of in (
        PulseOf(),
        PulseOf(PulseScope.job, job),
        PulseOf(PulseScope.worker, worker),
        PulseOf(PulseScope.origin, ORIGIN),
        None,
    ):
        print(
            f"{'wall' if of is None else of.scope.name:16}"
            + "".join(f"{_read(path, of, span):>14}" for span in SPANS_MS),
            flush=True,
        )


def _read(path: Path, of: PulseOf | None, span: int) -> str:
    """The time of a pulse; None: of the paces of all origins."""
    now = time.time_ns() // 1_000_000
    reports = Reports(path)
    took = []
    for _ in range(1 + AGAIN):
        began = time.thread_time()
        if of is None:
            reports.paces(TimeSpan.covering(span, now, 60))
        else:
            reports.pulse(of, pulse_span(of, span, now))
        took.append((time.thread_time() - began) * 1_000)
    reports.close()
    return f"{took[0]:.0f} {statistics.median(took[1:]):.0f}"


def main() -> None:
    """Makes, reads, prints."""
    parser = argparse.ArgumentParser(description="What the charts of a large crawl cost.")
    parser.add_argument("--folder", type=Path, help="keeps the database here for the next time")
    parser.add_argument("--attempts", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=4)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (chosen.folder or Path(folder)) / f"pulse-{chosen.attempts}-{chosen.workers}.db"
        make(path, chosen.attempts, chosen.workers)
        show(path)


if __name__ == "__main__":
    main()
