"""Fixtures of the storage tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.storage.bench import Bench, DatabaseBench, MemoryBench
from tests.storage.making import T0
from tests.storage.whole import assert_whole
from tests.storage.workbench import Workbench
from tests.support.postgres_database import EmptiedDatabase, made_database
from tui_crawler.domain.records.database_place import DatabasePlace, PostgresPlace
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.storage.db.owner import Owner
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database, to be copied: making one takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "new.db"
    open_writable(path, OpenSettings()).close()
    return path


@pytest.fixture
def database_path(tmp_path: Path, template: Path) -> Path:
    """A new SQLite database of the test's own."""
    return Path(shutil.copy(template, tmp_path / "crawl.db"))


@pytest.fixture(scope="session")
def emptied_database(postgres_url: str) -> Iterator[EmptiedDatabase]:
    """The database on a server that the tests of this process use one after the other."""
    with made_database(postgres_url) as place:
        made = EmptiedDatabase(place.url)
        yield made
        made.close()


@pytest.fixture
def server_place(emptied_database: EmptiedDatabase) -> Iterator[PostgresPlace]:
    """A new database on a server."""
    yield emptied_database.place
    emptied_database.empty()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> DatabasePlace:
    """A new database of the test's own, of each kind in turn."""
    found: DatabasePlace = request.getfixturevalue("database_path" if request.param == "sqlite" else "server_place")
    return found


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Each store in turn."""
    if request.param == "memory":
        made: Bench = MemoryBench()
    else:
        made = DatabaseBench(request.getfixturevalue("database_path" if request.param == "sqlite" else "server_place"))
    yield made
    made.close()


@pytest.fixture
def database_bench(place: DatabasePlace) -> Iterator[DatabaseBench]:
    """The store over a database of each kind in turn."""
    made = DatabaseBench(place)
    yield made
    made.close()


@pytest.fixture
def database_reports(database_bench: DatabaseBench) -> Iterator[Reports]:
    """Reports on the database of the bench, by its clock."""
    made = Reports(database_bench.place, now=lambda: database_bench.now)
    yield made
    made.close()


@pytest.fixture
def workbench(place: DatabasePlace) -> Iterator[Workbench]:
    """The writer's connection without its thread, to a database of each kind; what it leaves must be whole."""
    made = Workbench(place)
    yield made
    made.close()
    assert_whole(place)


class StoreFactory:
    """Stores over one database, each as if on a machine of its own; `now` is the clock of all of them (epoch ms)."""

    def __init__(self, path: DatabasePlace) -> None:
        self.path = path
        self.now = T0
        self._made: list[SqliteStore] = []

    def __call__(self, **settings: Any) -> SqliteStore:
        number = len(self._made) + 1
        owner = Owner(f"host{number}", f"machine{number}", number, number)
        made = SqliteStore(self.path, StoreSettings(owner=owner, now=lambda: self.now, **settings))
        self._made.append(made)
        return made

    def close(self) -> None:
        for made in self._made:
            made.close()


@pytest.fixture
def store(place: DatabasePlace) -> Iterator[StoreFactory]:
    """Makes stores over one new database, of each kind in turn."""
    made = StoreFactory(place)
    yield made
    made.close()


@pytest.fixture
def reports(workbench: Workbench) -> Iterator[Reports]:
    """Reports on the database of the workbench, by its clock."""
    made = Reports(workbench.place, now=lambda: workbench.now)
    yield made
    made.close()
