"""The server of browser consoles: how many it shows at once, and what it makes of malformed requests."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import product

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError, web

from tests.support.patience import PATIENT_S
from tui_crawler.console import browser
from tui_crawler.console.browser import COOKIE, ConsoleServer, ServeAccess

TOKEN = "a-long-secret"
QUITS = """
import os, sys
out, given = sys.stdout.buffer, sys.stdin.buffer
text = str(os.getpid()).encode()
out.write(b"__GANGLION__\\n" + b"D" + len(text).to_bytes(4, "big") + text)
out.flush()
while head := given.read(5):
    if b"quit" in given.read(int.from_bytes(head[1:], "big")) and {quits}:
        break
"""
"""A console that says its process id, and may ignore that its page has gone."""

Begin = Callable[..., Awaitable[int]]


@pytest.fixture
async def begin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Begin]:
    """Starts a server; returns its port."""
    monkeypatch.setattr(browser, "_CHANGES_S", 0.0)
    runners = []

    async def start(most: int = 2, token: str = "", *, quits: bool = True) -> int:
        words = [sys.executable, "-c", QUITS.format(quits=quits)]
        server = ConsoleServer(words, "127.0.0.1", 1, ServeAccess(token, None, most))
        runner = web.AppRunner(await server.application(), shutdown_timeout=1)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return int(runner.addresses[0][1])

    yield start
    for runner in runners:
        await runner.cleanup()


@asynccontextmanager
async def page(port: int) -> AsyncIterator[tuple[ClientWebSocketResponse, int]]:
    """An open page and the process of its console."""
    async with ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{port}/ws") as socket:
        message = await socket.receive()
        assert message.type is WSMsgType.BINARY
        yield socket, int(message.data)


async def status_of(port: int, path: str = "/") -> tuple[int, str]:
    async with ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as answer:
        return answer.status, await answer.text()


async def room(port: int) -> None:
    """Waits until a further client is let in."""

    async def has_room() -> bool:
        return (await status_of(port))[0] == 200

    await until(has_room)


async def until(reached: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENT_S):
        while not await reached():  # noqa: ASYNC110  another process is waited for
            await asyncio.sleep(0.01)


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_client_too_many_is_refused_until_another_has_gone(begin: Begin) -> None:
    port = await begin(2)
    async with AsyncExitStack() as pages:
        await pages.enter_async_context(page(port))
        async with page(port):
            status, said = await status_of(port)
            assert status == 503
            assert "--max-clients" in said
            with pytest.raises(WSServerHandshakeError) as refused:
                async with page(port):
                    pass
            assert refused.value.status == 503

        await room(port)
        for _ in range(5):  # no place is lost, and none is made
            async with page(port):
                assert (await status_of(port))[0] == 503
            await room(port)


async def test_what_never_became_a_websocket_takes_no_place(begin: Begin) -> None:
    port = await begin(1)
    for path in ("/ws", "/ws?width=none", "/ws?width=99999999", "/ws?height=-1", "/ws?height=0"):
        assert (await status_of(port, path))[0] == 400
    assert (await status_of(port))[0] == 200
    async with page(port):
        pass


async def raw(port: int, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
    """A connection that has sent these bytes, and the status of the response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    line = await reader.readline()
    return reader, writer, int(line.split()[1])


UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


async def test_a_page_that_is_silent_for_ever_gives_its_place_back(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose machine has lost its network: its connection stays open, and no ping is answered."""
    monkeypatch.setattr(browser, "_HEARTBEAT_S", 0.2)
    port = await begin(1)
    _, writer, status = await raw(port, UPGRADE)
    assert status == 101
    assert (await status_of(port))[0] == 503

    await room(port)
    writer.close()


async def test_a_console_that_does_not_quit_is_killed(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "_ENDS_S", 0.1)
    port = await begin(1, quits=False)
    async with page(port) as (_, process):
        assert lives(process)

    async def gone() -> bool:
        return not lives(process)

    await until(gone)
    await room(port)


@pytest.mark.parametrize(
    "message",
    [
        "no json",
        "null",
        "{}",
        "[]",
        '["stdin"]',
        '["stdin", 5]',
        '["stdin", "\\ud800"]',
        '["resize", {}]',
        '["resize", {"width": 1e9, "height": 1}]',
        '["resize", {"width": 100000, "height": 1}]',
    ],
)
async def test_a_message_that_no_page_sends_ends_the_session_alone(
    begin: Begin, caplog: pytest.LogCaptureFixture, message: str
) -> None:
    port = await begin(1)
    async with page(port) as (socket, _):
        await socket.send_str(message)
        while not socket.closed:
            await socket.receive()
    await room(port)
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


BAD = [
    (b"", b"Cookie: %s=\xe9\xff" % COOKIE.encode()),
    (b"", b"Cookie: %s=gr\xc3\xbc\xc3\x9fe" % COOKIE.encode()),
    (b"", b"Cookie: \xff\xfe=;;=\xf0; ="),
    (b"", b'Cookie: %s="\\777\\377"' % COOKIE.encode()),
    (b"?token=%ff", b""),
    (b"?token=%C3%A9", b""),
    (b"?token=\xc3\xa9", b""),
    (b"?token=%ED%A0%80", b""),
    (b"?token=%", b""),
    (b"?%zz=%&&token", b""),
    (b"", b"Origin: http://\xff"),
    (b"", b"Origin: \xe2\x98\x83"),
    (b"", b"Host: \xff\xfe"),
    (b"", b"Host: b\xc3\xbccher.example"),
    (b"", b"Host: [::1"),
    (b"", b"Host: a b"),
    (b"", b"Host: localhost:99999999"),
    (b"", b"Host: localhost:port"),
    (b"", b"Host: "),
    (b"", b"Host: me@localhost"),
    (b"", b"Host: localhost/x"),
    (b"", b"Host: xn--\xc3\xa9"),
    (b"", b"X-\xc3\xa9: 1"),
    (b"", b"Authorization: \xff"),
    (b"", b"Content-Length: -1"),
    (b"", b"Sec-WebSocket-Key: \xff"),
]


PATHS = [b"/", b"/ws", b"/static/js/textual.js", b"/download/x", b"/nothing"]


@pytest.mark.parametrize("known", [False, True], ids=["unknown client", "known client"])
async def test_a_malformed_request_is_no_error_of_the_server(begin: Begin, known: bool) -> None:
    port = await begin(1, TOKEN)
    cookie = b"Cookie: %s=%s\r\n" % (COOKIE.encode(), TOKEN.encode()) if known else b""
    for path, (query, header) in product(PATHS, BAD):
        host = b"" if header.startswith(b"Host:") else b"Host: localhost\r\n"
        more = header and header + b"\r\n"
        _, writer, status = await raw(port, b"GET %s%s HTTP/1.1\r\n%s%s%s\r\n" % (path, query, host, cookie, more))
        writer.close()
        assert (200 if known else 400) <= status < 500, (path, query, header)


async def test_odd_methods_and_sizes_are_refused(begin: Begin) -> None:
    port = await begin(1)
    for request in (
        b"POST / HTTP/1.1\r\nHost: localhost",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a" * 20_000,
    ):
        _, writer, status = await raw(port, request + b"\r\n\r\n")
        writer.close()
        assert 400 <= status < 500
