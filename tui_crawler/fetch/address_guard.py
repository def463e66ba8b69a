"""Host names to addresses, and which of them may be connected to (RELIABILITY "The hostile web"): the address counts,
not only the name."""

import errno
import os
import socket
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

from tui_crawler.fetch.classify import Phase, TransferFailed, Trouble
from tui_crawler.fetch.threads import run_in_thread

AllowPrivate = Literal["auto"] | bool

_LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})
_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052
_NOT_PUBLIC = (  # besides what Python's ipaddress knows, which differs between its versions
    ip_network("168.63.129.16/32"),  # the host endpoint of a cloud, in public address space
    ip_network("192.0.0.0/24"),  # IETF protocol assignments, and the metadata of another cloud
    ip_network("::/96"),  # IPv4-compatible addresses, deprecated
    ip_network("fec0::/10"),  # site-local addresses, deprecated
    ip_network("2002::/16"),  # 6to4, deprecated by RFC 7526
    ip_network("64:ff9b:1::/48"),  # NAT64 of one network, RFC 8215
    ip_network("3fff::/20"),  # documentation
)


class AddressRefused(TransferFailed):
    """An address that must not be connected to; `excluded` when the exclusion list names it."""

    def __init__(self, message: str, *, excluded: bool) -> None:
        super().__init__(Phase.connect, Trouble.excluded_address if excluded else Trouble.blocked_address, message)
        self.excluded = excluded


def check_name(host: str) -> None:
    """Raises TransferFailed for a host that cannot be looked up (RFC 1035, 2.3.4)."""
    name = host.removesuffix(".")
    if len(name) > 253 or any(not 0 < len(label) <= 63 for label in name.split(".")):
        raise TransferFailed(Phase.connect, Trouble.invalid_target, f"{host} cannot be asked of a name server")


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """The policy of `network.allow_private_addresses`, and the addresses of the exclusion list.

    "auto" allows a private address that a seed names, and a loopback name of a seed that leads to a loopback address.

    `seed_hosts` holds the hosts of the seeds as `CrawlUrl.host` has them; it may grow while the crawl runs.
    `excluded` answers what excludes an address ("" for nothing); it is asked for every connection.
    """

    allow_private: AllowPrivate = "auto"
    seed_hosts: Container[str] = frozenset()
    excluded: Callable[[str], str] = lambda _: ""

    def check(self, host: str, address: str) -> None:
        """Raises AddressRefused when `address`, to which `host` (a name or an address) resolves, is not allowed."""
        self.check_excluded(host, address)
        inner = ip_address(address)
        if isinstance(inner, IPv6Address):  # the IPv4 address inside counts
            nat64 = IPv4Address(int(inner) & 0xFFFFFFFF) if inner in _NAT64 else inner
            inner = inner.ipv4_mapped or nat64
        public = inner.is_global and not inner.is_multicast and not any(inner in network for network in _NOT_PUBLIC)
        if self.allow_private is True or public:
            return
        bare = bare_host(host)
        named = self.allow_private == "auto" and (bare in self.seed_hosts or f"[{bare}]" in self.seed_hosts)
        if named and (is_address(bare) or (_is_loopback_name(bare) and inner.is_loopback)):
            return
        raise AddressRefused(f"{_told(host, address)} is not a public address", excluded=False)

    def check_excluded(self, host: str, address: str) -> None:
        """Raises AddressRefused when the exclusion list names `address`."""
        reason = self.excluded(address)
        if reason:
            raise AddressRefused(f"{_told(host, address)} is excluded: {reason}", excluded=True)

    def allowed(self, host: str, addresses: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a host's addresses that may be connected to. Raises AddressRefused when none of them may.

        One excluded address excludes the host: the exclusion list overrides everything.
        """
        kept: list[str] = []
        refused: AddressRefused | None = None
        for address in addresses:
            try:
                self.check(host, address)
                kept.append(address)
            except AddressRefused as error:
                if error.excluded:
                    raise
                refused = error
        if not kept and refused is not None:
            raise refused
        return tuple(kept)

    def check_literal(self, host: str) -> None:
        """The same for a host that goes to a proxy, where only what the host itself says can be judged."""
        bare = bare_host(host)
        if is_address(bare):
            self.check(host, bare)
        elif _is_loopback_name(bare):
            self.check(host, "127.0.0.1")


def _told(host: str, address: str) -> str:
    return address if bare_host(host) == address else f"{address}, to which {host} resolves,"


def bare_host(host: str) -> str:
    """A host without the brackets of an IPv6 address."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def is_address(host: str) -> bool:
    """Return whether a host is an IP address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback_name(host: str) -> bool:
    name = host.lower().removesuffix(".")
    return name in _LOOPBACK_NAMES or name.endswith(".localhost")


Resolver = Callable[[str, int], Awaitable[tuple[str, ...]]]


async def resolve_name(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a name, best first (the operating system's order). Raises OSError when there are none."""

    def look_up() -> tuple[str, ...]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError as error:  # a label that no name server could be asked for
            raise OSError(str(error)) from error
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await run_in_thread(f"resolve {host}", look_up)


def is_out_of_descriptors(error: BaseException | None) -> bool:
    """Return whether an error came of the want of a file descriptor; a name look-up does not say so itself."""
    while error is not None:
        try:
            if isinstance(error, socket.gaierror) or getattr(error, "errno", 0) == errno.EBUSY:  # glibc says either
                os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as shortage:
            error = shortage
        if isinstance(error, OSError) and error.errno in {errno.EMFILE, errno.ENFILE}:
            return True
        error = error.__cause__
    return False
