"""The workers of a real database: two that crawl, one of which is found dead."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.console.open_reports import OpenReports
from tests.console.support import stage
from tests.storage.making import plan
from tui_crawler.storage.db.owner import this_process
from tui_crawler.storage.store import SqliteStore, StoreSettings


async def test_two_workers_and_how_one_was_found_dead(tmp_path: Path) -> None:
    path, mine = tmp_path / "crawl.db", this_process()
    gone = replace(mine, started_ms=mine.started_ms - 5_000)
    with ExitStack() as opened:
        first = opened.enter_context(closing(SqliteStore(path)))
        second = opened.enter_context(closing(SqliteStore(path, StoreSettings(owner=gone))))
        peers, _ = (store.peers(2, str) for store in (first, second))
        await first.begin_run(replace(plan(), workers=2, worker="north"))
        await second.begin_run(replace(plan(), workers=2, worker="south", joins=True))
        reports: Any = OpenReports(path)
        async with stage((200, 40), reports=reports, readonly=True, keys="8") as held:
            held.sees("Workers · 2 at work", "▶ crawling  north")
            await peers.take_origins()
            await held.settle(3, move_ms=1_100)
            assert "Workers · 1 at work" in held.text()
            table = held.table("#workers")
            states = {table.fields_of(row)["worker"]: table.fields_of(row) for row in table.shown_rows()}
            assert states["south"]["state"] == "✗ lost"
            assert states["south"]["end"] == f"found dead by {mine.describe()}"
            assert int(states["north"]["origins"]) > 0
