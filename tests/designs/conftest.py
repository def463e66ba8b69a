"""Fixtures of the tests of the five designs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.designs.crawling import Crawling, Kit, make_kit


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """What all crawls share."""
    return make_kit(tmp_path_factory.mktemp("kit"))


@pytest.fixture
def crawl(tmp_path: Path, kit: Kit) -> Iterator[Crawling]:
    """A folder, a web and a clock."""
    made = Crawling(tmp_path, kit)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared_crawl(tmp_path_factory: pytest.TempPathFactory, kit: Kit) -> Iterator[Crawling]:
    """The same for all tests of a module: a fixture of the module makes one crawl that its tests look at."""
    made = Crawling(tmp_path_factory.mktemp("shared"), kit)
    yield made
    made.close()
