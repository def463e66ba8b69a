"""The n-th call of a port raises, for every n: the run ends or goes on, and the next start finishes the work.

curl's and SQLite's scheme (docs/reliability.md). `TUI_CRAWLER_EVERY_CALL=1` tries all n; without it a seeded sample.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections import Counter

import pytest

from tests.engine.crawls import Crawling
from tests.support.simulated_web import linked_site
from tui_crawler.domain.records.failure import DatabaseUnusable, StorageFailure
from tui_crawler.engine.clock import run_virtual

A, B = "http://a.test", "http://b.test"
PAGES = 6
CALLS = 90  # more than a whole crawl of these two sites makes
SAMPLE = range(CALLS) if os.environ.get("TUI_CRAWLER_EVERY_CALL") else sorted(random.Random(7).sample(range(CALLS), 25))


class Nth:
    """Raises at the n-th call, once."""

    def __init__(self, number: int, error: Exception) -> None:
        self.left = number
        self.error = error

    def __call__(self, name: str) -> None:
        self.left -= 1
        if self.left == -1:
            raise self.error


async def crawl_twice(fault: Nth, of_store: bool):
    """A run in which a call fails, and the next start after it."""
    first = Crawling([A, B], linked_site(PAGES))
    if of_store:
        first.store.fault = fault
    else:
        first.web.on_request = fault
    with contextlib.suppress(StorageFailure):
        await first.run()
    first.store.freeze()  # the process is gone, whether it could say so or not
    first.store.fault = first.web.on_request = lambda name: None
    second = Crawling([A, B], linked_site(PAGES), store=first.store, web=first.web)
    reason = await second.run()
    return first, second, reason


def assert_whole(first, second):
    for origin, gaps in second.web.gaps().items():
        assert all(gap >= 1000 for gap in gaps), (origin, min(gaps))
    asked = Counter(second.web.pages())
    committed = Counter(e.url for one in (first, second) for e in one.heard.named("attempt_finished"))
    assert set(asked) == {f"{origin}/{n}" for origin in (A, B) for n in range(PAGES)}
    for url, count in asked.items():
        assert count <= committed[url] + 1, "more than the page in flight was repeated"


@pytest.mark.parametrize("number", SAMPLE)
def test_a_store_call_that_fails(number):
    first, second, reason = run_virtual(crawl_twice(Nth(number, StorageFailure("disk I/O error")), of_store=True))
    assert reason == "exhausted"
    assert_whole(first, second)


@pytest.mark.parametrize("number", SAMPLE)
def test_a_database_that_is_of_no_more_use_ends_the_run_and_no_origin(number):
    fault = Nth(number, DatabaseUnusable("the file is read-only"))
    first, second, reason = run_virtual(crawl_twice(fault, of_store=True))
    assert reason == "exhausted"
    assert_whole(first, second)
    ended = first.heard.named("run_finished")
    if fault.left < 0 and ended:
        (finished,) = ended
        assert dict(finished.extra)["reason"] == "error"
        assert "read-only" in str(dict(finished.extra)["message"])
        assert "database_error" not in first.heard.finish_reasons().values()


@pytest.mark.parametrize("number", range(14))
def test_a_request_that_raises(number):
    first, second, reason = run_virtual(crawl_twice(Nth(number, RuntimeError("a bug of a transport")), of_store=False))
    assert reason == "exhausted"
    for origin, gaps in second.web.gaps().items():
        assert all(gap >= 1000 for gap in gaps), (origin, min(gaps))
    ended = first.heard.finish_reasons()
    assert sorted(ended.values()) in (["exhausted", "patience"], ["exhausted", "exhausted"])
