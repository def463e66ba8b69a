"""Tables of the commands: whole in a pipe, and within the terminal on one."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cli.conftest import ORIGIN, Say, Terminal, Wiring, origin_view
from tui_crawler.cli import status_command
from tui_crawler.cli.printer import ColumnFit, columns, terminal_width
from tui_crawler.domain.records.view import RunView

HEADER = ("STATE", "ORIGIN", "TODO", "DONE", "WHY")
ROWS = (
    ("✓ done", "https://example.org", "12", "3", "nothing left to crawl"),
    ("▶ 日本", "http://x", "4", "500 000", ""),
)
NUMBERS = frozenset({2, 3})
WHOLE = 6 + 2 + 19 + 2 + 4 + 2 + 7 + 2 + 21
SQUEEZE = ColumnFit(WHOLE, drops=(3, 2), shrinks={4: 8, 1: 10})


def lines(width: int | None) -> list[str]:
    return list(columns(HEADER, ROWS, NUMBERS, None if width is None else replace(SQUEEZE, width=width)))


def test_with_room_for_everything_nothing_is_left_out():
    assert lines(WHOLE) == lines(300) == lines(None)
    assert lines(None)[0].split() == list(HEADER)
    assert lines(None)[1].endswith("nothing left to crawl")


def test_first_words_become_shorter_then_columns_go_in_their_order():
    assert lines(WHOLE - 1)[0].split() == list(HEADER)
    assert lines(WHOLE - 1)[1].endswith("nothing left to cra…")
    shortest = WHOLE - 13 - 9
    assert lines(shortest)[0].split() == list(HEADER)
    assert lines(shortest)[1].split()[:3] == ["✓", "done", "https://e…"]
    assert lines(shortest - 1)[0].split() == ["STATE", "ORIGIN", "TODO", "WHY"]
    assert lines(shortest - 1 - 9)[0].split() == ["STATE", "ORIGIN", "WHY"]


@given(width=st.integers(1, 100), text=st.text(st.characters(categories=["L", "N"]), max_size=60))
def test_no_line_is_wider_than_the_terminal(width: int, text: str):
    rows = [*ROWS, (text, text, "1", "1", text)]
    for line in columns(HEADER, rows, NUMBERS, replace(SQUEEZE, width=width)):
        assert cell_len(line) <= width


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch):
    assert terminal_width() is None
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "81")
    assert terminal_width() == 81


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("width", [60, 80, 100, 120, 200, None])
def test_status_fits_the_terminal_and_tells_everything_where_there_is_room(
    width: int | None, say: Say, wiring: Wiring, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(status_command, "terminal_width", lambda: width)
    wiring.reports.run_row = RunView(7, 1_000, 0, "", 9, "ua", "my-index", live=True, owner="process 4711 on host h")
    wiring.reports.origins = (
        origin_view(),
        origin_view("https://a-rather-long-name.of-a-host.example", state="FINISHED", finish_reason="rate_limited"),
    )
    told = say("status").out.splitlines()
    header = next(line.split() for line in told if line.startswith("STATE"))
    assert max(map(cell_len, told)) <= (width or 1_000)
    whole = ["STATE", "ORIGIN", "TODO", "PENDING", "DONE", "FAILED", "BLOCKED", "PATIENCE", "DELAY", "ETA", "WHY"]
    assert [name for name in whole if name in header] == header
    assert {"STATE", "ORIGIN", "WHY"} <= set(header)
    if width is None or width >= 200:
        assert header == whole
        assert any(line.startswith("◐ ready ") and ORIGIN in line for line in told)
        assert any(line.endswith("Retry-After is longer than allowed") for line in told)
    elif width == 80:
        assert header == ["STATE", "ORIGIN", "PENDING", "DONE", "WHY"]
