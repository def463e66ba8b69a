"""A web of pages, crawled offline by hand: documents, links and redirects are stored, nothing is queued."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.storage.bench import GONE
from tests.storage.making import T0, A, attempt, crawled, fill_of, link, outcome, plan, record, url
from tests.storage.raw import RawRow, rows, value
from tui_crawler.domain.records.attempt import RedirectRecord, RedirectSource, Settle
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.page import TodoPage
from tui_crawler.domain.rules.admission import Admission, Limits, Scope
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.storage.queue.scan import BuildSettings, Built, build_queue
from tui_crawler.storage.store import SqliteStore, StoreSettings


@dataclass
class Web:
    """`links` by URL, `redirects` by URL; `noindex` pages keep no document. Anything else is a page without links."""

    links: dict[str, tuple[str, ...]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    noindex: frozenset[str] = frozenset()
    seeds: tuple[str, ...] = (f"{A}/",)

    def answer(self, page: TodoPage, at: int) -> Settle:
        """The attempt that crawls a page offline."""
        if page.url in self.redirects:
            code = ExitCode.redirect
            target = RedirectRecord(self.redirects[page.url], "", False, RedirectSource.location)
            return Settle(
                attempt(page, code, at, 302),
                record(url(page.url).origin),
                replace(outcome(page, code, at, 302), unscanned=True),
                drop_document=True,
                links=(),
                redirect=target,
            )
        made = replace(crawled(page, at, *self.links.get(page.url, ())), new_pages=())
        if page.url not in self.noindex:
            return made
        code = ExitCode.noindex
        return replace(
            made,
            attempt=attempt(page, code, at),
            page=replace(outcome(page, code, at), unscanned=True),
            document=None,
            drop_document=True,
        )

    def reachable(self) -> set[str]:
        """Every URL that a whole crawl meets, at the origins of the seeds."""
        origins = {url(seed).origin for seed in self.seeds}
        found: set[str] = set()
        todo = list(self.seeds)
        while todo:
            one = url(todo.pop()).href
            if one in found or url(one).origin not in origins:
                continue
            found.add(one)
            todo += [self.redirects[one]] if one in self.redirects else self.links.get(one, ())
        return found


class Crawl:
    """A run on a database; `now` is its clock (epoch ms)."""

    def __init__(self, path: DatabasePlace, web: Web, now: int = T0, **more: Any) -> None:
        self.path = path
        self.web = web
        self.now = now
        self.store = SqliteStore(path, StoreSettings(now=lambda: self.now, owner=GONE, **more))

    async def begin(self, **more: Any) -> Crawl:
        self.start = await self.store.begin_run(plan(*self.web.seeds, **more))
        return self

    async def pages(self, most: int = 1_000) -> list[str]:
        """Crawls what the todo lists hold, up to so many pages; answers their URLs."""
        done: list[str] = []
        for origin in sorted({url(row["origin"]).origin for row in rows(self.path, "SELECT origin FROM v_origin")}):
            found = (await self.store.candidates(origin, self.now, most - len(done), False)).pages
            if found:
                await self.store.fill(fill_of(found, origin))
            for page in found:
                self.now += 1
                await self.store.settle(self.web.answer(page, self.now))
                done.append(page.url)
        return done

    async def end(self, reason: str = "exhausted") -> None:
        await self.store.end_run(reason, True)
        await asyncio.to_thread(self.store.close)


async def crawl_offline(path: DatabasePlace, web: Web, most: int = 1_000, **more: Any) -> list[str]:
    """One whole run: crawls what is to be crawled, up to so many pages; answers their URLs."""
    crawl = await Crawl(path, web, T0 + value(path, "SELECT COUNT(*) FROM attempt")).begin(**more)
    done = await crawl.pages(most)
    await crawl.end()
    return done


def admission(*origins: str, policies: PolicySet = EMPTY, **limits: Any) -> Admission:
    return Admission(policies, Scope(frozenset(origins or (A,))), Limits(**limits))


def build(path: DatabasePlace, *origins: str, admitting: Admission | None = None, **more: Any) -> Built:
    """A build with a clock of its own."""
    judge = admitting or admission(*origins)
    settings = replace(BuildSettings(now=lambda: T0 + 1_000_000, window=2), **more)
    return build_queue(path, settings, lambda job: judge)


def urls_of(path: Path) -> list[str]:
    """The URLs of a segment, as a person reads them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return ["".join(line.split("\t")[:2]) for line in lines if not line.startswith("#")]


def built_urls(built: Built) -> list[str]:
    return [one for segment in built.segments for one in urls_of(segment.path)]


def pages_of(path: DatabasePlace) -> dict[str, RawRow]:
    """The rows of all pages by URL, with the name of their origin."""
    query = "SELECT u.href AS url, p.*, o.origin FROM page p JOIN url u ON u.id = p.url_id"
    return {row["url"]: row for row in rows(path, f"{query} JOIN origin o ON o.id = p.origin_id")}


def links_with(*kinds: tuple[str, LinkKind, bool]) -> tuple[Any, ...]:
    """Links by URL, kind and nofollow."""
    return tuple(link(href, kind, nofollow=nofollow) for href, kind, nofollow in kinds)
