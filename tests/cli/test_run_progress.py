"""The progress on a terminal: what a frame holds, and that it stays whole whatever the terminal does."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import threading

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_printer import HOSTILE, Broken
from tests.cli.test_run_ledger import attempt, event, ledger_of
from tests.console.sample_crawl import origin
from tests.support.patience import PATIENT_S
from tui_crawler.cli.run_progress import MOST_ORIGINS, Painter, ProgressDisplay, frame, terminal_size
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.run_totals import RunTotals
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.text.standing import standing

A = "https://a.example.org"


class Screen:
    """A terminal emulator that a painter writes to."""

    def __init__(self, columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)
        self.columns = columns

    def write(self, text: str) -> int:
        self.stream.feed(text)
        return len(text)

    def flush(self) -> None:
        pass

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display if line.strip()]


def texts(ledger: RunTotals, columns: int = 120, rows: int = 30, now: int = 100_000) -> list[str]:
    return [line.plain for line in frame(ledger, now, columns, rows)]


def crawl(origins: int) -> RunTotals:
    started = [event("origin_started", f"https://h{n:03}.example", todo=10) for n in range(origins)]
    return ledger_of(event("run_started", at=40_000), *started)


def test_a_frame_shows_totals_and_a_line_per_origin():
    ledger = ledger_of(
        event("run_started", at=40_000),
        *(attempt(99_000, A, todo=30, pages_done=10, pages_failed=0) for _ in range(60)),
        event("origin_finished", "https://down.example", reason="patience", pages_done=1, pages_failed=5),
    )
    totals, first, second = texts(ledger)
    assert totals == "00:01:00  60 turns with a request, 2.0/s  11 pages done  5 failed  30 todo"
    assert first.startswith("▶ crawling        https://a.example.org")
    assert "10/40" in first
    assert "█████···············" in first
    assert first.endswith("ETA 33s")
    assert second.startswith("✗ stopped: errors https://down.example")


def test_a_database_that_takes_nothing_is_told_as_long_as_it_does():
    failed = Event(50_000, "database_failed", extra=(("message", "the disk is full:\x1b[2J no room"),))
    ledger = ledger_of(event("run_started", at=40_000), attempt(45_000, A, todo=1), failed)
    assert texts(ledger)[1] == "⚠ the disk is full:\\x1b[2J no room"
    assert len(texts(ledger, rows=3)) == 2
    ledger.take(Event(60_000, "database_restored"))
    assert texts(ledger)[1].startswith("▶ crawling")


@pytest.mark.parametrize(("columns", "cells"), [(120, 20), (80, 10), (60, 0)])
def test_the_bar_shortens_with_the_terminal(columns: int, cells: int):
    ledger = ledger_of(attempt(99_000, A, todo=10, pages_done=10, pages_failed=0))
    line = texts(ledger, columns)[1]
    assert (line.count("█"), line.count("·")) == (cells // 2, cells // 2)
    assert "10/20" in line
    assert line.endswith("ETA 11s")


@pytest.mark.parametrize("reason", FinishReason)
def test_an_end_has_the_word_and_the_glyph_that_the_console_shows(reason: FinishReason):
    view = origin(A, state="FINISHED", finish_reason=reason.value)
    ledger = ledger_of(event("origin_finished", A, reason=reason.value))
    assert texts(ledger)[1].startswith(f"{standing(view).label} ")


def test_wide_crawls_show_what_fits_and_count_the_rest():
    lines = texts(crawl(1_000), rows=12)
    assert len(lines) == 11
    assert lines[-1] == "… and 991 more origins: 991 crawling"
    assert len(texts(crawl(1_000), columns=120, rows=500)) == MOST_ORIGINS + 1


def test_origins_at_work_come_before_those_that_ended():
    ledger = crawl(3)
    ledger.take(event("origin_finished", "https://h000.example", reason="exhausted"))
    ledger.take(event("origin_finished", "https://h001.example", reason="patience"))
    hosts = [re.findall(r"h\d{3}", line)[0] for line in texts(ledger)[1:]]
    assert hosts == ["h002", "h001", "h000"]


@given(st.integers(1, 260), st.integers(1, 80), st.integers(0, 60))
def test_a_frame_always_fits(columns: int, rows: int, origins: int):
    lines = frame(crawl(origins), 100_000, columns, rows)
    assert len(lines) <= max(1, rows - 1)
    assert all(line.cell_len < columns for line in lines)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_made_safe(text: str):
    ledger = ledger_of(event("origin_finished", f"https://{text}", reason=text), attempt(2_000, code=text))
    assert all(line.isprintable() for line in texts(ledger))


def test_a_frame_replaces_the_last_one():
    screen = Screen(80, 10)
    screen.write("$ tui-crawler run\n")
    painter = Painter(screen)
    painter.draw(frame(crawl(5), 100_000, 80, 10), 80)
    assert len(screen.lines) == 7
    painter.draw(frame(crawl(2), 100_000, 80, 10), 80)
    assert len(screen.lines) == 4
    painter.erase(80)
    assert screen.lines == ["$ tui-crawler run"]


def test_what_the_terminal_wrapped_when_it_became_narrow_is_erased_too():
    painter = Painter(wide := Screen(100, 20))
    painter.draw(frame(crawl(2), 100_000, 100, 20), 100)
    before = wide.lines
    narrow = Screen(30, 20)
    narrow.write("$ tui-crawler run\n" + "\n".join(before))
    painter._out = narrow
    painter.draw(frame(crawl(2), 100_000, 30, 20), 30)
    assert narrow.lines[0] == "$ tui-crawler run"
    assert len(narrow.lines) == 4


def test_an_unchanged_frame_is_not_drawn_again():
    out = io.StringIO()
    painter = Painter(out)
    painter.draw(frame(crawl(2), 100_000, 80, 10), 80)
    once = out.getvalue()
    painter.draw(frame(crawl(2), 100_000, 80, 10), 80)
    assert out.getvalue() == once


def test_after_a_suspension_the_frame_begins_anew():
    screen = Screen(80, 20)
    painter = Painter(screen)
    painter.draw(frame(crawl(1), 100_000, 80, 20), 80)
    screen.write("\n[1]+  Stopped\n")
    painter.forget()
    painter.draw(frame(crawl(1), 100_000, 80, 20), 80)
    assert screen.lines[2] == "[1]+  Stopped"
    assert len(screen.lines) == 5


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    Painter(out).draw(frame(crawl(2), 100_000, 80, 10), 80)
    assert "\x1b[32m" not in out.getvalue()
    assert "h000" in out.getvalue()


class Watched(Screen):
    """A screen that tells when it was drawn on."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self.drawn = threading.Event()

    def flush(self) -> None:
        self.drawn.set()


def test_the_display_draws_by_itself_and_leaves_nothing_behind():
    screen, ledger = Watched(80, 10), RunTotals()
    size = os.terminal_size((80, 10))
    former = signal.getsignal(signal.SIGCONT)
    with ProgressDisplay(screen, ledger, lambda: size, now=lambda: 100_000) as display:
        display.on_event(event("origin_started", A, todo=3))
        assert screen.drawn.wait(PATIENT_S)
        display.redraw()
        assert any(A in line for line in screen.lines)
        os.kill(os.getpid(), signal.SIGCONT)
    assert signal.getsignal(signal.SIGCONT) == former
    display._thread.join(PATIENT_S)
    assert not any(thread.name == "progress" for thread in threading.enumerate())
    assert ledger.todo == 3


def test_the_display_is_erased_also_when_the_run_raises():
    screen = Screen(80, 10)
    size = os.terminal_size((80, 10))
    display = ProgressDisplay(screen, RunTotals(), lambda: size, now=lambda: 0)
    with pytest.raises(LookupError), display:
        display.redraw()
        raise LookupError
    assert screen.lines == []


def test_a_terminal_that_is_gone_stops_the_run_once():
    out = Broken(errno.EIO)
    size = os.terminal_size((80, 10))
    display = ProgressDisplay(out, RunTotals(), lambda: size, now=lambda: 0)
    stops: list[None] = []
    display.stop_run = lambda: stops.append(None)
    display.redraw()
    assert display.closed
    for _ in range(3):
        display.on_event(event("origin_started", A))
        display.redraw()
    assert len(stops) == 1
    assert out.tries == 1


def test_a_stream_without_a_terminal_has_a_size_all_the_same():
    assert terminal_size().columns >= 1


def test_refused_queries_are_named_with_what_allows_them() -> None:
    refused = Event(1_000, "attempt_finished", A, f"{A}/list?page=2", "blocked_url_by_local_policy")
    assert not any("?page=2" in line for line in texts(crawl(1)))
    (line,) = (line for line in texts(ledger_of(refused)) if "?page=2" in line)
    assert "policies.url_query_parameters allows them" in line
