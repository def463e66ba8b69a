"""Real databases for commands: a run that has ended, with its origins, jobs, rules and pages."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.cli.conftest import CONFIG
from tests.storage.making import A, B, plan, seed
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.storage.store import SqliteStore

SEEDS = (f"{A}/", f"{A}/one", f"{A}/two", f"{B}/")
NEWS = JobPlan("news", (seed(f"{A}/news"),), concurrency=2, note="every \x1bmorning")
OF_RULES = Exclusion("pattern", "/members/", "they asked", "the society", "my.yaml:7")


def store_crawl(path: Path, *urls: str, **changes: Any) -> Path:
    """A database with a run of these seeds (else `SEEDS`) and the jobs main and news; nothing was crawled.

    Answers its path.
    """
    values: dict[str, Any] = {
        "jobs": (NEWS,),
        "policies": PolicySet(exclusions=(OF_RULES,)),
        "config_text": CONFIG,
        **changes,
    }

    async def begin() -> None:
        store = SqliteStore(path)
        await store.begin_run(plan(*(urls or SEEDS), **values))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(begin())
    return path


def claim_pages(path: Path, at: int) -> None:
    """Claims the pages of origin A as a worker would that has died, at an epoch time in ms."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "UPDATE page SET status = 2, claimed_at = ? WHERE origin_id = (SELECT id FROM origin WHERE origin = ?)",
            (at, A),
        )


def asked_of(path: Path) -> list[tuple[str, str, str]]:
    """What stands in the journal of operators: action, target, error."""
    with closing(sqlite3.connect(path)) as database:
        return list(database.execute("SELECT action, target, error FROM operator_action ORDER BY id"))
