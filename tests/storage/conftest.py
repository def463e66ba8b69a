"""Fixtures of the storage tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.bench import Bench, MemoryBench, SqliteBench
from tests.storage.whole import assert_whole
from tests.storage.workbench import Workbench
from tui_crawler.storage.database import open_writable
from tui_crawler.storage.open_settings import OpenSettings
from tui_crawler.storage.reports.reports import Reports


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database, to be copied: making one takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "new.db"
    open_writable(path, OpenSettings()).close()
    return path


@pytest.fixture
def database_path(tmp_path: Path, template: Path) -> Path:
    """A new database of the test's own."""
    return Path(shutil.copy(template, tmp_path / "crawl.db"))


@pytest.fixture(params=["memory", "sqlite"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """Each store in turn."""
    if request.param == "memory":
        made: Bench = MemoryBench()
    else:
        made = SqliteBench(request.getfixturevalue("database_path"))
    yield made
    made.close()


@pytest.fixture
def sqlite_bench(database_path: Path) -> Iterator[SqliteBench]:
    """The store over SQLite alone."""
    made = SqliteBench(database_path)
    yield made
    made.close()


@pytest.fixture
def sqlite_reports(sqlite_bench: SqliteBench) -> Iterator[Reports]:
    """Reports on the database of the bench, by its clock."""
    made = Reports(sqlite_bench.path, now=lambda: sqlite_bench.now)
    yield made
    made.close()


@pytest.fixture
def workbench(database_path: Path) -> Iterator[Workbench]:
    """The writer's connection without its thread; what it leaves behind must be whole."""
    made = Workbench(database_path)
    yield made
    made.close()
    assert_whole(database_path)


@pytest.fixture
def reports(workbench: Workbench) -> Iterator[Reports]:
    """Reports on the database of the workbench, by its clock."""
    made = Reports(workbench.path, now=lambda: workbench.now)
    yield made
    made.close()
