"""The progress of a run on a terminal: totals and a bar per origin, redrawn in place at most four times a second."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tui_crawler.cli.printer import LineQueue, Stream
from tui_crawler.cli.run_watch import query_words, run_on
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.run_totals import OriginProgress, RunTotals
from tui_crawler.text.format import count, duration, elapsed, plural, rate
from tui_crawler.text.glyphs import StateGlyph, state_mark
from tui_crawler.text.safe_text import clip, fit, safe
from tui_crawler.text.standing import end_mark

if TYPE_CHECKING:
    from tui_crawler.domain.history.alarm import Alarm
    from tui_crawler.text.terminal_signals import TerminalSignals

REDRAW_SECONDS = 0.25
MOST_ORIGINS = 40
"""So many origins are shown even on a very high terminal."""

_COLOURS = {
    "active": "green",
    "ok": "green",
    "waiting": "cyan",
    "paused": "yellow",
    "warning": "yellow",
    "error": "red",
}
_WIDE_CELLS = 100
_NARROW_CELLS = 70


def frame(ledger: RunTotals, now: int, columns: int, rows: int) -> list[Text]:
    """The lines to show at `now` (epoch ms): no more than fit, none as wide as the terminal, so none wraps."""
    width = columns - 1
    totals = (  # what the summary counts, too; the clock is that of this process
        f"{elapsed(max(0, now - ledger.started_at) if ledger.started_at else 0)}  "
        f"{plural(ledger.turns, 'turn')} {'in this run' if ledger.continued else 'with a request'}, "
        f"{rate(ledger.rate(now))}/s  "
        f"{plural(ledger.pages_done, 'page')} done  {count(ledger.pages_failed)} failed  {count(ledger.todo)} todo"
    )
    lines = [_fitted(totals, width, "bold")]
    if trouble := ledger.trouble or next(reversed(ledger.complaints), ""):
        lines.append(_fitted(f"⚠ {safe(trouble)}", width, "red"))
    if ledger.refused_query:
        lines.append(_fitted(f"⚠ {query_words(ledger.refused_query)}", width, "yellow"))
    room = max(0, min(rows - 1 - len(lines), MOST_ORIGINS))
    # Origins at work first, then those that gave up; within a kind in the order in which they started.
    ordered = sorted(ledger.origins.values(), key=lambda one: (2 - one.gave_up) if one.state == "finished" else 0)
    shown = ordered if len(ordered) <= room else ordered[: max(0, room - 1)]
    lines += [_origin_line(one, now, width) for one in shown]
    if len(shown) < len(ordered) and room:
        rest = ordered[len(shown) :]
        told = ", ".join(f"{number} {word}" for word, number in Counter(_mark(one).word for one in rest).items())
        lines.append(_fitted(f"… and {plural(len(rest), 'more origin')}: {told}", width, "dim"))
    return lines


def _mark(one: OriginProgress) -> StateGlyph:
    return end_mark(one.reason) if one.state == "finished" else state_mark(one.state)


def _origin_line(one: OriginProgress, now: int, width: int) -> Text:
    """State, origin, bar, figures, ETA; a narrow terminal gets a shorter bar, then none."""
    wide = width >= _WIDE_CELLS
    mark = _mark(one)
    done = one.pages_done + one.pages_failed
    eta = one.eta_ms(now)
    last = f"ETA {duration(eta)}" if eta is not None else safe(one.last_exit_code) if wide else ""
    head = f"{fit(mark.label, 17)} "
    bar_cells = 20 if wide else 10 if width >= _NARROW_CELLS else 0
    total = done + one.todo
    full = min(bar_cells, done * bar_cells // total) if total else 0
    bar = f" {'█' * full}{'·' * (bar_cells - full)}" if bar_cells else ""
    tail = f"{count(done) + '/' + count(total):>13}  {fit(last, 24 if wide else 11)}"
    room = max(10, width - cell_len(head) - cell_len(bar) - cell_len(tail))
    text = head + fit(safe(one.origin), room) + bar + tail
    return _fitted(text.rstrip(), width, _COLOURS.get(mark.role, ""))


def _fitted(text: str, width: int, style: str) -> Text:
    return Text(clip(text, width), style=style, no_wrap=True, end="")


@dataclass(slots=True)
class Painter:
    """Draws a frame over the last one. Hides no cursor and changes no mode, so there is nothing to restore."""

    _out: Stream
    _widths: tuple[int, ...] = ()
    _shown: str = ""

    def forget(self) -> None:
        """The last frame stays where it is and the next one begins below it (after a suspension)."""
        self._widths, self._shown = (), ""

    def draw(self, lines: Sequence[Text], columns: int) -> None:
        """Replace the frame. `columns` is the present width, to which the terminal may have wrapped the last frame.
        Raises OSError when the terminal is gone."""
        width = max(1, columns)
        console = Console(file=io.StringIO(), force_terminal=True, width=width, height=1, legacy_windows=False)
        with console.capture() as captured:
            console.print(Text("\n").join(lines), end="", soft_wrap=True, highlight=False)
        body = captured.get()
        if body == self._shown:
            return
        self.write(self._erasure(columns) + body)
        self._shown = body
        self._widths = tuple(line.cell_len for line in lines)

    def erase(self, columns: int) -> None:
        """Takes the frame off the screen. Raises OSError when the terminal is gone."""
        self.write(self._erasure(columns))
        self.forget()

    def _erasure(self, columns: int) -> str:
        if not self._widths:
            return ""
        rows = sum(max(1, -(-width // max(1, columns))) for width in self._widths)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\x1b[J"

    def write(self, text: str) -> None:
        """Writes a frame, or what takes no place on the screen. Raises OSError when the terminal is gone."""
        self._out.write(text)
        self._out.flush()


class ProgressDisplay:
    """A listener that keeps the ledger and has a thread draw it; a terminal that stands still gets no other frame until
    it has taken the last one. `closed`: the terminal is gone; the next event ends the run by `stop_run`."""

    def __init__(
        self,
        out: Stream,
        ledger: RunTotals,
        size: Callable[[], os.terminal_size],
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        signals: TerminalSignals | None = None,
    ) -> None:
        """`size` tells the terminal's present size, `now` the epoch ms; `signals` are given beside what is drawn."""
        self._signals, self._out, self._ledger, self._size, self._now = signals, out, ledger, size, now
        self._painter, self._lock, self._over = Painter(out), threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._draw_on, name="progress", daemon=True)
        self._former: object = None
        self._told = False
        self.stop_run: Callable[[], None] = run_on
        self.closed = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGCONT, lambda *_: self._painter.forget())
        self._signal(lambda signals: signals.begin())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._signal(lambda signals: signals.end())
        self._thread.join(2.0)
        if self._former is not None:
            signal.signal(signal.SIGCONT, self._former)  # type: ignore[arg-type]  # what signal.signal gave
        if not self._thread.is_alive():
            self._guarded(lambda: self._painter.erase(self._size().columns))

    def on_event(self, event: Event) -> None:
        with self._lock:
            self._ledger.take(event)
        if self.closed and not self._told:
            self._told = True
            self.stop_run()

    def on_alarm(self, alarm: Alarm) -> None:
        self._signal(lambda signals: signals.alarm(alarm))

    def _signal(self, made: Callable[[TerminalSignals], str]) -> None:
        if self._signals is not None and (text := made(self._signals)):
            self._guarded(lambda: self._painter.write(text))

    def redraw(self) -> None:
        if isinstance(self._out, LineQueue) and self._out.pending:
            return
        columns, rows = self._size()
        with self._lock:
            lines = frame(self._ledger, self._now(), columns, rows)
        self._guarded(lambda: self._painter.draw(lines, columns))

    def _draw_on(self) -> None:
        while not self._over.wait(REDRAW_SECONDS) and not self.closed:
            self.redraw()

    def _guarded(self, draw: Callable[[], None]) -> None:
        """A terminal that is gone ends the display and, by `closed`, the run; it never raises."""
        if self.closed:
            return
        try:
            draw()
        except (OSError, ValueError):
            self.closed = True


def terminal_size() -> os.terminal_size:
    """The size of the terminal on stdout; 80 × 24 when it tells none."""
    with contextlib.suppress(OSError, ValueError):
        size = os.get_terminal_size(sys.stdout.fileno())
        if size.columns and size.lines:
            return size
    return os.terminal_size((80, 24))
