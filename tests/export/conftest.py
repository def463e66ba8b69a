"""The stored crawl, made once; nothing here writes to it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.export.crawl import store_crawl
from tui_crawler.export.output import Output, open_stream
from tui_crawler.storage.reports.reports import Reports


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "crawl.db"
    asyncio.run(store_crawl(path))
    return path


@pytest.fixture
def reports(stored: Path) -> Iterator[Reports]:
    with closing(Reports(stored)) as made:
        yield made


@pytest.fixture
def written() -> Callable[[Callable[[Output], int]], tuple[int, bytes]]:
    """Lets a format write; answers how many rows it says it wrote, and the bytes."""

    def write(with_format: Callable[[Output], int]) -> tuple[int, bytes]:
        stream = io.BytesIO()
        with open_stream(stream.write) as output:
            count = with_format(output)
        assert output.bytes == len(stream.getvalue())
        return count, stream.getvalue()

    return write
