"""What a preview of rules costs while a crawl goes on: `python -m benchmarks.preview [pages]`.

Makes a database of 100,000 known URLs over 50 origins, then lets a writer in a process of its own commit one small
transaction after the other, as a live crawl does, and meanwhile, in turn: nothing, a plain scan of all URLs (the same
windows, nothing judged), a preview of one more exclusion, a preview that changes every section. Prints the seconds of
each, as a ratio to the plain scan, and the longest time the writer had to wait for one commit.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

from tests.storage.making import T0, crawled, failed, fill_of, plan
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.matcher import Test
from tui_crawler.domain.rules.policy import DoNotCrawl, PolicySet, QueryPolicy, Rule, Whitelist
from tui_crawler.domain.rules.ruleset import RulesetChange
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore
from tui_crawler.wiring.rules import WINDOW, RuleQueries

ORIGINS = 50
PAUSE_S = 3.0  # how long the writer is watched alone
RULES = PolicySet(
    do_not_crawl=(DoNotCrawl(Test("path", "prefix", "/admin/")), DoNotCrawl(Test("query", "contains", "sort"))),
    url_query_parameters=(QueryPolicy(Test("path", "prefix", "/section"), frozenset({"page"})),),
    exclusions=tuple(Exclusion("pattern", f"/private{n}/") for n in range(600)),
    rules=tuple(Rule(f"/skipped{n}/", skip=True) for n in range(20)),
)
ONE_MORE = RulesetChange(exclusions=(*RULES.exclusions, Exclusion("pattern", "/section/7/")))
EVERYTHING = RulesetChange(
    do_not_crawl=(),
    url_query_parameters=(),
    rules=(Rule("/section/8/", accept=False),),
    exclusions=RULES.exclusions[:300],
    whitelist=Whitelist(patterns=("section",)),
)


def names() -> list[str]:
    """The origins."""
    return [f"https://site{n}.example" for n in range(ORIGINS)]


async def make(path: Path, pages: int) -> None:
    """A database in which every origin has its share of the pages; a third of them have a query."""
    store = SqliteStore(path)
    await store.begin_run(plan(*(f"{name}/" for name in names()), policies=RULES))
    share = pages // ORIGINS - 1
    for name in names():
        (home,) = (await store.candidates(name, T0, 1, True)).pages
        await store.fill(fill_of((home,), name))
        texts = (f"{name}/section/{n % 97}/page-{n}" + (f"?page={n}" if n % 3 == 0 else ".html") for n in range(share))
        await store.settle(crawled(home, T0, *texts))
    await store.end_run("interrupted", True)
    await asyncio.to_thread(store.close)


async def write(path: Path, pipe: Connection) -> None:
    """Settles failures one by one; each time it is asked it tells how many, and the longest wait since last time."""
    store = SqliteStore(path)
    await store.begin_run(plan(*(f"{name}/" for name in names()), policies=RULES))
    pipe.send("ready")
    count, longest, number = 0, 0.0, 0
    while True:
        name = names()[number % ORIGINS]
        for page in (await store.candidates(name, T0 + number, 50, False)).pages:
            began = time.perf_counter()
            await store.settle(failed(page, T0 + number, ExitCode.connection_failed))
            longest, count, number = max(longest, time.perf_counter() - began), count + 1, number + 1
            if pipe.poll():
                if pipe.recv() == "end":
                    return
                pipe.send((count, longest))
                count, longest = 0, 0.0


def serve(path: Path, pipe: Connection) -> None:
    """The writer's process."""
    asyncio.run(write(path, pipe))


def measured(name: str, pipe: Connection, work: Callable[[], object], scan: float | None = None) -> float:
    """Does the work while the writer goes on, prints what it took, answers the seconds."""
    pipe.send("tell")
    pipe.recv()
    began, worked = time.perf_counter(), time.process_time()
    work()
    took, cpu = time.perf_counter() - began, time.process_time() - worked
    pipe.send("tell")
    count, longest = pipe.recv()
    ratio = f"{took / scan:5.1f} x the scan" if scan else " " * 16
    print(
        f"{name:34} {took:6.2f} s ({cpu:5.2f} s of the processor) {ratio}; "
        f"the writer: {count / took:5.0f} commits/s, longest wait {longest * 1000:.0f} ms"
    )
    return took


def scan_all(reports: Reports) -> int:
    """Reads every known URL in the windows of a preview."""
    after = count = 0
    while rows := reports.urls_known(after, WINDOW):
        count, after = count + len(rows), rows[-1][0]
    return count


def main() -> None:
    """Measures and prints."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "preview.db"
        asyncio.run(make(path, pages))
        mine, theirs = context.Pipe()
        writer = context.Process(target=serve, args=(path, theirs), daemon=True)
        writer.start()
        mine.recv()
        with closing(Reports(path)) as reports:
            rule_queries = RuleQueries(reports)
            print(f"{scan_all(reports)} known URLs, 600 exclusion patterns, windows of {WINDOW}")
            measured("the writer alone", mine, lambda: time.sleep(PAUSE_S))
            scan = measured("plain scan", mine, lambda: scan_all(reports))
            measured("preview of one more exclusion", mine, lambda: rule_queries.preview(ONE_MORE), scan)
            measured("preview that changes every section", mine, lambda: rule_queries.preview(EVERYTHING), scan)
        mine.send("end")
        writer.join(10)


if __name__ == "__main__":
    main()
