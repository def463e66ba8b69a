"""View 8: who crawls, those at work first, then those that have ended and how; what each holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.sample_crawl import NOW, origin, origins
from tests.console.sample_log import sessions, workers
from tests.console.sample_relations import texts_of
from tests.console.support import stage
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.workers.rows import LISTED, alone_lines, held_origins, session_lines
from tui_crawler.domain.records.operator_view import SessionView
from tui_crawler.domain.records.worker import WorkerView
from tui_crawler.text.cells import Styled
from tui_crawler.text.relations.workers import PROCESSES, process_of

W1, SILENT, PAUSED, LEAVING = workers()
_, _, RESTING, LOST, ENDED = sessions()


def words(line: Line) -> str:
    if isinstance(line, tuple):
        return "".join(map(words, line))
    return line.text if isinstance(line, Paragraph | Styled) else str(line)


def fields(one: WorkerView | SessionView, spent: float | None = None) -> dict[str, str]:
    return texts_of(PROCESSES, process_of(one, NOW, spent))


# what is made of rows


def test_a_worker_says_what_it_does_and_how_much() -> None:
    row = fields(W1, 163.0)
    assert row["state"] == "▶ crawling"
    assert (row["flight"], row["rate"], row["cpu"], row["origins"]) == ("12 of 16", "1.1k", "16%", "372")
    assert (row["beat"], row["host"], row["tags"], row["free"]) == ("1s ago", "alpha · 4711", "-", "41 GB")
    assert fields(W1)["cpu"] == "-"


def test_a_silent_worker_warns_and_tags_that_bind_it_are_marked() -> None:
    assert fields(SILENT)["state"] == "⚠ silent"
    assert fields(SILENT)["beat"] == "⚠ 50s ago"
    assert fields(PAUSED)["tags"] == "=news slow"


@pytest.mark.parametrize(
    ("session", "state", "end"),
    [(RESTING, "○ idle", "-"), (LOST, "✗ lost", "w1 on alpha"), (ENDED, "■ ended", "in order")],
)
def test_a_process_that_ended_says_how(session: SessionView, state: str, end: str) -> None:
    row = fields(session)
    assert (row["state"], row["end"]) == (state, end)


def test_a_lost_one_is_told_with_who_found_it_dead() -> None:
    found = replace(LOST, ended_by="found dead by process 90 on host beta")
    said = words(session_lines(found, UTC, NOW)[0])
    assert said == "w1  ✗ lost  2026-01-05 09:58:07: found dead by process 90 on host beta"


def test_origins_are_listed_by_what_is_left_to_do_a_few_of_many() -> None:
    many = [origin(f"https://{number}.example", worker="w1", todo=number) for number in range(LISTED + 9)]
    held = held_origins([*many, origin("https://other.example", worker="w2", todo=10**6)], "w1")
    assert len(held) == LISTED
    assert held[0].origin == f"https://{LISTED + 8}.example"
    assert not {view.origin for view in held_origins(origins(), "w1") if view.ended}


def test_who_crawls_alone_is_told_how_to_add_another() -> None:
    assert alone_lines(workers()) == []
    assert "tui-crawler worker --db" in words(alone_lines(workers()[:1])[0])
    assert "No worker is running" in words(alone_lines(())[0])


# on the screen


async def test_those_at_work_come_first_then_those_that_ended_last() -> None:
    async with stage((120, 40), keys="8", rounds=2) as held:
        assert held.table("#workers").row_order == [4, 5, 6, 7, 3, 2, 1]
        held.sees("Workers · 4 at work", "Origins of w1 · first 8 of 372 · most to do first")
        await held.press("j", "j", "j", "j", "j", rounds=1)
        held.sees("✗ lost", "w1 on alpha")


async def test_a_worker_that_is_killed_is_silent_and_then_lost() -> None:
    async with stage((120, 40), keys="8", rounds=2) as held:
        assert "⚠ silent" in held.text()
        dead, *others = sessions()
        dead = replace(dead, ended_at=NOW, ended_by="found dead by process 4711 on host alpha", origins=0)
        held.reports.at_work = tuple(one for one in workers() if one.name != "w2")
        held.reports.sessions = lambda _limit: (dead, *others)  # type: ignore[method-assign]
        await held.settle(2, move_ms=1_000)
        assert held.table("#workers").row_order == [4, 6, 7, 3, 5, 2, 1]
        assert "Workers · 3 at work" in held.text()
        await held.press(*"jjjj", rounds=1)
        assert "found dead by process 4711 on host alpha" in held.text()


async def test_a_worker_is_found_by_its_name_from_any_view() -> None:
    async with stage((120, 40)) as held:
        await held.settle(2, move_ms=6_000)
        await held.press(":", *"worker", "space", *"north-2", "enter", rounds=3)
        assert held.app.screen.WHERE.value == "Workers"
        assert held.table("#workers").cursor_key == 7
        await held.press("1", ":", *"worker", "space", *"nobody", "enter", rounds=3)
        assert "there is no worker nobody" in held.text()


async def test_enter_shows_the_origins_it_holds() -> None:
    reports = FakeReports()
    views = [*reports.rows.values()]
    reports.commit(replace(views[0], worker="w10"), replace(views[1], worker="w2"))
    async with stage((120, 40), reports=reports, keys="8 j enter") as held:
        assert held.app.screen.WHERE.value == "Origins"
        assert held.table("#origins").row_order == [views[1].origin]
        assert "filter: worker:=w2" in held.text()
        await held.press("nav.last", rounds=2)
        assert held.app.screen.WHERE.value == "Workers"


async def test_alone_it_says_how_another_one_is_added() -> None:
    async with stage((120, 40)) as held:
        held.reports.at_work = workers()[:1]
        await held.press("8", rounds=2)
        await held.commit(rounds=2, move_ms=5_000)
        assert "another one: tui-crawler worker" in held.text()
        held.reports.at_work = (replace(workers()[0], shared=False),)
        await held.commit(rounds=2, move_ms=1_000)
        assert "takes no other workers" in held.text()
        held.reports.at_work = ()
        await held.commit(rounds=2, move_ms=1_000)
        assert "No worker is running" in held.text()


async def test_frozen_it_stands_still() -> None:
    async with stage((120, 40), keys="8 f", rounds=2) as held:
        held.reports.at_work = workers()[:2]
        await held.settle(2, move_ms=1_000)
        assert "Workers · 4 at work" in held.text()
        await held.press("f", rounds=2)
        await held.settle(2, move_ms=1_000)
        assert "Workers · 2 at work" in held.text()


@pytest.mark.parametrize(("at_work", "number"), [(workers(), 0), ((), 1)])
async def test_between_two_readings_the_table_is_filled_once_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch, at_work: tuple[WorkerView, ...], number: int
) -> None:
    filled: list[str | None] = []
    fill = CrawlTable.fill
    monkeypatch.setattr(CrawlTable, "fill", lambda self, *a, **b: (filled.append(self.id), fill(self, *a, **b))[1])
    async with stage((120, 40), reports=FakeReports(at_work=at_work), keys="8") as held:
        filled.clear()
        for _ in range(4):
            held.clock.move(500)
            held.app.screen.move_on()  # type: ignore[attr-defined]
        assert filled.count("workers") == 2 * number
