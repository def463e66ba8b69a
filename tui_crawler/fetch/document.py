"""What a document says of itself: title, base, canonical, refresh, robots directives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tui_crawler.fetch.directives import RobotsDirectives, robots_content
from tui_crawler.fetch.links import clean_text
from tui_crawler.fetch.plain_html import PlainTag

Element = Any  # an lxml element (lxml ships no types), or the attributes of a `PlainTag`

_TITLE_PARENTS = frozenset({"head", "body", "html"})  # not svg, where a title is a tooltip
_ATOM = "{http://www.w3.org/2005/Atom"
_SAYS_NOTHING = RobotsDirectives()
_LONGEST_TITLE = 4096  # characters; the bound in bytes is applied later


@dataclass(frozen=True, slots=True)
class Statements:
    """As they are written in the document, "" for what it does not say; `refresh` is the whole content."""

    title: str = ""
    base: str = ""
    canonical: str = ""
    refresh: str = ""
    robots: RobotsDirectives = _SAYS_NOTHING


def html_statements(root: Element, product_token: str) -> Statements:
    """The statements of an HTML document; the first of each counts, robots directives add up."""
    return _said_by(((element.tag, element) for element in root.iter("title", "base", "link", "meta")), product_token)


def plain_statements(tags: Iterable[PlainTag], product_token: str) -> Statements:
    """The same of one that was read without a tree."""
    return _said_by(((name, source) for name, _, source in tags if name != "a"), product_token)


def _said_by(elements: Iterable[tuple[str, Element]], product_token: str) -> Statements:
    title = base = canonical = refresh = ""
    robots = RobotsDirectives()
    names = ("robots", product_token.lower())
    for tag, element in elements:
        if tag == "meta":
            content = element.get("content") or ""
            if (element.get("name") or "").strip().lower() in names:
                robots |= robots_content(content)
            elif not refresh and (element.get("http-equiv") or "").strip().lower() == "refresh":
                refresh = "" if _is_for_scriptless(element) else content
        elif tag == "link":
            if not canonical and "canonical" in (element.get("rel") or "").lower().split():
                canonical = element.get("href") or ""
        elif tag == "base":
            base = base or element.get("href") or ""
        elif tag == "title" and not title:
            title = clean_text(_title_text(element), _LONGEST_TITLE)
    return Statements(title, base, canonical, refresh, robots)


def feed_type(root: Element) -> str:
    """What a tree of XML is as a feed: "rss" (also RSS 1.0, which is RDF), "atom", or "" when it is none."""
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


def _is_for_scriptless(element: Element) -> bool:
    """Whether an element stands in `noscript`: such refreshes lead away from the page that is meant."""
    return not isinstance(element, dict) and next(element.iterancestors("noscript"), None) is not None


def _parent_name(element: Element) -> str:
    parent = element.getparent()
    return "" if parent is None else str(parent.tag).rpartition("}")[2]
