"""The settle step: from what came back to everything one attempt changes, as one value. Pure."""

import dataclasses
import zlib
from base64 import b64encode
from itertools import chain

from tui_crawler.domain.crawl.intake import Find, Intake, Queue, admit, linked, listed
from tui_crawler.domain.crawl.origin import Check, OriginState, record_of
from tui_crawler.domain.crawl.recrawl import fresh_until, validator_of
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.attempt import (
    CRAWL_DELAY,
    ERROR_BODY,
    AttemptRecord,
    AttemptResult,
    DocumentRecord,
    Exchange,
    FoundLink,
    PageOutcome,
    Reading,
    RedirectRecord,
    RedirectSource,
    RefusedCount,
    Settle,
    first_values,
)
from tui_crawler.domain.records.content_kind import CanonicalRule, LinkKind
from tui_crawler.domain.records.exit_code import (
    DISPOSITIONS,
    AttemptKind,
    ExitCode,
    attempts_left,
    retries_in_run,
    unlinks,
)
from tui_crawler.domain.records.page import EMBEDDED, TodoPage
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.verdict import Denied, Refusal
from tui_crawler.domain.url import CrawlUrl

_READ = frozenset({ExitCode.file_ingested, ExitCode.file_of_unknown_type})
_WITH_LINKS = _READ | {ExitCode.noindex}


@dataclass(frozen=True, slots=True)
class Crawled:
    """One crawl of a page, over: `reading` is None when there was nothing to read. `ruleset_id` is the one it began
    with (B); `canonicals` are those that are obeyed. `again`: where it redirects to, from where it came, is asked
    again, with other cookies; None: it did not come from there.
    """

    page: TodoPage
    url: CrawlUrl
    exchange: Exchange
    reading: Reading | None
    sha256: str
    started: Moment
    ended: Moment
    ruleset_id: int = 0
    canonicals: CanonicalRule = "obey"
    waived: str = ""  # the line of robots.txt that denies the page and is not obeyed (crawl.obey_robots)
    obeys_nofollow: bool = True
    again: bool | None = None

    @property
    def nofollow(self) -> bool:
        """Return whether the page asks that none of its links is followed, and that is obeyed."""
        return self.obeys_nofollow and self.reading is not None and self.reading.nofollow

    @property
    def links(self) -> tuple[FoundLink, ...]:
        """The links of the page. All are nofollow where the page is, and none where nofollow is not obeyed."""
        links, as_written = self.reading.links if self.reading else (), self.obeys_nofollow and not self.nofollow
        return links if as_written else tuple(link._replace(nofollow=self.nofollow) for link in links)

    @property
    def canonical(self) -> CrawlUrl | None:
        """The other URL that the page names as canonical, where it is obeyed (docs/behaviour.md)."""
        return None if self.ignored else self._named()

    @property
    def ignored(self) -> CrawlUrl | None:
        """The canonical URL that would be obeyed, did it not lead nowhere."""
        named = self._named()
        return named if named is not None and named.href == self.page.ignores else None

    def _named(self) -> CrawlUrl | None:
        named = self.reading.canonical if self.reading is not None else None
        if named is None or named.href == self.url.href or self.canonicals == "ignore":
            return None
        return named if self.canonicals == "obey" or named.origin == self.url.origin else None


def final_code(crawled: Crawled) -> ExitCode:
    """The exit code of a crawl: the body's own word replaces a 2xx code (docs/behaviour.md)."""
    code, reading = crawled.exchange.exit_code, crawled.reading
    if code not in _READ or reading is None:
        return code
    if reading.exit_code is ExitCode.local_processing_error:
        return reading.exit_code
    if reading.refresh is not None and reading.refresh.href != crawled.url.href:
        return ExitCode.redirect
    if crawled.canonical is not None:
        return ExitCode.not_canonical
    if reading.noindex and crawled.obeys_nofollow:
        return ExitCode.noindex
    return reading.exit_code


def redirect_of(crawled: Crawled, code: ExitCode) -> tuple[CrawlUrl, RedirectRecord] | None:
    """Return where the page sends its reader, by Location, refresh or canonical; None when it sends nowhere."""
    reading = crawled.reading
    target: CrawlUrl | None = None
    source = RedirectSource.location
    if code in {ExitCode.permanent_redirect, ExitCode.redirect}:
        target = crawled.exchange.location
        if crawled.exchange.exit_code in _READ and reading is not None:
            target, source = reading.refresh, reading.refresh_source or RedirectSource.meta_refresh
    elif code is ExitCode.not_canonical:
        target, source = crawled.canonical, RedirectSource.canonical
    if target is None:
        return None
    permanent = code is ExitCode.permanent_redirect or source is RedirectSource.canonical
    return target, RedirectRecord(target.href, target.fragment, permanent, source)


def queue_of(crawled: Crawled, code: ExitCode, intake: Intake) -> Queue:
    """Return which URLs become pages, after all filters (first refusal wins, each is counted)."""
    page, reading = crawled.page, crawled.reading
    if not intake.queues:  # what is found is scanned later; what is no URL is not stored
        return Queue(refused=reading.refused if reading else ())
    sent = redirect_of(crawled, code)
    if sent is not None:
        if crawled.again is False:
            return Queue((), (RefusedCount(Refusal.redirect_loop, 1, sent[0].href),))
        leads, joins = sent[1].source is not RedirectSource.canonical, None
        if leads and page.begins and intake.follows(crawled.url, sent[0]):
            joins = intake.admission.start_path(crawled.url.origin)
        hops, again = page.redirect_hops + 1, bool(crawled.again)
        find = Find(sent[0], page.depth, hops, page.sitemap, leads=leads, joins=joins, again=again)
        find = find._replace(embedded=page.external == EMBEDDED)
        return admit([find], page, intake)
    if reading is None or code not in {ExitCode.file_ingested, ExitCode.noindex}:
        return Queue()
    if crawled.nofollow:  # the sample is the page: it is the cause, and its links are stored with it
        count = sum(kind in intake.link_kinds_queued for kind, *_ in reading.links)
        return Queue((), (RefusedCount(Refusal.nofollow, count, crawled.url.href),) if count else ())
    found = listed(reading, page) if page.sitemap else linked(crawled.links, page, intake)
    if intake.finds_sitemaps and reading.sitemaps:
        found = chain((Find(url, page.depth, sitemap=True) for url in reading.sitemaps), found)
    queue = admit(found, page, intake)
    return Queue(queue.pages, (*queue.refused, *reading.refused))


def settle_crawl(
    crawled: Crawled,
    code: ExitCode,
    before: OriginState,
    after: OriginState,
    intake: Intake,
    storing: frozenset[str],
    queue: Queue,
) -> Settle:
    """Everything the crawl of a page changes. `before` and `after` are the origin's states around it; `queue` is what
    `queue_of` has answered."""
    sent, ignored = redirect_of(crawled, code), crawled.ignored
    redirect = sent[1] if sent else None
    if redirect is None and ignored is not None:
        redirect = RedirectRecord(ignored.href, ignored.fragment, True, RedirectSource.canonical)
    kept = code in _READ and crawled.reading is not None
    claims = code is ExitCode.not_canonical
    found = queue_of(crawled, code, dataclasses.replace(intake, queues=True)) if claims else queue
    claims &= all(one.reason != Refusal.scope for one in found.refused)  # else it is no URL of the crawl
    dropped = code in {ExitCode.not_canonical, ExitCode.noindex, ExitCode.redirect, ExitCode.permanent_redirect}
    reading = crawled.reading
    links = crawled.links if code in _WITH_LINKS else () if DISPOSITIONS[code].contentful else None
    named = reading.fragments if reading else ()
    return Settle(
        attempt=_attempt_of(crawled, code, before, after),
        origin=record_of(after),
        page=replace(page_outcome(crawled, code), unscanned=dropped and not intake.queues),
        document=_document_of(crawled, storing, intake.queues) if kept else None,
        drop_document=dropped,
        links=links,
        fragments=None if links is None or named is None else named if links else (),
        anchors=reading.anchors if reading else None,
        new_pages=queue.pages,
        redirect=redirect,
        refused=queue.refused,
        claim=crawled.exchange if claims else None,
        ignores=ignored is not None,
    )


def page_outcome(crawled: Crawled, code: ExitCode) -> PageOutcome:
    """Return how the crawl leaves its page; a cancelled one gives the try back and stays where it was."""
    page, status = crawled.page, crawled.exchange.http_status
    cancelled = code is ExitCode.cancelled
    doubted, left = crawled.exchange.doubted, attempts_left(code, status, page.attempts_remaining)
    left = asked_by_get(page).attempts_remaining if doubted else left
    asked_again = doubted
    if crawled.again:  # is it itself where it redirects to?
        sent = redirect_of(crawled, code)
        asked_again = sent is not None and sent[0].href == crawled.url.href
        left = max(1, page.attempts_remaining - 1) if asked_again else left
    return PageOutcome(
        page_id=page.page_id,
        status=PageStatus.READY,
        attempts=page.attempts + (0 if cancelled else 1),
        attempts_remaining=left,
        exit_code=code,
        http_status=status,
        crawled_at=crawled.ended.wall_ms,
        contentful=DISPOSITIONS[code].contentful,
        forget_ignored=not cancelled and left > 0 and (asked_again or retries_in_run(code, status)),
        stays=doubted,
        fresh_until=fresh_until(crawled.exchange.headers, crawled.ended.wall_ms),
        depth=page.depth,
        unlinks=unlinks(code, status),
        sitemap=page.sitemap,
    )


def asked_by_get(page: TodoPage) -> TodoPage:
    """A checked page after its HEAD request failed: GET decides, also where it has one try."""
    return replace(page, attempts=page.attempts + 1, attempts_remaining=max(1, page.attempts_remaining - 1))


def settle_refusal(page: TodoPage, no: Denied, state: OriginState, now: Moment, ruleset_id: int = 0) -> Settle:
    """A refusal: an attempt without a request (U). A skipped page keeps its tries and becomes SKIPPED (B)."""
    code = no.exit_code
    skipped = code is ExitCode.skipped_by_rule
    nothing = Exchange((), code, None, 0, message=no.detail)
    attempt = _logged(_kind_of(page), page.url, code, nothing, (state, state), now.wall_ms, now.wall_ms)
    return Settle(
        attempt=replace(attempt, page_id=page.page_id, ruleset_id=ruleset_id, decided_by=no.source),
        origin=record_of(state),
        page=PageOutcome(
            page_id=page.page_id,
            status=PageStatus.SKIPPED if skipped else PageStatus.READY,
            attempts=page.attempts,
            attempts_remaining=attempts_left(code, None, page.attempts_remaining),
            exit_code=code,
            http_status=None,
            crawled_at=now.wall_ms,
            contentful=False,
            unlinks=unlinks(code, None),
            sitemap=page.sitemap,
        ),
    )


def settle_robots(
    url: str,
    code: ExitCode,
    exchange: Exchange,
    before: OriginState,
    after: OriginState,
    started_at: int,
    now: Moment,
    sitemaps: Queue,
) -> Settle:
    """The attempt for robots.txt, whose hops are all requests of it; `exchange` is the last one. Of its text only the
    newest is kept: the Crawl-delay that it asked for is a result of the attempt."""
    attempt = _logged(AttemptKind.robots, url, code, exchange, (before, after), started_at, now.wall_ms)
    if code is ExitCode.file_ingested and after.pace.crawl_delay_ms is not None:
        attempt = replace(attempt, results=(AttemptResult(CRAWL_DELAY, str(after.pace.crawl_delay_ms)),))
    return Settle(
        attempt=attempt,
        origin=record_of(after),
        save_robots=code is not ExitCode.cancelled,
        new_pages=sitemaps.pages,
        refused=sitemaps.refused,
    )


def settle_check(
    check: Check, exchange: Exchange, before: OriginState, after: OriginState, started: Moment, now: Moment
) -> Settle:
    """The attempt for a probe (HEAD): it changes no page. `exchange` without requests is a refusal."""
    code, url, times = exchange.exit_code, check.url.href, (started.wall_ms, now.wall_ms)
    attempt = _logged(AttemptKind.check, url, code, exchange, (before, after), *times)
    return Settle(attempt=attempt, origin=record_of(after))


def _logged(
    kind: AttemptKind,
    url: str,
    code: ExitCode,
    exchange: Exchange,
    states: tuple[OriginState, OriginState],
    started_at: int,
    ended_at: int,
) -> AttemptRecord:
    """Return the entry of the crawl log, with the origin `states` before and after; an exchange without requests:
    nothing was asked. Times are epoch ms."""
    before, after = states
    return AttemptRecord(
        origin=after.origin,
        url=url,
        kind=kind,
        exit_code=code,
        started_at=started_at,
        ended_at=ended_at,
        http_status=exchange.http_status,
        response_ms=exchange.response_ms if exchange.requests else None,
        bytes=exchange.wire_bytes,
        requests=exchange.requests,
        patience_before=before.patience,
        patience_after=after.patience,
        politeness_after=after.pace.politeness,
        delay_ms_after=after.delay_ms,
        delay_reason=after.delay_reason.value,
        message="; ".join(filter(None, (exchange.message, *exchange.notes))),
        cut=exchange.cut,
    )


def _kind_of(page: TodoPage) -> AttemptKind:
    if page.is_check:
        return AttemptKind.check
    return AttemptKind.sitemap if page.sitemap else AttemptKind.page


def _results_of(crawled: Crawled, code: ExitCode) -> tuple[AttemptResult, ...]:
    """Return what an attempt found out, typed (B): the numbers of outlinks and of requisites, not their texts."""
    exchange, reading = crawled.exchange, crawled.reading
    if exchange.http_status is None:
        return ()
    results = [AttemptResult("status_code", str(exchange.http_status))]
    sent = redirect_of(crawled, code)
    results.append(AttemptResult("final_url", sent[0].href if sent else crawled.url.href))
    if reading is not None and code in _WITH_LINKS:
        kinds = [link[0] for link in reading.links if link[0] is not LinkKind.other]
        anchors = kinds.count(LinkKind.a)
        results.append(AttemptResult("outlinks", str(anchors + len(reading.entries))))
        results.append(AttemptResult("requisites", str(len(kinds) - anchors)))
    if exchange.exit_code not in _READ and exchange.body:
        results.append(AttemptResult(ERROR_BODY, b64encode(zlib.compress(exchange.body)).decode("ascii")))
    return tuple(results)


def _attempt_of(crawled: Crawled, code: ExitCode, before: OriginState, after: OriginState) -> AttemptRecord:
    exchange, reading = crawled.exchange, crawled.reading
    times = crawled.started.wall_ms, crawled.ended.wall_ms
    said = exchange.message or (reading.message if reading else "") or _said(crawled, code)
    return replace(
        _logged(_kind_of(crawled.page), crawled.page.url, code, exchange, (before, after), *times),
        page_id=crawled.page.page_id,
        message="; ".join(filter(None, (said, *exchange.notes))),
        cut=exchange.cut + (reading.incomplete if reading else ()),
        ruleset_id=crawled.ruleset_id,
        results=_results_of(crawled, code),
    )


def _said(crawled: Crawled, code: ExitCode) -> str:
    """A message where the exit code alone would leave a question: where it leads, and which rules were not obeyed."""
    sent, reading = redirect_of(crawled, code), crawled.reading
    if crawled.exchange.doubted:
        return "HEAD failed: GET decides"
    if sent is None and crawled.ignored:
        how = "decided by" if crawled.page.kept else "ignored:"
        return f"{how} the canonical that leads nowhere: {crawled.page.ignores}"
    if sent is None:
        said = (("noindex", reading.noindex), ("nofollow", reading.nofollow)) if reading else ()
        words = " and ".join(word for word, is_said in said if is_said) if not crawled.obeys_nofollow else ""
        not_obeyed = [f'robots.txt ("{crawled.waived}", crawl.obey_robots)'] if crawled.waived else []
        not_obeyed += [f"{words} (crawl.obey_nofollow)"] if words else []
        return f"own site, not obeyed: {', '.join(not_obeyed)}" if not_obeyed else ""
    word = "canonical" if sent[1].source is RedirectSource.canonical else "redirects to"
    cookie = ", and sets a cookie" if crawled.exchange.header("Set-Cookie") else ""
    return f"{word} {sent[0].href}{cookie}"


def _document_of(crawled: Crawled, storing: frozenset[str], scanned: bool) -> DocumentRecord:
    exchange, reading = crawled.exchange, crawled.reading
    if reading is None:
        raise ValueError("a document needs a reading")
    fields = first_values(exchange.headers)
    return DocumentRecord(
        page_id=crawled.page.page_id,
        kind=reading.kind,
        content_type=reading.content_type,
        charset=reading.charset,
        title=reading.title,
        sha256=crawled.sha256,
        size=len(exchange.body) if exchange.left_size is None else exchange.left_size,
        etag=validator_of(fields.get("etag", "")),
        last_modified=validator_of(fields.get("last-modified", "")),
        cache_control=fields.get("cache-control", ""),
        expires=fields.get("expires", ""),
        age=fields.get("age", ""),
        content_location=fields.get("content-location", ""),
        canonical=reading.canonical.href if reading.canonical else "",
        noindex=reading.noindex,
        nofollow=reading.nofollow,
        incomplete=reading.incomplete,
        body=exchange.body if reading.kind in storing else None,
        waits=reading.waits and reading.kind in storing,
        validation=reading.validation,
        data=reading.data,
        scanned=scanned,
    )
