"""From a host to a connection: which addresses are tried, in what order, and when the next one is."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.fetch.asking import ask, fetching, whole
from tests.support.hostile_web import HostileWeb, Send
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import OutOfDescriptors
from tui_crawler.engine.clock import VirtualClock, run_virtual
from tui_crawler.fetch.address_guard import AddressGuard, AddressRefused
from tui_crawler.fetch.classify import TransferFailed, Trouble
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionStep
from tui_crawler.fetch.dialing import Dialer

V6, V6B, V4, V4B = "2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2"
OPEN = AddressGuard(allow_private=True)
SILENT = 1e9


class Network:
    """A network in which an address takes `takes_s` to connect (SILENT: for ever), or fails with an error, and a
    handshake `shakes_s` more. `tried` has the seconds since the start and the addresses."""

    def __init__(self, *addresses: str, guard: AddressGuard | None = OPEN) -> None:
        self.addresses = addresses
        self.answers: Mapping[str, float | OSError] = {}
        self.tried: list[tuple[float, str]] = []
        self.closed: list[str] = []
        self.cancelled: list[str] = []
        self.shakes_s = 0.0
        self.clock = VirtualClock()
        self.dialer = Dialer(guard, self.resolve, 10, self.clock.now)

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        return self.addresses

    async def connect(self, address: str, log: ConnectionLog) -> str:
        began = self.clock.now().mono_ms / 1000
        self.tried.append((began, address))
        answer = self.answers[address]
        try:
            with log.timing(ConnectionStep.connect, self.clock.now):
                await asyncio.sleep(0.01 if isinstance(answer, OSError) else answer)
                if isinstance(answer, OSError):
                    raise answer
            log.remote_address = address
            await asyncio.sleep(self.shakes_s)
        except asyncio.CancelledError:
            self.cancelled.append(address)
            raise
        return address

    async def close(self, connection: str) -> None:
        self.closed.append(connection)

    async def dial(self, log: ConnectionLog | None = None) -> str:
        self.tried.clear()
        return await self.dialer.dial("site.example", 80, log or ConnectionLog(), self.connect, self.close)

    def tries(self) -> list[tuple[float, str]]:
        """Since the first of them."""
        return [(round(at - self.tried[0][0], 3), address) for at, address in self.tried]


def virtually(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def test_a_silent_address_costs_a_quarter_of_a_second_once() -> None:
    async def main() -> None:
        network = Network(V6, V4)
        network.answers = {V6: SILENT, V4: 0.04}
        log = ConnectionLog()
        assert await network.dial(log) == V4
        assert network.tries() == [(0, V6), (0.25, V4)]
        assert network.cancelled == [V6]
        assert (log.remote_address, log.took[ConnectionStep.connect]) == (V4, 40)
        assert await network.dial() == V4
        assert network.tries() == [(0, V4)], "the family that worked comes first"
        network.answers = {V6: 0.1, V4: SILENT}
        assert await network.dial() == V6
        assert network.tries() == [(0, V4), (0.25, V6)]
        assert await network.dial() == V6
        assert network.tries() == [(0, V6)]
        assert len(asyncio.all_tasks()) == 1

    virtually(main())


def test_a_working_address_is_the_only_one_tried() -> None:
    async def main() -> None:
        network = Network(V6, V4)
        network.answers = {V6: 0.2, V4: 0.0}
        network.shakes_s = 5.0  # a slow handshake is no reason to open another connection
        assert await network.dial() == V6
        assert network.tries() == [(0, V6)]

    virtually(main())


def test_families_take_turns_and_a_failure_is_followed_at_once() -> None:
    async def main() -> None:
        network = Network(V6, V6B, V4, V4B)
        no_route = OSError(101, "Network is unreachable")
        network.answers = {V6: no_route, V4: SILENT, V6B: no_route, V4B: 0.1}
        assert await network.dial() == V4B
        assert network.tries() == [(0, V6), (0.01, V4), (0.26, V6B), (0.27, V4B)]

    virtually(main())


def test_a_slow_address_wins_while_the_next_one_is_tried() -> None:
    async def main() -> None:
        network = Network(V6, V4)
        network.answers = {V6: 0.3, V4: 1.0}
        assert await network.dial() == V6
        assert network.cancelled == [V4]
        network.answers = {V6: 0.5, V4: 0.25}
        assert await network.dial() in (V4, V6)
        assert len(network.closed) + len(network.cancelled) == 2, "the other one is closed"

    virtually(main())


def test_what_the_last_failure_was_is_reported() -> None:
    async def main() -> None:
        network = Network(V6, V4)
        network.answers = {V6: OSError(101, "x"), V4: ConnectionRefusedError(111, "x")}
        with pytest.raises(TransferFailed, match=rf"{V4} port 80: Connection refused") as refused:
            await network.dial()
        assert (refused.value.trouble, refused.value.closed_unanswered) == (Trouble.network, True)
        network.answers = {V6: SILENT, V4: SILENT}
        log, began = ConnectionLog(), network.clock.now().mono_ms
        with pytest.raises(TransferFailed, match="no answer in time") as silent:
            await network.dial(log)
        assert (silent.value.trouble, silent.value.closed_unanswered) == (Trouble.timeout, False)
        assert (network.clock.now().mono_ms - began, log.took[ConnectionStep.connect]) == (10_000, 10_000)
        with pytest.raises(TransferFailed, match="has no address"):
            await Network().dial()
        network.answers = {V6: OSError(24, "x"), V4: OSError(24, "x")}
        with pytest.raises(OutOfDescriptors):
            await network.dial()
        assert len(asyncio.all_tasks()) == 1

    virtually(main())


def test_only_what_the_guard_allows_is_dialled() -> None:
    async def main() -> None:
        network = Network("::1", "10.0.0.1", "8.8.8.8", guard=AddressGuard("auto"))
        network.answers = {"8.8.8.8": 0.4}
        assert await network.dial() == "8.8.8.8"
        assert network.tries() == [(0, "8.8.8.8")]
        excluding = AddressGuard(allow_private=True, excluded=lambda address: "asked" if address == V4 else "")
        excluded = Network(V6, V4, guard=excluding)
        with pytest.raises(AddressRefused):
            await excluded.dial()
        assert excluded.tried == []

    virtually(main())


@asynccontextmanager
async def mute() -> AsyncIterator[int]:
    """A port of ::1 that takes no connection: what waits to be accepted is full, and the kernel drops what comes."""
    with socket.socket(socket.AF_INET6) as listening:
        try:
            listening.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 loopback")
        listening.listen(0)
        port = listening.getsockname()[1]
        with socket.create_connection(("::1", port)):
            yield port


@pytest.mark.parametrize("reference", [False, True])
async def test_a_page_comes_by_the_other_family(reference: bool) -> None:
    async with mute() as port:
        server = await asyncio.start_server(_answer, "127.0.0.1", port)
        fetcher = fetching(resolve=_both, reference=reference)
        for _ in range(2):
            exchange = await fetcher.exchange(ask(f"http://site.example:{port}/"))
            assert (exchange.exit_code, exchange.body) == (ExitCode.file_ingested, b"<p>hello")
            assert [one.remote_address for one in exchange.requests] == ["127.0.0.1"]
            await fetcher.forget(f"http://site.example:{port}")
        await fetcher.close()
        server.close()


async def _both(host: str, port: int) -> tuple[str, ...]:
    return ("::1", "127.0.0.1")


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(whole())
    writer.close()


@pytest.mark.parametrize("reference", [False, True])
async def test_a_refused_address_is_followed_by_the_next(web: HostileWeb, reference: bool) -> None:
    async def two(host: str, port: int) -> tuple[str, ...]:
        return ("127.0.0.2", "127.0.0.1")

    fetcher = fetching(resolve=two, reference=reference)
    web.on("/", Send(whole()))
    exchange = await fetcher.exchange(ask(f"http://site.example:{web.port}/"))
    await fetcher.close()
    assert (exchange.exit_code, exchange.requests[0].remote_address) == (ExitCode.file_ingested, "127.0.0.1")
