"""Origin crawlers, their turns and the scheduler (U, M): who crawls what, in which order, and why nothing moves."""

from __future__ import annotations

import pytest

from tests.designs.crawling import SECOND, WEEK, Crawling
from tests.designs.web import Answer, Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import PauseOrigins, ResumeOrigins, StopOrigins, TopUpPatience
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.wiring.crawl import Crawl


def origin_row(crawl: Crawling, site: Site) -> dict[str, object]:
    """An origin as `v_origin` has it."""
    (row,) = crawl.rows("SELECT * FROM v_origin WHERE origin = ?", site.origin)
    return row


def idle_reason(crawl: Crawling, site: Site) -> str:
    """Why nothing moves there, as `status` says it."""
    rows = crawl.ask("status", "--json").json["origins"]
    return next(str(row["idle_reason"]) for row in rows if row["origin"] == site.origin)


def test_one_crawler_for_each_origin_of_the_seeds(crawl: Crawling) -> None:
    one, two, stranger = crawl.site(), crawl.site(), crawl.site()
    one.page("/", two.url("/from-one"), stranger.url("/x"))
    two.page("/", one.url("/from-two"))
    one.page("/from-two")
    two.page("/from-one")
    crawl.run(seeds=[one.url(), two.url()])
    assert one.asked == ["/", "/from-two"]
    assert two.asked == ["/", "/from-one"]
    assert stranger.seen == []
    assert [row["origin"] for row in crawl.rows("SELECT origin FROM v_origin ORDER BY 1")] == sorted(
        [one.origin, two.origin]
    )
    assert crawl.refused() == {"scope": 1}
    assert crawl.value("SELECT count(*) FROM v_link WHERE to_url = ?", stranger.url("/x")) == 1


def test_robots_then_seeds_then_what_was_found(crawl: Crawling) -> None:
    site = crawl.site().pages("/found")
    site.page("/seed")
    crawl.run(seeds=[site.url(), site.url("/seed")])
    assert [one.target for one in site.seen] == ["/robots.txt", "/", "/seed", "/found"]
    crawl.run(seeds=[site.url(), site.url("/seed")], later=5 * WEEK)
    assert [one.target for one in site.seen][4:] == ["/robots.txt", "/", "/seed", "/found"]


def test_turns_are_taken_by_time_and_then_by_who_was_served_longest_ago(crawl: Crawling) -> None:
    sites = [crawl.site() for _ in range(3)]
    for site in sites:
        site.page("/", "/a")
        site.page("/a")
    crawl.run("crawl: {max_in_flight: 1}")
    order = sorted((one.at, site.origin) for site in sites for one in site.seen)
    rounds = [[origin for _, origin in order[start : start + 3]] for start in (0, 3, 6)]
    assert rounds[0] == rounds[1] == rounds[2]
    assert len(set(rounds[0])) == 3


def test_requests_at_once_are_to_different_origins_and_bounded(crawl: Crawling) -> None:
    sites = [crawl.site() for _ in range(3)]
    for site in sites:
        site.page("/", "/a", takes_ms=500)
        site.page("/a", takes_ms=500)
    crawl.run("crawl: {max_in_flight: 2}")
    spans = sorted(
        (one.at, one.ended, site.origin) for site in sites for one in site.seen if one.target != "/robots.txt"
    )
    at_once = [sum(begin <= moment < end for begin, end, _ in spans) for moment, _, _ in spans]
    assert max(at_once) == 2
    for site in sites:
        assert min(site.gaps) >= SECOND


def test_five_persistent_failures_end_an_origin_and_only_it(crawl: Crawling) -> None:
    good, bad = crawl.site(), crawl.site()
    good.page("/", *(f"/{number}" for number in range(8)))
    bad.page("/", *(f"/{number}" for number in range(8)))
    for number in range(8):
        bad.answer(f"/{number}", Answer(500))
        good.answer(f"/{number}", Answer(404))
    ended = crawl.run()
    assert ended.gave_up == 1
    assert len(bad.asked) == 6
    assert len(good.asked) == 9
    row = origin_row(crawl, bad)
    assert (row["state"], row["finish_reason"], row["patience"], row["pending"]) == ("FINISHED", "patience", 0, 8)
    assert idle_reason(crawl, bad) == "out of patience: 5 persistent failures"
    assert idle_reason(crawl, good) == "nothing left to crawl"


@pytest.mark.parametrize(("reset", "after"), [("false", [5, 5, 4, 4]), ("true", [5, 5, 4, 5])])
def test_patience_never_rises_by_itself_unless_told_to(crawl: Crawling, reset: str, after: list[int]) -> None:
    site = crawl.site().front("/bad", "/good")
    site.answer("/bad", Answer(500))
    site.page("/good")
    crawl.run(f"crawl: {{patience_reset_on_success: {reset}}}")
    assert [row["p"] for row in crawl.rows("SELECT patience_after p FROM v_attempt ORDER BY attempt_id")] == after


def test_a_new_run_starts_every_origin_afresh(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(500))
    crawl.run("crawl: {patience: 1, tries: 3}")
    assert origin_row(crawl, site)["patience"] == 0
    site.page("/")
    crawl.run("crawl: {patience: 1, tries: 3}")
    assert crawl.codes(site.url()) == ["server_internal_error", "file_ingested"]
    assert crawl.value("SELECT count(*) FROM v_run") == 2


def test_an_interrupted_run_is_continued_and_keeps_its_ignore_list(crawl: Crawling) -> None:
    crawls: list[Crawl] = []
    site = crawl.site().front("/bad", "/last")
    site.answer("/bad", Answer(500), then=lambda: crawls[0].engine.stop(RunReason.interrupted, 5 * SECOND))
    site.page("/last")
    crawl.run(ready=crawls.append)
    assert site.asked == ["/", "/bad"]
    crawl.run()
    assert site.asked == ["/", "/bad", "/last"], "the failed page has tries left and was considered already"
    assert crawl.value("SELECT count(*) FROM v_run") == 1
    assert origin_row(crawl, site)["patience"] == 4
    crawl.run()
    assert site.asked[3:] == ["/bad"], "the next run takes it up"


def test_a_fluke_is_tried_again_at_once_within_its_attempt(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(raw=b"", end="close"), Answer(200, b"<p>", (("Content-Type", "text/html"),)))
    crawl.run()
    assert crawl.codes(site.url()) == ["file_ingested"]
    requests = crawl.rows(
        "SELECT fluke_retry, http_status, error FROM v_request WHERE url = ? ORDER BY request_id", site.url()
    )
    assert [(one["fluke_retry"], one["http_status"]) for one in requests] == [(0, None), (1, 200)]
    assert site.gaps[1] == 0
    assert crawl.ask("audit", "--json").json["ok"] is True, "the second request is exempt by name"
    assert origin_row(crawl, site)["requests"] == 3


def test_a_fluke_can_be_left_alone(crawl: Crawling) -> None:
    site = crawl.site()
    site.answer("/", Answer(raw=b"", end="close"))
    crawl.run("crawl: {fluke_retry: false, tries: 1}")
    assert len(site.asked) == 1


def test_max_requests_counts_turns_that_made_a_request(crawl: Crawling) -> None:
    site = crawl.site().front("/admin", "/a", "/b")
    site.answer("/a", Answer(raw=b"", end="close"), Answer(404))
    crawl.run("policies: {do_not_crawl: [{path: /admin}]}\ncrawl: {max_requests: 3}")
    assert site.asked == ["/", "/a", "/a"]
    (run,) = crawl.rows("SELECT finish_reason, requests FROM v_run")
    assert run == {"finish_reason": "max_requests", "requests": 3}
    assert origin_row(crawl, site)["finish_reason"] == "max_requests"


def test_a_pause_is_durable_and_paused_is_not_finished(crawl: Crawling) -> None:
    site, other = crawl.site(), crawl.site()
    site.pages("/a")
    site.answer("/a", Answer(404))
    other.page("/")
    said: list[str] = []

    def on_event(event: Event) -> None:
        if event.event == "attempt_finished" and event.url == site.url():
            crawl.steer(PauseOrigins((site.origin,)))
        if event.event == "origin_paused":
            said.append(idle_reason(crawl, site))
            crawl.loop.call_later(30, lambda: crawl.steer(ResumeOrigins((site.origin,))))

    ended = crawl.run(on_event=on_event, poll_ms=500)
    assert site.asked == ["/", "/a"]
    assert site.gaps[1] >= 30 * SECOND, "the run waited for it, though the other origin had finished"
    assert ended.reason is RunReason.exhausted
    assert said[0].startswith("paused by ")
    assert [row["action"] for row in crawl.rows("SELECT action FROM v_operator_action ORDER BY at")] == [
        "pause",
        "resume",
    ]


def test_a_stop_holds_for_this_run(crawl: Crawling) -> None:
    site = crawl.site().pages("/a")

    def on_event(event: Event) -> None:
        if event.event == "todo_filled":
            crawl.steer(StopOrigins((site.origin,)))

    ended = crawl.run(on_event=on_event, poll_ms=500)
    assert ended.reason is RunReason.operator
    row = origin_row(crawl, site)
    assert (row["finish_reason"], row["pending"]) == ("operator", 1)
    crawl.run()
    assert site.asked == ["/", "/a"]


def test_patience_is_topped_up_by_the_operator_only(crawl: Crawling) -> None:
    site = crawl.site().front("/1", "/2")
    site.answer("/1", Answer(500))
    site.page("/2")
    crawl.run(
        "crawl: {patience: 2}",
        on_event=crawl.steering(site.url("/1"), TopUpPatience((site.origin,))),
        poll_ms=500,
    )
    assert origin_row(crawl, site)["patience"] == 2
    assert [row["p"] for row in crawl.rows("SELECT patience_after p FROM v_attempt ORDER BY attempt_id")] == [
        2,
        2,
        1,
        2,
    ]


def test_status_says_why_an_origin_waits(crawl: Crawling) -> None:
    site = crawl.site()
    site.robots("User-agent: *\nCrawl-delay: 7")
    site.page("/")
    said: list[str] = []

    def on_event(event: Event) -> None:
        if event.event == "origin_waiting":
            said.append(idle_reason(crawl, site))

    crawl.run(on_event=on_event)
    assert said[0] == "delay 7.0 s of 7.0 s, Crawl-delay of robots.txt"
    assert origin_row(crawl, site)["delay_reason"] == "crawl_delay"


def test_the_events_of_a_run_tell_its_story(crawl: Crawling) -> None:
    crawl.site().front()
    crawl.run()
    told = [event.event for event in crawl.heard.events if event.event != "origin_waiting"]
    assert told == [
        "run_started",
        "origin_started",
        "robots_fetched",
        "todo_filled",
        "attempt_finished",
        "origin_finished",
        "run_finished",
    ]
