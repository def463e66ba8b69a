"""Private addresses (docs/behaviour.md, docs/configuration.md): only where a seed itself names them, also one
that an operator has added while the crawl ran."""

from __future__ import annotations

from tests.designs.crawling import SECOND, Crawling
from tests.designs.web import Site
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.command import AddSeeds


def adding(crawl: Crawling, *urls: str) -> None:
    """A run in which these seeds are added."""

    def add(event: Event) -> None:
        if event.event == "attempt_finished" and event.url == crawl_from.url():
            crawl.steer(AddSeeds(urls))

    crawl_from = next(iter(crawl.web.sites.values()))
    crawl.run(seeds=[crawl_from.url()], poll_ms=SECOND, on_event=add)


def two_sites(crawl: Crawling) -> tuple[Site, Site]:
    """A site whose second page comes late, and one on another loopback host."""
    here, there = crawl.site(), crawl.site("127.0.0.2")
    here.pages("/late")
    there.pages("/more")
    return here, there


def test_a_private_seed_that_is_added_live_is_crawled_and_stays_a_seed(crawl: Crawling) -> None:
    here, there = two_sites(crawl)
    adding(crawl, there.url())
    assert there.asked == ["/", "/more"]
    crawl.run(seeds=[here.url()], crawl__force_recrawl=True)
    assert there.asked == ["/", "/more"] * 2, "in the next run it comes out of the database"
    assert {"blocked_address"}.isdisjoint(row["exit_code"] for row in crawl.rows("SELECT exit_code FROM v_attempt"))


def test_what_a_seed_does_not_name_stays_refused(crawl: Crawling) -> None:
    _, there = two_sites(crawl)
    elsewhere = crawl.site("127.0.0.3")
    elsewhere.page()
    there.redirect("/robots.txt", elsewhere.url("/robots.txt"))
    there.page("/", elsewhere.url("/linked"))
    adding(crawl, there.url())
    assert there.asked == ["/"]
    assert elsewhere.seen == [], "neither a hop of robots.txt nor a link leads there"
    assert crawl.codes(there.url("/robots.txt")) == ["blocked_address"]


def test_an_origin_that_joined_by_a_link_is_no_seed(crawl: Crawling) -> None:
    here, there = two_sites(crawl)
    here.page("/", there.url())
    text = "whitelist: {domains: ['127.0.0.2']}"
    crawl.run(text, seeds=[here.url()])
    crawl.run(text, seeds=[here.url()])
    assert there.seen == []
    assert set(crawl.codes(there.url())) == {"blocked_address"}
