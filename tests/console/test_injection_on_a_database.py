"""Hostile text in every text column of a real database: read by the real reports, shown, never obeyed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CONFIG
from tests.cli.crawls import NEWS, OF_RULES
from tests.console.open_reports import OpenReports
from tests.console.poison import WORST, assert_clean
from tests.console.support import Stage, stage
from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, crawled, failed, fill_of, plan
from tui_crawler.console.failures.rows import GROUPINGS
from tui_crawler.console.jobs.queries import LEDGERS
from tui_crawler.domain.records.command import PauseOrigins
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.reports.sql import QueryRunner
from tui_crawler.storage.workers.journal import Journal

PAYLOAD = WORST[0] + "\u202e[@click=app.bell]x[/]" + "\u0301" * 9
DECIDING = frozenset({"state", "status", "robots_status", "schema_version", "key"})
"""Columns whose value decides what is read at all."""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Path]:
    """A crawl with pages, failures, an operator action, and hostile text in every column that holds text."""
    path = tmp_path / "crawl.db"
    open_writable(path, OpenSettings()).close()
    bench = DatabaseBench(path)
    store = bench.open()
    policies = PolicySet(exclusions=(OF_RULES,))
    await store.begin_run(plan(f"{A}/", jobs=(NEWS,), policies=policies, config_text=CONFIG))
    home = (await store.candidates(A, T0, 10, True)).pages[0]
    await store.fill(fill_of((home,)))
    await store.settle(crawled(home, T0 + 10, *(f"{A}/items/{n}" for n in range(4))))
    for number, page in enumerate((await store.candidates(A, T0, 3, False)).pages):
        await store.settle(failed(page, T0 + 20 + number, ExitCode.request_timeout))
    bench.close()
    with closing(Journal(path)) as journal:
        journal.send(PauseOrigins((A,)), "mara")
    yield path


def poisoned(value: str) -> str:
    """Text with the payload after it; in JSON, after every string of it."""
    try:
        found = json.loads(value)
    except ValueError:
        return value + PAYLOAD
    return json.dumps(_within(found)) if isinstance(found, dict | list) else value + PAYLOAD


def _within(value: Any) -> Any:
    match value:
        case str():
            return value + PAYLOAD
        case dict():
            return {name: _within(one) for name, one in value.items()}
        case list():
            return [_within(one) for one in value]
        case _:
            return value


def spoil(path: Path, change: Callable[[str], str]) -> int:
    """Changes every text of every column of every table; answers how many columns were reached."""
    reached = 0
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.create_function("spoilt", 1, lambda value: change(value).encode("utf-8", "replace").decode())
        tables = [name for (name,) in opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in tables:
            if table.startswith("sqlite_"):
                continue
            for row in opened.execute(f'PRAGMA table_info("{table}")').fetchall():
                column = row[1]
                if column in DECIDING:
                    continue
                where = f"typeof(\"{column}\") = 'text' AND \"{column}\" <> ''"
                try:
                    done = opened.execute(f'UPDATE "{table}" SET "{column}" = spoilt("{column}") WHERE {where}')
                except sqlite3.Error:
                    continue  # a constraint holds what may stand there
                reached += done.rowcount > 0
    return reached


async def tour(held: Stage) -> None:
    """Every view, with its windows and tabs."""
    assert_clean(held, PAYLOAD)
    for keys in (
        ("enter", "robots.view", "escape", "escape"),
        ("2", *("failures.group", "enter") * len(GROUPINGS), "tab", "enter"),
        ("url.tab_attempts", "url.tab_headers", "url.tab_links", "url.tab_body", "url.raw", "url.tab_why"),
        ("i", "escape", "3", "table.pivot", "escape", "4", "tab", "5", "7"),
        (*("stats.ledger" for _ in LEDGERS), "sql.open"),
    ):
        for key in keys:
            await held.press(key, rounds=1)
            assert_clean(held, PAYLOAD)
    screen = held.on_top
    for view in ("v_page", "v_origin", "v_attempt"):
        screen.console.do("sql.open", f"SELECT * FROM {view}")
        await held.worked("sql")
        assert_clean(held, PAYLOAD)
    await held.press("1", rounds=1)


async def test_no_text_of_any_column_is_obeyed(database: Path) -> None:
    assert spoil(database, poisoned) > 25
    reports: Any = OpenReports(database, now=lambda: T0 + 100)
    queries: Any = QueryRunner(database)
    async with stage((120, 30), reports=reports, queries=queries, readonly=True) as held:
        assert "\\x1b]52;c;x" in held.text()
        await tour(held)


async def test_a_text_that_is_no_text_is_a_trouble_told_in_plain_characters(database: Path) -> None:
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("UPDATE origin SET origin = CAST(? AS TEXT)", (b"http://\x1b]52;c;x\x07\x9b\xff",))
    reports: Any = OpenReports(database, now=lambda: T0 + 100)
    async with stage((120, 30), reports=reports, readonly=True) as held:
        await held.settle(3, move_ms=3_000)
        assert_clean(held, "bytes")
        assert held.app.is_running
