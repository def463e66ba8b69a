"""`serve`: the console in a browser, and who is not shown it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.crawls import store_crawl

TOKEN = "a-long-secret"
needs_extra = pytest.mark.skipif(find_spec("textual_serve") is None, reason="the extra web is not installed")


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        number: int = held.getsockname()[1]
        return number


class Served:
    """A server of its own process, until the end of a test."""

    def __init__(self, database: Path, *words: str) -> None:
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
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def ask(self, path: str = "/", **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers of an answer; names of headers have `_` for `-`."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), dict(answer.getheaders())

    def end(self) -> int:
        self.process.terminate()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(30)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    database, started = store_crawl(tmp_path / "crawl.db"), list[Served]()

    def begin(*words: str) -> Served:
        started.append(Served(database, *words))
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
    seen = b""
    async with ClientSession(cookies=cookies) as session:
        address = f"http://127.0.0.1:{served.port}/ws?width=120&height=40"
        async with session.ws_connect(address, headers={"Origin": f"http://127.0.0.1:{served.port}"}) as page:
            async for message in page:
                seen += message.data if isinstance(message.data, bytes) else json.dumps(message.data).encode()
                if b"Overview" in seen and b"a.example" in seen and b"pages" in seen:
                    break
    assert (b"watching only" in seen) is not bool(words)
