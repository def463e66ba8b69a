"""Depth is the shortest path from a seed: links cost 1, redirects nothing, whatever the order of discovery, per job."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.storage.bench import GONE
from tests.storage.making import A, crawled, fill_of, link, new_page, plan, seed
from tests.storage.whole import assert_counted
from tests.storage.workbench import Workbench
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.records.attempt import RedirectRecord, RedirectSource, Settle
from tui_crawler.domain.records.command import SetJob
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.storage.crawl import candidates, operator_actions, settle
from tui_crawler.storage.crawl.settle import SettleJob
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Page
from tui_crawler.storage.workers import sessions

_PAGES = 7
_SEEDS = {"main": (0, 5), "other": (3,)}


class Graph:
    """A web of numbered pages: what each links to, and which of them only redirect."""

    def __init__(self, edges: list[tuple[int, int]], redirects: dict[int, int]) -> None:
        self.redirects = redirects
        self.links = {page: [to for by, to in edges if by == page] for page in range(_PAGES)}

    def steps(self, page: int) -> list[tuple[int, int]]:
        """Where a page leads, and what that costs."""
        if page in self.redirects:
            return [(self.redirects[page], 0)]
        return [(to, 1) for to in self.links[page]]

    def depths(self, seeds: tuple[int, ...]) -> dict[int, int]:
        """The oracle: the shortest path to every page that can be reached."""
        depths = dict.fromkeys(seeds, 0)
        queue = deque(seeds)
        while queue:
            page = queue.popleft()
            for to, cost in self.steps(page):
                if depths[page] + cost < depths.get(to, _PAGES + 1):
                    depths[to] = depths[page] + cost
                    queue.append(to)
        return depths

    def settle(self, page: TodoPage, at: int) -> Settle:
        """What the engine brings of a page."""
        steps = self.steps(int(page.url.rpartition("/")[2]))
        targets = dict.fromkeys(f"{A}/{to}" for to, _ in steps)
        cost = max((cost for _, cost in steps), default=0)
        pages = tuple(new_page(text, page.depth + cost) for text in targets)
        if not cost and targets:
            moved = RedirectRecord(next(iter(targets)), "", True, RedirectSource.location)
            made = crawled(page, at, code=ExitCode.permanent_redirect)
            return replace(made, document=None, links=(), redirect=moved, new_pages=pages)
        return replace(crawled(page, at), links=tuple(link(text) for text in targets), new_pages=pages)


def crawl(work: Transaction, graph: Graph, dice: random.Random, max_depth: int | None) -> Claim:
    """Crawls all there is within the depth, in any order."""
    seeds = {name: tuple(seed(f"{A}/{number}") for number in numbers) for name, numbers in _SEEDS.items()}
    other = JobPlan("other", seeds["other"], max_depth=max_depth)
    wanted = replace(plan(), seeds=seeds["main"], jobs=(other,), max_depth=max_depth)
    claim, _ = sessions.begin(work, wanted, sessions.Starter(GONE, 30_000))
    crawl_on(work, claim, graph, dice)
    return claim


def crawl_on(work: Transaction, claim: Claim, graph: Graph, dice: random.Random) -> None:
    todo: list[TodoPage] = []
    for _ in range(200):
        found = candidates.candidates(work, claim, A, work.now, dice.randrange(1, 4), False).pages
        if not found and not todo:
            return
        todo += found
        settle.store_fill(work, claim, fill_of(tuple(todo)))
        for _ in range(dice.randrange(1, len(todo) + 1)):
            work.now += 10
            page = todo.pop(dice.randrange(len(todo)))
            ((depth,),) = work.fetch(Page.select(Page.depth).where(Page.id == page.page_id))
            job = SettleJob(claim, graph.settle(replace(page, depth=depth), work.now))
            job.prepare(work)
            job(work)
    raise AssertionError("the crawl does not come to an end")


def stored(workbench: Workbench, job: str) -> dict[int, tuple[int, int]]:
    rows = workbench.rows(
        "SELECT u.href, p.depth, p.beyond_depth FROM page p JOIN url u ON u.id = p.url_id"
        " JOIN job j ON j.id = p.job_id WHERE j.name = ?",
        job,
    )
    return {int(href.rpartition("/")[2]): (depth, beyond) for href, depth, beyond in rows}


numbers = st.integers(0, _PAGES - 1)
edges = st.lists(st.tuples(numbers, numbers), max_size=18)
redirects = st.dictionaries(numbers, numbers, max_size=3)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=edges, redirects=redirects, order=st.integers(0, 2**16))
def test_depth_is_the_shortest_path_in_every_job(workbench, edges, redirects, order):
    graph = Graph(edges, redirects)
    with workbench.scratch() as work:
        crawl(work, graph, random.Random(order), None)
        for job, seeds in _SEEDS.items():
            assert stored(workbench, job) == {page: (depth, 0) for page, depth in graph.depths(seeds).items()}
        assert_counted(workbench.rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=edges, order=st.integers(0, 2**16), first=st.integers(0, 3), then=st.one_of(st.none(), st.integers(0, 3)))
def test_pages_beyond_the_depth_of_their_job_are_marked_and_not_crawled(workbench, edges, order, first, then):
    graph = Graph(edges, {})
    with workbench.scratch() as work:
        claim = crawl(work, graph, random.Random(order), first)
        operator_actions.change_job(work, claim, SetJob("main", depth=-1 if then is None else then))
        crawl_on(work, claim, graph, random.Random(order))
        for job, limit in (("main", then), ("other", first)):
            reached = graph.depths(_SEEDS[job])
            for page, (depth, beyond) in stored(workbench, job).items():
                assert depth == reached[page]
                assert beyond == int(limit is not None and depth > limit)
            within = {page for page, depth in reached.items() if limit is None or depth <= limit}
            assert within <= stored(workbench, job).keys()
        assert_counted(workbench.rows)
