"""Tests that no URL can pass. URLs are compared as the crawler carries them (WHATWG URL, serialised): in ASCII, with a
scheme, a host in lower case, and a path that begins with a slash."""

from __future__ import annotations

import re
from itertools import takewhile

from tui_crawler.domain.matcher import Field, Test, pattern_of
from tui_crawler.domain.pattern import BadPattern, Pattern
from tui_crawler.domain.url import CrawlUrl, normalise

_WEB = ("http://", "https://")
_BEGINNINGS: dict[Field, tuple[str, ...]] = {"url": _WEB, "origin": _WEB, "path": ("/",), "port": tuple("123456789")}
_NO_HOST = re.compile(r"[/?#@\s]|[g-z._-].*:|^[^\[]*:[^]]*$", re.IGNORECASE)
_AUTHORITY = re.compile(r"(https?://)([^/?#]+)(/?)", re.IGNORECASE)
_LAST = "\U0010ffff"


def right_host(text: str) -> str:
    """The host that a text with too much around it, or in another spelling, names; empty where it names none."""
    address = f"[{text}]" if text.count(":") > 1 and "[" not in text and "/" not in text else text
    url = normalise(address if "://" in text else f"https://{address}")
    host = url.host.removesuffix(".") if isinstance(url, CrawlUrl) else ""
    return host if re.fullmatch(r"\[.*\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*", host) else ""


def check_possible(test: Test) -> None:
    """Raises BadPattern for a test that no URL passes; the message contains the form that some do."""
    field, text = test.field, test.value
    pattern = Pattern(pattern_of(test))
    right = "" if test.op == "regex" or field == "fragment" else _right_form(test)
    if right:
        raise BadPattern(text, f"can never match: URLs carry it as {right}")
    if field == "scheme" and not any(map(pattern.search, ("http", "https"))):
        raise BadPattern(text, "can never match: the schemes are http and https")
    beginnings = _BEGINNINGS.get(field, ())
    low, high = pattern.beginnings or ("", _LAST)
    if beginnings and not any(low <= one + _LAST and one <= high + _LAST for one in beginnings):
        begin = "a digit" if field == "port" else " or ".join(beginnings)
        raise BadPattern(text, f"can never match: a match begins with {begin}")
    literal = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False)))
    if field in {"url", "origin"} and (
        right := _right_origin(literal, whole=field == "origin" and test.op == "equals")
    ):
        raise BadPattern(text, f"can never match: URLs carry this origin as {right}")


def _right_form(test: Test) -> str:
    """How URLs carry a text that is to be found in a field of theirs; empty where that is as it is written."""
    field, op, text = test.field, test.op, test.value
    if field == "host":
        part_of_address = op != "equals" and re.fullmatch(r"[0-9a-f:\[\]]*", text, re.IGNORECASE)
        wrong = not part_of_address and (_NO_HOST.search(text) or not text.isascii())
        return (right_host(text) or "a host name such as example.org, in ASCII") if wrong else ""
    if text.isascii() and " " not in text:
        return ""
    before = {"path": "http://h" if text[0] == "/" else "http://h/", "query": "http://h/?"}.get(field, "")
    url = normalise(before + text)
    return url.href.removeprefix(before) if isinstance(url, CrawlUrl) else "percent-encoded ASCII"


def _right_origin(literal: str, *, whole: bool) -> str:
    """The origin that a text names which every match begins with, where it is written as no URL has it. It is complete
    where a slash follows, or the text is the `whole` match."""
    found = _AUTHORITY.match(literal)
    url = normalise(f"{found[1]}{found[2]}/") if found else None
    if found is None or not isinstance(url, CrawlUrl):
        return ""
    written, complete = found[1] + found[2], bool(found[3]) or whole
    wrong = written != written.lower() or (complete and written != url.origin) or (whole and found[3])
    return url.origin if wrong else ""
