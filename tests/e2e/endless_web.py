"""A web without an end: a run of it is over when a test ends it, however long that takes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.patience import PATIENT_S
from tui_crawler.demo.process import demo_config

ORIGINS = 8


class _Site:
    """One origin: each page links to three further ones. It notes its requests as the demo web does."""

    def __init__(self, log: Path | None) -> None:
        self._log = log
        self.origin = ""

    async def serve(self) -> asyncio.Server:
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                started_ms = _now_ms()
                target = head.split(b" ", 2)[1].decode("ascii")
                status, body = (404, b"") if target == "/robots.txt" else (200, _page(int(target[1:] or 0)))
                self._note(target, status, started_ms)
                fields = f"Content-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(f"HTTP/1.1 {status} As asked\r\n{fields}".encode() + body)
                await writer.drain()
        writer.close()

    def _note(self, target: str, status: int, started_ms: float) -> None:
        """Before the answer is sent: nobody has it earlier."""
        if self._log is not None:
            told = {"origin": self.origin, "target": target, "status": status, "ending": "complete"}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**told, "started_ms": started_ms, "ended_ms": _now_ms()}) + "\n")


_STEADY_MS = time.time_ns() / 1e6 - time.monotonic_ns() / 1e6


def _now_ms() -> float:
    return time.monotonic_ns() / 1e6 + _STEADY_MS


def _page(number: int) -> bytes:
    links = "".join(f'<p><a href="/{3 * number + more}">Further on</a></p>' for more in (1, 2, 3))
    return f"<!doctype html><html lang=en><title>Page {number}</title>{links}</html>".encode()


@contextmanager
def endless_web(log: Path | None = None) -> Iterator[list[str]]:
    """Serves some origins from a thread; answers a seed of each. `log` is its access log."""
    sites = [_Site(log) for _ in range(ORIGINS)]
    ready = threading.Event()
    over = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        servers = [await site.serve() for site in sites]
        loops.append(asyncio.get_running_loop())
        ready.set()
        await over.wait()
        for server in servers:
            server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(PATIENT_S)
    try:
        yield [f"{site.origin}/" for site in sites]
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(PATIENT_S)


def endless_config(seeds: list[str], database: Path | str, delay: str = "") -> str:
    """The demo's configuration for it, without a bound on pages; with a `delay` that of a headless run."""
    text = demo_config(seeds, str(database), headless=bool(delay))
    text = text.replace("default: 20ms", f"default: {delay}").replace("floor: 20ms", f"floor: {delay}")
    return text.replace("max_pages_per_origin: 300", "max_pages_per_origin: 1000000")
