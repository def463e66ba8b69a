"""Several workers of one run on one machine: processes of this program, which join the run that the first has begun.

Each child writes its events as JSON lines to a pipe; here they are told on as if they were our own. A child ends when
its stdin does: a parent that was killed leaves no worker behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.event import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui_crawler.engine.ports import Listener

GRACE_S = 10.0  # a worker that was told to end has so long to cancel, commit and go
_FIELDS = frozenset({"at", "event", "origin", "url", "exit_code"})
_OWN = frozenset({"run_started", "run_finished"})
_LONGEST_LINE = 1 << 20


class Workers:
    """The other workers, and the listener of the first: its end of the run is told when all have ended.

    `words` start one worker; its name is appended. `on_failure` takes what a worker wrote to stderr.
    """

    def __init__(self, words: Sequence[str], number: int, listener: Listener) -> None:
        self._words = tuple(words)
        self._number = number
        self._listener = listener
        self._processes: list[asyncio.subprocess.Process] = []
        self._readers: list[asyncio.Task[None]] = []
        self._starting: asyncio.Task[None] | None = None
        self._end: Event | None = None
        self._sums = {"requests": 0, "pages_done": 0, "pages_failed": 0}
        self._stopping = False
        self.complaints: list[str] = []

    def on_event(self, event: Event) -> None:
        """Takes an event of the first worker; the others start when the run has begun."""
        if event.event == "run_finished":
            self._end = event
            return
        self._listener.on_event(event)
        if event.event == "run_started":
            self._sums["requests"] += _number(dict(event.extra).get("requests"))  # workers count their own alone
            self._starting = asyncio.get_running_loop().create_task(self._start())

    def stop(self) -> None:
        """Tells the workers to end."""
        self._stopping = True
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()

    async def finish(self) -> int:
        """Waits for the workers, tells the end of the run, and answers the greatest of their exit statuses."""
        if self._starting is not None:
            await self._starting
        statuses = [await self._await(process) for process in self._processes]
        await asyncio.gather(*self._readers)
        if self._end is not None:
            self._listener.on_event(self._with_sums(self._end))
        return max((_told(status) for status in statuses), default=0)

    async def _start(self) -> None:
        for number in range(2, self._number + 1):
            if self._stopping:
                return
            process = await asyncio.create_subprocess_exec(
                *self._words,
                str(number),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
            self._processes.append(process)
            self._readers.append(asyncio.create_task(self._read(process)))
            self._readers.append(asyncio.create_task(self._read_errors(process)))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        stream = process.stdout
        while stream is not None:
            try:
                line = await stream.readline()
            except ValueError:  # longer than any event
                continue
            if not line:
                return
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._take(json.loads(line))

    async def _read_errors(self, process: asyncio.subprocess.Process) -> None:
        while process.stderr is not None:
            line = await process.stderr.readline()
            if not line:
                return
            if len(self.complaints) < 100:
                self.complaints.append(line.decode("utf-8", "replace").rstrip())

    def _take(self, document: dict[str, Any]) -> None:
        if document["event"] == "run_finished":
            for name in self._sums:
                self._sums[name] += int(document[name])
        if document["event"] in _OWN:
            return
        extra = tuple((key, value) for key, value in document.items() if key not in _FIELDS)
        origin, url, code = (str(document.get(name, "")) for name in ("origin", "url", "exit_code"))
        self._listener.on_event(Event(int(document["at"]), str(document["event"]), origin, url, code, extra))

    async def _await(self, process: asyncio.subprocess.Process) -> int | None:
        """Waits for a worker: as long as it crawls, but not long once all are to end."""
        try:
            async with asyncio.timeout(GRACE_S if self._stopping else None):
                return await process.wait()
        except TimeoutError:
            process.kill()
            return await process.wait()

    def _with_sums(self, event: Event) -> Event:
        extra = dict(event.extra)
        for name, more in self._sums.items():
            extra[name] = _number(extra.get(name)) + more
        return Event(event.at, event.event, extra=tuple(extra.items()))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def end_with_stdin(stop: Callable[[], None]) -> None:
    """Calls `stop` on this loop when stdin ends: the first worker is gone."""
    loop = asyncio.get_running_loop()

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):  # not sys.stdin: its lock would be missed when the interpreter ends
                continue
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=wait, name="stdin", daemon=True).start()


def _told(status: int | None) -> int:
    """The exit status of a worker; one that a signal ended has failed."""
    return 3 if status is None or status < 0 else min(status, 3)
