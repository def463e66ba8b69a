"""The contract of a store, held against every store: memory and SQLite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.storage.making import (
    T0,
    WEEK,
    A,
    B,
    C,
    added,
    attempt,
    crawled,
    document,
    failed,
    fill_of,
    link,
    new_page,
    outcome,
    plan,
    record,
    refusal,
    request,
    robots,
    seed,
    url,
)
from tui_crawler.domain.crawl.job import QueueChange
from tui_crawler.domain.records.attempt import (
    Exchange,
    FillRecord,
    RedirectRecord,
    RedirectSource,
    RefusedCount,
    Settle,
)
from tui_crawler.domain.records.command import ActionResult, AddSeeds, PauseOrigins, RetryPages, SteerJobs
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import NoSuchJob, RunHeld, StorageFailure
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import PolicySet, QueryPolicy

HOME = f"{A}/"


async def taken(store, origin=A, now=T0, first=False, limit=100):
    """Fills the todo list of an origin; answers the pages."""
    found = await store.candidates(origin, now, limit, first)
    await store.fill(fill_of(found.pages, origin))
    return found.pages


async def begun(bench, *seeds, **more):
    """A store with a run that has begun."""
    store = bench.open()
    await store.begin_run(plan(*seeds, **more))
    return store


async def filled(bench, *seeds, **more):
    """The same, and the pages of a first fill."""
    store = await begun(bench, *seeds, **more)
    return store, await taken(store)


async def rerun(bench, store, *seeds, **more):
    """The next run, after the one of a store is over."""
    await store.end_run("exhausted", True)
    return await begun(bench, *seeds, **more)


def urls(pages):
    return [page.url for page in pages]


async def test_a_first_run_has_its_seeds_and_starts_afresh(bench):
    store = bench.open()
    start = await store.begin_run(plan(HOME, f"{B}/x"))
    assert (start.run_id, start.continued, start.unclean, start.requests) == (1, False, False, 0)
    assert [one.record.origin for one in start.origins] == [A, B]
    first = start.origins[0]
    assert (first.record.patience, first.record.politeness, first.record.may_fall) == (5, 2, True)
    assert (first.pages_known, first.todo, first.record.robots) == (1, (), None)
    pages = await taken(store, first=True)
    assert urls(pages) == [HOME]
    assert pages[0].seed
    assert (pages[0].depth, pages[0].attempts_remaining, pages[0].body_kept) == (0, 3, False)


async def test_a_settle_stores_everything_of_an_attempt(bench):
    store, (home,) = await filled(bench)
    targets = [f"{A}/p{n}" for n in range(60)]
    settled = await store.settle(crawled(home, T0 + 50, *targets))
    assert settled.new_pages == ((A, 60),)
    assert (settled.pending, settled.done, settled.failed, settled.blocked) == (60, 1, 0, 0)
    assert bench.attempts() == 1
    assert bench.documents() == 1
    assert set(bench.links(HOME)) == {("a", target) for target in targets}
    assert bench.pages_known(A) == 61
    pages = await taken(store, now=T0 + 100)
    assert urls(pages) == targets
    assert {page.depth for page in pages} == {1}


async def test_links_are_diffed_and_kept_ones_keep_first_seen(bench):
    store, (home,) = await filled(bench, recrawl_interval_ms=0)
    await store.settle(crawled(home, T0, f"{A}/1", f"{A}/2"))
    changed = (link(f"{A}/2", nofollow=True, text="new text"), link(f"{A}/3", LinkKind.img))
    await store.settle(replace(crawled(home, T0 + 500), links=changed))
    assert bench.links(HOME) == {
        ("a", f"{A}/2"): (True, T0),
        ("img", f"{A}/3"): (False, T0 + 500),
    }
    await store.settle(replace(failed(home, T0 + 600, ExitCode.server_internal_error, 500), links=None))
    assert len(bench.links(HOME)) == 2
    await store.settle(replace(crawled(home, T0 + 700), links=()))
    assert bench.links(HOME) == {}


@pytest.mark.parametrize("code", [ExitCode.file_not_found, ExitCode.blocked_by_robots_txt])
async def test_a_page_that_is_gone_or_refused_has_no_links_and_comes_back_without_conditions(bench, code):
    store, (home,) = await filled(bench, recrawl_interval_ms=0)
    made = replace(crawled(home, T0, f"{A}/1"), document=document(home, scanned=True))
    await store.settle(made)
    await store.settle(failed(home, T0 + 100, code, None))
    assert bench.links(HOME) == {}
    await store.settle(failed(home, T0 + 200, ExitCode.request_timeout, None))
    await store.end_run("exhausted", True)
    await store.begin_run(plan(recrawl_interval_ms=0, new_run=True))
    (home, *_) = await taken(store)
    assert (home.etag, home.last_contentful_at, home.body_kept) == ("", 0, False)
    await store.settle(replace(made, page=replace(made.page, crawled_at=T0 + 300)))
    assert list(bench.links(HOME)) == [("a", f"{A}/1")]


async def test_the_same_target_twice_is_one_link(bench):
    store, (home,) = await filled(bench)
    twice = (link(f"{A}/1", text="one"), link(f"{A}/1", text="two"), link(f"{A}/1", LinkKind.css))
    await store.settle(replace(crawled(home, T0), links=twice, new_pages=(new_page(f"{A}/1"),) * 3))
    assert set(bench.links(HOME)) == {("a", f"{A}/1"), ("css", f"{A}/1")}
    assert bench.pages_known(A) == 2


async def test_a_page_on_the_ignore_list_is_no_candidate_until_it_is_forgotten(bench):
    store, (one, two, three) = await filled(bench, HOME, f"{A}/b", f"{A}/c")
    await store.settle(failed(one, T0 + 1, ExitCode.request_timeout))
    await store.settle(failed(two, T0 + 2, ExitCode.did_not_understand_answer, 200))
    await store.settle(failed(three, T0 + 3, ExitCode.file_not_found, 404))
    found = await store.candidates(A, T0 + 10, 100, False)
    assert urls(found.pages) == [HOME]  # timeouts are retried in the run, the others are not
    assert (found.pages[0].attempts, found.pages[0].attempts_remaining) == (1, 2)


async def test_candidates_come_in_order_of_nice_and_attempts_then_age(bench):
    store = bench.open()
    seeds = (seed(f"{A}/old"), seed(f"{A}/nice", nice=-5), seed(f"{A}/late", not_before=T0 + 100), seed(f"{A}/new"))
    await store.begin_run(replace(plan(), seeds=seeds))
    assert urls((await store.candidates(A, T0, 100, False)).pages) == [f"{A}/nice", f"{A}/old", f"{A}/new"]
    assert urls((await store.candidates(A, T0, 2, False)).pages) == [f"{A}/nice", f"{A}/old"]
    later = await store.candidates(A, T0 + 100, 100, False)
    assert urls(later.pages) == [f"{A}/nice", f"{A}/old", f"{A}/new", f"{A}/late"]


async def test_a_later_not_before_is_told_when_there_is_nothing_now(bench):
    store = bench.open()
    await store.begin_run(replace(plan(), seeds=(seed(HOME, not_before=T0 + 900), seed(f"{A}/2", not_before=T0 + 700))))
    found = await store.candidates(A, T0, 100, True)
    assert (found.pages, found.next_due_at) == ((), T0 + 700)
    assert (await store.candidates(C, T0, 100, True)).next_due_at is None


async def test_seeds_come_first_in_the_first_fill_only(bench):
    store, (home,) = await filled(bench)
    await store.settle(crawled(home, T0, f"{A}/1", f"{A}/2"))
    (late,) = await added(store, seed(f"{A}/late"))
    assert late.seed
    assert urls((await store.candidates(A, T0, 100, False)).pages) == [f"{A}/1", f"{A}/2", f"{A}/late"]
    assert urls((await store.candidates(A, T0, 100, True)).pages) == [f"{A}/late", f"{A}/1", f"{A}/2"]
    assert urls((await store.candidates(A, T0, 2, True)).pages) == [f"{A}/late", f"{A}/1"]


async def test_done_pages_are_due_after_the_interval_and_http_freshness(bench):
    store, (one, two, three) = await filled(bench, HOME, f"{A}/fresh", f"{A}/gone")
    await store.settle(crawled(one, T0))
    await store.settle(
        replace(crawled(two, T0), page=outcome(two, ExitCode.file_ingested, T0, fresh_until=T0 + 5 * WEEK))
    )
    await store.settle(failed(three, T0, ExitCode.file_gone, 410))
    await store.end_run("exhausted", True)
    for now, expected in (
        (3 * WEEK, []),
        (4 * WEEK, [HOME, f"{A}/gone"]),
        (5 * WEEK, [HOME, f"{A}/fresh", f"{A}/gone"]),
    ):
        bench.now = T0 + now
        again = bench.open()
        await again.begin_run(plan(HOME))
        found = await again.candidates(A, T0 + now, 100, False)
        assert urls(found.pages) == expected
        assert found.next_due_at is None
        await again.end_run("exhausted", True)
    last = await begun(bench, HOME, respect_http_freshness=False)
    assert f"{A}/fresh" in urls((await last.candidates(A, T0 + 4 * WEEK, 100, False)).pages)


async def test_a_due_page_brings_its_validators_and_all_its_tries(bench):
    store = bench.open()
    await store.begin_run(replace(plan(), seeds=(seed(HOME, item_pattern="x", force=True),)))
    (home,) = await taken(store)
    assert (home.item_pattern, home.force) == ("x", True)
    await store.settle(crawled(home, T0))
    await store.end_run("exhausted", True)
    bench.now = T0 + 5 * WEEK
    again = await begun(bench)
    (page,) = (await again.candidates(A, bench.now, 100, True)).pages
    assert (page.etag, page.last_modified, page.last_contentful_at, page.body_kept) == ('"e1"', "Mon", T0, True)
    assert (page.attempts, page.attempts_remaining, page.item_pattern, page.force) == (0, 3, "", False)


async def test_validators_go_with_the_body_and_with_other_content(bench):
    store, (one, two, three, four) = await filled(bench, HOME, f"{A}/bare", f"{A}/moved", f"{A}/dropped")
    await store.settle(crawled(one, T0))
    await store.settle(replace(crawled(two, T0), document=document(two, body=None)))
    await store.settle(crawled(three, T0))
    moved = replace(crawled(three, T0 + 9, code=ExitCode.redirect), document=None, links=())
    await store.settle(moved)
    await store.settle(crawled(four, T0))
    await store.settle(replace(crawled(four, T0 + 9, code=ExitCode.noindex), document=None, drop_document=True))
    await store.end_run("exhausted", True)
    bench.now = T0 + 5 * WEEK
    again = await begun(bench)
    pages = {page.url: page for page in (await again.candidates(A, bench.now, 100, False)).pages}
    assert [pages[u].body_kept for u in (HOME, f"{A}/bare", f"{A}/moved", f"{A}/dropped")] == [
        True,
        False,
        False,
        False,
    ]
    assert pages[f"{A}/moved"].etag == ""
    assert pages[f"{A}/moved"].last_contentful_at == T0 + 9


async def test_force_recrawl_makes_every_done_page_due_once_per_run(bench):
    store = await begun(bench, HOME, f"{A}/2")
    for page in await taken(store):
        await store.settle(crawled(page, T0))
    again = await rerun(bench, store, HOME, f"{A}/2", force_recrawl=True)
    pages = await taken(again, now=T0)
    assert urls(pages) == [HOME, f"{A}/2"]
    for page in pages:
        await again.settle(crawled(page, T0 + 10))
    assert (await again.candidates(A, T0 + 20, 100, False)).pages == ()


async def test_a_duplicate_find_keeps_the_lower_nice_and_depth(bench):
    store, (one, two) = await filled(bench, HOME, f"{A}/s2")
    await store.settle(replace(crawled(one, T0), new_pages=(new_page(f"{A}/x", 5, nice=3, redirect_hops=2),)))
    settled = await store.settle(replace(crawled(two, T0), new_pages=(new_page(f"{A}/x", 2, nice=7),)))
    assert settled.new_pages == ()
    (page,) = (await store.candidates(A, T0, 100, False)).pages
    assert (page.depth, page.nice, page.redirect_hops) == (2, 3, 0)
    assert bench.path_of(f"{A}/x") == [f"{A}/s2", f"{A}/x"]


async def test_a_shorter_path_lowers_all_pages_below_it_also_in_a_cycle(bench):
    store = await begun(bench, max_depth=3)
    for step in range(1, 5):
        (page,) = (await store.candidates(A, T0 + step, 1, False)).pages
        await store.fill(fill_of((page,)))
        await store.settle(crawled(page, T0 + step, f"{A}/{step}", HOME))
    assert (await store.candidates(A, T0 + 9, 100, False)).pages == ()  # /4 lies at depth 4
    (short,) = await added(store, seed(f"{A}/short"))
    settled = await store.settle(crawled(short, T0 + 9, f"{A}/2"))
    assert settled.pending == 1
    (deep,) = (await store.candidates(A, T0 + 9, 100, False)).pages
    assert (deep.url, deep.depth) == (f"{A}/4", 3)
    assert bench.path_of(f"{A}/4") == [f"{A}/short", f"{A}/2", f"{A}/3", f"{A}/4"]


async def test_an_edited_depth_judges_all_pages_anew(bench):
    store, (home,) = await filled(bench, max_depth=0)
    settled = await store.settle(crawled(home, T0, f"{A}/1"))
    assert (settled.pending, settled.new_pages) == (0, ((A, 1),))
    await store.end_run("exhausted", True)
    for depth, expected in ((None, [f"{A}/1"]), (0, []), (1, [f"{A}/1"])):
        again = bench.open()
        await again.begin_run(plan(max_depth=depth, config_text=f"max_depth: {depth}"))
        assert urls((await again.candidates(A, T0, 100, False)).pages) == expected
        await again.end_run("exhausted", True)


async def test_a_forced_find_runs_a_done_page_again_once_in_a_run(bench):
    store = await begun(bench, HOME, f"{A}/2")
    for page in await taken(store):
        await store.settle(crawled(page, T0))
    again = await rerun(bench, store)
    (item,) = await added(again, seed(f"{A}/item", item_pattern="/2", force=True))
    assert (item.item_pattern, item.force) == ("/2", True)
    forced = (new_page(f"{A}/2", item_pattern="/2", force=True),)
    await again.settle(replace(crawled(item, T0 + 1), new_pages=forced))
    (page,) = await taken(again, now=T0 + 2)
    assert (page.url, page.force, page.item_pattern, page.attempts_remaining) == (f"{A}/2", True, "/2", 3)
    await again.settle(replace(crawled(page, T0 + 3), new_pages=(new_page(f"{A}/item", force=True), *forced)))
    assert (await again.candidates(A, T0 + 4, 100, False)).pages == ()


async def test_refusals_of_a_fill_are_logged_and_leave_no_todo(bench):
    store = await begun(bench, HOME, f"{A}/no", f"{A}/skip")
    pages = (await store.candidates(A, T0, 100, True)).pages
    home, no, skip = pages
    refusals = (refusal(no, T0), refusal(skip, T0, ExitCode.skipped_by_rule))
    await store.fill(FillRecord(record(patience=4), tuple(p.page_id for p in pages), (home.page_id,), refusals))
    assert bench.attempts() == 2
    bench.crash()
    again = bench.open()
    start = await again.begin_run(plan(HOME))
    assert urls(start.origins[0].todo) == [HOME]
    assert (start.origins[0].record.patience, start.requests) == (4, 0)
    assert (await again.candidates(A, T0, 100, False)).pages == ()


async def test_a_fill_is_the_todo_list_as_a_whole_in_its_order(bench):
    store, (one, two, three) = await filled(bench, HOME, f"{A}/2", f"{A}/3")
    await store.fill(FillRecord(record(), (), (three.page_id, one.page_id)))
    bench.crash()
    start = await bench.open().begin_run(plan(HOME))
    assert urls(start.origins[0].todo) == [three.url, one.url]
    assert two.url not in urls(start.origins[0].todo)


async def test_a_cancelled_page_keeps_its_place_and_its_tries(bench):
    store, (one, _) = await filled(bench, HOME, f"{A}/2")
    store.mark_in_flight(one.page_id, A, one.url)
    await store.settle(failed(one, T0 + 5, ExitCode.cancelled))
    await store.end_run("interrupted", True)
    start = await bench.open().begin_run(plan(HOME, f"{A}/2"))
    assert start.continued
    assert not start.unclean
    assert urls(start.origins[0].todo) == [HOME, f"{A}/2"]
    assert (start.origins[0].todo[0].attempts, start.origins[0].todo[0].attempts_remaining) == (0, 3)


async def test_stolen_work_leaves_the_page_as_it_was(bench):
    store, (home,) = await filled(bench)
    settled = await store.settle(failed(home, T0, ExitCode.someone_stole_my_work))
    assert (settled.pending, settled.failed, settled.done) == (1, 0, 0)
    assert bench.attempts() == 1


async def test_the_counters_of_a_page_that_fails_and_recovers(bench):
    store, (home,) = await filled(bench)
    settled = await store.settle(failed(home, T0, ExitCode.server_internal_error, 503))
    assert (settled.pending, settled.failed, settled.done) == (1, 1, 0)
    (home,) = await taken(store)
    settled = await store.settle(failed(home, T0, ExitCode.file_not_found, 404))
    assert (settled.pending, settled.failed, settled.done) == (0, 1, 0)
    assert await store.retry(RetryPages(exit_codes=("file_not_found",))) == ((A, 1),)
    (home,) = await taken(store)
    assert (home.attempts, home.attempts_remaining) == (0, 3)
    settled = await store.settle(crawled(home, T0))
    assert (settled.pending, settled.failed, settled.done) == (0, 0, 1)


async def test_retry_narrows_by_url_exit_code_and_origin(bench):
    store = await begun(bench, HOME, f"{A}/404", f"{A}/no", f"{B}/404")
    for origin in (A, B):
        for page in await taken(store, origin):
            if page.url.endswith("404"):
                await store.settle(failed(page, T0, ExitCode.file_not_found, 404))
            elif page.url.endswith("no"):
                await store.settle(refusal(page, T0))
            else:
                await store.settle(crawled(page, T0))
    assert await store.retry(RetryPages(urls=(HOME, f"{A}/nowhere"))) == ()
    assert await store.retry(RetryPages(exit_codes=("request_timeout", "nonsense"))) == ()
    assert await store.retry(RetryPages(urls=(f"{A}/no",))) == ((A, 1),)
    assert await store.retry(RetryPages(exit_codes=("file_not_found",), origins=(B,))) == ((B, 1),)
    assert await store.retry(RetryPages()) == ((A, 1), (B, 1))
    assert urls((await store.candidates(A, T0, 100, False)).pages) == [f"{A}/404", f"{A}/no"]


async def test_pages_put_back_are_found_with_all_their_tries_wherever_they_wait(bench):
    store = await begun(bench, HOME, f"{A}/404", f"{A}/listed", f"{A}/ok", f"{A}/tried", f"{B}/404")
    for origin in (A, B):
        for page in await taken(store, origin):
            if page.url.endswith("ok"):
                await store.settle(crawled(page, T0))
            elif page.url.endswith("listed"):
                await store.settle(failed(page, T0, ExitCode.request_timeout))
            else:
                await store.settle(failed(page, T0, ExitCode.file_not_found, 404))
    (listed,) = await taken(store)
    assert (await store.put_back(RetryPages())).origins == ((A, (listed,)),), "the others have no tries"
    await store.retry(RetryPages(origins=(A,)))
    found = await store.put_back(RetryPages(origins=(A,)))
    ((origin, pages),) = found.origins
    assert origin == A
    assert urls(pages) == [HOME, f"{A}/404", f"{A}/listed", f"{A}/tried"]
    assert {page.attempts_remaining for page in pages} == {3}
    assert found.listed == {listed.page_id}
    tried = pages[-1]
    await store.settle(failed(tried, T0, ExitCode.server_internal_error, 500))
    ((_, pages),) = (await store.put_back(RetryPages())).origins
    assert urls(pages) == [HOME, f"{A}/404", f"{A}/listed"], "on the ignore list"
    await store.change_job(SteerJobs("pause", ("main",)))
    assert (await store.put_back(RetryPages())).origins == (), "its job is paused"


async def test_added_seeds_are_new_due_forced_or_have_tries_left(bench):
    store = await begun(bench, HOME, f"{A}/done", f"{A}/failed", f"{A}/listed")
    for page in (await taken(store))[:3]:
        if page.url.endswith("failed"):
            await store.settle(failed(page, T0, ExitCode.did_not_understand_answer, 200))
        else:
            await store.settle(crawled(page, T0))
    wanted = (f"{A}/new", HOME, f"{A}/failed", f"{A}/listed")
    keys = await store.add_pages(tuple(seed(text) for text in wanted), "")
    assert urls(await store.added_pages(keys, "")) == [f"{A}/new", f"{A}/failed"]
    forced = await added(store, seed(f"{A}/done", force=True, item_pattern="p"), job="main")
    assert [(p.url, p.force, p.item_pattern, p.attempts_remaining) for p in forced] == [(f"{A}/done", True, "p", 3)]
    with pytest.raises(NoSuchJob, match="no job"):
        await store.add_pages((seed(f"{A}/z"),), "nowhere")
    assert await store.add_pages((), "") == ()
    await store.fill(fill_of(forced))
    assert urls(await store.added_pages((*keys, seed(f"{A}/done").url_hash), "")) == [f"{A}/new", f"{A}/failed"]


async def test_a_skipped_page_is_ready_again_when_it_is_added(bench):
    store, (home,) = await filled(bench)
    settled = await store.settle(refusal(home, T0, ExitCode.skipped_by_rule))
    assert (settled.pending, settled.blocked) == (0, 1)
    assert (await store.candidates(A, T0 + 8 * WEEK, 100, False)).pages == ()
    assert urls(await added(store, seed(HOME))) == [HOME]


async def test_an_origin_that_joins_brings_what_is_kept_of_it_and_stays(bench):
    store, (home,) = await filled(bench)
    await store.settle(crawled(home, T0, f"{C}/linked"))
    (joined,) = await store.add_origins((C,))
    assert (joined.record.patience, joined.pages_known, joined.todo) == (5, 1, ())
    await store.save_origins([record(C, paused=True, patience=1)])
    assert [one.record.patience for one in await store.add_origins((C, A))] == [1, 5]
    await store.end_run("exhausted", True)
    start = await bench.open().begin_run(plan())
    assert [(o.record.origin, o.record.patience, o.record.paused) for o in start.origins] == [
        (A, 5, False),
        (C, 5, True),
    ]


async def test_an_origin_tells_whether_a_seed_is_of_it(bench):
    store = bench.open()
    start = await store.begin_run(plan())
    assert [one.seeded for one in start.origins] == [True]
    (home,) = await taken(store)
    await store.settle(crawled(home, T0, f"{C}/linked"))
    assert [one.seeded for one in await store.add_origins((C, A))] == [False, True], "a link led there"
    await store.add_pages((seed(f"{C}/linked"),), "")
    assert [one.seeded for one in await store.add_origins((C,))] == [True]
    await store.end_run("exhausted", True)
    start = await bench.open().begin_run(plan())
    assert [(one.record.origin, one.seeded) for one in start.origins] == [(A, True), (C, True)]


async def test_origins_no_longer_configured_take_no_part_but_stay(bench):
    store = await begun(bench, HOME, f"{B}/")
    await store.end_run("interrupted", True)
    again = bench.open()
    assert [o.record.origin for o in (await again.begin_run(plan())).origins] == [A]
    await again.end_run("interrupted", True)
    start = await bench.open().begin_run(plan(HOME, f"{B}/"))
    assert [(o.record.origin, o.pages_known) for o in start.origins] == [(A, 1), (B, 1)]


async def test_the_state_of_an_origin_comes_back_whole(bench):
    store, (home,) = await filled(bench)
    kept = record(
        paused=True,
        patience=2,
        politeness=7,
        may_fall=False,
        rate_limits=3,
        delay_ms=64_000,
        delay_reason="rate_limit",
        operator_delay_ms=1_500,
        next_request_at=T0 + 64_000,
        last_request_at=T0,
        last_response_ms=321,
        response_window=(100, 321),
        asleep_until=T0 + 9,
        robots=robots(),
    )
    await store.settle(replace(failed(home, T0, ExitCode.rate_limited, 429), origin=kept, save_robots=True))
    bench.crash()
    start = await bench.open().begin_run(plan())
    assert (start.continued, start.unclean, start.requests) == (True, True, 1)
    assert start.origins[0].record == kept
    assert (start.origins[0].failed, start.origins[0].done) == (1, 0)


async def test_robots_are_stored_with_their_own_attempt_only(bench):
    store = await begun(bench)
    await store.save_origins([record(robots=robots())])
    bench.crash()
    assert (await bench.open().begin_run(plan())).origins[0].record.robots is None


async def test_when_robots_are_due_again_is_stored_with_every_state(bench):
    store, (home,) = await filled(bench)
    kept = record(robots=robots())
    await store.settle(replace(failed(home, T0, ExitCode.rate_limited, 429), origin=kept, save_robots=True))
    due = replace(kept, robots=replace(robots(), expires_at=0, body=b"another"))
    await store.save_origins([due])
    bench.crash()
    found = (await bench.open().begin_run(plan())).origins[0].record
    assert found.robots == replace(robots(), expires_at=0)


async def test_a_new_run_starts_afresh_but_for_what_stays(bench):
    store, (one, _) = await filled(bench, HOME, f"{A}/2")
    spent = record(
        finish_reason="patience",
        paused=True,
        patience=0,
        politeness=9,
        may_fall=False,
        rate_limits=4,
        delay_ms=8_000,
        operator_delay_ms=2_500,
        next_request_at=T0 + 8_000,
        response_window=(5,),
        asleep_until=T0 + 99,
        robots=robots(),
    )
    await store.settle(
        replace(failed(one, T0, ExitCode.did_not_understand_answer, 200), origin=spent, save_robots=True)
    )
    await store.end_run("exhausted", True)
    again = bench.open()
    start = await again.begin_run(plan(HOME, f"{A}/2"))
    assert (start.run_id, start.continued, start.unclean, start.requests) == (2, False, False, 0)
    afresh = replace(
        spent,
        finish_reason="",
        patience=5,
        politeness=2,
        may_fall=True,
        rate_limits=0,
        response_window=(),
        asleep_until=0,
    )
    assert start.origins[0].record == afresh
    assert start.origins[0].todo == ()
    assert urls((await again.candidates(A, T0 + 1, 100, True)).pages) == [f"{A}/2", HOME]


@pytest.mark.parametrize(
    ("reason", "clean", "continued"),
    [
        ("exhausted", True, False),
        ("max_requests", True, False),
        ("operator", True, False),
        ("few_origins", True, False),
        ("interrupted", True, True),
        ("error", False, True),
        ("exhausted", False, True),
    ],
)
async def test_which_ends_are_continued(bench, reason, clean, continued):
    store = await begun(bench, HOME, f"{A}/2")
    await taken(store)
    await store.end_run(reason, clean)
    again = bench.open()
    start = await again.begin_run(plan(HOME, f"{A}/2"))
    assert (start.continued, start.unclean) == (continued, not clean)
    assert bool(start.origins[0].todo) is continued
    await again.end_run("interrupted", True)
    assert not (await bench.open().begin_run(plan(HOME, new_run=True))).continued


async def test_a_killed_run_keeps_ignore_list_and_todo_and_is_unclean(bench):
    store, (one, two, _) = await filled(bench, HOME, f"{A}/2", f"{A}/3")
    await store.settle(crawled(one, T0))
    store.mark_in_flight(two.page_id, A, two.url)
    await store.heartbeat()
    bench.crash()
    again = bench.open()
    start = await again.begin_run(plan(HOME, f"{A}/2", f"{A}/3"))
    assert (start.run_id, start.continued, start.unclean) == (1, True, True)
    assert urls(start.origins[0].todo) == [f"{A}/2", f"{A}/3"]
    assert start.origins[0].record.in_flight_url == ""
    assert (await again.candidates(A, T0 + 1, 100, False)).pages == ()


async def test_an_owner_who_lost_the_database_stores_nothing_more(bench):
    store, (home,) = await filled(bench)
    bench.crash()
    await bench.open().begin_run(plan())
    assert not await store.heartbeat()
    for late in (
        store.settle(crawled(home, T0, f"{A}/x")),
        store.fill(fill_of((home,))),
        store.save_origins([record(patience=0)]),
        store.end_run("exhausted", True),
        store.add_pages((seed(f"{A}/y"),), ""),
    ):
        with pytest.raises(StorageFailure, match="no longer holds"):
            await late
    assert bench.attempts() == 0


async def test_a_live_owner_is_not_displaced(bench):
    await bench.open(alive=True).begin_run(plan())
    with pytest.raises(RunHeld, match="another run holds this database"):
        await bench.open(alive=True).begin_run(plan())


async def test_a_page_of_another_origin_is_not_settled(bench):
    store, (home,) = await filled(bench, HOME, f"{B}/")
    wrong = replace(crawled(home, T0, f"{A}/x"), origin=record(B))
    missing = Settle(
        attempt(home, ExitCode.file_gone, T0), record(), replace(outcome(home, ExitCode.file_gone, T0), page_id=99)
    )
    for settle in (wrong, missing):
        with pytest.raises(StorageFailure, match="page"):
            await store.settle(settle)
    assert bench.attempts() == 0
    assert bench.pages_known(A) == 1


async def test_redirects_and_refused_links(bench):
    store, (home,) = await filled(bench)
    refused = (RefusedCount("scope", 3, "https://z.example/"), RefusedCount("trap_depth", 1, f"{A}/a/a"))
    target = RedirectRecord(f"{A}/to", "part", True, RedirectSource.location)
    moved = crawled(home, T0, code=ExitCode.permanent_redirect)
    await store.settle(replace(moved, document=None, links=(), redirect=target, refused=refused))
    await store.settle(replace(moved, document=None, links=(), redirect=target, refused=refused[:1]))
    assert bench.redirects() == [(HOME, f"{A}/to", "location")]
    assert bench.refused() == {(A, "scope"): 6, (A, "trap_depth"): 1}
    await store.settle(failed(home, T0, ExitCode.request_timeout))
    assert len(bench.redirects()) == 1
    await store.settle(crawled(home, T0))
    assert bench.redirects() == []


async def test_exclusions_are_added_once_and_removed(bench):
    store = await begun(bench)
    one = Exclusion("host", "x.example", "owner asked", "me", "operator")
    assert await store.change_exclusion(one, remove=False) == QueueChange()
    assert await store.change_exclusion(replace(one, reason="again"), remove=False) is None
    assert await store.exclusions() == (one,)
    assert await store.change_exclusion(one, remove=True) == QueueChange()
    assert await store.change_exclusion(one, remove=True) is None
    assert await store.exclusions() == ()


async def test_actions_are_taken_once_in_order_and_finished(bench):
    store = await begun(bench)
    assert await store.take_actions() == ()
    first, second = bench.ask(PauseOrigins((A,))), bench.ask(AddSeeds((HOME,), pattern="p", force=True))
    taken_actions = await store.take_actions()
    assert [(one.action_id, one.who) for one in taken_actions] == [(first, "operator"), (second, "operator")]
    assert taken_actions[1].command == AddSeeds((HOME,), pattern="p", force=True)
    assert await store.take_actions() == ()
    assert bench.result(first) is None
    result = ActionResult(first, '{"a": 1}', '{"a": 2}', "")
    await store.finish_actions((result,))
    assert bench.result(first) == result
    bench.crash()
    again = await begun(bench)
    assert [one.action_id for one in await again.take_actions()] == [second]


async def test_a_heartbeat_of_the_owner_is_accepted(bench):
    store = await begun(bench)
    assert await store.heartbeat()
    await store.end_run("operator", True)
    assert not await store.heartbeat()


async def test_links_to_other_origins_count_there(bench):
    store, (home,) = await filled(bench, HOME, f"{B}/")
    settled = await store.settle(crawled(home, T0, f"{A}/1", f"{B}/", f"{B}/1", f"{B}/2"))
    assert settled.new_pages == ((A, 1), (B, 2))
    assert (settled.pending, settled.done) == (1, 1)
    assert bench.pages_known(B) == 3
    assert bench.pages_known(C) == 0
    assert urls((await store.candidates(B, T0, 100, True)).pages) == [f"{B}/", f"{B}/1", f"{B}/2"]


def test_urls_of_the_tests_are_normal():
    assert url(HOME).href == HOME


async def test_pages_that_a_former_configuration_refused_are_judged_again(bench):
    store = await begun(bench, HOME, f"{A}/list?x=1", f"{A}/robots", config_text="policies: old")
    home, query, robots_page = await taken(store, first=True)
    await store.settle(refusal(home, T0 + 1, ExitCode.skipped_by_rule))
    await store.settle(refusal(query, T0 + 1, ExitCode.blocked_url_by_local_policy))
    await store.settle(refusal(robots_page, T0 + 1))
    same = await rerun(bench, store, HOME, config_text="policies: old")
    assert await taken(same, now=T0 + 2) == ()
    await same.end_run("exhausted", True)
    edited = bench.open()
    start = await edited.begin_run(plan(HOME, config_text="policies: new"))
    assert not start.continued
    assert urls(await taken(edited, now=T0 + 3)) == [HOME], "the query is refused as before"
    await edited.end_run("exhausted", True)
    allowing = bench.open()
    policies = PolicySet(url_query_parameters=(QueryPolicy(allow_any=True),))
    await allowing.begin_run(plan(HOME, config_text="policies: allow", policies=policies))
    assert f"{A}/list?x=1" in urls(await taken(allowing, now=T0 + 4))


def claiming(page, at, to, **more):
    """An attempt at a page that names a canonical URL of the crawl."""
    requests = (request(page.url, at),)
    answer = Exchange(requests, ExitCode.file_ingested, 200, 20, (("Content-Type", "text/html"),), b"<p>kept")
    return Settle(
        attempt(page, ExitCode.not_canonical, at),
        record(url(page.url).origin),
        outcome(page, ExitCode.not_canonical, at),
        drop_document=True,
        links=(),
        new_pages=(new_page(to, page.depth, redirect_hops=1),),
        redirect=RedirectRecord(to, "", True, RedirectSource.canonical),
        claim=answer,
        **more,
    )


async def claimed(bench):
    """A store whose front page names /c as canonical, which is on the todo list."""
    store, (page,) = await filled(bench, HOME)
    await store.settle(claiming(page, T0, f"{A}/c"))
    (target,) = await taken(store, now=T0 + 1)
    assert target.url == f"{A}/c"
    return store, target


async def test_a_claim_whose_canonical_leads_nowhere_puts_its_page_back_with_what_it_gave(bench):
    store, target = await claimed(bench)
    assert (await store.candidates(A, T0 + 2, 100, False)).pages == ()
    settled = await store.settle(failed(target, T0 + 2, ExitCode.file_not_found, 404))
    assert (settled.done, settled.failed, settled.pending) == (1, 1, 0)
    (page,) = (await store.candidates(A, T0 + 3, 100, False)).pages
    assert (page.url, page.ignores, page.kept, page.attempts, page.attempts_remaining) == (HOME, target.url, True, 0, 3)
    answer = await store.kept_answer(page.page_id)
    assert (answer.body, answer.http_status, answer.header("content-type")) == (b"<p>kept", 200, "text/html")
    await store.fill(fill_of((page,)))
    named = RedirectRecord(target.url, "", True, RedirectSource.canonical)
    second = crawled(page, T0 + 4, f"{A}/next", redirect=named, ignores=True)
    second = replace(second, attempt=replace(second.attempt, requests=(), response_ms=None, bytes=0))
    settled = await store.settle(second)
    assert (settled.done, settled.failed, settled.pending) == (1, 1, 1)
    (following,) = await taken(store, now=T0 + 5)
    assert (following.url, following.kept) == (f"{A}/next", False)


async def test_a_claim_whose_canonical_has_content_is_over(bench):
    store, target = await claimed(bench)
    await store.settle(crawled(target, T0 + 2))
    assert (await store.candidates(A, T0 + 3, 100, False)).pages == ()
    assert await store.resolve_claims() == 0


async def test_a_claim_that_is_open_at_the_end_of_a_run_is_decided_then(bench):
    store, target = await claimed(bench)
    await store.settle(failed(target, T0 + 2, ExitCode.server_internal_error, 500))
    assert (await store.candidates(A, T0 + 3, 100, False)).pages == ()
    assert await store.resolve_claims() == 1
    (page,) = (await store.candidates(A, T0 + 4, 100, False)).pages
    assert (page.url, page.kept) == (HOME, True)
    assert await store.resolve_claims() == 0, "it is decided once"


async def test_a_page_that_was_ignored_by_its_canonical_is_asked_anew_once_that_has_content(bench):
    store, target = await claimed(bench)
    await store.settle(failed(target, T0 + 2, ExitCode.file_not_found, 404))
    (page,) = await taken(store, now=T0 + 3)
    named = RedirectRecord(target.url, "", True, RedirectSource.canonical)
    await store.settle(crawled(page, T0 + 4, redirect=named, ignores=True))
    await store.end_run("exhausted", True)
    await store.begin_run(plan(HOME))
    pages = {one.url: one for one in await taken(store, now=T0 + 5 * WEEK)}
    assert (pages[HOME].ignores, pages[HOME].kept, pages[HOME].etag) == (target.url, False, '"e1"')
    await store.settle(crawled(pages[target.url], T0 + 5 * WEEK))
    await store.settle(failed(pages[HOME], T0 + 5 * WEEK + 1, ExitCode.file_did_not_change, 304))
    await store.candidates(A, T0 + 5 * WEEK + 2, 100, False)
    await store.end_run("exhausted", True)
    await store.begin_run(plan(HOME))
    pages = {one.url: one for one in await taken(store, now=T0 + 10 * WEEK)}
    assert (pages[HOME].ignores, pages[HOME].etag) == ("", "")
