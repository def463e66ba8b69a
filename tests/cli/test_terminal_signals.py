"""What a terminal is told beside what it shows."""

from __future__ import annotations

import pytest

from tui_crawler.config.sections import AlarmsConfig
from tui_crawler.domain.history.alarm import Alarm, AlarmKind
from tui_crawler.text.terminal_signals import TerminalSignals

ALARM = Alarm(20_000, AlarmKind.origin_gave_up, "https://a.example", "no patience is left", 2, 1)


def signals(name="my-index", ascii_only=False, wanted=AlarmsConfig(), **environ):  # noqa: B008  frozen
    return TerminalSignals(name, {"TERM": "xterm-256color", **environ}, wanted, ascii_only=ascii_only)


def test_the_title_says_what_stands_and_comes_back():
    made = signals()
    assert made.begin() == "\x1b[22;2t\x1b]2;my-index\x1b\\"
    assert made.alarm(ALARM) == "\x1b]2;✗2 ⚠1 my-index\x1b\\\x07"
    assert made.begin() == "\x1b[22;2t\x1b]2;✗2 ⚠1 my-index\x1b\\", "as after a suspension"
    assert made.end() == "\x1b[23;2t"


def test_in_ascii_no_byte_is_above_0x7f():
    made = signals("größer", ascii_only=True)
    assert (made.begin() + made.alarm(ALARM)).isascii()


@pytest.mark.parametrize(
    ("environ", "begins"),
    [
        (
            {"TERM": "xterm-kitty"},
            "\x1b]9;my-index: origin stopped after errors https://a.example no patience is left\x1b\\\x07",
        ),
        ({"TERM_PROGRAM": "WezTerm"}, "\x1b]9;"),
        ({"TERM": "foot"}, "\x1b]777;notify;tui-crawler;my-index: "),
        ({"VTE_VERSION": "7006"}, "\x1b]777;"),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7006"}, "\x07"),
    ],
)
def test_a_notification_goes_the_way_the_terminal_has(environ, begins):
    without_title = signals(wanted=AlarmsConfig(title=False), **environ).alarm(ALARM)
    assert without_title.startswith(begins)


def test_bell_and_notification_are_rare_the_title_is_not():
    made = signals(TERM="foot")
    assert made.alarm(ALARM).count("\x07") == 1
    again = made.alarm(Alarm(20_001, AlarmKind.origin_gave_up, "https://b.example", "", 3, 1))
    assert again == "\x1b]2;✗3 ⚠1 my-index\x1b\\"
    assert "\x07" in made.alarm(Alarm(30_000, AlarmKind.run_ended, "", "", 3, 1))


@pytest.mark.parametrize("term", ["", "dumb", "linux", "vt100"])
def test_terminals_that_know_nothing_of_it_get_no_control_string(term):
    made = signals(TERM=term)
    assert made.begin() + made.alarm(ALARM).replace("\x07", "") + made.end() == ""


def test_each_can_be_turned_off():
    made = signals(TERM="foot", wanted=AlarmsConfig(title=False, bell=False, notify=False))
    assert made.begin() + made.alarm(ALARM) + made.end() == ""


def test_hostile_text_ends_no_control_string():
    alarm = Alarm(20_000, AlarmKind.trap_suspected, "https://a.example/\x1b\\\x07\x9c;x", "\x1b]52;c;AAAA\x07", 0, 1)
    text = signals("name\x1b]0;owned\x07", TERM="foot").alarm(alarm)
    assert text.count("\x1b") == 4
    assert text.count("\x07") == 1
    assert "\x9c" not in text
    assert text.rpartition("777;")[2].count(";") == 2
