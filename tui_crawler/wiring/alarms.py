"""Alarms of a crawl, told: to a program of the operator, and to whoever shows them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import shutil
import subprocess
import threading
import time
from typing import IO, TYPE_CHECKING

from tui_crawler.domain.history.alarm import Alarm, AlarmKind, AlarmWatch
from tui_crawler.domain.history.trap import TrapSuspicion, guard_suspicions
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.status_words import RunReason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_crawler.config.sections import AlarmsConfig
    from tui_crawler.domain.crawl.event import Event
    from tui_crawler.engine.ports import Listener

_LOOK_S = 15.0
_MOST_WAITING = 100  # alarms, for a program that takes none
_MOST_AT_ONCE, _SPAN_S = 20, 10.0  # a program gets no more in so many seconds
_PATIENCE_S, _HURRY_S = 3.0, 0.5  # for its last lines, and then for its end; the latter after a stop or a signal
_HURRIED = frozenset({RunReason.operator.value, RunReason.interrupted.value})


class AlarmProgram:
    """One program that gets alarms as JSON lines on its stdin, whose end is the end of the run. Sending never waits:
    what the program does not take, and what comes too fast, is counted and left out."""

    def __init__(
        self, words: Sequence[str], tell: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        """`words` are carried out as they are, without a shell; `tell` is told, in a sentence, what goes wrong."""
        self._name, self._tell, self._now = words[0], tell, now
        self._waiting: queue.Queue[bytes | None] = queue.Queue(_MOST_WAITING)
        self._left_out, self._sent, self._span_began = 0, 0, -_SPAN_S
        self._gone, self._closing = threading.Event(), False
        self._thread: threading.Thread | None = None
        try:
            self._process = subprocess.Popen(  # noqa: S603  what the operator has named
                words, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            self._gone.set()
            tell(f"--on-event: {self._name} cannot be started: {error.strerror}")
            return
        self._thread = threading.Thread(target=self._hand_on, args=(self._process.stdin,), name="alarms", daemon=True)
        self._thread.start()

    def send(self, alarm: Alarm) -> None:
        """Hands one alarm on, or counts it. The end of the run is always handed on."""
        now = self._now()
        if now - self._span_began >= _SPAN_S:
            self._span_began, self._sent = now, 0
        self._sent += 1
        line = json.dumps({**alarm.as_document(), "left_out": self._left_out}).encode() + b"\n"
        try:
            if self._gone.is_set() or (self._sent > _MOST_AT_ONCE and alarm.kind is not AlarmKind.run_ended):
                raise queue.Full
            self._waiting.put_nowait(line)
        except queue.Full:
            self._left_out += 1

    def close(self, patience_s: float = _PATIENCE_S) -> None:
        """Lets it take what waits for so long, then end for so long, and ends it; tells how much was left out."""
        self._closing = True
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)
            self._thread.join(patience_s)
            stands = self._thread.is_alive()
            try:
                self._process.wait(0 if stands else patience_s)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._left_out += self._waiting.qsize() + 1 if stands else 0
        if self._left_out:
            self._tell(f"--on-event: {self._left_out} alarms were left out: {self._name} did not take them in time")

    def _hand_on(self, stdin: IO[bytes]) -> None:
        with contextlib.suppress(OSError), stdin:
            while (line := self._waiting.get()) is not None:
                stdin.write(line)
            return
        self._gone.set()
        if not self._closing:
            self._tell(f"--on-event: {self._name} has ended, or closed its stdin: no more alarms are sent")


class AlarmListener:
    """Raises the alarms that events call for, and what disk and database show every few seconds; passes events on."""

    def __init__(
        self,
        listener: Listener,
        config: AlarmsConfig,
        database: DatabasePlace,
        program: AlarmProgram | None,
        shown: Callable[[Alarm], None] | None,
    ) -> None:
        """`shown` is called on the loop of the crawl, and must not wait."""
        self._listener, self._database, self._program, self._shown = listener, database, program, shown
        self._hurries = False
        self._watch = AlarmWatch(config.events, config.min_free_disk)
        self._looks_for_traps = AlarmKind.trap_suspected in config.events
        self._looking = asyncio.create_task(self._look_on(), name="alarms")

    def on_event(self, event: Event) -> None:
        self._listener.on_event(event)
        self._hurries = event.event == "run_finished" and dict(event.extra).get("reason") in _HURRIED
        for alarm in self._watch.take(event):
            self._raise(alarm)

    async def close(self) -> None:
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)
        if self._program is not None:
            await asyncio.to_thread(self._program.close, _HURRY_S if self._hurries else _PATIENCE_S)

    def _raise(self, alarm: Alarm) -> None:
        if self._program is not None:
            self._program.send(alarm)
        if self._shown is not None:
            self._shown(alarm)

    async def _look_on(self) -> None:
        while True:
            with contextlib.suppress(StorageFailure, OSError):  # there is none yet, or it cannot be read at present
                free, found = await asyncio.to_thread(self._look)
                for alarm in self._watch.look(time.time_ns() // 1_000_000, free, found):
                    self._raise(alarm)
            await asyncio.sleep(_LOOK_S)

    def _look(self) -> tuple[int, dict[str, TrapSuspicion]]:
        from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  few crawls are watched so

        free = shutil.disk_usage(self._database.parent).free
        if not self._looks_for_traps:
            return free, {}
        with contextlib.closing(Reports(self._database)) as reports:
            return free, guard_suspicions(reports.refused())
