"""The thread that reads: it takes one wish at a time and hands back what it read. Knows no screen."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.failure_words import failure_words, is_damage, is_lock
from tui_crawler.console.refresh import Reader, Snapshot, Wants

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.clock import ConsoleClock
    from tui_crawler.console.ports import Reports


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
        self,
        reports_factory: Callable[[], Reports],
        clock: ConsoleClock,
        deliver: Callable[[Answer], object],
    ) -> None:
        self._factory = reports_factory
        self._clock = clock
        self._deliver = deliver
        self._wake = threading.Condition()
        self._wish: Wants | None = None
        self._busy = False
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a reading is under way or waits to be begun."""
        return self._busy

    def ask(self, wants: Wants) -> bool:
        """Asks for a reading. False, and nothing happens, while another one is under way (from any thread)."""
        with self._wake:
            if self._busy or self._closed:
                return False
            self._busy = True
            self._wish = wants
            self._wake.notify()
        return True

    def close(self) -> None:
        """Ends the thread after the reading under way (from any thread)."""
        with self._wake:
            self._closed = True
            self._wake.notify()

    def run(self) -> None:
        """Reads until closed. Blocking."""
        reader: Reader | None = None
        while (wants := self._next()) is not None:
            answer: Answer
            try:
                if reader is None:
                    reader = Reader(self._factory(), self._clock)
                answer = reader.read(wants)
            except Exception as error:  # noqa: BLE001, RUF100  whatever fails below must not end the console
                answer = ReadFailed(failure_words(error), is_lock(error), is_damage(error))
            self._busy = False
            self._deliver(answer)
        if reader is not None:
            reader.close()

    def _next(self) -> Wants | None:
        with self._wake:
            self._wake.wait_for(lambda: self._closed or self._wish is not None)
            wish, self._wish = self._wish, None
            return None if self._closed else wish
