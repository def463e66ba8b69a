"""The thread that writes what the operator asks for, and watches what becomes of it. Knows no screen."""

from __future__ import annotations

import queue
import time
from dataclasses import dataclass
from enum import Enum
from itertools import chain, repeat
from typing import TYPE_CHECKING

from tui_crawler.console.failure_words import failure_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.console.intent import Intent
    from tui_crawler.console.ports import Journal
    from tui_crawler.domain.command import ActionResult

WATCH_MS = 5_000
_LOOK_MS = 100


class Fate(Enum):
    """What became of an intent."""

    written = "written"
    done = "done"
    refused = "refused"
    waiting = "waiting"  # nobody has taken it up within WATCH_MS
    failed = "failed"  # it could not be written


@dataclass(frozen=True, slots=True)
class News:
    """What became of an intent; `error` is raw text, `results` are those of its commands, `ids` their action ids, both
    in their order."""

    intent: Intent
    fate: Fate
    error: str = ""
    results: tuple[ActionResult, ...] = ()
    ids: tuple[int, ...] = ()


class JournalDesk:
    """Writes intents in a thread of its own (call `run` in a thread worker), in the order they were handed in."""

    def __init__(
        self,
        journal_factory: Callable[[], Journal],
        who: str,
        wake: Callable[[], object],
        deliver: Callable[[News], object],
        now_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
    ) -> None:
        """`wake` tells the engine of this process that there are new rows; `now_ms` measures the watching."""
        self._factory = journal_factory
        self._who = who
        self._wake = wake
        self._deliver = deliver
        self._now_ms = now_ms
        self._inbox: queue.SimpleQueue[Intent | None] = queue.SimpleQueue()
        self._watched: list[tuple[Intent, list[int], int]] = []

    def hand_in(self, intent: Intent) -> None:
        """Takes an intent (from any thread)."""
        self._inbox.put(intent)

    def close(self) -> None:
        """Ends the thread once everything handed in is written (from any thread)."""
        self._inbox.put(None)

    def run(self) -> None:
        """Writes until closed. Blocking."""
        journal: Journal | None = None
        while True:
            try:
                intent = self._inbox.get(timeout=_LOOK_MS / 1_000 if self._watched else None)
            except queue.Empty:
                if journal is not None:
                    self._look(journal)
                continue
            if intent is None:
                break
            try:
                if journal is None:
                    journal = self._factory()
                undoes = chain(intent.undoes, repeat(0))
                ids = [journal.send(one, self._who, next(undoes)) for one in intent.commands]
            except Exception as error:  # noqa: BLE001, RUF100  whatever fails below must not end the console
                self._deliver(News(intent, Fate.failed, failure_words(error)))
                continue
            self._deliver(News(intent, Fate.written, ids=tuple(ids)))
            self._wake()
            self._watched.append((intent, ids, self._now_ms() + WATCH_MS))
        if journal is not None:
            journal.close()

    def _look(self, journal: Journal) -> None:
        """Tells what has become of the intents that were written."""
        still = []
        for intent, ids, until in self._watched:
            try:
                results = [journal.result(action_id) for action_id in ids]
            except Exception as error:  # noqa: BLE001, RUF100  the same
                self._deliver(News(intent, Fate.failed, failure_words(error)))
                continue
            if all(result is not None for result in results):
                errors = [result.error for result in results if result is not None and result.error]
                fate = Fate.refused if errors else Fate.done
                known = tuple(result for result in results if result is not None)
                self._deliver(News(intent, fate, "; ".join(errors), known))
            elif self._now_ms() >= until:
                self._deliver(News(intent, Fate.waiting))
            else:
                still.append((intent, ids, until))
        self._watched = still
