"""No crawled string reaches the screen as anything but plain characters: payloads × every string of every row."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import Input, TextArea

from tests.console.poison import (
    CASES,
    FORBIDDEN,
    OWN,
    WORST,
    PoisonedExplainer,
    PoisonedQueries,
    PoisonedReports,
    PoisonedRules,
    assert_clean,
    poison,
    seen,
)
from tests.console.poisoned_lines import every_line, printed
from tests.console.rule_stage import counted
from tests.console.support import FakeHost, Stage, stage
from tui_crawler.console.action import Where
from tui_crawler.console.failures import rows as failure_rows
from tui_crawler.console.jobs.queries import LEDGERS
from tui_crawler.console.panes.line import Line
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.session import ConsoleSession, SessionFile
from tui_crawler.console.sql.screen import SqlScreen
from tui_crawler.console.table.export import ENCODINGS, FORMATS
from tui_crawler.text.safe_text import safe

__all__ = ["CASES", "FORBIDDEN", "WORST", "PoisonedReports", "assert_clean", "poison"]

NUMBER = re.compile(r"-?\d[\d.]*(e[+-]?\d+)?").fullmatch
_checked: set[Line] = set()
"""Lines that were laid out already: most of what is made of a payload does not hold it."""


@pytest.mark.parametrize("payload", (CASES | OWN).values(), ids=CASES | OWN)
def test_every_cell_and_line_is_plain_in_every_width(payload: str) -> None:
    for line in every_line(payload):
        if line in _checked:
            continue
        _checked.add(line)
        for width in (3, 20, 160):
            for pieces in lay_out_line(line, width):
                text = "".join(text for text, _ in pieces)
                assert cell_len(text) == width
                assert text.isprintable(), (line, seen(text))
                assert text.isascii() or safe(text) == text
    reports = PoisonedReports()
    reports.load(payload, names=True)
    for said in printed(reports, payload):
        assert said.isprintable(), seen(said)
        assert safe(said, 10_000) == said


class Tour:
    """One walk over every screen and dialog, looked at after every step."""

    def __init__(self, held: Stage, payload: str, exports: bool) -> None:
        self.held, self.payload, self.exports = held, payload, exports
        self.copied: list[str] = []

    async def press(self, *keys: str, rounds: int = 1) -> None:
        """Presses keys one after the other, and looks."""
        for key in keys:
            await self.held.press(key, rounds=rounds)
            assert_clean(self.held, self.payload)

    async def do(self, action_id: str, argument: str = "", rounds: int = 1) -> None:
        """Does an action as it is typed, and looks."""
        self.held.app.dispatcher.do(action_id, argument)
        await self.held.settle(rounds)
        assert_clean(self.held, self.payload)

    async def take_out(self) -> None:
        """Copies and exports the table of this place in every way."""
        if not self.exports:
            return
        for what in ("url", "curl", "json", "row"):
            self.held.app.dispatcher.do("copy.pick", what)
            self.copied.append(self.held.app.clipboard)
        for format_id, _ in FORMATS:
            self.held.clock.move(1)
            self.held.app.dispatcher.do("view.export", format_id)
        await self.held.quiet(1)
        assert_clean(self.held, self.payload)

    async def whole(self) -> None:
        """Every screen and dialog."""
        await self.overview()
        await self.origin()
        await self.failures()
        await self.dialogs()
        await self.urls()
        await self.logs_and_stats()
        await self.rules()
        await self.sql()
        await self.troubles()

    async def overview(self) -> None:
        await self.held.settle(1)
        assert_clean(self.held, self.payload)
        await self.take_out()
        await self.press("shift+tab", "log.next_error", "enter", "escape", "table.pivot", "escape", rounds=0)
        await self.take_out()
        await self.press("1", "table.pivot", "escape", rounds=0)

    async def origin(self) -> None:
        await self.press("enter", "enter", rounds=2)
        await self.press("escape", rounds=0)
        await self.take_out()
        await self.press("robots.view", rounds=2)
        await self.do("robots.test", f"/{self.payload}")
        await self.press("robots.test", rounds=0)
        await self.held.type(f"/x{self.payload}")
        await self.press("enter", "+", "+", "+", "robots.refetch", rounds=0)
        await self.held.decided()
        await self.press("escape", "escape", rounds=0)

    async def failures(self) -> None:
        await self.press("2", rounds=2)
        for _ in failure_rows.GROUPINGS:
            await self.press("failures.group", "enter", rounds=2)
            await self.take_out()
        await self.press("failures.group", "escape", "tab", "R", "escape", rounds=0)

    async def dialogs(self) -> None:
        await self.press("ctrl+p", "escape", "?", "escape", "focus.jump", "escape", "f1", "escape", "a", rounds=0)
        self.held.app.screen.query_one(TextArea).load_text("https://x.example/")
        await self.press("escape", "y", "escape", "view.export", "escape", "s", "escape", rounds=0)
        await self.press("1", "origin.stop", "escape", "P", "escape", rounds=0)

    async def urls(self) -> None:
        await self.press("3", "j", rounds=1)
        await self.take_out()
        await self.press("/", rounds=0)
        await self.held.type("re:(" + self.payload)
        await self.press("enter", "ctrl+l", "table.pivot", "enter", "ctrl+l")
        await self.press("enter", rounds=2)
        for key in ("url.tab_attempts", "url.tab_headers", "url.tab_links", "url.tab_body"):
            await self.press(key, rounds=2)
            await self.take_out()
        await self.press("url.raw", "url.raw", "url.tab_why", "focus.jump", "escape", rounds=1)
        await self.press("url.tab_links", "list.older", "list.newer", "escape", "i", rounds=0)
        await self.press("enter", rounds=2)
        for asked in (self.payload, f"odd{self.payload}"):
            self.held.app.go_to(Where.why, asked)
            await self.held.settle(2)
            assert_clean(self.held, self.payload)
        await self.press("1", rounds=0)

    async def logs_and_stats(self) -> None:
        await self.press("5", rounds=2)
        await self.take_out()
        await self.press("log.search", "o", "enter", "log.next_error", "log.next_warning", rounds=0)
        await self.press("log.origin", "log.time", "log.filter", "escape", rounds=0)
        await self.held.settle(1)
        assert_clean(self.held, self.payload)
        await self.press("7", rounds=1)
        for name in LEDGERS:
            await self.do("stats.ledger", name)
            self.held.app.screen.query_one("#ledger").focus()
            await self.take_out()
        await self.press("table.pivot", "escape", "job.depth", "escape", rounds=0)

    async def rules(self) -> None:
        await self.press("4", "tab", rounds=2)
        await self.take_out()
        await self.press("shift+tab", rounds=0)
        await self.take_out()
        await self.do("rules.test", f"https://x/{self.payload}")
        await self.press("enter", "home", "rule.edit", rounds=2)
        await self.press("enter", "escape", "escape", "y", "end", "rule.delete", "escape", "rules.exclude", rounds=1)
        await self.held.type(f"host: {self.payload}")
        await self.press("enter", "escape", "home", "j", "j", "rule.delete", rounds=1)
        await counted(self.held)
        await self.press("rule.edit", rounds=0)
        await self.held.type("bad")
        await counted(self.held)
        await self.press("escape", "escape", "y", rounds=0)

    async def sql(self) -> None:
        await self.press("sql.open", rounds=0)
        screen = self.held.app.screen
        assert isinstance(screen, SqlScreen)
        editor = screen.query_one(TextArea)
        for question in (f"select {self.payload}", f"fail {self.payload}", f"raise {self.payload}", "select 1"):
            screen.console.do("sql.open", question)
            await self.held.worked("sql")
            assert_clean(self.held, self.payload)
        editor.load_text("select u")
        editor.move_cursor(editor.document.end)
        await self.press("tab", "tab", "tab", "up", "up", rounds=0)
        for column in screen.query_one("#sql-rows").columns:  # type: ignore[attr-defined]  # a CrawlTable
            await self.do("sort.pick", column.id, rounds=0)
        screen.query_one("#sql-rows").focus()
        await self.take_out()
        await self.press("right", "table.pivot", "escape", "/", rounds=0)
        await self.held.type(self.payload)
        await self.press("enter", "escape", "escape", rounds=0)

    async def troubles(self) -> None:
        """Whatever goes wrong: told, noted among the events, and shown in the header."""
        held, payload = self.held, self.payload
        await self.press("1", rounds=0)
        held.app.tell("k", f"said {payload}", "error")
        held.journal.answer = payload
        await self.press("p", rounds=0)
        await held.decided()
        held.journal.failure = payload
        await self.press("P", rounds=0)
        held.reports.failure = payload
        await held.settle(3, move_ms=3_000)
        assert_clean(held, payload)
        await self.press("q", rounds=0)
        for line in held.app.way_out.summary().lines():
            assert line.isprintable(), seen(line)


@pytest.mark.parametrize("names", [False, True], ids=["values", "names too"])
async def test_no_payload_is_obeyed_or_breaks_a_screen(
    names: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    payload = OWN["worst turned"] if names else OWN["worst"]
    reports, rules = PoisonedReports(), PoisonedRules()
    reports.load(payload, names=names)
    rules.payload = payload
    memory = SessionFile(tmp_path / "state", "x")
    memory.keep(ConsoleSession(needle="org" if names else "", theme=payload, theme_over=payload))
    (tmp_path / "state" / "sql-history.json").write_text(json.dumps([payload, f"select {payload}"]))
    host = FakeHost(failure=ZeroDivisionError(f"engine {payload}")) if names else None
    async with stage(
        (120, 30),
        reports=reports,
        rules=rules,
        memory=memory,
        host=host,
        queries=PoisonedQueries(payload),
        explains=PoisonedExplainer,
    ) as held:
        held.app.crawl_name = held.app.live_state.who = payload
        tour = Tour(held, payload, exports=not names)
        await tour.whole()
        assert held.app.is_running
    if not names:
        assert len(set(tour.copied)) > 20
        for text in (*tour.copied, (tmp_path / "state" / "copied.txt").read_text("utf-8")):
            assert all(line.isprintable() for line in text.split("\n")), seen(text)
        look_at_exports(tmp_path / "exports")


def look_at_exports(folder: Path) -> None:
    """What was exported is plain text, and no cell is a formula."""
    files = {file: file.read_bytes().decode(ENCODINGS[file.suffix[1:]]) for file in folder.iterdir()}
    assert len({file.name.rsplit("-", 1)[0] for file in files}) > 9
    for file, text in files.items():
        assert all(line.isprintable() for line in text.replace("\r\n", "\n").split("\n")), (file, seen(text))
        if file.suffix == ".csv":
            for row in csv.reader(io.StringIO(text)):
                assert not [cell for cell in row if cell.lstrip()[:1] in {"=", "+", "-", "@"} and not NUMBER(cell)], (
                    file,
                    row,
                )
        elif file.suffix == ".jsonl":
            assert all(isinstance(json.loads(line), dict) for line in text.splitlines())


async def test_the_shown_text_is_the_payload_spelled_out() -> None:
    reports = PoisonedReports()
    reports.load("\x1b[2J", names=False)
    async with stage((200, 50), reports=reports) as held:
        assert "api.example.org\\x1b[2J" in held.text()
    reports.load("[@]", names=False)
    async with stage((200, 50), reports=reports) as held:
        assert "api.example.org[@]" in held.text()


async def test_an_input_holds_only_what_is_seen_of_it() -> None:
    async with stage() as held:
        await held.press("/", rounds=0)
        box = held.app.screen.query_one("#entry-input", Input)
        for payload in (CASES | OWN).values():
            box.value = f"a{payload}"
            await held.quiet(1)
            assert_clean(held, payload)
            assert box.value == safe(box.value, 10_000)
