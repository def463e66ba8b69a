"""What a document and its header say of themselves, and to crawlers: title, base, canonical, refresh, robots
directives."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tui_crawler.domain.crawl.recrawl import parse_http_date
from tui_crawler.fetch.headers import w3c_date_ms
from tui_crawler.fetch.links import clean_text

# directives with a value, which is no directive and no agent: "max-image-preview: none", "unavailable_after: 25 Jun"
_VALUED = re.compile(
    r"max-[a-z-]++\s*+:\s*+[^\s,;]*+"
    r"|unavailable_after\s*+:((?:\s*+(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*+,)?+[^,;]*+(?:,\s*+\d[^,;]*+)?+)"
)
_AGENT = re.compile(r"\s*+([^\s:]++)\s*+:")
_REFRESH = re.compile(
    r"\s*+(?=[\d.])0*+(\d*+)[\d.]*+(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?:'([^']*+)|\"([^\"]*+)|(.*))",
    re.IGNORECASE | re.DOTALL,
)
_REDIRECTING_S = 10  # a later refresh is no redirect (docs/behaviour.md)
_LINK_HEADER = re.compile(r"<([^<>]*+)>([^<]*+)")
_REL = re.compile(r""";\s*+rel\s*+=\s*+(?:"([^"]*+)"|([^\s";,]++))""", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,;]")


RobotsDirectives = frozenset[str]
"""Those of `noindex` and `nofollow` that a page or its header says; several sources add up to the stricter."""
_EVERY_DIRECTIVE = RobotsDirectives({"noindex", "nofollow"})


def x_robots_tag(values: Iterable[str], product_token: str, now: int) -> RobotsDirectives:
    """The directives, at `now` (epoch ms), of X-Robots-Tag fields to all crawlers or to this one ("bot: noindex")."""
    ours: list[str] = []
    for value in values:
        addressed = True
        for item in _items(value, now):
            agent = _AGENT.match(item)
            if agent is not None:
                addressed = agent[1] == product_token.lower()
            if addressed:
                ours.append(item if agent is None else item[agent.end() :])
    return _directives(ours)


def _items(content: str, now: int) -> list[str]:
    """Return what stands between commas or semicolons, in lower case. Directives that have a value are left out, but
    for `unavailable_after` with a time before `now`, which is noindex."""

    def word(valued: re.Match[str]) -> str:
        return "noindex" if valued[1] and _date_ms(valued[1].strip(), now) < now else ""

    return _SEPARATORS.split(_VALUED.sub(word, content.lower()))


def _date_ms(text: str, unreadable: int) -> int:
    """Return a date of RFC 822, RFC 850 or ISO 8601 as epoch ms, the beginning of the day where it names no time."""
    iso = w3c_date_ms(text.removesuffix(" utc").removesuffix(" gmt"))
    found = (iso, parse_http_date(text), parse_http_date(f"{text} 00:00:00"))
    return next((one for one in found if one is not None), unreadable)


def _directives(items: Iterable[str]) -> RobotsDirectives:
    words = {word for item in items for word in item.split()}
    return _EVERY_DIRECTIVE if "none" in words else _EVERY_DIRECTIVE & words


def refresh_target(content: str) -> tuple[str, bool]:
    """The URL of a Refresh value (WHATWG HTML, "shared declarative refresh steps"), "" when it only reloads; and
    whether it comes so late that the page is read before: fractions of a second do not count."""
    found = _REFRESH.match(content)
    if found is None:
        return "", False
    seconds, *targets = found.groups()
    is_late = len(seconds) > 2 or int(seconds or 0) > _REDIRECTING_S
    return next(filter(None, targets), "").strip(), is_late


def canonical_in_header(values: Iterable[str]) -> str:
    """The target of the first `rel=canonical` in Link fields (RFC 8288), "" when there is none."""
    for value in values:
        for target, parameters in _LINK_HEADER.findall(value):
            rel = _REL.search(parameters)
            if rel is not None and "canonical" in (rel[1] or rel[2] or "").lower().split():
                return str(target).strip()
    return ""


Element = Any  # an lxml element (lxml ships no types), or the attributes of a `PlainTag`

_TITLE_PARENTS = frozenset({"head", "body", "html"})  # not svg, where a title is a tooltip
_ATOM = "{http://www.w3.org/2005/Atom"
_MOST_SITEMAPS = 50
_LONGEST_TITLE = 4096  # characters; the bound in bytes is applied later


@dataclass(frozen=True, slots=True)
class Statements:
    """As they are written in the document, "" for what it does not say; `refresh` is the whole content."""

    title: str = ""
    base: str = ""
    canonical: str = ""
    refresh: str = ""
    robots: RobotsDirectives = frozenset()
    sitemaps: tuple[str, ...] = ()


STATING_TAGS = ("title", "base", "link", "meta")


def html_statements(elements: Iterable[tuple[str, Element]], product_token: str, now: int) -> Statements:
    """The statements of HTML at `now` (epoch ms), by its elements and their tags (`STATING_TAGS`).

    The first of each counts, robots directives add up.
    """
    title = base = canonical = refresh = ""
    robots, sitemaps = RobotsDirectives(), list[str]()
    names = ("robots", product_token.lower())
    for tag, element in elements:
        if tag == "meta":
            content = element.get("content") or ""
            if (element.get("name") or "").strip().lower() in names:
                robots |= _directives(_items(content, now))
            elif not refresh and (element.get("http-equiv") or "").strip().lower() == "refresh":
                # in `noscript` it leads away from the page that is meant
                is_meant = isinstance(element, dict) or next(element.iterancestors("noscript"), None) is None
                refresh = content if is_meant else ""
        elif tag == "link":
            rel = (element.get("rel") or "").lower().split()
            if not canonical and "canonical" in rel:
                canonical = element.get("href") or ""
            if "sitemap" in rel and len(sitemaps) < _MOST_SITEMAPS:
                sitemaps.append(element.get("href") or "")
        elif tag == "base":
            base = base or element.get("href") or ""
        elif tag == "title" and not title:
            title = clean_text(_title_text(element), _LONGEST_TITLE)
    return Statements(title, base, canonical, refresh, robots, tuple(sitemaps))


def feed_type(root: Element) -> str:
    """Return what a tree of XML is as a feed: "rss" (also RSS 1.0, which is RDF), "atom", or "" when it is none."""
    namespace, _, name = str(root.tag).rpartition("}")
    if name == "feed" and namespace == _ATOM:
        return "atom"
    if name == "rss" or (name == "RDF" and root.find("{*}channel") is not None):
        return "rss"
    return ""


def feed_statements(root: Element) -> Statements:
    """The title of an RSS, RDF or Atom feed: the one of its channel, not of an item."""
    for element in root.iter("{*}title"):
        if _parent_name(element) in ("channel", "feed"):
            return Statements(clean_text(element.text or "", _LONGEST_TITLE))
    return Statements()


def _title_text(element: Element) -> str:
    if isinstance(element, dict):
        return str(element[""])
    return (element.text or "") if _parent_name(element) in _TITLE_PARENTS else ""


def _parent_name(element: Element) -> str:
    parent = element.getparent()
    return "" if parent is None else str(parent.tag).rpartition("}")[2]
