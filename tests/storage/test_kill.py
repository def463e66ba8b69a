"""SIGKILL while settles are being written, at any moment: the database is whole, nothing told as stored is gone."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.storage.whole import assert_whole

ROOT = Path(__file__).parents[2]
VICTIM = """
import asyncio, sys
from pathlib import Path
from tests.storage.making import A, B, T0, crawled, fill_of, plan
from tui_crawler.storage.store import SqliteStore

async def crawl(store, origin, start):
    number = 100
    todo = list(next((one.todo for one in start.origins if one.record.origin == origin), ()))
    for step in range(10_000):
        if not todo:
            todo = list((await store.candidates(origin, T0, 20, step == 0)).pages)
            await store.fill(fill_of(tuple(todo), origin))
        page = todo.pop(0)
        store.mark_in_flight(page.page_id, origin, page.url)
        links = [f"{origin}/{n}" for n in (*range(30), *range(number, number + 30))]
        number += 30
        await store.settle(crawled(page, T0 + number, *links))
        print(page.url, flush=True)

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    start = await store.begin_run(plan(f"{A}/", f"{B}/"))
    print("begun", start.continued, start.unclean, flush=True)
    await asyncio.gather(*(crawl(store, origin, start) for origin in (A, B)))

asyncio.run(main())
"""


def crawl_and_kill(path: Path, settles: int, more_ms: float) -> tuple[str, list[str]]:
    """Starts a crawl and kills it a moment after so many settles; answers its first line and the settled pages."""
    command = [sys.executable, "-c", VICTIM, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        begun = process.stdout.readline().strip()
        told = [process.stdout.readline().strip() for _ in range(settles)]
        killer = threading.Timer(more_ms / 1000, process.kill)
        killer.start()
        told += [line.strip() for line in process.stdout if line.endswith("\n")]
        killer.join()
    return begun, [line for line in told if line]


@pytest.mark.parametrize("number", range(2))
def test_killed_at_random_moments_and_continued(tmp_path, number):
    dice = random.Random(number)
    path = tmp_path / "crawl.db"
    told: list[str] = []
    for turn in range(3):
        begun, pages = crawl_and_kill(path, dice.randrange(1, 25), dice.uniform(0, 30))
        assert begun == ("begun False False" if turn == 0 else "begun True True")
        told += pages
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        stored = [row[0] for row in database.execute("SELECT url FROM v_attempt ORDER BY attempt_id")]
        links = dict(database.execute("SELECT from_page_id, COUNT(*) FROM link GROUP BY from_page_id"))
        crawled = [row[0] for row in database.execute("SELECT id FROM page WHERE last_exit_code = 20")]
        database.close()
        assert len(set(stored)) == len(stored)  # K3: nothing twice
        assert set(told) <= set(stored)  # K2: what was told is there
        assert all(links[page_id] == 60 for page_id in crawled)  # K4: no half attempt
        assert_whole(path)  # K1
    assert len(told) >= 3
