"""What a demo site is: frozen values, without sockets and without a clock."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from math import inf
from types import MappingProxyType

HTML = "text/html; charset=utf-8"

Header = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Faithful:
    """The page arrives as it is."""


@dataclass(frozen=True, slots=True)
class FailsFirst:
    """The first `visits` answers have the error `status`, with a Retry-After of `retry_after_s` if it is given; the
    later ones are the page."""

    status: int
    visits: float = inf
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class Truncated:
    """The first `visits` answers end in the middle of the body: half the promised Content-Length."""

    visits: int


@dataclass(frozen=True, slots=True)
class BrokenChunk:
    """The second chunk has a size line that is no hexadecimal number, on every visit."""


Fault = Faithful | FailsFirst | Truncated | BrokenChunk
FAULTS = {fault.__name__: fault for fault in (Faithful, FailsFirst, Truncated, BrokenChunk)}


@dataclass(frozen=True, slots=True)
class DemoPage:
    """What a faithful GET of `target` (path with query) answers. An `etag` (with its quotes) or a `last_modified` (HTTP
    date) makes the page answer 304 to a matching conditional request."""

    target: str
    body: bytes = b""
    status: int = 200
    content_type: str | None = HTML
    headers: tuple[Header, ...] = ()
    reason: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    gzip: bool = False
    chunked: bool = False
    fault: Fault = field(default_factory=Faithful)


@dataclass(frozen=True, slots=True)
class Steady:
    """Every request is answered at once."""


@dataclass(frozen=True, slots=True)
class SlowHeads:
    """A response head takes `minimum_ms` to `maximum_ms`, fixed per target, times the pace."""

    minimum_ms: int
    maximum_ms: int


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Each `every`th request of the site is answered 429 with a Retry-After of `retry_after_s` seconds."""

    every: int
    retry_after_s: int


@dataclass(frozen=True, slots=True)
class Resetting:
    """Each `every`th request of the site is reset before any byte; every answer closes its connection."""

    every: int


@dataclass(frozen=True, slots=True)
class Dying:
    """After `after_requests` answers the listener closes: later connections are refused."""

    after_requests: int


Manner = Steady | SlowHeads | RateLimited | Resetting | Dying
MANNERS = {manner.__name__: manner for manner in (Steady, SlowHeads, RateLimited, Resetting, Dying)}


@dataclass(frozen=True, slots=True)
class Site:
    """One demo origin. `wild` makes the pages of an endless part from their target, None where there is none."""

    name: str
    title: str
    shows: str
    pages: Mapping[str, DemoPage]
    manner: Manner = field(default_factory=Steady)
    wild: Callable[[str], DemoPage | None] | None = None
    server: str = "demo"

    def find_page(self, target: str) -> DemoPage | None:
        """Return the page of `target` (path with query), or None: the server then answers 404."""
        return self.pages.get(target) or (self.wild(target) if self.wild is not None else None)


def freeze_pages(pages: tuple[DemoPage, ...]) -> Mapping[str, DemoPage]:
    """Return the pages by target, read-only. A target that is given twice raises ValueError."""
    if twice := [target for target, number in Counter(page.target for page in pages).items() if number > 1]:
        raise ValueError(f"targets given twice: {sorted(twice)}")
    return MappingProxyType({page.target: page for page in pages})


def make_etag(body: bytes) -> str:
    """Return a strong entity tag of `body`, with its quotes (RFC 9110, 8.8.3)."""
    return f'"{blake2b(body, digest_size=8).hexdigest()}"'
