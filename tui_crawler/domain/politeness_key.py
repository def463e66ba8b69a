"""The politeness key: what two requests must share for the delay to hold between them (CRAWL.md section 4)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal, assert_never

if TYPE_CHECKING:
    from collections.abc import Callable

PolitenessMode = Literal["origin", "host", "registrable_domain", "ip"]


def politeness_key(
    mode: PolitenessMode,
    url_origin: str,
    host: str,
    registrable: Callable[[str], str | None],
    address: str | None,
) -> str:
    """The key of an origin, one request at a time and one delay for all origins that share it.

    `registrable` gives the registrable domain of a host name ("a.example.co.uk" -> "example.co.uk"), None if
    it has none; `address` is what the host resolves to, None while that is not known. Where the mode has no
    answer (an address literal has no domain, a host is not resolved) the host is the key.
    """
    name = host.removesuffix(".").lower()
    match mode:
        case "origin":
            return url_origin
        case "host":
            return name
        case "registrable_domain":
            return name if _literal(name) else registrable(name) or name
        case "ip":
            return _literal(address or name) or name
        case _:
            assert_never(mode)


def _literal(text: str) -> str | None:
    """An address in its one spelling (IPv4 mapped into IPv6 as IPv4), None for a name."""
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address)
