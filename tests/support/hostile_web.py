"""A raw loopback server that tests script: arbitrary bytes, pauses that end with an event, closes and resets.

    async with HostileWeb() as web:
        web.on("/slow", Send(b"HTTP/1.1 200 OK\\r\\n"), Wait(event), Send(b"\\r\\n"), Close())

A connection is kept open after a script without `Close` or `Reset`, so that the next request can come over it.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import ssl
import struct
import termios
from dataclasses import dataclass, field
from typing import Self, assert_never

from tests.support.held_time import HeldTime


@dataclass(frozen=True, slots=True)
class Send:
    """Sends bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits until the test sets the event (or ends)."""

    event: asyncio.Event


@dataclass(frozen=True, slots=True)
class Pass:
    """Lets so much of the held time pass, once the other side has all that was sent."""

    time: HeldTime
    seconds: float


@dataclass(frozen=True, slots=True)
class Drip:
    """Sends `piece` again and again, with so much of the held time between, until the other side closes."""

    piece: bytes
    time: HeldTime
    pause_s: float


@dataclass(frozen=True, slots=True)
class Flood:
    """Sends `piece` as fast as the other side takes it, `times` times or until it closes."""

    piece: bytes
    times: int


@dataclass(frozen=True, slots=True)
class Close:
    """Ends the connection in an orderly way (FIN)."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Ends the connection by force (RST)."""


@dataclass(frozen=True, slots=True)
class AwaitHangup:
    """Waits until the other side closes the connection, then sets the event."""

    event: asyncio.Event


Step = Send | Wait | Pass | Drip | Flood | AwaitHangup | Close | Reset


@dataclass(slots=True)
class _Script:
    """The answers of one path: each request takes the next, the last one stays."""

    answers: list[tuple[Step, ...]] = field(default_factory=list)
    taken: int = 0

    def take(self) -> tuple[Step, ...]:
        answer = self.answers[min(self.taken, len(self.answers) - 1)]
        self.taken += 1
        return answer


class HostileWeb:
    """One origin on 127.0.0.1. `requests` holds the heads that came; `arrived` is set by each."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._scripts: dict[str, _Script] = {}
        self._on_accept: list[tuple[Step, ...]] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.requests: list[bytes] = []
        self.arrived = asyncio.Event()
        self.connections = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listens on a free port of 127.0.0.1."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Ends all connections, whatever their scripts wait for."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:port`."""
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        """The URL of a path of this origin."""
        return self.origin + path

    def on(self, path: str, *steps: Step) -> None:
        """Adds an answer for a path (as it stands in the request line); the last answer is given again and again."""
        self._scripts.setdefault(path, _Script()).answers.append(steps)

    def answer(self, path: str, data: bytes) -> None:
        """Adds an answer that is sent and ended by closing the connection."""
        self.on(path, Send(data), Close())

    def on_accept(self, *steps: Step) -> None:
        """What the next new connection gets before its request is read; one connection each, first in, first out."""
        self._on_accept.append(steps)

    def fields(self, number: int = -1) -> list[tuple[str, str]]:
        """The header fields of a request that came, the last one unless said otherwise; names in lower case."""
        lines = self.requests[number].decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(": ") for line in lines if line)
        return [(name.lower(), value) for name, _, value in pairs]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        try:
            if self._on_accept and not await self._play(self._on_accept.pop(0), reader, writer):
                return
            while await self._serve(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return  # the other side has gone, or the test is over
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection stays open."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(head)
        self.arrived.set()
        path = head.split(b" ", 2)[1].decode("latin-1")
        script = self._scripts.get(path)
        if script is None:
            return await self._play((Send(NOT_FOUND),), reader, writer)
        return await self._play(script.take(), reader, writer)

    async def _play(self, steps: tuple[Step, ...], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays open."""
        for step in steps:
            match step:
                case Send(data):
                    writer.write(data)
                    await writer.drain()
                case Wait(event):
                    await event.wait()
                case Pass(time, seconds):
                    await _pass(time, seconds, writer)
                case Drip(piece, time, pause_s):
                    while True:
                        writer.write(piece)
                        await _pass(time, pause_s, writer)
                case Flood(piece, times):
                    for _ in range(times):
                        writer.write(piece)
                        await writer.drain()
                case AwaitHangup(event):
                    try:
                        while await reader.read(65536):
                            pass
                    finally:
                        event.set()
                    return False
                case Close():
                    return False
                case Reset():
                    _reset(writer)
                    return False
                case _:
                    assert_never(step)
        return True


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


async def _pass(time: HeldTime, seconds: float, writer: asyncio.StreamWriter) -> None:
    """The kernel counts what the other one has not got yet."""
    await writer.drain()
    plain = writer.get_extra_info("socket")
    while not writer.transport.is_closing() and any(fcntl.ioctl(plain.fileno(), termios.TIOCOUTQ, bytes(4))):  # noqa: ASYNC110
        await asyncio.sleep(0)
    await time.let_pass(seconds)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Closes with SO_LINGER 0, which sends RST instead of FIN."""
    plain = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
