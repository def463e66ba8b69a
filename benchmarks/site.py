"""A generated web for benchmarks: linked sites of pages of one size, and a server that is not the bottleneck.

`python -m benchmarks.site --origins 20 --pages 150 --links 60 --bytes 40000` serves until it is ended. Everything
follows from the seed: the same arguments give the same pages.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

FIRST_PORT, LAST_PORT = 11_000, 32_000  # below those that systems hand out by themselves
_WORDS = [
    "archive",
    "crawl",
    "delay",
    "depth",
    "engine",
    "frontier",
    "gap",
    "host",
    "index",
    "job",
    "known",
    "link",
    "month",
    "name",
    "origin",
    "page",
    "queue",
    "robots",
    "seed",
    "title",
    "turn",
    "url",
    "view",
    "window",
]


@dataclass(frozen=True, slots=True)
class Site:
    """`origins` sites of `pages` pages each, with `links` links and about `size` bytes a page; the last `across` of the
    links name any of the origins."""

    origins: int = 20
    pages: int = 150
    links: int = 60
    size: int = 40_000
    seed: int = 7
    first_port: int = FIRST_PORT
    across: int = 0

    @property
    def ports(self) -> list[int]:
        """One loopback port for each origin."""
        return list(range(self.first_port, self.first_port + self.origins))

    @property
    def seeds(self) -> list[str]:
        """The first page of each origin."""
        return [f"http://127.0.0.1:{port}/" for port in self.ports]

    def bodies(self, origin: int = 0) -> list[bytes]:
        """Return the pages of one origin; page n is at /p/n, the first one also at /. No two origins share a page."""
        chance = random.Random(f"{self.seed}/{origin}")
        return [self._page(number, chance) for number in range(self.pages)]

    def _page(self, number: int, chance: random.Random) -> bytes:
        tree = [number * 4 + step for step in range(1, 5) if number * 4 + step < self.pages]
        others = tree + [chance.randrange(self.pages) for _ in range(self.links - len(tree))]
        room = max(0, self.size // max(1, len(others)) - 90)
        text = " ".join(chance.choices(_WORDS, k=room // 5))[:room]
        at = [""] * max(len(tree), len(others) - self.across)
        at += [f"http://127.0.0.1:{port}" for port in chance.choices(self.ports, k=len(others) - len(at))]
        rows = "".join(
            f'<li class="entry"><a href="{origin}/p/{other}">{" ".join(chance.choices(_WORDS, k=3))} {other}</a>'
            f"<p>{text}</p></li>"
            for origin, other in zip(at, others, strict=True)
        )
        title = f"{' '.join(chance.choices(_WORDS, k=4))} {number}"
        return (
            f"<!doctype html><html><head><meta charset=utf-8><title>{title}</title></head>"
            f"<body><h1>{title}</h1><ul>{rows}</ul></body></html>"
        ).encode()


class _Served(asyncio.Protocol):
    """One connection: answers each request with bytes that were made before."""

    def __init__(self, answers: dict[bytes, bytes], port: int, log: IO[str] | None) -> None:
        self._answers = answers
        self._port = port
        self._log = log
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            target = self._rest.split(b" ", 2)[1]
            self._rest = self._rest[end + 4 :]
            if self._log is not None:
                self._log.write(f"{self._port}\t{target.decode()}\t{time.time()}\n")
            self._transport.write(self._answers.get(target, _NOT_FOUND))


_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"


def _whole(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


def serve(site: Site, ready: multiprocessing.synchronize.Event | None = None, log: Path | None = None) -> None:
    """Serves all origins until the process is ended. Each request is a line of the `log`: port, path, when it was
    answered (s since 1970)."""
    lines = log.open("a", buffering=1, encoding="utf-8") if log else None

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for origin, port in enumerate(site.ports):
            answers = {b"/p/%d" % number: _whole(body) for number, body in enumerate(site.bodies(origin))}
            answers[b"/"] = answers[b"/p/0"]
            await loop.create_server(partial(_Served, answers, port, lines), "127.0.0.1", port)
        if ready is not None:
            ready.set()
        await asyncio.Event().wait()

    asyncio.run(main())


@contextmanager
def serving(site: Site, log: Path | None = None) -> Iterator[Site]:
    """Serves the sites from a process of its own meanwhile; answers them on ports that were free."""
    site = replace(site, first_port=_free_ports(site))
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    server = context.Process(target=serve, args=(site, ready, log), daemon=True)
    server.start()
    try:
        if not ready.wait(60):
            raise RuntimeError("the server of the benchmark did not start")
        yield site
    finally:
        server.terminate()
        server.join()


def _free_ports(site: Site) -> int:
    """The first of so many ports in a row that nobody has. Raises RuntimeError where there are none."""
    for first in range(site.first_port, LAST_PORT - site.origins, site.origins):
        with ExitStack() as opened:
            try:
                for port in range(first, first + site.origins):
                    probe = opened.enter_context(socket.socket())
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise RuntimeError(f"{site.origins} ports in a row are not free")


def main() -> None:
    """Serves from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("origins", 20), ("pages", 150), ("links", 60), ("bytes", 40_000), ("seed", 7)):
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    site = Site(given.origins, given.pages, given.links, given.bytes, given.seed)
    print("\n".join(site.seeds), flush=True)
    serve(site)


if __name__ == "__main__":
    main()
