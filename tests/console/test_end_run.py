"""Ending a run from any console on it: what is asked, what is written, and where it cannot be."""

from __future__ import annotations

from dataclasses import replace

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW, run_view
from tests.console.support import FakeHost, Stage, stage
from tui_crawler.console.dialogs.choose import ConfirmScreen
from tui_crawler.domain.records.command import StopOrigins


async def type_end(held: Stage) -> None:
    await held.enter(":end", rounds=0)
    await held.quiet()


async def test_an_attached_console_ends_the_run_of_another_process_after_a_question_that_names_it() -> None:
    async with stage((120, 40)) as held:
        await type_end(held)
        assert isinstance(held.app.screen, ConfirmScreen)
        text = held.text()
        assert "End run 7 of my-index?" in text
        assert "process 4711 on host reef crawls it, and ends with it." in text
        assert "stay pending for the next run" in text
        assert held.journal.sent == []
        await held.press("y", rounds=0)
        await held.decided()
        assert held.journal.sent == [StopOrigins()]
        assert "same as: tui-crawler stop --all" in held.text()


async def test_no_ends_nothing() -> None:
    async with stage((120, 40)) as held:
        await type_end(held)
        await held.press("escape", rounds=0)
        await held.quiet()
        assert held.journal.sent == []


async def test_the_console_that_crawls_ends_its_own_run_and_stays() -> None:
    host = FakeHost()
    async with stage((120, 40), host=host) as held:
        await type_end(held)
        assert "End run 7 of my-index?" in held.text()
        assert "ends with it" not in held.text()
        await held.press("y", rounds=0)
        await held.decided()
        assert held.journal.sent == [StopOrigins()]
        host.end.set()


async def test_where_nobody_crawls_there_is_nothing_to_end() -> None:
    over = replace(run_view(), live=False, finished_at=NOW, finish_reason="exhausted")
    async with stage((120, 40), reports=FakeReports(newest_run=over)) as held:
        await type_end(held)
        assert held.told == "end run: no run is at work"
        assert held.app.screen is held.app.console_screen


async def test_a_console_that_only_watches_ends_nothing() -> None:
    async with stage((120, 40), readonly=True) as held:
        await type_end(held)
        assert held.told == "end run: this console is read-only"


async def test_the_help_sheet_and_the_question_before_leaving_say_how_to_end_it() -> None:
    async with stage((160, 50)) as held:
        await held.press("question_mark")
        await held.type("end run")
        await held.quiet()
        assert ":end" in held.text()
        await held.press("escape", rounds=0)
        await held.press("ctrl+c")
        assert "The crawl continues in process 4711 on host reef." in held.text()
        assert ":end ends it." in held.text()
