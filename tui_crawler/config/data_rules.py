"""Data rules (R): what is taken out of the pages of a host, by CSS, XPath or regular expression."""

# ruff: noqa: RUF009 (key, need and section make dataclass fields, as dataclasses.field does)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from cssselect import SelectorError
from lxml import etree
from parsel.csstranslator import HTMLTranslator

from tui_crawler.config.kinds import Choice, Kind, Nullable, Regex, Text, text_of
from tui_crawler.config.problem import Mark, Refused
from tui_crawler.config.reader import Reader
from tui_crawler.config.table import ListOf, Table, key, need, table_of
from tui_crawler.config.tree import Node
from tui_crawler.config.web_kinds import HostName

DataType = Literal["link", "video", "picture", "text"]
_EXPRESSIONS = ("css", "xpath", "regex")
_LONGEST = 2000  # characters of an expression


@dataclass(frozen=True, slots=True)
class CssExpression:
    """A CSS selector, with parsel's `::text` and `::attr(name)`."""

    @property
    def accepts(self) -> str:
        return "a CSS selector such as img.photo::attr(src)"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        text = _expression(node, self)
        try:
            HTMLTranslator().css_to_xpath(text)
        except (SelectorError, RecursionError) as error:
            raise Refused(node.mark, f"not a CSS selector: {error}") from None
        return text

    def show(self, value: str) -> str:
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": _LONGEST}


@dataclass(frozen=True, slots=True)
class XPathExpression:
    """An XPath 1.0 expression."""

    @property
    def accepts(self) -> str:
        return "an XPath expression such as //img/@src"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        text = _expression(node, self)
        try:
            etree.XPath(text)
        except (etree.XPathError, ValueError) as error:
            raise Refused(node.mark, f"not an XPath expression: {error}") from None
        return text

    def show(self, value: str) -> str:
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": _LONGEST}


@dataclass(frozen=True, slots=True)
class DataRule:
    """One data rule; exactly one of `css`, `xpath` and `regex` is given. `source` is file:line."""

    host: str = need(HostName(), "The host whose pages are read.")
    name: str = need(Text("a name"), "Name of the data block.")
    type: DataType = need(Choice(get_args(DataType)), "What the values are.")
    css: str | None = key(Nullable(CssExpression()), None, "CSS selector, with ::text or ::attr(name).")
    xpath: str | None = key(Nullable(XPathExpression()), None, "XPath expression.")
    regex: str | None = key(Nullable(Regex()), None, "Regular expression; its first group, else the whole match.")
    source: str = ""


def _expression(node: Node, kind: Kind) -> str:
    text = text_of(node, kind)
    if not text or len(text) > _LONGEST:
        raise Refused(node.mark, f"expected {kind.accepts}, of 1 to {_LONGEST} characters")
    return text


def _build(values: Mapping[str, Any], mark: Mark) -> DataRule:
    given = [name for name in _EXPRESSIONS if values[name] is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise Refused(mark, f"expected one of {', '.join(_EXPRESSIONS)}, found {found}", "one rule for each")
    return DataRule(**values, source=mark.place)


DATA_RULES = ListOf(Table(table_of(DataRule).keys, _build), "data rules")
