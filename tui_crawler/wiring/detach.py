"""A run that goes on without its console: the same crawl, started as a process of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tui_crawler.console.operator.detach import CannotDetach, Departure
from tui_crawler.domain.records.database_place import DatabasePlace, location_of
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.wiring.launch import Launch, program

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.wiring.console import DemoSidecar

_ALONE = Launch()
START_S = 30.0
"""So long the new process has to take the database."""
_LOOK_S = 0.1
_ENDED_WELL = frozenset({None, 0, 1})  # it runs; or nothing was left, perhaps because origins gave up
_TOLD = 4_096
_OPEN_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class DetachedRun:
    """The console's Detacher. `process` is what was started last. It has a session of its own, so that a closed
    terminal does not reach it, and no stdin; its messages are appended to a file next to the database."""

    def __init__(
        self,
        config: Config | None,
        database: DatabasePlace,
        *,
        companion: DemoSidecar | None = None,
        words: Sequence[str] = (),
        launch: Launch = _ALONE,
    ) -> None:
        """`config` is the one the console runs; without a file, the database's copy is used. `companion` goes along
        with the run; `launch` is that of the console. `words` start another program."""
        self._database, self._config, self._companion = database.absolute(), config, companion
        launch = launch.detached(config.file if config is not None else "")
        self._command = (*(tuple(words) or program()), *launch.words(self._database))
        self.log = self._database.parent / f"{self._database.name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def hindrance(self) -> str:
        if os.name == "posix" or self._lifeline is None:
            return ""
        return "the demo web ends with this console"

    @property
    def _lifeline(self) -> int | None:
        web = self._companion.web if self._companion is not None else None
        return web.lifeline if web is not None else None

    def start(self) -> Departure:
        """Starts it and waits until it holds the database; blocking, at most half a minute. Raises CannotDetach."""
        shown = [str(self._database) if word == location_of(self._database) else word for word in self._command]
        try:
            log = os.open(self.log, _OPEN_FLAGS, 0o600)
        except OSError as error:
            raise CannotDetach(f"{self.log} cannot be written: {error.strerror}") from error
        try:
            at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            os.write(log, f"{at} {shlex.join(shown)}\n".encode("utf-8", "backslashreplace"))
            said = os.fstat(log).st_size
            self.process = process = subprocess.Popen(  # noqa: S603  our own program, no shell
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=() if self._lifeline is None else (self._lifeline,),
            )
        except OSError as error:
            raise CannotDetach(f"the process cannot be started: {error.strerror}") from error
        finally:
            os.close(log)
        self._await(process, said)
        if self._companion is not None and self._companion.web is not None:
            self._companion.web.leave()  # the run that was left to itself holds it now
        where = f"--db {shlex.quote(str(self._database))}"
        return Departure(process.pid, str(self.log), f"tui-crawler {where}", f"tui-crawler stop --all {where}")

    def _await(self, process: subprocess.Popen[bytes], said: int) -> None:
        """Wait until the process holds the database, or has ended because nothing was left to do. `said` is how many
        bytes its log had before."""
        deadline = time.monotonic() + START_S
        mine = f"process {process.pid} on "
        try:
            with contextlib.closing(Journal(self._database)) as journal:
                while not (journal.live_owner() or "").startswith(mine) and process.poll() is None:
                    if time.monotonic() >= deadline:
                        raise CannotDetach(f"process {process.pid} has not begun after {START_S:.0f} s")
                    time.sleep(_LOOK_S)
        except (StorageFailure, CannotDetach) as failure:
            process.kill()
            process.wait()
            raise CannotDetach(str(failure)) from failure
        status = process.returncode
        words = ""
        if status not in {None, 0}:
            with contextlib.suppress(OSError), self.log.open("rb") as log:
                log.seek(said)
                words = " ".join(log.read(_TOLD).decode("utf-8", "replace").split())
        if status not in _ENDED_WELL or words:
            raise CannotDetach(words or f"it ended at once with status {status}")
