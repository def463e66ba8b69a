"""Which keys the bytes of a terminal are, by when they come: a lone ESC is a key soon, one sequence is one key."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from textual import _parser, events
from textual.app import App

from tests.support.patience import PATIENT_S
from tui_crawler.console import terminal
from tui_crawler.console.terminal import ESC_S, MOST_AHEAD, KeyParser, PatientDriver, TerminalFile

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


def test_a_paste_without_end_does_not_fill_memory_and_what_comes_after_it_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminal, "LONGEST_PASTE", 100)
    pieces = ["\x1b[200~", *["x" * 40] * 50, "x\x1b[20", "1~j", "\x1b[200~text\x1b[201~"]
    pasted, key, after = told([(PAUSE_S, piece) for piece in pieces], monkeypatch)
    assert set(pasted) == {"x"}
    assert len(pasted) < 200
    assert (key, after) == ("j", "text")


async def test_what_is_typed_faster_than_the_app_acts_stays_in_the_terminal() -> None:
    class Slow(App[None]):
        taken = 0

        async def on_event(self, event: events.Event) -> None:
            await super().on_event(event)
            if isinstance(event, events.Key):
                self.taken += 1
                await let_on.wait()
                if self.taken == keys:
                    all_taken.set()

    class Driver(PatientDriver):
        def _let_app_follow(self) -> None:
            self._loop.call_soon_threadsafe(waits.set)
            super()._let_app_follow()

    reading, writing = os.pipe()
    let_on, waits, all_taken = asyncio.Event(), asyncio.Event(), asyncio.Event()
    app, keys = Slow(), 64 * MOST_AHEAD
    async with app.run_test():
        driver = Driver.__new__(Driver)
        driver.fileno, driver.exit_event, driver.outlet = reading, threading.Event(), TerminalFile(None, reading)
        driver._app, driver._loop, driver._down_buttons = app, asyncio.get_running_loop(), []
        driver.cursor_origin = None
        os.write(writing, b"j" * keys)
        thread = threading.Thread(target=driver.run_input_thread, daemon=True)
        thread.start()
        for _ in range(2):
            waits.clear()
            await waits.wait()
        assert app.message_queue_size <= 2 * MOST_AHEAD
        let_on.set()
        await all_taken.wait()
        os.close(writing)
        await asyncio.to_thread(thread.join, PATIENT_S)
    os.close(reading)
    assert not thread.is_alive()


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
