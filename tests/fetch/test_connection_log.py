"""How a request came by its connection: name look-up, TCP, TLS, or a kept one; also where a step fails."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import httpcore
import pytest

from tests.fetch.asking import CORPORA, SHORT, ask, fetching, head, whole
from tests.support.held_time import HeldTime
from tests.support.hostile_web import Close, HostileWeb, Pass, Send, Wait
from tests.support.patience import PATIENT_S
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.attempt import Exchange, RequestRecord
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.engine.clock import VirtualClock, run_virtual
from tui_crawler.fetch import connection_log
from tui_crawler.fetch.address_guard import AddressGuard
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionLogs, ConnectionStep
from tui_crawler.fetch.dialing import Dialer
from tui_crawler.fetch.httpx_wire import GuardedBackend

CERTIFICATE = CORPORA / "crawled.example.pem"  # self-signed, with its key, made for these tests


class Ticking:
    """Clocks that go on by 7 ms with each reading."""

    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> Moment:
        self.ms += 7
        return Moment(self.ms, 1_000_000 + self.ms)


async def here(host: str, port: int) -> tuple[str, ...]:
    return ("127.0.0.1",)


def times(record: RequestRecord) -> tuple[int | None, int | None, int | None]:
    return record.dns_ms, record.connect_ms, record.tls_ms


async def test_a_new_connection_has_its_steps_and_a_kept_one_has_none(web: HostileWeb) -> None:
    fetcher = fetching(resolve=here, now=Ticking())
    web.on("/", Send(whole()))
    first, second = [await fetcher.exchange(ask(f"http://site.example:{web.port}/")) for _ in range(2)]
    (new,), (kept,) = first.requests, second.requests
    assert (times(new), new.connection_reused, new.remote_address) == ((7, 7, None), False, "127.0.0.1")
    assert (times(kept), kept.connection_reused, kept.remote_address) == ((None,) * 3, True, "127.0.0.1")
    assert web.connections == 1


async def test_an_address_needs_no_look_up(web: HostileWeb) -> None:
    fetcher = fetching(now=Ticking())
    web.on("/", Send(whole()))
    (record,) = (await fetcher.exchange(ask(web.url("/")))).requests
    assert (times(record), record.connection_reused) == ((None, 7, None), False)


async def test_tls_is_measured_apart_from_tcp_also_where_it_fails() -> None:
    trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(CERTIFICATE)
    async with HostileWeb(tls=serving) as web:
        web.on("/", Send(whole()))
        fetcher = fetching(resolve=here, ssl_context=trusting, now=Ticking(), fluke_retry=False)
        names = ("crawled.example", "crawled.example", "other.example")
        asked = [await fetcher.exchange(ask(f"https://{name}:{web.port}/")) for name in names]
        await fetcher.close()
    new, kept, refused = (one.requests[0] for one in asked)
    assert (times(new), new.connection_reused) == ((7, 7, 7), False)
    assert (times(kept), kept.connection_reused) == ((None, None, None), True)
    assert (times(refused), refused.connection_reused) == ((7, 7, 7), False)
    assert (refused.http_status, refused.remote_address) == (None, "127.0.0.1")


async def test_a_refused_connection_took_its_time_and_has_no_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        fetcher = fetching(resolve=here, now=Ticking())
        exchange = await fetcher.exchange(ask(f"http://site.example:{taken.getsockname()[1]}/"))
        await fetcher.close()
    assert exchange.exit_code is ExitCode.connection_failed
    assert [(times(one), one.connection_reused, one.remote_address) for one in exchange.requests] == [
        ((7, 7, None), False, "")
    ] * 2


async def test_an_answer_that_never_comes_has_an_address_over_a_new_and_a_kept_connection(
    web: HostileWeb, held_time: HeldTime
) -> None:
    fetcher = fetching(now=Ticking())
    web.on("/", Send(whole()))
    web.on("/silent", Pass(held_time, SHORT.read_timeout_ms / 1000), Wait(asyncio.Event()))
    records = [(await fetcher.exchange(ask(web.url(path)))).requests[0] for path in ("/silent", "/", "/silent")]
    assert [(one.head_at is None, one.connection_reused) for one in records] == [
        (True, False), (False, False), (True, True),
    ]  # fmt: skip
    assert {one.remote_address for one in records} == {"127.0.0.1"}


async def test_the_second_try_after_a_kept_connection_was_closed_has_its_own_steps(web: HostileWeb) -> None:
    fetcher = fetching(now=Ticking())
    web.on("/", Send(whole()))
    web.on("/again", Close())
    web.on("/again", Send(whole()))
    await fetcher.exchange(ask(web.url("/")))
    exchange = await fetcher.exchange(ask(web.url("/again")))
    assert exchange.exit_code is ExitCode.file_ingested
    assert [(one.fluke_retry, one.connection_reused, one.connect_ms) for one in exchange.requests] == [
        (False, True, None), (True, False, 7),
    ]  # fmt: skip


async def test_two_requests_to_one_origin_at_once_have_each_their_own(web: HostileWeb) -> None:
    """The second is asked while the name of the first is looked up."""
    waiting, go_on = asyncio.Event(), asyncio.Event()
    calls = iter((True, False))

    async def slow_first(host: str, port: int) -> tuple[str, ...]:
        if next(calls):
            waiting.set()
            await go_on.wait()
        return ("127.0.0.1",)

    fetcher = fetching(resolve=slow_first, now=(clock := Ticking()))
    web.on("/", Send(whole()))
    url = f"http://site.example:{web.port}/"
    first = asyncio.ensure_future(fetcher.exchange(ask(url)))
    await waiting.wait()
    second = await fetcher.exchange(ask(url))
    clock.ms += 1_000
    go_on.set()
    (slow,) = (await first).requests
    assert second.requests[0].dns_ms == 7
    assert slow.dns_ms is not None
    assert slow.dns_ms > 1_000
    assert slow.connection_reused is second.requests[0].connection_reused is False


def test_dns_takes_the_time_of_the_resolver() -> None:
    """A name server that is slow, then one that says nothing until the connect timeout (2 s)."""

    async def asked(wait_s: float) -> Exchange:
        async def slow(host: str, port: int) -> tuple[str, ...]:
            await asyncio.sleep(wait_s)
            raise OSError("no such name")

        limits = replace(SHORT, connect_timeout_ms=2_000)
        fetcher = fetching(limits, guard=AddressGuard(), resolve=slow, now=VirtualClock().now, fluke_retry=False)
        exchange = await fetcher.exchange(ask("http://site.example/"))
        await fetcher.close()
        return exchange

    for wait_s, took, code in ((0.34, 340, ExitCode.connection_failed), (9, 2_000, ExitCode.request_timeout)):
        exchange = run_virtual(asked(wait_s))
        (record,) = exchange.requests
        assert (exchange.exit_code, times(record)) == (code, (took, None, None))
        assert (record.connection_reused, record.remote_address) == (False, "")


def test_a_deadline_during_the_look_up_does_not_lose_its_time() -> None:
    async def asked() -> Exchange:
        async def silent(host: str, port: int) -> tuple[str, ...]:
            await asyncio.Event().wait()
            raise AssertionError

        limits = replace(SHORT, connect_timeout_ms=9_000, total_timeout_ms=1_500)
        fetcher = fetching(limits, guard=AddressGuard(), resolve=silent, now=VirtualClock().now)
        exchange = await fetcher.exchange(ask("http://site.example/"))
        await fetcher.close()
        return exchange

    assert times(run_virtual(asked()).requests[0]) == (1_500, None, None)


async def test_behind_a_proxy_it_is_the_connection_to_the_proxy() -> None:
    async with HostileWeb() as proxy:
        fetcher = fetching(guard=AddressGuard(), proxy=proxy.origin, now=Ticking())
        proxy.on("http://public.example/", Send(whole()))
        records = [(await fetcher.exchange(ask("http://public.example/"))).requests[0] for _ in range(2)]
        await fetcher.close()
    assert [(times(one), one.connection_reused, one.remote_address) for one in records] == [
        ((None, 7, None), False, "127.0.0.1"), ((None, None, None), True, "127.0.0.1"),
    ]  # fmt: skip


async def test_a_connection_nobody_keeps_a_log_of_and_two_handshakes() -> None:
    logs, log = ConnectionLogs(Ticking()), ConnectionLog()
    dialer = Dialer(AddressGuard(allow_private=True), here, 10, logs.now)
    backend = GuardedBackend(dialer, httpcore.AsyncMockBackend([]), logs)
    await (await backend.connect_tcp("site.example", 80)).write(b"x")  # a task without a log: nothing is kept
    with logs.writing(log):
        with pytest.raises(RuntimeError), logs.of_task().timing(ConnectionStep.tls, logs.now):
            raise RuntimeError
        with logs.of_task().timing(ConnectionStep.tls, logs.now):
            pass
    assert (log.took, log.reused) == ({ConnectionStep.tls: 14}, None)
    with logs.of_task().timing(ConnectionStep.tls, logs.now):
        pass
    assert log.took == {ConnectionStep.tls: 14}


class SlowServer:
    """Answers one request from a thread, after `takes_s`, while the event loop stands still until `stall_s` later."""

    def __init__(self, takes_s: float, stall_s: float) -> None:
        self._takes_s, self._stall_s = takes_s, stall_s
        self._standing, self._answered = threading.Event(), threading.Event()
        self._loop = asyncio.get_running_loop()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        with self._socket, self._socket.accept()[0] as connection:
            connection.recv(65_536)
            self._loop.call_soon_threadsafe(self._stand_still)
            self._standing.wait(PATIENT_S)
            _spin(self._takes_s)
            connection.sendall(whole())
            self._answered.set()
            connection.recv(1)  # until the client is gone

    def _stand_still(self) -> None:
        self._standing.set()
        self._answered.wait(PATIENT_S)
        _spin(self._stall_s)


def _spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a socket was last written to")
async def test_what_an_engine_needs_that_stands_still_is_not_the_time_of_the_server(
    monkeypatch: pytest.MonkeyPatch, kernel: Callable[..., int]
) -> None:
    monkeypatch.setattr(connection_log, "silent_ms", kernel)
    server = SlowServer(takes_s=0.05, stall_s=0.2)
    fetcher = fetching()
    began = time.monotonic_ns() // 1_000_000
    exchange = await fetcher.exchange(ask(server.url))
    took = time.monotonic_ns() // 1_000_000 - began
    await fetcher.close()
    server.thread.join()
    (record,) = exchange.requests
    assert 50 <= exchange.response_ms < took - 100
    assert record.head_at is not None
    assert 50 <= record.head_at - record.sent_at < took - 100
    assert record.ended_at == record.head_at


async def test_what_an_engine_needs_before_it_asks_is_not_the_time_of_the_server(web: HostileWeb) -> None:
    clock = Ticking()

    async def after_a_stall(host: str, port: int) -> tuple[str, ...]:
        clock.ms += 1_000
        return ("127.0.0.1",)

    fetcher = fetching(resolve=after_a_stall, now=clock)
    web.on("/", Send(whole()))
    exchange = await fetcher.exchange(ask(f"http://site.example:{web.port}/"))
    assert clock.ms > 1_000
    assert exchange.response_ms < 100


async def test_a_server_that_never_ends_its_answer_keeps_all_its_time(web: HostileWeb, held_time: HeldTime) -> None:
    fetcher = fetching(now=held_time.now)
    for path, status, waited in (
        ("/half", "200 OK", "read_timeout_ms"),
        ("/lost", "404 Not Found", "drain_timeout_ms"),
    ):
        limit = getattr(SHORT, waited)
        begun = Send(head(status, "Content-Length: 9") + b"half")
        web.on(path, begun, Pass(held_time, limit / 1000), Wait(asyncio.Event()))
        assert (await fetcher.exchange(ask(web.url(path)))).response_ms == limit
