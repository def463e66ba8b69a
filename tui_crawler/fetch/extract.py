"""Reading a body: kind, character set, title, directives and links, within bounds and never with an exception."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

from tui_crawler.domain.attempt import Exchange, Reading, RedirectSource
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.url import CrawlUrl, LinkResolver, SiteLinks, normalise
from tui_crawler.fetch.charset import choose_encoding, encoding_of_label, to_utf8
from tui_crawler.fetch.directives import canonical_in_header, refresh_target, x_robots_tag
from tui_crawler.fetch.document import Statements, feed_statements, html_statements
from tui_crawler.fetch.headers import clean_message, content_type, first_value, location_text, values_of
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.links import LinkCollector, feed_candidates, html_candidates
from tui_crawler.fetch.sniff import HTML, OTHER, RSS, kind_of
from tui_crawler.fetch.threads import run_in_thread
from tui_crawler.fetch.tree import Element, parse_html, parse_xml

_GRACE = 2  # a thread that overstays the deadline so many times is not waited for
_XHTML = "application/xhtml+xml"


class PageReader:
    """Reads bodies; those over `parse_inline_bytes` one at a time in a thread. `timer` counts seconds."""

    def __init__(self, limits: FetchLimits, product_token: str, timer: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._product_token = product_token
        self._timer = timer
        self._one_at_a_time = asyncio.Semaphore(1)
        self._site = SiteLinks()

    async def read(self, url: CrawlUrl, exchange: Exchange) -> Reading:
        """What a body says. Never raises for what it holds: then the code is local_processing_error."""
        if len(exchange.body) <= self._limits.parse_inline_bytes:
            return self._read(url, exchange)
        seconds = self._limits.parse_deadline_ms / 1000 * _GRACE
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(seconds):
                    return await run_in_thread("reading", lambda: self._read(url, exchange))
            except TimeoutError:
                mime, _ = content_type(exchange.header("Content-Type"))
                kind = kind_of(mime, exchange.body)
                return Reading(kind, ExitCode.file_ingested, mime, incomplete=("deadline",))

    def _read(self, url: CrawlUrl, exchange: Exchange) -> Reading:
        until = self._timer() + self._limits.parse_deadline_ms / 1000
        try:
            page = _Page(url, exchange, self._limits, self._product_token, self._site, lambda: self._timer() > until)
            return page.read()
        except Exception as error:  # whatever the bytes did to a parser, the crawl goes on
            message = clean_message(f"{type(error).__name__}: {error}")
            return Reading(OTHER, ExitCode.local_processing_error, message=message)


class _Page:
    """The reading of one body."""

    def __init__(
        self,
        url: CrawlUrl,
        exchange: Exchange,
        limits: FetchLimits,
        product_token: str,
        site: SiteLinks,
        out_of_time: Callable[[], bool],
    ) -> None:
        self._url = url
        self._exchange = exchange
        self._limits = limits
        self._token = product_token
        self._site = site
        self._out_of_time = out_of_time
        self._incomplete: dict[str, None] = {}

    def read(self) -> Reading:
        mime, label = content_type(self._exchange.header("Content-Type"))
        body = self._exchange.body
        kind = OTHER if self._exchange.exit_code is not ExitCode.file_ingested else kind_of(mime, body)
        if kind == OTHER or not body:
            return self._reading(kind, mime, encoding_of_label(label) or "")
        if len(body) > self._limits.parse_input_bytes:
            body = body[: self._limits.parse_input_bytes]
            self._note(("input",))
        charset = choose_encoding(body, kind, label)
        root = self._parse(kind, mime, body, charset)
        if root is None:
            return self._reading(kind, mime, charset)
        said = html_statements(root, self._token) if kind == HTML else feed_statements(root)
        base = normalise(said.base, self._url.href) if said.base else self._url
        resolver = self._resolver(base.href if isinstance(base, CrawlUrl) else self._url.href)
        links = LinkCollector(resolver, self._limits.max_links, self._limits.max_anchor_chars)
        links.collect(html_candidates(root) if kind == HTML else feed_candidates(root), self._out_of_time)
        self._note(links.cut)
        return self._reading(kind, mime, charset, said, resolver, links)

    def _parse(self, kind: str, mime: str, body: bytes, charset: str) -> Element | None:
        """The tree of a body whose links are wanted: HTML and feeds."""
        if kind == HTML and mime != _XHTML:
            parsed = parse_html(to_utf8(body, charset), self._limits, self._out_of_time)
        elif kind in (HTML, RSS):
            parsed = parse_xml(to_utf8(body, charset), self._limits, self._out_of_time)
        else:
            return None
        self._note(parsed.incomplete)
        return parsed.root

    def _reading(
        self,
        kind: str,
        mime: str,
        charset: str,
        said: Statements | None = None,
        resolver: LinkResolver | None = None,
        links: LinkCollector | None = None,
    ) -> Reading:
        """What the document and its header say together; the header wins where only one can be right."""
        said = said or Statements()
        resolver = resolver or self._resolver(self._url.href)
        headers = self._exchange.headers
        robots = said.robots | x_robots_tag(values_of(headers, "X-Robots-Tag"), self._token)
        canonical = self._target(resolver, said.canonical) or self._target(
            self._resolver(self._url.href), canonical_in_header(values_of(headers, "Link"))
        )
        refresh, source = self._refresh(resolver, said.refresh)
        return Reading(
            kind=kind,
            exit_code=ExitCode.file_of_unknown_type if kind == OTHER else ExitCode.file_ingested,
            content_type=mime,
            charset=charset,
            title=self._title(said.title),
            canonical=canonical,
            refresh=refresh,
            refresh_source=source,
            noindex=robots.noindex,
            nofollow=robots.nofollow,
            links=() if links is None else links.links,
            invalid_links=0 if links is None else links.invalid,
            invalid_sample="" if links is None else links.invalid_sample,
            incomplete=tuple(self._incomplete),
        )

    def _refresh(self, resolver: LinkResolver, in_document: str) -> tuple[CrawlUrl | None, RedirectSource | None]:
        """Where a refresh leads; one that leads to this page again only reloads it."""
        in_header = refresh_target(location_text(first_value(self._exchange.headers, "Refresh") or ""))
        by_header = self._target(self._resolver(self._url.href), in_header or "")
        if by_header is not None and by_header != self._url:
            return by_header, RedirectSource.refresh_header
        by_document = self._target(resolver, refresh_target(in_document) or "")
        if by_document is not None and by_document != self._url:
            return by_document, RedirectSource.meta_refresh
        return None, None

    def _resolver(self, base: str) -> LinkResolver:
        return LinkResolver(base, self._limits.max_url_length, site=self._site)

    def _target(self, resolver: LinkResolver, raw: str) -> CrawlUrl | None:
        if not raw.strip():
            return None
        url = resolver.resolve(raw)
        return url if isinstance(url, CrawlUrl) else None

    def _title(self, title: str) -> str:
        encoded = title.encode("utf-8", "replace")
        if len(encoded) <= self._limits.max_title_bytes:
            return title
        self._note(("title",))
        return encoded[: self._limits.max_title_bytes].decode("utf-8", "ignore")

    def _note(self, cut: Iterable[str]) -> None:
        self._incomplete.update(dict.fromkeys(cut))
