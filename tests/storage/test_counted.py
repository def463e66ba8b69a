"""Whatever engine and operators do to the pages of several jobs, every kept counter is what counting gives."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.bench import GONE
from tests.storage.in_pieces import first, put_back
from tests.storage.making import A, B, crawled, failed, fill_of, new_page, plan, record, refusal, seed
from tests.storage.whole import assert_counted
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.records.attempt import FillRecord
from tui_crawler.domain.records.command import (
    ReclaimPages,
    RetryPages,
    SetDripfeed,
    SetJob,
    StashPages,
    SteerJobs,
    UnstashPages,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import candidates, operator_actions, retrying, settle, stashes
from tui_crawler.storage.crawl.settle import SettleJob
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.workers import sessions

_ORIGINS = (A, B)
_NAMES = ("main", "one", "two")
_HELD_ON_LISTS = """SELECT p.id FROM page p JOIN job j ON j.id = p.job_id
    WHERE p.todo_order > 0 AND p.status = 0 AND (j.aborted = 1 OR j.concurrency = 0)"""
_TOO_MANY_OUT = """SELECT f.stash FROM dripfeed f WHERE EXISTS
        (SELECT 1 FROM page s WHERE s.job_id = f.job_id AND s.stash = f.stash AND s.status = 4 AND s.beyond_depth = 0)
    AND f.ready > (SELECT COUNT(*) FROM page p WHERE p.job_id = f.job_id AND p.stash = f.stash
        AND p.status IN (0, 2) AND p.attempts_remaining > 0 AND p.beyond_depth = 0)"""


class Crawl:
    """An engine and its operators, in one transaction that is rolled back."""

    def __init__(self, transaction: Transaction) -> None:
        self.work = transaction
        self.dice = random.Random(0)
        self.todo: dict[str, list[TodoPage]] = {}
        self.restart()

    def some_url(self) -> str:
        return f"{self.dice.choice(_ORIGINS)}/{self.dice.randrange(9)}"

    def restart(self) -> None:
        depth, number = self.dice.choice((None, 1, 2)), self.dice.randrange(3)
        own = tuple(seed(f"{origin}/s", nice=number) for origin in _ORIGINS)
        others = (JobPlan("one", own, number, depth, self.dice.choice((None, 0, 2))), JobPlan("two", own, number))
        asked = plan(f"{A}/0", f"{B}/0", jobs=others, max_depth=depth, config_text=f"{depth} {number}")
        asked = replace(asked, new_run=self.dice.random() < 0.3, recrawl_interval_ms=self.dice.choice((0, 10**9)))
        self.claim, start = sessions.begin(self.work, asked, sessions.Starter(GONE, 30_000))
        self.todo = {origin: [] for origin in _ORIGINS}
        self.todo |= {stored.record.origin: list(stored.todo) for stored in start.origins}

    def fill(self) -> None:
        origin = self.dice.choice(_ORIGINS)
        if self.todo[origin]:
            return
        found = candidates.candidates(self.work, self.claim, origin, self.work.now, 4, self.dice.random() < 0.5).pages
        assert bool(found) == bool(candidates.awake(self.work, self.claim, (origin,), self.work.now))
        refused = [page for page in found if self.dice.random() < 0.2]
        kept = tuple(page for page in found if page not in refused)
        ids = tuple(page.page_id for page in found)
        log = tuple(refusal(page, self.work.now, ExitCode.skipped_by_rule) for page in refused)
        settle.store_fill(self.work, self.claim, FillRecord(record(origin), ids, fill_of(kept, origin).todo, log))
        self.todo[origin] = list(kept)

    def settle(self) -> None:
        origin = self.dice.choice(_ORIGINS)
        if not self.todo[origin]:
            return self.fill()
        page = self.todo[origin].pop(0)
        if self.dice.random() < 0.7:
            settle.mark_in_flight(self.work, self.claim, page.page_id, origin, page.url)
        if self.dice.random() < 0.2:
            return None  # the turn is lost: the page is in limbo
        if self.dice.random() < 0.5:
            code, status = self.dice.choice(
                (
                    (ExitCode.request_timeout, None),
                    (ExitCode.file_not_found, 404),
                    (ExitCode.someone_stole_my_work, None),
                )
            )
            made = failed(page, self.work.now, code, status)
        else:
            links = dict.fromkeys(self.some_url() for _ in range(self.dice.randrange(5)))
            force = self.dice.random() < 0.2
            made = crawled(page, self.work.now, *links)
            pages = tuple(new_page(text, page.depth + 1, nice=page.nice, force=force) for text in links)
            made = replace(made, new_pages=pages)
        job = SettleJob(self.claim, made)
        job.prepare(self.work)
        job(self.work)
        return None

    def change_jobs(self) -> None:
        name = self.dice.choice(_NAMES)
        numbers = (None, -1, 0, 1, 3)
        wish = SetJob(name, self.dice.choice((None, -2, 4)), self.dice.choice(numbers), self.dice.choice(numbers))
        order = SteerJobs(self.dice.choice(("pause", "resume", "resume", "abort", "unabort", "unabort")), (name,))
        change = operator_actions.change_job(self.work, self.claim, self.dice.choice((wish, order)))
        self.drop(change.queue.unlisted)

    def stash(self) -> None:
        name, job = self.dice.choice(("s", "t")), self.dice.choice(_NAMES)
        into = StashPages(name, (), self.dice.choice(((), (A,))), self.dice.choice(("", "[0-4]$")), job)
        command = self.dice.choice(
            (into, UnstashPages(name, self.dice.randrange(3), job), SetDripfeed(name, self.dice.randrange(4), job))
        )
        try:
            change = stashes.change_stash(self.work, self.claim, command)
        except ValueError:
            assert command is not into
        else:
            self.drop(change.unlisted)

    def reclaim(self) -> None:
        urls = (self.some_url(),) if self.dice.random() < 0.3 else ()
        change = stashes.reclaim(self.work, self.claim, ReclaimPages("lost", urls, self.dice.choice((0, 50))))
        self.drop(change.unlisted)

    def retry(self) -> None:
        put_back(self.work, self.claim, self.dice.choice((RetryPages(), RetryPages(origins=(A,)))))

    def bring_forward(self) -> None:
        answer = first(self.work, self.claim, RetryPages())
        for origin, pages in answer.origins:
            held = {page.page_id for page in self.todo[origin]}
            front = [page for page in pages if page.page_id in held or page.page_id not in answer.listed]
            ids = [page.page_id for page in front]
            retrying.put_first(self.work, self.claim, [(record(origin), ids)])
            self.todo[origin] = front + [page for page in self.todo[origin] if page.page_id not in ids]

    def add(self) -> None:
        job = self.dice.choice(_NAMES)
        operator_actions.add_seeds(self.work, self.claim, (seed(self.some_url(), force=self.dice.random() < 0.3),), job)

    def drop(self, unlisted: frozenset[int]) -> None:
        for origin, pages in self.todo.items():
            self.todo[origin] = [page for page in pages if page.page_id not in unlisted]


_STEPS = {
    "fill": Crawl.fill,
    "settle": Crawl.settle,
    "settle again": Crawl.settle,
    "jobs": Crawl.change_jobs,
    "stash": Crawl.stash,
    "reclaim": Crawl.reclaim,
    "retry": Crawl.retry,
    "bring forward": Crawl.bring_forward,
    "add": Crawl.add,
    "restart": Crawl.restart,
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(sorted(_STEPS)), st.integers(0, 999)), min_size=5, max_size=30))
def test_every_counter_is_what_counting_gives(workbench: Workbench, steps: list[tuple[str, int]]) -> None:
    with workbench.scratch() as transaction:
        crawl = Crawl(transaction)
        for name, number in steps:
            transaction.now += 37
            crawl.dice = random.Random(number)
            _STEPS[name](crawl)
            assert workbench.rows(_HELD_ON_LISTS) == []
        assert_counted(workbench.rows)
        assert workbench.rows(_TOO_MANY_OUT) == []
        for job, status, claimed in workbench.rows("SELECT job, status, claimed FROM v_job"):
            (counted,) = workbench.rows("SELECT COUNT(*) FROM v_page WHERE job = ? AND status = 'CLAIMED'", job)
            assert counted == (claimed,), (job, status)
