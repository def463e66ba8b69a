"""Where a URL stands, and links in windows, as the chain behind `why` and the command `links` read them."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace

import pytest

from tests.storage.bench import DatabaseBench, of_sqlite
from tests.storage.making import T0, WEEK, A, B, attempt, crawled, failed, fill_of, link, new_page, plan, robots, seed
from tests.storage.reading import links_of
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.crawl.standing import Schedule
from tui_crawler.domain.records.attempt import RedirectRecord, RedirectSource, Settle
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode
from tui_crawler.domain.records.page_view import Hop
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.reports import links as link_reports
from tui_crawler.storage.reports import pages as page_reports
from tui_crawler.storage.reports.reports import Reports

HOME = f"{A}/"


def test_an_empty_database_knows_nothing(database_reports: Reports) -> None:
    standing = database_reports.standing(HOME)
    assert (standing.schedule, standing.page, standing.referrals, standing.path) == (Schedule(), None, (), ())
    assert standing.attempts == standing.other_jobs == ()
    assert database_reports.link_counts(HOME) == (0, 0)
    assert list(database_reports.inlinks(HOME)) == list(database_reports.outlinks("no url")) == []


async def test_a_page_with_its_schedule_place_and_attempts(
    database_bench: DatabaseBench, database_reports: Reports
) -> None:
    store = database_bench.open()
    await store.begin_run(plan(HOME, max_depth=5))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    await store.fill(fill_of((home,)))
    await store.settle(crawled(home, T0 + 10, f"{A}/1", f"{A}/2", f"{A}/3"))
    pages = (await store.candidates(A, T0 + 20, 10, False)).pages
    await store.fill(fill_of(pages))
    await store.settle(failed(pages[0], T0 + 30, ExitCode.connection_failed))
    seeded = database_reports.standing("https://A.example:443/#top")
    assert seeded.schedule == Schedule("main", seeded.schedule.started_at, 4 * WEEK)
    assert seeded.page is not None
    assert (seeded.page.seed, seeded.page.attempts_remaining, seeded.page.last_exit_code) == (True, 0, "file_ingested")
    assert (seeded.page.due_at, seeded.page.queue_position) == (T0 + 10 + 4 * WEEK, None)
    assert (seeded.page.ignored, seeded.page.max_depth, seeded.page.job) == (True, 5, "main")
    assert [one.exit_code for one in seeded.attempts] == ["file_ingested"]
    assert seeded.path == ()
    tried = database_reports.standing(f"{A}/1").page
    assert (tried.attempts, tried.attempts_remaining, tried.ignored) == (1, 2, False)
    third = database_reports.standing(f"{A}/3")
    assert third.page is not None
    assert (third.page.queue_position, third.page.status, third.page.depth) == (2, PageStatus.READY, 1)
    assert [replace(step, first_seen_at=0) for step in third.path] == [Hop(HOME, f"{A}/3", "a", 1)]
    assert third.origin_pages == 4


async def test_who_names_a_url_that_is_no_page(database_bench: DatabaseBench, database_reports: Reports) -> None:
    store = database_bench.open()
    await store.begin_run(plan(HOME))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    found = (link(f"{B}/far"), link(f"{B}/far", LinkKind.img), link(f"{A}/1", nofollow=True))
    made = crawled(home, T0 + 10, f"{A}/moved")
    await store.settle(replace(made, links=(*(made.links or ()), *found)))
    (moved,) = (await store.candidates(A, T0 + 20, 10, False)).pages
    to = RedirectRecord(f"{B}/far", "", False, RedirectSource.location)
    await store.settle(replace(crawled(moved, T0 + 30, code=ExitCode.redirect, redirect=to), document=None))
    far = database_reports.standing(f"{B}/far")
    assert far.page is None
    assert [(one.from_url, one.kind, one.redirect_hops, one.depth, one.redirect) for one in far.referrals] == [
        (HOME, "a", 0, 1, False),
        (HOME, "img", 0, 1, False),
        (f"{A}/moved", "location", 1, 1, True),
    ]
    assert [replace(step, first_seen_at=0) for step in far.path] == [Hop(HOME, f"{B}/far", "a", 1)]
    assert [one.nofollow for one in database_reports.standing(f"{A}/1").referrals] == [True]


async def test_a_job_is_chosen(database_bench: DatabaseBench, database_reports: Reports) -> None:
    store = database_bench.open()
    jobs = (JobPlan("news", (seed(HOME), seed(f"{A}/news")), -5, 2, 0, "tag"),)
    await store.begin_run(plan(HOME, jobs=jobs))
    both = database_reports.standing(HOME)
    assert both.page is not None
    assert (both.page.job, both.other_jobs) == ("main", ("news",))
    news = database_reports.standing(HOME, "news").page
    assert (news.job, news.max_depth, news.concurrency, news.held, news.tag) == ("news", 2, 0, True, "tag")
    only = database_reports.standing(f"{A}/news").page
    assert only.job == "news"
    none = database_reports.standing(f"{A}/news", "main")
    assert (none.page, none.other_jobs) == (None, ("news",))


async def test_what_a_sitemap_names_is_found_on_it(database_bench: DatabaseBench, database_reports: Reports) -> None:
    store = database_bench.open()
    await store.begin_run(plan(HOME))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    sitemap = new_page(f"{A}/sitemap.xml", 0, sitemap=True)
    record = attempt(home, ExitCode.file_ingested, T0 + 5, kind=AttemptKind.robots, page_id=None)
    settle = Settle(replace(record, url=f"{A}/robots.txt"), fill_of(()).origin, new_pages=(sitemap,))
    await store.settle(replace(settle, origin=replace(settle.origin, robots=robots()), save_robots=True))
    pages = (await store.candidates(A, T0 + 6, 10, False)).pages
    (named,) = (page for page in pages if page.sitemap)
    await store.settle(replace(crawled(named, T0 + 10), new_pages=(new_page(f"{A}/listed", 1, lastmod=T0),)))
    listed = database_reports.standing(f"{A}/listed")
    assert listed.page is not None
    assert listed.page.lastmod == T0
    assert [replace(step, first_seen_at=0) for step in listed.path] == [
        Hop(f"{A}/sitemap.xml", f"{A}/listed", "sitemap", 1)
    ]
    assert [one.kind for one in database_reports.standing(f"{A}/robots.txt").attempts] == ["robots"]


async def test_links_are_read_in_windows(
    database_bench: DatabaseBench, database_reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_reports, "WINDOW", 3)
    store = database_bench.open()
    await store.begin_run(plan(HOME))
    (home,) = (await store.candidates(A, T0, 10, True)).pages
    targets = [f"{A}/{number}" for number in range(7)]
    await store.settle(crawled(home, T0, *targets))
    pages = (await store.candidates(A, T0 + 1, 10, False)).pages
    for number, page in enumerate(pages):
        both = (link(HOME), link(HOME, LinkKind.img))
        await store.settle(replace(crawled(page, T0 + 2 + number), links=both))
    outlinks = [one.to_url for one in database_reports.outlinks(HOME)]
    assert sorted(outlinks) == targets
    inlinks = [(one.from_url, one.kind) for one in database_reports.inlinks("https://a.example")]
    assert sorted(inlinks) == sorted((target, kind) for target in targets for kind in ("a", "img"))
    assert len(list(database_reports.inlinks(HOME, 4))) == 4
    assert database_reports.link_counts(HOME) == (14, 7)
    assert [len(side) for side in links_of(database_reports, HOME, 5)] == [5, 5]


@pytest.mark.parametrize(
    "text",
    [page_reports._STANDINGS, link_reports.NAMED_BY_LINK, link_reports.NAMED_BY_REDIRECT],
    ids=["page", "a", "r"],
)
@of_sqlite
def test_no_question_reads_a_large_table_from_end_to_end(text: str, database_bench: DatabaseBench) -> None:
    database_bench.open().close()
    with contextlib.closing(sqlite3.connect(database_bench.place)) as database:
        plan_rows = database.execute(f"EXPLAIN QUERY PLAN {text}", [1] * text.count("?")).fetchall()
    steps = [row[3] for row in plan_rows]
    assert [step for step in steps if step.startswith("SCAN ") and step.split()[1] not in {"run", "j"}] == []
