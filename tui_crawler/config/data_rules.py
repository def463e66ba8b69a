"""Data rules (R): what is taken out of the pages of a host, by CSS, XPath or regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from tui_crawler.config.kinds import Choice, Kind, Nullable, Plain, Regex, Text, text_of
from tui_crawler.config.problem import Mark, Refused
from tui_crawler.config.reader import Reader
from tui_crawler.config.table import Key, ListOf, Table
from tui_crawler.config.tree import Node
from tui_crawler.config.web_kinds import HostName
from tui_crawler.domain.data_rule import DataRule, DataType

_EXPRESSIONS = ("css", "xpath", "regex")
_LONGEST = 2000  # characters of an expression


class CssExpression(Plain):
    """A CSS selector, with parsel's `::text` and `::attr(name)`."""

    accepts = "a CSS selector such as img.photo::attr(src)"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        from cssselect import SelectorError  # noqa: PLC0415  large, and few crawls take data out of pages
        from parsel.csstranslator import HTMLTranslator  # noqa: PLC0415  the same

        text = _expression(node, self)
        try:
            HTMLTranslator().css_to_xpath(text)
        except (SelectorError, RecursionError) as error:
            raise Refused(node.mark, f"not a CSS selector: {error}") from None
        return text

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": _LONGEST}


class XPathExpression(Plain):
    """An XPath 1.0 expression."""

    accepts = "an XPath expression such as //img/@src"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        from lxml import etree  # noqa: PLC0415  large, and few crawls take data out of pages

        text = _expression(node, self)
        try:
            etree.XPath(text)
        except (etree.XPathError, ValueError) as error:
            raise Refused(node.mark, f"not an XPath expression: {error}") from None
        return text

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": _LONGEST}


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


_KEYS = (
    Key("host", "host", HostName(), "The host whose pages are read.", required=True),
    Key("name", "name", Text("a name"), "Name of the data block.", required=True),
    Key("type", "type", Choice(get_args(DataType)), "What the values are.", required=True),
    Key("css", "css", Nullable(CssExpression()), "CSS selector, with ::text or ::attr(name)."),
    Key("xpath", "xpath", Nullable(XPathExpression()), "XPath expression."),
    Key("regex", "regex", Nullable(Regex()), "Regular expression; its first group, else the whole match."),
)
DATA_RULES = ListOf(Table(_KEYS, _build), "data rules")
