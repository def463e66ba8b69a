"""A hostile web and a fetcher for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fetch.asking import fetching
from tests.support.hostile_web import HostileWeb
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
