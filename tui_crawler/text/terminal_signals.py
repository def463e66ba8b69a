"""What a terminal is told beside what it shows: its title, the bell, a notification of the desktop. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from tui_crawler.text.glyphs import in_ascii
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from tui_crawler.domain.history.alarm import Alarm

_LONGEST = 120
_APART_MS = 10_000  # from one bell, or notification, to the next
_NO_TITLE = ("", "dumb", "linux", "vt")  # how TERM begins where control strings would be shown, or there is no title
_OSC_9 = ("xterm-kitty", "xterm-ghostty")
_OSC_777 = ("foot", "rxvt-unicode")
_OSC_9_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty"})


class SignalsConfig(Protocol):
    """Which signals are wanted: the section `alarms` of a configuration."""

    @property
    def title(self) -> bool: ...
    @property
    def bell(self) -> bool: ...
    @property
    def notify(self) -> bool: ...


class TerminalSignals:
    """The control strings for one terminal, each a text to be written to it as a whole (xterm's "Control Sequences":
    OSC 2, XTWINOPS 22 and 23; OSC 9 of iTerm2, OSC 777 of rxvt-unicode)."""

    def __init__(
        self, name: str, environ: Mapping[str, str], config: SignalsConfig | None, *, ascii_only: bool
    ) -> None:
        """`environ` says which terminal it is; what is not wanted, or what it has not, is left out. No `config`: all
        are wanted."""
        kind, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
        speaks = kind not in _NO_TITLE and not kind.startswith("vt")
        self._title = (config is None or config.title) and speaks
        self._bell = (config is None or config.bell) and kind not in {"", "dumb"}
        self._osc = ""
        if (
            (config is None or config.notify) and speaks and not kind.startswith(("tmux", "screen"))
        ):  # they pass none on
            is_9 = kind.startswith(_OSC_9) or program in _OSC_9_PROGRAMS
            self._osc = "9" if is_9 else "777" if kind.startswith(_OSC_777) or "VTE_VERSION" in environ else ""
        self._ascii_only = ascii_only
        self._name, self._marks, self._next_at = name, "", 0

    def begin(self) -> str:
        """Keeps the title that the terminal has, and puts the name of the crawl there."""
        return f"\x1b[22;2t{self._titled()}" if self._title else ""

    def end(self) -> str:
        """Puts the title back."""
        return "\x1b[23;2t" if self._title else ""

    def alarm(self, alarm: Alarm) -> str:
        """The title with what stands now; bell and notification, unless there was one just before."""
        marks = [f"✗{alarm.severe}"] * bool(alarm.severe) + [f"⚠{alarm.warnings}"] * bool(alarm.warnings)
        self._marks = " ".join(marks)
        text = self._titled() if self._title else ""
        if alarm.at < self._next_at:
            return text
        self._next_at = alarm.at + _APART_MS
        told = self._shown(f"{self._name}: {alarm.kind.words} {alarm.origin} {alarm.message}".strip())
        if self._osc == "9":
            text += f"\x1b]9;{told}\x1b\\"
        elif self._osc:
            text += f"\x1b]777;notify;tui-crawler;{told.replace(';', ',')}\x1b\\"
        return text + "\x07" * self._bell

    def _titled(self) -> str:
        return f"\x1b]2;{self._shown(f'{self._marks} {self._name}'.strip())}\x1b\\"

    def _shown(self, text: str) -> str:
        plain = safe(text, _LONGEST)
        return in_ascii(plain) if self._ascii_only else plain
