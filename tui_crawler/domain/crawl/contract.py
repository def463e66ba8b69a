"""What a crawl promises an origin: who asks, how often at most, and by whose word. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_crawler.domain.crawl.delay import Delay, DelaySettings, Pace, minimum
from tui_crawler.domain.records.status import DelayReason

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView

_ADDRESS = re.compile(r"https?://[^\s()<>;,\"']+|[^\s()<>;,\"'@]+@[^\s()<>;,\"'@]+\.[^\s()<>;,\"'@]+")


@dataclass(frozen=True, slots=True)
class Contract:
    """The configuration of the newest run for one origin; times are ms.

    `delay_from` says where the plain delay comes from: "delay.default", or "hosts" for one of this host alone.
    `total_timeout_ms` bounds a whole exchange. Of robots.txt `robots_max_bytes` are read.
    """

    user_agent: str = ""
    delay: DelaySettings = field(default_factory=DelaySettings)
    delay_from: str = "delay.default"
    politeness_key: str = "origin"
    total_timeout_ms: int = 60_000
    read_timeout_ms: int = 30_000
    robots_expiry_ms: int = 1_800_000
    robots_max_bytes: int = 512_000
    not_checked: tuple[str, ...] = ()  # keys of the checks of links that are switched off


def least_delay(contract: Contract, origin: OriginView) -> Delay:
    """The least delay of an origin (docs/behaviour.md): Crawl-delay up to its cap, else the configured one, at least
    the floor. What rate limits add is only known while they decide the present delay."""
    least, floor_ms = minimum(contract.delay, Pace(crawl_delay_ms=origin.crawl_delay_ms)), contract.delay.floor_ms
    return Delay(floor_ms, DelayReason.floor) if least.ms < floor_ms else least


def contact_of(user_agent: str) -> str:
    """The page or address that a user agent names for complaints; empty when it names none."""
    found = _ADDRESS.search(user_agent)
    return found[0].lstrip("+") if found else ""
