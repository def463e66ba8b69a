"""A run without the console: signals, exit status, and the other workers of one run on one machine.

Those are processes of this program, which join the run that the first has begun. Each writes its events as JSON lines
to a pipe; here they are told on as if they were our own. A worker ends when its stdin does: a parent that was killed
leaves none behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.status_words import Ended, RunReason
from tui_crawler.wiring.launch import Launch, program

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.config.schema import Config
    from tui_crawler.domain.history.alarm import Alarm
    from tui_crawler.engine.ports import Listener
    from tui_crawler.wiring.crawl import Crawl

    Steer = Callable[[Crawl, Callable[[int], None]], object]

DRAIN_MS = 3_500  # running requests may end for so long after a stop: in 5 s the process is gone
GRACE_S = 4.2  # a worker that was told to end has so long to cancel, commit and go: in 5 s all are gone
_ABOUT = ("origin", "url", "exit_code")
_FIELDS = frozenset({"at", "event", *_ABOUT})
_OWN = frozenset({"run_started", "run_finished"})
_BEGUN = b"\n"  # what a worker reads on its stdin when there is a run to join
_IN_ORDER = frozenset({0, 1})
_ERROR = b"tui-crawler: "  # how an error begins on stderr
_LONGEST_LINE = 1 << 20
_log = logging.getLogger(__name__)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_headless(
    config: Config, database: DatabasePlace, launch: Launch, listener: Listener, shows: object = None
) -> int:
    """Crawl until the end; return the exit status (docs/behaviour.md). Blocking.

    What `shows` the run (else the listener) gets a function that ends it in its attribute `stop_run`, if any, and has
    its `on_alarm`, if any, called with alarms. A worker that joins waits until the first one has begun the run, or has
    gone. Raises RunHeld, StorageFailure, CannotListen.
    """
    stoppable = shows or listener

    def steer(_: Crawl, interrupt: Callable[[int], None]) -> None:
        if hasattr(stoppable, "stop_run"):
            stoppable.stop_run = partial(interrupt, DRAIN_MS)

    gc.disable()  # until what a crawl needs is loaded
    if launch.join is not None:
        _load()
        if not os.read(0, len(_BEGUN)):
            return 0
    shown = getattr(shows, "on_alarm", None)
    ended, received = asyncio.run(crawl_watched(config, database, launch, listener, steer, shown))
    if received is not None:
        return 128 + received
    if ended.gave_up:
        return 1
    return 3 if ended.reason is RunReason.error else int(ended.nothing)


def _load() -> type[Crawl]:
    """Load what a crawl needs. It stays: the garbage collector need not look at it, now or later."""
    sys.setswitchinterval(0.000_2)  # the writer's thread waits so long for its turn after each response of a server
    gc.disable()
    from tui_crawler.wiring.crawl import Crawl  # noqa: PLC0415  after other workers were started

    gc.freeze()
    gc.enable()
    return Crawl


async def crawl_watched(
    config: Config,
    database: DatabasePlace,
    launch: Launch,
    listener: Listener,
    steer: Steer,
    shown: Callable[[Alarm], None] | None,
    tell: Callable[[str], None] = _log.warning,
) -> tuple[Ended, int | None]:
    """Crawl until the end with metrics and alarms, as options and configuration ask; return how it ended, and the
    signal that ended it. `steer` gets the crawl before it begins, and what ends it within a number of ms; `shown` gets
    alarms, `tell` in a sentence what goes wrong with them."""
    async with contextlib.AsyncExitStack() as watching:
        if launch.metrics is not None:
            from tui_crawler.wiring.metrics import Metrics  # noqa: PLC0415  few want it

            listener = metrics = Metrics(listener)
            server = metrics.serve(*launch.metrics)
            watching.callback(server.server_close)
            watching.callback(server.shutdown)
        if launch.on_event or shown is not None:
            from tui_crawler.wiring.alarms import AlarmListener, AlarmProgram  # noqa: PLC0415  the same

            program = AlarmProgram(launch.on_event, tell) if launch.on_event else None
            listener = alarms = AlarmListener(listener, config.alarms, database, program, shown)
            watching.push_async_callback(alarms.close)
        if launch.join is not None:
            return await _crawl(config, database, launch, listener, steer)
        from tui_crawler.wiring.coverage import CoverageListener  # noqa: PLC0415  other workers report none

        covered = CoverageListener(listener, database)
        ended, received = await _crawl(config, database, launch, covered, steer)
        return replace(ended, nothing=covered.nothing), received


async def _crawl(
    config: Config, database: DatabasePlace, launch: Launch, listener: Listener, steer: Steer
) -> tuple[Ended, int | None]:
    leads = launch.workers > 1 and launch.join is None
    workers = Workers(launch, database, listener) if leads else None
    if workers is not None:
        await workers.start()  # they load what a crawl needs at the same time
    crawl = _load()(config, database, launch, workers or listener)

    received: list[int] = []

    def interrupt(drain_ms: int = DRAIN_MS) -> None:
        crawl.stop(RunReason.interrupted, drain_ms)
        if workers is not None:
            workers.stop()

    def on_signal(number: int) -> None:
        received.append(number)
        interrupt(DRAIN_MS if len(received) == 1 else 0)  # the second ends it at once

    for number in _SIGNALS:
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # not everywhere
            asyncio.get_running_loop().add_signal_handler(number, on_signal, number)
    if launch.join is not None:
        end_with_stdin(interrupt)
    steering = steer(crawl, interrupt)  # noqa: F841  kept while it crawls
    if workers is None:
        return await crawl.run(), next(iter(received), None)
    ended = Ended(RunReason.error, 0)
    try:
        ended = await crawl.run()
    except BaseException:
        workers.stop()
        raise
    finally:
        ended = await workers.finish(ended)
    return ended, next(iter(received), None)


class Workers:
    """The other workers, and the listener of the first: its end of the run is told when all have ended. They start
    while the first one does, and wait on their stdin until that has begun the run. Each has a number."""

    def __init__(self, launch: Launch, database: DatabasePlace, listener: Listener) -> None:
        self._launch, self._database, self._listener = launch, database, listener
        self._processes: list[asyncio.subprocess.Process] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._end: Event | None = None
        self._stopping = False

    def on_event(self, event: Event) -> None:
        """Takes an event of the first worker; the others join when the run has begun."""
        if event.event == "run_finished":
            self._end = event
            return
        self._listener.on_event(event)
        if event.event == "run_started":
            for process in self._processes:
                if process.stdin is not None:
                    process.stdin.write(_BEGUN)

    def stop(self) -> None:
        """Tells the workers to end, and ends those that have not in time."""
        if not self._stopping:
            asyncio.get_running_loop().call_later(GRACE_S, self._signal, signal.SIGKILL)
        self._stopping = True
        self._signal(signal.SIGTERM)

    async def finish(self, ended: Ended) -> Ended:
        """Wait for the workers, as long as they crawl; report the end of the run, if it has begun, and return it: as
        the database has it, whichever of its workers lived to see it; where that has none, as the first one `ended`."""
        from tui_crawler.storage.reports.reports import Reports  # noqa: PLC0415  most runs have one worker, which reads nothing

        await asyncio.gather(*self._tasks)
        told: dict[str, object] = {}
        try:
            with contextlib.closing(Reports(self._database)) as reports:
                if (run := reports.run()) and run.finish_reason:
                    gave_up, done, failed = reports.of_run()
                    ended = Ended(RunReason(run.finish_reason), gave_up)
                    told = {"requests": run.requests, "pages_done": done, "pages_failed": failed}
        except (StorageFailure, ValueError):
            pass
        if self._end is not None:
            extra = dict(self._end.extra) | told | {"reason": ended.reason.value}
            self._listener.on_event(Event(self._end.at, self._end.event, extra=tuple(extra.items())))
        return ended

    def _signal(self, number: int) -> None:
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)

    async def start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        for number in range(2, self._launch.workers + 1):
            words = program(*self._launch.joined(number).words(self._database))
            process = await asyncio.create_subprocess_exec(
                *words, stdin=pipe, stdout=pipe, stderr=pipe, limit=_LONGEST_LINE, start_new_session=True
            )
            self._processes.append(process)
            self._tasks.append(asyncio.create_task(self._mind(number, process)))

    async def _mind(self, number: int, process: asyncio.subprocess.Process) -> None:
        """Pass on the events of a worker, and report where it has gone before the end of the run."""
        joined, said = await asyncio.gather(self._read(process), _last_error(process))
        status = await process.wait()
        came_too_late = self._end is not None and not joined
        if self._stopping or status in _IN_ORDER or came_too_late:
            return
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"has failed: {said}"
        message = f"worker {number} {how}; the others take over what it held"
        told = (("worker", number), ("message", message))
        self._listener.on_event(Event(time.time_ns() // 1_000_000, "worker_ended", extra=told))

    async def _read(self, process: asyncio.subprocess.Process) -> bool:
        """Pass on the events of a worker, to its end; return whether there was any."""
        stream, joined = process.stdout, False
        while stream is not None and not stream.at_eof():
            try:
                line = await stream.readline()
            except ValueError:  # longer than any event
                continue
            joined = joined or bool(line)
            with contextlib.suppress(ValueError, KeyError, TypeError):
                document = json.loads(line)
                if document["event"] not in _OWN:
                    extra = tuple((key, value) for key, value in document.items() if key not in _FIELDS)
                    name, origin, url, code = (str(document.get(key, "")) for key in ("event", *_ABOUT))
                    self._listener.on_event(Event(int(document["at"]), name, origin, url, code, extra))
        return joined


async def _last_error(process: asyncio.subprocess.Process) -> str:
    """The last error that a worker wrote to stderr, which is read to its end."""
    said = b""
    while process.stderr is not None and (line := await process.stderr.readline()):
        said = line if line.startswith(_ERROR) else said
    return said.removeprefix(_ERROR).decode("utf-8", "replace").strip()


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
