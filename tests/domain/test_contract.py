"""What a crawl promises an origin."""

from __future__ import annotations

import pytest

from tests.console.sample_crawl import origin
from tui_crawler.domain.contract import Contract, LeastDelay, contact_of, least_delay
from tui_crawler.domain.delay import DelaySettings


@pytest.mark.parametrize(
    ("settings", "crawl_delay", "expected"),
    [
        (DelaySettings(), None, LeastDelay(1_000, "config")),
        (DelaySettings(default_ms=5_000), None, LeastDelay(5_000, "config")),
        (DelaySettings(), 7_000, LeastDelay(7_000, "robots")),
        (DelaySettings(), 600_000, LeastDelay(120_000, "robots")),
        (DelaySettings(crawl_delay_cap_ms=None), 600_000, LeastDelay(600_000, "robots")),
        (DelaySettings(), 200, LeastDelay(1_000, "floor")),
        (DelaySettings(default_ms=100, floor_ms=50), None, LeastDelay(100, "config")),
    ],
)
def test_the_least_delay_is_that_of_the_strictest(
    settings: DelaySettings, crawl_delay: int | None, expected: LeastDelay
) -> None:
    view = origin("https://a.example", crawl_delay_ms=crawl_delay)
    assert least_delay(Contract(delay=settings), view) == expected


def test_the_contact_is_the_page_or_address_that_the_user_agent_names() -> None:
    assert contact_of("my-crawler (for https://example.net/why)") == "https://example.net/why"
    assert contact_of("my-crawler/1.0 (+ops@example.net)") == "ops@example.net"
    assert contact_of("tui-crawler-unconfigured-ua") == ""
