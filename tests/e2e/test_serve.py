"""`serve`: the console in a browser, and who is not shown it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.crawls import store_crawl
from tests.fetch.asking import CORPORA
from tests.support.patience import PATIENT_S

if TYPE_CHECKING:
    from aiohttp import ClientSession

TOKEN = "a-long-secret"
CERTIFICATE = CORPORA / "crawled.example.pem"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
needs_extra = pytest.mark.skipif(find_spec("textual_serve") is None, reason="the extra web is not installed")


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        number: int = held.getsockname()[1]
        return number


class Served:
    """A server of its own process, until the end of a test."""

    def __init__(self, database: Path, *words: str, **variables: str) -> None:
        self.port = free_port()
        command = [
            sys.executable,
            "-m",
            "tui_crawler",
            "serve",
            "--db",
            str(database),
            "--port",
            str(self.port),
            *words,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables})
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def ask(self, path: str = "/", **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers of an answer; names of headers have `_` for `-`."""
        with closing(HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())

    def end(self) -> int:
        self.process.terminate()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    database, started = store_crawl(tmp_path / "crawl.db"), list[Served]()

    def begin(*words: str, **variables: str) -> Served:
        started.append(Served(database, *words, **variables))
        return started[-1]

    yield begin
    for one in started:
        assert one.end() == 0


@needs_extra
def test_a_page_of_this_server_is_shown_and_no_other_name_or_page(serve: Callable[..., Served]) -> None:
    served = serve()
    assert served.said == f"the console is at http://localhost:{served.port}/\n"
    status, page, _ = served.ask(Host=f"localhost:{served.port}")
    assert (status, "tui-crawler" in page, f"ws://localhost:{served.port}/ws" in page) == (200, True, True)
    assert served.ask(Host=f"127.0.0.1:{served.port}")[0] == 200
    assert served.ask(Host=f"evil.example:{served.port}")[0] == 403
    assert served.ask(Origin="https://evil.example")[0] == 403
    socket_of = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    key = {"Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert served.ask("/ws", Origin="https://evil.example", **socket_of, **key)[0] == 403


@needs_extra
def test_a_token_is_asked_for_and_goes_into_a_cookie(serve: Callable[..., Served]) -> None:
    served = serve("--allow-control", "--token", TOKEN)
    assert served.said.endswith(f"/?token={TOKEN}\n")
    assert [served.ask(path)[0] for path in ("/", "/ws", "/static/js/textual.js", "/?token=another")] == [403] * 4
    status, _, headers = served.ask(f"/?token={TOKEN}")
    assert (status, headers["Location"]) == (302, "/")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    assert served.ask(Cookie=headers["Set-Cookie"].partition(";")[0])[0] == 200


@needs_extra
@pytest.mark.parametrize("words", [(), ("--allow-control", "--token", TOKEN)], ids=["watching", "steering"])
async def test_a_console_is_drawn_for_a_page(serve: Callable[..., Served], words: tuple[str, ...]) -> None:
    from aiohttp import ClientSession  # noqa: PLC0415  of the extra

    served = serve(*words)
    cookies = {"tui_crawler_token": TOKEN} if words else {}
    async with ClientSession(cookies=cookies) as session:
        seen = await drawn(session, f"http://127.0.0.1:{served.port}/ws", f"http://127.0.0.1:{served.port}")
    assert (b"read-only" in seen) is not bool(words)


async def drawn(session: ClientSession, address: str, origin: str) -> bytes:
    """What a console draws for a page of `origin` until the overview is there."""
    seen = b""
    async with session.ws_connect(f"{address}?width=120&height=40", headers={"Origin": origin}) as page:
        async for message in page:
            seen += message.data if isinstance(message.data, bytes) else json.dumps(message.data).encode()
            if b"Origins" in seen and b"a.example" in seen and b"pages" in seen:
                break
    return seen


@asynccontextmanager
async def our_proxy(_: Path, port: int, to: int, kept: str, removed: str, host: str) -> AsyncIterator[None]:
    """A proxy with TLS for one request a connection: the path `kept` + `removed` loses what is removed, the server is
    asked as `host`."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(CERTIFICATE)

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await source.read(65_536):
                target.write(piece)
                await target.drain()
        target.close()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        head = head.replace(f" {kept}{removed}/".encode(), f" {kept}/".encode(), 1)
        head = re.sub(rb"(?i)\r\nhost: [^\r]+", f"\r\nHost: {host}".encode(), head)
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", to)
        up_writer.write(head)
        await asyncio.gather(copy(reader, up_writer), copy(up_reader, writer))

    async with await asyncio.start_server(pass_on, "127.0.0.1", port, ssl=tls):
        yield


@asynccontextmanager
async def nginx(folder: Path, port: int, to: int, kept: str, removed: str, host: str) -> AsyncIterator[None]:
    """nginx, configured as docs/serve.md says."""
    config = folder / "nginx.conf"
    config.write_text(
        f"""
        daemon off; pid {folder}/nginx.pid; error_log stderr;
        events {{ }}
        http {{
            access_log off;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
            uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
            server {{
                listen 127.0.0.1:{port} ssl; server_name crawled.example;
                ssl_certificate {CERTIFICATE}; ssl_certificate_key {CERTIFICATE};
                location {kept}{removed}/ {{
                    proxy_pass http://127.0.0.1:{to}{kept}/;
                    proxy_http_version 1.1;
                    proxy_set_header Host {host};
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection "upgrade";
                    proxy_read_timeout 1h;
                }}
            }}
        }}
        """
    )
    words = (str(NGINX), "-p", str(folder), "-c", str(config), "-e", "stderr")
    process = await asyncio.create_subprocess_exec(*words, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(PATIENT_S):
            while True:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                assert process.returncode is None
                await asyncio.sleep(0.05)
        yield
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def browser() -> AsyncIterator[ClientSession]:
    """A client with cookies, for which crawled.example is this machine and has a good certificate."""
    from aiohttp import ClientSession, TCPConnector  # noqa: PLC0415  of the extra
    from aiohttp.abc import AbstractResolver, ResolveResult  # noqa: PLC0415

    class Here(AbstractResolver):  # type: ignore[misc]  # not looked at, as it is an extra
        async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> list[ResolveResult]:
            return [ResolveResult(hostname=host, host="127.0.0.1", port=port, family=family, proto=0, flags=0)]

        async def close(self) -> None:
            pass

    tls = ssl.create_default_context(cafile=str(CERTIFICATE))
    async with ClientSession(connector=TCPConnector(resolver=Here(), ssl=tls, force_close=True)) as session:
        yield session


@needs_extra
@pytest.mark.parametrize("proxy", [our_proxy, pytest.param(nginx, marks=pytest.mark.skipif(not NGINX, reason="none"))])
@pytest.mark.parametrize(
    ("kept", "removed", "host"),
    [("", "", "crawled.example:{}"), ("", "/crawl", "127.0.0.1:{}"), ("/crawl", "", "crawled.example:{}")],
    ids=["root", "prefix removed", "prefix kept"],
)
async def test_it_is_shown_behind_a_proxy_with_tls(
    serve: Callable[..., Served], tmp_path: Path, proxy: Callable[..., Any], kept: str, removed: str, host: str
) -> None:
    port = free_port()
    origin, prefix = f"https://crawled.example:{port}", kept + removed
    served = serve("--public-url", f"{origin}{prefix}/", TUI_CRAWLER_SERVE_TOKEN=TOKEN)
    assert served.said == f"the console is at {origin}{prefix}/\n"
    shown_as = host.format(served.port if "127" in host else port)
    async with proxy(tmp_path, port, served.port, kept, removed, shown_as), browser() as session:
        async with session.get(f"{origin}{prefix}/") as refused:
            assert refused.status == 403
        async with session.get(f"{origin}{prefix}/?token={TOKEN}") as found:
            page = await found.text()
            assert (found.status, str(found.url)) == (200, f"{origin}{prefix}/")
            assert "Secure" in found.history[0].headers["Set-Cookie"]
        assert f'"wss://crawled.example:{port}{prefix}/ws"' in page
        own = re.findall(rf'[a-z]+://[^"]*:{port}[^"]*', page)
        assert {one.partition("://")[0] for one in own} == {"https", "wss"}
        assert all(one.partition("://")[2].startswith(f"crawled.example:{port}{prefix}/") for one in own)
        assert "localhost" not in page
        for script in (one for one in own if one.endswith((".js", ".css"))):
            async with session.get(script) as found:
                assert found.status == 200
        assert b"read-only" in await drawn(session, f"{origin}{prefix}/ws", origin)
        for foreign in ("https://evil.example", f"http://crawled.example:{port}", "null", "https://crawled.example"):
            async with session.get(f"{origin}{prefix}/ws", headers={"Origin": foreign}) as refused:
                assert refused.status == 403
    for foreign in (f"evil.example:{port}", f"crawled.example.evil.example:{port}"):
        assert served.ask(Host=foreign, Cookie=f"tui_crawler_token={TOKEN}")[0] == 403
