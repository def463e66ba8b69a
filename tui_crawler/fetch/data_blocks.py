"""Data blocks (R): the values that data rules find in the pages of their hosts.

CSS selectors become XPath (parsel's translator), XPath runs on the tree that was read, regular expressions run in
linear time on the decoded text. XPath knows no bound: libxml2 cannot be stopped in the middle of an expression. So
rules run apart from everything else, are given up when the time is over, and a rule that was given up is not tried
again before it has come to its end: at most one evaluation of each rule hangs, and it holds no lock of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import re2
from lxml import etree

from tui_crawler.domain.records.attempt import DataValue
from tui_crawler.domain.records.content_kind import DataRule
from tui_crawler.domain.url import CrawlUrl
from tui_crawler.fetch.headers import clean_message
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.links import clean_text
from tui_crawler.fetch.page import ParsedBody
from tui_crawler.fetch.sniff import HTML

Element = Any  # an lxml element; lxml ships no types

# Prefixes that an XPath may use without declaring them; HTML and XHTML elements have none
NAMESPACES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rss": "http://purl.org/rss/1.0/",
    "svg": "http://www.w3.org/2000/svg",
    "xhtml": "http://www.w3.org/1999/xhtml",
    "xlink": "http://www.w3.org/1999/xlink",
}

_REGEX_MEMORY = 2 << 20  # bytes
_LINK_ATTRIBUTES = ("href", "src", "data", "poster", "url", "content")
_MOST_TEXT_PARTS = 20_000
_RAW_CHARS = 4  # characters that are looked at for one that is kept: white space is folded


class BadDataRule(ValueError):
    """A data rule whose expression cannot be compiled."""


class DataBlocks:
    """The data rules of a crawl, compiled once. Raises BadDataRule."""

    def __init__(self, rules: Sequence[DataRule], limits: FetchLimits) -> None:
        self._limits = limits
        self._by_host: dict[str, list[_Query]] = {}
        for rule in rules:
            self._by_host.setdefault(rule.host, []).append(_Query(rule))

    def has_rules(self, host: str) -> bool:
        """Return whether any rule holds for a host."""
        return host.removesuffix(".") in self._by_host

    def harvest(self, host: str, study: ParsedBody, out_of_time: Callable[[], bool]) -> DataReader | None:
        """The work that the rules of a host have with a page, still to be done; None when there is none."""
        queries = [query for query in self._by_host.get(host.removesuffix("."), ()) if query.fits(study)]
        return DataReader(queries, study, self._limits, out_of_time) if queries else None


@dataclass(slots=True)
class DataReader:
    """The rules of one page at work. What is found may be read at any time, by another thread too."""

    _queries: Sequence[_Query]
    _study: ParsedBody
    _limits: FetchLimits
    _out_of_time: Callable[[], bool]
    _chars: int = 0
    _values: list[DataValue] = field(default_factory=list)
    message: str = ""
    whole: bool = False

    @property
    def values(self) -> tuple[DataValue, ...]:
        """Return what was found so far: rule by rule, each in the order of the document."""
        return tuple(self._values)

    def run(self) -> None:
        """Do the work; `whole` tells afterwards whether nothing was left out. Never raises."""
        whole = True
        for query in self._queries:
            if query.is_running or self._out_of_time():
                whole = False
                continue
            try:
                whole = self._take(query) and whole
            except Exception as error:  # an expression that fails on a document; the other rules go on
                whole = False
                where = f" ({query.rule.source})" if query.rule.source else ""
                self.message = clean_message(f"data rule {query.rule.name!r}{where}: {error}")
        self.whole = whole

    def _take(self, query: _Query) -> bool:
        rule, limits = query.rule, self._limits
        place, whole = 0, True
        for found in query.find(self._study):
            if place >= limits.max_data_values or self._chars >= limits.max_page_data_chars or self._out_of_time():
                return False
            if rule.type == "text":
                value = clean_text(_text_of(found, (limits.max_data_chars + 1) * _RAW_CHARS), limits.max_data_chars + 1)
                whole = whole and len(value) <= limits.max_data_chars
                value = value[: limits.max_data_chars]
            else:
                url = self._study.resolver.resolve(_link_of(found, limits.max_url_length * _RAW_CHARS).strip() or "\0")
                value = url.href if isinstance(url, CrawlUrl) else ""
            if value:
                self._values.append(DataValue(rule.name, rule.type, place, value))
                self._chars += len(value)
                place += 1
        return whole


class _Query:
    def __init__(self, rule: DataRule) -> None:
        self.rule = rule
        self.is_running = False
        try:
            self._pattern = None if rule.regex is None else _pattern(rule.regex)
            if rule.css is not None:
                self._in_html, self._in_xml = map(_xpath, _translated(rule.css))
            else:
                self._in_html = self._in_xml = _xpath(rule.xpath or "/..")  # that finds nothing
        except (ValueError, etree.XPathError, re2.error, RecursionError) as error:
            raise BadDataRule(f"data rule {rule.name!r}: {error}") from error

    def fits(self, study: ParsedBody) -> bool:
        return bool(study.markup) if self._pattern is not None else study.root is not None

    def find(self, study: ParsedBody) -> Iterator[Any]:
        if self._pattern is not None:
            group = 1 if self._pattern.groups else 0
            for match in self._pattern.finditer(study.markup):
                yield (match.group(group) or b"").decode("utf-8", "replace")
            return
        evaluate = self._in_html if study.reading.kind == HTML else self._in_xml
        self.is_running = True
        try:
            found = evaluate(study.root)
        finally:
            self.is_running = False
        yield from found if isinstance(found, list) else [found]


def _translated(css: str) -> tuple[str, str]:
    """A CSS selector as XPath for HTML and for XML. Raises ValueError, RecursionError."""
    from cssselect import SelectorError  # noqa: PLC0415  large, and few crawls take data out of pages
    from parsel.csstranslator import GenericTranslator, HTMLTranslator  # noqa: PLC0415  the same

    try:
        return HTMLTranslator().css_to_xpath(css), GenericTranslator().css_to_xpath(css)
    except SelectorError as error:
        raise ValueError(str(error)) from error


def _xpath(expression: str) -> Any:
    """Without the EXSLT regular expressions, which are Python's and may take for ever."""
    return etree.XPath(expression, namespaces=NAMESPACES, regexp=False, smart_strings=False)


def _pattern(text: str) -> Any:
    options = re2.Options()
    options.max_mem = _REGEX_MEMORY
    options.log_errors = False  # RE2 would write to standard error, over the console
    return re2.compile(text.encode("utf-8"), options)


def _text_of(found: Any, max_chars: int) -> str:
    """Return what was found as text: a string, a number, or what stands in an element."""
    if isinstance(found, str):
        return found[:max_chars]
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, float):
        return str(int(found)) if found.is_integer() else str(found)
    if not isinstance(found.tag, str):  # a comment, a processing instruction
        return (found.text or "")[:max_chars]
    parts: list[str] = []
    length = 0
    for number, part in enumerate(found.itertext()):
        parts.append(part[:max_chars])
        length += len(part)
        if length >= max_chars or number >= _MOST_TEXT_PARTS:
            break
    return "".join(parts)


def _link_of(found: Any, max_chars: int) -> str:
    """Return what was found as the text of a link: a string, or the attribute of an element that is one."""
    if not isinstance(getattr(found, "tag", None), str):
        return _text_of(found, max_chars)
    value = next(filter(None, map(found.get, _LINK_ATTRIBUTES)), None)
    return _text_of(found, max_chars) if value is None else str(value)
