"""How each request came by its connection: which one it was, how long its steps took, and when it was answered.

An event loop that is busy looks at its sockets late. That is not the time of the server: what has come is dated by
the kernel, which says how long ago the other side was heard last (Linux; elsewhere the present moment counts).

httpcore does not tell its network backend for which request it connects, but it connects in the task of that request.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.moment import Moment

if TYPE_CHECKING:
    import httpcore


class ConnectionStep(Enum):
    """A step of making a connection."""

    dns = "dns"
    connect = "connect"
    tls = "tls"


_SINCE_HEARD = struct.Struct("=52xII")  # tcpi_last_data_recv and tcpi_last_ack_recv of Linux's struct tcp_info, in ms
_GRAIN_MS = 10  # of the kernel's clock, at worst: what is within it is now


def silent_ms(stream: httpcore.AsyncNetworkStream | asyncio.BaseTransport | socket.socket | None) -> int:
    """Return how long ago (ms) the other side of a connection was certainly heard last; 0 if unknown."""
    plug = stream if isinstance(stream, socket.socket) or stream is None else stream.get_extra_info("socket")
    if sys.platform != "linux" or plug is None:
        return 0
    try:
        told = plug.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SINCE_HEARD.size)
    except OSError:  # closed
        return 0
    return max(0, min(_SINCE_HEARD.unpack(told)) - _GRAIN_MS) if len(told) == _SINCE_HEARD.size else 0


def _arrival(stream: httpcore.AsyncNetworkStream | socket.socket | None, now: Callable[[], Moment]) -> Moment:
    silent = 0 if stream is None else silent_ms(stream)  # before the clock: rather too late than too early
    return now().later(-silent)


@dataclass(slots=True)
class MeasuredStep:
    """A step that is being measured, and the connection it has led to: its end may have been noticed late."""

    stream: httpcore.AsyncNetworkStream | socket.socket | None = None


@dataclass(slots=True)
class ConnectionLog:
    """The known facts of the connection of one request, filled in while it comes about.

    `took` has the ms of each step that was begun. `reused` is None until the request has a connection or asks for
    one. `remote_address` is "" until it is connected to. `asked` is when the request began to be sent, `heard` when
    the newest of its answer came to the socket; `waited_ms` is of exchanges before it (with a proxy).
    """

    took: dict[ConnectionStep, int] = field(default_factory=dict)
    reused: bool | None = None
    remote_address: str = ""
    asked: Moment | None = None
    heard: Moment | None = None
    waited_ms: int = 0

    @contextmanager
    def timing(self, step: ConnectionStep, now: Callable[[], Moment]) -> Iterator[MeasuredStep]:
        """Add how long this takes, however it ends. Behind a proxy there may be two TLS handshakes: their sum."""
        began, lap = now().mono_ms, MeasuredStep()
        try:
            yield lap
        finally:
            ended = _arrival(lap.stream, now).mono_ms
            self.took[step] = self.took.get(step, 0) + max(0, ended - began)

    def answer_ms(self) -> int | None:
        """Return what connecting, the handshake and the answer took, without what this process did meanwhile and
        without the look-up of the name; None without an answer."""
        if self.asked is None or self.heard is None:
            return None
        made = self.took.get(ConnectionStep.connect, 0) + self.took.get(ConnectionStep.tls, 0)
        return made + self.waited_ms + self.heard.mono_ms - self.asked.mono_ms


@dataclass(slots=True)
class ConnectionLogs:
    """The logs of the requests under way, by the tasks that make them. `now` is read twice for each step."""

    now: Callable[[], Moment]
    _of_tasks: dict[asyncio.Task[Any] | None, ConnectionLog] = field(default_factory=dict)

    @contextmanager
    def writing(self, log: ConnectionLog) -> Iterator[None]:
        """What this task does with connections meanwhile is written in `log`."""
        task = asyncio.current_task()
        self._of_tasks[task] = log
        try:
            yield
        finally:
            del self._of_tasks[task]

    def begin(self) -> ConnectionLog:
        """A connection is asked for. Return the log of this task."""
        log = self.of_task()
        log.reused = False
        return log

    def use(self, address: str) -> ConnectionLog:
        """A request is sent over a connection to `address`: kept, if none was asked for before. Answers its log."""
        log = self.of_task()
        log.remote_address = address
        if log.reused is None:
            log.reused = True
        if log.asked is not None and log.heard is not None:
            log.waited_ms += log.heard.mono_ms - log.asked.mono_ms
            log.asked = log.heard = None
        log.asked = log.asked or self.now()
        return log

    def hear(self, log: ConnectionLog, stream: httpcore.AsyncNetworkStream | None) -> None:
        """Something of the answer was read from `stream`: it came when the other side was heard last.

        None: the connection ended, which nobody dates.
        """
        moment = _arrival(stream, self.now)
        log.heard = moment if log.asked is None else max(moment, log.asked)

    def of_task(self) -> ConnectionLog:
        """The log of this task; one that nobody reads for a task that makes no request."""
        return self._of_tasks.get(asyncio.current_task()) or ConnectionLog()
