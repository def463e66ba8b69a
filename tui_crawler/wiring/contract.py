"""What a configuration promises an origin, for those who show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.domain.contract import Contract
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.wiring.origin_settings import settings_by_origin

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config


def contract_of(config: Config, origin: str, user_agent: str) -> Contract:
    """The contract with one origin; `user_agent` is that of the run, empty for the configured one."""
    url = normalise(origin)
    host = "" if isinstance(url, InvalidUrl) else url.host
    return Contract(
        user_agent=user_agent or config.user_agent,
        delay=settings_by_origin(config)(origin).delay,
        delay_from="hosts" if any(one.host == host for one in config.hosts) else "delay.default",
        politeness_key=config.crawl.politeness_key,
        total_timeout_ms=config.network.total_timeout_ms,
        read_timeout_ms=config.network.read_timeout_ms,
        robots_expiry_ms=config.robots.expiry_ms,
        robots_max_bytes=config.robots.max_bytes,
    )
