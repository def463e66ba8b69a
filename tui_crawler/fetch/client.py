"""The fetcher that the engine is given: one exchange over a wire, and the reading of what it brought."""

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence

from tui_crawler.domain.moment import Moment, read_moment
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, Reading
from tui_crawler.domain.records.content_kind import DataRule
from tui_crawler.domain.url import CrawlUrl
from tui_crawler.fetch.address_guard import AddressGuard, Resolver, bare_host, is_address, resolve_name
from tui_crawler.fetch.connection_log import ConnectionLogs
from tui_crawler.fetch.extract import PageReader, ReaderSetup
from tui_crawler.fetch.http1 import Http1Wire
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.tls import Access, TlsContexts, Trust
from tui_crawler.fetch.transfer import Recorder, Transfer, Wire
from tui_crawler.fetch.validation.validators import VALIDATED_KINDS


def system_moment() -> Moment:
    """The present moment by the machine's two clocks."""
    return read_moment(time.monotonic_ns, time.time_ns)


class HttpFetcher:
    """Fetches and reads pages; fits the engine's Fetcher.

    `product_token` is the name by which pages address this crawler in `meta` and X-Robots-Tag. `proxy` is a URL;
    behind a proxy only literal addresses can be guarded. `data_rules` hold for the pages of their hosts,
    `validate_kinds` (of html, xml, rss, css) are validated; of the kinds `later` by a `SecondReader`, made as `setup`
    says. `access` says how the origin of a URL is asked, `trust`
    whom a proxy may be. `recorder` keeps every answer as it came, `keeps_errors`: exchanges have the bodies of errors.
    `now`, `resolve`, `ssl_context` are given by tests, which compare with the `reference`.
    Raises BadDataRule, ValueError for a proxy that cannot be used, OSError for certificates that cannot.
    """

    def __init__(
        self,
        limits: FetchLimits,
        guard: AddressGuard,
        product_token: str,
        *,
        fluke_retry: bool = True,
        proxy: str | None = None,
        data_rules: Sequence[DataRule] = (),
        validate_kinds: frozenset[str] = VALIDATED_KINDS,
        later: frozenset[str] = frozenset(),
        access: Callable[[CrawlUrl], Access] = lambda _: Access(),
        trust: Trust = Trust(),  # noqa: B008  (it is frozen)
        now: Callable[[], Moment] = system_moment,
        resolve: Resolver = resolve_name,
        ssl_context: ssl.SSLContext | None = None,
        reference: bool = False,
        recorder: Recorder | None = None,
        keeps_errors: bool = False,
    ) -> None:
        self._recorder = recorder
        self._limits = limits
        self._guard = guard
        self._resolve = resolve
        contexts = TlsContexts({} if ssl_context is None else {Trust(): ssl_context})
        self._wire: Wire
        if proxy is None and not reference:
            self._wire = Http1Wire(limits, guard, resolve, lambda url: contexts[access(url).trust], now)
        else:
            from tui_crawler.fetch.httpx_wire import HttpxWire  # noqa: PLC0415  it loads slowly, and few need it

            self._wire = HttpxWire(limits, guard, resolve, proxy, access, trust, contexts, ConnectionLogs(now))
        self._transfer = Transfer(
            self._wire, limits, now, fluke_retry, lambda url: access(url).headers, recorder, keeps_errors
        )
        self._reader = PageReader(
            limits, product_token, data_rules=data_rules, validate_kinds=validate_kinds, later=later
        )
        self.setup: ReaderSetup = self._reader.setup

    async def exchange(self, request: FetchRequest) -> Exchange:
        return await self._transfer.exchange(request)

    async def read(self, url: CrawlUrl, exchange: Exchange, *, sitemap: bool = False) -> Reading:
        """Return what a 2xx body says; large bodies are read off the event loop. Never raises for what a body holds.

        `sitemap`: it is read as a sitemap, and the reading has its entries.
        """
        reading = await self._reader.read(url, exchange, sitemap=sitemap)
        if self._recorder is not None and exchange.requests:
            await self._recorder.describe(exchange.requests[-1], reading)
        return reading

    async def address(self, host: str) -> str | None:
        bare = bare_host(host)
        if is_address(bare):
            return bare
        try:
            async with asyncio.timeout(self._limits.connect_timeout_ms / 1000):
                return next(iter(await self._resolve(bare, 0)), None)
        except OSError:  # TimeoutError is one
            return None

    async def forget(self, origin: str) -> None:
        await self._wire.forget(origin)

    async def close(self) -> None:
        await self._wire.close()
        if self._recorder is not None:
            await self._recorder.close()
