"""Jobs, rules, sitemaps, probes, offline mode and few origins, as whole crawls in virtual time."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from tests.engine.crawls import Crawling, asks, assert_polite, crawl
from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import Answer, SimulatedWeb, linked_site
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.records.command import (
    AddSeeds,
    ApplyRules,
    Exclude,
    LoadSegment,
    PauseOrigins,
    ProbeUrls,
    SetJob,
    SteerJobs,
)
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, PolicySet, Rule
from tui_crawler.domain.rules.ruleset import Ruleset, to_json
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.clock import VirtualClock, run_virtual

A, B, C = "http://a.test", "http://b.test", "http://c.test"


def page(text: str, **more) -> NewPage:
    url = normalise(text)
    assert isinstance(url, CrawlUrl)
    return NewPage(url.href, url.hash, url.origin, more.pop("depth", 0), **more)


def job(name: str, *seeds: str, **more) -> JobPlan:
    return JobPlan(name, tuple(page(text, seed=True) for text in seeds), **more)


def result(crawling: Crawling, action_id: int = 1) -> dict:
    done = crawling.store.results[action_id]
    assert not done.error, done.error
    return json.loads(done.after)


# the end of a run


def test_what_is_asked_at_the_last_moment_is_still_carried_out():
    async def main():
        crawling = Crawling([A], linked_site(1))

        def on_event(event):
            crawling.heard.events.append(event)
            if event.event == "attempt_finished" and event.url == f"{A}/0":
                crawling.store.ask(AddSeeds((f"{A}/more",)))

        crawling.heard.on_event = on_event
        return crawling, await crawling.run()

    crawling, reason = run_virtual(main())
    assert reason == "exhausted"
    assert crawling.web.pages() == [f"{A}/0", f"{A}/more"]


def test_an_added_url_is_not_requested_before_its_time():
    later = 60_000

    async def operator(crawling):
        await asyncio.sleep(2)
        crawling.store.ask(AddSeeds((f"{A}/later",), not_before=crawling.clock.now().wall_ms + later))

    crawling, reason = crawl([A], linked_site(5), operator=operator)
    assert reason == "exhausted"
    (asked,) = [a for a in crawling.web.asked if a.url == f"{A}/later"]
    first = min(a.started for a in crawling.web.asked)
    assert asked.started - first >= later


def test_a_url_that_is_put_off_leaves_the_todo_list():
    links = tuple(f"/{n}" for n in range(10))

    async def operator(crawling):
        await asyncio.sleep(4)
        until = crawling.clock.now().wall_ms + 60_000
        crawling.store.ask(AddSeeds((f"{A}/9",), not_before=until))
        crawling.until = crawling.clock.now().mono_ms + 60_000

    crawling, reason = crawl([A], lambda url: Answer(links=links), operator=operator)
    assert reason == "exhausted"
    (asked,) = [a for a in crawling.web.asked if a.url == f"{A}/9"]
    assert asked.started >= crawling.until
    assert len(crawling.web.pages()) == 10


# links between origins


def test_an_origin_that_had_finished_goes_on_when_another_links_to_it():
    def answer(url):
        if url.href == f"{A}/9":
            return Answer(links=(f"{B}/late",))
        return linked_site(10 if url.origin == A else 1)(url)

    crawling, reason = crawl([A, B], answer)
    assert reason == "exhausted"
    assert f"{B}/late" in crawling.web.pages()
    assert_polite(crawling)
    finished = [event.origin for event in crawling.heard.named("origin_finished")]
    assert finished.count(B) == 2, "told that it had finished, and again after the page it got"


# jobs


def test_two_jobs_over_one_origin_keep_their_own_pages_and_one_delay():
    crawling, _ = crawl([A], linked_site(4), jobs=(job("news", f"{A}/2", nice=-5),))
    assert sorted(crawling.web.pages()) == sorted([f"{A}/{n}" for n in range(4)] + [f"{A}/2", f"{A}/3"])
    assert_polite(crawling)


def test_a_paused_job_keeps_the_run_alive_and_goes_on_when_it_is_resumed():
    async def operator(crawling):
        await asyncio.sleep(300)
        assert sorted(crawling.web.pages()) == [f"{A}/{n}" for n in range(3)], "only the other job was crawled"
        crawling.store.ask(SteerJobs("resume", ("held",)))

    crawling, reason = crawl([A], linked_site(3), jobs=(job("held", f"{A}/x", concurrency=0),), operator=operator)
    assert reason == "exhausted"
    assert f"{A}/x" in crawling.web.pages()
    assert_polite(crawling)


def test_pausing_a_job_takes_its_pages_off_the_todo_list_and_loses_none():
    async def operator(crawling):
        await asyncio.sleep(10)
        crawling.store.ask(SteerJobs("pause", ("test",)))
        await asyncio.sleep(2)
        asked = len(crawling.web.asked)
        assert not any(state.todo for state in crawling.engine.table.states.values())
        await asyncio.sleep(100)
        assert len(crawling.web.asked) == asked
        crawling.store.ask(SteerJobs("resume", ("test",)))

    crawling, reason = crawl([A], linked_site(12), operator=operator)
    assert reason == "exhausted"
    assert sorted(crawling.web.pages()) == sorted(f"{A}/{n}" for n in range(12))


def test_an_aborted_job_is_not_crawled_until_it_is_taken_back():
    async def operator(crawling):
        crawling.store.ask(SteerJobs("abort", ("news",)))
        await asyncio.sleep(20)
        assert f"{A}/x" not in crawling.web.pages()
        crawling.store.ask(SteerJobs("unabort", ("news",)))

    crawling, _ = crawl([A], linked_site(30), operator=operator, jobs=(job("news", f"{A}/x"),))
    assert f"{A}/x" in crawling.web.pages()


def test_an_aborted_job_does_not_keep_a_run_alive():
    crawling, reason = crawl(
        [A], linked_site(3), operator=asks(SteerJobs("abort", ("news",))), jobs=(job("news", f"{B}/x"),)
    )
    assert reason == "exhausted"
    assert f"{B}/x" not in crawling.web.pages()


def test_a_change_of_nice_holds_for_the_pages_on_the_todo_lists():
    crawling, _ = crawl([A], linked_site(12), operator=asks(3, SetJob("test", nice=7)))
    assert {page.nice for page in crawling.store.rows.pages.values()} == {7}


@pytest.mark.parametrize("places", [1, 2])
def test_a_job_has_at_most_so_many_pages_in_flight(places):
    """Over many origins, whose turns are far shorter than the answers."""
    origins = [f"http://o{n}.test" for n in range(6)]
    state = {"now": 0, "most": 0}

    class Counting(SimulatedWeb):
        async def exchange(self, request):
            limited = request.url.path.startswith("/limited")
            state["now"] += limited
            state["most"] = max(state["most"], state["now"])
            try:
                return await super().exchange(request)
            finally:
                state["now"] -= limited

    async def main():
        web = Counting(VirtualClock(), lambda url: replace(linked_site(2)(url), latency_ms=5_000))
        limited = job("limited", *(f"{origin}/limited/{n}" for origin in origins for n in range(3)), concurrency=places)
        crawling = Crawling(origins, web.answer, web=web, jobs=(limited,))
        return crawling, await crawling.run()

    crawling, reason = run_virtual(main())
    assert reason == "exhausted"
    assert state["most"] == places
    assert sum("/limited/" in url for url in crawling.web.pages()) == 18
    assert_polite(crawling)


def test_a_new_concurrency_holds_at_once():
    async def operator(crawling):
        await asyncio.sleep(20)
        crawling.store.ask(SetJob("test", concurrency=0))
        await asyncio.sleep(60)
        asked = len(crawling.web.asked)
        await asyncio.sleep(60)
        assert len(crawling.web.asked) == asked
        crawling.store.ask(SetJob("test", concurrency=-1))

    crawling, _ = crawl([A, B], linked_site(15), operator=operator)
    assert len(crawling.web.pages()) == 30


def test_an_unknown_job_is_an_error_in_the_journal():
    crawling, _ = crawl([A], linked_site(3), operator=asks(SetJob("nix", nice=3)))
    assert "nix" in crawling.store.results[1].error


# rules


def test_jobs_go_by_their_own_rulesets_and_attempts_keep_theirs():
    store = MemoryStore()
    store.rulesets = [
        Ruleset(1, "test", EMPTY),
        Ruleset(2, "news", PolicySet(rules=(Rule("/2", skip=True, source="c.yaml:7"),))),
    ]
    crawling, _ = crawl([A], linked_site(4), store=store, jobs=(job("news", f"{A}/1"),))
    assert crawling.web.pages().count(f"{A}/2") == 1, "skipped in the other job"
    skipped = [one for one in store.attempts if one.exit_code is ExitCode.skipped_by_rule]
    assert [(one.url, one.ruleset_id) for one in skipped] == [(f"{A}/2", 2)]
    assert {one.ruleset_id for one in store.attempts if one.requests and one.page_id} == {1, 2}


def test_applied_rules_hold_at_once_and_revive_what_they_allow():
    refusing = PolicySet(exclusions=(Exclusion("pattern", "/1[0-9]$", "not these"),))

    async def operator(crawling):
        await asyncio.sleep(3)
        crawling.store.ask(ApplyRules(to_json(refusing), 1))
        await asyncio.sleep(15)
        assert crawling.web.pages()
        assert not [url for url in crawling.web.pages() if "/1" in url[-3:-1]]
        crawling.store.ask(ApplyRules(to_json(EMPTY), 2))

    store = MemoryStore()
    store.rulesets = [Ruleset(1, "test", EMPTY)]
    links = tuple(f"/{n}" for n in range(30))
    crawling, _ = crawl([A, B], lambda url: Answer(links=links), store=store, operator=operator)
    assert sorted(crawling.web.pages()) == sorted(f"{origin}/{n}" for origin in (A, B) for n in range(30))
    assert result(crawling, 2)["rulesets"] == {"test": 3}


def test_a_ruleset_made_from_an_old_version_is_a_conflict():
    store = MemoryStore()
    store.rulesets = [Ruleset(1, "test", EMPTY)]
    crawl([A], linked_site(3), store=store, operator=asks(ApplyRules(to_json(EMPTY), 7)))
    assert "ruleset 1 is in force" in store.results[1].error
    assert len(store.rulesets) == 1


def test_an_excluded_origin_goes_on_when_the_entry_is_taken_off():
    async def operator(crawling):
        await asyncio.sleep(5)
        crawling.store.ask(Exclude("host", "a.test", "asked"))
        await asyncio.sleep(20)
        assert crawling.engine.table.states[A].finished is not None
        crawling.store.ask(Exclude("host", "a.test", remove=True))

    crawling, reason = crawl([A, B], linked_site(30), operator=operator)
    assert reason == "exhausted"
    assert len(set(crawling.web.pages())) == 60


def test_an_entry_of_the_rules_is_not_taken_off_by_hand():
    policies = PolicySet(exclusions=(Exclusion("host", "b.test", "asked", "", "crawl.yaml:9"),))
    crawling, _ = crawl([A], linked_site(3), policies=policies, operator=asks(Exclude("host", "b.test", remove=True)))
    assert "crawl.yaml:9" in crawling.store.results[1].error


def test_a_rule_that_gives_a_user_agent_chooses_the_group_of_robots_txt():
    robots = b"User-agent: special\nDisallow: /1\n\nUser-agent: *\nDisallow: /2\n"
    policies = PolicySet(rules=(Rule("/1", ua="special/2.0"), Rule("/2", ua="special/2.0")))
    crawling, _ = crawl([A], linked_site(4, robots), policies=policies)
    assert sorted(crawling.web.pages()) == [f"{A}/0", f"{A}/2", f"{A}/3"]
    assert {a.url: a.user_agent for a in crawling.web.asked}[f"{A}/2"] == "special/2.0"


# sitemaps


def sitemap_site(url: CrawlUrl) -> Answer:
    match url.path:
        case "/robots.txt":
            return Answer(body=f"Sitemap: {url.origin}/map.xml\nSitemap: http://other.test/map.xml\n".encode())
        case "/map.xml":
            return Answer(links=("/part.xml", "/from-index"))
        case "/part.xml":
            return Answer(links=("/listed", "/0"))
        case _:
            return Answer()


def test_sitemaps_of_robots_txt_are_read_with_their_index():
    crawling, _ = crawl([A], sitemap_site)
    assert sorted(crawling.web.pages()) == sorted(
        f"{A}/{n}" for n in ("0", "map.xml", "part.xml", "from-index", "listed")
    )
    kinds = {one.url: one.kind.value for one in crawling.store.attempts}
    assert kinds[f"{A}/map.xml"] == kinds[f"{A}/part.xml"] == "sitemap"
    assert kinds[f"{A}/listed"] == "page"
    assert crawling.store.refused[A, "scope"] == 1
    assert_polite(crawling)


def test_without_the_setting_no_sitemap_is_asked_for():
    crawling, _ = crawl([A], sitemap_site, more={"sitemaps": False})
    assert crawling.web.pages() == [f"{A}/0"]


def test_an_index_that_names_indexes_without_end_is_left_after_some_hops():
    def answer(url):
        if url.path == "/robots.txt":
            return Answer(body=b"Sitemap: http://a.test/1.xml\n")
        number = int(url.path.strip("/").partition(".")[0])
        return Answer(links=(f"/{number + 1}.xml",)) if url.path.endswith(".xml") else Answer()

    crawling, reason = crawl([A], answer)
    assert reason == "exhausted"
    assert sum(url.endswith(".xml") for url in crawling.web.pages()) == 11
    assert crawling.store.refused[A, "redirect_hops"] == 1


# probes


def test_a_probe_is_one_head_request_after_the_delay_and_changes_no_page():
    crawling, _ = crawl(
        [A, B],
        linked_site(8),
        operator=asks(3, ProbeUrls((f"{A}/4", f"{A}/4", "http://nowhere.test/", "ftp://a.test/"))),
    )
    heads = [a for a in crawling.web.asked if a.method == "HEAD"]
    assert [a.url for a in heads] == [f"{A}/4"]
    assert_polite(crawling)
    probed = result(crawling)["probed"]
    assert [(one["url"], one["exit_code"]) for one in probed] == [
        (f"{A}/4", "file_ingested"),
        ("http://nowhere.test/", ""),
        ("ftp://a.test/", ""),
    ]
    assert "add it first" in probed[1]["message"]
    (attempt,) = [one for one in crawling.store.attempts if one.kind.value == "check"]
    assert attempt.page_id is None
    assert sorted(a.url for a in crawling.web.asked if a.method == "GET").count(f"{A}/4") == 1


def test_a_probe_obeys_robots_txt():
    crawling, _ = crawl(
        [A], linked_site(5, b"User-agent: *\nDisallow: /no\n"), operator=asks(3, ProbeUrls((f"{A}/no",)))
    )
    assert not [a for a in crawling.web.asked if a.method == "HEAD"]
    assert result(crawling)["probed"][0]["exit_code"] == "blocked_by_robots_txt"


def test_a_paused_origin_is_not_probed():
    async def operator(crawling):
        await asyncio.sleep(3)
        crawling.store.ask(PauseOrigins((A,)))
        crawling.store.ask(ProbeUrls((f"{A}/1",)))
        await asyncio.sleep(60)
        assert "paused" in result(crawling, 2)["probed"][0]["message"]
        crawling.engine.stop(RunReason.operator, 0)

    crawling, _ = crawl([A], linked_site(9), operator=operator)
    assert not [a for a in crawling.web.asked if a.method == "HEAD"]


def test_probes_are_made_while_the_database_rests_and_nothing_else_is():
    async def main():
        crawling = Crawling([A], linked_site(6), max_requests=3)
        await crawling.run()
        asked = len(crawling.web.asked)
        crawling.store.ask(ProbeUrls((f"{A}/1", f"{A}/5")))
        resting = Crawling([A], linked_site(6), store=crawling.store, web=crawling.web)
        await resting.engine.rest()
        return crawling, crawling.web.asked[asked:]

    crawling, asked = run_virtual(main())
    assert [(a.method, a.url) for a in asked] == [("HEAD", f"{A}/1"), ("HEAD", f"{A}/5")]
    assert_polite(crawling)
    assert len(result(crawling)["probed"]) == 2


def test_a_probe_of_a_site_whose_robots_txt_is_down_is_answered_so():
    async def main():
        crawling = Crawling([A], lambda url: Answer(ExitCode.server_internal_error, 500))
        await crawling.run()
        crawling.store.ask(ProbeUrls((f"{A}/1",)))
        resting = Crawling([A], crawling.web.answer, store=crawling.store, web=crawling.web)
        await resting.engine.rest()
        return crawling

    crawling = run_virtual(main())
    assert "robots.txt" in result(crawling)["probed"][0]["message"]
    assert not [a for a in crawling.web.asked if a.method == "HEAD"]


# offline mode and segments


def test_offline_mode_stores_and_queues_nothing():
    crawling, reason = crawl([A], linked_site(5), more={"offline": True})
    assert reason == "exhausted"
    assert crawling.web.pages() == [f"{A}/0"]
    assert len(crawling.store.rows.documents) == 1
    assert sum(map(len, crawling.store.rows.links.values())) == 3


def test_a_segment_is_loaded_while_the_run_is_live_and_its_origins_join():
    store = MemoryStore()
    store.segments["/s/1"] = (page(f"{A}/listed", depth=4), page(f"{C}/", depth=1))

    crawling, _ = crawl([A], linked_site(4), store=store, operator=asks(2, LoadSegment("/s/1"), LoadSegment("/s/1")))
    assert {f"{A}/listed", f"{C}/"} <= set(crawling.web.pages())
    assert result(crawling, 1)["pages"] == {A: 1, C: 1}
    assert "no segment" in store.results[2].error


def test_with_few_origins_left_the_rest_is_saved_and_the_run_ends():
    sizes = {A: 2, B: 50, C: 60}
    crawling, reason = crawl(list(sizes), lambda url: linked_site(sizes[url.origin])(url), more={"min_origins": 3})
    assert reason == "few_origins"
    assert crawling.store.saved_rest
    assert len(crawling.web.pages()) < 30


def test_a_crawl_of_fewer_origins_than_that_may_begin():
    crawling, reason = crawl([A], linked_site(4), more={"min_origins": 5})
    assert reason == "exhausted"
    assert len(crawling.web.pages()) == 4
    assert not crawling.store.saved_rest


def test_with_few_origins_left_the_next_segment_is_loaded():
    store = MemoryStore()
    store.segments = {"/s/1": (page(f"{C}/0"),), "/s/2": (page("http://d.test/0"),)}
    crawling, reason = crawl([A, B], linked_site(6), store=store, more={"min_origins": 2, "load_next": True})
    assert reason == "exhausted"
    assert not store.segments
    assert {"http://c.test/0", "http://d.test/0"} <= set(crawling.web.pages())
    assert_polite(crawling)


def test_an_entry_taken_off_or_rules_taken_back_at_rest_say_whose_run_they_let_go_on():
    """So that a console knows whether the run that had ended has something to do again."""
    no_pages = PolicySet(exclusions=(Exclusion("host", "b.test", "asked"),))

    async def main():
        store = MemoryStore()
        store.rulesets = [Ruleset(1, "test", EMPTY)]
        crawling = Crawling([A, B], linked_site(2), store=store)
        store.ask(Exclude("host", "a.test", "asked"))
        store.ask(ApplyRules(to_json(no_pages), 1))
        assert await crawling.run() == "exhausted"
        assert not crawling.web.pages()
        store.ask(Exclude("host", "a.test", "asked", remove=True))
        store.ask(ApplyRules(to_json(EMPTY), 2))
        await Crawling([A, B], linked_site(2), store=store, web=crawling.web).engine.rest()
        return crawling

    crawling = run_virtual(main())
    assert result(crawling, 3)["origins"] == [A]
    assert set(result(crawling, 3)["pages"]) <= {A}
    assert result(crawling, 4)["origins"] == [B]
