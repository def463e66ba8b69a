"""The settings of each origin as one value, which sessions keep: with it their log can be folded again."""

from __future__ import annotations

import json
from typing import Any

from tui_crawler.domain.delay import DelaySettings
from tui_crawler.domain.origin import CrawlSettings
from tui_crawler.domain.record import asdict, dataclass, field, fields, replace
from tui_crawler.domain.url import InvalidUrl, is_loopback, normalise

POLITE_FLOOR_MS = 1_000


@dataclass(frozen=True, slots=True)
class SettingsByOrigin:
    """`common` holds for all; `delays` are pairs of an origin, a host and port, or a host, and its own default delay
    (ms). `polite_floor`: a floor below one second holds for loopback origins only."""

    common: CrawlSettings = field(default_factory=CrawlSettings)
    delays: tuple[tuple[str, int], ...] = ()
    polite_floor: bool = False

    def of(self, origin: str) -> CrawlSettings:
        """The settings of an origin."""
        url = normalise(origin) if self.delays or self.polite_floor else None
        if url is None or isinstance(url, InvalidUrl):
            return self.common
        given, delay = dict(self.delays), self.common.delay
        names = (url.origin, f"{url.host}:{url.port}", url.host)
        delay = replace(delay, default_ms=next((given[name] for name in names if name in given), delay.default_ms))
        if self.polite_floor and not is_loopback(url.host):
            delay = replace(delay, floor_ms=POLITE_FLOOR_MS)
        return replace(self.common, delay=delay)

    def to_json(self) -> str:
        """As a session keeps it."""
        return json.dumps(asdict(self))


def from_json(text: str) -> SettingsByOrigin:
    """What a session has kept; what an older version did not keep is the default. Raises ValueError, TypeError."""
    raw = json.loads(text)
    common = _known(CrawlSettings, raw["common"])
    settings = CrawlSettings(**common | {"delay": DelaySettings(**_known(DelaySettings, common["delay"]))})
    return SettingsByOrigin(settings, tuple((name, ms) for name, ms in raw["delays"]), raw["polite_floor"])


def _known(record: Any, values: dict[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(record)}
    return {name: value for name, value in values.items() if name in names}
