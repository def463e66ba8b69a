"""What a configuration names of pages: kinds of link and of body, canonical URLs, data rules (R). Few lines of their
own: every configuration is read before the first paint."""

from enum import Enum
from typing import Literal

from tui_crawler.domain.record import dataclass

OTHER = "other"
"""The kind of a body that is none of html, xml, css and rss: it is never read, and stored only where that is wished."""

CookieMode = Literal["chain", "origin", "off"]
"""How long cookies that servers set are sent back: within a chain of redirects, in the run of an origin, never."""

SitemapRule = Literal["auto", "robots", "off"]
"""Which sitemaps are read: all that are named or found, those that robots.txt names on crawled origins, or none."""

CanonicalRule = Literal["obey", "same_origin", "ignore"]
"""Which canonical URLs are obeyed: all, those of the page's own origin, or none; the others are only recorded."""


class LinkKind(Enum):
    """The seven kinds of link (G), whose value is the name in `v_link.kind`; `frame`, which is an object there with a
    mark; `other`, which is recorded and never requested."""

    __hash__ = object.__hash__  # by identity: links are counted by it, and Enum's own is Python

    a = "a"
    css = "css"
    img = "img"
    video = "video"
    audio = "audio"
    object = "object"
    script = "script"
    frame = "frame"
    other = "other"


PAGE_KINDS = tuple(kind for kind in LinkKind if kind not in (LinkKind.frame, LinkKind.other))
"""The kinds of link that can be configured to become pages."""


DataType = Literal["link", "video", "picture", "text"]


@dataclass(frozen=True, slots=True)
class DataRule:
    """One named expression for the pages of `host`; exactly one of `css`, `xpath` and `regex` is given.

    `css` may end in parsel's `::text` or `::attr(name)`. Of `regex` the first group counts, else the whole match.
    `source` is file:line.
    """

    host: str
    name: str
    type: DataType
    css: str | None = None
    xpath: str | None = None
    regex: str | None = None
    source: str = ""
