"""What the header and the rows say whichever view is open, and when no worker is running."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW, WWW, origin, run_view
from tests.console.support import stage
from tui_crawler.console.action import Where
from tui_crawler.domain.history.coverage import Coverage, SeedEnd
from tui_crawler.text.format import count


async def test_an_engine_that_broke_off_is_called_so_and_nothing_looks_alive() -> None:
    dead = run_view(live=False, started_at=NOW - 600_000, heartbeat_at=NOW - 540_000, worked_ms=60_000)
    reports = FakeReports(newest_run=dead)
    async with stage(reports=reports) as held:
        text = held.text()
        assert "crawler died at 10:32" in text
        assert "00:01:00" in text.splitlines()[0], "its clock stands"
        assert "○ idle" in text
        for alive in ("crawling", "ready"):
            assert alive not in text
        reports.commit(replace(reports.rows[WWW], todo=3))  # a rule was applied
        await held.settle(3, move_ms=500)
        assert "crawling" not in held.text()
        reports.newest_run = run_view()
        reports.commit()
        await held.settle(3, move_ms=500)
        assert re.search("▶ ?crawling", held.text())
        assert "broke off" not in held.text()


async def test_what_changed_under_another_view_is_in_its_header_and_in_the_row_afterwards() -> None:
    async with stage() as held:
        crawling = held.reports.rows[WWW]
        await held.press("5", rounds=2)
        held.reports.commit(
            replace(crawling, state="FINISHED", finish_reason="exhausted", in_flight_url="", done=77_001)
        )
        await held.settle(3, move_ms=500)
        assert f"todo {count(held.reports.totals().todo)} " in held.text().splitlines()[0]
        await held.press("1", rounds=2)
        row = next(line for line in held.text().splitlines() if "www.example.com" in line)
        assert "✓finished" in row.replace(" ", "")
        assert "77 001" in row


async def test_a_run_that_ended_says_whether_it_is_complete_and_which_origin_is_empty() -> None:
    """Unasked, on the first screen."""
    over = run_view(live=False, finished_at=NOW, finish_reason="exhausted")
    seed = SeedEnd(f"{WWW}/", "noindex", 200, f"{WWW}/", "noindex: result dropped")
    reports = FakeReports(newest_run=over, coverage=Coverage(over, seeds=(seed,), seeds_total=1, seeds_lost=1))
    empty = replace(
        reports.rows[WWW], state="FINISHED", finish_reason="exhausted", in_flight_url="", empty=seed.message
    )
    reports.rows = {WWW: empty}
    async with stage((160, 40), reports=reports) as held:
        await held.settle(3, move_ms=500)
        text = held.text()
        assert "; not complete: 1 of 1 seed" in text.splitlines()[0], "the header"
        assert "⚠ empty" in text
        assert "empty: noindex" in text


async def test_an_origin_has_its_scheme_only_where_the_host_has_another_one_too() -> None:
    both, alone = ("http://two.example", "https://two.example"), "http://one.example"
    async with stage((160, 50), reports=FakeReports(rows={name: origin(name) for name in (*both, alone)})) as held:
        for name in (*both, alone):
            held.app.go_to(Where.origin, name)
            await held.settle(2)
            assert held.on_top.crumbs() == ("Origins", name if name in both else "one.example")
        await held.commit(origin("https://one.example"))
        assert held.on_top.crumbs() == ("Origins", alone)
