"""What is on the screen before anything was read: neither header nor tables say anything of the crawl, and nothing is
said to be empty before a reading has found that."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.widget import Widget

from tests.console.fake_queries import FakeQueries
from tests.console.fake_reports import FakeReports
from tests.console.monkey import WORLDS
from tests.console.sample_rules import FakeRules
from tests.console.sample_trace import SampleExplainer
from tests.console.support import FrozenClock, Stage, StageApp, stage
from tests.storage.bench import DatabaseBench
from tests.storage.making import T0, A, crawled, fill_of, plan
from tests.support.patience import PATIENT_S
from tui_crawler.console.action import VIEWS
from tui_crawler.console.app import EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.pulse.chart_pane import ChartPane
from tui_crawler.console.reading.ask import WINDOW
from tui_crawler.console.session import ConsoleSession, SessionFile
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.storage.db.database import open_writable
from tui_crawler.storage.db.open_settings import OpenSettings
from tui_crawler.wiring.console_reports import ConsoleReports

EMPTY = (
    "no job yet", "no rules", "no versions", "no attempts yet", "todo list is empty", "never tried",
    "no attempts", "nothing to order", "no pages", "no failed pages", "no events", "no link to it", "no links",
)  # fmt: skip


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40)], ids=str)
async def test_the_first_picture_has_no_numbers_and_the_next_has_all(size: tuple[int, int]) -> None:
    reports, clock, gate = FakeReports(), FrozenClock(), threading.Event()
    reports.gate = gate
    app = StageApp(
        ReadingSources(lambda: reports, SampleExplainer),
        Operator(),
        EngineAccess(),
        Presentation("my-index"),
        clock,
        beating=False,
    )
    app.tell_me()
    async with app.run_test(size=size) as pilot:
        held = Stage(app, reports, None, clock, None, pilot)  # type: ignore[arg-type]  # it only watches
        try:
            await held.quiet()
            header, tabs, *below = held.text().splitlines()
            assert not any(char.isdigit() for char in header), header
            assert "▸1 Orig" in tabs
            assert "Origins 11" not in tabs
            assert "reading…" in "\n".join(below)
            assert not any(words in held.text() for words in EMPTY)
        finally:
            gate.set()
        await held.settle(2)
        _, tabs, *below = held.text().splitlines()
        assert "Origins 11" in tabs
        assert "reading…" not in "\n".join(below)
        assert "shop.example.n" in "\n".join(below)


@pytest.mark.parametrize("keys", [("2",), ("3",), ("4",), ("5",), ("7",), ("enter",), ("2", "tab", "enter")], ids=str)
async def test_a_view_that_nothing_was_read_for_says_nothing_of_its_rows(keys: tuple[str, ...]) -> None:
    async with stage((200, 60)) as held:
        await held.press(*keys[:-1], rounds=2)
        await held.press(keys[-1], rounds=0)
        tables = list(held.app.screen.query(CrawlTable))
        assert tables
        assert all(table.row_count or table.nothing_here() == "reading…" for table in tables)
        assert not any(words in held.text() for words in EMPTY)
        await held.settle(3)
        assert "reading…" not in held.text()


@dataclass(frozen=True, slots=True)
class Seen:
    """What one pane shows at one moment: its words, and how many rows where it is a table."""

    screen: str
    pane: str
    words: str
    rows: int


EMPTY_WORDS = re.compile(
    r"\b0 (at work|held|attempts)\b|· 0\b|\bno (?!sign of life)\w|\bnone\b|\bnothing\b|\bnever\b|\bempty\b|\b1–0\b",
    re.I,
)
"""Words of panes that say that there is nothing."""


def panes_of(app: StageApp) -> list[Seen]:
    """Every pane of the screen on top: what a table says without rows, what other panes say, and all titles."""
    screen, seen = app.screen, list[Seen]()
    for pane in screen.query(".pane").results(Widget):
        if not (pane.display and pane.size.width):
            continue
        rows = pane.row_count if isinstance(pane, CrawlTable) else 0
        titles = f"{pane.border_title or ''}\n{pane.border_subtitle or ''}"
        words = pane.nothing_here() if isinstance(pane, CrawlTable) and not rows else ""
        if isinstance(pane, ChartPane):  # its title is what was read of another span
            words, titles = "" if pane.chart is not None else pane.text, ""
        elif isinstance(pane, Lines):
            words = pane.text
        seen.append(Seen(type(screen).__name__, str(pane.id), f"{words}\n{titles}", rows))
    return seen


def false_words(seen: Iterable[Seen]) -> set[tuple[str, str, str]]:
    """Return what panes said of being empty that they do not say in the end, when all is read."""
    seen = list(seen)
    last = {(one.screen, one.pane): one for one in seen}
    found = set[tuple[str, str, str]]()
    for one in seen:
        end = last[one.screen, one.pane].words.splitlines()
        found |= {
            (one.screen, one.pane, line)
            for line in one.words.splitlines()
            if line not in end and EMPTY_WORDS.search(line)
        }
    return found


@asynccontextmanager
async def begun_at(
    view: str, folder: Path, reports: FakeReports, size: tuple[int, int] = (200, 60)
) -> AsyncIterator[Stage]:
    """A console that was left in a view the last time; its first reading is under way, and waits."""
    memory, clock, gate = SessionFile(folder, "crawl.db"), FrozenClock(), threading.Event()
    memory.keep(ConsoleSession(view=view))
    reports.gate = gate
    app = StageApp(
        ReadingSources(lambda: reports, SampleExplainer, FakeQueries, FakeRules()),
        Operator(),
        EngineAccess(),
        Presentation("my-index", memory=memory),
        clock,
        beating=False,
    )
    app.tell_me()
    async with app.run_test(size=size) as pilot:
        held = Stage(app, reports, None, clock, None, pilot)  # type: ignore[arg-type]  # it only watches
        await held.quiet()
        try:
            yield held
        finally:
            gate.set()


async def let_read(held: Stage) -> None:
    """Lets the first reading go on, and takes it in."""
    assert held.reports.gate is not None
    held.reports.gate.set()
    await asyncio.wait_for(held.app.taken_in.wait(), PATIENT_S)
    await held.quiet()


NUMBERS = tuple((str(number),) for number in range(1, 9))
DEEPER = (
    ("1", "enter"), ("1", "origin.tree"), ("1", "timeline.open"), ("1", "robots.view"), ("1", "runs.diff"),
    ("2", "tab", "enter", "url.tab_links"), ("2", "failures.group", "enter"),
    ("3", "enter", "url.tab_attempts", "url.tab_headers", "url.tab_links", "url.tab_body"),
    ("7", "s", "escape", "stats.ledger", "stats.ledger"), ("8", "j", "j"),
)  # fmt: skip
"""Keys to all views, and from there to every other screen that shows what is read."""


@pytest.mark.parametrize("view", [where.goes_there for where in VIEWS], ids=str)
async def test_no_pane_says_that_there_is_nothing_before_that_was_read(view: str, tmp_path: Path) -> None:
    seen = list[Seen]()
    async with begun_at(view, tmp_path, FakeReports()) as held:
        seen += panes_of(held.app)
        await let_read(held)
        seen += panes_of(held.app)
        for keys in (*NUMBERS, *DEEPER) if view == "view.overview" else ():
            for key in keys:
                await held.press(key, rounds=0)
                seen += panes_of(held.app)
                for _ in range(4):
                    await held.settle(1)
                    seen += panes_of(held.app)
            await held.press("escape", "escape", rounds=0)
        for _ in range(3):
            await held.settle(1)
            seen += panes_of(held.app)
    assert len({one.screen for one in seen}) >= (14 if view == "view.overview" else 1)
    assert not false_words(seen)


@pytest.mark.parametrize("view", [where.goes_there for where in VIEWS], ids=str)
async def test_an_empty_crawl_says_so_once_it_was_read(view: str, tmp_path: Path) -> None:
    async with begun_at(view, tmp_path, WORLDS["empty"]()) as held:
        assert not any(EMPTY_WORDS.search(one.words) for one in panes_of(held.app)), panes_of(held.app)
        await let_read(held)
        await held.settle(4, move_ms=1_100)
        assert "reading…" not in held.text()
        for number in range(1, 9) if view == "view.overview" else ():
            await held.press(str(number), rounds=4)
            assert "reading…" not in held.text(), f"view {number}"


@pytest.mark.parametrize("view", [where.goes_there for where in VIEWS], ids=str)
async def test_events_hold_what_is_stored_whichever_view_was_left_last(view: str, tmp_path: Path) -> None:
    path = await stored_attempts(tmp_path / "crawl.db", 468)
    reports: Any = GatedReports(path)
    async with begun_at(view, tmp_path, reports) as held:
        await let_read(held)
        await held.press("1", rounds=3)
        table = held.app.screen.query_one("#events", CrawlTable)
        assert table.row_count == WINDOW
        assert "no events yet" not in held.text()


async def test_attempts_that_come_in_behind_a_dialog_or_another_view_are_not_lost(tmp_path: Path) -> None:
    path = await stored_attempts(tmp_path / "crawl.db", 3)
    reports: Any = GatedReports(path)
    async with begun_at("", tmp_path, reports) as held:
        await let_read(held)
        await held.settle(3)
        assert held.app.screen.query_one("#events", CrawlTable).row_count == 3
        reports.gate.clear()
        copy_attempts(path, 2)
        held.clock.move(1_000)
        held.app.taken_in.clear()
        held.app.beat()  # it is being read for the overview
        await held.press("4", rounds=0)
        reports.gate.set()
        await asyncio.wait_for(held.app.taken_in.wait(), PATIENT_S)
        await held.settle(2)
        await held.press("1", rounds=3)
        assert held.app.screen.query_one("#events", CrawlTable).row_count == 5


class GatedReports(ConsoleReports):
    """Reports of a real database that a test holds back."""

    gate: threading.Event | None = None

    def data_version(self) -> int:
        if self.gate is not None:
            self.gate.wait(PATIENT_S)
        return super().data_version()


async def stored_attempts(path: Path, number: int) -> Path:
    """Makes a database with so many attempts."""
    open_writable(path, OpenSettings()).close()
    bench = DatabaseBench(path)
    store = bench.open()
    await store.begin_run(plan(f"{A}/"))
    home = (await store.candidates(A, T0, 10, True)).pages[0]
    await store.fill(fill_of((home,)))
    await store.settle(crawled(home, T0 + 10))
    bench.close()
    copy_attempts(path, number - 1)
    return path


def copy_attempts(path: Path, number: int) -> None:
    """Stores the first attempt so many times more."""
    with closing(sqlite3.connect(path)) as database, database:
        names = ", ".join(row[1] for row in database.execute("PRAGMA table_info(attempt)") if row[1] != "id")
        for _ in range(number):
            database.execute(f"INSERT INTO attempt ({names}) SELECT {names} FROM attempt WHERE id = 1")
