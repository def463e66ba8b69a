"""A small HTTP/1.1 server on raw streams: unlike a library it can misbehave on purpose."""

import asyncio
import contextlib
import socket
import struct
from datetime import UTC, datetime

from tui_crawler.demo.access import AccessLog, Ending, ServedRequest
from tui_crawler.demo.clerk import Answer, Clerk, Reset, malformed_answer, render_answer
from tui_crawler.demo.site import Site
from tui_crawler.demo.wire import HEAD_LIMIT_BYTES, MalformedRequest, Request, parse_request

_IDLE_SECONDS = 75
_WRITE_BYTES = 64 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class SiteServer:
    """Serves one site on a listening socket, which it owns from then on."""

    def __init__(self, site: Site, origin: str, listener: socket.socket, log: AccessLog, pace: float) -> None:
        """`origin` is what the log names; `pace` stretches the site's waits (1 is real time)."""
        self._site = site
        self._origin = origin
        self._listener = listener
        self._log = log
        self._clerk = Clerk(site, pace)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._grave: socket.socket | None = None

    @property
    def is_dead(self) -> bool:
        """True after the site died: its port refuses connections."""
        return self._grave is not None

    async def start(self) -> None:
        """Begin to answer."""
        self._server = await asyncio.start_server(self._serve, sock=self._listener, limit=HEAD_LIMIT_BYTES)

    async def close(self) -> None:
        """Stop listening, cut all connections, free the port."""
        self._stop_listening()
        tasks = [task for task in self._connections if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._grave is not None:
            self._grave.close()

    def _stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()
        self._listener.close()

    def _die(self) -> None:
        """Refuse connections from now on, but hold the port, so that no stranger can answer in this place."""
        if self._grave is not None:
            return
        address = self._listener.getsockname()
        self._grave = socket.socket(self._listener.family, socket.SOCK_STREAM)
        self._grave.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._stop_listening()
        with contextlib.suppress(OSError):
            self._grave.bind(address)
        mine = asyncio.current_task()
        for task in self._connections:
            if task is not mine:
                task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served outside of a task")
        self._connections.add(task)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client left, or said nothing for too long
        except asyncio.CancelledError:
            writer.transport.abort()  # the server closes or dies; the task ends here by intent
        finally:
            self._connections.remove(task)
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; return True if the connection may carry another one."""
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            request = parse_request(head)
        except MalformedRequest:
            return await self._write(malformed_answer(400), writer)
        except asyncio.LimitOverrunError:
            return await self._write(malformed_answer(431), writer)
        started_ms = self._log.now_ms()
        if request.has_body:
            return await self._write(malformed_answer(413), writer, request, started_ms)
        reply = self._clerk.reply(request)
        match reply:
            case Reset():
                self._record(request, started_ms, 0, Ending.RESET)
                _reset(writer)
                return False
            case Answer():
                return await self._write(reply, writer, request, started_ms)

    async def _write(
        self,
        answer: Answer,
        writer: asyncio.StreamWriter,
        request: Request | None = None,
        started_ms: float = 0,
    ) -> bool:
        ending = Ending.CLIENT_LEFT
        try:
            if answer.wait_ms:
                await asyncio.sleep(answer.wait_ms / 1000)
            head, body = render_answer(answer, self._site.server, datetime.now(UTC))
            message = head + body
            last = (len(message) - 1) // _WRITE_BYTES * _WRITE_BYTES
            for start in range(0, last, _WRITE_BYTES):
                writer.write(message[start : start + _WRITE_BYTES])
                await writer.drain()
            ending = answer.ending
        finally:
            if request is not None:
                self._record(request, started_ms, answer.status, ending)
        if answer.dies:
            self._die()
        writer.write(message[last:])
        await writer.drain()
        return answer.keep_alive

    def _record(self, request: Request, started_ms: float, status: int, ending: Ending) -> None:
        self._log.add(
            ServedRequest(
                started_ms=started_ms,
                ended_ms=self._log.now_ms(),
                site=self._site.name,
                origin=self._origin,
                method=request.method,
                target=request.target,
                status=status,
                user_agent=request.header("user-agent") or "",
                ending=ending,
            )
        )


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a reset instead of an orderly end: nothing that was written is waited for (SO_LINGER 0)."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()
