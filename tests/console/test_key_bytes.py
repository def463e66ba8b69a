"""Which keys the bytes of a terminal are, by when they come: a lone ESC is a key soon, one sequence is one key."""

from __future__ import annotations

import os
import threading

import pytest
from textual import _parser, events

from tests.support.patience import PATIENT_S
from tui_crawler.console import terminal
from tui_crawler.console.terminal import ESC_S, KeyParser, PatientDriver, TerminalFile

PAUSE_S, TEXTUAL_S = 1.0, 0.099
SOON_S = ESC_S - 0.001


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ([(PAUSE_S, "\x1b"), (ESC_S, "")], ["escape"]),
        ([(PAUSE_S, "\x1b"), (SOON_S, "")], []),
        ([(PAUSE_S, "\x1b"), (SOON_S, "[B")], ["down"]),
        ([(PAUSE_S, "\x1b["), (TEXTUAL_S, "B")], ["down"]),  # a sequence that has begun is waited for
        ([(PAUSE_S, "\x1b"), (SOON_S, "["), (TEXTUAL_S, "B")], ["down"]),  # a slow line hands out byte by byte
        ([(PAUSE_S, "j\x1b"), (TEXTUAL_S, "[B")], ["j", "down"]),  # many keys, cut apart
        ([(PAUSE_S, "\x1b[200~text"), (TEXTUAL_S, "\x1b"), (TEXTUAL_S, "[201~")], ["text"]),  # a paste, too
        ([(PAUSE_S, "\x1b"), (ESC_S, ""), (PAUSE_S, "j"), (PAUSE_S, "\x1b"), (ESC_S, "")], ["escape", "j", "escape"]),
    ],
)
def test_pieces_of_one_key_are_one_key(
    typed: list[tuple[float, str]], keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ESCDELAY", raising=False)
    assert told(typed, monkeypatch) == keys


def test_who_says_how_long_an_escape_takes_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESCDELAY", "100")
    assert told([(PAUSE_S, "\x1b"), (TEXTUAL_S, "[B")], monkeypatch) == ["down"]


def told(typed: list[tuple[float, str]], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys and pastes of what was typed, each after a time in s; the parser is asked then and when it wants to be."""
    now = PAUSE_S
    for module in (_parser, terminal):
        monkeypatch.setattr(module, "get_time", lambda: now)
    parser, seen = KeyParser(), []
    for wait_s, data in typed:
        end = now + wait_s
        while now + parser.waits_s < end or (not data and parser.waits_s <= end - now + 1e-9):
            now += parser.waits_s
            seen += list(parser.tick())
        now = end
        seen += [*(parser.feed(data) if data else ()), *parser.tick()]
    return [one.key if isinstance(one, events.Key) else one.text for one in seen]


def test_an_input_that_has_ended_is_not_read_again_and_again() -> None:
    """A terminal that hung up reads as an end of file for ever."""
    reading, writing = os.pipe()
    os.close(writing)
    driver = PatientDriver.__new__(PatientDriver)
    driver.fileno, driver.exit_event = reading, threading.Event()
    driver.outlet = TerminalFile(None, reading)
    thread = threading.Thread(target=driver.run_input_thread, daemon=True)
    thread.start()
    thread.join(PATIENT_S)
    os.close(reading)
    assert not thread.is_alive()
    assert driver.outlet.lost
