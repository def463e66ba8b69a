"""How a crawl of the demo web ends, foreseen by the model: exit codes, patience, and in what time."""

import pytest

from tests.demo.model_crawler import ModelCrawl
from tui_crawler.demo.process import HEADLESS_PACE

# site: finish reason, patience left, requests with flukes, exit codes of pages
_ENDS = {
    "almanac": ("exhausted", 5, 73, {20: 70, 29: 2}),
    "records": ("exhausted", 5, 38, {20: 37, 200: 1}),
    "observatory": ("exhausted", 5, 27, {20: 26, 200: 1}),
    "ferries": ("exhausted", 5, 22, {20: 18, 49: 3, 200: 1}),
    "forum": ("patience", 0, 24, {20: 15, 40: 1, 41: 1, 44: 1, 50: 3, 503: 1, 200: 1, 201: 1}),
    "radio": ("exhausted", 2, 56, {20: 40, 29: 1, 42: 1, 102: 2, 200: 1}),
    "reserve": ("exhausted", 5, 41, {20: 37, 200: 8, 211: 3}),
    "museum": ("exhausted", 3, 74, {20: 40, 29: 5, 31: 11, 32: 8, 42: 2, 200: 2, 210: 6, 220: 1}),
    "chandlery": ("exhausted", 5, 66, {20: 65, 200: 1, 201: 112}),
    "tramway": ("patience", 0, 26, {20: 15, 100: 5}),
}


@pytest.mark.parametrize("headless", [False, True])
def test_every_site_comes_to_its_end(headless: bool) -> None:
    crawl = ModelCrawl(headless=headless, pace=HEADLESS_PACE if headless else 1.0)
    crawl.run()
    ends = {
        name: (end.reason, end.patience, end.requests, dict(sorted(end.codes.items())))
        for name, end in crawl.ends.items()
    }
    assert ends == {name: (*rest, dict(sorted(codes.items()))) for name, (*rest, codes) in _ENDS.items()}
    assert not any(end.reopened for end in crawl.ends.values())


def test_what_is_refused_is_counted() -> None:
    crawl = ModelCrawl(headless=True, pace=0)
    crawl.run()
    assert crawl.ends["chandlery"].refused == {"trap_repeat": 1, "trap_depth": 1}
    museum = crawl.ends["museum"]
    assert museum.refused == {"invalid_url": 6, "scope": 3, "exclusion": 1, "redirect_hops": 1}
    assert museum.skipped == 2
    assert crawl.ends["radio"].flukes == 11
    assert crawl.ends["forum"].robots_codes == {503: 1, 20: 1}
    assert crawl.ends["tramway"].pending > 10


def test_the_console_sees_the_end_within_two_minutes() -> None:
    assert 60_000 < ModelCrawl(headless=False, pace=1.0).run() < 110_000


def test_the_headless_crawl_has_half_of_its_half_minute_to_spare() -> None:
    assert ModelCrawl(headless=True, pace=HEADLESS_PACE).run() < 15_000
