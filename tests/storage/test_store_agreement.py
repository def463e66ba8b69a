"""Random programs against both stores: whatever happens, they answer alike, and SQLite's counters are right."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.storage.bench import DatabaseBench, MemoryBench
from tests.storage.making import WEEK, A, B, crawled, failed, fill_of, new_page, plan, record, refusal, seed
from tests.storage.whole import assert_whole
from tui_crawler.domain.records.attempt import FillRecord, RedirectRecord, RedirectSource, Settle
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import retrying

_ORIGINS = (A, B)
_FAILURES = (
    (ExitCode.request_timeout, None),
    (ExitCode.file_not_found, 404),
    (ExitCode.server_internal_error, 503),
    (ExitCode.did_not_understand_answer, 200),
    (ExitCode.cancelled, None),
    (ExitCode.someone_stole_my_work, None),
    (ExitCode.file_did_not_change, 304),
)


class Pair:
    """Two stores that are told the same, by one engine that knows its todo lists."""

    def __init__(self, path: Path, dice: random.Random) -> None:
        self.benches = (MemoryBench(), DatabaseBench(path))
        self.stores: tuple[Any, ...] = ()
        self.dice = dice
        self.todo: dict[str, list[TodoPage]] = {origin: [] for origin in _ORIGINS}

    def tick(self) -> int:
        """Time passes, sometimes for weeks."""
        step = self.dice.choice((1, 50, 1_000, 60_000, WEEK, 4 * WEEK))
        for bench in self.benches:
            bench.now += step
        return self.benches[0].now

    async def both(self, name: str, *arguments: Any) -> Any:
        """Calls both stores; answers what both answered."""
        answers = [await getattr(store, name)(*arguments) for store in self.stores]
        assert _plain(answers[0]) == _plain(answers[1]), (name, arguments, answers)
        return answers[0]

    def some_url(self) -> str:
        return f"{self.dice.choice(_ORIGINS)}/{self.dice.randrange(12)}"

    async def start(self) -> None:
        """A start after whatever end: killed, interrupted, finished."""
        if self.stores:
            match self.dice.randrange(3):
                case 0:
                    for bench in self.benches:
                        bench.crash()
                case 1:
                    await self.both("end_run", "interrupted", True)
                case _:
                    await self.both("end_run", "exhausted", self.dice.random() < 0.8)
        self.stores = tuple(bench.open() for bench in self.benches)
        max_depth = self.dice.choice((None, None, 1, 2))
        started = await self.both(
            "begin_run",
            plan(
                *(f"{origin}/0" for origin in _ORIGINS if origin == A or self.dice.random() < 0.8),
                new_run=self.dice.random() < 0.2,
                force_recrawl=self.dice.random() < 0.2,
                respect_http_freshness=self.dice.random() < 0.5,
                max_depth=max_depth,
                config_text=f"max_depth: {max_depth}",  # another depth holds only when the configuration was edited
            ),
        )
        self.todo = {origin: [] for origin in _ORIGINS}
        for stored in started.origins:
            self.todo[stored.record.origin] = list(stored.todo)

    async def fill(self) -> None:
        origin = self.dice.choice(_ORIGINS)
        now = self.tick()
        found = await self.both("candidates", origin, now, self.dice.choice((2, 5, 100)), self.dice.random() < 0.3)
        if self.todo[origin]:
            return
        refused = [page for page in found.pages if self.dice.random() < 0.15]
        kept = tuple(page for page in found.pages if page not in refused)
        code = self.dice.choice((ExitCode.blocked_by_robots_txt, ExitCode.skipped_by_rule))
        ids = tuple(page.page_id for page in found.pages)
        fill = FillRecord(
            record(origin), ids, fill_of(kept, origin).todo, tuple(refusal(page, now, code) for page in refused)
        )
        await self.both("fill", fill)
        self.todo[origin] = list(kept)

    async def settle(self) -> None:
        origin = self.dice.choice(_ORIGINS)
        if not self.todo[origin]:
            return await self.fill()
        page, now = self.todo[origin][0], self.tick()
        made = self._attempt(page, now)
        settled = await self.both("settle", made)
        assert min(settled.pending, settled.done, settled.failed, settled.blocked) >= 0
        if made.attempt.exit_code is not ExitCode.cancelled:
            self.todo[origin].pop(0)
        return None

    def _attempt(self, page: TodoPage, now: int) -> Settle:
        if self.dice.random() < 0.4:
            code, status = self.dice.choice(_FAILURES)
            return failed(page, now, code, status)
        moved = self.dice.random() < 0.2
        code = ExitCode.redirect if moved else ExitCode.file_ingested
        made = crawled(page, now, *(self.some_url() for _ in range(self.dice.randrange(6))), code=code)
        found = dict.fromkeys(page.url for page in made.new_pages)  # the engine names a URL once
        made = replace(made, new_pages=tuple(self._found(text) for text in found))
        if moved:
            target = RedirectRecord(self.some_url(), "", False, RedirectSource.location)
            return replace(made, document=None, drop_document=self.dice.random() < 0.5, redirect=target)
        assert made.page is not None
        fresh = now + self.dice.choice((0, WEEK, 8 * WEEK))
        assert made.document is not None
        document = replace(made.document, scanned=now % 2 == 0)
        return replace(made, page=replace(made.page, fresh_until=fresh), document=document)

    def _found(self, text: str) -> Any:
        return new_page(
            text,
            self.dice.randrange(1, 4),
            nice=self.dice.choice((0, 0, -2, 3)),
            force=self.dice.random() < 0.1,
            redirect_hops=self.dice.randrange(2),
        )

    async def add(self) -> None:
        found = dict.fromkeys(self.some_url() for _ in range(2))
        seeds = tuple(seed(text, force=self.dice.random() < 0.3) for text in found)
        await self.both("added_pages", await self.both("add_pages", seeds, ""), "")

    async def retry(self) -> None:
        code = self.dice.choice(("file_not_found", "request_timeout", "blocked_by_robots_txt"))
        selection = self.dice.choice(
            (RetryPages(), RetryPages(exit_codes=(code,)), RetryPages((self.some_url(),)), RetryPages(origins=(B,)))
        )
        await self.both("retry", selection)
        answer = await self.both("put_back", selection)
        for origin, pages in answer.origins:
            held = {page.page_id for page in self.todo[origin]}
            front = [page for page in pages if page.page_id in held or page.page_id not in answer.listed]
            ids = [page.page_id for page in front]
            await self.both("put_first", [(record(origin), ids)])
            self.todo[origin] = front + [page for page in self.todo[origin] if page.page_id not in ids]

    def close(self, path: Path) -> None:
        for bench in self.benches:
            bench.close()
        assert_whole(path)


def _plain(answer: Any) -> Any:
    """What can be compared: notes are for people, jobs and rulesets have tests of their own."""
    return replace(answer, notes=(), jobs=(), rulesets=()) if hasattr(answer, "notes") else answer


@pytest.mark.parametrize("number", range(8))
async def test_both_stores_answer_alike(number: int, database_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice, path = random.Random(number), database_path
    if number % 2:
        for name in ("_WINDOW", "_PIECE", "_LOOK", "_SPAN"):
            monkeypatch.setattr(retrying, name, dice.randrange(1, 6))
    pair = Pair(path, dice)
    await pair.start()
    steps = (pair.settle, pair.fill, pair.add, pair.retry, pair.start)
    for _ in range(120):
        await dice.choices(steps, weights=(60, 20, 5, 5, 5))[0]()
        for origin in _ORIGINS:
            assert len({bench.pages_known(origin) for bench in pair.benches}) == 1
    for origin in _ORIGINS:
        assert len({page.page_id for page in pair.todo[origin]}) == len(pair.todo[origin])
    for text in (f"{origin}/{n}" for origin in _ORIGINS for n in range(12)):
        memory, sqlite = pair.benches
        if any(page.url == text for page in memory.store.rows.pages.values()):
            assert memory.links(text) == sqlite.links(text)
    pair.close(path)
