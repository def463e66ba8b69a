"""The demo web: ten small sites on loopback, each with its own manners."""

import ipaddress
import socket
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tui_crawler.demo.access import AccessLog, ServedRequest
from tui_crawler.demo.content.catalogue import SITE_NAMES, build_sites
from tui_crawler.demo.server import SiteServer
from tui_crawler.demo.site import Site, Surroundings

FIXED_BASE_PORT = 18081
_PORTS = 65536


class DemoPortTaken(OSError):
    """A fixed port of the demo web is not free."""


class DemoWeb:
    """All demo sites in the running event loop, for as long as the context lasts.

    `seeds` has one URL per site, in the order of `sites`; both are empty before the context is entered.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        access_log: Path | None = None,
        pace: float = 1.0,
        ports: int | None = None,
    ) -> None:
        """Take a loopback address, a file for the access log, the pace, and the first of consecutive ports.

        `pace` multiplies every wait that a site asks for or makes: slow heads, Retry-After, Crawl-delay.
        Without `ports` each site gets a free port. Raises ValueError if `host` is no loopback address or
        `pace` is negative.
        """
        if not ipaddress.ip_address(host).is_loopback:
            raise ValueError(f"the demo web serves loopback addresses only, not {host}")
        if pace < 0:
            raise ValueError(f"the pace of the demo web is at least 0, not {pace}")
        self._host = host
        self._access_log = access_log
        self._pace = pace
        self._ports = ports
        self._stack = AsyncExitStack()
        self._log = AccessLog()
        self._servers: dict[str, SiteServer] = {}
        self._origins: dict[str, str] = {}
        self.sites: tuple[Site, ...] = ()
        self.seeds: list[str] = []

    @property
    def log(self) -> Sequence[ServedRequest]:
        """What was asked so far, in the order in which the answers ended."""
        return self._log.entries

    def origin(self, name: str) -> str:
        """Return the origin (scheme, host, port) of the site `name`; raises KeyError."""
        return self._origins[name]

    def is_dead(self, name: str) -> bool:
        """Return whether the site `name` has died, as the tramway does; raises KeyError."""
        return self._servers[name].is_dead

    async def __aenter__(self) -> Self:
        """Start all sites; raises DemoPortTaken, or another OSError if the access log cannot be written."""
        async with AsyncExitStack() as stack:
            self._log = AccessLog(self._access_log)
            stack.callback(self._log.close)
            listeners = open_listeners(self._host, self._ports, len(SITE_NAMES))
            self._origins = {name: _origin_of(listener) for name, listener in zip(SITE_NAMES, listeners, strict=True)}
            self.sites = build_sites(Surroundings(self._origins, self._pace))
            for site, listener in zip(self.sites, listeners, strict=True):
                server = SiteServer(site, self._origins[site.name], listener, self._log, self._pace)
                stack.push_async_callback(server.close)
                self._servers[site.name] = server
            for server in self._servers.values():
                await server.start()
            self.seeds = [self._origins[site.name] + "/" for site in self.sites]
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every site and the access log; the log stays readable."""
        await self._stack.aclose()


def open_listeners(host: str, base_port: int | None, count: int) -> list[socket.socket]:
    """Return `count` listening sockets on free ports, or on `base_port` and those after it.

    Raises DemoPortTaken with the port in its message; then none of the others stays open. Raises ValueError
    if there are no such ports.
    """
    if base_port is not None and not 1 <= base_port <= _PORTS - count:
        raise ValueError(f"the first of {count} ports is between 1 and {_PORTS - count}, not {base_port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with ExitStack() as stack:
        listeners = []
        for number in range(count):
            port = 0 if base_port is None else base_port + number
            try:
                listener = socket.create_server((host, port), family=family, backlog=64)
            except OSError as error:
                raise DemoPortTaken(
                    f"the demo web cannot listen on {host} port {port}: {error}. "
                    f"Is another demo web running? It needs {count} ports in a row"
                ) from error
            stack.callback(listener.close)
            listeners.append(listener)
        stack.pop_all()
    return listeners


def _origin_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
