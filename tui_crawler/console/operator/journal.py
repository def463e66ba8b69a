"""The thread that writes what the operator asks for, and watches what becomes of it. Knows no screen."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from enum import Enum
from itertools import chain, repeat
from typing import TYPE_CHECKING

from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.failure import DatabaseLocked, NotTakenUp

if TYPE_CHECKING:
    from tui_crawler.console.operator.intent import Intent
    from tui_crawler.console.ports import Journal
    from tui_crawler.domain.records.command import ActionResult

WATCH_MS = 5_000
CLOSE_MS = 3_000
"""So long what a lock keeps from being written is tried again once the console is left."""
_LOOK_MS = 100


class IntentOutcome(Enum):
    """What became of an intent."""

    written = "written"
    locked = "locked"  # a lock is in the way: it is written as soon as that is gone
    done = "done"
    refused = "refused"
    waiting = "waiting"  # it is written, but nobody has taken it up within WATCH_MS, or nobody can tell
    failed = "failed"  # it could not be written, or not the whole of it


@dataclass(frozen=True, slots=True)
class News:
    """What became of an intent; `error` is raw text, `results` are those of its commands, `ids` their action ids, both
    in their order."""

    intent: Intent
    outcome: IntentOutcome
    error: str = ""
    results: tuple[ActionResult, ...] = ()
    ids: tuple[int, ...] = ()


@dataclass(slots=True)
class _Waiting:
    """An intent that is not written yet, with the ids of those of its commands that are. `told`: that it waits."""

    intent: Intent
    told: bool = False
    ids: list[int] = field(default_factory=list)


class JournalWriter:
    """Writes intents in a thread of its own (call `run` in a thread worker), in the order they were handed in. What a
    lock keeps from being written waits until that is gone."""

    def __init__(
        self,
        journal_factory: Callable[[], Journal],
        who: str,
        wake: Callable[[], object],
        deliver: Callable[[News], object],
        now_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
    ) -> None:
        """`wake` tells the engine of this process that there are new rows; `now_ms` measures the watching."""
        self._factory, self._who, self._wake, self._deliver = journal_factory, who, wake, deliver
        self._now_ms = now_ms
        self._inbox: queue.SimpleQueue[Intent | None] = queue.SimpleQueue()
        self._journal: Journal | None = None
        self._unwritten: deque[_Waiting] = deque()
        self._watched: list[tuple[Intent, list[int], int]] = []
        self._held_up = False
        self._over = threading.Event()
        self._over.set()

    def left_over(self) -> tuple[str, ...]:
        """Ends the thread, and tells what a lock has kept from being written to the end, in words. Blocking."""
        self.close()
        self._over.wait((CLOSE_MS + WATCH_MS) / 1_000)
        return tuple(one.intent.says for one in tuple(self._unwritten))

    def hand_in(self, intent: Intent) -> None:
        """Takes an intent (from any thread)."""
        self._inbox.put(intent)

    def close(self) -> None:
        """Ends the thread once everything handed in is written, or a lock has been in the way of it for CLOSE_MS (from
        any thread)."""
        self._inbox.put(None)

    def run(self) -> None:
        """Writes until closed. Blocking."""
        self._over.clear()
        try:
            self._live()
        finally:
            self._over.set()

    def _live(self) -> None:
        until: int | None = None  # when it ends, whatever is written
        while until is None or (self._unwritten and self._now_ms() < until):
            try:
                intent = self._inbox.get(timeout=_LOOK_MS / 1_000 if self._watched or self._unwritten else None)
            except queue.Empty:
                pass
            else:
                if intent is None:
                    until = self._now_ms() + CLOSE_MS
                else:
                    self._unwritten.append(_Waiting(intent))
                    if self._held_up:
                        self._tell_locked()
            self._write_all()
            if self._journal is not None:
                self._look(self._journal)
        if self._journal is not None:
            self._journal.close()

    def _write_all(self) -> None:
        """Writes what was handed in, up to where a lock is in the way."""
        while self._unwritten:
            intent, ids = self._unwritten[0].intent, self._unwritten[0].ids
            undoes = chain(intent.undoes, repeat(0))
            try:
                self._journal = self._journal or self._factory()
                for command, undone in [*zip(intent.commands, undoes, strict=False)][len(ids) :]:
                    ids.append(self._journal.send(command, self._who, undone))
            except Exception as error:  # whatever fails below must not end the console
                if isinstance(error, DatabaseLocked):
                    self._held_up = True
                    self._tell_locked()
                    return
                why, parts = failure_words(error), f"{len(ids)} of {len(intent.commands)} parts"
                if ids:
                    why = f"only {parts} could be written and will be applied: {why}"
                self._deliver(News(intent, IntentOutcome.failed, why))
            else:
                self._deliver(News(intent, IntentOutcome.written, ids=tuple(ids)))
                self._wake()
                self._watched.append((intent, ids, self._now_ms() + WATCH_MS))
            self._unwritten.popleft()
            self._held_up = False

    def _tell_locked(self) -> None:
        for one in [one for one in self._unwritten if not one.told]:
            one.told = True
            self._deliver(News(one.intent, IntentOutcome.locked))

    def _look(self, journal: Journal) -> None:
        still = []
        for intent, ids, until in self._watched:
            try:
                results = [result for action_id in ids if (result := journal.result(action_id)) is not None]
            except Exception as error:  # the same
                if isinstance(error, DatabaseLocked):
                    still.append((intent, ids, self._now_ms() + WATCH_MS))
                else:
                    unread = f"what became of it cannot be read: {failure_words(error)}"
                    why = str(error) if isinstance(error, NotTakenUp) else unread
                    self._deliver(News(intent, IntentOutcome.waiting, why))
                continue
            if len(results) == len(ids):
                errors = [result.error for result in results if result.error]
                outcome = IntentOutcome.refused if errors else IntentOutcome.done
                self._deliver(News(intent, outcome, "; ".join(errors), tuple(results)))
            elif self._now_ms() >= until:
                self._deliver(News(intent, IntentOutcome.waiting))
            else:
                still.append((intent, ids, until))
        self._watched = still
