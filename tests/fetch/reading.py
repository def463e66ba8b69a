"""How the tests of this folder read a page without any network."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from tests.fetch.asking import answered, crawl_url
from tui_crawler.domain.records.attempt import Headers, Reading, Validation
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import FetchLimits

PAGE = crawl_url("https://site.example/folder/page?x=1")
LIMITS = FetchLimits(validate_deadline_ms=100_000, data_deadline_ms=100_000)
"""No deadline that a busy machine meets."""


def read(
    body: bytes | str,
    content_type: str = "text/html; charset=utf-8",
    headers: Headers = (),
    limits: FetchLimits = LIMITS,
    *,
    sitemap: bool = False,
    **options: Any,
) -> Reading:
    """The reading of a body of PAGE by an "Example-Crawler"; options as `PageReader` has them."""
    data = body.encode() if isinstance(body, str) else body
    reader = PageReader(limits, "Example-Crawler", **options)
    return asyncio.run(reader.read(PAGE, answered(data, content_type, headers), sitemap=sitemap))


def judge(body: bytes | str, content_type: str) -> Validation:
    """What the validators say of a body that can be validated."""
    validation = read(body, content_type).validation
    assert validation is not None
    return validation


def hrefs(reading: Reading, kind: LinkKind = LinkKind.a) -> list[str]:
    """The targets of the links of one kind."""
    return [link.url.href for link in reading.links if link.kind is kind]


def day(text: str) -> int:
    """A date and time of UTC as epoch ms."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
