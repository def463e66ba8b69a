"""The demo web: ten small sites on loopback, each with its own manners, served on raw streams, which unlike a library
can misbehave on purpose; and its access log, so that politeness can be proved from outside."""

import asyncio
import contextlib
import ipaddress
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from tui_crawler.demo import responses
from tui_crawler.demo.pages import SITE_NAMES, build_sites
from tui_crawler.demo.site import Site

_PORTS = 65536
_KEPT_ENTRIES = 100_000
_IDLE_SECONDS = 75
_WRITE_BYTES = 64 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """One request as the server saw it; `status` is 0 if no answer was sent (reset). Times are epoch milliseconds of a
    steady clock: `started_ms` is when the head had arrived, `ended_ms` just before the last byte was handed over, so
    that a gap measured here is never shorter than the client's."""

    started_ms: float
    ended_ms: float
    site: str
    origin: str
    method: str
    target: str
    status: int
    user_agent: str
    ending: responses.Ending


class AccessLog:
    """Keeps the last 100,000 requests in memory and, if a path is given, appends each as one JSON line."""

    def __init__(self, path: Path | None = None) -> None:
        """Open `path` for appending; raises OSError if that is not possible."""
        self.entries: deque[ServedRequest] = deque(maxlen=_KEPT_ENTRIES)  # in the order in which they ended
        self._file = path.open("a", encoding="utf-8", buffering=1) if path is not None else None
        self._epoch_ms = time.time() * 1000 - time.monotonic() * 1000

    def now_ms(self) -> float:
        """Return the time in epoch milliseconds; steps of the wall clock do not show."""
        return round(self._epoch_ms + time.monotonic() * 1000, 3)

    def add(self, entry: ServedRequest) -> None:
        """Record one request; the line is in the file when this returns."""
        self.entries.append(entry)
        if self._file is not None:
            self._file.write(json.dumps(asdict(entry)) + "\n")

    def close(self) -> None:
        """Close the file; the entries in memory stay readable."""
        if self._file is not None:
            self._file.close()


class SiteServer:
    """Serves one site on a listening socket, which it owns from then on."""

    def __init__(self, site: Site, origin: str, listener: socket.socket, log: AccessLog, pace: float) -> None:
        """`origin` is what the log names; `pace` stretches the site's waits (1 is real time)."""
        self._site, self._origin, self._listener, self._log = site, origin, listener, log
        self._responder = responses.Responder(site, pace)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._grave: socket.socket | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, sock=self._listener, limit=responses.HEAD_LIMIT_BYTES)

    async def close(self) -> None:
        """Stop listening, cut all connections, free the port."""
        self._stop_listening()
        tasks = self._connections - {asyncio.current_task()}
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
        for task in self._connections - {asyncio.current_task()}:
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
            request = responses.parse_request(head)
        except responses.MalformedRequest:
            return await self._write(responses.malformed_response(400), writer)
        except asyncio.LimitOverrunError:
            return await self._write(responses.malformed_response(431), writer)
        started_ms = self._log.now_ms()
        if request.has_body:
            return await self._write(responses.malformed_response(413), writer, request, started_ms)
        response = self._responder.respond(request)
        if isinstance(response, responses.Response):
            return await self._write(response, writer, request, started_ms)
        self._record(request, started_ms, 0, responses.Ending.RESET)
        # Closed with a reset: nothing that was written is waited for (SO_LINGER 0).
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        writer.transport.abort()
        return False

    async def _write(
        self,
        response: responses.Response,
        writer: asyncio.StreamWriter,
        request: responses.DemoRequest | None = None,
        started_ms: float = 0,
    ) -> bool:
        ending = responses.Ending.CLIENT_LEFT
        try:
            if response.wait_ms:
                await asyncio.sleep(response.wait_ms / 1000)
            head, body = responses.render_response(response, self._site.server, datetime.now(UTC))
            message = head + body
            last = (len(message) - 1) // _WRITE_BYTES * _WRITE_BYTES
            for start in range(0, last, _WRITE_BYTES):
                writer.write(message[start : start + _WRITE_BYTES])
                await writer.drain()
            ending = response.ending
        finally:
            if request is not None:
                self._record(request, started_ms, response.status, ending)
        if response.dies:
            self._die()
        writer.write(message[last:])
        await writer.drain()
        return response.keep_alive

    def _record(self, request: responses.DemoRequest, started_ms: float, status: int, ending: responses.Ending) -> None:
        asked, agent = (request.method, request.target), request.header("user-agent") or ""
        times = started_ms, self._log.now_ms()
        self._log.add(ServedRequest(*times, self._site.name, self._origin, *asked, status, agent, ending))


class DemoPortTaken(OSError):
    """A fixed port of the demo web is not free."""


class DemoWeb:
    """All demo sites in the running event loop, for as long as the context lasts. `seeds` has one URL per site, in the
    order of `sites`; both are empty before the context is entered."""

    def __init__(
        self, host: str = "127.0.0.1", access_log: Path | None = None, pace: float = 1.0, ports: int | None = None
    ) -> None:
        """`pace` multiplies every wait that a site asks for or makes: slow heads, Retry-After, Crawl-delay. `ports` is
        the first of consecutive ones; without it each site gets a free port. Raises ValueError if `host` is no
        loopback address or `pace` is negative."""
        if not ipaddress.ip_address(host).is_loopback:
            raise ValueError(f"the demo web serves loopback addresses only, not {host}")
        if pace < 0:
            raise ValueError(f"the pace of the demo web is at least 0, not {pace}")
        self._host, self._access_log, self._pace, self._ports = host, access_log, pace, ports
        self._stack, self._log = AsyncExitStack(), AccessLog()
        self._origins: dict[str, str] = {}
        self.sites: tuple[Site, ...] = ()
        self.seeds: list[str] = []

    @property
    def log(self) -> Sequence[ServedRequest]:
        """Return what was asked so far, in the order in which the answers ended."""
        return self._log.entries

    def origin(self, name: str) -> str:
        """Return the origin (scheme, host, port) of the site `name`; raises KeyError."""
        return self._origins[name]

    async def __aenter__(self) -> Self:
        """Start all sites; raises DemoPortTaken, or another OSError if the access log cannot be written."""
        async with AsyncExitStack() as stack:
            self._log = AccessLog(self._access_log)
            stack.callback(self._log.close)
            listeners = open_listeners(self._host, self._ports, len(SITE_NAMES))
            host = f"[{self._host}]" if ":" in self._host else self._host
            origins = (f"http://{host}:{listener.getsockname()[1]}" for listener in listeners)
            self._origins = dict(zip(SITE_NAMES, origins, strict=True))
            self.sites = build_sites(self._origins, self._pace)
            servers = [
                SiteServer(site, self._origins[site.name], listener, self._log, self._pace)
                for site, listener in zip(self.sites, listeners, strict=True)
            ]
            for server in servers:
                stack.push_async_callback(server.close)
            for server in servers:
                await server.start()
            self.seeds = [self._origins[site.name] + "/" for site in self.sites]
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()


def open_listeners(host: str, base_port: int | None, count: int) -> list[socket.socket]:
    """Return `count` listening sockets on free ports, or on `base_port` and those after it. Raises DemoPortTaken with
    the port in its message (none of the others stays open), ValueError if there are no such ports."""
    if base_port is not None and not 1 <= base_port <= _PORTS - count:
        raise ValueError(f"the first of {count} ports is between 1 and {_PORTS - count}, not {base_port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with ExitStack() as stack:
        listeners = []
        for port in [0] * count if base_port is None else range(base_port, base_port + count):
            try:
                listener = socket.create_server((host, port), family=family, backlog=64)
            except OSError as error:
                raise DemoPortTaken(
                    f"the demo web cannot listen on {host} port {port}: {error}. "
                    f"Is another demo web running? It needs {count} ports in a row"
                ) from error
            stack.callback(listener.close)
            listeners.append(listener)
        stack.pop_all()
    return listeners
