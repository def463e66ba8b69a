"""The web as a database has kept it. It fits the engine's Fetcher, answers from stored pages, and opens no socket."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from tui_crawler.domain.moment import Moment
from tui_crawler.domain.record import dataclass, field, replace
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, FoundLink, Headers, Reading, RedirectSource
from tui_crawler.domain.records.attempt import RequestRecord as Request
from tui_crawler.domain.records.content_kind import OTHER, CanonicalRule, LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.status import RobotsStatus
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.storage.db.reader import Reader, headers_of
from tui_crawler.storage.reports.reports import Reports

_PAGE = """SELECT p.id, a.exit_code, a.http_status, a.response_ms, a.bytes, COALESCE(r.response_headers, ''), d.kind,
    COALESCE(d.nofollow, 0), x.source, t.href
FROM url u JOIN page p ON p.url_id = u.id JOIN attempt a ON a.id = (SELECT MAX(c.id) FROM attempt c
        WHERE c.url_id = u.id AND c.page_id = p.id AND c.response_ms IS NOT NULL AND c.exit_code > 0)
    LEFT JOIN request r ON r.id = (SELECT MAX(q.id) FROM request q WHERE q.attempt_id = a.id)
    LEFT JOIN document d ON d.page_id = p.id
    LEFT JOIN redirect x ON x.page_id = p.id LEFT JOIN url t ON t.id = x.to_url_id
WHERE u.hash = ? ORDER BY a.id DESC, x.source LIMIT 1"""
_LINKS = """SELECT l.kind, u.href, l.nofollow FROM link l JOIN url u ON u.id = l.to_url_id
WHERE l.from_page_id = ? ORDER BY l.kind, l.to_url_id"""
_ORIGIN = "SELECT robots_status, last_response_ms FROM origin WHERE origin = ?"
_USUAL_MS = 500  # of an origin that has not answered yet
_REDIRECTS = frozenset({ExitCode.permanent_redirect, ExitCode.redirect})
_READ = frozenset({ExitCode.file_ingested, ExitCode.file_of_unknown_type, ExitCode.file_did_not_change})
_ANSWERED = _READ | _REDIRECTS | {ExitCode.not_canonical, ExitCode.noindex}
_ROBOTS = {
    RobotsStatus.parsed.value: (ExitCode.file_ingested, 200),
    RobotsStatus.unreachable.value: (ExitCode.server_internal_error, 503),
}


@dataclass(slots=True)
class StoredWeb:
    """`not_stored` counts by origin the pages asked for of which no answer, or not what it held, is kept. They are
    taken to answer in the origin's usual time, without links. How the others are read: `_canonicals` that are obeyed,
    the wait (ms) that headers ask for at a time (epoch ms), and what reads a sitemap."""

    _reports: Reports
    _reader: Reader
    _now: Callable[[], Moment]
    _canonicals: CanonicalRule
    _wait_of: Callable[[Headers, int], int | None]
    _read_sitemap: Callable[[CrawlUrl, Exchange], Awaitable[Reading]]
    _readings: dict[str, Reading] = field(default_factory=dict)
    not_stored: Counter[str] = field(default_factory=Counter)

    async def exchange(self, request: FetchRequest) -> Exchange:
        """The stored answer, after as long as it took."""
        url, sent = request.url, self._now()
        answer = self._robots(url) if url.href == f"{url.origin}/robots.txt" else self._page(url)
        await asyncio.sleep(answer.response_ms / 1000)
        now = self._now()
        times = (sent.wall_ms, now.wall_ms, now.wall_ms)
        record = Request(url.href, request.method, *times, answer.http_status, response_headers=answer.headers)
        wait = self._wait_of(answer.headers, now.wall_ms)
        return replace(answer, requests=(record,), retry_after_ms=wait)

    async def read(self, url: CrawlUrl, exchange: Exchange, *, sitemap: bool = False) -> Reading:
        """What the stored page names."""
        body = self._reports.body(url.href) if sitemap else None
        if body is not None:
            return await self._read_sitemap(url, replace(exchange, body=body))
        found = self._readings[url.href]
        if found.canonical is None:  # else it may be read again
            del self._readings[url.href]
        return found

    async def address(self, host: str) -> str | None:
        """Names are not looked up: each is its own address."""
        return host

    async def forget(self, origin: str) -> None:
        """Nothing is kept of an origin."""

    def _robots(self, url: CrawlUrl) -> Exchange:
        status, taken = self._reader.one(_ORIGIN, (url.origin,)) or ("", _USUAL_MS)
        code, http_status = _ROBOTS.get(status, (ExitCode.file_not_found, 404))
        return Exchange((), code, http_status, taken, body=self._reports.robots_text(url.origin) or b"")

    def _page(self, url: CrawlUrl) -> Exchange:
        row = self._reader.one(_PAGE, (url.hash,))
        if row is None:
            self.not_stored[url.origin] += 1
            self._readings[url.href] = Reading(OTHER, ExitCode.file_of_unknown_type)
            _, taken = self._reader.one(_ORIGIN, (url.origin,)) or ("", 0)
            return Exchange((), ExitCode.file_of_unknown_type, 200, taken or _USUAL_MS)
        page_id, number, status, taken, size, headers, *told = row
        code, to_url = ExitCode(number), normalise(told[-1]) if told[-1] else None
        target = to_url if isinstance(to_url, CrawlUrl) else None
        answer = Exchange((), code, status, taken, headers_of(headers), wire_bytes=size)
        if code not in _ANSWERED:
            return answer
        if status is not None and 300 <= status < 400 and code in _REDIRECTS:
            return replace(answer, location=target)
        self._readings[url.href] = self._reading(url, code, target, page_id, *told[:-1])
        return replace(answer, exit_code=ExitCode.file_ingested, http_status=200)

    def _reading(self, url: CrawlUrl, code: ExitCode, target: CrawlUrl | None, *stored: Any) -> Reading:
        page_id, kind, nofollow, source = stored
        rule = self._canonicals
        if code is ExitCode.not_canonical and target is not None and kind is None:
            obeyed = rule == "obey" or (rule == "same_origin" and target.origin == url.origin)
            self.not_stored[url.origin] += not obeyed  # its links were not kept
            return Reading("html", ExitCode.file_ingested, canonical=target)
        if code in _REDIRECTS:
            return Reading("html", ExitCode.file_ingested, refresh=target, refresh_source=RedirectSource(source))
        named = ((LinkKind(one), normalise(href), bool(no)) for one, href, no in self._reader.all(_LINKS, (page_id,)))
        links = (FoundLink(one, to, "", no) for one, to, no in named if isinstance(to, CrawlUrl))
        read = ExitCode.file_of_unknown_type if kind in {None, OTHER} and code is not ExitCode.noindex else None
        return Reading(
            kind or "html",
            read or ExitCode.file_ingested,
            canonical=target,
            noindex=code is ExitCode.noindex,
            nofollow=bool(nofollow),
            links=tuple(links),
        )
