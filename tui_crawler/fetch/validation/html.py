"""HTML against the HTML5 parser (html5ever): valid is what it reads without a parse error.

html5ever names its errors but not where they are. So a document with errors is read a second time with a mark in each
tag: a NUL as an attribute, of which html5ever complains as of any other error. The errors between two of these
complaints belong to the tag of the first, and that is where they are said to be: also those of the text behind it. If
the marks change anything else, as they can in garbage, the errors from there on keep their names and have no places.
"""

import re
from collections.abc import Callable
from itertools import islice, zip_longest

from markupever import HtmlOptions
from markupever.parser import Parser

from tui_crawler.domain.records.attempt import Validation, ValidationError
from tui_crawler.fetch.headers import clean_message
from tui_crawler.fetch.sniff import HTML

_MOST_ERRORS = 20
_PIECE_BYTES = 2 * 1024  # the parser holds the interpreter for one piece: long when it is deeply nested
_BEGINNINGS = (512, 8 * 1024, 64 * 1024)  # bytes
_SNIPPET_BYTES = 80
# What the standard calls a parse error wherever it stands: controls and noncharacters (WHATWG HTML, 13.2.3.5)
# It begins with a set, because such an expression passes over all other bytes almost four times as fast.
_ILLEGAL = re.compile(
    rb"[\x00-\x08\x0b\x0e-\x1f\x7f\xc2\xef\xf0-\xf4](?:(?<=[\x00-\x7f])|(?<=\xc2)[\x80-\x9f]"
    rb"|(?<=\xef)(?:\xb7[\x90-\xaf]|\xbf[\xbe\xbf])|(?<=[\xf0-\xf4])[\x8f\x9f\xaf\xbf]\xbf[\xbe\xbf])"
)
_MAY_BE_ILLEGAL = bytes((*(code for code in range(0x80) if _ILLEGAL.match(bytes((code,)))), 0xEF, *range(0xF0, 0xF5)))
_ILLEGAL_OF_TWO = re.compile(rb"\xc2[\x80-\x9f]")
_REPLACEMENT = "\ufffd".encode()
_TAG = re.compile(rb"<[a-zA-Z][^\t\n\x0c />]*+|</[a-zA-Z][^\t\n\x0c />]*+(?=[\t\n\x0c ]*+>)")
_TAG_KEPT = re.compile(rb"(%s)" % _TAG.pattern)
_MARK = b" \0"
_COMPLAINT = "Saw \0 in state "
_BROUGHT_BY_MARKS = ("Attributes on an end tag", "Duplicate attribute")  # by two of them in one tag, in garbage
_STATE = " in state "
_DOCTYPE = re.compile(rb"(?:[\t\n\x0c ]++|<!--(?:[^-]++|-(?!->))*+-->)*+<!doctype", re.IGNORECASE)
_IN_PLAIN_WORDS = {
    "Unexpected token": "this may not stand here",
    "Unexpected characters in table": "text may not stand here in a table",
    "Non-space table text": "text may not stand here in a table",
    "Unexpected open tag at end of body": "an element is not closed at the end",
    "Unexpected open element": "an element is closed while another in it is open",
    "Found special tag while closing generic tag": "an end tag without its start tag",
}


def validate_html(markup: bytes, out_of_time: Callable[[], bool]) -> Validation | None:
    """Return what the HTML5 parser says of UTF-8 markup; None when the time was over."""
    if b"\r" in markup:
        markup = markup.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found = _illegal_characters(markup)
    if found:
        markup = _ILLEGAL.sub(_REPLACEMENT, markup)
    messages = _parse_errors(markup, out_of_time)
    if messages is None:
        return None
    del messages[_MOST_ERRORS:]
    places = _places(markup, messages, out_of_time)
    if places is None:
        return None
    errors = [_error(markup, *each) for each in zip_longest(messages, places)]
    if errors and messages[0] == "Unexpected token" and _DOCTYPE.match(markup) is None:
        errors[0] = ValidationError(1, 1, "the document has no <!doctype html>")
    found = sorted(found + errors, key=lambda error: (error.line, error.column))
    return Validation(HTML, tuple(found[:_MOST_ERRORS]))


def _parse_errors(markup: bytes, out_of_time: Callable[[], bool]) -> list[str] | None:
    """The parser's errors in their order; None when the time was over."""
    parser = Parser(HtmlOptions())
    for start in range(0, len(markup), _PIECE_BYTES):
        if out_of_time():
            return None
        parser.process(markup[start : start + _PIECE_BYTES])
    parser.finish()
    return None if out_of_time() else parser.errors()


def _with_marks(markup: bytes) -> bytes:
    parts = _TAG_KEPT.split(markup)  # a template of `sub` would be worked out in Python, tag by tag
    parts[1::2] = [tag + _MARK for tag in parts[1::2]]
    return b"".join(parts)


def _places(markup: bytes, messages: list[str], out_of_time: Callable[[], bool]) -> list[int] | None:
    """The places of these errors; None when the time was over. Often all of them stand in the beginning: that is
    read first, and what its end brings, which comes behind the last mark, does not count."""
    if not messages:
        return []
    for size in _BEGINNINGS:
        if len(markup) <= 2 * size:
            break
        marked = _parse_errors(_with_marks(markup[:size]), out_of_time) or []
        while marked and not marked[-1].startswith(_COMPLAINT):
            marked.pop()
        places = _placed(markup, messages, marked)
        if len(places) == len(messages):
            return places
    whole = _parse_errors(_with_marks(markup), out_of_time)
    return None if whole is None else _placed(markup, messages, whole)


def _placed(markup: bytes, messages: list[str], marked: list[str]) -> list[int]:
    """The offset of the tag that each error is about; fewer than messages when the marks have changed too much."""
    places: list[int] = []
    tags = _TAG.finditer(markup)
    place, passed = 0, 0
    others = [number for number, message in enumerate(marked) if not message.startswith(_COMPLAINT)]
    for before, number in enumerate(others):
        if len(places) == len(messages):
            break
        message = marked[number]
        if message.partition(_STATE)[0] != messages[len(places)].partition(_STATE)[0]:
            if message in _BROUGHT_BY_MARKS:
                continue
            break
        for tag in islice(tags, number - before - passed):  # as many complaints have come since the last error
            place = tag.start()
        passed = number - before
        places.append(place)
    return places


def _error(markup: bytes, message: str, place: int | None) -> ValidationError:
    seen, _, in_state = message.partition(_STATE)
    character = seen.removeprefix("Saw ") if in_state else ""
    if character == "EOF":
        place, text = len(markup), "the document ends within a tag or comment"
    else:
        text = f"{character!r} may not stand here" if character else _IN_PLAIN_WORDS.get(message, message)
    if place is None:
        return ValidationError(0, 0, clean_message(text))
    if _TAG.match(markup, place) is not None:
        snippet = markup[place : place + _SNIPPET_BYTES].decode("utf-8", "ignore")
        end = snippet.find(">") + 1
        text = f"{text}: {snippet[:end] if end else snippet}"
    return ValidationError(*_line_and_column(markup, place), clean_message(text))


def _illegal_characters(markup: bytes) -> list[ValidationError]:
    if len(markup.translate(None, _MAY_BE_ILLEGAL)) == len(markup) and _ILLEGAL_OF_TWO.search(markup) is None:
        return []
    return [
        ValidationError(*_line_and_column(markup, found.start()), f"U+{ord(found[0].decode()):04X} may stand nowhere")
        for found in islice(_ILLEGAL.finditer(markup), _MOST_ERRORS)
    ]


def _line_and_column(markup: bytes, place: int) -> tuple[int, int]:
    line_start = markup.rfind(b"\n", 0, place) + 1
    return markup.count(b"\n", 0, line_start) + 1, len(markup[line_start:place].decode("utf-8", "ignore")) + 1
