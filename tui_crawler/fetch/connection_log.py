"""How each request came by its connection: which one it was, and how long its steps took, also where one failed.

httpcore does not tell its network backend for which request it connects, but it connects in the task of that request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tui_crawler.domain.moment import Moment


class Step(Enum):
    """A step of making a connection."""

    dns = "dns"
    connect = "connect"
    tls = "tls"


@dataclass(slots=True)
class ConnectionLog:
    """What is known of the connection of one request, filled in while it comes about.

    `took` has the ms of each step that was begun. `reused` is None until the request has a connection or asks for
    one. `remote_address` is "" until it is connected to.
    """

    took: dict[Step, int] = field(default_factory=dict)
    reused: bool | None = None
    remote_address: str = ""


class ConnectionLogs:
    """The logs of the requests under way, by the tasks that make them. `now` is read twice for each step."""

    def __init__(self, now: Callable[[], Moment]) -> None:
        self._now = now
        self._of_tasks: dict[asyncio.Task[Any] | None, ConnectionLog] = {}

    @contextmanager
    def writing(self, log: ConnectionLog) -> Iterator[None]:
        """What this task does with connections meanwhile is written in `log`."""
        task = asyncio.current_task()
        self._of_tasks[task] = log
        try:
            yield
        finally:
            del self._of_tasks[task]

    @contextmanager
    def timing(self, step: Step) -> Iterator[None]:
        """Adds how long this takes, however it ends. Behind a proxy there may be two TLS handshakes: their sum."""
        began = self._now().mono_ms
        try:
            yield
        finally:
            took = self._log().took
            took[step] = took.get(step, 0) + self._now().mono_ms - began

    def begin(self) -> None:
        """A connection is asked for."""
        self._log().reused = False

    def connect(self, address: str) -> None:
        """It is connected to `address`."""
        self._log().remote_address = address

    def use(self, address: str) -> None:
        """A request is sent over a connection to `address`: a kept one, if none was asked for before."""
        log = self._log()
        log.remote_address = address
        if log.reused is None:
            log.reused = True

    def _log(self) -> ConnectionLog:
        """The log of this task; one that nobody reads for a task that makes no request."""
        return self._of_tasks.get(asyncio.current_task()) or ConnectionLog()
