"""Both stores behind one handle, so that one suite holds for both: making, crashing, asking, looking."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any

import pytest

from tests.storage.making import T0
from tests.storage.whole import assert_whole
from tests.support.memory_store import MemoryStore
from tui_crawler.domain.records.command import ActionResult, Command
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.db.owner import this_process
from tui_crawler.storage.db.writer import WriterSettings
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal

of_sqlite = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
"""Tests of files, locks and query plans, which a server has not, or others."""

GONE = dataclasses.replace(this_process(), pid=2**22 + 7)  # no process has so high a number


class Bench(ABC):
    """A store under test; `now` is the clock it reads (epoch ms)."""

    def __init__(self) -> None:
        self.now = T0
        self.set_by = 0  # how far (ms) the clock was set, which is no time that has passed

    @abstractmethod
    def open(self, *, alive: bool = False) -> Any:
        """A store on the database. Its owner counts as dead as soon as another one looks, unless it is `alive`."""

    @abstractmethod
    def crash(self) -> None:
        """The present owner is gone without a word."""

    @abstractmethod
    def ask(self, command: Command) -> int: ...

    @abstractmethod
    def result(self, action_id: int) -> ActionResult | None: ...

    @abstractmethod
    def attempts(self) -> int: ...

    @abstractmethod
    def links(self, page_url: str) -> dict[tuple[str, str], tuple[bool, int]]:
        """Kind and target of a page's links, with nofollow and when they were first seen."""

    @abstractmethod
    def pages_known(self, origin: str) -> int: ...

    @abstractmethod
    def documents(self) -> int: ...

    @abstractmethod
    def redirects(self) -> list[tuple[str, str, str]]: ...

    @abstractmethod
    def refused(self) -> dict[tuple[str, str], int]: ...

    @abstractmethod
    def path_of(self, page_url: str) -> list[str]: ...

    @abstractmethod
    def close(self) -> None:
        """After a test: what was stored must be whole."""


class MemoryBench(Bench):
    """The memory store."""

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore(lambda: self.now)

    def open(self, *, alive: bool = False) -> MemoryStore:
        return self.store

    def crash(self) -> None:
        self.store.freeze()
        self.store = self.store.clone()

    def ask(self, command: Command) -> int:
        return self.store.ask(command)

    def result(self, action_id: int) -> ActionResult | None:
        return self.store.results.get(action_id)

    def attempts(self) -> int:
        return len(self.store.attempts)

    def links(self, page_url: str) -> dict[tuple[str, str], tuple[bool, int]]:
        page = next(page for page in self.store.rows.pages.values() if page.url == page_url)
        return dict(self.store.rows.links.get(page.page_id, {}))

    def pages_known(self, origin: str) -> int:
        return len(self.store.rows.of_origin.get(origin, ()))

    def documents(self) -> int:
        return len(self.store.rows.documents)

    def redirects(self) -> list[tuple[str, str, str]]:
        rows = self.store.rows
        return [(rows.pages[i].url, r.to_url, r.source.value) for i, r in rows.redirects.items()]

    def refused(self) -> dict[tuple[str, str], int]:
        return dict(self.store.refused)

    def path_of(self, page_url: str) -> list[str]:
        rows, path = self.store.rows, [page_url]
        page = next(page for page in rows.pages.values() if page.url == page_url)
        while page.found_on is not None:
            page = rows.pages[page.found_on]
            path.insert(0, page.url)
        return path

    def close(self) -> None:
        for name in self.store.crawlers:
            assert min(self.store.rows.tally(name)) >= 0


class DatabaseBench(Bench):
    """The store over a database."""

    def __init__(self, place: DatabasePlace) -> None:
        super().__init__()
        self.place = place
        self.stores: list[SqliteStore] = []
        self.journal: Journal | None = None
        self.reports: Reports | None = None

    def open(self, *, alive: bool = False) -> SqliteStore:
        settings = StoreSettings(
            writing=WriterSettings(lazy_ms=5),
            lease_ms=30_000,
            now=lambda: self.now,
            mono=lambda: self.now - self.set_by,
            owner=None if alive else GONE,
        )
        self.stores.append(SqliteStore(self.place, settings))
        return self.stores[-1]

    def crash(self) -> None:
        """Nothing is closed: the next one finds the session open and its process gone."""

    def ask(self, command: Command) -> int:
        self.journal = self.journal or Journal(self.place)
        return self.journal.send(command, "operator")

    def result(self, action_id: int) -> ActionResult | None:
        assert self.journal is not None
        return self.journal.result(action_id)

    def attempts(self) -> int:
        return self._look("v_attempt", lambda rows: len(list(rows)))

    def links(self, page_url: str) -> dict[tuple[str, str], tuple[bool, int]]:
        def pick(rows: Any) -> Any:
            return {(r[2], r[1]): (bool(r[3]), r[5]) for r in rows if r[0] == page_url}

        return self._look("v_link", pick)

    def pages_known(self, origin: str) -> int:
        return self._look("v_page", lambda rows: sum(r[1] == origin for r in rows))

    def documents(self) -> int:
        return self._look("v_page", lambda rows: sum(r[18] != "" for r in rows))

    def redirects(self) -> list[tuple[str, str, str]]:
        return self._look("v_redirect", lambda rows: [(r[0], r[1], r[4]) for r in rows])

    def refused(self) -> dict[tuple[str, str], int]:
        return self._look("v_refused", lambda rows: {(r[0], r[1]): r[2] for r in rows})

    def path_of(self, page_url: str) -> list[str]:
        detail = self._reports().page_detail(page_url)
        return [step.from_url for step in detail.path] + [page_url]

    def _look(self, view: str, pick: Any) -> Any:
        return pick(self._reports().rows(view))

    def _reports(self) -> Reports:
        self.reports = self.reports or Reports(self.place)
        return self.reports

    def close(self) -> None:
        for store in self.stores:
            store.close()
        for opened in (self.journal, self.reports):
            if opened is not None:
                opened.close()
        assert_whole(self.place)
