"""Content codings, decoded under a bound: no input, however small, gives more bytes than were allowed.

Only gzip and deflate are asked for and understood. zlib stops at `max_length`; brotli and zstd have no such bound
for data that arrives in pieces, and no server needs them to answer.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterable, Iterator

ACCEPT_ENCODING = "gzip, deflate"

_PIECE_BYTES = 64 * 1024
_MAX_MEMBERS = 1_000
GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WBITS, _ZLIB_WBITS, _RAW_WBITS = 31, 15, -15
_ZLIB_MAGICS = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")  # RFC 1950, 2.2
_BINARY = re.compile(rb"(?!\xff\xfe|\xfe\xff)[^\x01-\x08\x0e-\x1a\x1c-\x1f]*+[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_GZIP_NAMES = frozenset({"gzip", "x-gzip"})


class IllegalCoding(Exception):
    """The coding is unknown, or the data is not of that coding."""


class BodyTooLarge(Exception):
    """The decoded body, or what lies between two codings, is larger than allowed."""


class TruncatedCoding(Exception):
    """The compressed data ends before its end."""


class _Inflater:
    """One layer of gzip (RFC 1952, several members) or deflate (RFC 1950, and the raw RFC 1951 that some send)."""

    __slots__ = ("_ended", "_gzip", "_held", "_members", "_stream")

    def __init__(self, name: str) -> None:
        if name not in _GZIP_NAMES and name != "deflate":
            raise IllegalCoding(f"content coding {name!r} was not asked for")
        self._gzip = name in _GZIP_NAMES
        self._stream: zlib._Decompress | None = None
        self._held = b""  # fewer than two bytes, which do not tell yet what follows
        self._members = 0
        self._ended = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What `data` decodes to, at most 64 KiB at a time. Raises IllegalCoding."""
        data, self._held = self._held + data, b""
        while data and not self._ended:
            if self._stream is not None:
                data = yield from self._inflate(self._stream, data)
            elif len(data) < 2:
                self._held = data
                return
            else:
                self._begin(data)

    def finish(self) -> None:
        """Raises TruncatedCoding unless the data came to its end; no data at all is an empty body."""
        if self._stream is not None or (self._held and self._members == 0):
            raise TruncatedCoding("the compressed body ends before its end")

    def _begin(self, data: bytes) -> None:
        if self._gzip:
            if not data.startswith(GZIP_MAGIC):
                if self._members == 0:
                    raise IllegalCoding("the body is not gzip")
                self._ended = True  # padding after the last member is ignored, as browsers do
                return
            wbits = _GZIP_WBITS
        else:
            framed = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
            wbits = _ZLIB_WBITS if framed else _RAW_WBITS
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise IllegalCoding(f"more than {_MAX_MEMBERS} gzip members")
        self._stream = zlib.decompressobj(wbits)

    def _inflate(self, stream: zlib._Decompress, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield what one member decodes to; return the bytes that follow it."""
        full = True
        while (data or full) and not stream.eof:
            try:
                piece = stream.decompress(data, _PIECE_BYTES)
            except zlib.error as error:
                raise IllegalCoding(f"the compressed body is illegal: {error}") from error
            full = len(piece) == _PIECE_BYTES
            data = stream.unconsumed_tail
            if piece:
                yield piece
        if not stream.eof:
            return b""
        self._stream = None
        self._ended = not self._gzip
        return stream.unused_data


class BodyDecoder:
    """Takes a body as it comes from the wire and keeps it decoded, within `max_bytes`.

    `codings` in the order they were applied; None: the data says by its beginning whether it is gzip or deflate, and is
    text otherwise (docs/behaviour.md). `max_between` bounds the data between two codings; with `truncate`
    what is over the bound is cut (`cut` tells) instead of raising BodyTooLarge.
    """

    __slots__ = ("_between", "_body", "_layers", "_max_between", "_max_bytes", "_truncate", "_unknown", "cut")

    def __init__(
        self, codings: tuple[str, ...] | None, max_bytes: int, max_between: int, *, truncate: bool = False
    ) -> None:
        self._unknown = codings is None
        self._layers = [_Inflater(name) for name in reversed(codings or ())]
        self._between = [0] * len(self._layers)
        self._body = bytearray()
        self._max_bytes = max_bytes
        self._max_between = max_between
        self._truncate = truncate
        self.cut = False

    @property
    def body(self) -> bytes:
        """Return what is decoded so far."""
        return bytes(self._body)

    def feed(self, data: bytes) -> bool:
        """Take the next bytes of the wire; whether the rest is cut. Raises IllegalCoding, BodyTooLarge."""
        if self._unknown and not (self._layers or self._body) and data.startswith((GZIP_MAGIC, *_ZLIB_MAGICS)):
            self._layers = [_Inflater("gzip" if data.startswith(GZIP_MAGIC) else "deflate")]
        for piece in self._through(0, data):
            room = self._max_bytes - len(self._body)
            if len(piece) <= room:
                self._body += piece
                continue
            if not self._truncate:
                raise BodyTooLarge(f"the body has more than {self._max_bytes} bytes")
            self._body += piece[:room]
            self.cut = True
            break
        return self.cut

    @property
    def complete(self) -> bool:
        """Return whether all codings are complete, with their checksums; False without any."""
        return bool(self._layers) and all(layer._members and layer._stream is None for layer in self._layers)

    def finish(self) -> bytes:
        """The body, whole unless `cut`. Raises TruncatedCoding when compressed data ends too soon, IllegalCoding."""
        if self._unknown and not self._layers and _BINARY.match(self._body, 0, 512) is not None:
            raise IllegalCoding("the content coding is unknown, and the body is no text")
        if not self.cut:
            for layer in self._layers:
                layer.finish()
        return bytes(self._body)

    def _through(self, depth: int, data: bytes) -> Iterable[bytes]:
        if depth == len(self._layers):
            yield data
            return
        for piece in self._layers[depth].pieces(data):
            if depth + 1 < len(self._layers):
                self._between[depth] += len(piece)
                if self._between[depth] > self._max_between:
                    raise BodyTooLarge(f"more than {self._max_between} bytes between two content codings")
            yield from self._through(depth + 1, piece)
