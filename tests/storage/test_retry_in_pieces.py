"""Many pages are put back piece by piece: others are stored in between, and only what had failed is put back."""

from __future__ import annotations

import asyncio

import pytest

from tests.storage.bench import DatabaseBench
from tests.storage.in_pieces import put_back
from tests.storage.making import T0, A, B, C, failed, fill_of, plan, record, refusal
from tests.storage.workbench import Workbench
from tui_crawler.domain.records.command import RetryPages
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import candidates, retrying, settle
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.store import SqliteStore
from tui_crawler.wiring.console_reports import ConsoleReports

URLS = [f"{origin}/{number}" for number in range(6) for origin in (A, B, C)]


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("_WINDOW", 7), ("_PIECE", 2), ("_LOOK", 3), ("_SPAN", 4), ("_STATEMENTS", 2)):
        monkeypatch.setattr(retrying, name, size)


async def fail_all(store: SqliteStore) -> list[TodoPage]:
    """Every page has failed; the last of A has been refused."""
    await store.begin_run(plan(*URLS))
    pages = []
    for origin in (A, B, C):
        for page in (await store.candidates(origin, T0, 100, False)).pages:
            pages.append(page)
            if page.url == f"{A}/5":
                await store.settle(refusal(page, T0))
            else:
                await store.settle(failed(page, T0, ExitCode.file_not_found, 404))
    return pages


@pytest.mark.parametrize(
    ("selection", "a", "b", "c"),
    [
        (RetryPages(), 5, 6, 6),
        (RetryPages(exit_codes=("file_not_found",)), 5, 6, 6),
        (RetryPages(exit_codes=("file_not_found", "request_timeout"), origins=(A, B)), 5, 6, 0),
        (RetryPages(exit_codes=("file_not_found", "blocked_by_robots_txt")), 6, 6, 6),
        (RetryPages(exit_codes=("blocked_by_robots_txt",)), 1, 0, 0),
        (RetryPages(exit_codes=("blocked_by_robots_txt",), origins=(A, C)), 1, 0, 0),
        (RetryPages(origins=(C, "https://unknown.example", C)), 0, 0, 6),
        (RetryPages(origins=("https://unknown.example",)), 0, 0, 0),
        (RetryPages(urls=tuple(URLS)), 6, 6, 6),
        (RetryPages(urls=tuple(URLS), exit_codes=("file_not_found",), origins=(A,)), 5, 0, 0),
    ],
)
async def test_every_page_that_is_meant_is_put_back_once(database_bench: DatabaseBench, selection, a, b, c):
    store = database_bench.open()
    await fail_all(store)
    wanted = tuple((name, count) for name, count in ((A, a), (B, b), (C, c)) if count)
    assert await store.retry(selection) == wanted
    for origin, count in ((A, a), (B, b), (C, c)):
        assert len((await store.candidates(origin, T0, 100, False)).pages) == count
    assert sum(len(pages) for _, pages in (await store.put_back(selection)).origins) == a + b + c


async def test_attempts_are_stored_while_many_pages_are_put_back(database_bench: DatabaseBench) -> None:
    store = database_bench.open()
    pages = await fail_all(store)
    retry = asyncio.ensure_future(store.retry(RetryPages()))
    await asyncio.sleep(0)  # it is on its way before the attempt
    await store.settle(failed(pages[0], T0 + 1, ExitCode.file_not_found, 404))
    assert not retry.done()
    await retry


async def test_pages_that_are_put_back_are_a_sign_of_life(database_bench: DatabaseBench) -> None:
    store = database_bench.open()
    await fail_all(store)
    database_bench.now += 60_000
    await store.retry(RetryPages())
    reports = ConsoleReports(database_bench.place)
    run = reports.run()
    reports.close()
    assert run.heartbeat_at == database_bench.now


@pytest.fixture
def run(workbench: Workbench) -> tuple[Claim, list[TodoPage]]:
    """Pages of A that have failed."""
    claim, _ = workbench.begin(plan(*(f"{A}/{number}" for number in range(6))))
    found = workbench.work(lambda work: candidates.candidates(work, claim, A, T0, 100, False)).pages
    workbench.work(lambda work: settle.store_fill(work, claim, fill_of(found)))
    for page in found:
        workbench.settle(claim, failed(page, T0, ExitCode.file_not_found, 404))
    return claim, list(found)


def test_what_fails_after_it_was_asked_for_is_not_put_back(workbench: Workbench, run) -> None:
    claim, pages = run
    named = workbench.work(lambda work: retrying.meant(work, RetryPages()))
    ids, cursor = workbench.work(lambda work: retrying.window(work, named, retrying.Cursor()))
    assert (len(ids), cursor) == (6, None)
    workbench.settle(claim, failed(pages[3], T0, ExitCode.file_not_found, 404))
    counts = workbench.work(lambda work: retrying.put_back(work, claim, named, ids))
    assert list(counts.values()) == [5]


def test_what_is_put_back_when_it_was_broken_off_half_way_is_whole_the_next_time(workbench: Workbench, run) -> None:
    claim, _ = run
    named = workbench.work(lambda work: retrying.meant(work, RetryPages()))
    ids, _ = workbench.work(lambda work: retrying.window(work, named, retrying.Cursor()))
    workbench.work(lambda work: retrying.put_back(work, claim, named, ids[:2]))
    counts = workbench.work(lambda work: put_back(work, claim, RetryPages()))
    assert list(counts.values()) == [6]
    assert workbench.rows("SELECT pending, failed FROM origin") == [(6, 6)]


def test_a_page_that_is_taken_meanwhile_is_not_handed_out(workbench: Workbench, run) -> None:
    """Between looking and handing out, a fill has put one on the todo list and its turn has crawled it."""
    claim, pages = run
    workbench.work(lambda work: put_back(work, claim, RetryPages()))
    ids = [page.page_id for page in pages]
    workbench.settle(claim, failed(pages[1], T0, ExitCode.file_not_found, 404))
    workbench.work(lambda work: retrying.put_first(work, claim, [(record(), ids[2:3])]))
    found = workbench.work(lambda work: retrying.as_put_back(work, claim, ids))
    ((origin, handed),) = found.origins
    assert (origin, [page.page_id for page in handed]) == (A, [ids[0], *ids[2:]])
    assert found.listed == {ids[2]}
