"""Stashes, dripfeed, limbo and leases (B): pages out of the queue and back."""

from __future__ import annotations

from typing import Any

from tests.designs.crawling import DAY, GONE, HOUR, Crawling
from tests.designs.web import Answer, Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import StashPages


def found_only(crawl: Crawling, *paths: str) -> Site:
    """A site whose front page was crawled in a run that ended then; the pages it links to wait."""
    site = crawl.site().front(*paths)
    for path in paths:
        site.page(path)
    crawl.run(crawl__max_requests=2)
    assert site.asked == ["/"]
    return site


def statuses(crawl: Crawling, site: Site) -> dict[str, str]:
    """The status of each page, by its path."""
    rows = crawl.rows("SELECT url, status FROM v_page")
    return {row["url"].removeprefix(site.origin): row["status"] for row in rows}


def test_pages_are_put_aside_by_name_and_come_back(crawl: Crawling) -> None:
    site = found_only(crawl, "/item/1", "/item/2", "/a")
    said = crawl.ask("pages", "stash", "later", "--pattern", "/item/", "--origin", site.origin)
    assert said.status == 0, said.err
    assert statuses(crawl, site) == {"/": "READY", "/item/1": "STASHED", "/item/2": "STASHED", "/a": "READY"}
    crawl.run()
    assert site.asked == ["/", "/a"]
    (stash,) = crawl.ask("pages", "stashes", "--json").json["stashes"]
    assert (stash["stash"], stash["pages"]) == ("later", 2)
    assert crawl.ask("pages", "unstash", "later", "--limit", "1").status == 0
    crawl.run()
    assert site.asked == ["/", "/a", "/item/1"], "the oldest first"
    assert crawl.ask("pages", "unstash", "later").status == 0
    crawl.run()
    assert site.asked == ["/", "/a", "/item/1", "/item/2"]


def test_pages_are_put_aside_while_the_run_is_live(crawl: Crawling) -> None:
    site = crawl.site().front("/1", "/2", "/3")
    for path in ("/1", "/2", "/3"):
        site.page(path)
    crawl.run(on_event=crawl.steering(site.url("/1"), StashPages("later", urls=(site.url("/2"),))), poll_ms=500)
    assert site.asked == ["/", "/1", "/3"]
    assert statuses(crawl, site)["/2"] == "STASHED"


def test_a_dripfeed_keeps_so_many_pages_of_a_stash_ready_first_in_first_out(crawl: Crawling) -> None:
    paths = [f"/{number}" for number in range(6)]
    site = found_only(crawl, *paths)
    assert crawl.ask("pages", "stash", "slow").status == 0
    assert crawl.ask("pages", "dripfeed", "slow", "2").status == 0
    assert [path for path, status in statuses(crawl, site).items() if status == "STASHED"] == paths[2:]
    ready: list[int] = []

    def on_event(event: Event) -> None:
        if event.event == "attempt_finished":
            query = "SELECT count(*) FROM v_page WHERE status <> 'STASHED' AND attempts_remaining > 0"
            ready.append(crawl.value(query))

    crawl.run(on_event=on_event)
    assert site.asked == ["/", *paths]
    assert ready == [2, 2, 2, 2, 1, 0]


def test_an_unknown_stash_is_a_clear_error(crawl: Crawling) -> None:
    site = found_only(crawl, "/a")
    crawl.ask("pages", "stash", "later")
    said = crawl.ask("pages", "unstash", "latr")
    assert said.status != 0
    assert "later" in said.err
    assert statuses(crawl, site)["/a"] == "STASHED"


def killed(crawl: Crawling) -> Site:
    """A site whose second page was in flight when the process of its run was killed."""
    site = crawl.site().front("/claimed", "/b")
    site.page("/b")
    answer = Answer(404, takes_ms=10_000)
    site.answer("/claimed", answer, then=lambda: crawl.loop.call_later(9, crawl.go_on_from_here))
    crawl.run(owner=GONE)
    site.seen.clear()
    site.page("/claimed")
    return site


def limbo(crawl: Crawling, *options: str) -> list[dict[str, Any]]:
    """The pages in limbo."""
    return list(crawl.ask("pages", "limbo", *options, "--json").json["pages"])


def test_a_claimed_page_is_listed_in_limbo_and_reclaimed_with_a_reason(crawl: Crawling) -> None:
    site = killed(crawl)
    assert statuses(crawl, site)["/claimed"] == "CLAIMED"
    crawl.later(HOUR)
    assert limbo(crawl) == [], "storage.limbo is a day"
    crawl.later(2 * DAY)
    (page,) = limbo(crawl)
    assert page["url"] == site.url("/claimed")
    assert page["age_ms"] >= 2 * DAY
    refused = crawl.ask("pages", "reclaim")
    assert refused.status == 2, "without a reason"
    assert crawl.ask("pages", "reclaim", "--reason", "its worker died").status == 0
    page = crawl.page(site.url("/claimed"))
    assert (page["status"], page["attempts"], page["attempts_remaining"]) == ("READY", 0, 3)
    assert limbo(crawl) == []
    (noted,) = [one for one in crawl.ask("log", "--json").json["log"] if one.get("event") == "pages_reclaimed"]
    assert "its worker died" in noted["message"]


def test_a_killed_run_is_continued_and_its_claimed_page_is_crawled(crawl: Crawling) -> None:
    """A dead owner on the same machine is recognised at once; every origin waits one full delay first."""
    site = killed(crawl)
    crawl.later(50)
    started = crawl.now
    crawl.run()
    assert site.asked == ["/claimed", "/b"]
    assert site.seen[0].at >= started + 1_000
    assert crawl.value("SELECT count(*) FROM v_run") == 1
    events = [row["event"] for row in crawl.rows("SELECT event FROM v_activity")]
    assert "run_continued" in events
