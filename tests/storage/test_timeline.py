"""The timeline of an origin as the database gives it: what the whole log says, of a bounded part of it, by index."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.storage.making import T0, A, B
from tui_crawler.domain.history.audit import judged
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.history.timeline import Lane, LaneEvents
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.reports import timeline as timelines
from tui_crawler.storage.reports.reports import Reports

CODES = (20, 20, 20, 49, 101, 44)
ORIGINS = {A: 1, B: 2}


def fill(path: Path, seed: int, attempts: int) -> int:
    """A log of two origins that take turns, of which some attempts are refusals, some robots.txt that leads to the
    other origin or is a fluke. Answers when it ended."""
    chance, at = random.Random(seed), T0
    with closing(sqlite3.connect(path)) as database, database:
        run = database.execute
        run("PRAGMA foreign_keys = OFF")
        run("INSERT INTO job (id, name) VALUES (1, 'main')")
        run("INSERT INTO run (id, job_id, started_at) VALUES (1, 1, ?)", (T0,))
        run("INSERT INTO session (id, worker, run_id) VALUES (1, 'w1', 1), (2, 'w2', 1)")
        run("INSERT INTO origin (id, origin) VALUES (1, ?), (2, ?)", (A, B))
        for number, name in enumerate((f"{A}/x", f"{B}/x", f"{A}/robots.txt", f"{B}/robots.txt"), 1):
            run("INSERT INTO url (id, hash, href) VALUES (?, ?, ?)", (number, number, name))
        for number in range(1, attempts + 1):
            of, what = chance.choice((1, 2)), chance.random()
            began, sent = at, []
            if what > 0.3:
                hops = [(of, 0), (3 - of, 0)] if what > 0.9 else [(of, 0), (of, 1)] if what > 0.8 else [(of, 0)]
                for to, fluke in hops:
                    sent.append((to + 2 if what > 0.9 else to, at, at + 80, fluke))
                    at += 80 if fluke else 90
            at += chance.choice((0, 400, 1_000, 5_000))
            robots = what > 0.9
            run(
                "INSERT INTO attempt (id, run_id, session_id, origin_id, url_id, kind, exit_code, started_at, ended_at,"
                " requests, patience_after, delay_ms_after, delay_reason)"
                " VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, 1 + number // 90, of, of + 2 * robots, "robots" if robots else "page", chance.choice(CODES),
                 began, sent[-1][2] if sent else at, len(sent), 5 - number // 60, chance.choice((400, 1_000)), "floor"),
            )  # fmt: skip
            for to, sent_at, ended_at, fluke in sent:
                run(
                    "INSERT INTO request (attempt_id, url_id, method, sent_at, ended_at, fluke_retry)"
                    " VALUES (?, ?, 'GET', ?, ?, ?)",
                    (number, to, sent_at, ended_at, fluke),
                )
    return at


@pytest.mark.parametrize("seed", range(6))
def test_a_span_has_what_the_whole_log_has_for_it(database_path: Path, seed: int):
    ended = fill(database_path, seed, 160)
    chance = random.Random(seed)
    with closing(Reports(database_path, now=lambda: ended)) as reports:
        log = list(reports.attempts_for_audit())
        for origin in (A, B):
            for _ in range(12):
                since = chance.randint(T0 - 5_000, ended)
                span = TimeSpan(since, since + chance.choice((1_000, 20_000, ended - T0)), chance.choice((1, 7, 80)))
                whole = Lane(origin, span, LaneEvents())
                for gap in judged(log):
                    if gap.request.origin == origin:
                        whole.add(gap)
                assert reports.timeline(origin, span) == whole.timeline(ended)
                assert reports.timelines((origin, "x"), span)[0] == whole.timeline(ended)


def test_of_more_than_can_be_read_the_newest_is(database_path: Path):
    ended = fill(database_path, 1, 160)
    span = TimeSpan(T0, ended, 40)
    with closing(Reports(database_path, now=lambda: ended)) as reports:
        whole = reports.timeline(A, span)
        part = reports.timeline(A, span, look=40)
    assert whole.read_since == 0
    assert T0 < part.read_since < ended
    first = span.cell(part.read_since) + 1
    assert part.cells[first:] == whole.cells[first:]
    assert part.audit.requests < whole.audit.requests


def test_an_origin_that_is_not_known_has_nothing(database_path: Path):
    with closing(Reports(database_path, now=lambda: T0)) as reports:
        timeline = reports.timeline(A, TimeSpan(T0, T0 + 1_000, 3))
    assert (timeline.audit.requests, timeline.marks, timeline.read_since) == (0, (), 0)
    assert ExitCode.rate_limited.value in CODES


@pytest.mark.parametrize("text", ["FROM_ID", "NEWEST", "WINDOW", "BEFORE", "AFTER", "OWN", "HOPS"])
def test_only_what_is_asked_for_is_read(database_path: Path, text: str):
    fill(database_path, 0, 10)
    query = getattr(timelines, text)
    with closing(sqlite3.connect(database_path)) as database:
        plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {query}", [1] * query.count("?"))]
    hops = "attempt_hops (id>? AND id<?)" if text == "HOPS" else "attempt_origin (origin_id=?"
    assert any(hops in step for step in plan), plan
    assert [
        step for step in plan if step.startswith("SCAN") and step.split()[1] in {"a", "r", "attempt", "request"}
    ] == []
