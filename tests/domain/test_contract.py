"""What a crawl promises an origin."""

from __future__ import annotations

import pytest

from tests.console.sample_crawl import origin
from tui_crawler.domain.crawl.contract import Contract, contact_of, least_delay
from tui_crawler.domain.crawl.delay import Delay, DelaySettings
from tui_crawler.domain.records.status import DelayReason


@pytest.mark.parametrize(
    ("settings", "crawl_delay", "expected"),
    [
        (DelaySettings(), None, Delay(1_000, DelayReason.default)),
        (DelaySettings(default_ms=5_000), None, Delay(5_000, DelayReason.default)),
        (DelaySettings(), 7_000, Delay(7_000, DelayReason.crawl_delay)),
        (DelaySettings(), 600_000, Delay(120_000, DelayReason.crawl_delay)),
        (DelaySettings(crawl_delay_cap_ms=None), 600_000, Delay(600_000, DelayReason.crawl_delay)),
        (DelaySettings(), 200, Delay(1_000, DelayReason.floor)),
        (DelaySettings(default_ms=100, floor_ms=50), None, Delay(100, DelayReason.default)),
    ],
)
def test_the_least_delay_is_that_of_the_strictest(
    settings: DelaySettings, crawl_delay: int | None, expected: Delay
) -> None:
    view = origin("https://a.example", crawl_delay_ms=crawl_delay)
    assert least_delay(Contract(delay=settings), view) == expected


def test_the_contact_is_the_page_or_address_that_the_user_agent_names() -> None:
    assert contact_of("my-crawler (for https://example.net/why)") == "https://example.net/why"
    assert contact_of("my-crawler/1.0 (+ops@example.net)") == "ops@example.net"
    assert contact_of("tui-crawler-unconfigured-ua") == ""
