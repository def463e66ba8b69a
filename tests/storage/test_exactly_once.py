"""Offline crawls, builds, loads, saved rests and kills in any order: no page is lost, none comes twice."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.storage.making import T0, A, B, C
from tests.storage.offline import Crawl, Web, build, rows, urls_of, value
from tests.storage.whole import assert_whole
from tui_crawler.domain.records.failure import BadSegment
from tui_crawler.storage.queue.seen import SeenSettings

SITE = {
    f"{A}/": (f"{A}/1", f"{A}/2", f"{B}/1"),
    f"{A}/1": (f"{A}/3", f"{A}/", f"{C}/out"),
    f"{A}/2": (f"{A}/3", f"{A}/r", f"{B}/2"),
    f"{A}/3": (f"{A}/4",),
    f"{B}/": (f"{A}/1", f"{B}/1"),
    f"{B}/1": (f"{B}/2", f"{A}/1"),
    f"{B}/2": (f"{B}/3", f"{B}/4", f"{B}/5"),
    f"{B}/5": (f"{A}/5", f"{A}/hidden"),
    f"{A}/hidden": (f"{A}/6",),
}
SITE_WEB = Web(SITE, {f"{A}/r": f"{A}/target"}, frozenset({f"{A}/hidden"}), (f"{A}/", f"{B}/"))


class OfflineCrawl(RuleBasedStateMachine):
    """Crawls, builds, loads and saved rests in any order, with kills in between: every page is crawled, none twice."""

    template: Path
    folder: Path
    number = 0

    @initialize(kind=st.sampled_from(["database", "memory", "bloom"]), size=st.integers(1, 4))
    def start(self, kind: Any, size: int) -> None:
        type(self).number += 1
        home = self.folder / str(self.number)
        home.mkdir()
        self.path = Path(shutil.copy(self.template, home / "crawl.db"))
        self.seen = {"kind": kind, "capacity": 1_000, "error_rate": 1e-9}
        self.size = size
        self.built: list[Path] = []
        self.run: Crawl | None = None
        self.loop = asyncio.new_event_loop()

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def live(self) -> Crawl:
        if self.run is None:
            at = T0 + value(self.path, "SELECT COUNT(*) FROM attempt")
            self.run = self.do(Crawl(self.path, SITE_WEB, at, segment_urls=self.size).begin())
        return self.run

    @rule(most=st.integers(1, 4))
    def crawl(self, most: int) -> None:
        self.do(self.live().pages(most))

    @rule()
    def crawl_one_and_build(self) -> None:
        self.crawl(1)
        self.build()

    @rule()
    def stop(self) -> None:
        self.do(self.live().end())
        self.run = None

    @rule()
    def kill(self) -> None:
        self.live().store.close()
        self.run = None

    @rule()
    def build(self) -> None:
        built = build(self.path, A, B, seen=SeenSettings(**self.seen), segment_urls=self.size)
        self.built += [segment.path for segment in built.segments]

    @rule()
    def save_rest(self) -> None:
        self.do(self.live().store.save_rest())

    @rule()
    def load_next(self) -> None:
        store = self.live().store
        if path := self.do(store.next_segment()):
            self.do(store.load_segment(path))

    @precondition(lambda self: self.built)
    @rule(data=st.data())
    def load_any_twice(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(self.built))
        copy = Path(shutil.copy(path, path.with_name("copy")))
        for one in (copy, path):
            consumed = value(self.path, "SELECT consumed_at FROM segment WHERE name = ?", path.stem)
            if consumed:
                with pytest.raises(BadSegment, match="already"):
                    self.do(self.live().store.load_segment(str(one)))
            else:
                self.do(self.live().store.load_segment(str(one)))

    @invariant()
    def nothing_is_twice(self) -> None:
        if not hasattr(self, "path"):
            return
        listed = Counter(one for path in self.built for one in urls_of(path))
        assert not listed or max(listed.values()) == 1, "in two segments"
        crawled = Counter(row["url"] for row in rows(self.path, "SELECT url FROM v_attempt"))
        assert not crawled or max(crawled.values()) == 1, "crawled twice"

    def teardown(self) -> None:
        if not hasattr(self, "path"):
            return
        for _ in range(20):
            self.build()
            path = self.do(self.live().store.next_segment())
            while path:
                self.do(self.live().store.load_segment(path))
                path = self.do(self.live().store.next_segment())
            if not self.do(self.live().pages()):
                break
        self.stop()
        self.nothing_is_twice()
        crawled = {row["url"] for row in rows(self.path, "SELECT url FROM v_attempt")}
        assert crawled == SITE_WEB.reachable(), "lost"
        assert_whole(self.path)
        self.loop.close()


def test_every_page_is_crawled_once(template, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(OfflineCrawl, "template", template, raising=False)
    monkeypatch.setattr(OfflineCrawl, "folder", tmp_path, raising=False)
    machine = OfflineCrawl.TestCase
    machine.settings = settings(max_examples=8, stateful_step_count=14, suppress_health_check=list(HealthCheck))
    machine("runTest").runTest()
