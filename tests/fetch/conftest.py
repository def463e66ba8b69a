"""A hostile web and a fetcher for each test."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.fetch import asking
from tests.fetch.asking import Served, ask, close_all, fetching
from tests.support.held_time import HeldTime
from tests.support.hostile_web import HostileWeb
from tui_crawler.domain.records.attempt import Exchange
from tui_crawler.fetch import connection_log
from tui_crawler.fetch.client import HttpFetcher

OF_THE_WIRE = {
    "test_address_guard",
    "test_client",
    "test_connection_log",
    "test_exchange",
    "test_exit_codes",
    "test_head",
    "test_recorder",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What concerns the wire is tested with both, our own and that of httpx, and meets no deadline by itself."""
    if metafunc.module.__name__.rpartition(".")[2] in OF_THE_WIRE and inspect.iscoroutinefunction(metafunc.function):
        metafunc.fixturenames[:0] = ["held_time", "wire"]
        metafunc.parametrize("wire", ["own", "httpx"], indirect=True)


@pytest.fixture
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "REFERENCE", request.param == "httpx")


@pytest.fixture
async def held_time() -> AsyncIterator[HeldTime]:
    time = HeldTime()
    yield time
    await close_all()
    time.let_go()


@pytest.fixture
async def web() -> AsyncIterator[HostileWeb]:
    async with HostileWeb() as server:
        yield server
        await close_all()


@pytest.fixture
async def fetcher(request: pytest.FixtureRequest) -> AsyncIterator[HttpFetcher]:
    if "wire" in request.fixturenames:
        request.getfixturevalue("wire")  # before the fetcher is made
    yield fetching()
    await close_all()


@pytest.fixture
def served(web: HostileWeb, fetcher: HttpFetcher) -> Served:
    """Gives what comes of a request of which `changes` are asked, where the web answers with these bytes."""

    async def ask_for(answer: bytes, **changes: Any) -> Exchange:
        web.answer("/", answer)
        return await fetcher.exchange(replace(ask(web.url("/")), **changes))

    return ask_for


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The kernel says nothing of how late the event loop is: it would mix its clock with those of the tests."""
    asked = connection_log.silent_ms
    monkeypatch.setattr(connection_log, "silent_ms", lambda stream: 0)
    return asked
