"""A stage with a draft of rules on it: waits for what another thread counts; and the same on a database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.widgets import TextArea

from tests.console.fake_reports import FakeReports
from tests.console.sample_rules import FIRST, versions
from tests.console.sample_trace import SampleExplainer
from tests.console.support import FakeJournal, FrozenClock, Stage, StageApp, stage
from tests.support.patience import PATIENT_S
from tui_crawler.console.app import EngineAccess, Operator, Presentation, ReadingSources
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.console.panes.lines import Lines
from tui_crawler.console.rules.editor import RuleEditorScreen
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.domain.rules.policy import PolicySet
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.text.cells import cell_text
from tui_crawler.wiring.console_reports import ConsoleReports
from tui_crawler.wiring.console_rules import ConsoleRules
from tui_crawler.wiring.steering import SteeredJournal

TWO_JOBS = (*versions(), replace(versions()[0], ruleset_id=20, job="news", policies=FIRST))
"""The versions of two jobs."""


async def until(held: Stage, fact: Callable[[], bool]) -> None:
    """Lets the app work until something holds."""

    async def look() -> None:
        while not fact():
            await held.quiet(1)

    await asyncio.wait_for(look(), PATIENT_S)


def top(held: Stage) -> type[object]:
    """What is on top."""
    return type(held.app.screen)


def editor(held: Stage) -> RuleEditorScreen:
    """The draft on top."""
    screen = held.app.console_screen
    assert isinstance(screen, RuleEditorScreen)
    return screen


async def counted(held: Stage) -> str:
    """The impact as it is shown once it is known."""
    screen = editor(held)
    await until(held, lambda: (news := screen.counting.news) is not None and news.over)
    await held.quiet()
    return screen.query_one("#draft-impact", Lines).text


def draft_text(held: Stage) -> str:
    """The text of the draft."""
    return editor(held).query_one(TextArea).text


def drafted_from(held: Stage) -> tuple[int, bool]:
    """The version that the draft began with, and whether anything is drafted."""
    session = editor(held).session
    assert session.draft is not None
    return session.draft.base.ruleset_id, session.dirty


def cursor_line(held: Stage) -> str:
    """The line of the draft that the cursor is in."""
    area = editor(held).query_one(TextArea)
    return area.document.get_line(area.cursor_location[0])


@asynccontextmanager
async def rules_stage(*keys: str, size: tuple[int, int] = (160, 40), **options: Any) -> AsyncIterator[Stage]:
    """A stage in view 4, once its rules are read, after these keys."""
    async with stage(size, **options) as held:
        await held.press("4", *keys, rounds=3)
        yield held


async def at_line(held: Stage, words: str) -> None:
    """Put the cursor of the rules on the line that has these words."""
    rows = rows_of(held, "#rules-lines")
    place = next(place for place, row in enumerate(rows) if words in row)
    held.app.screen.query_one("#rules-lines", CrawlTable).move_cursor(index=place)
    await held.quiet(1)


async def write(held: Stage, entry: str) -> None:
    """Write another rule into the draft, which is begun in view 4; the focus is outside the text then."""
    if top(held) is not RuleEditorScreen:
        await held.press("rule.edit", rounds=2)
    area = editor(held).query_one(TextArea)
    row = area.text.split("\n").index("exclusions:")
    area.insert(f"  - {{{entry}}}\n", (row, 0))
    editor(held).query_one("#draft-impact").focus()
    await held.quiet(1)


async def asked(held: Stage) -> None:
    """Waits for the question that is asked once something was counted."""
    await until(held, lambda: isinstance(held.app.screen, ConfirmScreen))
    await held.quiet()


async def retype_line(held: Stage, line: str) -> None:
    """Put another line in the place of the one that the cursor is in."""
    area = editor(held).query_one(TextArea)
    row = area.cursor_location[0]
    area.replace(line, (row, 0), (row, len(area.document.get_line(row))))
    await held.quiet(1)


def rows_of(held: Stage, table: str) -> list[str]:
    """The rows of a table as text."""
    found = held.app.screen.query_one(table, CrawlTable)
    rows = (found.row(key) for key in found.row_order)
    return [" ".join(filter(None, map(cell_text, row.cells))) for row in rows if row is not None]


@asynccontextmanager
async def on_database(crawl: Path) -> AsyncIterator[Stage]:
    """The console of mara on a resting database: what is asked for is carried out at once."""
    app = StageApp(
        ReadingSources(lambda: ConsoleReports(crawl), SampleExplainer, rules=ConsoleRules(crawl)),
        Operator(lambda: SteeredJournal(crawl, lambda: True, threading.Lock()), "mara"),
        EngineAccess(),
        Presentation(),
        FrozenClock(),
        beating=False,
    )
    app.tell_me()
    async with app.run_test(size=(160, 40)) as pilot:
        held = Stage(app, FakeReports(), FakeJournal(), app.clock, None, pilot)  # type: ignore[arg-type]
        await asyncio.wait_for(app.taken_in.wait(), PATIENT_S)
        yield held


def comes(held: Stage, policies: PolicySet, ruleset_id: int = 14, who: str = "me") -> Ruleset:
    """Another version is in force from now on."""
    before = held.reports.versions
    now = replace(before[0], ruleset_id=ruleset_id, policies=policies, parent_id=before[0].ruleset_id, who=who)
    held.reports.versions = (now, *(replace(one, current=False) for one in before))
    held.reports.commit()
    return now


async def seen(held: Stage) -> None:
    """What others have committed is read."""
    await held.settle(4, move_ms=1_100)
