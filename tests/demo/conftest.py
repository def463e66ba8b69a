"""A demo web that never waits, for the tests of one function."""

from collections.abc import AsyncIterator

import pytest

from tui_crawler.demo.web import DemoWeb


@pytest.fixture
async def web() -> AsyncIterator[DemoWeb]:
    async with DemoWeb(pace=0) as demo:
        yield demo
