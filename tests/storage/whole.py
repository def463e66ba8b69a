"""K1 and K4: whether a database is whole, and whether its counters are what counting would give."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

from tui_crawler.domain.history.pulse import KEPT_MS, PulseCount, unpacked
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, ExitCode, is_problem
from tui_crawler.storage.db.database import check_integrity, connect_readonly
from tui_crawler.storage.drivers.driver import execute

_PENDING = "status IN (0, 2) AND attempts_remaining > 0 AND beyond_depth = 0"
_BLOCKED = f"last_exit_code IN ({', '.join(str(int(code)) for code in BLOCKED)})"
_FAILED = f"last_exit_code IN ({', '.join(str(int(code)) for code in FAILURES)})"
_DONE = (
    f"last_exit_code IS NOT NULL AND NOT {_BLOCKED} AND NOT {_FAILED}"
    " AND NOT (status IN (0, 2) AND attempts_remaining > 0) AND external <> 2"
)
_COUNTERS = {"pending": _PENDING, "done": _DONE, "failed": _FAILED, "blocked": _BLOCKED}


def assert_whole(place: DatabasePlace) -> None:
    """Raises AssertionError for a database that is broken, holds half an attempt, or has counted wrongly."""
    assert check_integrity(place).problems == ()
    with closing(connect_readonly(place)) as database:
        assert_counted(lambda text: execute(database, text).fetchall())


def assert_counted(rows: Callable[[str], list[Any]]) -> None:
    """Raises AssertionError where a kept counter is not what counting gives, or an attempt is half stored.

    `rows` gives the rows of a query.
    """
    for name, condition in _COUNTERS.items():
        for owner in ("origin", "job"):
            wrong = rows(
                f"SELECT o.id, o.{name}, n FROM {owner} o LEFT JOIN (SELECT {owner}_id,"
                f" COUNT(*) FILTER (WHERE {condition}) AS n FROM page GROUP BY {owner}_id) c"
                f" ON {owner}_id = o.id WHERE o.{name} <> COALESCE(n, 0)"
            )
            assert wrong == [], f"{owner}.{name}: {wrong}"
    for text in _NONE_OF:
        assert rows(text) == [], text
    assert_pulse(rows)


def assert_pulse(rows: Callable[[str], list[Any]]) -> None:
    """Raises AssertionError where the pulse of minutes or hours is not what counting the log gives."""
    last = {attempt_id: times for attempt_id, *times in rows(_TIMES)}
    logged: dict[tuple[int, int, int, int], PulseCount] = {}
    for attempt_id, at, session, job, kind, code, requests, size, response_ms in rows(_LOGGED):
        problem = is_problem(ExitCode(code), kind)
        for length in KEPT_MS:
            one = logged.setdefault((length, at - at % length, session, job), PulseCount())
            one.add(response_ms, page=kind == "page" and requests > 0, code=code if problem else None, size=size)
            if requests:
                one.add_phases(*last[attempt_id])
    kept = {tuple(row[:4]): PulseCount(*row[4:8], unpacked(row[8])) for row in rows("SELECT * FROM pulse")}
    assert kept == logged


_TIMES = "SELECT attempt_id, sent_at, head_at, ended_at, dns_ms, connect_ms, tls_ms FROM request ORDER BY id"
_LOGGED = """SELECT a.id, a.ended_at, a.session_id, COALESCE(p.job_id, r.job_id), a.kind, a.exit_code, a.requests,
    a.bytes, a.response_ms FROM attempt a JOIN run r ON r.id = a.run_id LEFT JOIN page p ON p.id = a.page_id"""


_NONE_OF = (
    # counters of origins
    """SELECT o.id, o.todo FROM origin o WHERE o.todo <>
        (SELECT COUNT(*) FROM page p WHERE p.origin_id = o.id AND p.todo_order > 0)""",
    """SELECT o.id, o.pages_known FROM origin o WHERE o.pages_known <>
        (SELECT COUNT(*) FROM page p WHERE p.origin_id = o.id)""",
    """SELECT o.id, o.attempts FROM origin o WHERE o.attempts <>
        (SELECT COUNT(*) FROM attempt a WHERE a.origin_id = o.id)""",
    """SELECT o.id, o.requests FROM origin o WHERE o.requests <>
        (SELECT COALESCE(SUM(a.requests), 0) FROM attempt a WHERE a.origin_id = o.id)""",
    "SELECT id FROM run r WHERE r.attempts <> (SELECT COUNT(*) FROM attempt a WHERE a.run_id = r.id)",
    "SELECT id FROM run r WHERE r.requests <> (SELECT COUNT(*) FROM attempt a"
    " WHERE a.run_id = r.id AND a.requests > 0)",
    """SELECT exit_code FROM exit_count c WHERE c.origin_id = 0 AND c.count <>
        (SELECT COUNT(*) FROM attempt a WHERE a.run_id = c.run_id AND a.exit_code = c.exit_code)""",
    # no half attempt
    "SELECT id FROM attempt a WHERE a.requests <> (SELECT COUNT(*) FROM request r WHERE r.attempt_id = a.id)",
    """SELECT p.id FROM page p WHERE p.last_exit_code IS NOT NULL AND NOT EXISTS
        (SELECT 1 FROM attempt a WHERE a.id = p.last_attempt_id AND a.page_id = p.id)""",
    """SELECT p.id FROM page p WHERE p.last_exit_code = 20 AND external = 0 AND NOT EXISTS
        (SELECT 1 FROM document d WHERE d.page_id = p.id AND d.stored_at = p.last_crawled_at)""",
    """SELECT a.id FROM attempt a WHERE a.new_pages >
        (SELECT COUNT(*) FROM page p WHERE p.created_at = a.ended_at)""",
    # bodies: none too many
    """SELECT sha256 FROM body b WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.sha256 = b.sha256)
        AND NOT EXISTS (SELECT 1 FROM former_page f WHERE f.sha256 = b.sha256)""",
    # what is stashed has a name and is on no todo list
    "SELECT id FROM page WHERE status = 4 AND (stash = '' OR todo_order > 0)",
    # a page on the todo list is to be crawled
    "SELECT id FROM page WHERE todo_order > 0 AND status NOT IN (0, 2)",
    "SELECT id FROM page p WHERE (p.failed = 1) <> (COALESCE(p.last_exit_code, 0) IN ("
    + ", ".join(str(int(code)) for code in FAILURES)
    + "))",
)
