"""Markup to a tree (lxml), piece by piece under a deadline. No entity is expanded, nothing external is read."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import etree

from tui_crawler.domain.records.attempt import ValidationError
from tui_crawler.fetch.headers import clean_message
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.markup import GuardedMarkup, guard_html, guard_xml

Element = Any  # an lxml element; lxml ships no types

_PIECE_BYTES = 256 * 1024  # the deadline is looked at between such pieces
_DEEPEST = 2046  # libxml2 gives up at 2,048 nested elements and loses what follows
_MOST_FAULTS = 20
XHTML = "{http://www.w3.org/1999/xhtml}"
_WITHIN_XHTML = (XHTML, "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1998/Math/MathML}")
SAFE_XML = {
    "recover": True,
    "encoding": "utf-8",
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": True,  # the depth of HTML; without entity declarations there is nothing to amplify
}


@dataclass(frozen=True, slots=True)
class ParsedMarkup:
    """The root of a tree, None when there is nothing in it, and the names of what is missing from it.

    Besides those of `GuardedMarkup`: "depth" (nested too deeply), "deadline" (the time was over). `faults` are the
    first 20 places where XML is not well-formed; they mean nothing when something is missing.
    """

    root: Element | None
    incomplete: tuple[str, ...] = ()
    faults: tuple[ValidationError, ...] = ()


def parse_html(data: bytes, limits: FetchLimits, out_of_time: Callable[[], bool]) -> ParsedMarkup:
    """The tree of UTF-8 HTML, whatever it is like."""
    parser = etree.HTMLParser(recover=True, encoding="utf-8", huge_tree=True, no_network=True)
    return _parse(parser, guard_html(data, limits), out_of_time)


def parse_xml(data: bytes, limits: FetchLimits, out_of_time: Callable[[], bool]) -> ParsedMarkup:
    """The tree of UTF-8 XML as far as it is well-formed."""
    return _parse(etree.XMLParser(**SAFE_XML), guard_xml(data, limits), out_of_time)


def drop_xhtml_namespaces(root: Element) -> None:
    """Give the elements of XHTML, and of SVG and MathML in it, their bare names, as in HTML."""
    for element in root.iter(*(f"{namespace}*" for namespace in _WITHIN_XHTML)):
        element.tag = element.tag.rpartition("}")[2]


def _parse(parser: Any, guarded: GuardedMarkup, out_of_time: Callable[[], bool]) -> ParsedMarkup:
    data, cut = guarded
    if data is None:
        return ParsedMarkup(None, cut)
    incomplete = list(cut)
    for start in range(0, len(data), _PIECE_BYTES):
        if out_of_time():
            incomplete.append("deadline")
            break
        parser.feed(data[start : start + _PIECE_BYTES])
    root = None
    with suppress(etree.XMLSyntaxError):  # nothing at all could be read
        root = parser.close()
    if root is not None and _last_depth(root) >= _DEEPEST:
        incomplete.append("depth")
    # a warning is no fault: so is an entity of a document type that is never fetched
    log = () if isinstance(parser, etree.HTMLParser) else parser.feed_error_log
    errors = islice((entry for entry in log if entry.level > etree.ErrorLevels.WARNING), _MOST_FAULTS)
    faults = (ValidationError(entry.line, entry.column, clean_message(entry.message)) for entry in errors)
    return ParsedMarkup(root, tuple(incomplete), tuple(faults))


def _last_depth(root: Element) -> int:
    """Return how deep the end of the tree is: where the parser gave up, if it did."""
    depth, element = 1, root
    while len(element):
        depth, element = depth + 1, element[-1]
    return depth
