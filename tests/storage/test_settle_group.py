"""A group of attempts leaves the database as the same attempts leave it one by one, whatever they are like."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.making import T0, A, B, C, crawled, document, failed, link, new_page, plan, refusal
from tests.storage.whole import assert_counted
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.run import Settled
from tui_crawler.domain.records.attempt import (
    AttemptResult,
    DataValue,
    RedirectRecord,
    RedirectSource,
    RefusedCount,
    Settle,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl.settle import SettleJob
from tui_crawler.storage.crawl.settle_group import settle_together
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.memory import Memory
from tui_crawler.storage.db.transaction import Transaction

TABLES = (
    "SELECT href FROM url ORDER BY href",
    """SELECT u.href, p.depth, p.nice, p.status, p.attempts, p.attempts_remaining, p.failed, p.last_exit_code,
        p.last_http_status, p.last_crawled_at, p.last_contentful_at, p.ignored_run, p.todo_order, p.redirect_hops,
        p.seed, p.beyond_depth,
        (SELECT f.depth BETWEEN p.depth - 1 AND p.depth FROM page f WHERE f.id = p.found_on_page_id)
        FROM page p JOIN url u ON u.id = p.url_id ORDER BY u.href""",
    """SELECT u.href, a.exit_code, a.http_status, a.ended_at, a.requests, a.message, a.cut, r.method, r.sent_at
        FROM attempt a JOIN url u ON u.id = a.url_id LEFT JOIN request r ON r.attempt_id = a.id
        ORDER BY a.ended_at, u.href""",
    "SELECT SUM(new_pages) FROM attempt",
    """SELECT u.href, r.type, r.value FROM attempt_result r JOIN attempt a ON a.id = r.attempt_id
        JOIN url u ON u.id = a.url_id ORDER BY a.ended_at, u.href, r.type""",
    "SELECT from_url, to_url, kind, nofollow, text, first_seen_at FROM v_link ORDER BY from_url, to_url, kind",
    "SELECT url, title, sha256, size, stored_at FROM v_document ORDER BY url",
    "SELECT sha256, size FROM body ORDER BY sha256",
    "SELECT url, name, value FROM v_data ORDER BY url, name",
    "SELECT from_url, to_url, source FROM v_redirect ORDER BY from_url, to_url",
    """SELECT origin, pending, done, failed, blocked, todo, pages_known, requests, bytes, attempts, last_url,
        next_request_at, delay_ms FROM origin ORDER BY origin""",
    "SELECT name, pending, done, failed, blocked FROM job",
    "SELECT attempts, requests FROM run",
    "SELECT origin_id = 0, exit_code, SUM(count) FROM exit_count GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT origin_id = 0, minute, exit_code, SUM(count) FROM exit_minute GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "SELECT o.origin, r.reason, r.count FROM refused r JOIN origin o ON o.id = r.origin_id ORDER BY 1, 2",
)
"""What must be the same. Which of several attempts in a group found a page first is left open, but not how deep."""

PATHS = [f"{origin}/{name}" for origin in (A, B, C) for name in ("", "1", "2", "3")]


class Bench(Workbench):
    """Beside the transactions, what the writer remembers between them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.memory = Memory()

    def transaction(self) -> Transaction:
        made = super().transaction()
        made.memory = self.memory
        return made

    def state(self) -> list[list[tuple[object, ...]]]:
        return [self.rows(text) for text in TABLES]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Claim, dict[str, TodoPage]]]:
    """A run of three origins that know their first pages, one of them crawled before."""
    path = tmp_path_factory.mktemp("group") / "crawl.db"
    bench = Bench(path)
    claim, start = bench.begin(plan(f"{A}/", f"{B}/", f"{C}/"))
    first = {page.url: page for origin in start.origins for page in origin.todo}
    ids = {row[0]: row[1] for row in bench.rows("SELECT u.href, p.id FROM page p JOIN url u ON u.id = p.url_id")}
    homes = {href: first.get(href) or TodoPage(ids[href], claim.job_id, href) for href in ids}
    bench.settle(claim, crawled(homes[f"{A}/"], T0, f"{A}/1", f"{B}/1"))
    ids = {row[0]: row[1] for row in bench.rows("SELECT u.href, p.id FROM page p JOIN url u ON u.id = p.url_id")}
    pages = {
        href: TodoPage(number, claim.job_id, href, depth=0 if href in homes else 1) for href, number in ids.items()
    }
    bench.close()
    yield path, claim, pages


@st.composite
def attempts(draw: st.DrawFn) -> list[tuple[str, str, tuple[str, ...], int]]:
    """What happened to which pages: the page, how it ended, what it links to, and a number to vary the rest by."""
    size = draw(st.integers(1, 6))
    pages = draw(st.permutations([f"{A}/", f"{B}/", f"{C}/", f"{A}/1", f"{B}/1"]))[:size]
    ways = st.sampled_from(["crawled", "crawled", "crawled", "failed", "refused", "gone", "cancelled", "moved"])
    links = st.lists(st.sampled_from(PATHS), max_size=5, unique=True)
    return [(page, draw(ways), tuple(draw(links)), draw(st.integers(0, 3))) for page in pages]


def settle_of(page: TodoPage, at: int, way: str, links: tuple[str, ...], number: int) -> Settle:
    match way:
        case "failed":
            return failed(page, at, ExitCode.request_timeout)
        case "gone":
            return failed(page, at, ExitCode.file_not_found, 404)
        case "refused":
            return refusal(page, at)
        case "cancelled":
            return failed(page, at, ExitCode.cancelled)
        case "moved":
            to = RedirectRecord(f"{C}/{number}", "", permanent=True, source=RedirectSource.location)
            return failed(page, at, ExitCode.permanent_redirect, 301, redirect=to)
    made = crawled(page, at, *links)
    finds = tuple(replace(one, nice=-(number == 1)) for one in made.new_pages)
    new, elsewhere = f"{C}/new{number}", f"https://else.example/{number % 2}"
    results = (AttemptResult("status_code", "200"),)
    return replace(
        made,
        attempt=replace(made.attempt, results=results, cut=("links",) if number == 3 else ()),
        new_pages=(*finds, new_page(new, page.depth + 1)),
        links=(*(made.links or ()), link(new), link(elsewhere, text=f"else\0where {number}")),
        document=document(
            page,
            f"body {number}".encode(),
            data=(DataValue("price", "text", 0, "1"),) if number == 2 else (),
            scanned=number != 1,
        ),
        refused=(RefusedCount("scope", number + 1, "https://else.example/"),),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=attempts(), second=attempts())
def test_a_group_is_what_its_attempts_are_one_by_one(
    template: tuple[Path, Claim, dict[str, TodoPage]],
    tmp_path: Path,
    first: list[tuple[str, str, tuple[str, ...], int]],
    second: list[tuple[str, str, tuple[str, ...], int]],
) -> None:
    path, claim, pages = template
    states, answers = [], []
    for grouped in (False, True):
        copy = Path(shutil.copy(path, tmp_path / f"{grouped}.db"))
        bench = Bench(copy)
        given_back: list[Settled] = []
        for round_, group in enumerate((first, second)):
            settles = [
                settle_of(pages[href], T0 + 60_000 * (round_ + 1) + place, way, links, number)
                for place, (href, way, links, number) in enumerate(group)
            ]
            if grouped:
                jobs = [SettleJob(claim, one) for one in settles]
                for job in jobs:
                    job.prepare(bench.transaction())
                given_back += bench.work(lambda work, jobs=jobs: settle_together(work, jobs))
                bench.memory.keep()
            else:
                given_back += [bench.settle(claim, one) for one in settles]
        assert_counted(bench.rows)
        states.append(bench.state())
        answers.append([(answer.new_pages, answer.stolen) for answer in given_back])
        bench.close()
        copy.unlink()
    for one_by_one, together in zip(*states, strict=True):
        assert one_by_one == together
    assert len(answers[0]) == len(answers[1])
