"""The thread that reads, one request at a time; when the console reads, and how often, by what taking in and painting
cost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from tui_crawler.console.reading.ask import ReadingRequest
from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.console.reading.refresh import Snapshot, SnapshotReader
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.failure import DatabaseDamaged, DatabaseLocked, ReadingStopped

if TYPE_CHECKING:
    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.panes.notice import Notify
    from tui_crawler.console.ports import Reports
    from tui_crawler.console.screen.base import ConsoleScreen


@dataclass(frozen=True, slots=True)
class ReadFailed:
    """The database could not be read; `message` is raw. `locked`: another program's lock is all that is in the
    way. `damaged`: it is no whole database any more."""

    message: str
    locked: bool = False
    damaged: bool = False


Answer = Snapshot | ReadFailed | None
"""What a reading gives; None: nothing has changed."""


class Poller:
    """Reads in a thread of its own (call `run` in a thread worker). At most one reading is under way."""

    def __init__(
        self, reports_factory: Callable[[], Reports], clock: ConsoleClock, deliver: Callable[[Answer], object]
    ) -> None:
        self._factory, self._clock, self._deliver = reports_factory, clock, deliver
        self._wake = threading.Condition()
        self._wanted: ReadingRequest | None = None
        self._closed = False
        self.busy = False
        """Whether a reading is under way or waits to be begun."""

    def ask(self, wants: ReadingRequest, *, instead: bool = False) -> bool:
        """Asks for a reading. False, and nothing happens, while another one is under way, unless this one is wanted
        `instead` of it: then that one is given up (from any thread)."""
        with self._wake:
            if self._closed or (self.busy and not instead):
                return False
            self.busy, self._wanted = True, wants
            self._wake.notify()
        return True

    def close(self) -> None:
        """Ends the thread, and the reading under way (from any thread)."""
        with self._wake:
            self._closed = True
            self._wake.notify()

    def run(self) -> None:
        """Reads until closed. Blocking."""
        reports: Reports | None = None
        answer: Answer
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._wanted is not None)
                wants, self._wanted = self._wanted, None
            if self._closed or wants is None:
                break
            try:
                if reports is None:
                    made = self._factory()
                    made.stop_when(lambda: self._closed or self._wanted is not None)
                    reports, reader = made, SnapshotReader(made, self._clock)
                answer = reader.read(wants)
            except ReadingStopped:
                continue
            except Exception as error:  # whatever fails below must not end the console
                locked, damaged = isinstance(error, DatabaseLocked), isinstance(error, DatabaseDamaged)
                answer = ReadFailed(failure_words(error), locked, damaged)
            with self._wake:
                self.busy = self._wanted is not None
            self._deliver(answer)
        if reports is not None:
            reports.close()


BEAT_MS = 100
SLOW_POLL_MS = 25
STALE_MS = 1_500
_RATES = (10, 5, 2)
_CALM_POLLS = 20
_FIRST_BACKOFF_MS = 250
_LONGEST_BACKOFF_MS = 5_000


@dataclass(frozen=True, slots=True)
class PollPace:
    """`hz` is the present rate, `failures` how many readings failed in a row, `calm` how many rounds were quick."""

    hz: int = _RATES[0]
    failures: int = 0
    calm: int = 0
    slow_read_ms: int = 0

    @property
    def wait_ms(self) -> int:
        """How long to wait after a reading before the next one is asked for."""
        if self.failures:
            return min(_FIRST_BACKOFF_MS << min(self.failures - 1, 10), _LONGEST_BACKOFF_MS)
        return max(1_000 // self.hz, min(self.slow_read_ms, _LONGEST_BACKOFF_MS))

    def failed(self, *, locked: bool = False) -> PollPace:
        """The pace after a reading that failed: each one in a row doubles the wait, unless the database was `locked`
        by another program, for which SQLite has waited already."""
        return replace(self, failures=1 if locked else self.failures + 1, calm=0)

    def after(self, paint_ms: int, read_ms: int) -> PollPace:
        """The pace after a round: one step slower when taking it in cost over 25 ms, faster after a calm while.

        A reading that took long is followed by a wait of the same length, so that the database gets half the time.
        """
        slow_read = read_ms if read_ms > BEAT_MS else 0
        index = _RATES.index(self.hz)
        if paint_ms > SLOW_POLL_MS:
            return PollPace(_RATES[min(index + 1, len(_RATES) - 1)], slow_read_ms=slow_read)
        if self.calm + 1 >= _CALM_POLLS and index:
            return PollPace(_RATES[index - 1], slow_read_ms=slow_read)
        return PollPace(self.hz, calm=min(self.calm + 1, _CALM_POLLS), slow_read_ms=slow_read)


class PollTimer:
    """Asks for readings and times them."""

    def __init__(
        self,
        clock: ConsoleClock,
        factory: Callable[[], Reports],
        deliver: Callable[[Answer], object],
        tell: Notify,
        once_painted: Callable[..., object],
        waited_ms: Callable[[], int],
    ) -> None:
        """`factory` is called once, in the reading thread; so is `deliver`, with every answer. `once_painted` calls
        what it is given after the next painting, `waited_ms` is how long the terminal has let its writer wait."""
        self._clock, self._tell, self._once_painted, self._waited_ms = clock, tell, once_painted, waited_ms
        self.poller = Poller(factory, clock, deliver)
        self.pace = PollPace()
        self.failure = ""
        self.locked_since = 0
        """Since when (epoch ms) another program's lock keeps this from reading; 0 while none does."""
        self.damaged = False
        """Whether the database was found to be no whole one any more."""
        self.stale = False
        self._unreadable = ""
        self._asked = False
        self._ask_at = self._began = self._ended = self._waited = self._spent = 0
        self.new_screen = True
        """Whether another screen is on top, the cost of whose first picture says nothing of the pace."""

    @property
    def under_way(self) -> bool:
        """Whether a reading is under way or was not yet taken in."""
        return self.poller.busy or self._asked

    def ask_if_due(self, screen: ConsoleScreen, now: int) -> None:
        """Asks for what a screen wants, when it is time (`now`: monotonic ms)."""
        if now >= self._ask_at:
            self.ask(screen)

    def ask(self, screen: ConsoleScreen | None, *, at_once: bool = False, instead: bool = False) -> bool:
        """Asks for what a screen wants, `at_once` whatever was read a moment ago, `instead` of what is being read for
        another question; False when that cannot be."""
        if screen is not None and (instead or not self._asked):
            request = ReadingRequest(screen.wants(), at_once, screen.asker)
            self._asked = self.poller.ask(request, instead=instead)
            self._ask_at = self._ask_at or self._asked  # what is wanted from now on is for the next one
        return self._asked

    def soon(self) -> None:
        """With the next beat, not later."""
        self._ask_at = 0

    def begin(self, answer: Answer) -> None:
        """An answer is about to be taken in."""
        self._asked, self._began = False, self._clock.busy_ms()
        if not isinstance(answer, ReadFailed):
            self.failure, self.locked_since, self.damaged = "", 0, False
            if answer is not None and answer.unreadable != self._unreadable:
                self._unreadable = answer.unreadable
                self._tell("config", self._unreadable, "error")
            return
        self.damaged = answer.damaged
        self.pace = self.pace.failed(locked=answer.locked)
        if answer.locked:  # the header says so, as long as it lasts
            self.failure, self.locked_since = answer.message, self.locked_since or self._clock.wall_ms()
            return
        self.locked_since = 0
        if answer.message != self.failure:
            self.failure = answer.message
            self._tell("database", f"The database cannot be read: {answer.message}", "error")

    def end(self, read_ms: int, *, painted: bool) -> None:
        """It was taken in; `read_ms` is how long the reading took. Not `painted`: nothing changed on the screen."""
        self._ended = self._clock.mono_ms()
        if self._ask_at or self.failure:  # nothing is wanted sooner, or it cannot be had
            self._ask_at = self._ended + self.pace.wait_ms
        if self.failure:
            return
        if painted:
            first, self.new_screen = self.new_screen, False
            self._once_painted(self._over, self._began, read_ms, counts=not first)
        else:
            self._over(self._began, read_ms)

    def look_at_age(self, age_ms: int) -> int:
        """How old the picture is (ms) if that is too old, else 0."""
        self.stale = age_ms >= STALE_MS and (self._asked or bool(self.failure))
        return age_ms if self.stale else 0

    def _over(self, began: int, read_ms: int, *, counts: bool = True) -> None:
        """Everything is painted: what it cost the loop, and how long the terminal made the writer wait, is the pace."""
        waited, self._waited = self._waited, self._waited_ms()
        spent = self._clock.busy_ms() - began + self._waited - waited
        before, self._spent = self._spent, spent if counts else 0
        self.pace = self.pace.after(min(before, self._spent), read_ms)  # one slow round among quick ones is a hiccup
        if self._ask_at:  # nothing is wanted sooner
            self._ask_at = self._ended + self.pace.wait_ms
