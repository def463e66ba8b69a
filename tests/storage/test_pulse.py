"""The pulse: what is read of a span is what the log gives, by bounded queries; gauges; an older database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.storage.making import T0, A, B, crawled, failed, fill_of, plan
from tests.storage.test_query_plans import Told
from tests.storage.whole import assert_pulse
from tests.support.older_schema import make_older
from tui_crawler.domain.history.pulse import HOUR_MS, MINUTE_MS, Gauges, MarkKind, PulseOf, PulseScope, total
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.db.database import upgrade
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.drivers.driver import connection_of
from tui_crawler.storage.reports.pulse import MOST_LOGGED, MOST_PACED, PulseReports
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings

START = T0 - T0 % HOUR_MS


def over(step_ms: int, steps: int) -> TimeSpan:
    """A span from START on."""
    return TimeSpan(START, START + step_ms * steps, steps)


async def crawl(path: Path, pages: int = 12) -> None:
    """Pages of two origins, one every 20 s from START on; every third fails."""
    now = [START]
    store = SqliteStore(path, StoreSettings(now=lambda: now[0]))
    try:
        await store.begin_run(plan(*(f"{origin}/{n}" for n in range(pages // 2) for origin in (A, B))))
        number = 0
        for origin in (A, B):
            todo = (await store.candidates(origin, T0, 50, True)).pages
            await store.fill(fill_of(todo, origin))
            for page in todo:
                now[0] = at = START + 20_000 * number
                await store.settle(failed(page, at, ExitCode.request_timeout) if number % 3 == 2 else crawled(page, at))
                number += 1
                await store.heartbeat()
        await store.end_run("interrupted", True)
    finally:
        store.close()


def rows_of(path: Path, text: str) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(text).fetchall()


async def test_kept_counts_and_the_log_say_the_same(database_path):
    await crawl(database_path)
    with closing(Reports(database_path)) as reports:
        kept = reports.pulse(PulseOf(), over(MINUTE_MS, 10))
        logged = reports.pulse(PulseOf(), over(5_000, 120))
        of_a = reports.pulse(PulseOf(PulseScope.origin, A), over(MINUTE_MS, 10))
        of_b = reports.pulse(PulseOf(PulseScope.origin, B), over(MINUTE_MS, 10))
        hour = reports.pulse(PulseOf(), over(HOUR_MS, 3))
        main = reports.pulse(PulseOf(PulseScope.job, "main"), over(MINUTE_MS, 10))
        nobody = [
            reports.pulse(PulseOf(scope, "x"), over(MINUTE_MS, 10))
            for scope in PulseScope
            if scope is not PulseScope.crawl
        ]
    assert [one and one.attempts for one in kept.counts] == [3, 3, 3, 3, *[None] * 6]
    assert [one and one.failed for one in kept.counts[:4]] == [1, 1, 1, 1]
    assert total(kept.counts) == total(logged.counts) == total(hour.counts) == total(main.counts)
    assert total([*of_a.counts, *of_b.counts]) == total(kept.counts)
    assert not any(any(one.counts) for one in nobody)
    assert kept.begins_at == START
    assert not kept.sampled and not logged.sampled
    assert_pulse(lambda text: rows_of(database_path, text))


async def test_gauges_are_kept_once_a_minute_and_more_often_while_a_process_is_young(database_path):
    await crawl(database_path)
    with closing(Reports(database_path)) as reports:
        minutes = reports.pulse(PulseOf(), over(MINUTE_MS, 4)).gauges
        fine = reports.pulse(PulseOf(), over(5_000, 12)).gauges
        (hour,) = reports.pulse(PulseOf(), over(HOUR_MS, 1)).gauges
    assert all(isinstance(one, Gauges) for one in (*minutes, *fine[::4]))
    assert [one and (one.todo, one.pending) for one in minutes][:2] == [(3, 10), (0, 8)]
    assert [one and (one.todo, one.pending) for one in fine][::4] == [(5, 11), (4, 10), (3, 10)]
    assert hour is not None and (hour.crawling, hour.waiting, hour.paused) == (0, 2, 0)
    kept = "SELECT length, COUNT(*) FROM gauge GROUP BY 1 ORDER BY 1"
    assert rows_of(database_path, kept) == [(5_000, 12), (MINUTE_MS, 4), (HOUR_MS, 1)]


async def test_while_no_process_is_at_work_nothing_is_known(database_path):
    now = [START]
    for _ in range(2):
        store = SqliteStore(database_path, StoreSettings(now=lambda: now[0]))
        await store.begin_run(plan(f"{A}/"))
        for _ in range(4):
            await store.heartbeat()
            now[0] += 5_000
        await store.end_run("interrupted", True)
        store.close()
        now[0] += 20_000
    with closing(Reports(database_path)) as reports:
        known = [one is not None for one in reports.pulse(PulseOf(), over(5_000, 16)).gauges]
    assert known == [True] * 5 + [False] * 3 + [True] * 5 + [False] * 3


async def test_the_run_before_is_read_step_by_step_as_long_after_its_start(database_path):
    await crawl(database_path)
    begins, before = START + 10 * MINUTE_MS, START - 7 * MINUTE_MS
    with closing(sqlite3.connect(database_path)) as database, database:
        database.execute("UPDATE run SET started_at = ?", (begins,))
        database.execute(
            "INSERT INTO run (id, job_id, started_at, finished_at) VALUES (-1, 1, ?, ?)", (before, before + 90_000)
        )
        database.execute(
            "INSERT INTO pulse (length, at, session_id, job_id, attempts, cells) VALUES (60000, ?, 1, 1, 7, x'')",
            (before + MINUTE_MS,),
        )
    with closing(Reports(database_path)) as reports:
        seen = reports.pulse(PulseOf(), TimeSpan(begins, begins + 5 * MINUTE_MS, 5))
        later = reports.pulse(PulseOf(), TimeSpan(begins + MINUTE_MS, begins + 6 * MINUTE_MS, 5))
    earlier = seen.earlier
    assert earlier is not None and later.earlier is None
    assert (earlier.run_id, earlier.begins_at, earlier.ends_at) == (-1, before, before + 90_000)
    assert [one and one.attempts for one in earlier.counts] == [None, 7, None, None, None]


async def test_what_happened_is_marked(database_path):
    await crawl(database_path)
    with closing(sqlite3.connect(database_path)) as database, database:
        database.executemany(
            "INSERT INTO operator_action (at, who, action, target) VALUES (?, 'ann', ?, ?)",
            [(START + 2, "pause", A), (START + 3, "delay", B), (START + 4, "rules", "main")],
        )
        database.execute(
            "INSERT INTO activity (at, event, message) VALUES (?, 'ruleset_applied', 'version 2')", (START + 1,)
        )
    with closing(Reports(database_path)) as reports:
        marks = reports.pulse(PulseOf(), over(MINUTE_MS, 10)).marks
    assert [(mark.kind, mark.who) for mark in marks if mark.at < START + 1_000] == [
        (MarkKind.run_started, ""),
        (MarkKind.ruleset, ""),
        (MarkKind.pause, "ann"),
        (MarkKind.action, "ann"),
    ]
    assert marks[-1].kind is MarkKind.run_ended or marks[-1].at < START + 600_000


async def test_the_paces_of_all_origins_are_what_the_log_says(database_path):
    await crawl(database_path)
    with closing(Reports(database_path)) as reports:
        paces = reports.paces(over(MINUTE_MS, 5))
    assert paces == {
        A: [(3, 1), (3, 1), (0, 0), (0, 0), (0, 0)],
        B: [(0, 0), (0, 0), (3, 1), (3, 1), (0, 0)],
    }


def test_of_a_long_log_the_paces_are_those_of_a_sample(database_path):
    many = 5 * MOST_PACED
    fill_log(database_path, many)
    with closing(Told(database_path)) as reader:
        paces = PulseReports(reader).paces(over(MINUTE_MS, many // 600 + 1))
    assert sum(number for number, _ in paces[A]) == pytest.approx(many * 3 // 4, rel=0.02)
    assert sum(failed for _, failed in paces[A]) == pytest.approx(many * 3 // 40, rel=0.4)


def fill_log(path: Path, attempts: int) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        run = database.execute
        run("PRAGMA foreign_keys = OFF")
        run("INSERT INTO job (id, name) VALUES (1, 'main')")
        run("INSERT INTO run (id, job_id) VALUES (1, 1)")
        run("INSERT INTO session (id, worker) VALUES (1, 'w1')")
        run("INSERT INTO origin (id, origin) VALUES (1, ?), (2, ?)", (A, B))
        run("INSERT INTO url (id, hash, href) VALUES (1, 1, 'https://a.example/')")
        database.executemany(
            "INSERT INTO attempt (id, run_id, session_id, origin_id, url_id, kind, exit_code, ended_at, response_ms,"
            " bytes, requests) VALUES (?, 1, 1, ?, 1, 'page', ?, ?, 100, 10, 1)",
            [
                (n, 1 + (n % 4 == 0), 101 if n * 7919 % 101 < 10 else 20, START + 100 * n)
                for n in range(1, attempts + 1)
            ],
        )


@pytest.mark.parametrize("of", [PulseOf(), PulseOf(PulseScope.origin, A)], ids=["crawl", "origin"])
def test_of_a_long_log_some_attempts_stand_for_all(database_path, of):
    many = 5 * MOST_LOGGED
    fill_log(database_path, many)
    with closing(Told(database_path)) as reader:
        seen = PulseReports(reader).pulse(of, over(1_000, many // 10) if of.name == "" else over(MINUTE_MS, 26))
        asked = reader.texts
    whole = total(seen.counts)
    expected = many if of.name == "" else many * 3 // 4
    assert seen.sampled
    assert whole.attempts == pytest.approx(expected, rel=0.02)
    assert whole.bytes == pytest.approx(10 * expected, rel=0.02)
    assert whole.failed == pytest.approx(expected // 10, rel=0.4)
    assert len(asked) < 70  # the bisections of both ends


def test_no_query_reads_a_table_through(database_path):
    fill_log(database_path, 50)
    with closing(Told(database_path)) as reader:
        for of in (
            PulseOf(),
            PulseOf(PulseScope.origin, A),
            PulseOf(PulseScope.job, "main"),
            PulseOf(PulseScope.worker, "w1"),
        ):
            for step in (1_000, MINUTE_MS, HOUR_MS):
                PulseReports(reader).pulse(of, over(step, 20))
        texts = dict.fromkeys(reader.texts)
    with closing(Told(database_path)) as reader:
        for text in texts:
            plan_of = connection_of(reader._database).execute(f"EXPLAIN QUERY PLAN {text}", [1] * text.count("?"))
            steps = [row[3] for row in plan_of]
            newest = text.endswith("WHERE 1 = 1 ORDER BY a.id DESC LIMIT 1")
            assert newest or not [one for one in steps if one.startswith("SCAN ") and one.split()[1] not in _SMALL], (
                text,
                steps,
            )


_SMALL = {"place", "chosen", "session", "run", "CONSTANT", "2"}


async def test_an_older_database_is_counted_by_its_log(database_path):
    await crawl(database_path)
    make_older(database_path)
    assert upgrade(database_path) is not None
    assert_pulse(lambda text: rows_of(database_path, text))
    assert rows_of(database_path, "SELECT COUNT(*) FROM pulse WHERE length = 60000") == [(4,)]


async def test_of_a_long_older_log_the_newest_attempts_are_counted_and_that_is_told(database_path):
    await crawl(database_path)
    make_older(database_path)
    folder = Path(__file__).parents[2] / "tui_crawler/storage/migrations"
    text = (folder / "0013_pulse.py").read_text(encoding="utf-8")
    short = database_path.parent / "migrations"
    short.mkdir()
    for file in folder.glob("[0-9]*_*.py"):
        (short / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    (short / "0013_pulse.py").write_text(text.replace("MOST = 500_000", "MOST = 5"), encoding="utf-8")
    assert upgrade(database_path, OpenSettings(migrations=short)) is not None
    assert rows_of(database_path, "SELECT SUM(attempts) FROM pulse WHERE length = 3600000") == [(5,)]
    assert rows_of(database_path, "SELECT message FROM activity WHERE message LIKE 'charts%'") == [
        ("charts begin with the newest 5 attempts of 12",)
    ]


def test_where_there_are_too_many_minutes_steps_are_hours(database_path, monkeypatch):
    hour = START - START % HOUR_MS
    with closing(sqlite3.connect(database_path)) as database, database:
        minutes = [(MINUTE_MS, hour + MINUTE_MS * n, 1, 1, 10) for n in range(6)]
        row = "INSERT INTO pulse (length, at, session_id, job_id, attempts, cells) VALUES (?, ?, ?, ?, ?, x'')"
        database.executemany(row, [*minutes, (HOUR_MS, hour, 1, 1, 60)])
    for most, step, steps in ((7, MINUTE_MS, 6), (6, HOUR_MS, 1)):
        monkeypatch.setattr("tui_crawler.storage.reports.pulse.MOST_ROWS", most)
        with closing(Told(database_path)) as reader:
            seen = PulseReports(reader).pulse(PulseOf(), over(MINUTE_MS, 30))
        counted = [one.attempts for one in seen.counts if one is not None]
        assert (seen.step_ms, len(counted), sum(counted)) == (step, steps, 60)
