"""Windows of the log that look at a bounded number of rows: what they find, how far they look, by which index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui_crawler.domain.records.exit_code import ExitCode, is_problem
from tui_crawler.domain.records.view import AttemptView, LogReach, LogTerms
from tui_crawler.storage.drivers.driver import connection_of
from tui_crawler.storage.reports.reports import Reports

A, B = "https://a.example", "https://b.example"
TITLES = ("", "Über uns", "100 % plain*[x]?", "ΟΔΟΣ", "Ünder_score")
CODES = (20, 44, 101, 50, 20, 34, 203, 777)
EVENTS = (
    ("origin_joined", "seed"),
    ("origin_finished", "patience"),
    ("origin_finished", "exhausted"),
    ("job_aborted", "x"),
)
ROWS = 60


def fill(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        run = database.execute
        run("PRAGMA foreign_keys = OFF")
        run("INSERT INTO job (id, name) VALUES (1, 'main')")
        run("INSERT INTO run (id, job_id) VALUES (1, 1)")
        run("INSERT INTO session (id, worker) VALUES (1, 'w1')")
        for number, name in ((1, A), (2, B)):
            run("INSERT INTO origin (id, origin) VALUES (?, ?)", (number, name))
        for number in range(1, ROWS + 1):
            code, title = CODES[number % len(CODES)], TITLES[number % len(TITLES)]
            known = code in {one.value for one in ExitCode}
            status = {101: None, 44: 404}.get(code, 200)
            problem = known and is_problem(ExitCode(code), "page")
            run("INSERT INTO url (id, hash, href) VALUES (?, ?, ?)", (number, number, f"{A}/Page-{number}"))
            if title:
                run("INSERT INTO document (page_id, title) VALUES (?, ?)", (number, title))
            run(
                "INSERT INTO attempt (id, run_id, session_id, origin_id, url_id, page_id, kind, exit_code, http_status,"
                " ended_at, problem, message) VALUES (?, 1, 1, ?, ?, ?, 'page', ?, ?, ?, ?, ?)",
                (
                    3 * number, 1 + number % 2, number, number, code, status,
                    1_000 + number, problem, "Slow % answer" if code == 101 else "",
                ),
            )  # fmt: skip
            event, message = EVENTS[number % len(EVENTS)]
            run(
                "INSERT INTO activity (id, at, origin_id, event, message) VALUES (?, ?, ?, ?, ?)",
                (number, 1_000 + number, number % 3, event, message),
            )


@pytest.fixture(scope="module")
def log(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reports]:
    path = tmp_path_factory.mktemp("log") / "crawl.db"
    path.write_bytes(template.read_bytes())
    fill(path)
    reports = Reports(path)
    yield reports
    reports.close()


def has(view: AttemptView, text: str) -> bool:
    words = (
        view.exit_code,
        view.url,
        view.kind,
        view.message,
        view.decided_by,
        view.title,
        str(view.http_status or ""),
    )
    return any(text in word.lower() for word in words)


TEXTS = (
    "", "page-1", "slow % a", "%", "_", "*[x]?", "404", "4", "777", "timeout", "not_found", "über", "ünder", "οδο",
    "page\n", "nowhere", "ß", "x" * 2_000, "ü" * 2_000, "-", "skipped_by",
)  # fmt: skip
TERMS = st.builds(
    LogTerms,
    origin=st.sampled_from(["", A, B, "https://nowhere.example"]),
    problems=st.booleans(),
    exits=st.sampled_from(
        [frozenset(), frozenset({"server_internal_error"}), frozenset({"file_not_found", "redirect"})]
    ),
    text=st.sampled_from(TEXTS),
)
REACHES = st.builds(
    LogReach,
    edge=st.integers(0, 3 * ROWS + 5),
    limit=st.integers(1, 12),
    look=st.integers(1, 80),
    oldest_first=st.booleans(),
)


@given(terms=TERMS, reach=REACHES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_attempts_that_are_meant_among_those_looked_at(log: Reports, terms: LogTerms, reach: LogReach) -> None:
    every = log.attempts(limit=ROWS)[:: -1 if reach.oldest_first else 1]
    way = [
        view
        for view in every
        if terms.origin in {"", view.origin}
        and (view.exit_code in {"file_not_found", "request_timeout", "server_internal_error"} or not terms.problems)
        and (not reach.edge or (view.attempt_id > reach.edge if reach.oldest_first else view.attempt_id < reach.edge))
    ]
    looked = way[: reach.look]
    meant = [one for one in looked if (not terms.exits or one.exit_code in terms.exits) and has(one, terms.text)]
    stretch = log.attempt_stretch(terms, reach)
    assert list(stretch.found) == meant[: reach.limit]
    assert stretch.looked_at == len(looked)
    if not looked:
        assert stretch.ended
        assert stretch.first_id == stretch.last_id == 0
        return
    full = len(meant) >= reach.limit
    last = meant[reach.limit - 1] if full else looked[-1]
    assert (stretch.first_id, stretch.last_id, stretch.last_at) == (
        looked[0].attempt_id,
        last.attempt_id,
        last.ended_at,
    )
    assert stretch.ended == (not full and len(way) < reach.look)


@pytest.mark.parametrize("oldest_first", [True, False])
@pytest.mark.parametrize("events", [None, (), (("job_aborted", ""), ("origin_finished", "patience"))])
@pytest.mark.parametrize("origin", ["", A])
def test_activity_that_is_meant(
    log: Reports, origin: str, events: tuple[tuple[str, str], ...] | None, oldest_first: bool
) -> None:
    way = [one for one in log.activity(ROWS)[:: -1 if oldest_first else 1] if origin in {"", one.origin}][:30]
    meant = [one for one in way if events is None or (one.event, "") in events or (one.event, one.message) in events]
    stretch = log.activity_stretch(LogTerms(origin, events=events), LogReach(0, 20, 30, oldest_first))
    assert list(stretch.found) == meant[:20]
    last = meant[19] if len(meant) >= 20 else way[-1]
    assert (stretch.first_id, stretch.last_id, stretch.last_at) == (way[0].activity_id, last.activity_id, last.at)


def test_windows_one_after_the_other_reach_everything_once(log: Reports) -> None:
    found, edge = [], 0
    for _ in range(100):
        stretch = log.attempt_stretch(LogTerms(text="page-"), LogReach(edge, 4, 7))
        found += [one.attempt_id for one in stretch.found]
        if stretch.ended:
            break
        edge = stretch.last_id
    assert found == [3 * number for number in range(ROWS, 0, -1)]


@dataclass(frozen=True)
class Way:
    """How a table is to be read for what is asked."""

    terms: LogTerms
    index: str


WAYS = (
    Way(LogTerms(text="x"), "a USING INTEGER PRIMARY KEY"),
    Way(LogTerms(problems=True, exits=frozenset({"rate_limited"}), text="x"), "a USING INDEX attempt_problem"),
    Way(LogTerms(A, text="x"), "a USING INDEX attempt_origin"),
    Way(LogTerms(A, problems=True), "a USING INDEX attempt_problem_origin"),
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.index.rpartition(" ")[2])
@pytest.mark.parametrize("oldest_first", [True, False])
def test_no_statement_reads_more_than_it_may_or_sorts_what_it_found(log: Reports, way: Way, oldest_first: bool) -> None:
    connection = connection_of(log._reader._database)
    said: list[str] = []
    connection.set_trace_callback(said.append)
    try:
        log.attempt_stretch(way.terms, LogReach(90, 1, 20, oldest_first))
        log.activity_stretch(LogTerms(way.terms.origin, events=EVENTS), LogReach(30, 1, 20, oldest_first))
    finally:
        connection.set_trace_callback(None)
    queries = [one for one in said if one.startswith("SELECT")]
    assert len(queries) >= 4
    for query in queries:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
        assert not [step for step in plan if step.startswith("SCAN ") and step != "SCAN w"], query
        assert not [step for step in plan if "TEMP B-TREE" in step], query
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {queries[1]}")]
    assert any(way.index in step for step in steps), steps
