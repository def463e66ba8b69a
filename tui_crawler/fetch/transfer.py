"""One exchange: its phases, deadlines and bounds, the fluke retry, and the records of its requests.

Nothing here knows the HTTP client; `Wire` is what it needs of one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol

from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, Headers, Reading, RequestRecord, first_values
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import MASK, CrawlUrl, InvalidUrl, normalise
from tui_crawler.fetch.classify import Phase, TransferFailed, Trouble, exit_code_of_status, exit_code_of_trouble
from tui_crawler.fetch.coding import ACCEPT_ENCODING, BodyDecoder, BodyTooLarge, IllegalCoding, TruncatedCoding
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionStep
from tui_crawler.fetch.headers import (
    RawHeaders,
    clean_message,
    content_codings,
    content_type,
    decode_headers,
    location_text,
    retry_after_ms,
    same_etag,
    values_of,
)
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.sniff import is_other

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/css;q=0.8,*/*;q=0.5"
_LONGEST_WORK_S = 0.005  # other origins get the event loop at least this often (ARCHITECTURE, speed rules)
_CONNECTION_BYTES = 8 * 1024  # about what a connection with TLS costs, for which a round trip is waited, too
_FRAMING_BYTES = 64 * 1024  # of chunk sizes, extensions and trailers, and an eighth of what a body may have
_CHECK_BYTES = 64 * 1024  # of the body of a check: its status decides
_ROUNDING_MS = 2  # both clocks are cut to whole ms
_NO_REQUEST_MADE = frozenset({Trouble.blocked_address, Trouble.excluded_address, Trouble.invalid_target})
_BODY_TROUBLES = {IllegalCoding: Trouble.coding, BodyTooLarge: Trouble.too_large, TruncatedCoding: Trouble.short}
_WHY_CUT = {Trouble.timeout: "time", Trouble.too_large: "length", Trouble.short: "disconnect"}


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request on the wire: the URL, the method and all header fields, in order; `secret` ones are not recorded."""

    url: CrawlUrl
    method: str
    headers: Headers
    secret: Headers = field(default=(), repr=False)


class ResponseHead(Protocol):
    """A response whose head has come; `status` is 100 to 999, `status_line` is ISO 8859-1.

    `head_bytes` counts the head and the interim ones before it, all framing included; `left_out` the header lines
    that were not well-formed.
    """

    status: int
    status_line: str
    head_bytes: int
    left_out: int

    @property
    def headers(self) -> RawHeaders:
        """The header fields as bytes."""

    @property
    def received(self) -> int:
        """Return how many bytes came after the head so far: body, chunk sizes and extensions, trailers."""

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it is sent (still coded). Raises TransferFailed."""

    async def close(self) -> None:
        """End the exchange; a body that was not read to its end closes the connection."""


class Wire(Protocol):
    """An HTTP client that follows nothing, keeps nothing and decodes nothing."""

    async def open(self, call: WireRequest, log: ConnectionLog) -> ResponseHead:
        """Send a request and waits for the head; `log` gets how it came by its connection. Raises TransferFailed."""

    async def forget(self, origin: str) -> None:
        """Close the connections kept for an origin."""

    async def close(self) -> None:
        """Close all connections that are kept."""


class Recorder(Protocol):
    """A place that keeps every answer as it came. Methods return when it is kept, or raise StorageHeldUp."""

    async def record(
        self, request: RequestRecord, status_line: str, headers: RawHeaders, payload: bytes, cut: str
    ) -> None:
        """Keep an answer. `payload` has its content coding, but no transfer coding. `cut` says why it is not complete,
        in the words of WARC-Truncated, and is empty when it is."""

    async def describe(self, request: RequestRecord, reading: Reading) -> None:
        """Keep what was read in the answer to a request."""

    async def close(self) -> None:
        """Complete what is kept."""


@dataclass(slots=True)
class _Progress:
    """The progress of one request; kept outside, so that a deadline does not lose it.

    `fields` are the first values of its headers; `in_vain`: more was waited for than came; `notes`: oddities of the
    answer that cost nothing. `payload`: what came of the body, where it is kept; `why_cut`: see Recorder.
    """

    sent: Moment
    head: Moment | None = None
    status: int | None = None
    headers: Headers = ()
    fields: dict[str, str] = field(default_factory=dict)
    connection: ConnectionLog = field(default_factory=ConnectionLog)
    wire_bytes: int = 0
    cut: tuple[str, ...] = ()
    left_size: int | None = None
    in_vain: bool = False
    notes: tuple[str, ...] = ()
    status_line: str = ""
    raw: RawHeaders = ()
    payload: list[bytes] = field(default_factory=list)
    why_cut: str = "unspecified"

    def give_up(self, trouble: Trouble) -> None:
        """Note that more was waited for than came, and why the body is not complete, unless it is."""
        self.in_vain = True
        self.why_cut = self.why_cut and _WHY_CUT.get(trouble, self.why_cut)

    def took_ms(self, ended: Moment) -> int:
        """The time of the other side, as far as it is known apart from that of this process."""
        whole = max(0, ended.mono_ms - self.sent.mono_ms)
        answer = None if self.in_vain else self.connection.answer_ms()
        return whole if answer is None else min(whole, answer)


@dataclass(frozen=True, slots=True)
class _Ending:
    """The end of one request."""

    exit_code: ExitCode
    message: str = ""
    body: bytes = b""
    location: CrawlUrl | None = None
    flukeable: bool = False
    untrusted: bool = False
    requested: bool = True


@dataclass(slots=True)
class Transfer:
    """Makes exchanges over a wire, within limits. `now` gives both clocks; deadlines use the event loop's.

    `secret` answers the fields that only the origin of a URL gets. `recorder` keeps every answer: bodies are then read
    to their end, also those of errors, redirects and of kinds that nobody reads. `keeps_errors`: an exchange has the
    bodies of errors and redirects, up to `drain_bytes`.
    """

    _wire: Wire
    _limits: FetchLimits
    _now: Callable[[], Moment]
    _fluke_retry: bool
    _secret: Callable[[CrawlUrl], Headers] = lambda _: ()
    _recorder: Recorder | None = None
    _keeps_errors: bool = False

    async def exchange(self, request: FetchRequest) -> Exchange:
        """One request, and a second one at once when the connection itself failed (U). Raises nothing of its own.

        The whole-exchange deadline covers both requests.
        """
        secret = _with_cookies(self._secret(request.url), request.cookies)
        call = WireRequest(request.url, request.method, self._request_headers(request, secret), secret)
        deadline = asyncio.get_running_loop().time() + self._limits.total_timeout_ms / 1000
        records: list[RequestRecord] = []
        while True:
            progress = _Progress(self._now())
            ending = await self._end(request, call, progress, deadline)
            now = self._now()
            ended = now if progress.in_vain else progress.connection.heard or now
            if ending.requested:
                records.append(_record(request, call, progress, ending, ended, fluke_retry=bool(records)))
                if self._recorder is not None and progress.status is not None:
                    payload, line = b"".join(progress.payload), progress.status_line
                    await self._recorder.record(records[-1], line, progress.raw, payload, progress.why_cut)
            if not (ending.flukeable and self._fluke_retry and len(records) == 1):
                break
        message, fields = clean_message(ending.message), progress.fields
        return Exchange(
            requests=tuple(records),
            exit_code=ending.exit_code,
            http_status=progress.status,
            response_ms=progress.took_ms(ended),
            headers=progress.headers,
            body=ending.body,
            wire_bytes=progress.wire_bytes,
            location=ending.location,
            retry_after_ms=retry_after_ms(fields.get("retry-after"), fields.get("date"), ended.wall_ms),
            message=message,
            cut=progress.cut,
            left_size=progress.left_size,
            untrusted=message if ending.untrusted else "",
            notes=progress.notes,
        )

    def _request_headers(self, request: FetchRequest, secret: Headers) -> Headers:
        conditions = (("If-None-Match", request.conditional_etag), ("If-Modified-Since", request.conditional_since))
        fields = (
            ("Host", request.url.origin.partition("://")[2]),
            ("User-Agent", request.user_agent),
            ("Accept", ACCEPT),
            ("Accept-Encoding", ACCEPT_ENCODING),
            *(one for one in conditions if one[1]),
        )
        replaced = {name.lower() for name, _ in secret}
        return tuple(one for one in fields if one[0].lower() not in replaced) if replaced else fields

    async def _end(self, request: FetchRequest, call: WireRequest, progress: _Progress, deadline: float) -> _Ending:
        """Make the request; every way it can end is an ending."""
        try:
            async with asyncio.timeout_at(deadline):
                answer = await self._wire.open(call, progress.connection)
                try:
                    return await self._read_answer(request, answer, progress)
                finally:
                    await answer.close()
        except TransferFailed as error:
            failure = error
        except TimeoutError:
            phase = Phase.head if progress.head is None else Phase.body
            message = f"not complete after {self._limits.total_timeout_ms} ms"
            failure = TransferFailed(phase, Trouble.timeout, message)
        trouble = failure.trouble
        progress.give_up(trouble)
        return _Ending(
            exit_code_of_trouble(failure.phase, trouble),
            failure.message,
            flukeable=failure.closed_unanswered,
            untrusted=trouble is Trouble.certificate,
            requested=trouble not in _NO_REQUEST_MADE,
        )

    async def _read_answer(self, request: FetchRequest, answer: ResponseHead, progress: _Progress) -> _Ending:
        progress.head = progress.connection.heard or self._now()
        progress.headers, cut = decode_headers(answer.headers, self._limits.max_header_bytes)
        fields = progress.fields = first_values(progress.headers)
        progress.status, progress.status_line, progress.raw = answer.status, answer.status_line, answer.headers
        if answer.left_out:
            progress.notes = (f"header lines left out: {answer.left_out}",)
        if cut or answer.head_bytes > self._limits.max_header_bytes:
            progress.cut = ("headers",)
            message = f"header block of {answer.head_bytes} bytes, more than {self._limits.max_header_bytes}"
            raise TransferFailed(Phase.head, Trouble.protocol, message)
        location: CrawlUrl | InvalidUrl | None = None
        if (written := fields.get("location")) is not None:
            location = InvalidUrl(written, "is empty")
            if written.strip():
                location = normalise(location_text(written), request.url.href, self._limits.max_url_length)
        code = exit_code_of_status(
            answer.status,
            conditional=bool(request.conditional_etag or request.conditional_since),
            same_etag=same_etag(request.conditional_etag, fields.get("etag", "")),
            location=location,
        )
        if code is ExitCode.file_ingested and request.method != "HEAD" and not request.status_only:
            wants_all = self._recorder is not None or request.any_kind
            if not wants_all and is_other(content_type(fields.get("content-type", ""))[0]):
                return await self._leave_body(answer, progress)
            return _Ending(code, body=await self._read_body(request, answer, progress))
        if answer.status >= 200:
            await self._drain(answer, progress, _CHECK_BYTES if request.status_only else self._limits.drain_bytes)
        body = self._error_body(progress) if self._keeps_errors else b""
        leads = code in (ExitCode.permanent_redirect, ExitCode.redirect)
        target = location if leads and isinstance(location, CrawlUrl) else None
        price = fields.get("crawler-price", "") if answer.status == HTTPStatus.PAYMENT_REQUIRED else ""
        message = f"it costs {price}" if price else _explain(code, answer.status, location)
        return _Ending(code, message, body, target)

    def _error_body(self, progress: _Progress) -> bytes:
        """A body that no page is made of, decoded; empty where it is not complete or cannot be decoded."""
        codings, _ = content_codings(values_of(progress.headers, "Content-Encoding"))
        if progress.why_cut or len(codings) > self._limits.max_codings:
            return b""
        most = self._limits.drain_bytes
        with suppress(IllegalCoding, BodyTooLarge, TruncatedCoding):
            decoder = BodyDecoder(codings, most, most)
            decoder.feed(b"".join(progress.payload))
            return decoder.finish()
        return b""

    async def _read_body(self, request: FetchRequest, answer: ResponseHead, progress: _Progress) -> bytes:
        """The decoded body, within bounds. Raises TransferFailed."""
        max_bytes = request.max_body_bytes if request.max_body_bytes is not None else self._limits.max_body_bytes
        fields = progress.fields
        codings = _codings(request, progress) if "content-encoding" in fields else ()
        if codings and len(codings) > self._limits.max_codings:
            message = f"{len(codings)} content codings, more than {self._limits.max_codings}"
            raise TransferFailed(Phase.body, Trouble.coding, message)
        if not request.truncate:
            _announced(fields, self._limits.max_wire_bytes if codings else max_bytes)
        try:
            decoder = BodyDecoder(codings, max_bytes, self._limits.max_wire_bytes, truncate=request.truncate)
            await self._feed(decoder, answer, progress)
            body = decoder.finish()
        except tuple(_BODY_TROUBLES) as error:
            raise TransferFailed(Phase.body, _BODY_TROUBLES[type(error)], str(error)) from error
        if decoder.cut:
            progress.cut = ("body",)
        return body

    async def _leave_body(self, answer: ResponseHead, progress: _Progress) -> _Ending:
        """A body that nobody wants is left where it is, unless it costs less than another connection. One that is
        announced as too large for any page stays that. Raises TransferFailed."""
        announced = _announced(progress.fields, self._limits.max_body_bytes)
        progress.left_size = announced or 0
        if announced is not None and announced <= _CONNECTION_BYTES:
            await self._drain(answer, progress, announced)
        return _Ending(ExitCode.file_ingested)

    async def _feed(self, decoder: BodyDecoder, answer: ResponseHead, progress: _Progress) -> None:
        most = self._limits.max_wire_bytes
        try:
            fits = await self._receive(answer, progress, most, decoder.feed)
        except TransferFailed as failure:
            if not decoder.complete:
                raise
            fits, progress.notes = True, (*progress.notes, f"{failure.message}; complete by its content coding")
        if not fits:
            raise BodyTooLarge(f"more than {most} bytes on the wire ({answer.received} with what frames the body)")

    async def _receive(
        self, answer: ResponseHead, progress: _Progress, most: int, enough: Callable[[bytes], bool] | None = None
    ) -> bool:
        """Read a body to its end, or until a piece is `enough` (None: no piece is, and they are kept). False when it
        has more than `most` bytes, or too many are received with what frames it."""
        loop, taken = asyncio.get_running_loop(), 0
        began = loop.time()
        async with aclosing(answer.chunks()) as chunks:
            async for chunk in chunks:
                taken, progress.wire_bytes = taken + len(chunk), answer.received
                if self._recorder is not None or enough is None:
                    progress.payload.append(chunk)
                if enough is not None and enough(chunk):
                    progress.why_cut = "length"
                    return True
                if taken > most or answer.received > most + most // 8 + _FRAMING_BYTES:
                    progress.why_cut = "length"
                    return False
                if loop.time() - began > _LONGEST_WORK_S:  # ten thousand small chunks may be there at once
                    await asyncio.sleep(0)
                    began = loop.time()
        progress.wire_bytes, progress.why_cut = answer.received, ""
        return True

    async def _drain(self, answer: ResponseHead, progress: _Progress, most: int) -> None:
        """Read a body that is not needed, `most` bytes of it, so that the connection can be used again.

        What goes wrong here changes nothing: the status has already said how the exchange ended.
        """
        try:
            async with asyncio.timeout(self._limits.drain_timeout_ms / 1000):
                await self._receive(answer, progress, most)
        except (TransferFailed, TimeoutError) as failure:
            progress.give_up(failure.trouble if isinstance(failure, TransferFailed) else Trouble.timeout)


def _with_cookies(secret: Headers, cookies: str) -> Headers:
    """The secret fields with the cookies that servers set; a configured one goes before another of its name."""
    if not cookies:
        return secret
    own = [one for name, value in secret if name == "Cookie" for one in value.split("; ")]
    names = {one.partition("=")[0] for one in own}
    own += [one for one in cookies.split("; ") if one.partition("=")[0] not in names]
    return (*(one for one in secret if one[0] != "Cookie"), ("Cookie", "; ".join(own)))


def _announced(fields: dict[str, str], most: int) -> int | None:
    """The Content-Length of a body that is as long as it says; None if it is unknown (RFC 9112, 6.3).

    Raises TransferFailed for more than `most`.
    """
    text = fields.get("content-length", "")
    if "transfer-encoding" in fields or not (text.isascii() and text.isdigit()):
        return None
    if (announced := int(text[:20])) > most:
        message = f"a body of {announced} bytes was announced, more than {most}"
        raise TransferFailed(Phase.body, Trouble.too_large, message)
    return announced


def _codings(request: FetchRequest, progress: _Progress) -> tuple[str, ...] | None:
    """The content codings of a body; None where the body must say, as its label is unknown and it should be text."""
    codings, unknown = content_codings(values_of(progress.headers, "Content-Encoding"))
    if unknown:
        progress.notes = (*progress.notes, clean_message(f"unknown content coding {unknown!r} ignored", 100))
    mime = content_type(progress.fields.get("content-type", ""))[0]
    text = request.as_text or not is_other(mime) or mime.startswith("text/")
    return None if unknown and not codings and text else codings


def _explain(code: ExitCode, status: int, location: CrawlUrl | InvalidUrl | None) -> str:
    """Return why an answer was not understood, in plain words; nothing for the other codes, whose name says it."""
    if code is not ExitCode.did_not_understand_answer:
        return ""
    match location:
        case InvalidUrl(raw, reason) if 300 <= status <= 399:
            return f"HTTP {status}: Location {raw!r} {reason}"
        case None if 300 <= status <= 399 and status != 304:
            return f"HTTP {status} without Location"
        case _:
            return f"HTTP {status} was not asked for or means nothing"


def _record(
    request: FetchRequest, call: WireRequest, progress: _Progress, ending: _Ending, ended: Moment, *, fluke_retry: bool
) -> RequestRecord:
    sent, connection = progress.sent, progress.connection
    return RequestRecord(
        url=call.url.href,
        method=call.method,
        sent_at=sent.wall_ms,
        head_at=None if progress.head is None else _wall_ms(progress.head, sent),
        ended_at=_wall_ms(ended, sent),
        http_status=progress.status,
        conditional=bool(request.conditional_etag or request.conditional_since),
        fluke_retry=fluke_retry,
        error=clean_message(ending.message),
        remote_address=connection.remote_address,
        request_headers=(*call.headers, *((name, MASK) for name, _ in call.secret)),
        response_headers=progress.headers,
        dns_ms=connection.took.get(ConnectionStep.dns),
        connect_ms=connection.took.get(ConnectionStep.connect),
        tls_ms=connection.took.get(ConnectionStep.tls),
        connection_reused=connection.reused,
    )


def _wall_ms(moment: Moment, sent: Moment) -> int:
    """The wall time of a later moment; if that clock was set meanwhile, `sent` plus what the monotonic one measured."""
    measured = sent.wall_ms + (moment.mono_ms - sent.mono_ms)
    return moment.wall_ms if abs(moment.wall_ms - measured) <= _ROUNDING_MS else measured
