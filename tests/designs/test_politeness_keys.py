"""Politeness keys (M): what never gets two requests at once, and what keeps the delay."""

from __future__ import annotations

import itertools

import pytest

from tests.designs.crawling import SECOND, Crawling
from tests.designs.web import Seen, Site


def busy(*sites: Site) -> None:
    """Each site has three pages that take 400 ms."""
    for site in sites:
        site.page("/", "/a", "/b", takes_ms=400)
        site.page("/a", takes_ms=400)
        site.page("/b", takes_ms=400)


def gaps(*sites: Site) -> list[int]:
    """ms between the end of each answer of these sites together and the next request to any of them."""
    seen: list[Seen] = sorted((one for site in sites for one in site.seen), key=lambda one: one.at)
    return [after.at - before.ended for before, after in itertools.pairwise(seen)]


def test_by_default_each_origin_is_one(crawl: Crawling) -> None:
    one, two = crawl.site(), crawl.site()
    busy(one, two)
    crawl.run()
    assert min(gaps(one, two)) < 0, "at once, and each of them politely"
    assert min(*gaps(one), *gaps(two)) >= SECOND


@pytest.mark.parametrize("key", ["host", "ip"])
def test_all_ports_of_a_host_or_address(crawl: Crawling, key: str) -> None:
    one, two, other = crawl.site(), crawl.site(), crawl.site("127.0.0.2")
    busy(one, two, other)
    crawl.run(f"crawl: {{politeness_key: {key}}}")
    assert min(gaps(one, two)) >= SECOND
    assert min(gaps(one, other)) < SECOND


def test_a_registrable_domain(crawl: Crawling) -> None:
    """By the public suffix list: example.co.uk is one, co.uk is not."""
    names = ("a.example.co.uk", "b.example.co.uk", "other.co.uk")
    one, two, other = (crawl.web.named(f"http://{name}") for name in names)
    busy(one, two, other)
    crawl.run(f"crawl: {{politeness_key: registrable_domain}}\nnetwork: {{proxy: '{crawl.web.proxy}'}}")
    assert len(one.asked) == len(two.asked) == len(other.asked) == 3
    assert min(gaps(one, two)) >= SECOND
    assert min(gaps(one, other)) < SECOND
