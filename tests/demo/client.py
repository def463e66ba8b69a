"""A client on raw streams that hides nothing: what arrived, and whether all of it did."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_DEADLINE_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Received:
    """An answer; `raw` is the body as it came over the wire, `whole` whether its promised end was reached."""

    status: int
    reason: str
    headers: dict[str, str]
    raw: bytes
    whole: bool

    @property
    def text(self) -> str:
        return self.raw.decode()


class Connection:
    """One connection to one origin, for any number of requests."""

    def __init__(self, origin: str) -> None:
        parts = urlsplit(origin)
        self._address = (parts.hostname, parts.port)

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(*self._address, limit=4 * 2**20)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.writer.transport.abort()

    async def ask(self, target: str, method: str = "GET", headers: Iterable[tuple[str, str]] = ()) -> Received:
        """Send one request and read its answer; raises ConnectionResetError or IncompleteReadError if there is none."""
        lines = [f"{method} {target} HTTP/1.1", "Host: demo", "User-Agent: probe/1"]
        lines += [f"{name}: {value}" for name, value in headers]
        return await self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), method)

    async def send(self, data: bytes, method: str = "GET") -> Received:
        """Send bytes and read the answer."""
        async with asyncio.timeout(_DEADLINE_SECONDS):
            self.writer.write(data)
            await self.writer.drain()
            start, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip("\r\n").split("\r\n")
            _, status, reason = start.split(" ", 2)
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            raw, whole = await self._read_body(int(status), headers, method)
        return Received(int(status), reason, headers, raw, whole)

    async def _read_body(self, status: int, headers: dict[str, str], method: str) -> tuple[bytes, bool]:
        if method == "HEAD" or status in (204, 304):
            return b"", True
        if "content-length" in headers:
            try:
                return await self.reader.readexactly(int(headers["content-length"])), True
            except asyncio.IncompleteReadError as error:
                return error.partial, False
        try:
            return await self.reader.readuntil(b"0\r\n\r\n"), True
        except asyncio.IncompleteReadError as error:
            return error.partial, False


async def fetch(origin: str, target: str, method: str = "GET", headers: Iterable[tuple[str, str]] = ()) -> Received:
    """Ask once, on a connection of its own."""
    async with Connection(origin) as connection:
        return await connection.ask(target, method, headers)
