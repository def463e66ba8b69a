"""What a start of the console may not load before its first picture, and before its first rows.

After a pause all of it may have to be read from the disk; from memory, too, a start is no quicker than what it loads.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.storage.making import plan
from tests.support.terminal import in_terminal
from tui_crawler.storage.store import SqliteStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")

NEVER_BEFORE_ROWS = {
    "lxml", "parsel", "cssselect", "jmespath", "protego", "httpx", "pyarrow", "warcio",
    "tui_crawler.engine", "tui_crawler.fetch", "tui_crawler.export", "tui_crawler.demo", "tui_crawler.wiring.crawl",
    "tui_crawler.console.dialogs.quit", "tui_crawler.console.dialogs.choose", "tui_crawler.console.welcome.actions",
    "tui_crawler.wiring.rules", "tui_crawler.wiring.explain",
}  # fmt: skip
"""Large, or only for what an operator asks for later."""
NEVER_BEFORE_PICTURE = NEVER_BEFORE_ROWS | {
    "psutil", "tui_crawler.console.ports", "tui_crawler.console.operator.commands",
    "tui_crawler.console.operator.intent",
    "tui_crawler.console.overview.summary", "tui_crawler.console.operator.exit_summary",
    "tui_crawler.storage.reports.reports", "tui_crawler.storage.models", "tui_crawler.domain.records.attempt",
    "tui_crawler.domain.records.page", "tui_crawler.domain.crawl.run", "tui_crawler.domain.rules.ruleset",
    "tui_crawler.domain.records.view",
}  # fmt: skip
"""What reads, and what rows are made of."""
NEVER_BEFORE_PICTURE |= {"textual.widgets._input", "textual.widgets._option_list", "textual.types"}
"""Of the command palette of Textual, and of inputs, which no first picture has."""
MOST_BEFORE_PICTURE = 136
"""The most modules of the package that are loaded before it by a console that only watches. May only fall."""
CONFIGURATION = {"ada_url", "re2", "ruamel", "tui_crawler.config", "tui_crawler.domain.rules.policy"}
WRITING = {
    "tui_crawler.console.operator.detach", "tui_crawler.console.operator.journal",
    "tui_crawler.storage.workers.journal",
    "tui_crawler.wiring.host",
}  # fmt: skip
"""A console that only watches needs neither."""
CRAWL = "seeds: [http://127.0.0.1:9/]\nuser_agent: 'test-crawler (for https://example.org/why)'\n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database of one origin, whose run was interrupted; nobody listens there."""

    async def crawl_nothing() -> None:
        store = SqliteStore(path)
        await store.begin_run(plan("http://127.0.0.1:9/"))
        await store.end_run("interrupted", True)
        await asyncio.to_thread(store.close)

    path = tmp_path / "crawl.db"
    asyncio.run(crawl_nothing())
    return path


def loaded(folder: Path, moment: str, *words: object) -> set[str]:
    """The modules that a start with `words` has loaded at a moment, and the packages they are in."""
    note = folder / moment
    with in_terminal([sys.executable, "-m", "tests.e2e.loaded_child", str(folder), *map(str, words)]) as terminal:
        terminal.read_while(lambda: not note.exists())
    names = note.read_text(encoding="utf-8").split()
    assert ("tui_crawler.console.overview.screen" in names) == (moment != "starting")
    return {name.rsplit(".", dots)[0] for name in names for dots in range(name.count(".") + 1)}


def test_what_starts_is_shown_before_anything_heavy_is_loaded(database: Path, tmp_path: Path):
    config = tmp_path / "crawl.yaml"
    config.write_text(f"{CRAWL}database: {database.name}\n", encoding="utf-8")
    for words in (("--db", database, "--readonly"), (config,), ("replay", "--console", "--db", database), ("demo",)):
        assert loaded(tmp_path, "starting", *words) & (NEVER_BEFORE_PICTURE | CONFIGURATION | {"textual"}) == set()
        (tmp_path / "starting").unlink()


def test_the_word_that_it_starts_is_never_left_behind(database: Path, tmp_path: Path):
    command = [sys.executable, "-m", "tui_crawler", "--readonly", "--db"]
    with in_terminal([*command, str(database)]) as terminal:
        terminal.read_until("127.0.0.1:9")
    starting, erased, screen = (terminal.raw.index(one) for one in (b"starting\r", b"\r\x1b[K", b"\x1b[?1049h"))
    assert starting < erased < screen
    with in_terminal([*command, str(tmp_path / "missing.db")]) as terminal:
        assert terminal.read_to_end() == 2
    assert b"starting\r" in terminal.raw
    assert "starting" not in terminal.text()


def test_watching_loads_neither_configuration_nor_driver_before_the_first_picture(database: Path, tmp_path: Path):
    unwanted = NEVER_BEFORE_PICTURE | CONFIGURATION | WRITING | {"peewee"}
    names = loaded(tmp_path, "picture", "--db", database, "--readonly")
    assert names & unwanted == set()
    assert sum(name.startswith("tui_crawler") for name in names) <= MOST_BEFORE_PICTURE


def test_a_replay_shows_its_rows(database: Path, tmp_path: Path):
    assert "tui_crawler.storage.crawl.replayed" in loaded(tmp_path, "rows", "replay", "--console", "--db", database)


def test_watching_loads_no_configuration_before_the_first_rows(database: Path, tmp_path: Path):
    names = loaded(tmp_path, "rows", "--db", database, "--readonly")
    assert "tui_crawler.storage.reports.reports" in names
    assert names & (NEVER_BEFORE_ROWS | CONFIGURATION) == set()


def test_crawling_loads_no_engine_and_no_parser_of_pages_before_the_first_picture(database: Path, tmp_path: Path):
    config = tmp_path / "crawl.yaml"
    config.write_text(f"{CRAWL}database: {database.name}\n", encoding="utf-8")
    names = loaded(tmp_path, "picture", config)
    assert "tui_crawler.config.load" in names
    assert names & NEVER_BEFORE_PICTURE == set()
