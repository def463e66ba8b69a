"""How the tests of this folder read a page without any network."""

from __future__ import annotations

import asyncio

from tests.fetch.asking import answered, crawl_url
from tui_crawler.domain.attempt import Headers, LinkKind, Reading
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import FetchLimits

PAGE = crawl_url("https://site.example/folder/page?x=1")
LIMITS = FetchLimits()


def read(
    body: bytes | str,
    content_type: str = "text/html; charset=utf-8",
    headers: Headers = (),
    limits: FetchLimits = LIMITS,
) -> Reading:
    """The reading of a body of PAGE by an "Example-Crawler"."""
    data = body.encode() if isinstance(body, str) else body
    reader = PageReader(limits, "Example-Crawler")
    return asyncio.run(reader.read(PAGE, answered(data, content_type, headers)))


def hrefs(reading: Reading, kind: LinkKind = LinkKind.a) -> list[str]:
    """The targets of the links of one kind."""
    return [link.url.href for link in reading.links if link.kind is kind]
