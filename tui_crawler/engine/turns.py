"""One turn of an origin crawler: what the turn machine asks for, performed through the ports and folded back."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from tui_crawler.domain.crawl import outcome
from tui_crawler.domain.crawl import turn as machine
from tui_crawler.domain.crawl.intake import Find, Queue, admit, is_sitemap, may_be_sitemap, sitemaps_of
from tui_crawler.domain.crawl.origin import Check, OriginState, RobotsHop, record_of
from tui_crawler.domain.crawl.recrawl import condition_of
from tui_crawler.domain.crawl.run import Settled
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, FillRecord, RequestRecord, Settle
from tui_crawler.domain.records.content_kind import OTHER
from tui_crawler.domain.records.exit_code import FAILURES, ExitCode
from tui_crawler.domain.records.page import EMBEDDED, EXTERNAL, TodoPage
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.robots import RobotsRules, parse_robots
from tui_crawler.domain.rules.verdict import Cleared, Denied
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, CrawlUrl, InvalidUrl, normalise
from tui_crawler.engine import events
from tui_crawler.engine.cookies import Chain, ChainCookies
from tui_crawler.engine.origin_table import Counts, OriginTable
from tui_crawler.engine.ports import Clock, Fetcher, Listener, Store

_REDIRECTS = frozenset({ExitCode.permanent_redirect, ExitCode.redirect})
_DOWN = frozenset({ExitCode.connection_failed, ExitCode.request_timeout})
_READ = frozenset({ExitCode.file_ingested, ExitCode.file_of_unknown_type})
_NO_BROWSER = "a rule wants custom_js here, which no version can run yet: the browser extra does not exist"
MAIN_JOB = 0  # stands for the job of the run, whose filters speak where no page does
_NO_ACTION = 0  # no operator asked for this check
_SITEMAP = "/sitemap.xml"
_LOOKED_FOR = "looked for, as nothing names a sitemap (crawl.sitemaps: auto)"
_LARGE_ROBOTS = 32_768  # bytes; parsing more is done off the event loop
_LONG_READING = 2_000  # URLs; judging more is, too


@dataclass(slots=True)
class TurnRunner:
    """Performs turns. The state of an origin is read again after every wait: commands may have changed it."""

    _table: OriginTable
    _store: Store
    _fetcher: Fetcher
    _clock: Clock
    _listener: Listener
    _cookies: ChainCookies
    _join: Callable[[str, bool, str], Awaitable[None]]  # an origin joins (or, external, for checks), its start path
    _awaken: Callable[[Iterable[str]], Awaitable[None]]  # origins have something to do again
    _is_elsewhere: Callable[[str], Awaitable[bool]]  # whether another worker holds an origin
    _under_way: set[asyncio.Timeout] = field(default_factory=set)
    cancelling: bool = False
    _looked_for: dict[str, Exchange | None] = field(default_factory=dict)  # sitemaps by URL, until they are read
    counts: dict[str, Counts] = field(default_factory=dict)

    def cancel_requests(self) -> None:
        """End the requests under way and all later ones: their attempts are recorded as cancelled (-2)."""
        self.cancelling = True
        for request in self._under_way:
            if not request.expired():
                request.reschedule(0)

    async def fill(self, origin: str) -> None:
        """A fill: candidates go on the ignore list, each is judged, what passes becomes the todo list."""
        table, now = self._table, self._clock.now()
        settings = table.settings
        first = not table.states[origin].filled
        found = await self._store.candidates(origin, now.wall_ms, settings.fill_limit, first)
        now, state = self._clock.now(), table.states[origin]
        todo = list(state.todo)  # empty, unless seeds were added while the candidates were read
        if found.exhausted and not todo and not found.has_sitemap and self._looks_for_sitemap(origin):
            return
        listed = {page.page_id for page in todo}
        denied: list[tuple[TodoPage, Denied]] = []
        for page in found.pages:
            checks = {EXTERNAL: settings.check_external, EMBEDDED: settings.check_embedded}
            wanted = settings.sitemaps or page.seed if page.sitemap else checks.get(page.external, True)
            if page.page_id in listed or not wanted or (state.external and not page.external):
                continue
            verdict = self._judge(origin, page, _url_of(page.url))
            if isinstance(verdict, Denied):
                denied.append((page, verdict))
            else:
                todo.append(page)
        state = table.update(
            machine.after_fill(state, tuple(todo), len(found.pages), found.next_due_at, now, found.held)
        )
        version = table.job_filters.ruleset_id
        refusals = tuple(outcome.settle_refusal(page, no, state, now, version(page.job_id)) for page, no in denied)
        ignored = tuple(page.page_id for page in found.pages)
        settled = await self._store.fill(
            FillRecord(record_of(state), ignored, tuple(p.page_id for p in todo), refusals)
        )
        if found.pages:
            self._listener.on_event(events.todo_filled(now.wall_ms, state, len(refusals)))
        for refusal in refusals:
            self._tell_attempt(state, refusal, settled)

    def _looks_for_sitemap(self, origin: str) -> bool:
        """Put /sitemap.xml on the checks of an origin for which nothing names a sitemap, once a run; return whether."""
        table, url = self._table, robots_url(origin, _SITEMAP)
        state, intake = table.states[origin], table.intake(MAIN_JOB)
        named = bool(state.robots.rules and state.robots.rules.sitemaps) or url.href in self._looked_for
        is_read = origin in self.counts and self.counts[origin].done > 0  # else nothing is asked for it
        if named or not is_read or state.external or not (intake.finds_sitemaps and intake.queues):
            return False
        self._looked_for[url.href] = None
        if isinstance(self._judge(origin, TodoPage(0, MAIN_JOB, url.href), url), Denied):
            return False
        table.update(replace(state, checks=(*state.checks, Check(_NO_ACTION, url))))
        return True

    def is_excluded(self, origin: str) -> bool:
        found = self._table.job_filters.main.excludes(robots_url(origin))
        return found is not None and found.kind != "pattern"

    async def refuse_all(self, origin: str) -> None:
        """An excluded origin: what it has to crawl is logged as refused (202), nothing is asked, its run is over. What
        stands on its todo list, as after a run that was broken off, is refused first."""
        for page in self._table.states[origin].todo:
            verdict = self._judge(origin, page, _url_of(page.url))
            no = verdict if isinstance(verdict, Denied) else Denied(ExitCode.blocked_by_exclusion_list, "excluded")
            await self._refuse(origin, page, no)
        state = self._table.states[origin]
        while state.finished is None and not state.asleep_until:
            await self.fill(origin)
            state = self._table.states[origin]
        self._table.update(replace(state, finished=FinishReason.excluded))

    async def robots(self, origin: str, turn: machine.FetchRobots) -> bool:
        """Ask for robots.txt, or follows the hop it led to; return whether it counts as a request of the run."""
        table, started = self._table, self._clock.now()
        settings = table.settings.settings_of(origin)
        hop = turn.hop
        url = hop.url if hop else robots_url(origin)
        chain = self._cookies.take(url)
        excluded = table.job_filters.main.excludes(url)
        if excluded is not None:
            message = f"excluded: {excluded.kind} {excluded.value} ({excluded.reason})"
            exchange = Exchange((), ExitCode.blocked_by_exclusion_list, None, 0, message=message)
        else:
            limit, agent = table.settings.robots_max_bytes, table.settings.plan.user_agent
            request = FetchRequest(
                url, agent, max_body_bytes=limit, truncate=True, as_text=True, cookies=chain.cookies(url)
            )
            exchange = await self._exchange(request)
        made = bool(exchange.requests)

        exchange = replace(exchange, requests=(hop.requests if hop else ()) + exchange.requests)
        began = hop.started_at if hop else started.wall_ms
        hops, onward = hop.hops if hop else 0, None
        if exchange.exit_code in _REDIRECTS and exchange.location and hops < settings.robots_max_hops:  # RFC 9309
            onward = RobotsHop(exchange.location, hops + 1, began, exchange.requests)
        if onward is not None and await self._is_elsewhere(onward.url.origin):
            message = f"leads to {onward.url.origin}, which another worker crawls"
            onward, exchange = None, replace(exchange, exit_code=ExitCode.someone_stole_my_work, message=message)
        self._cookies.follow(chain, url, exchange.headers, onward.url if onward else None)
        rules = await self._parse(exchange.body) if exchange.exit_code in _READ else None
        code = ExitCode.file_ingested if rules is not None else exchange.exit_code
        now, before = self._clock.now(), table.states[origin]
        answer = machine.RobotsAnswer(
            code,
            exchange.http_status,
            exchange.response_ms if made else None,
            rules,
            exchange.body if rules is not None else b"",
            onward,
            exchange.retry_after_ms,
            exchange.untrusted,
        )
        after = table.update(machine.after_robots(before, answer, now, settings))
        if made and url.origin != origin:
            await self._touch(url.origin, after.delay_ms)
            after = table.states[origin]  # as after a pause meanwhile
        if onward is not None:
            await self._store.save_origins([record_of(after)])
            return hop is None
        asked = robots_url(origin)
        wanted = table.settings.sitemaps and not after.external
        named = sitemaps_of(rules, asked, table.intake(MAIN_JOB)) if rules and wanted else Queue()
        settle = outcome.settle_robots(asked.href, code, exchange, before, after, began, now, named)
        await self._store_finds(origin, settle)
        self._listener.on_event(events.robots_fetched(now.wall_ms, after, settle.attempt))
        return made and hop is None

    async def check(self, origin: str, check: Check) -> Exchange:
        """Probe a URL, after robots.txt and all policies; changes no page (U). The result of a HEAD request that failed
        is not the last one. A sitemap that is looked for becomes a page that is read from this answer."""
        table, started = self._table, self._clock.now()
        page = TodoPage(0, MAIN_JOB, check.url.href)
        verdict = self._judge(origin, page, check.url)
        if isinstance(verdict, Denied):
            exchange = Exchange((), verdict.exit_code, None, 0, message=verdict.message)
        else:
            agent = verdict.user_agent or table.settings.plan.user_agent
            is_probe = check.action_id != _NO_ACTION
            method = machine.check_method(table.states[origin], 0, check.method) if is_probe else "GET"
            exchange = await self._exchange(FetchRequest(check.url, agent, method, status_only=is_probe))
        now, before = self._clock.now(), table.states[origin]
        answer = _answer_of(page, exchange.exit_code, exchange)
        after = table.update(machine.after_check(before, check, answer, now, table.settings.settings_of(origin)))
        settle = outcome.settle_check(check, exchange, before, after, started, now)
        if check.action_id == _NO_ACTION:
            found = [Find(exchange.location, 0, 1)] if exchange.location is not None else []
            if exchange.exit_code in _READ and is_sitemap(exchange.body, is_seed=False):
                found = [Find(check.url, 0, sitemap=True)]
                self._looked_for[check.url.href] = replace(exchange, requests=(), wire_bytes=0)
            attempt = replace(settle.attempt, message=exchange.message or _LOOKED_FOR)
            settle = replace(settle, attempt=attempt, new_pages=admit(found, page, table.intake(MAIN_JOB)).pages)
        self._tell_attempt(after, settle, await self._store_finds(origin, settle))
        return exchange

    async def crawl(self, origin: str, page: TodoPage) -> bool:
        """Crawl a page of the todo list; return whether a request was made."""
        table, started = self._table, self._clock.now()
        url = _url_of(page.url)
        verdict = self._judge(origin, page, url)
        ruleset_id = table.job_filters.ruleset_id(page.job_id)
        if isinstance(verdict, Cleared) and verdict.custom_js is not None:
            verdict = Denied(ExitCode.local_processing_error, _NO_BROWSER)
        if isinstance(url, InvalidUrl) or isinstance(verdict, Denied):
            no = verdict if isinstance(verdict, Denied) else Denied(ExitCode.invalid_url, "cannot be requested")
            await self._refuse(origin, page, no)
            return False
        self._store.mark_in_flight(page.page_id, origin, page.url)
        plan, finds = table.settings.plan, table.settings.finds_sitemaps
        maybe = finds and may_be_sitemap(page)
        etag, since = condition_of(page, plan.force_recrawl and not plan.recheck)
        agent = verdict.user_agent or plan.user_agent
        request = FetchRequest(
            url,
            agent,
            conditional_etag=etag,
            conditional_since=since,
            any_kind=page.sitemap or OTHER in table.settings.store_bodies or maybe,
        )
        if page.is_check:
            request = FetchRequest(
                url, agent, machine.check_method(table.states[origin], page.attempts), status_only=True
            )
        chain = self._cookies.take(url)
        if cookies := chain.cookies(url):
            request = replace(request, cookies=cookies)
        kept = self._looked_for.pop(url.href, None)
        kept = await self._store.kept_answer(page.page_id) if page.kept else kept
        exchange = kept or await self._exchange(request)
        ended = self._clock.now()
        reading = None
        if exchange.exit_code in _READ and not page.is_check:
            page = replace(page, sitemap=page.sitemap or (finds and is_sitemap(exchange.body, page.seed)))
            reading = await self._fetcher.read(url, exchange, sitemap=page.sitemap)
        was_read = reading is not None and exchange.left_size is None
        obeys = table.settings.settings_of(origin).obey_nofollow
        digest = hashlib.sha256(exchange.body).hexdigest() if was_read else ""
        rules = (ruleset_id, table.settings.canonical, verdict.waived, obeys)
        crawled = outcome.Crawled(page, url, exchange, reading, digest, started, ended, *rules)
        await self._settle(origin, crawled, chain)
        return bool(exchange.requests)

    async def break_off(self, origin: str, hop: RobotsHop) -> None:
        """Log the requests of a robots.txt that was still led on when the run ends, as cancelled: each request is in
        the log."""
        table, now = self._table, self._clock.now()
        before = table.states[origin]
        after, asked = table.update(replace(before, hop=None)), robots_url(origin)
        exchange = Exchange(hop.requests, ExitCode.cancelled, None, 0, message="the run ended before the next hop")
        settle = outcome.settle_robots(
            asked.href, ExitCode.cancelled, exchange, before, after, hop.started_at, now, Queue()
        )
        await self._store.settle(settle)
        self._listener.on_event(events.robots_fetched(now.wall_ms, after, settle.attempt))

    async def give_up(self, origin: str, page: TodoPage | None, error: Exception) -> None:
        """A turn raised: that is a bug of ours or of a parser. The origin ends with exit code 230, the run goes on."""
        now, before = self._clock.now(), self._table.states[origin]
        todo = tuple(one for one in before.todo if page is None or one.page_id != page.page_id)
        after = machine.finish(replace(before, patience=0, todo=todo), FinishReason.patience)
        self._table.update(after)
        message = f"{type(error).__name__}: {error}"[:500]
        if page is None:
            await self._store.save_origins([record_of(after)])
            return
        settle = outcome.settle_refusal(page, Denied(ExitCode.local_processing_error, message), after, now)
        self._tell_attempt(after, settle, await self._store.settle(settle))

    async def _settle(self, origin: str, crawled: outcome.Crawled, chain: Chain) -> None:
        table = self._table
        settings = table.settings.settings_of(origin)
        code, exchange = outcome.final_code(crawled), crawled.exchange
        sent = None if code is ExitCode.not_canonical else outcome.redirect_of(crawled, code)
        again = self._cookies.follow(chain, crawled.url, exchange.headers, sent[0] if sent else None)
        crawled = crawled if again is None else replace(crawled, again=again)
        answer = _answer_of(crawled.page, code, exchange)
        intake = table.intake(crawled.page.job_id)
        if crawled.reading is not None and crawled.reading.sitemaps:
            self._looked_for.setdefault(f"{origin}{_SITEMAP}", None)
        reading, judged = crawled.reading, (crawled, code, intake)
        is_long = reading is not None and len(reading.links) + len(reading.entries) > _LONG_READING
        queue = await asyncio.to_thread(outcome.queue_of, *judged) if is_long else outcome.queue_of(*judged)
        before = table.states[origin]
        after = table.update(machine.after_crawl(before, answer, crawled.ended, settings))
        settle = outcome.settle_crawl(crawled, code, before, after, intake, table.settings.store_bodies, queue)
        settled = await self._store_finds(origin, settle)
        if settled.stolen:
            settle = replace(settle, attempt=replace(settle.attempt, exit_code=ExitCode.someone_stole_my_work))
        self._tell_attempt(table.states[origin], settle, settled)

    async def _store_finds(self, origin: str, settle: Settle) -> Settled:
        """Store an attempt. Origins that the whitelist lets join with its pages join first; what has happened to its
        own origin meanwhile stays. Other origins that got pages go on; those outside the crawl join to be checked."""
        named = {page.origin: page.start_path for page in settle.new_pages if not page.external}
        joining = [name for name in named if not self._table.takes_part(name, external=False)]
        for name in joining:
            await self._join(name, False, named[name])
        if joining:
            settle = replace(settle, origin=record_of(self._table.states[origin]))
        settled = await self._store.settle(settle)
        external = {page.origin for page in settle.new_pages if page.external == EXTERNAL}
        for name, count in settled.new_pages:
            if name in external and name not in self._table.states:
                await self._join(name, True, "")
                continue
            self._table.pages_known[name] = self._table.pages_known.get(name, 0) + count
        others = [name for name, _ in settled.new_pages if name != origin]
        if others:
            await self._awaken(others)
        return settled

    async def _refuse(self, origin: str, page: TodoPage, no: Denied) -> None:
        table, now = self._table, self._clock.now()
        answer, settings = machine.CrawlAnswer(page.page_id, no.exit_code), table.settings.settings_of(origin)
        state = table.update(machine.after_crawl(table.states[origin], answer, now, settings))
        settle = outcome.settle_refusal(page, no, state, now, table.job_filters.ruleset_id(page.job_id))
        self._tell_attempt(state, settle, await self._store.settle(settle))

    def _judge(self, origin: str, page: TodoPage, url: CrawlUrl | InvalidUrl) -> Cleared | Denied:
        """All judgements over a page. A rule that gives it a user agent chooses the group of robots.txt, too."""
        table = self._table
        admission, state = table.job_filters.of(page.job_id), table.states[origin]
        if state.lost:
            last = state.setback or ExitCode.connection_failed
            words = f"its origin gave no answer that could be used, the last one was {last.name}"
            words = f"not asked: {state.untrusted or words}"
            return Denied(last if last in _DOWN else ExitCode.blocked_by_robots_txt, words)
        agent = admission.settings(url).ua if admission.names_agents and isinstance(url, CrawlUrl) else None
        return admission.judge(url, table.rules_for(origin, agent), page.seed, page.external)

    async def _exchange(self, request: FetchRequest) -> Exchange:
        sent = self._clock.now()
        if self.cancelling or not self._store.may_ask():
            return Exchange((), ExitCode.cancelled, None, 0, message="cancelled before it was sent")
        under_way = asyncio.timeout(None)  # until `cancel_requests`; no task of its own
        try:
            async with under_way:
                self._under_way.add(under_way)
                return await self._fetcher.exchange(request)
        except TimeoutError:
            if not under_way.expired():
                raise
            now = self._clock.now()
            record = RequestRecord(
                request.url.href,
                request.method,
                sent.wall_ms,
                None,
                now.wall_ms,
                None,
                conditional=bool(request.conditional_etag or request.conditional_since),
                error="cancelled",
            )
            return Exchange(
                (record,), ExitCode.cancelled, None, now.mono_ms - sent.mono_ms, message="cancelled at the stop"
            )
        finally:
            self._under_way.discard(under_way)

    async def _parse(self, body: bytes) -> RobotsRules:
        of_us = body, self._table.token, self._table.settings.robots_max_bytes
        return await asyncio.to_thread(parse_robots, *of_us) if len(body) > _LARGE_ROBOTS else parse_robots(*of_us)

    async def _touch(self, origin: str, delay_ms: int) -> None:
        """A hop to another origin counts as a request to that origin: its own clock starts again."""
        if (state := self._table.states.get(origin)) is not None:
            touched = self._table.update(machine.touch(state, max(delay_ms, state.delay_ms), self._clock.now()))
            await self._store.save_origins([record_of(touched)])

    def _tell_attempt(self, state: OriginState, settle: Settle, settled: Settled) -> None:
        counts = self.counts.setdefault(state.origin, Counts())
        if settled.pending or settled.done or settled.failed or settled.blocked:
            counts.done, counts.failed = 0 if state.external else settled.done, settled.failed
        new = sum(count for _, count in settled.new_pages)
        self._listener.on_event(events.attempt_finished(settle.attempt.ended_at, state, settle.attempt, new, counts))


def _answer_of(page: TodoPage, code: ExitCode, exchange: Exchange) -> machine.CrawlAnswer:
    return machine.CrawlAnswer(
        page.page_id,
        code,
        exchange.http_status,
        exchange.response_ms if exchange.requests else None,
        exchange.retry_after_ms,
        page.is_check,
        exchange.in_vain,
        outcome.asked_by_get(page) if exchange.doubted else None,
        bool(page.attempts and page.is_check) and code not in FAILURES,
        exchange.untrusted,
    )


@lru_cache(4096)  # a page is judged as it is filled in and as it is crawled
def _url_of(text: str) -> CrawlUrl | InvalidUrl:
    return normalise(text, None, CLIENT_MAX_LENGTH)


def robots_url(origin: str, path: str = "/robots.txt") -> CrawlUrl:
    """Return the URL of the robots.txt of an origin (RFC 9309, section 2.3), or of another well-known file."""
    url = normalise(f"{origin}{path}")
    if isinstance(url, InvalidUrl):
        raise TypeError(f"not an origin: {origin!r}: {url.reason}")
    return url
