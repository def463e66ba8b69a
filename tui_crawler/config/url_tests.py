"""Tests that no URL can pass. URLs are compared as the crawler carries them (WHATWG URL, serialised): in ASCII, with a
scheme, a host in lower case, and a path that begins with a slash."""

import re
from itertools import takewhile
from urllib.parse import quote

from tui_crawler.domain.rules.matcher import Field, Test, pattern_of
from tui_crawler.domain.rules.pattern import BadPattern, Pattern
from tui_crawler.domain.url import CrawlUrl, normalise

_WEB = ("http://", "https://")
_BEGINNINGS: dict[Field, tuple[str, ...]] = {"url": _WEB, "origin": _WEB, "path": ("/",), "port": tuple("123456789")}
_NO_HOST = re.compile(r"[/?#@\s]|[g-z._-].*:|^[^\[]*:[^]]*$", re.IGNORECASE)
_ADDRESS = re.compile(r"[0-9a-fA-F:\[\]]*")
_AUTHORITY = re.compile(r"(https?://)([^/?#]+)(/?)", re.IGNORECASE)
_AS_THEY_ARE = "%/?:@!$&'()*+,;=[]~"
_LAST = "\U0010ffff"


def right_host(text: str) -> str:
    """The host that a text with too much around it, or in another spelling, names; empty where it names none."""
    address = f"[{text}]" if text.count(":") > 1 and "[" not in text and "/" not in text else text
    url = normalise(address if "://" in text else f"https://{address}")
    host = url.host.removesuffix(".") if isinstance(url, CrawlUrl) else ""
    return host if re.fullmatch(r"\[.*\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*", host) else ""


def check_possible(test: Test) -> None:
    """Raises BadPattern for a test that no URL passes; the message contains the form that some do."""
    field, pattern = test.field, Pattern(pattern_of(test))
    beginnings, (low, high) = _BEGINNINGS.get(field), pattern.beginnings or ("", _LAST)
    right = ""
    if field == "scheme" and not any(map(pattern.search, ("http", "https"))):
        right = "http or https"
    elif beginnings and not any(low <= one + _LAST and one <= high + _LAST for one in beginnings):
        right = "443" if field == "port" else " or ".join(f"{one}…" for one in beginnings)
    elif field in {"url", "origin"}:
        same = takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False))
        right = _right_origin("".join(one for one, _ in same), field == "origin" and test.op == "equals")
    if test.op != "regex" and not right:
        right = _right_form(test)
    if right:
        raise BadPattern(
            test.value,
            f"can never match: {'a URL' if field == 'url' else f'the {field} of a URL'} has the form {right}",
        )


def _right_form(test: Test) -> str:
    """Return how URLs carry a text that is to be found in a field of theirs; empty where that is as it is written."""
    text = test.value
    if test.field != "host":
        plain = test.field == "fragment" or (text.isascii() and " " not in text)
        return "" if plain else quote(text, safe=_AS_THEY_ARE)
    part_of_address = test.op != "equals" and _ADDRESS.fullmatch(text)
    if part_of_address or (text.isascii() and not _NO_HOST.search(text)):
        return ""
    return right_host(text) or "hosts in ASCII, without scheme, port and path"


def _right_origin(literal: str, whole: bool) -> str:
    """The origin that a text names which every match begins with, where it is written as no URL has it. It is complete
    where a slash follows, or the text is the `whole` match."""
    found = _AUTHORITY.match(literal)
    url = normalise(f"{found[1]}{found[2]}/") if found else None
    if found is None or not isinstance(url, CrawlUrl):
        return ""
    written, complete = found[1] + found[2], bool(found[3]) or whole
    wrong = written != written.lower() or (complete and written != url.origin) or (whole and found[3])
    return url.origin if wrong else ""
