"""The engine in virtual time: whole crawls, the operator's commands, failures of every port."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from dataclasses import replace

import pytest

from tests.engine.crawls import Crawling, asks, assert_polite, crawl
from tests.support.memory_store import MemoryStore
from tests.support.simulated_web import Answer, linked_site
from tui_crawler.domain.records.command import (
    AddSeeds,
    Exclude,
    PauseOrigins,
    RefetchRobots,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.exit_code import DISPOSITIONS, ExitCode
from tui_crawler.domain.records.failure import OutOfDescriptors
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.domain.rules.admission import Limits
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import PolicySet, Whitelist
from tui_crawler.engine import engine
from tui_crawler.engine.clock import run_virtual

A, B, C = "http://a.test", "http://b.test", "http://c.test"


def test_every_page_once_robots_first_one_at_a_time():
    crawling, reason = crawl([A, B, C], linked_site(20))
    assert reason == "exhausted"
    for origin in (A, B, C):
        asked = [a.url for a in sorted(crawling.web.asked, key=lambda a: a.started) if a.origin == origin]
        assert asked[0] == f"{origin}/robots.txt"
        assert sorted(asked[1:]) == sorted(f"{origin}/{n}" for n in range(20))
    assert_polite(crawling)
    assert crawling.heard.finish_reasons() == dict.fromkeys((A, B, C), "exhausted")
    assert crawling.web.most_under_way <= 3


def test_thousands_of_turns():
    crawling, reason = crawl([f"http://o{n}.test" for n in range(20)], linked_site(120), max_in_flight=4)
    assert reason == "exhausted"
    assert len(crawling.web.pages()) == 2400
    assert crawling.web.most_under_way <= 4
    assert_polite(crawling)


def test_plain_turn_taking_serves_origins_in_turn():
    crawling, _ = crawl([A, B], linked_site(6), max_in_flight=1)
    assert crawling.web.most_under_way == 1
    order = [a.origin for a in sorted(crawling.web.asked, key=lambda a: a.started)]
    assert order == [A, B] * 7


def test_a_shared_politeness_key_keeps_the_gap_between_origins():
    crawling, _ = crawl([A, B], linked_site(5), key_of=lambda origin, address: "one")
    asked = sorted(crawling.web.asked, key=lambda a: a.started)
    gaps = [b.started - a.ended for a, b in itertools.pairwise(asked)]
    assert min(gaps) >= 1000


def test_robots_txt_is_obeyed_and_its_refusals_are_logged():
    robots = b"User-agent: *\nDisallow: /3\nCrawl-delay: 4\n"
    crawling, _ = crawl([A], linked_site(6, robots))
    assert f"{A}/3" not in crawling.web.pages()
    assert_polite(crawling, 4000)
    codes = [e.exit_code for e in crawling.heard.named("attempt_finished") if e.url == f"{A}/3"]
    assert codes == ["blocked_by_robots_txt"]


def test_an_unreachable_robots_ends_the_origin_after_five_tries_and_asks_for_nothing_else():
    crawling, reason = crawl([A], lambda url: Answer(ExitCode.server_internal_error, 500))
    assert reason == "exhausted"
    assert [a.url for a in crawling.web.asked] == [f"{A}/robots.txt"] * 5
    assert crawling.heard.finish_reasons() == {A: "patience"}


def test_a_robots_redirect_to_another_origin_counts_there():
    def answer(url):
        if url.href == f"{A}/robots.txt":
            return Answer(ExitCode.redirect, 302, location=f"{B}/robots.txt")
        return linked_site(4, b"User-agent: *\nDisallow: /2\n")(url)

    crawling, _ = crawl([A, B], answer)
    assert_polite(crawling)
    assert f"{A}/2" not in crawling.web.pages()
    assert sum(a.url == f"{B}/robots.txt" for a in crawling.web.asked) == 2


@pytest.mark.parametrize("reason", [RunReason.interrupted, RunReason.max_requests])
def test_hops_of_robots_txt_are_in_the_log_though_the_run_ends_before_the_last(reason):
    def answer(url):
        return Answer(ExitCode.redirect, 302, location=f"{url.origin}/robots{len(url.path)}.txt")

    async def main():
        crawling = Crawling([A], answer, max_requests=1 if reason is RunReason.max_requests else None)

        async def operator(_):
            await asyncio.sleep(1.5)
            crawling.engine.stop(RunReason.interrupted, 1_000)

        assert await crawling.run_with(operator) in {"interrupted", "max_requests"}
        return crawling

    crawling = run_virtual(main())
    logged = [one.url for attempt in crawling.store.attempts for one in attempt.requests]
    assert logged == [one.url for one in crawling.web.asked] != []
    assert [one.exit_code for one in crawling.store.attempts] == [ExitCode.cancelled]
    assert_polite(crawling)


def test_endless_robots_redirects_allow_everything():
    def answer(url):
        if url.path.startswith("/robots"):
            return Answer(ExitCode.redirect, 302, location=f"{url.origin}/robots{len(url.path)}.txt")
        return linked_site(2)(url)

    crawling, reason = crawl([A], answer)
    assert reason == "exhausted"
    assert len(crawling.web.asked) == 6 + 2
    assert len(crawling.heard.named("robots_fetched")) == 1
    assert_polite(crawling)


def test_failed_pages_are_retried_in_the_run_and_patience_runs_out():
    def answer(url):
        if url.path in {"/robots.txt", "/0"}:
            return linked_site(4)(url)
        return Answer(ExitCode.connection_failed, None)

    crawling, _ = crawl([A], answer)
    assert crawling.heard.finish_reasons() == {A: "patience"}
    assert len(crawling.web.pages()) == 1 + 5


def test_three_tries_each_when_patience_lasts():
    def answer(url):
        return Answer(ExitCode.request_timeout, None) if url.path == "/1" else linked_site(4)(url)

    crawling, _ = crawl([A], answer, patience=50)
    assert crawling.web.pages().count(f"{A}/1") == 3


def test_retry_after_is_waited_out_and_too_long_a_one_ends_the_origin():
    seen = []

    def answer(url):
        if url.path == "/1" and not seen:
            seen.append(url)
            return Answer(ExitCode.rate_limited, 429, retry_after_ms=60_000)
        if url.origin == B and url.path == "/0":
            return Answer(ExitCode.rate_limited, 429, retry_after_ms=3_600_000)
        return linked_site(4)(url)

    crawling, _ = crawl([A, B], answer)
    assert max(crawling.web.gaps()[A]) >= 60_000
    assert crawling.heard.finish_reasons() == {A: "exhausted", B: "rate_limited"}
    assert f"{A}/1" in crawling.web.pages()[-3:]


def test_max_requests_counts_turns_that_made_a_request():
    crawling, reason = crawl([A, B], linked_site(50), max_requests=10)
    assert reason == "max_requests"
    assert len(crawling.web.asked) == 10
    assert set(crawling.heard.finish_reasons().values()) == {"max_requests"}
    last = crawling.heard.events[-1]
    assert (last.event, dict(last.extra)["requests"]) == ("run_finished", 10)


def test_pause_stops_one_origin_only_and_keeps_the_run_alive():
    async def operator(crawling):
        await asyncio.sleep(5)
        crawling.store.ask(PauseOrigins((A,)))
        await asyncio.sleep(1.5)
        before = len([a for a in crawling.web.asked if a.origin == A])
        others = len([a for a in crawling.web.asked if a.origin == B])
        await asyncio.sleep(600)
        assert len([a for a in crawling.web.asked if a.origin == A]) == before
        assert len([a for a in crawling.web.asked if a.origin == B]) > others
        assert not crawling.heard.named("run_finished")
        crawling.store.ask(ResumeOrigins((A,)))

    crawling, reason = crawl([A, B], linked_site(12), operator=operator)
    assert reason == "exhausted"
    assert len(crawling.web.pages()) == 24
    assert [e.origin for e in crawling.heard.named("origin_paused")] == [A]
    assert_polite(crawling)


def test_a_pause_stays_that_came_while_an_origin_joined_with_a_page():
    class SlowToJoin(MemoryStore):
        async def add_origins(self, names, external=False, start_path=""):
            self.ask(PauseOrigins((A,)))
            await asyncio.sleep(5)
            return await super().add_origins(names, external)

    seen = []

    async def operator(crawling):
        await asyncio.sleep(60)
        seen.extend((crawling.engine.table.states[A].paused, crawling.store.crawlers[A].record.paused))
        crawling.store.ask(ResumeOrigins((A,)))

    def answer(url):
        return Answer(links=(f"{A}/1", f"{B}/0")) if url.path == "/0" else Answer()

    policies = PolicySet(whitelist=Whitelist(domains=("b.test",)))
    crawling, reason = crawl([A], answer, operator=operator, policies=policies, store=SlowToJoin())
    assert seen == [True, True], "it holds, and the next start knows of it"
    assert (reason, crawling.web.pages()) == ("exhausted", [f"{A}/0", f"{B}/0", f"{A}/1"])


def test_a_wake_is_obeyed_at_once():
    async def operator(crawling):
        await asyncio.sleep(3)
        crawling.store.ask(PauseOrigins())
        crawling.engine.wake()
        await asyncio.sleep(0.05)
        assert all(state.paused for state in crawling.engine.table.states.values())
        crawling.store.ask(StopOrigins())

    _, reason = crawl([A, B], linked_site(12), operator=operator)
    assert reason == "operator"


class Hinting(MemoryStore):
    """A store that hints at what is asked for."""

    looks = 0

    def watch(self, told, hinted):
        super().watch(told, hinted)
        self.hinted = hinted
        return True

    async def take_actions(self):
        self.looks += 1
        return await super().take_actions()


def test_where_hints_come_the_journal_is_looked_at_then_and_once_a_second():
    looks = []

    async def operator(crawling):
        await asyncio.sleep(3)
        before = crawling.store.looks
        await asyncio.sleep(10)
        looks.append(crawling.store.looks - before)
        crawling.store.ask(PauseOrigins())
        crawling.store.hinted()
        await asyncio.sleep(0.05)
        assert all(state.paused for state in crawling.engine.table.states.values())
        crawling.store.ask(StopOrigins())

    _, reason = crawl([A, B], linked_site(40), operator=operator, store=Hinting())
    assert (reason, looks) == ("operator", [10])


def test_stop_ends_an_origin_for_this_run_and_resume_brings_it_back():
    async def operator(crawling):
        await asyncio.sleep(4)
        crawling.store.ask(StopOrigins((A,)))
        await asyncio.sleep(2)
        assert crawling.heard.finish_reasons() == {A: "operator"}
        crawling.store.ask(ResumeOrigins((A,)))

    crawling, _ = crawl([A, B], linked_site(10), operator=operator)
    assert len(crawling.web.pages()) == 20


def test_added_seeds_come_first_and_bring_their_origin():
    async def operator(crawling):
        await asyncio.sleep(4.05)
        crawling.store.ask(AddSeeds((f"{A}/added", f"{C}/0")))
        await asyncio.sleep(3)
        assert f"{A}/added" in crawling.web.pages()

    crawling, _ = crawl([A], linked_site(30), operator=operator)
    assert len([a for a in crawling.web.asked if a.origin == C]) == 31
    assert_polite(crawling)


def test_an_added_seed_reopens_an_exhausted_origin():
    async def operator(crawling):
        await asyncio.sleep(30)
        assert A in crawling.heard.finish_reasons()
        crawling.store.ask(AddSeeds((f"{A}/late",)))

    crawling, _ = crawl([A, B], lambda url: linked_site(3 if url.origin == A else 60)(url), operator=operator)
    assert f"{A}/late" in crawling.web.pages()


def test_retry_and_patience_bring_a_dead_origin_back():
    healed = []

    def answer(url):
        if url.origin == A and url.path != "/robots.txt" and not healed:
            return Answer(ExitCode.connection_failed, None)
        return linked_site(60 if url.origin == B else 1)(url)

    async def operator(crawling):
        await asyncio.sleep(20)
        assert crawling.heard.finish_reasons()[A] == "exhausted"
        healed.append(True)
        crawling.store.ask(RetryPages(origins=(A,)))

    crawling, _ = crawl([A, B], answer, operator=operator)
    assert crawling.web.pages().count(f"{A}/0") == 3 + 1
    ended = [e for e in crawling.heard.named("origin_finished") if e.origin == A]
    assert len(ended) == 2


def test_what_is_put_back_comes_next_and_new_patience_is_spent_on_it():
    """An origin gave up with much on its todo list: the pages put back come before that, whoever healed it or not."""

    def answer(url):
        if url.href == f"{A}/0":
            return Answer(links=tuple(f"/{n}" for n in range(1, 20)))
        if url.origin == A and url.path != "/robots.txt":
            return Answer(ExitCode.server_internal_error, 500)
        return linked_site(60)(url)

    asked = []

    async def operator(crawling):
        await asyncio.sleep(25)
        assert crawling.heard.finish_reasons()[A] == "patience"
        asked.extend(a.url for a in crawling.web.asked if a.origin == A and a.url != f"{A}/robots.txt")
        crawling.store.ask(RetryPages(origins=(A,)))
        await asyncio.sleep(2)
        assert crawling.heard.finish_reasons()[A] == "patience", "a retry alone gives no patience"
        crawling.store.ask(TopUpPatience((A,)))

    crawling, _ = crawl([A, B], answer, operator=operator)
    later = [a.url for a in crawling.web.asked if a.origin == A and a.url != f"{A}/robots.txt"][len(asked) :]
    assert len(asked) == 1 + 5
    assert later == asked[1:], "the five that had failed, and none of the fourteen before them in the queue"
    assert_polite(crawling)


def test_a_page_of_the_todo_list_that_is_put_back_comes_first_with_all_its_tries():
    def answer(url):
        if url.href == f"{A}/0":
            return Answer(links=tuple(f"/{n}" for n in range(1, 30)))
        if url.href == f"{A}/3":
            return Answer(ExitCode.server_internal_error, 503)
        return Answer()

    async def operator(crawling):
        await asyncio.sleep(10)
        before = [a.url for a in crawling.web.asked]
        assert before.count(f"{A}/3") == 1
        crawling.store.ask(RetryPages(urls=(f"{A}/3",)))
        await asyncio.sleep(2)
        assert f"{A}/3" in [a.url for a in crawling.web.asked][len(before) : len(before) + 2]

    crawling, _ = crawl([A], answer, operator=operator)
    assert crawling.web.pages().count(f"{A}/3") == 1 + 3
    assert max(Counter(crawling.web.pages()).values()) == 4
    assert_polite(crawling)


def test_a_continued_run_ends_at_an_origin_that_is_excluded_since():
    """What stood on its todo list is refused and logged; nothing is asked."""

    async def main():
        first = Crawling([A], linked_site(30))
        await first.crash_after(8)
        asked = len(first.web.asked)
        excluded = PolicySet(exclusions=(Exclusion("domain", "a.test", "asked to", "mara"),))
        second = Crawling([A], linked_site(30), store=first.store, web=first.web, policies=excluded)
        assert first.store.crawlers[A].todo
        return second, await second.run(), asked

    crawling, reason, asked = run_virtual(main())
    assert (reason, crawling.heard.finish_reasons()) == ("exhausted", {A: "excluded"})
    assert len(crawling.web.asked) == asked
    refused = {e.url for e in crawling.heard.named("attempt_finished") if e.exit_code == "blocked_by_exclusion_list"}
    known = {page.url for page in crawling.store.rows.pages.values()}
    assert refused == known - {e.url for e in crawling.store.attempts if DISPOSITIONS[e.exit_code].contentful}


def test_topping_up_patience_continues_an_origin_that_gave_up():
    healed = []

    def answer(url):
        if url.href == f"{A}/0":
            return Answer(links=tuple(f"/{n}" for n in range(1, 20)))
        if url.origin == A and url.path != "/robots.txt" and not healed:
            return Answer(ExitCode.server_internal_error, 500)
        return linked_site(60 if url.origin == B else 20)(url)

    async def operator(crawling):
        await asyncio.sleep(25)
        assert crawling.heard.finish_reasons()[A] == "patience"
        healed.append(True)
        crawling.store.ask(TopUpPatience((A,)))

    crawling, _ = crawl([A, B], answer, operator=operator)
    assert {a.url for a in crawling.web.asked} >= {f"{A}/{n}" for n in range(20)}


def test_the_operators_delay_only_slows_down():
    crawling, _ = crawl([A], linked_site(8), operator=asks(2, SetDelay(A, 9_000)))
    assert max(crawling.web.gaps()[A]) >= 9_000
    assert_polite(crawling)


def test_a_delay_that_the_operator_lowers_again_is_another_at_once_and_the_wait_under_way_stays():
    told = []

    async def operator(crawling):
        await asyncio.sleep(2)
        for ms in (9_000, 0):
            crawling.store.ask(SetDelay(A, ms))
            await asyncio.sleep(1)
            state = crawling.engine.table.states[A]
            told.append((state.delay_ms, state.delay_reason.value, state.next_request_at))

    crawling, _ = crawl([A], linked_site(8), operator=operator)
    (raised, how, then), (lowered, why, still) = told
    assert (raised, how, lowered, why) == (9_000, "operator", 1_000, "lowered")
    assert still == then
    gaps = crawling.web.gaps()[A]
    assert sorted(gaps)[-1] >= 9_000 > sorted(gaps)[-2], "the wait that was promised, and no other"
    assert_polite(crawling)


def robots_asked(crawling, origin):
    return [a.started for a in crawling.web.asked if a.url == f"{origin}/robots.txt"]


def test_robots_are_fetched_again_at_once_but_never_before_the_delay():
    asked_at = []

    async def operator(crawling):
        await asyncio.sleep(5)
        asked_at.append(crawling.clock.now().mono_ms)
        crawling.store.ask(RefetchRobots((A,)))

    crawling, reason = crawl([A, B], linked_site(20), operator=operator)
    assert reason == "exhausted"
    first, again = robots_asked(crawling, A)
    assert asked_at[0] <= again <= asked_at[0] + 2_000
    assert first < asked_at[0]
    assert len(robots_asked(crawling, B)) == 1
    assert_polite(crawling)
    assert len(set(crawling.web.pages())) == len(crawling.web.pages()) == 40


def test_new_robots_rules_hold_from_the_refetch_on():
    closed = []

    def answer(url):
        if url.path == "/robots.txt" and closed:
            return Answer(body=b"User-agent: *\nDisallow: /\n")
        return linked_site(30)(url)

    async def operator(crawling):
        await asyncio.sleep(6)
        closed.append(len(crawling.web.pages()))
        crawling.store.ask(RefetchRobots())

    crawling, _ = crawl([A], answer, operator=operator)
    assert len(robots_asked(crawling, A)) == 2
    assert len(crawling.web.pages()) <= closed[0] + 1
    assert "blocked_by_robots_txt" in {e.exit_code for e in crawling.heard.named("attempt_finished")}


def test_a_refetch_wakes_an_origin_that_had_nothing_left_but_not_one_that_gave_up():
    def answer(url):
        if url.origin == A:
            return Answer(ExitCode.connection_failed, None)
        return linked_site({B: 2}.get(url.origin, 60))(url)

    async def operator(crawling):
        await asyncio.sleep(40)
        assert crawling.heard.finish_reasons() == {A: "patience", B: "exhausted"}
        crawling.store.ask(RefetchRobots((A, B)))

    crawling, _ = crawl([A, B, C], answer, operator=operator)
    assert len(robots_asked(crawling, A)) == 5
    assert len(robots_asked(crawling, B)) == 2
    assert crawling.heard.finish_reasons() == {A: "patience", B: "exhausted", C: "exhausted"}
    assert_polite(crawling)


def test_an_exclusion_ends_its_origin():
    crawling, _ = crawl([A, B], linked_site(30), operator=asks(5, Exclude("host", "a.test", "owner asked")))
    assert crawling.heard.finish_reasons() == {A: "excluded", B: "exhausted"}
    assert len([a for a in crawling.web.asked if a.origin == A]) < 8


def test_an_excluded_seed_is_logged_and_nothing_is_asked_of_it():
    policies = PolicySet((), (), (Exclusion("host", "a.test", "owner asked", "", "x.yaml:3"),), None, ())
    crawling, _ = crawl([A, B], linked_site(3), policies=policies)
    assert {a.origin for a in crawling.web.asked} == {B}
    assert crawling.heard.finish_reasons()[A] == "excluded"
    assert [e.exit_code for e in crawling.heard.named("attempt_finished") if e.origin == A] == [
        "blocked_by_exclusion_list"
    ]


def test_a_bad_command_is_answered_with_its_error():
    async def operator(crawling):
        await asyncio.sleep(2)
        wrong = [
            crawling.store.ask(PauseOrigins(("http://nowhere.test",))),
            crawling.store.ask(AddSeeds(("ftp://x/",))),
        ]
        await asyncio.sleep(2)
        assert all(crawling.store.results[number].error for number in wrong)

    _, reason = crawl([A], linked_site(8), operator=operator)
    assert reason == "exhausted"


def test_stopping_lets_requests_end_and_then_cancels_them():
    async def operator(crawling):
        await asyncio.sleep(4.5)
        crawling.engine.stop(RunReason.interrupted, 5_000)

    slow = {"/3"}

    def answer(url):
        return Answer(latency_ms=60_000) if url.path in slow else linked_site(30)(url)

    crawling, reason = crawl([A], answer, operator=operator)
    assert reason == "interrupted"
    codes = [e.exit_code for e in crawling.heard.named("attempt_finished")]
    assert codes[-1] == "cancelled"
    assert crawling.clock is not None


def test_an_operators_stop_of_everything_waits_for_a_request_and_not_for_long():
    def answer(url):
        return Answer(latency_ms=60_000) if url.path == "/3" else linked_site(30)(url)

    crawling, reason = crawl([A], answer, operator=asks(4.5, StopOrigins(())))
    assert reason == "operator"
    last = crawling.heard.named("attempt_finished")[-1]
    assert last.exit_code == "cancelled"
    ended = crawling.heard.named("run_finished")[0].at
    begun = crawling.heard.named("run_started")[0].at
    assert 8_000 <= ended - begun <= 8_500


def test_an_interrupted_run_is_continued_with_the_page_it_cancelled():
    async def main():
        slow = True

        def answer(url):
            return Answer(latency_ms=60_000) if slow and url.path == "/3" else linked_site(10)(url)

        first = Crawling([A], answer)

        async def operator(crawling):
            await asyncio.sleep(6)
            crawling.engine.stop(RunReason.interrupted, 1_000)

        assert await first.run_with(operator) == "interrupted"
        slow = False
        second = Crawling([A], answer, store=first.store)
        assert await second.run() == "exhausted"
        assert second.heard.named("run_started")[0].extra[1] == ("continued", True)
        assert f"{A}/robots.txt" not in [a.url for a in second.web.asked]
        both = first.web.pages() + second.web.pages()
        assert sorted(set(both)) == sorted(f"{A}/{n}" for n in range(10))
        assert both.count(f"{A}/3") == 2
        assert len(both) == 11

    run_virtual(main())


def test_a_turn_that_raises_ends_its_origin_and_not_the_run():
    def answer(url):
        if url.href == f"{A}/2":
            raise RuntimeError("a bug")
        return linked_site(5)(url)

    crawling, reason = crawl([A, B], answer)
    assert reason == "exhausted"
    assert crawling.heard.finish_reasons() == {A: "patience", B: "exhausted"}
    codes = [e.exit_code for e in crawling.heard.named("attempt_finished") if e.origin == A]
    assert codes[-1] == "local_processing_error"
    told = [dict(e.extra)["pages_failed"] for e in crawling.heard.named("origin_finished") if e.origin == A]
    assert told == [1], "the page it was about has failed"


def test_a_database_that_takes_nothing_stops_all_requests_until_it_does():
    async def operator(crawling):
        await asyncio.sleep(4.45)  # A has a request in flight, B has none
        crawling.store.fail_writes = True
        await asyncio.sleep(0.1)
        asked = len(crawling.web.asked)
        await asyncio.sleep(120)
        assert len(crawling.web.asked) == asked
        crawling.store.fail_writes = False

    def answer(url):
        found = linked_site(12)(url)
        return replace(found, latency_ms=600) if url.origin == B else found

    crawling, reason = crawl([A, B], answer, operator=operator)
    assert reason == "error", "pages of A are pending"
    (finished,) = crawling.heard.named("run_finished")
    assert "refused an attempt of http://a.test" in str(dict(finished.extra)["message"])
    assert crawling.heard.finish_reasons() == {A: "database_error", B: "exhausted"}
    (failed,) = crawling.heard.named("database_failed")
    (restored,) = crawling.heard.named("database_restored")
    assert "disk" in str(dict(failed.extra)["message"])
    assert restored.at - failed.at >= 119_000
    assert len([url for url in crawling.web.pages() if url.startswith(B)]) == 12


def test_the_first_of_many_origins_do_not_wait_until_the_last_is_open(monkeypatch):
    monkeypatch.setattr(engine, "_OPENED", 2)  # origins at once: 512
    origins = [f"http://{number}.test" for number in range(7)]
    open_then = []

    async def main():
        crawling = Crawling(origins, linked_site(2))
        crawling.web.on_request = lambda _: open_then.append(len(crawling.heard.named("origin_started")))
        return crawling, await crawling.run()

    crawling, reason = run_virtual(main())
    assert reason == "exhausted"
    assert open_then[0] < len(origins) == open_then[-1]
    assert len(crawling.web.pages()) == 2 * len(origins)
    assert_polite(crawling)


def test_want_of_descriptors_costs_a_wait_and_neither_a_page_nor_patience():
    short = iter([False, False, True, True, False, True])

    def on_request(name):
        if next(short, False):
            raise OutOfDescriptors("Too many open files")

    async def main():
        crawling = Crawling([A, B], linked_site(6))
        crawling.web.on_request = on_request
        return crawling, await crawling.run()

    crawling, reason = run_virtual(main())
    assert reason == "exhausted"
    assert crawling.heard.finish_reasons() == {A: "exhausted", B: "exhausted"}
    assert Counter(crawling.web.pages()) == {f"{origin}/{n}": 1 for origin in (A, B) for n in range(6)}
    assert {event.exit_code for event in crawling.heard.named("attempt_finished")} == {"file_ingested"}


def test_a_full_disk_is_waited_for_without_a_request_and_nothing_is_lost():
    async def operator(crawling):
        await asyncio.sleep(4.45)  # A has a request in flight, B has none
        crawling.store.full = True
        await asyncio.sleep(3)  # what was in flight has come, and waits
        asked = len(crawling.web.asked)
        await asyncio.sleep(3_600)
        assert len(crawling.web.asked) == asked
        crawling.store.full = False

    def answer(url):
        found = linked_site(12)(url)
        return replace(found, latency_ms=600) if url.origin == B else found

    crawling, reason = crawl([A, B], answer, operator=operator)
    assert reason == "exhausted"
    assert crawling.heard.finish_reasons() == {A: "exhausted", B: "exhausted"}
    assert Counter(crawling.web.pages()) == {f"{origin}/{n}": 1 for origin in (A, B) for n in range(12)}
    (failed,) = crawling.heard.named("database_failed")
    (restored,) = crawling.heard.named("database_restored")
    assert restored.at - failed.at >= 3_600_000


def test_a_run_that_is_stopped_while_the_disk_is_full_says_what_is_left_and_the_next_goes_on():
    async def operator(crawling):
        await asyncio.sleep(4.45)
        crawling.store.full = True
        await asyncio.sleep(60)
        crawling.engine.stop(RunReason.interrupted, 5_000)

    crawling, reason = crawl([A, B], linked_site(12), operator=operator)
    assert reason == "interrupted"
    assert crawling.heard.finish_reasons() == {}
    (ended,) = crawling.heard.named("run_finished")
    said = str(dict(ended.extra)["message"])
    assert "the disk is full" in said
    assert "the next start continues this run" in said


def test_a_lost_lease_ends_the_run():
    async def operator(crawling):
        await asyncio.sleep(5)
        crawling.store.lease_lost = True

    crawling, reason = crawl([A], linked_site(30), operator=operator)
    assert reason == "error"
    assert len(crawling.web.asked) < 20


def test_the_trap_guard_counts_by_reason():
    def answer(url):
        if url.path == "/robots.txt":
            return Answer(ExitCode.file_not_found, 404)
        return Answer(links=(url.path.rstrip("/") + "/a",))

    crawling, reason = crawl([A], answer, limits=Limits())
    assert reason == "exhausted"
    assert len(crawling.web.pages()) <= 5


@pytest.mark.parametrize("seed", range(4))
def test_faulty_webs_terminate_politely(seed):
    crawling, reason = crawl([A, B, C], linked_site(40, faults=0.25, seed=seed))
    assert reason == "exhausted"
    assert_polite(crawling)
