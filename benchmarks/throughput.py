"""How much of a bare HTTP client's speed is left when every page is parsed, judged and committed.

`python -m benchmarks.throughput [--origins 20] [--pages 100] [--links 60]`

Serves linked sites from a process of its own on loopback, then fetches the same pages twice in one run: with one
httpx.AsyncClient that throws the bodies away, and with `tui-crawler run` with delays switched off. Prints pages per
second of both and their ratio. The figure is a ratio: absolute numbers depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

HEAD = b"HTTP/1.1 %d %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"


def page(number: int, pages: int, links: int) -> bytes:
    """A page with a paragraph of text for each of its links."""
    others = ((number * links + n) % pages for n in range(links))
    rows = "".join(f'<p>The entry on <a href="/{n}">number {n}</a> is kept in its own place.</p>' for n in others)
    return f"<!doctype html><title>Entry {number}</title><h1>Entry {number}</h1>{rows}".encode()


def serve(ports: list[int], pages: int, links: int, ready: multiprocessing.Event) -> None:
    """Serves all sites until it is ended."""
    bodies = [page(n, pages, links) for n in range(pages)]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            line = await reader.readline()
            if not line:
                break
            while await reader.readline() not in {b"\r\n", b""}:
                pass
            name = line.split()[1][1:].decode()
            found = name.isdigit()
            body = bodies[int(name)] if found else b""
            writer.write(HEAD % ((200, b"OK", len(body)) if found else (404, b"Not Found", 0)) + body)
            await writer.drain()
        writer.close()

    async def main() -> None:
        for port in ports:
            await asyncio.start_server(handle, "127.0.0.1", port)
        ready.set()
        await asyncio.Event().wait()

    asyncio.run(main())


async def fetch_all(ports: list[int], pages: int) -> float:
    """Seconds for one client to fetch every page, as many at once as there are sites."""
    async with httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_connections=None)) as client:

        async def one(port: int) -> None:
            for number in range(pages):
                (await client.get(f"http://127.0.0.1:{port}/{number}")).raise_for_status()

        began = time.perf_counter()
        await asyncio.gather(*(one(port) for port in ports))
        return time.perf_counter() - began


def crawl(ports: list[int], folder: Path) -> tuple[float, int]:
    """Seconds of a whole `tui-crawler run`, its start included, and how many pages it ingested."""
    seeds = ", ".join(f'"http://127.0.0.1:{port}/0"' for port in ports)
    config = folder / "bench.yaml"
    config.write_text(
        f"seeds: [{seeds}]\nuser_agent: bench-crawler\n"
        f"crawl: {{max_in_flight: {len(ports)}}}\n"
        "delay: {model: fixed, default: 0, floor: 0, allow_impolite: true}\n",
        encoding="utf-8",
    )
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tui_crawler", "run", str(config), "--quiet"], check=True)
    spent = time.perf_counter() - began
    with sqlite3.connect(folder / "bench.db") as database:
        query = "SELECT count(*) FROM v_page WHERE last_exit_code = 'file_ingested'"
        return spent, database.execute(query).fetchone()[0]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--origins", type=int, default=20)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--links", type=int, default=60)
    given = parser.parse_args()
    ports = list(range(23_000, 23_000 + given.origins))
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    server = context.Process(target=serve, args=(ports, given.pages, given.links, ready), daemon=True)
    server.start()
    ready.wait(20)
    try:
        bare = asyncio.run(fetch_all(ports, given.pages))
        with tempfile.TemporaryDirectory() as folder:
            spent, ingested = crawl(ports, Path(folder))
    finally:
        server.terminate()
        server.join()
    wanted = given.origins * given.pages
    print(f"httpx.AsyncClient, bodies thrown away: {wanted / bare:8.0f} pages/s ({bare:.2f} s)")
    print(f"tui-crawler run, start included:       {ingested / spent:8.0f} pages/s ({spent:.2f} s, {ingested} pages)")
    print(f"ratio: {(ingested / spent) / (wanted / bare):.2f}")


if __name__ == "__main__":
    main()
