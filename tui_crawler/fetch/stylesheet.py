"""The links in CSS: what `@import` and `url()` name, in style sheets, `style` elements and `style` attributes.

Only what decides where a URL stands is tokenised (CSS Syntax 3): comments, strings, escapes, at-keywords, `url(`.
Everything between is passed over at one stroke, because pages carry hundreds of kilobytes of it; the tests compare
the answers with those of a whole tokenizer. A function name written with escapes is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tui_crawler.domain.content_kind import LinkKind

Element = Any  # an lxml element; lxml ships no types
StyleLink = tuple[LinkKind, str]

_HEX = r"[0-9a-fA-F]{1,6}+(?:\r\n|[ \t\n\r\f])?+"
_ESCAPED = rf"\\(?:{_HEX}|[^0-9a-fA-F\n\r\f])"
_ESCAPED_IN_STRING = rf"\\(?:{_HEX}|\r\n|[\s\S])"
_OPEN_STRING = rf""" "(?:[^"\\\n\r\f]++|{_ESCAPED_IN_STRING})*+  |  '(?:[^'\\\n\r\f]++|{_ESCAPED_IN_STRING})*+ """
_STRING = rf""" "(?:[^"\\\n\r\f]++|{_ESCAPED_IN_STRING})*+"  |  '(?:[^'\\\n\r\f]++|{_ESCAPED_IN_STRING})*+' """
_NAME = r"[\w\-\u0080-\U0010ffff]"
_SPACE = r"[ \t\n\r\f]*+"
_TOKEN = rf"""
    /\* (?:[^*]++|\*(?!/))*+ (?:\*/)?+
  | (?<![\#@]) (?<!{_NAME}) [uU][rR][lL]\( {_SPACE} (?:
        (?P<quoted> {_STRING} )
      | (?=["'])
      | (?P<bare> (?:[^"'()\\ \t\n\r\f\x00-\x08\x0b\x0e-\x1f\x7f]++|{_ESCAPED})*+ ) (?={_SPACE}(?:\)|\Z))
      | (?:[^)\\]++|\\[\s\S])*+
    )
  | (?P<string> {_STRING} )
  | {_OPEN_STRING}
  | {_ESCAPED}{_NAME}*+
  | @(?P<keyword> (?:{_NAME}|{_ESCAPED})++ )
  | (?P<end> [;{{}}] )
    """
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\n\r\f])?+|(\r\n|[\n\r\f])|([\s\S])|\Z)")
_NO_LINKS_IN = frozenset({"charset", "namespace", "document", "-moz-document"})
_TOKENS_BETWEEN_CHECKS = 4096
_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def stylesheet_links(text: str, out_of_time: Callable[[], bool]) -> Iterator[StyleLink]:
    """The links of CSS text in its order, as they are written: css for `@import`, object for what a `@font-face`
    loads, img for any other `url()`. Not inline data, references into the document itself, or namespaces.

    Linear in the size of the text; ends early when the time is over.
    """
    statement, in_font = "", False
    for number, token in enumerate(re.compile(_TOKEN, re.VERBOSE).finditer(text)):
        if number % _TOKENS_BETWEEN_CHECKS == _TOKENS_BETWEEN_CHECKS - 1 and out_of_time():
            return
        kind = token.lastgroup
        if kind is None:
            continue
        if kind == "end":
            statement = ""
            in_font = in_font and token[0] != "}"
        elif kind == "keyword":
            statement = token[0][1:].lower()
            in_font = in_font or statement == "font-face"
        elif statement == "import":
            statement = "charset"  # what else it says is conditions
            yield from _link(LinkKind.css, token)
        elif kind != "string" and statement not in _NO_LINKS_IN:
            yield from _link(LinkKind.object if in_font else LinkKind.img, token)


def inline_style_links(root: Element, out_of_time: Callable[[], bool]) -> Iterator[StyleLink]:
    """The links of the `style` elements and then of the `style` attributes of an HTML document."""
    for element in root.iter("style"):
        yield from stylesheet_links(element.text or "", out_of_time)
    for element in root.iter("*"):
        style = element.get("style")
        if style is not None and "(" in style:
            yield from stylesheet_links(style, out_of_time)


def may_hold_links(markup: bytes) -> bool:
    """Whether it is worth looking for inline styles in an HTML document."""
    if b"(" not in markup and b"@" not in markup:
        return False
    lowered = markup.lower()
    return b"url(" in lowered or b"@import" in lowered


def _link(kind: LinkKind, token: re.Match[str]) -> Iterator[StyleLink]:
    written = token["bare"]
    if written is None:
        written = (token["quoted"] or token["string"])[1:-1]
    raw = _ESCAPE.sub(_unescaped, written) if "\\" in written else written
    raw = raw.strip()
    if raw and raw[0] != "#" and raw[:5].lower() != "data:":
        yield kind, raw


def _unescaped(escape: re.Match[str]) -> str:
    digits, newline, character = escape.groups()
    if digits is None:
        return "" if newline is not None else character or ""
    code = int(digits, 16)
    return chr(code) if 0 < code <= _LAST_CODE_POINT and code not in _SURROGATES else "\ufffd"
