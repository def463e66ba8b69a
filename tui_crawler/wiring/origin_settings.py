"""From a configuration to the settings of each origin: its delay, patience and tries. Loads no client."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.config.web_kinds import is_loopback
from tui_crawler.domain.delay import DelaySettings
from tui_crawler.domain.origin import CrawlSettings
from tui_crawler.domain.url import InvalidUrl, normalise

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.config.schema import Config

POLITE_FLOOR_MS = 1_000


def settings_by_origin(config: Config) -> Callable[[str], CrawlSettings]:
    """The settings of each origin: `hosts` replaces the default delay of a host on every port (R).

    A floor below one second holds for loopback origins only, also for origins that join later, unless the command
    line said so.
    """
    common = _crawl_settings(config, config.delay.default_ms)
    by_host = {host.host: _crawl_settings(config, host.default_delay_ms) for host in config.hosts}
    quick = config.delay.floor_ms < POLITE_FLOOR_MS and not config.impolite_everywhere

    def settings_of(origin: str) -> CrawlSettings:
        if not by_host and not quick:
            return common
        url = normalise(origin)
        if isinstance(url, InvalidUrl):
            return common
        settings = by_host.get(url.host, common)
        if quick and not is_loopback(url.host):
            return replace(settings, delay=replace(settings.delay, floor_ms=POLITE_FLOOR_MS))
        return settings

    return settings_of


def _crawl_settings(config: Config, default_ms: int) -> CrawlSettings:
    delay = config.delay
    return CrawlSettings(
        delay=DelaySettings(
            model=delay.model,
            default_ms=default_ms,
            floor_ms=delay.floor_ms,
            crawl_delay_cap_ms=delay.crawl_delay_cap_ms,
            max_ms=delay.max_ms,
            retry_after_max_ms=delay.retry_after_max_ms,
            start_politeness=delay.start_politeness,
            max_politeness=delay.max_politeness,
            average_window=delay.average.window,
            average_factor=delay.average.factor,
            average_initial_ms=delay.average.initial_ms,
            average_floor_ms=delay.average.floor_ms,
        ),
        patience=config.crawl.patience,
        tries=config.crawl.tries,
        patience_reset_on_success=config.crawl.patience_reset_on_success,
        robots_expiry_ms=config.robots.expiry_ms,
    )
