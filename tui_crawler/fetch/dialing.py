"""From a host to a connection: its addresses, judged, and the first of them that takes one (RFC 8305)."""

import asyncio
import os
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar

from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records.failure import OutOfDescriptors
from tui_crawler.fetch.address_guard import AddressGuard, Resolver, bare_host, is_address, is_out_of_descriptors
from tui_crawler.fetch.classify import Phase, TransferFailed, Trouble
from tui_crawler.fetch.connection_log import ConnectionLog, ConnectionStep
from tui_crawler.fetch.tls import certificate_words

_AHEAD_S = 0.25  # how long one address may take before the next is tried, too (RFC 8305, 5)

Connection = TypeVar("Connection")


@dataclass(slots=True)
class Dialer:
    """Connects to hosts, each within `_timeout_s` for the look-up of its name and all of its addresses.

    `_guard` judges every address that is connected to; None: all are of the proxy, which the operator has chosen.
    """

    _guard: AddressGuard | None
    _resolve: Resolver
    _timeout_s: float
    _now: Callable[[], Moment]
    _is_v6: dict[str, bool] = field(default_factory=dict)  # which family to begin with, of hosts that have both

    async def dial(
        self,
        host: str,
        port: int,
        log: ConnectionLog,
        connect: Callable[[str, ConnectionLog], Coroutine[Any, Any, Connection]],
        close: Callable[[Connection], Awaitable[None]],
    ) -> Connection:
        """Return what `connect` returns for the first address that takes a connection; those of both families in turn.

        The next address is tried when one has failed, or has no `remote_address` in its log after 250 ms; the others
        are cancelled, and closed if they are too late. Raises TransferFailed, OutOfDescriptors; an address has failed
        with OSError.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._timeout_s
        waiting = deque(self._ordered(host, await self._addresses(host, port, log, deadline)))
        both = len({":" in each for each in waiting}) > 1
        running: dict[asyncio.Task[Connection], str] = {}
        logs: dict[str, ConnectionLog] = {}
        address = ""
        failure = TransferFailed(Phase.connect, Trouble.network, f"{host} has no address", closed_unanswered=True)
        try:
            while waiting or running:
                until = deadline
                if waiting and not any(logs[each].remote_address for each in running.values()):
                    address = waiting.popleft()
                    logs[address] = ConnectionLog()
                    running[asyncio.create_task(connect(address, logs[address]))] = address
                    until = min(deadline, loop.time() + _AHEAD_S) if waiting else deadline
                left = max(0.0, until - loop.time())
                done, _ = await asyncio.wait(running, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    attempt = done.pop()
                    address = running.pop(attempt)
                    error = attempt.exception()
                    if error is None:
                        self._is_v6 |= {host: ":" in address} if both else {}
                        return attempt.result()
                    failure = _failure(address, port, error)
                elif loop.time() >= deadline:
                    address = next(iter(running.values()))
                    self._is_v6 |= {host: ":" not in address} if both else {}
                    raise _failure(address, port, TimeoutError())
            raise failure
        finally:
            for attempt in running:
                attempt.cancel()
            for late in await asyncio.gather(*running, return_exceptions=True):
                if not isinstance(late, BaseException):
                    await close(late)
            if address:
                log.took.update(logs[address].took)
                log.remote_address = logs[address].remote_address

    def _ordered(self, host: str, addresses: tuple[str, ...]) -> list[str]:
        """Both families in turn, that of the operating system's first address first unless the other one worked."""
        first = self._is_v6.get(host, ":" in addresses[0]) if addresses else False
        families = [[each for each in addresses if (":" in each) is v6] for v6 in (first, not first)]
        return [each for pair in zip_longest(*families) for each in pair if each is not None]

    async def _addresses(self, host: str, port: int, log: ConnectionLog, deadline: float) -> tuple[str, ...]:
        bare = bare_host(host)
        found: tuple[str, ...] = (bare,)
        if not is_address(bare):
            try:
                with log.timing(ConnectionStep.dns, self._now):
                    async with asyncio.timeout_at(deadline):
                        found = await self._resolve(bare, port)
            except TimeoutError:
                raise TransferFailed(Phase.connect, Trouble.timeout, f"no address for {bare} in time") from None
            except OSError as error:
                message = f"no address for {bare}: {told(error)}"
                if is_out_of_descriptors(error):
                    raise OutOfDescriptors(message) from error
                raise TransferFailed(Phase.connect, Trouble.network, message, closed_unanswered=True) from error
        return found if self._guard is None else self._guard.allowed(host, found)


def _failure(address: str, port: int, error: BaseException) -> TransferFailed:
    """Return what the failure of an address means. Raises what the next address cannot mend: OutOfDescriptors,
    TransferFailed for a certificate, and what is no OSError."""
    if not isinstance(error, OSError):
        raise error
    if isinstance(error, ssl.SSLCertVerificationError):
        message = f"{address} port {port}: {certificate_words(error)}"
        raise TransferFailed(Phase.connect, Trouble.certificate, message) from error
    timed_out = isinstance(error, TimeoutError)
    message = f"{address} port {port}: {'no answer in time' if timed_out else told(error)}"
    if is_out_of_descriptors(error):
        raise OutOfDescriptors(message) from error
    trouble = Trouble.timeout if timed_out else Trouble.network
    return TransferFailed(Phase.connect, trouble, message, closed_unanswered=not timed_out)


def told(error: BaseException) -> str:
    """Return the message of the operating system, or of TLS."""
    if isinstance(error, OSError) and error.errno is not None and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno) if error.errno > 0 else str(error)
    return str(error) or type(error).__name__
