"""HTTP/1.1 over asyncio: connections that carry one request after the other, read by llhttp (RFC 9112).

This is the hot path of fetching: one object a connection, one timer a connection, no stream or task between the socket
and whoever reads the body. What a server may do to it is bounded here: the bytes of a head, of what frames a body, and
of what waits to be read. Everything else (deadlines of the whole, sizes, codings) is the business of `transfer`.
"""

import asyncio
import select
import socket
import ssl
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from enum import Enum
from functools import lru_cache, partial
from typing import cast

import httptools

from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.attempt import Headers
from tui_crawler.domain.records.failure import OutOfDescriptors
from tui_crawler.domain.url import DEFAULT_PORTS, CrawlUrl
from tui_crawler.fetch import connection_log
from tui_crawler.fetch.address_guard import AddressGuard, AddressRefused, Resolver, bare_host, check_name
from tui_crawler.fetch.classify import Phase, TransferFailed, Trouble
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionStep
from tui_crawler.fetch.dialing import Dialer, told
from tui_crawler.fetch.headers import HEAD_END, encode_headers, sift_head
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.transfer import WireRequest

_WAITING_BYTES = 256 * 1024  # so much of a body waits to be read before the socket is left alone
_FRAMING_BYTES = 64 * 1024  # chunk sizes, extensions and trailers between two pieces of a body
_HEAD_SLACK = 64 * 1024  # heads up to here are read whole, so that `transfer` can tell their size
_BEGINNING = b"HTTP/"  # llhttp takes other protocols as well
_NO_BODY = frozenset({204, 304})  # RFC 9112, 6.3


class _State(Enum):
    idle = "idle"  # kept for the next request
    head = "head"  # a request was sent
    body = "body"  # its head has come
    done = "done"  # its answer is complete
    closed = "closed"


class Http1Connection(asyncio.Protocol):
    """A connection to `address`. It carries one exchange at a time: `ask`, then `chunks`, then `close`.

    An answer whose head has come has `status` and `headers`, without the `left_out` lines that were not well-formed;
    `head_bytes` came of it, with all interim ones, and `received` after it. `limits` say how long nothing may
    come while somebody waits, and how long the connection may be idle before it closes itself.
    """

    def __init__(self, address: str, limits: FetchLimits, now: Callable[[], Moment]) -> None:
        self._now = now
        self._log = ConnectionLog()
        self.address = address
        self.status = 0
        self.status_line = ""
        self._reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.give_back: Callable[[Http1Connection], None] = Http1Connection.abort
        self._loop = asyncio.get_running_loop()
        self._read_timeout_s = limits.read_timeout_ms / 1000
        self._keep_alive_s = limits.keep_alive_ms / 1000
        self._most_head = limits.max_header_bytes + _HEAD_SLACK
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._state = _State.idle
        self._failure: TransferFailed | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._chunks: list[bytes] = []
        self._waiting = 0
        self._framing = 0
        self.head_bytes = self.received = self.left_out = 0
        self._head = bytearray()  # what has come of a head that is not complete
        self._head_only = self._interim = self._until_close = self._reusable = self._paused = False

    # one exchange

    @property
    def is_usable(self) -> bool:
        """Whether another request can be sent: it is idle, and nothing has come that nobody asked for, not even an
        end that the event loop has not seen yet."""
        if self._state is not _State.idle or self._transport is None or self._transport.is_closing():
            return False
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    async def ask(self, request: bytes, log: ConnectionLog, *, head_only: bool) -> None:
        """Sends a request and waits for the head of its answer. `head_only`: it has no body (RFC 9110, 9.3.2).

        `log` gets when it was asked and when the newest of its answer came to the socket. Raises TransferFailed.
        """
        self._log = log
        log.asked = self._now()
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(  # what RFC 9112, 2.2, 5.2, 6.3 and 7.1 lets a recipient take
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
            lenient_headers=True,
            lenient_chunked_length=True,
        )
        self._state = _State.head
        self._head_only, self._interim, self._until_close = head_only, False, False
        self._framing = self._waiting = self.head_bytes = self.received = self.left_out = 0
        self.headers, self._reason = [], b""
        self._head.clear()
        self._touch()
        if self._transport is not None:
            self._transport.write(request)
        while self._state is _State.head and self._failure is None:
            await self._wait()
        if self._failure is not None and self._failure.phase is Phase.head:
            raise self._failure

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it is sent. Raises TransferFailed."""
        while True:
            if self._chunks:
                data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
                self._chunks.clear()
                self._waiting = 0
                if self._paused and self._transport is not None and self._state is _State.body:
                    self._paused = False
                    self._touch()
                    self._transport.resume_reading()
                yield data
            elif self._failure is not None:
                raise self._failure
            elif self._state is not _State.body:
                return
            else:
                await self._wait()

    async def close(self) -> None:
        """Gives the connection back, or closes it when the body was not read to its end or more came than that."""
        self.give_back(self)

    def release(self) -> bool:
        """Ends the exchange; whether the connection is kept: its answer was complete, and nothing came after it."""
        kept = self._state is _State.done and self._reusable and self._failure is None
        self._chunks.clear()
        self._parser = None
        if kept:
            self._state = _State.idle
            self._touch()
        else:
            self.abort()
        return kept

    def abort(self) -> None:
        """Closes the connection at once."""
        self._state = _State.closed
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()

    # what the event loop tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Reads what has come; more than the answer means that the connection is of no further use."""
        self._last = self._loop.time()
        parser = self._parser
        if parser is None or self._state not in (_State.head, _State.body):
            self._reusable = False
            if self._state is _State.idle:
                self.abort()
            return
        self._hear(connection_log.silent_ms(self._transport))
        try:
            at = 0
            while at < len(data) and self._failure is None and self._state is _State.head:
                at += self._feed_head(parser, data, at)
            if at < len(data) and self._failure is None:
                self._feed_body(parser, memoryview(data)[at:])
        except httptools.HttpParserUpgrade:
            self._reusable = False
        except httptools.HttpParserError as error:
            self._reusable = False  # an illegal answer, or after a complete one something that nobody asked for
            if self._state in (_State.head, _State.body):
                phase = Phase.head if self._state is _State.head else Phase.body
                self._fail(phase, Trouble.protocol, f"illegal HTTP: {error}")
        except TransferFailed as failure:
            self._failure = self._failure or failure
        if self._waiting > _WAITING_BYTES and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def _feed_head(self, parser: httptools.HttpResponseParser, data: bytes, at: int) -> int:
        """Read what came of a head from `at` on, no further than its end; return how many bytes that were.

        Raises TransferFailed. llhttp gets heads as a whole: it would copy a folded line with all before it.
        """
        if not self.head_bytes and not data.startswith(_BEGINNING) and not _BEGINNING.startswith(data):
            self._fail(Phase.head, Trouble.protocol, f"illegal HTTP: an answer that begins with {data[:20]!r}")
        held = len(self._head)
        if held:  # it began in an earlier piece, and goes on at the beginning of this one
            self._head += data
        text = self._head if held else data
        ended = HEAD_END.search(text, max(held - 2, at))
        taken = (len(text) if ended is None else ended.end()) - at - held
        self.head_bytes += taken
        if self.head_bytes > self._most_head:
            self._fail(Phase.head, Trouble.protocol, f"a header block of more than {self._most_head} bytes")
        elif ended is not None:
            head, left_out = sift_head(bytes(text[at : ended.end()]))
            self._head.clear()
            self.left_out += left_out
            parser.feed_data(head)
        elif not held:
            self._head += data[at:]
        return taken

    def _feed_body(self, parser: httptools.HttpResponseParser, data: memoryview) -> None:
        """Reads what came after the head."""
        if self._state is not _State.body:
            self._reusable = False
            return
        self.received += len(data)
        self._framing += len(data)
        parser.feed_data(data)
        if self._framing > _FRAMING_BYTES + len(data):
            self._fail(Phase.body, Trouble.protocol, f"illegal HTTP: more than {_FRAMING_BYTES} bytes of framing")

    def eof_received(self) -> None:
        """The other side has ended: that completes a body without a length, and cuts anything else short."""
        self._end("connection closed", Trouble.short)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end("connection closed" if exc is None else told(exc), Trouble.network if exc else Trouble.short)
        self._state = _State.closed
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hear(self, silent: int) -> None:
        """Something of the answer was read that came so many ms ago."""
        log, moment = self._log, self._now().later(-silent)
        log.heard = moment if log.asked is None else max(moment, log.asked)

    def _end(self, words: str, trouble: Trouble) -> None:
        self._reusable = False
        if self._state in (_State.head, _State.body):
            self._hear(0)
        if self._failure is None and self._state is _State.head:
            if self.head_bytes == 0:
                self._failure = TransferFailed(
                    Phase.head, Trouble.network, f"{words} before any byte of an answer", closed_unanswered=True
                )
            else:
                head_trouble = Trouble.protocol if trouble is Trouble.short else trouble
                self._fail(Phase.head, head_trouble, f"{words} within the head of the answer")
        elif self._failure is None and self._state is _State.body:
            if self._until_close and trouble is Trouble.short:
                self._state = _State.done
            else:
                self._fail(Phase.body, trouble, f"{words} within the body")
        self._wake()

    # what llhttp tells

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the head, or of a trailer, which says nothing here (RFC 9110, 6.5)."""
        if self._state is _State.head:
            self.headers.append((name, value.rstrip(b" \t")))

    def on_status(self, reason: bytes) -> None:
        """A piece of the reason phrase."""
        self._reason += reason

    def on_headers_complete(self) -> None:
        """The head is there; an interim one (1xx but 101) is not the answer (RFC 9110, 15.2)."""
        parser = self._parser
        if parser is None or self._state is not _State.head:  # a second answer, that nobody asked for
            self._reusable = False
            return
        status = parser.get_status_code()
        self._interim = 100 <= status < 200 and status != 101
        if self._interim:
            self.headers, self._reason = [], b""
            return
        version = parser.get_http_version()
        if not version.startswith("1."):
            self._fail(Phase.head, Trouble.protocol, f"illegal HTTP: version {version}")
            return
        self.status = status
        self.status_line = f"HTTP/{version} {status} {self._reason.decode('latin-1')}"
        self._reusable = parser.should_keep_alive()
        self._frame_body()
        self._state = _State.body
        if self._head_only:
            self._state = _State.done

    def _frame_body(self) -> None:
        """How the body ends (RFC 9112, 6.3)."""
        lengths = {value for name, value in self.headers if name.lower() == b"content-length"}
        codings = [value.strip().lower() for name, value in self.headers if name.lower() == b"transfer-encoding"]
        if codings and codings != [b"chunked"]:
            self._fail(Phase.head, Trouble.protocol, f"illegal HTTP: Transfer-Encoding {b', '.join(codings)!r}")
        self._until_close = not lengths and not codings and self.status not in _NO_BODY
        self._reusable = self._reusable and not self._until_close and not (lengths and codings)

    def on_body(self, body: bytes) -> None:
        if self._state is _State.body:
            self._chunks.append(body)
            self._waiting += len(body)
            self._framing = 0

    def on_message_begin(self) -> None:
        """Another message: after the answer there must be none."""
        if self._state is _State.done:
            self._reusable = False

    def on_message_complete(self) -> None:
        if self._interim:
            self._interim = False
        elif self._state is _State.body:
            self._state = _State.done

    # waiting

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _touch(self) -> None:
        """Something happened; one timer looks now and then how long ago that was."""
        self._last = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(min(self._read_timeout_s, self._keep_alive_s), self._look)

    def _look(self) -> None:
        self._timer = None
        bound = self._keep_alive_s if self._state is _State.idle else self._read_timeout_s
        left = self._last + bound - self._loop.time()
        if left > 0.0005:
            self._timer = self._loop.call_later(left, self._look)
        elif self._state is _State.idle:
            self.abort()
        elif self._waiter is not None:
            phase = Phase.head if self._state is _State.head else Phase.body
            self._fail(phase, Trouble.timeout, "no data for the read timeout")
            self._wake()
        else:
            self._touch()

    # failing

    def _fail(self, phase: Phase, trouble: Trouble, message: str) -> None:
        self._reusable = False
        if self._failure is None:
            self._failure = TransferFailed(phase, trouble, message)


class Http1Wire:
    """Connections by origin, at most one of each kept for the next request; the least recently used are closed.

    `resolve` gives the addresses of a name, `guard` says which of them may be connected to, and judges the address of
    a kept connection again: the exclusion list may have grown. `tls` gives the context of an https origin (OSError: its
    certificates cannot be used). `now` gives both clocks.
    """

    def __init__(
        self,
        limits: FetchLimits,
        guard: AddressGuard,
        resolve: Resolver,
        tls: Callable[[CrawlUrl], ssl.SSLContext],
        now: Callable[[], Moment],
    ) -> None:
        self._limits = limits
        self._guard = guard
        self._dialer = Dialer(guard, resolve, limits.connect_timeout_ms / 1000, now)
        self._tls = tls
        self._now = now
        self._kept: OrderedDict[str, Http1Connection] = OrderedDict()
        self._in_use: dict[str, int] = {}

    async def open(self, call: WireRequest, log: ConnectionLog) -> Http1Connection:
        request = _request(call)
        origin = call.url.origin
        self._in_use[origin] = self._in_use.get(origin, 0) + 1
        connection: Http1Connection | None = None
        try:
            connection = self._take(call.url)
            log.reused = connection is not None
            if connection is None:
                connect = partial(self._connect_to, call.url)
                connection = await self._dialer.dial(call.url.host, call.url.port, log, connect, Http1Connection.close)
            log.remote_address = connection.address
            await connection.ask(request, log, head_only=call.method == "HEAD")
        except BaseException as error:
            self._let_go(origin)
            if connection is not None:
                connection.abort()
            if isinstance(error, OutOfDescriptors):  # gives those back that nobody uses
                await self.close()
            raise
        connection.give_back = partial(self._give_back, origin)
        return connection

    async def forget(self, origin: str) -> None:
        connection = self._kept.pop(origin, None)
        if connection is not None:
            connection.abort()
            await asyncio.sleep(0)  # the event loop closes the socket in its next round

    async def close(self) -> None:
        """Closes all that is kept."""
        for origin in list(self._kept):
            await self.forget(origin)

    def _give_back(self, origin: str, connection: Http1Connection) -> None:
        """Ends the exchange of a connection and keeps it, if it can be kept and the origin has no other."""
        self._let_go(origin)
        if not connection.release():
            return
        if origin in self._kept:
            connection.abort()
            return
        self._kept[origin] = connection
        while len(self._kept) + sum(one not in self._kept for one in self._in_use) > self._limits.max_open_origins:
            _, oldest = self._kept.popitem(last=False)
            oldest.abort()

    def _let_go(self, origin: str) -> None:
        self._in_use[origin] -= 1
        if not self._in_use[origin]:
            del self._in_use[origin]

    def _take(self, url: CrawlUrl) -> Http1Connection | None:
        """The connection kept for an origin, if it is still good. Raises AddressRefused."""
        connection = self._kept.pop(url.origin, None)
        if connection is None:
            return None
        if not connection.is_usable:
            connection.abort()
            return None
        try:
            self._guard.check_excluded(url.host, connection.address)
        except AddressRefused:
            connection.abort()
            raise
        return connection

    async def _connect_to(self, url: CrawlUrl, address: str, log: ConnectionLog) -> Http1Connection:
        """Raises OSError (TimeoutError, ssl.SSLError)."""
        loop = asyncio.get_running_loop()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        plain = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with log.timing(ConnectionStep.connect, self._now) as lap:
                await loop.sock_connect(plain, (address, url.port))
                lap.stream = plain
            log.remote_address = address
            if url.scheme != "https":
                _, connection = await loop.create_connection(
                    lambda: Http1Connection(address, self._limits, self._now), sock=plain
                )
                return connection
            context = self._tls(url)
            with log.timing(ConnectionStep.tls, self._now) as lap:
                _, connection = await loop.create_connection(
                    lambda: Http1Connection(address, self._limits, self._now),
                    sock=plain,
                    ssl=context,
                    server_hostname=bare_host(url.host),
                    ssl_handshake_timeout=self._limits.connect_timeout_ms / 1000,
                )
                lap.stream = plain
                return connection
        except BaseException:
            plain.close()
            raise


def _request(call: WireRequest) -> bytes:
    """The head of a request as it is sent (RFC 9112, 3). Raises TransferFailed for what no request can hold."""
    url = call.url
    check_name(url.host)
    port = "" if url.port == DEFAULT_PORTS[url.scheme] else f":{url.port}"
    asked = f"{url.scheme}://{url.host}{port}{url.target}"
    if asked != url.href or not asked.isascii():
        message = f"the client would ask for {asked!r}, not {url.href!r}"
        raise TransferFailed(Phase.connect, Trouble.invalid_target, message)
    return f"{call.method} {url.target} HTTP/1.1\r\n".encode("ascii") + _fields(call.headers, call.secret)


@lru_cache(256)  # an origin is asked with the same ones again and again
def _fields(headers: Headers, secret: Headers) -> bytes:
    """Header fields as they are sent, and the end of the head. Raises TransferFailed for what none may hold."""
    lines = [name + b": " + value for name, value in encode_headers((*headers, *secret))]
    return b"\r\n".join((*lines, b"", b""))
