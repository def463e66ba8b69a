"""All sites of the demo web, in the order of their ports."""

from collections.abc import Callable

from tui_crawler.demo.content import (
    almanac,
    chandlery,
    ferries,
    forum,
    museum,
    observatory,
    radio,
    records,
    reserve,
    tramway,
)
from tui_crawler.demo.site import Site, Surroundings

_BUILDERS: tuple[tuple[str, Callable[[Surroundings], Site]], ...] = (
    (almanac.NAME, almanac.build_almanac),
    (records.NAME, records.build_records),
    (observatory.NAME, observatory.build_observatory),
    (ferries.NAME, ferries.build_ferries),
    (forum.NAME, forum.build_forum),
    (radio.NAME, radio.build_radio),
    (reserve.NAME, reserve.build_reserve),
    (museum.NAME, museum.build_museum),
    (chandlery.NAME, chandlery.build_chandlery),
    (tramway.NAME, tramway.build_tramway),
)

SITE_NAMES = tuple(name for name, _ in _BUILDERS)


def build_sites(around: Surroundings) -> tuple[Site, ...]:
    """Return all sites; `around` must have an origin for each of SITE_NAMES."""
    return tuple(build(around) for _, build in _BUILDERS)
