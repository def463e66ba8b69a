"""The network under httpcore: names are resolved here, and only checked addresses are connected to."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore

from tui_crawler.fetch.address_guard import AddressGuard, bare_host, is_address
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionLogs, ConnectionStep
from tui_crawler.fetch.resolve import Resolver, is_out_of_descriptors

SocketOption = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)  # as httpcore has it


class ClosedUnanswered(httpcore.ReadError):
    """The connection was closed or reset before any byte of an answer."""


class NoDescriptor(httpcore.ConnectError):
    """This process can open no connection for want of a file descriptor."""


class WatchedStream(httpcore.AsyncNetworkStream):
    """A connection that remembers its address, whether an answer has begun, and whether the other side has ended."""

    def __init__(self, inner: httpcore.AsyncNetworkStream, address: str, logs: ConnectionLogs) -> None:
        self._inner = inner
        self._logs = logs
        self._log = ConnectionLog()
        self._answered = False
        self.address = address
        self.ended = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 (httpcore's signature)
        """At most `max_bytes`, b"" at the end. Raises ClosedUnanswered, httpcore.ReadTimeout, httpcore.ReadError."""
        try:
            data = await self._inner.read(max_bytes, timeout)
        except httpcore.ReadError as error:
            if self._answered:
                raise
            raise ClosedUnanswered(str(error) or "connection reset before any byte of an answer") from error
        self._logs.hear(self._log, self._inner if data else None)
        if data:
            self._answered = True
        else:
            self.ended = True
            if not self._answered:
                raise ClosedUnanswered("connection closed before any byte of an answer")
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 (httpcore's signature)
        """Sends; what is read after this is the next answer."""
        self._answered = False
        self._log = self._logs.use(self.address)
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
    ) -> httpcore.AsyncNetworkStream:
        """The same connection under TLS; the name that is verified stays the host's, not the address."""
        with self._logs.timing(ConnectionStep.tls) as lap:
            inner = await self._inner.start_tls(ssl_context, server_hostname, timeout)
            lap.stream = inner
        return WatchedStream(inner, self.address, self._logs)

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks of its streams (`is_readable`, `ssl_object`, …)."""
        return self._inner.get_extra_info(info)


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses the guard allows, one after the other within the timeout.

    `guard` None: every connection goes to the configured proxy, whose address the operator has chosen. `logs` are
    told of every connection.
    """

    def __init__(
        self, guard: AddressGuard | None, resolve: Resolver, inner: httpcore.AsyncNetworkBackend, logs: ConnectionLogs
    ) -> None:
        self._guard = guard
        self._logs = logs
        self._resolve = resolve
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to one of the host's allowed addresses.

        Raises AddressRefused, NoDescriptor, httpcore.ConnectError, httpcore.ConnectTimeout. `timeout` in seconds covers
        it all.
        """
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        self._logs.begin()
        addresses = await self._allowed_addresses(host, port, timeout)
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for position, address in enumerate(addresses):
            share = None if deadline is None else (deadline - loop.time()) / (len(addresses) - position)
            try:
                with self._logs.timing(ConnectionStep.connect) as lap:
                    inner = await self._inner.connect_tcp(
                        address,
                        port,
                        timeout=None if share is None else max(share, 0.001),
                        local_address=local_address,
                        socket_options=socket_options,
                    )
                    lap.stream = inner
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                kind = NoDescriptor if is_out_of_descriptors(error) else type(error)
                failure = kind(f"{address} port {port}: {_innermost(error)}")
                continue
            self._logs.connect(address)
            return WatchedStream(inner, address, self._logs)
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """No crawl connects to a Unix socket. Raises httpcore.ConnectError."""
        raise httpcore.ConnectError(f"{path} is not an address of the web")

    async def sleep(self, seconds: float) -> None:
        """Waits (httpcore's own retries, which are switched off)."""
        await self._inner.sleep(seconds)

    async def _allowed_addresses(self, host: str, port: int, seconds: float | None) -> tuple[str, ...]:
        bare = bare_host(host)
        if is_address(bare):
            found: tuple[str, ...] = (bare,)
        else:
            try:
                with self._logs.timing(ConnectionStep.dns):
                    async with asyncio.timeout(seconds):
                        found = await self._resolve(bare, port)
            except TimeoutError as error:
                raise httpcore.ConnectTimeout(f"no address for {host} in time") from error
            except OSError as error:
                kind = NoDescriptor if is_out_of_descriptors(error) else httpcore.ConnectError
                raise kind(f"no address for {host}: {error}") from error
        return found if self._guard is None else self._guard.allowed(host, found)


def _innermost(error: BaseException) -> str:
    """What the operating system said, beneath the wrappings of httpcore and anyio."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, OSError) and error.errno is not None and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)
    return str(error) or "no answer in time"
