"""The exclusion list: hosts, domains, networks and patterns whose owners asked not to be crawled (M).

It overrides everything, also for redirects, robots.txt hops and the address a connection really reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Literal, assert_never

from tui_crawler.domain.rules.pattern import BadPattern, PatternSet
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise

ExclusionKind = Literal["domain", "host", "cidr", "pattern"]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One entry. `domain` holds for the name and everything below it, `host` for exactly that name or address,
    `cidr` for addresses, `pattern` is searched in the URL. `source` is file:line, or who entered it where."""

    kind: ExclusionKind
    value: str
    reason: str = ""
    who: str = ""
    source: str = ""

    def describe(self) -> str:
        """The entry in words, with its reason and who asked, as a refusal shows it."""
        text = f"exclusion list: {self.kind} {self.value}"
        if self.reason:
            text += f", {self.reason}"
        return f"{text} (by {self.who})" if self.who else text


class ExclusionIndex:
    """The list compiled: what it costs to ask does not grow with its length. Immutable.

    Where several entries hold, the first of the list is the answer. Raises BadPattern for a value that is no
    host name, network or pattern.
    """

    __slots__ = ("_domains", "_hosts", "_networks", "_pattern_places", "_patterns", "items")

    def __init__(self, items: Iterable[Exclusion], patterns: PatternSet | None = None) -> None:
        self.items = tuple(items)
        self._domains: dict[str, int] = {}
        self._hosts: dict[str, int] = {}
        self._networks: dict[tuple[int, int], dict[int, int]] = {}
        places: list[int] = []
        for place, item in enumerate(self.items):
            match item.kind:
                case "domain":
                    self._domains.setdefault(host_name(item.value.removeprefix("*.").lstrip(".")), place)
                case "host":
                    self._hosts.setdefault(host_name(item.value), place)
                case "cidr":
                    network = parse_network(item.value)
                    shift = network.max_prefixlen - network.prefixlen
                    networks = self._networks.setdefault((network.version, network.prefixlen), {})
                    networks.setdefault(int(network.network_address) >> shift, place)
                case "pattern":
                    places.append(place)
                case _:
                    assert_never(item.kind)
        self._pattern_places = tuple(places)
        texts = tuple(self.items[place].value for place in places)
        self._patterns = patterns if patterns and patterns.patterns == texts else PatternSet(texts)

    def added(self, item: Exclusion) -> ExclusionIndex:
        """The index with one entry more, at the end."""
        return ExclusionIndex((*self.items, item), self._patterns)

    def removed(self, kind: ExclusionKind, value: str) -> ExclusionIndex:
        """The index without the entries of this kind and value."""
        kept = (item for item in self.items if (item.kind, item.value) != (kind, value))
        return ExclusionIndex(kept, self._patterns)

    def of_url(self, url: CrawlUrl) -> Exclusion | None:
        """The first entry that holds for a URL."""
        place = self._patterns.first(url.href)
        found = [] if place is None else [self._pattern_places[place]]
        return self._first(found + self._host_places(_bare(url.host)))

    def of_host(self, host: str) -> Exclusion | None:
        """The first entry that holds for a host name or an address literal (with or without brackets)."""
        try:
            name = host_name(host)
        except BadPattern:
            name = _bare(host.lower())
        return self._first(self._host_places(name))

    def of_address(self, address: str) -> Exclusion | None:
        """The first entry that holds for the address a name resolved to; text that is no address has none."""
        return self._first(self._address_places(address.strip("[]")))

    def _first(self, places: list[int]) -> Exclusion | None:
        return self.items[min(places)] if places else None

    def _host_places(self, name: str) -> list[int]:
        found = self._address_places(name.strip("[]")) if name[-1:].isdigit() or name[:1] == "[" else []
        if name in self._hosts:
            found.append(self._hosts[name])
        if self._domains:
            below = name
            while below:
                if below in self._domains:
                    found.append(self._domains[below])
                below = below.partition(".")[2]
        return found

    def _address_places(self, text: str) -> list[int]:
        address = address_of(text) if self._hosts or self._networks else None
        if address is None:
            return []
        name = f"[{address}]" if address.version == 6 else str(address)
        found = [self._hosts[name]] if name in self._hosts else []
        number, bits = int(address), address.max_prefixlen
        for (version, length), networks in self._networks.items():
            if version == address.version:
                place = networks.get(number >> (bits - length))
                if place is not None:
                    found.append(place)
        return found


def host_name(value: str) -> str:
    """A host name or address as a user writes it, in the form URLs carry it (lower case, punycode, IPv6 in
    brackets, no final dot). Raises BadPattern if it is none."""
    text = value.strip()
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"
    url = normalise(f"http://{text}/")
    if isinstance(url, InvalidUrl) or url.path != "/" or url.query or url.fragment or url.port != 80:
        raise BadPattern(value, "is not a host name")
    return _bare(url.host)


def parse_network(value: str) -> IPv4Network | IPv6Network:
    """An address or CIDR network; host bits are dropped. Raises BadPattern if it is none."""
    try:
        return ip_network(value.strip(), strict=False)
    except ValueError:
        raise BadPattern(value, "is not an IP address or network") from None


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """The address, an IPv4 one that is mapped into IPv6 as IPv4; None for a name."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _bare(host: str) -> str:
    """Without the final dot of a fully qualified name, which names the same host."""
    return host.removesuffix(".")
