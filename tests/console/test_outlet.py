"""How long the console waits for a terminal that takes nothing: for ever, and a moment when it is leaving."""

from __future__ import annotations

import os
import pty
from collections.abc import Iterator

import pytest

from tui_crawler.console import terminal
from tui_crawler.console.terminal import LOOKS_WHEN_LEAVING, TerminalFile


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: the one that is read, and the one that programs write to."""
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


class ViewLayouts:
    """Stands in for `select`: the terminal takes something again after so many looks; `leave_at` is when it is left."""

    def __init__(self, outlet: TerminalFile, ready_after: int, leave_at: int) -> None:
        self.outlet, self.ready_after, self.leave_at = outlet, ready_after, leave_at
        self.count = 0

    def select(
        self, _read: object, write: list[int], _other: object, _wait_s: float
    ) -> tuple[object, list[int], object]:
        self.count += 1
        self.outlet.leaving = self.count > self.leave_at
        return [], write if self.count > self.ready_after else [], []


def written(outlet: TerminalFile, looks: ViewLayouts, patched: pytest.MonkeyPatch) -> None:
    patched.setattr(terminal, "select", looks)
    outlet.write("the terminal is yours again")


def test_how_long_it_stood_still_before_does_not_count(ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    outlet = TerminalFile(None, ends[1])
    still = 10 * LOOKS_WHEN_LEAVING
    written(outlet, ViewLayouts(outlet, ready_after=still + LOOKS_WHEN_LEAVING - 1, leave_at=still), monkeypatch)
    assert not outlet.lost
    assert os.read(ends[0], 100) == b"the terminal is yours again"


def test_a_terminal_that_takes_nothing_is_given_up_when_leaving(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    outlet = TerminalFile(None, ends[1])
    looks = ViewLayouts(outlet, ready_after=1_000, leave_at=5)
    written(outlet, looks, monkeypatch)
    assert outlet.lost
    assert looks.count == 5 + LOOKS_WHEN_LEAVING
