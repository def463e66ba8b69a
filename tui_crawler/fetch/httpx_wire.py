"""The wire of httpx (or httpx2), the only module with it: for crawls behind a proxy, and the reference of our own.

Transports are used without `httpx.Client`: there is nothing that could follow redirects, keep cookies, read the
environment or decode a body. Each origin has a small transport of its own, because httpcore's pool looks at all of its
connections for each request. Under them names are resolved here, and only checked addresses are connected to.
"""

from __future__ import annotations

import re
import ssl
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

try:
    import httpcore
    import httpx
except ModuleNotFoundError:  # its maintained successor, with the same interface
    import httpcore2 as httpcore  # type: ignore[no-redef]
    import httpx2 as httpx  # type: ignore[no-redef]

from tui_crawler.domain.records.failure import OutOfDescriptors
from tui_crawler.domain.url import DEFAULT_PORTS, CrawlUrl
from tui_crawler.fetch.address_guard import AddressGuard, Resolver, bare_host, check_name
from tui_crawler.fetch.classify import Phase, TransferFailed, Trouble
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionLogs, ConnectionStep
from tui_crawler.fetch.dialing import Dialer
from tui_crawler.fetch.headers import HEAD_END, RawHeaders, encode_headers, sift_head
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.tls import Access, TlsContexts, Trust, certificate_words
from tui_crawler.fetch.transfer import WireRequest

_INTERIM = re.compile(rb"HTTP/1\.[0-9] 1(?!01)")
_HEADS_BYTES = 256 * 1024  # of heads, interim ones too; as much as 64 KiB of a body may be read along


class ClosedUnanswered(httpcore.ReadError):
    """The connection was closed or reset before any byte of an answer."""


class WatchedStream(httpcore.AsyncNetworkStream):
    """A connection that remembers its address, how much of an answer has come, how many header lines were `left_out` of
    it, and whether the other side has ended. `headed`: all that comes from then on is of the body."""

    def __init__(self, inner: httpcore.AsyncNetworkStream, address: str, logs: ConnectionLogs) -> None:
        self._inner = inner
        self._logs = logs
        self._log = ConnectionLog()
        self.received = self.left_out = 0
        self.address = address
        self.ended = self.headed = False
        self._head = bytearray()  # what has come of a head that is not complete

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 (httpcore's signature)
        """At most `max_bytes` more than a head, b"" at the end. Heads come as a whole, sifted: h11 is strict.

        Raises ClosedUnanswered, httpcore.ReadTimeout, httpcore.ReadError, httpcore.RemoteProtocolError.
        """
        looked = 0
        while not self.headed:
            ended = HEAD_END.search(self._head, looked)
            if ended is not None:
                return self._sift(ended.end())
            looked = max(len(self._head) - 2, 0)
            data = await self._receive(max_bytes, timeout)
            self._head += data
            if not data:
                self.headed = True  # there will be no more of it
                return bytes(self._head)
        return await self._receive(max_bytes, timeout)

    def _sift(self, end: int) -> bytes:
        """Return the head that ends at `end`, with what has come of a body. Raises httpcore.RemoteProtocolError."""
        try:
            head, left_out = sift_head(bytes(self._head[:end]))
        except TransferFailed as failure:
            raise httpcore.RemoteProtocolError(str(failure)) from failure
        del self._head[:end]
        self.left_out += left_out
        self.headed = _INTERIM.match(head) is None
        return head + self._head if self.headed else head

    async def _receive(self, max_bytes: int, timeout: float | None) -> bytes:  # noqa: ASYNC109 (httpcore's signature)
        try:
            data = await self._inner.read(max_bytes, timeout)
        except httpcore.ReadError as error:
            if self.received:
                raise
            raise ClosedUnanswered(str(error) or "connection reset before any byte of an answer") from error
        self._logs.hear(self._log, self._inner if data else None)
        self.received += len(data)
        if not data:
            self.ended = True
            if not self.received:
                raise ClosedUnanswered("connection closed before any byte of an answer")
        elif not self.headed and self.received > _HEADS_BYTES:
            raise httpcore.RemoteProtocolError(f"heads of more than {_HEADS_BYTES} bytes")
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 (httpcore's signature)
        """Send; what is read after this is the next answer."""
        self.received, self.left_out, self.headed = 0, 0, False
        self._head.clear()
        self._log = self._logs.use(self.address)
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
    ) -> httpcore.AsyncNetworkStream:
        """The same connection under TLS; the name that is verified stays the host's, not the address."""
        with self._logs.of_task().timing(ConnectionStep.tls, self._logs.now) as lap:
            inner = await self._inner.start_tls(ssl_context, server_hostname, timeout)
            lap.stream = inner
        return WatchedStream(inner, self.address, self._logs)

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks of its streams (`is_readable`, `ssl_object`, …)."""
        return self._inner.get_extra_info(info)


@dataclass(slots=True)
class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects as `_dialer` does, whatever timeout httpcore has; `_logs` get every connection."""

    _dialer: Dialer
    _inner: httpcore.AsyncNetworkBackend
    _logs: ConnectionLogs

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to one of the host's allowed addresses. Raises TransferFailed, OutOfDescriptors."""

        async def connect(address: str, log: ConnectionLog) -> httpcore.AsyncNetworkStream:
            with log.timing(ConnectionStep.connect, self._logs.now) as lap:
                try:
                    lap.stream = await self._inner.connect_tcp(address, port, None, local_address, socket_options)
                except httpcore.ConnectError as error:
                    raise _of_the_system(error) from None
            log.remote_address = address
            return WatchedStream(lap.stream, address, self._logs)

        return await self._dialer.dial(host, port, self._logs.begin(), connect, httpcore.AsyncNetworkStream.aclose)


def _of_the_system(error: BaseException) -> OSError:
    """Return what the operating system said, beneath the wrappings of httpcore and anyio."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error if isinstance(error, OSError) else OSError(str(error))


_OF_STATUS_LINE = ("http_version", "reason_phrase")
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody


class HttpxWire:
    """One small transport per origin; the least recently used idle ones are closed. Origins whose `access` trusts the
    same certificates share one of the TLS `contexts`."""

    def __init__(
        self,
        limits: FetchLimits,
        guard: AddressGuard,
        resolve: Resolver,
        proxy: str | None,
        access: Callable[[CrawlUrl], Access],
        trust: Trust,
        contexts: TlsContexts,
        logs: ConnectionLogs,
    ) -> None:
        self._guard = guard
        self._logs = logs
        self._access = access
        self._contexts = contexts
        secure = contexts[trust] if proxy is not None and proxy.startswith("https:") else None
        self._proxy = None if proxy is None else httpx.Proxy(proxy, ssl_context=secure)
        self._max_open = limits.max_open_origins
        self._keep_alive_s = limits.keep_alive_ms / 1000
        connect, read = limits.connect_timeout_ms / 1000, limits.read_timeout_ms / 1000
        dialer = Dialer(guard if proxy is None else None, resolve, connect, logs.now)
        self._backend = GuardedBackend(dialer, httpcore.AnyIOBackend(), logs)
        self._open: OrderedDict[str, _Origin] = OrderedDict()
        self._timeouts = {"connect": connect, "read": read, "write": read, "pool": connect}
        if proxy is not None:
            self._transport(None)  # a proxy that this installation cannot use is an error now, not at the first page

    async def open(self, call: WireRequest, log: ConnectionLog) -> HttpxAnswer:
        fields, more = encode_headers((*call.headers, *call.secret)), {"timeout": self._timeouts}
        request = httpx.Request(call.method, _client_url(call.url), headers=fields, extensions=more)
        try:
            origin = self._origin(call.url)
        except OSError as error:  # its certificates were there when the crawl began
            raise failure_of(error, Phase.connect, None) from error
        origin.in_use += 1
        try:
            await self._close_idle(self._max_open)
            if self._proxy is not None:
                self._guard.check_literal(call.url.host)
            elif origin.last_address:  # a kept connection is judged again: the exclusion list may have grown
                self._guard.check_excluded(call.url.host, origin.last_address)
            with self._logs.writing(log):
                response = await origin.transport.handle_async_request(request)
        except BaseException as error:  # a cancelled one too: httpcore has closed its connection
            origin.in_use -= 1
            if isinstance(error, OutOfDescriptors):  # gives those back that nobody uses
                await self._close_idle(0)
            if isinstance(error, TransferFailed | OutOfDescriptors) or not isinstance(error, Exception):
                raise
            raise failure_of(error, Phase.head, None) from error
        answer = HttpxAnswer(response, origin)
        version = response.extensions.get("http_version", b"HTTP/1.1")
        if not version.startswith(b"HTTP/1."):  # h11 takes any digits for a version
            await answer.close()
            raise TransferFailed(Phase.head, Trouble.protocol, f"illegal HTTP: version {version!r}")
        return answer

    async def forget(self, origin: str) -> None:
        known = self._open.pop(origin, None)
        if known is not None:
            await known.transport.aclose()

    async def close(self) -> None:
        for origin in list(self._open):
            await self.forget(origin)

    def _origin(self, url: CrawlUrl) -> _Origin:
        known = self._open.get(url.origin)
        if known is None:
            trust = self._access(url).trust if url.scheme == "https" else None
            known = self._open[url.origin] = _Origin(self._transport(trust))
        self._open.move_to_end(url.origin)
        return known

    async def _close_idle(self, most: int) -> None:
        """Close the least recently used transports without a request, down to `most`."""
        if len(self._open) <= most:
            return
        for name in [name for name, each in self._open.items() if each.in_use == 0]:
            if len(self._open) <= most:
                return
            await self.forget(name)

    def _transport(self, trust: Trust | None) -> httpx.AsyncHTTPTransport:
        transport = httpx.AsyncHTTPTransport(
            verify=_NO_TLS if trust is None else self._contexts[trust],
            trust_env=False,
            http1=True,
            http2=False,
            proxy=self._proxy,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=1, keepalive_expiry=self._keep_alive_s),
        )
        # httpx has no parameter for httpcore's network backend; the address tests fail if this stops working
        transport._pool._network_backend = self._backend
        return transport


@dataclass(slots=True)
class _Origin:
    """The transport of an origin, how many requests it carries, and the last address it was connected to."""

    transport: httpx.AsyncHTTPTransport
    in_use: int = 0
    last_address: str = ""


class HttpxAnswer:
    """A response of httpx whose body is read raw."""

    def __init__(self, response: httpx.Response, origin: _Origin) -> None:
        stream = response.extensions.get("network_stream")
        self._stream = stream if isinstance(stream, WatchedStream) else None
        self._response = response
        self._origin = origin
        self._closed = False
        self.status = response.status_code
        version, reason = (response.extensions.get(key, b"").decode("latin-1") for key in _OF_STATUS_LINE)
        self.status_line = f"{version} {self.status} {reason}"
        self.headers: RawHeaders = response.headers.raw
        self.head_bytes = self.left_out = 0
        origin.last_address = ""
        if self._stream is not None:
            origin.last_address, self.left_out = self._stream.address, self._stream.left_out
            self.head_bytes = self._stream.received - len(_unread(response)[0])

    @property
    def received(self) -> int:
        return 0 if self._stream is None else self._stream.received - self.head_bytes

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in self._response.aiter_raw():
                yield chunk
        except Exception as error:  # as in `open`
            raise failure_of(error, Phase.body, self._stream) from error

    async def close(self) -> None:
        """Give the connection back, or closes it when the body was not read to its end or more came than that."""
        if self._closed:
            return
        self._closed = True
        self._origin.in_use -= 1
        unread, connection = _unread(self._response)
        try:
            await self._response.aclose()
            if unread and connection is not None:
                await connection.aclose()
        except (httpx.HTTPError, OSError):  # the exchange is over; a connection that fails to close is gone
            return


def _unread(response: httpx.Response) -> tuple[bytes, httpcore.AsyncConnectionInterface | None]:
    """Return what was received and not read yet, and the connection. After a response that is more than was asked for
    (a body after HEAD, a second response), which httpcore would take for the answer to the next request.

    It has no way to ask; the tests of such servers fail if this one stops working.
    """
    try:
        connection = response.stream._httpcore_stream._stream._connection  # type: ignore[union-attr]  # see above
        return connection._h11_state.trailing_data[0], connection
    except AttributeError:
        return b"", None


def failure_of(error: Exception, phase: Phase, stream: WatchedStream | None) -> TransferFailed:
    """Return what an exception of the client means in this phase. Its text may hold bytes of the server."""
    text = str(error) or type(error).__name__
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        return TransferFailed(Phase.connect, Trouble.certificate, certificate_words(cause))
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return TransferFailed(Phase.connect, Trouble.timeout, text)
        case httpx.TimeoutException():
            return TransferFailed(phase, Trouble.timeout, f"no data for the read timeout ({text})")
        case httpx.ConnectError() | httpx.ProxyError():
            return TransferFailed(Phase.connect, Trouble.network, text, closed_unanswered=True)
        case httpx.NetworkError() | OSError():
            unanswered = phase is Phase.head and isinstance(error.__cause__, ClosedUnanswered)
            return TransferFailed(phase, Trouble.network, text, closed_unanswered=unanswered)
        case httpx.RemoteProtocolError():
            short = phase is Phase.body and stream is not None and stream.ended
            return TransferFailed(phase, Trouble.short if short else Trouble.protocol, f"illegal HTTP: {text}")
        case httpx.InvalidURL():
            return _invalid_target(text)
        case _:
            return TransferFailed(phase, Trouble.local, f"{type(error).__name__}: {text}")


def _invalid_target(message: str) -> TransferFailed:
    return TransferFailed(Phase.connect, Trouble.invalid_target, message)


def _client_url(url: CrawlUrl) -> httpx.URL:
    """The URL as httpx has it. Raises TransferFailed when httpx would ask for something else than was judged."""
    check_name(url.host)
    try:
        theirs = httpx.URL(url.href)
    except httpx.InvalidURL as error:
        raise _invalid_target(str(error)) from error
    connected = (theirs.scheme, theirs.raw_host.decode("ascii"), theirs.port or DEFAULT_PORTS[theirs.scheme])
    if connected != (url.scheme, bare_host(url.host), url.port):
        raise _invalid_target(f"the client would connect to {theirs.netloc!r}, not {url.host} port {url.port}")
    if theirs.raw_path.decode("ascii") != url.target:
        raise _invalid_target(f"the client would ask for {theirs.raw_path!r}, not {url.target!r}")
    return theirs
