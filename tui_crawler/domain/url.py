"""URLs as the crawler knows them: WHATWG parsing plus the few rules of docs/behaviour.md.

Nothing here raises for a bad URL: what cannot be crawled becomes an `InvalidUrl` with its reason.
"""

import re
from collections.abc import Set
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from ipaddress import ip_address
from typing import Self
from urllib.parse import unquote

from ada_url import join_url, normalize_url

DEFAULT_MAX_LENGTH = 2048
CLIENT_MAX_LENGTH = 65_536  # httpx refuses longer URLs, whatever `max_url_length` says

DEFAULT_PORTS = {"http": 80, "https": 443}
_REMOVED = dict.fromkeys(map(ord, "\t\n\r"))  # by WHATWG, wherever they stand
_STRIPPED = "".join(map(chr, range(0x21)))  # C0 controls and space, which WHATWG strips at both ends
_BEFORE_AT = re.compile(r"(?:^|(?<=[/\\?#]))[^/\\?#]*@")
_SCHEME = re.compile(r"https?:\s*", re.IGNORECASE)
_FIRST_SCHEME = re.compile(r"\s*(?!mailto:)[a-z0-9._~%+-]+:", re.IGNORECASE)
_WRITTEN_SCHEME = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+\s*(?:[/?#]|$))")  # but not a host and its port
_HOST = re.compile(r"(?://)?(?:[^/?#]*(?:\.[^/?#]|:\d)|\[|localhost(?:[/?#]|$))", re.IGNORECASE)
MASK = "•••"
"""Stands for what is secret, wherever it would be shown."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # tab, LF and CR are removed by WHATWG


@dataclass(frozen=True, slots=True)
class CrawlUrl:
    """A normalised http or https URL. Two are equal when their `href` is; the fragment does not count.

    `href` is the URL without its fragment, `origin` is "scheme://host[:port]" with a default port dropped,
    `host` keeps the brackets of an IPv6 address, `query` and `fragment` come without their mark.
    """

    href: str
    origin: str = field(compare=False)
    scheme: str = field(compare=False)
    host: str = field(compare=False)
    port: int = field(compare=False)
    path: str = field(compare=False)
    query: str = field(compare=False)
    fragment: str = field(default="", compare=False)
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def hash(self) -> int:
        """The signed 64-bit number under which the store finds the page."""
        known = self._hash
        if known is None:
            known = url_hash(self.href)
            object.__setattr__(self, "_hash", known)
        return known

    @property
    def target(self) -> str:
        """Path and query as they are sent, which is what robots.txt rules are compared with."""
        return f"{self.path}?{self.query}" if self.query else self.path


class Href(str):
    """The `href` of a URL that keeps the URL it belongs to: who is handed it in the same process need not parse it
    again. Everywhere else it is a text."""

    __slots__ = ("url",)
    url: CrawlUrl

    def __new__(cls, url: CrawlUrl) -> Self:
        """The text of `url`."""
        made = super().__new__(cls, url.href)
        made.url = url
        return made


@dataclass(frozen=True, slots=True)
class InvalidUrl:
    """A string that cannot be crawled: as it was found (but for a user name and password), and why, in plain words."""

    raw: str
    reason: str
    too_long: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "raw", without_userinfo(self.raw))


def without_userinfo(text: str) -> str:
    """Return what is, or is meant as, a URL, to be shown: user name and password (RFC 3986, 3.2.1) masked."""
    if "@" not in text:
        return text
    return _BEFORE_AT.sub(_masked, text.translate(_REMOVED))


def _masked(found: re.Match[str]) -> str:
    """Mask what is before an "@" from where a user name can begin: behind two slashes or a scheme. Each character is
    looked at a few times at most: the text may be a server's, and made to take long."""
    text, part, start = found.string, found[0], found.start()
    slashes = start
    while slashes and (text[slashes - 1] in "/\\" or text[slashes - 1].isspace()):
        slashes -= 1
    behind = text[max(0, slashes - 6) : slashes].lower().endswith(("http:", "https:"))
    if behind or (start > 1 and text[start - 2] in "/\\" and text[start - 1] in "/\\"):
        return f"{MASK}@"
    scheme = (None if start else _FIRST_SCHEME.match(part)) or _SCHEME.search(part)
    return f"{part[: scheme.end()]}{MASK}@" if scheme else part


def url_hash(href: str) -> int:
    """BLAKE2b of the UTF-8 text, 64 bits, as a signed number (what a BIGINT column holds)."""
    digest = blake2b(href.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def normalise(raw: str, base: str | None = None, max_length: int = DEFAULT_MAX_LENGTH) -> CrawlUrl | InvalidUrl:
    """`raw`, relative to `base` if there is one, as a `CrawlUrl`; `max_length` in characters of the href.

    WHATWG parsing, then: http and https only, no user name or password, no control characters (those that
    WHATWG strips are stripped first), fragment split off, empty query dropped. Never raises.
    """
    text = _scalar_values(raw)
    if _CONTROL.search(text) and _CONTROL.search(text.strip(_STRIPPED)):
        return InvalidUrl(raw, "contains a control character")
    try:
        href = normalize_url(text) if base is None else join_url(_scalar_values(base), text)
    except ValueError:
        return InvalidUrl(raw, "is not a valid URL")
    scheme, _, rest = href.partition(":")
    if scheme not in DEFAULT_PORTS:
        return InvalidUrl(raw, f"is not http or https but {scheme if len(scheme) <= 20 else scheme[:19] + '…'}")
    return _split(raw, scheme, rest, max_length)


def has_scheme(raw: str) -> bool:
    """Return whether a URL was written with a scheme, also with one that is not crawled."""
    return _WRITTEN_SCHEME.match(raw) is not None


def read_seed(raw: str, known: Set[str] = frozenset(), max_length: int = CLIENT_MAX_LENGTH) -> CrawlUrl | InvalidUrl:
    """Return a URL as a person writes it, without the blanks around it. Without a scheme it is https; http
    for loopback and private addresses. If only one of the two origins is `known`, it is that one."""
    text = raw.strip()
    if has_scheme(text) or not _HOST.match(text):
        return normalise(text, None, max_length)
    plain, secure = (normalise(f"{scheme}://{text.removeprefix('//')}", None, max_length) for scheme in DEFAULT_PORTS)
    if isinstance(plain, InvalidUrl) or isinstance(secure, InvalidUrl):
        return secure
    if (plain.origin in known) != (secure.origin in known):
        return plain if plain.origin in known else secure
    return plain if _is_near(plain.host) else secure


def scheme_words(schemes: Set[str]) -> str:
    """Return which schemes were taken where none was written; empty where each URL had its own."""
    if len(schemes) > 1:
        return "no scheme given: https:// used, http:// where local or the only one known; write the other to change it"
    if "http" in schemes:
        return "no scheme given: http:// used (local, or known with it); write https:// to change it"
    return "no scheme given: https:// used; write http:// to change it" if schemes else ""


def without_fragment(raw: str) -> str:
    """A reference to the same resource without its fragment, where that is easily told; else the reference as it is."""
    before, _, fragment = raw.partition("#")
    return before if fragment.isprintable() and not "" < before[-1:] <= " " else raw


def _split(raw: str, scheme: str, rest: str, max_length: int) -> CrawlUrl | InvalidUrl:
    """Cut what the WHATWG parser serialised ("//authority/path?query#fragment") into its parts."""
    whole, _, fragment = rest.partition("#")
    before_query, _, query = whole.partition("?")
    slash = before_query.index("/", 2)
    authority, path = before_query[2:slash], before_query[slash:]
    if "@" in authority:
        return InvalidUrl(raw, "has a user name or password")
    host, port = authority, DEFAULT_PORTS[scheme]
    if ":" in authority and not authority.endswith("]"):
        host, _, digits = authority.rpartition(":")
        port = int(digits)
    if port == 0:  # valid for WHATWG, but the HTTP client would connect to the default port instead
        return InvalidUrl(raw, "has port 0")
    origin = f"{scheme}://{authority}"
    href = f"{origin}{path}?{query}" if query else f"{origin}{path}"
    limit = min(max_length, CLIENT_MAX_LENGTH)
    if len(href) > limit:
        return InvalidUrl(raw, f"is {len(href)} characters long, more than {limit}", too_long=True)
    return CrawlUrl(href, origin, scheme, host, port, path, query, fragment)


def _scalar_values(text: str) -> str:
    """Lone surrogates become U+FFFD, as a browser's USVString conversion does."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def indicated(fragment: str) -> tuple[str, ...]:
    """The names of which an element must have one to be what a fragment indicates (HTML, "the indicated part of the
    document"): the fragment as it stands, and percent-decoded. None where nothing needs to be there: the top of a page,
    a text directive, and what applications keep in fragments ("#/page", "#!page")."""
    name = fragment.partition(":~:")[0]
    decoded = unquote(name)
    return () if not name or name[0] in "/!" or decoded.lower() == "top" else (name, decoded)


def in_xml_base(raw: str, bases: tuple[str, ...], document: str) -> str:
    """Return a URL for its absolute one by these `xml:base` (XML Base; RFC 4287, 2); an invalid one stays invalid."""
    if not bases:
        return raw
    base = xml_base(bases, document)
    found = normalise(raw, base, CLIENT_MAX_LENGTH)
    if isinstance(found, InvalidUrl):
        return raw if base else f"xml:base={bases[-1].removeprefix('invalid:')} {raw}"  # not relative to something else
    return f"{found.href}#{found.fragment}" if found.fragment else found.href


@lru_cache(256)
def xml_base(bases: tuple[str, ...], document: str) -> str | None:
    """Return the absolute base that these say, from the outermost on; None where one is invalid."""
    base: str | None = document
    for written in bases:
        url = normalise(written, base, CLIENT_MAX_LENGTH)
        base = url.href if isinstance(url, CrawlUrl) else None
    return base


@dataclass(slots=True)
class SiteLinks:
    """What the links of many pages come to, for those that say the same on every page of an origin ("/about"), of a
    folder ("about.html") or anywhere ("https://example.org/").

    `known` has what was met, by its place (an origin, a folder, "" for anywhere) and as written. `capacity`
    bounds how many are remembered; when it is full all are forgotten. May be shared by threads.
    """

    capacity: int = 65_536
    known: dict[tuple[str, str], CrawlUrl | InvalidUrl] = field(default_factory=dict)

    def keep(self, place: str, raw: str, url: CrawlUrl | InvalidUrl) -> None:
        """Remember one more."""
        if len(self.known) >= self.capacity:
            self.known.clear()
        self.known[(place, raw)] = url


class LinkResolver:
    """Resolves the links of one page against its base and remembers them: navigation repeats itself.

    `site` remembers across pages. `capacity` bounds how many raw links of this page are remembered.
    """

    __slots__ = ("_base", "_capacity", "_folder", "_known", "_max_length", "_origin", "_site")

    def __init__(
        self,
        base: str | CrawlUrl,
        max_length: int = DEFAULT_MAX_LENGTH,
        capacity: int = 4096,
        site: SiteLinks | None = None,
    ) -> None:
        whole = normalise(base) if isinstance(base, str) and site is not None else base
        self._base = base if isinstance(base, str) else base.href
        self._max_length = max_length
        self._capacity = capacity
        self._known: dict[str, CrawlUrl | InvalidUrl] = {}
        self._site = site or SiteLinks()
        self._origin = self._folder = ""
        if isinstance(whole, CrawlUrl) and site is not None:
            self._origin, self._folder = whole.origin, whole.origin + whole.path[: whole.path.rindex("/") + 1]

    def resolve(self, raw: str) -> CrawlUrl | InvalidUrl:
        """The same answer as `normalise(raw, base, max_length)`.

        What of its base a link depends on (WHATWG URL, basic URL parser) is nothing, the origin, the folder, or all.
        """
        first = raw[:1]
        place = self._origin
        if not place or first <= " " or first in "?#":
            return self._resolve_here(raw)
        if first != "/":
            place = "" if raw.startswith(("https://", "http://")) else self._folder
        known = self._site.known.get((place, raw))
        if known is None:
            known = normalise(raw, self._base, self._max_length)
            self._site.keep(place, raw, known)
        return known

    def _resolve_here(self, raw: str) -> CrawlUrl | InvalidUrl:
        """Remembered for this page alone."""
        known = self._known.get(raw)
        if known is None:
            known = normalise(raw, self._base, self._max_length)
            if len(self._known) >= self._capacity:
                del self._known[next(iter(self._known))]
            self._known[raw] = known
        return known


def is_loopback(host: str) -> bool:
    """Return whether a host (as in `CrawlUrl.host`) is a loopback address or a name reserved for it (RFC 6761, 6.3)."""
    bare = host.strip("[]").removesuffix(".")
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return bare == "localhost" or bare.endswith(".localhost")


def _is_near(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_private
    except ValueError:
        return is_loopback(host)


def file_stem(url: CrawlUrl | InvalidUrl, *, with_port: bool = True) -> str:
    """Return what a file is named after a seed: its host, and a port that is not the default; `crawl` for no URL."""
    name = "crawl" if isinstance(url, InvalidUrl) else url.origin.partition("://")[2] if with_port else url.host
    return "".join(char if char.isalnum() or char in ".-" else "_" for char in name)
