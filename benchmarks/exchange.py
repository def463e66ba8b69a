"""What one exchange and one reading cost; run by hand: `python -m benchmarks.exchange`.

Sixty loopback origins are asked in turn over kept connections, once through a plain shared `httpx.AsyncClient` and
once through `HttpFetcher`; then a page with 60 links is read.
"""

from __future__ import annotations

import asyncio
import statistics
import time

import httpx

from tests.support.hostile_web import HostileWeb, Send
from tui_crawler.domain.records.attempt import FetchRequest
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.fetch.address_guard import AddressGuard
from tui_crawler.fetch.client import HttpFetcher
from tui_crawler.fetch.limits import FetchLimits

ORIGINS = 60
ROUNDS = 20

_ITEM = (
    '<li class="entry"><a href="/articles/{0}?page={0}" title="Article {0}">An article about <em>thing {0}</em></a>'
    '<p class="lead">Some words on it, long enough to be like a page, and a few more of them.</p></li>'
)
PAGE = (
    "<!doctype html><html><head><title>Sixty links</title><meta charset=utf-8>"
    '<link rel="stylesheet" href="/style.css"></head><body><nav></nav><ul>'
    + "".join(_ITEM.format(number) for number in range(60))
    + "</ul></body></html>"
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE


async def measure() -> None:
    """Prints the median of the rounds, in microseconds per exchange."""
    webs = [HostileWeb() for _ in range(ORIGINS)]
    for web in webs:
        web.on("/", Send(ANSWER))
        await web.start()
    urls = [normalise(web.url("/")) for web in webs]
    pages = [FetchRequest(url, "measure") for url in urls if isinstance(url, CrawlUrl)]
    fetcher = HttpFetcher(FetchLimits(), AddressGuard(allow_private=True), "measure")
    async with httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_keepalive_connections=100)) as client:

        async def plain() -> None:
            for web in webs:
                (await client.get(web.url("/"))).raise_for_status()

        async def ours() -> None:
            for page in pages:
                assert (await fetcher.exchange(page)).http_status == 200

        for name, work in (("shared httpx.AsyncClient", plain), ("HttpFetcher", ours)):
            await work()
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                await work()
                times.append((time.perf_counter() - began) / ORIGINS * 1e6)
            print(f"{name:26} {statistics.median(times):7.0f} us per exchange over {ORIGINS} origins")
    exchange = await fetcher.exchange(pages[0])
    times = []
    for _ in range(200):
        began = time.perf_counter()
        reading = await fetcher.read(pages[0].url, exchange)
        times.append((time.perf_counter() - began) * 1e3)
    print(f"{'reading':26} {statistics.median(times):7.2f} ms for {len(reading.links)} links, {len(PAGE)} bytes")
    await fetcher.close()
    for web in webs:
        await web.stop()


if __name__ == "__main__":
    asyncio.run(measure())
