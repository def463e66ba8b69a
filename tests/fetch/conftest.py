"""A hostile web and a fetcher for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from tests.fetch.asking import fetching
from tests.support.hostile_web import HostileWeb
from tui_crawler.fetch import connection_log
from tui_crawler.fetch.client import HttpFetcher


@pytest.fixture
async def web() -> AsyncIterator[HostileWeb]:
    async with HostileWeb() as server:
        yield server


@pytest.fixture
async def fetcher() -> AsyncIterator[HttpFetcher]:
    client = fetching()
    yield client
    await client.close()


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The kernel says nothing of how late the event loop is: it would mix its clock with those of the tests."""
    asked = connection_log.silent_ms
    monkeypatch.setattr(connection_log, "silent_ms", lambda stream: 0)
    return asked
