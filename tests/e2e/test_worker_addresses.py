"""Two workers and sites of one address, with `politeness_key: ip`: it is asked by one of them at a time, with the whole
delay between its requests, whichever site each is for; on both databases."""

from __future__ import annotations

import itertools
import json
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.designs.web import Site, Web
from tests.e2e.served import run_until
from tests.e2e.test_worker_command import holding, worker
from tests.e2e.test_workers import wait_for
from tests.support.patience import PATIENT_S
from tests.support.postgres_database import made_database
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.reports.reports import Reports

DELAY_MS, TAKES_MS, PAGES = 100, 10, 16
JITTER_MS = 40
"""So much later a server that shares a process with the test may note the end of an answer."""


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DatabasePlace]:
    """Where nothing is, on each kind of database in turn."""
    if request.param == "sqlite":
        yield tmp_path / "crawl.db"
    else:
        with made_database(request.getfixturevalue("postgres_url")) as server:
            yield server


@pytest.fixture
def sites() -> Iterator[tuple[Site, ...]]:
    """Two of one address, one of them by a name that is resolved first, and two of another."""
    web = Web()
    named = {found[4][0] for found in socket.getaddrinfo("localhost", None)} == {"127.0.0.1"}
    for host in ("127.0.0.1", "localhost" if named else "127.0.0.1", "127.0.0.2", "127.0.0.2"):
        site = web.site(host)
        site.page("/", *(f"/{number}" for number in range(PAGES)), takes_ms=TAKES_MS)
        for number in range(PAGES):
            site.page(f"/{number}", takes_ms=TAKES_MS)
    with web.in_thread():
        yield tuple(web.sites.values())
    web.close()


def gaps(spans: list[tuple[int, int]]) -> list[int]:
    """ms between the end of each request and the beginning of the next."""
    return [after[0] - before[1] for before, after in itertools.pairwise(sorted(spans))]


def test_an_address_is_asked_by_one_worker_at_a_time(
    place: DatabasePlace, sites: tuple[Site, ...], tmp_path: Path
) -> None:
    config = tmp_path / "crawl.yaml"
    config.write_text(
        f"seeds: {json.dumps([site.url() for site in sites])}\nuser_agent: 'test (for http://localhost/)'\n"
        f"delay: {{default: {DELAY_MS}ms, floor: {DELAY_MS}ms, start_politeness: 0, allow_impolite: true}}\n"
        "crawl: {politeness_key: ip, sitemaps: robots}\n"
    )
    run_until(config, place, 3, signal.SIGTERM)
    with ExitStack() as both:
        north, south = (both.enter_context(worker(place, "--name", name)) for name in ("north", "south"))
        wait_for(lambda: holding(place) == {"north", "south"}, north, south)
        for one in (north, south):
            _, errors = one.communicate(timeout=PATIENT_S)
            assert one.returncode == 0, errors
    with closing(Reports(place)) as reports:
        sent = list(reports.rows("v_request", ("url", "sent_at", "ended_at")))
        assert {name for (name,) in reports.rows("v_attempt", ("worker",))} >= {"north", "south"}
    for pair in (sites[:2], sites[2:]):
        seen = [(one.at, one.ended) for site in pair for one in site.seen]
        assert len(seen) == len(pair) * (PAGES + 2), "robots.txt, the front page and the others once each"
        assert min(gaps(seen)) >= DELAY_MS - JITTER_MS
        stored = [(at, end) for url, at, end in sent if url.startswith(tuple(site.origin for site in pair))]
        assert min(gaps(stored)) >= DELAY_MS - 1
