"""Reading bodies: what they say, what data rules find in them, whether they are valid; within bounds of time."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from tui_crawler.domain.record import replace
from tui_crawler.domain.records.attempt import Exchange, Reading, Validation
from tui_crawler.domain.records.content_kind import OTHER, DataRule
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, LinkResolver, SiteLinks
from tui_crawler.fetch.data_blocks import DataBlocks
from tui_crawler.fetch.headers import clean_message, content_type
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.page import PageReading, ParsedBody
from tui_crawler.fetch.sitemap import is_gzip, read_sitemap
from tui_crawler.fetch.sniff import XML, kind_of
from tui_crawler.fetch.threads import run_in_thread
from tui_crawler.fetch.validation.validators import VALIDATED_KINDS, can_be_validated, is_quick, validate

T = TypeVar("T")

GRACE = 2  # a thread that overstays the deadline so many times is not waited for


@dataclass(frozen=True, slots=True)
class ReaderSetup:
    """The setup of a `PageReader` that reads as another one. `tasks` are its data rules and the kinds it validates."""

    limits: FetchLimits
    product_token: str
    tasks: dict[str, Any]


class PageReader:
    """Reads bodies; those over `parse_inline_bytes` one at a time in a thread. `timer` counts seconds.

    `data_rules` hold for the pages of their hosts, `validate_kinds` of html, xml, rss, css are validated:
    both `later` for the kinds named there, whose bodies are stored. Of pages that are already known (`is_known`)
    nothing else is wanted. Raises BadDataRule.
    """

    def __init__(
        self,
        limits: FetchLimits,
        product_token: str,
        timer: Callable[[], float] = time.monotonic,
        *,
        data_rules: Sequence[DataRule] = (),
        validate_kinds: frozenset[str] = VALIDATED_KINDS,
        later: frozenset[str] = frozenset(),
        is_known: bool = False,
    ) -> None:
        self.setup = ReaderSetup(limits, product_token, {"data_rules": data_rules, "validate_kinds": validate_kinds})
        self._later = later
        self._is_known = is_known
        self._limits = limits
        self._product_token = product_token
        self._timer = timer
        self._data_blocks = DataBlocks(data_rules, limits)
        self._validate_kinds = validate_kinds
        self._one_at_a_time = asyncio.Semaphore(1)
        self._site = SiteLinks()

    async def read(self, url: CrawlUrl, exchange: Exchange, *, sitemap: bool = False) -> Reading:
        """Return what a body says. Never raises for what it holds: then the code is local_processing_error."""
        body = exchange.body
        tags = body.count(b"<")
        is_small = len(body) <= self._limits.parse_inline_bytes and tags <= self._limits.parse_inline_tags
        longest = self._limits.parse_deadline_ms * GRACE
        if sitemap:
            entries = partial(self._read_sitemap, url, exchange)
            is_quick = is_small and not is_gzip(body)
            found = entries() if is_quick else await self._in_thread(entries, longest)
            return found or replace(_given_up(exchange), kind=XML)
        page = partial(self._read, url, exchange, tags)
        study = page() if is_small else await self._in_thread(page, longest)
        if study is None:
            return _given_up(exchange)
        if study.reading.kind in self._later:
            judged = can_be_validated(study, self._validate_kinds, self._limits)
            waits = judged or self._data_blocks.harvest(url.host, study, bool) is not None
            return replace(study.reading, waits=True) if waits else study.reading
        reading, longest = study.reading, self._limits.data_deadline_ms
        harvest = self._data_blocks.harvest(url.host, study, self._until(longest))
        if harvest is not None:  # always in a thread, since no expression has a bound
            await self._in_thread(harvest.run, longest * GRACE)
            incomplete = reading.incomplete if harvest.whole else (*reading.incomplete, "data")
            reading = replace(reading, data=harvest.values, incomplete=incomplete, message=harvest.message)
        validation = await self._validation(study, is_small)
        return reading if validation is None else replace(reading, validation=validation)

    def _read_sitemap(self, url: CrawlUrl, exchange: Exchange) -> Reading:
        try:
            return read_sitemap(url, exchange, self._limits, self._until(self._limits.parse_deadline_ms))
        except Exception as error:  # whatever the bytes did to a parser, the crawl goes on
            return _failed(error)

    def _read(self, url: CrawlUrl, exchange: Exchange, tags: int) -> ParsedBody:
        out_of_time = self._until(self._limits.parse_deadline_ms)
        tree = self._data_blocks.has_rules(url.host)
        markup_only = self._is_known and not tree and tags <= self._limits.max_tags
        try:
            reading = PageReading(url, exchange, self._limits, self._product_token, self._site, out_of_time, tags, tree)
            return reading.read(markup_only=markup_only)
        except Exception as error:  # as above
            return ParsedBody(_failed(error), LinkResolver(url.href))

    async def _validation(self, study: ParsedBody, is_small: bool) -> Validation | None:
        limits = self._limits
        if not can_be_validated(study, self._validate_kinds, limits):
            return None
        if is_small and is_quick(study):
            validation = validate(study, self._until(limits.validate_inline_ms))
            if validation is not None or limits.validate_inline_ms >= limits.validate_deadline_ms:
                return validation
        longest = limits.validate_deadline_ms
        return await self._in_thread(partial(validate, study, self._until(longest)), longest * GRACE)

    async def _in_thread(self, work: Callable[[], T], deadline_ms: int) -> T | None:
        """Return what `work` answers; None when it overstayed its deadline, and nobody listens to it any more."""
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(deadline_ms / 1000):
                    return await run_in_thread("reading", work)
            except TimeoutError:
                return None

    def _until(self, deadline_ms: int) -> Callable[[], bool]:
        until = self._timer() + deadline_ms / 1000
        return lambda: self._timer() > until


def _failed(error: Exception) -> Reading:
    message = clean_message(f"{type(error).__name__}: {error}")
    return Reading(OTHER, ExitCode.local_processing_error, message=message)


def _given_up(exchange: Exchange) -> Reading:
    mime, _ = content_type(exchange.header("Content-Type"))
    return Reading(kind_of(mime, exchange.body), ExitCode.file_ingested, mime, incomplete=("deadline",))
