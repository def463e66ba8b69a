"""Fixtures of the storage tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.bench import Bench, MemoryBench, SqliteBench


@pytest.fixture(params=["memory", "sqlite"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """Each store in turn."""
    made: Bench = MemoryBench() if request.param == "memory" else SqliteBench(tmp_path / "crawl.db")
    yield made
    made.close()


@pytest.fixture
def sqlite_bench(tmp_path: Path) -> Iterator[SqliteBench]:
    """The store over SQLite alone."""
    made = SqliteBench(tmp_path / "crawl.db")
    yield made
    made.close()
