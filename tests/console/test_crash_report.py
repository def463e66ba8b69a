"""What is printed when the console itself fails: a traceback in plain characters, whatever stands in it."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from rich.console import Console
from rich.segment import ControlType, Segment, Segments
from rich.text import Text

from tests.console.poison import CASES, OWN, seen
from tests.support.terminal import in_terminal
from tui_crawler.console.terminal_app import in_plain_characters


@pytest.mark.parametrize("payload", (CASES | OWN).values(), ids=CASES | OWN)
def test_reports_are_plain_whatever_they_hold(payload: str) -> None:
    control = Segment("", None, [(ControlType.BELL,)])
    reports = [Segments([Segment(f"no such thing: {payload}\n"), control]), Text(f"one\n{payload}")]
    for report in in_plain_characters(Console(width=100), reports):
        assert isinstance(report, Segments)
        for piece in report.segments:
            assert not piece.is_control
            assert all(line.isprintable() for line in piece.text.split("\n")), seen(piece.text)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")
@pytest.mark.parametrize("mode", ["crashing", "crashing welcome"])
def test_a_crash_prints_its_reason_and_nothing_that_is_obeyed(mode: str) -> None:
    with in_terminal([sys.executable, "-m", "tests.console.pty_child", mode]) as terminal:
        assert terminal.read_to_end() == 3
        after = bytes(terminal.raw).rpartition(b"\x1b[?1049l")[2].decode()
    assert "no such thing" in after
    assert "\\x9b31m" in after, "spelled out"
    assert "\x1b]" not in after
    assert not [char for char in after if unicodedata.category(char) in {"Cf", "Cs", "Co"} or 0x7F <= ord(char) <= 0x9F]
