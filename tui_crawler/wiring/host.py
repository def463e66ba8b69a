"""The engine as the console hosts it: a run without a screen in a process of its own, the child of the console.

So neither ever waits for the other's interpreter. The child is sent what to crawl (pickled: it comes from us), then
lines: `wake`, or within how many ms to end. It answers with lines of JSON: how it stands, at last how it ended. It ends
with its standard input, in order if it can: a console that was killed leaves no crawl behind that nobody sees.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import signal
import subprocess
import tempfile
import threading
import time
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from tui_crawler.console.reading.failure_words import failure_words
from tui_crawler.domain.history.alarm import Alarm, AlarmKind
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.failure import EngineFailed, RunHeld

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui_crawler.config.schema import Config
    from tui_crawler.wiring.crawl import Crawl
    from tui_crawler.wiring.launch import Launch

_TELL_S = 0.1
_ALONE_S = 8.0  # a child whose console is gone has so long to cancel, commit and go, as the console gives it itself
_WAKE = b"wake\n"
_LAST_WORDS = 2_000
_LONGEST = 150  # characters, of which each takes 12 bytes at most (PIPE_BUF: 4096)
_FRESH: tuple[bool, int, str, int] = (False, 0, "", 0)  # not running, none in flight, no trouble, no lock


class ProcessHost:
    """Fits the console's EngineHost. All methods but `run` may be called from any thread, at any time."""

    def __init__(
        self,
        config: Config,
        database: DatabasePlace,
        launch: Launch,
        before: Callable[[], object] | None = None,
        told: Callable[[Alarm | str], object] | None = None,
    ) -> None:
        """`before` is called before each run, in the thread of `run`, once `resting` is no longer true; `told` there
        with alarms, and with sentences on what went wrong with telling them elsewhere."""
        self._told, self._before, self._task = told, before, (config, database, launch)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._stop_first: int | None = None
        self.running, self.in_flight, self.trouble, self.locked_since = _FRESH
        self.resting = False
        """Whether its run is over: it neither crawls nor is about to."""

    def run(self) -> str:
        self.resting = False
        self.running, self.in_flight, self.trouble, self.locked_since = _FRESH
        try:
            if self._before is not None:
                self._before()
            return self._host()
        except OSError as error:
            raise EngineFailed(f"its process cannot be started: {error.strerror}") from error
        finally:
            self._stop_first, self.running, self.in_flight, self.locked_since = None, False, 0, 0
            self.resting = True

    def wake(self) -> None:
        self._say(_WAKE)

    def stop(self, drain_ms: int) -> None:
        self._stop_first = drain_ms
        self._say(b"%d\n" % drain_ms)

    def kill(self) -> None:
        """Ends the process, whatever it does; nothing where there is none."""
        with self._lock:
            if self._child is not None:
                self._child.kill()

    def _host(self) -> str:
        from tui_crawler.fetch.child import child_environment, child_words  # noqa: PLC0415  not before the first paint

        pipe, words = subprocess.PIPE, child_words(__name__, str(self._task[1]))  # named for who looks at processes
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(  # noqa: S603  our own program, no shell
                words, stdin=pipe, stdout=pipe, stderr=errors, env=child_environment(), start_new_session=True
            ) as child,
        ):
            if child.stdin is None or child.stdout is None:
                raise OSError("no pipe")
            with contextlib.suppress(BrokenPipeError):  # it has ended: its last words say why
                child.stdin.write(pickle.dumps(self._task))
                child.stdin.flush()
            os.set_blocking(child.stdin.fileno(), False)
            with self._lock:
                self._child = child
            if self._stop_first is not None:
                self.stop(self._stop_first)
            try:
                end = self._listen(child.stdout)
                child.wait()
            finally:
                with self._lock:
                    self._child = None
            return _reason(end, child, errors)

    def _listen(self, said: IO[bytes]) -> dict[str, Any] | None:
        """Notes how the child stands until it says how it ended; None where it ended without a word."""
        for line in said:
            match json.loads(line):
                case {"alarm": [at, kind, *rest]} if self._told is not None:
                    self._told(Alarm(at, AlarmKind(kind), *rest))
                case {"note": str(note)} if self._told is not None:
                    self._told(note)
                case {"alarm": _} | {"note": _}:
                    continue
                case dict(end):
                    return end
                case standing:
                    self.running, self.in_flight, self.trouble, self.locked_since = standing
        return None

    def _say(self, line: bytes) -> None:
        with self._lock, contextlib.suppress(OSError):  # it has ended, or stands still
            if self._child is not None and self._child.stdin is not None:
                os.write(self._child.stdin.fileno(), line)


def _reason(end: dict[str, Any] | None, child: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    match end:
        case None:
            errors.seek(0)
            words = errors.read()[-_LAST_WORDS:].decode("utf-8", "replace").strip().rpartition("\n")[2]
            status = child.returncode
            how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"has ended with status {status}"
            raise EngineFailed(f"its process {child.pid} {how}" + (f": {words}" if words else ""))
        case {"held": why}:
            raise RunHeld(str(why))
        case {"failure": why}:
            raise EngineFailed(str(why))
    return str(end["reason"])


def main() -> None:
    """The child: a crawl, which is told what its console wants, until it has ended."""
    said = os.dup(1)
    os.dup2(2, 1)  # nothing else is said there
    commands = open(0, "rb", closefd=False)  # noqa: SIM115  a thread reads it to the end of the process
    config, database, launch = pickle.load(commands)  # noqa: S301  our parent made it
    end: dict[str, str]
    try:
        from tui_crawler.wiring.crawl import NullListener  # noqa: PLC0415  the console, which loads this too, needs none
        from tui_crawler.wiring.headless import crawl_watched  # noqa: PLC0415  the same

        os.set_blocking(said, False)  # a console that stands still must not hold up its crawl
        steer, tell = partial(_steer, commands, said), partial(_pass_on, said)
        ended, _ = asyncio.run(crawl_watched(config, database, launch, NullListener(), steer, tell, tell))
        end = {"reason": ended.reason.value}
    except RunHeld as held:
        end = {"held": str(held)}
    except Exception as error:  # the console shows it as a state
        end = {"failure": failure_words(error)}
    os.set_blocking(said, True)
    with contextlib.suppress(OSError):
        os.write(said, json.dumps(end).encode() + b"\n")


def _pass_on(said: int, news: Alarm | str) -> None:
    """Tells news, whole: a line is shorter than what a pipe takes at once. One that finds no room is left out."""
    if isinstance(news, str):
        line: dict[str, Any] = {"note": news[:_LONGEST]}
    else:
        values = (news.at, news.kind.value, news.origin[:_LONGEST], news.message[:_LONGEST])
        line = {"alarm": [*values, news.severe, news.warnings]}
    with contextlib.suppress(OSError):
        os.write(said, json.dumps(line).encode() + b"\n")


def _steer(commands: IO[bytes], said: int, crawl: Crawl, interrupt: Callable[[int], None]) -> object:
    """Joins a crawl, which has a loop by now, to its console. Answers what is to be kept."""
    loop = asyncio.get_running_loop()

    def obey() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            for line in commands:
                loop.call_soon_threadsafe(crawl.engine.wake if line == _WAKE else partial(interrupt, int(line)))
            loop.call_soon_threadsafe(interrupt, int(_ALONE_S * 500))
        time.sleep(_ALONE_S)
        os._exit(3)

    threading.Thread(target=obey, name="console", daemon=True).start()
    return loop.create_task(_tell(said, crawl), name="console")


async def _tell(said: int, crawl: Crawl) -> None:
    """Tell how a crawl stands whenever that is news. A line that finds no room is told with the next."""
    told, engine = _FRESH, crawl.engine

    def tell_once() -> None:
        nonlocal told
        now = (engine.begun, len(engine.slots), engine.slots.trouble, crawl.store.writer.locked_since)
        if now != told:
            with contextlib.suppress(OSError):
                os.write(said, json.dumps(now).encode() + b"\n")
                told = now

    try:
        while True:
            tell_once()
            await asyncio.sleep(_TELL_S)
    finally:
        tell_once()


if __name__ == "__main__":
    main()
