"""A web that exists only in virtual time: pages with links, latencies, faults; it logs what it was asked."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tui_crawler.domain.records.attempt import Exchange, FetchRequest, FoundLink, Reading, RequestRecord, SitemapEntry
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.engine.ports import Clock


@dataclass(frozen=True)
class Asked:
    """One request as the simulated server saw it (virtual monotonic ms).

    A server ends its answer also when nobody waits for it any more (`cut_off`: the crawler was killed meanwhile); one
    that never answers ends with the client.
    """

    url: str
    origin: str
    started: int
    ended: int
    conditional: bool = False
    method: str = "GET"
    user_agent: str = ""
    cut_off: bool = False

    @property
    def took(self) -> int:
        """ms"""
        return self.ended - self.started


@dataclass
class Answer:
    """What a URL answers. `links` are hrefs on the page."""

    code: ExitCode = ExitCode.file_ingested
    status: int | None = 200
    links: tuple[str, ...] = ()
    body: bytes = b""
    location: str = ""
    retry_after_ms: int | None = None
    latency_ms: int = 100
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class SimulatedWeb:
    """Fits the engine's Fetcher. `answer` decides; `asked` is the log of all requests."""

    clock: Clock
    answer: Callable[[CrawlUrl], Answer]
    asked: list[Asked] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    on_request: Callable[[str], None] = lambda url: None

    async def exchange(self, request: FetchRequest) -> Exchange:
        now, url = self.clock.now(), request.url
        answer = self.answer(url)
        conditional = bool(request.conditional_etag or request.conditional_since)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        self.on_request(url.href)
        ended, cut_off = now.later(answer.latency_ms), True
        try:
            await asyncio.sleep(answer.latency_ms / 1000)
            cut_off = False
        finally:
            self.under_way -= 1
            if answer.code is ExitCode.request_timeout:
                ended = self.clock.now()
            self.asked.append(
                Asked(
                    url.href,
                    url.origin,
                    now.mono_ms,
                    ended.mono_ms,
                    conditional,
                    request.method,
                    request.user_agent,
                    cut_off,
                )
            )
        wait = () if answer.retry_after_ms is None else (("Retry-After", str(answer.retry_after_ms // 1000)),)
        record = RequestRecord(
            url.href,
            request.method,
            now.wall_ms,
            ended.wall_ms,
            ended.wall_ms,
            answer.status,
            conditional=conditional,
            response_headers=wait,
        )
        location = normalise(answer.location, url.href) if answer.location else None
        return Exchange(
            (record,),
            answer.code,
            answer.status,
            ended.mono_ms - now.mono_ms,
            headers=answer.headers,
            body=answer.body,
            wire_bytes=len(answer.body),
            location=location if isinstance(location, CrawlUrl) else None,
            retry_after_ms=answer.retry_after_ms,
        )

    async def read(self, url: CrawlUrl, exchange: Exchange, *, sitemap: bool = False) -> Reading:
        found = [normalise(href, url.href) for href in self.answer(url).links]
        urls = [link for link in found if isinstance(link, CrawlUrl)]
        if sitemap:
            entries = tuple(SitemapEntry(link, 1_700_000_000_000, link.path.endswith(".xml")) for link in urls)
            return Reading("xml", ExitCode.file_ingested, "application/xml", "utf-8", entries=entries)
        links = tuple(FoundLink(LinkKind.a, link) for link in urls)
        return Reading("html", ExitCode.file_ingested, "text/html", "utf-8", f"Page {url.path}", links=links)

    async def address(self, host: str) -> str | None:
        return "127.0.0.1"

    async def forget(self, origin: str) -> None:
        return None

    def pages(self) -> list[str]:
        """The URLs asked for, without robots.txt."""
        return [a.url for a in self.asked if not a.url.endswith("/robots.txt")]

    def served(self) -> dict[str, list[Asked]]:
        """Per origin its requests in order."""
        found: dict[str, list[Asked]] = {}
        for one in sorted(self.asked, key=lambda one: one.started):
            found.setdefault(one.origin, []).append(one)
        return found

    def gaps(self) -> dict[str, list[int]]:
        """Per origin, the ms between the end of a request and the start of the next (negative: overlap)."""
        return {
            origin: [b.started - a.ended for a, b in itertools.pairwise(mine)] for origin, mine in self.served().items()
        }


def linked_site(pages: int, robots: bytes = b"", faults: float = 0.0, seed: int = 0) -> Callable[[CrawlUrl], Answer]:
    """Sites of numbered pages: each links to the next three. `faults` is the share of pages that fail at random."""
    dice = random.Random(seed)

    def answer(url: CrawlUrl) -> Answer:
        if url.path == "/robots.txt":
            return Answer(body=robots) if robots else Answer(ExitCode.file_not_found, 404)
        if faults and dice.random() < faults:
            return dice.choice(
                [
                    Answer(ExitCode.connection_failed, None, latency_ms=20),
                    Answer(ExitCode.server_internal_error, 503),
                    Answer(ExitCode.file_not_found, 404),
                    Answer(ExitCode.rate_limited, 429, retry_after_ms=dice.choice([None, 5_000])),
                    Answer(ExitCode.request_timeout, None, latency_ms=30_000),
                ]
            )
        name = url.path.strip("/") or "0"
        number = int(name) if name.isdigit() else pages
        links = tuple(f"/{n}" for n in range(number + 1, min(number + 4, pages)))
        return Answer(links=links, latency_ms=dice.choice([20, 100, 900]) if faults else 100)

    return answer
