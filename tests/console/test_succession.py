"""A console whose engine elsewhere is gone becomes the host itself; whoever was quicker is attached to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW, run_view
from tests.console.support import FakeHost, stage
from tests.support.patience import PATIENT_S
from tui_crawler.domain.history.diagnosis import DiagnosisFacts
from tui_crawler.domain.records.failure import RunHeld, StorageFailure

BROKEN_OFF = run_view(live=False)
ENDED = replace(BROKEN_OFF, finished_at=NOW, finish_reason="exhausted")


@pytest.mark.parametrize(
    ("run", "before", "says"),
    [
        (BROKEN_OFF, "crawler died at 10:4", "run 7 continues here; each origin waits one full delay first"),
        (ENDED, "the run ended at 10:41 (", "a run starts here; each origin waits its delay first"),
    ],
)
async def test_a_run_that_nobody_is_at_work_for_goes_on_here(run: object, before: str, says: str) -> None:
    host = FakeHost()
    reports = FakeReports(newest_run=run, facts=DiagnosisFacts(pending=812))
    async with stage((160, 40), reports=reports, successor=lambda: host) as held:
        await held.settle(3, 5_100)
        text = held.text()
        assert before in text
        assert ("812 URLs to do   [c] continue" in text) is (run is BROKEN_OFF), "who set an end to it knows"
        await held.press("run.start")
        await held.settle()
        assert await asyncio.to_thread(host.started.wait, PATIENT_S)
        assert says in held.text()
        assert "broke off" not in held.text()
        reports.newest_run = run_view()
        reports.commit()
        await held.settle(4, 500)
        assert "▶ running" in held.text()
        assert held.app.host_takeover.hindrance == "this console hosts the crawl already"
        host.end.set()
        await held.engine_over()
        assert held.app.host_takeover.hindrance == "the run of this console has ended"


async def test_where_somebody_is_at_work_or_only_watched_there_is_nothing_to_start() -> None:
    async with stage(successor=FakeHost) as held:
        assert "[c] continue" not in held.text()
        await held.press("run.start")
        assert held.told.startswith("continue: process ")
        assert held.app.hosting.host is None
    reports = FakeReports(newest_run=BROKEN_OFF, facts=DiagnosisFacts(pending=812))
    async with stage((160, 40), reports=reports, readonly=True) as held:
        await held.settle(3, 5_100)
        assert "crawler died, 812 URLs to do: start a console, or run `tui-crawler run CONFIG`" in held.text()
        await held.press("run.start")
        assert "this console is read-only" in held.told


async def test_an_engine_that_has_no_run_yet_does_not_run_though_another_one_does() -> None:
    host = FakeHost()
    host.begun.clear()
    reports = FakeReports(newest_run=BROKEN_OFF)
    async with stage((160, 40), reports=reports, successor=lambda: host) as held:
        await held.press("run.start")
        await held.settle()
        reports.newest_run = run_view()  # somebody's
        reports.commit()
        await held.settle(4, 500)
        assert "◐ starting" in held.text()
        host.begun.set()
        await held.settle(4, 500)
        assert "▶ running" in held.text()


async def test_who_was_quicker_is_attached_to() -> None:
    held_by_other = FakeHost(failure=RunHeld("another run holds this database: process 12"))
    reports = FakeReports(newest_run=BROKEN_OFF)
    async with stage((120, 40), reports=reports, successor=lambda: held_by_other) as held:
        await held.press("run.start")
        reports.newest_run = run_view()
        reports.commit()
        await held.settle(4, 500)
        assert "● attached" in held.text()
        assert any("attached: another run holds" in notice.text for notice in held.app.notices)


@pytest.mark.parametrize("configured", [True, False])
async def test_what_cannot_be_started_says_why(configured: bool) -> None:
    def refuse() -> FakeHost | None:
        if configured:
            raise StorageFailure("some.db is damaged")
        return None

    async with stage(reports=FakeReports(newest_run=BROKEN_OFF), successor=refuse) as held:
        await held.press("run.start")
        said = held.told
        assert ("cannot be started here: some.db is damaged" if configured else "keeps no configuration") in said
        assert "○ idle" in held.text()
