"""HTTP/1.1 on the wire: request heads read, response heads and bodies written (RFC 9112)."""

from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from tui_crawler.demo.site import Header

HEAD_LIMIT_BYTES = 32 * 1024
_CHUNK_BYTES = 1024


class MalformedRequest(ValueError):
    """The bytes are no HTTP/1.x request head."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request head. `target` is path and query; header names are lower case."""

    method: str
    target: str
    version: str = "HTTP/1.1"
    headers: tuple[Header, ...] = ()

    def header(self, name: str) -> str | None:
        """Return the values of the header `name` (lower case) joined by a comma, None if it is absent."""
        values = [value for key, value in self.headers if key == name]
        return ", ".join(values) if values else None

    @property
    def keeps_alive(self) -> bool:
        """True if the connection may carry another request (RFC 9112, 9.3)."""
        options = {option.strip().lower() for option in (self.header("connection") or "").split(",")}
        if self.version == "HTTP/1.0":
            return "keep-alive" in options
        return "close" not in options

    @property
    def has_body(self) -> bool:
        """True if the request announces a body, which this server never reads."""
        return self.header("transfer-encoding") is not None or (self.header("content-length") or "0") != "0"


def parse_request(head: bytes) -> Request:
    """Return the request of a head that ends with an empty line; raises MalformedRequest."""
    start, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = start.split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or not parts[2].startswith("HTTP/1."):
        raise MalformedRequest("the request line is not: method, target, HTTP/1.x")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise MalformedRequest("a header line is not: name, colon, value")
        headers.append((name.lower(), value.strip()))
    return Request(parts[0], _origin_form(parts[1]), parts[2], tuple(headers))


def _origin_form(target: str) -> str:
    if target.startswith("/"):
        return target
    try:
        parts = urlsplit(target)
    except ValueError as error:
        raise MalformedRequest("the target is no URL") from error
    if parts.scheme not in ("http", "https"):
        raise MalformedRequest("the target is neither a path nor an http URL")
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def render_head(status: int, reason: str | None, headers: Iterable[Header]) -> bytes:
    """Return a response head. Nothing is cleaned: a demo page may have a hostile header on purpose."""
    lines = [f"HTTP/1.1 {status} {_standard_reason(status) if reason is None else reason}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _standard_reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def chunk_body(body: bytes) -> bytes:
    """Return `body` in the chunked coding (RFC 9112, 7.1)."""
    pieces = [body[start : start + _CHUNK_BYTES] for start in range(0, len(body), _CHUNK_BYTES)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def break_chunks(body: bytes) -> bytes:
    """Return one good chunk of `body` and then a chunk size that is no hexadecimal number."""
    first = body[:_CHUNK_BYTES]
    return b"%x\r\n%b\r\nnot-a-size\r\n" % (len(first), first)
