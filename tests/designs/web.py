"""A small real web on loopback: sites that tests write page by page, and what each of them was asked.

A site of its own has a socket of its own (`web.site()`); a named one (`web.named("http://a.example.org")`) is reached
through the proxy of this web, so that host names need no name server. Sockets are opened once; they are served on
whatever event loop carries the crawl, or in a thread (`web.in_thread()`).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal

from tests.support.patience import PATIENT_S

HTML = "text/html; charset=utf-8"
_BACKLOG = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What a path answers. `takes_ms` passes before the head, `body_takes_ms` between head and body.

    `raw` replaces the whole message; `end` says what becomes of the connection: it is kept, closed, reset, or left
    silent until the other side goes.
    """

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    takes_ms: int = 0
    body_takes_ms: int = 0
    raw: bytes | None = None
    end: Literal["keep", "close", "reset", "silent"] = "keep"


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as the site saw it: `at` its head was read, `ended` the answer was written (epoch ms)."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    at: int
    ended: int

    def header(self, name: str) -> str | None:
        """The value of a header field, None when it was not sent."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(slots=True)
class _Script:
    answers: list[Answer]
    taken: int = 0
    then: Callable[[], object] | None = None

    def take(self) -> Answer:
        answer = self.answers[min(self.taken, len(self.answers) - 1)]
        self.taken += 1
        return answer


@dataclass(slots=True)
class Site:
    """One origin. What is not written answers 404."""

    origin: str
    seen: list[Seen] = field(default_factory=list)
    scripts: dict[str, _Script] = field(default_factory=dict)

    def url(self, path: str = "/") -> str:
        """The URL of a path of this site."""
        return self.origin + path

    def answer(self, path: str, *answers: Answer, then: Callable[[], object] | None = None) -> str:
        """Each request takes the next answer, the last one stays; `then` is called at each. Gives the URL."""
        self.scripts[path] = _Script(list(answers), then=then)
        return self.url(path)

    def page(
        self,
        path: str = "/",
        *links: str,
        head: str = "",
        body: str = "",
        headers: tuple[tuple[str, str], ...] = (),
        takes_ms: int = 0,
    ) -> str:
        """An HTML page that links to `links`."""
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        text = (
            f"<!DOCTYPE html><html lang=en><head><title>{path}</title>{head}</head><body>{anchors}{body}</body></html>"
        )
        fields = (("Content-Type", HTML), *headers)
        return self.answer(path, Answer(body=text.encode(), headers=fields, takes_ms=takes_ms))

    def front(self, *links: str, **more: Any) -> Site:
        """A front page, as `page` makes it; gives the site."""
        self.page("/", *links, **more)
        return self

    def pages(self, *paths: str) -> Site:
        """A front page that links to these pages; gives the site."""
        for path in paths:
            self.page(path)
        return self.front(*paths)

    def file(self, path: str, body: str | bytes, kind: str, *headers: tuple[str, str]) -> str:
        """A file of another type."""
        data = body.encode() if isinstance(body, str) else body
        return self.answer(path, Answer(body=data, headers=(("Content-Type", kind), *headers)))

    def robots(self, text: str) -> None:
        """The robots.txt of the site."""
        self.file("/robots.txt", text, "text/plain")

    def redirect(self, path: str, target: str, status: int = 301) -> str:
        """A redirect; gives the URL of `path`."""
        return self.answer(path, Answer(status, headers=(("Location", target),)))

    @property
    def asked(self) -> list[str]:
        """What was asked for, in order, without robots.txt."""
        return [one.target for one in self.seen if one.target != "/robots.txt"]

    def requests(self, path: str) -> list[Seen]:
        """The requests for one path."""
        return [one for one in self.seen if one.target == path]

    @property
    def gaps(self) -> list[int]:
        """ms between the end of each answer and the next request."""
        return [after.at - before.ended for before, after in zip(self.seen, self.seen[1:], strict=False)]


class Web:
    """All sites of a test. `waiting` counts answers that only time holds back; `errors` are those of hooks."""

    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}
        self.errors: list[Exception] = []
        self.waiting = 0
        self._sockets: dict[str, socket.socket] = {}
        self._proxy: socket.socket | None = None
        self._now: Callable[[], int] = lambda: time.time_ns() // 1_000_000

    def site(self, host: str = "127.0.0.1") -> Site:
        """A new origin on a free port of a loopback address."""
        listening = _listen(host)
        origin = f"http://{host}:{listening.getsockname()[1]}"
        self._sockets[origin] = listening
        self.sites[origin] = Site(origin)
        return self.sites[origin]

    def named(self, origin: str) -> Site:
        """A site under a name, behind the proxy."""
        self.sites[origin] = Site(origin)
        return self.sites[origin]

    @property
    def proxy(self) -> str:
        """The proxy for `network.proxy`."""
        if self._proxy is None:
            self._proxy = _listen("127.0.0.1")
        return f"http://127.0.0.1:{self._proxy.getsockname()[1]}"

    def refuse(self, site: Site) -> None:
        """From now on connections to this site are refused."""
        self._sockets.pop(site.origin).close()

    def close(self) -> None:
        """Closes all sockets."""
        for listening in (*self._sockets.values(), *([self._proxy] if self._proxy else [])):
            listening.close()

    @contextlib.asynccontextmanager
    async def served(self, now: Callable[[], int] | None = None) -> AsyncIterator[None]:
        """Serves on the running loop; `now` gives epoch ms."""
        self._now = now or self._now
        tasks: set[asyncio.Task[None]] = set()
        doors = [*self._sockets.items(), *([("", self._proxy)] if self._proxy else [])]
        servers = [await self._open(origin, listening, tasks) for origin, listening in doors]
        try:
            yield
        finally:
            for server in servers:
                server.close()
            for task in tuple(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.waiting = 0
            if self.errors:
                raise self.errors[0]

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[None]:
        """Serves in a thread, in real time."""
        started, over = threading.Event(), asyncio.Event()
        loops: list[asyncio.AbstractEventLoop] = []

        async def serve() -> None:
            loops.append(asyncio.get_running_loop())
            async with self.served():
                started.set()
                await over.wait()

        thread = threading.Thread(target=lambda: asyncio.run(serve()), name="web")
        thread.start()
        assert started.wait(PATIENT_S)
        try:
            yield
        finally:
            loops[0].call_soon_threadsafe(over.set)
            thread.join(PATIENT_S)

    async def _open(self, origin: str, listening: socket.socket, tasks: set[asyncio.Task[None]]) -> asyncio.Server:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            try:
                while await self._serve(origin, reader, writer):
                    pass
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                return  # the other side has gone, or the crawl is over
            finally:
                writer.close()

        return await asyncio.start_server(accept, sock=listening.dup(), backlog=_BACKLOG)

    async def _serve(self, origin: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        if not origin:
            scheme, _, rest = target.partition("://")
            host, slash, path = rest.partition("/")
            origin, target = f"{scheme}://{host}", slash + path or "/"
        site, at = self.sites[origin], self._now()
        script = site.scripts.get(target)
        answer = script.take() if script else Answer(404)
        if script and script.then:
            try:
                script.then()
            except Exception as error:  # the test is told when the crawl is over
                self.errors.append(error)
        fields = tuple((name, value) for name, _, value in (line.partition(": ") for line in head[1:] if line))
        try:
            return await self._answer(method, answer, reader, writer)
        finally:
            site.seen.append(Seen(method, target, fields, at, self._now()))

    async def _answer(
        self, method: str, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if not await self._pause(answer.takes_ms, reader):
            return False
        if answer.raw is not None:
            writer.write(answer.raw)
        else:
            writer.write(_head(answer))
            if answer.body_takes_ms:
                await writer.drain()
                if not await self._pause(answer.body_takes_ms, reader):
                    return False
            if method != "HEAD":
                writer.write(answer.body)
        await writer.drain()
        match answer.end:
            case "keep":
                return True
            case "silent":
                await self._pause(None, reader)
            case "reset":
                plain = writer.get_extra_info("socket")
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
        return False

    async def _pause(self, ms: int | None, reader: asyncio.StreamReader) -> bool:
        """Lets time pass (None: until the other side goes); whether the other side is still there."""
        if ms == 0:
            return True
        self.waiting += 1
        try:
            await asyncio.wait_for(reader.read(1), None if ms is None else ms / 1000)
        except TimeoutError:
            return True
        finally:
            self.waiting -= 1
        return False


def _listen(host: str) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no delay for TCP only
    listening.bind((host, 0))
    listening.listen(_BACKLOG)
    listening.setblocking(False)
    return listening


def _head(answer: Answer) -> bytes:
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {answer.status} {phrase}", *(f"{name}: {value}" for name, value in answer.headers)]
    if not any(name.lower() in {"content-length", "transfer-encoding"} for name, _ in answer.headers):
        lines.append(f"Content-Length: {len(answer.body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
