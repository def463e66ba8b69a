"""The kinds of value that name something on the web: seeds, origins, hosts, the proxy, the user agent."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

from tui_crawler.config.kinds import Kind, Plain, text_of
from tui_crawler.config.problem import Refused
from tui_crawler.config.reader import Reader
from tui_crawler.config.tree import Node, describe
from tui_crawler.domain.exclusion import host_name
from tui_crawler.domain.pattern import BadPattern
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, CrawlUrl, InvalidUrl, normalise

LONGEST_USER_AGENT = 512  # characters
LONGEST_URL = CLIENT_MAX_LENGTH

_SCHEME_AND_HOST = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:[/?#]|$))")
_PORT = re.compile(r"[^:]:[0-9]+$|\]:[0-9]+$")
_PRINTABLE_ASCII = re.compile(r"[\x20-\x7e]*")


def read_url(node: Node, kind: Kind) -> tuple[str, CrawlUrl]:
    """A text and the http or https URL it is, stricter than WHATWG: no blanks, and `//` before the host.

    Raises Refused.
    """
    text = text_of(node, kind)
    if any(c.isspace() or not c.isprintable() for c in text):
        raise Refused(node.mark, f"{describe(node)} holds a blank or control character", "write %20 for a space")
    if not _SCHEME_AND_HOST.match(text):
        raise Refused(node.mark, f"expected {kind.accepts}, found {describe(node)}", _with_scheme(text))
    url = normalise(text, max_length=LONGEST_URL)
    if isinstance(url, InvalidUrl):
        raise Refused(node.mark, f"expected {kind.accepts}; {describe(node)} {url.reason}")
    return text, url


def plain_host(text: str) -> str:
    """A host name or address as URLs carry it; a port is refused, also a default one. Raises BadPattern."""
    if text.count(":") == 1:
        raise BadPattern(text, "has a port")
    return host_name(text)


def is_loopback(host: str) -> bool:
    """Whether a host (as in `CrawlUrl.host`) is a loopback address or a name reserved for it (RFC 6761, 6.3)."""
    bare = host.strip("[]").removesuffix(".")
    try:
        return ip_address(bare).is_loopback
    except ValueError:
        return bare == "localhost" or bare.endswith(".localhost")


class Seed(Plain):
    """A URL a crawl begins with, kept as it was written."""

    accepts = "an http or https URL with a host"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        return read_url(node, self)[0]

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\]", "maxLength": LONGEST_URL}


class OriginName(Plain):
    """An origin, kept normalised: scheme, host and port without a default port."""

    accepts = "an origin such as https://example.org"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        _, url = read_url(node, self)
        if url.path != "/" or url.query or url.fragment:
            raise Refused(node.mark, f"expected {self.accepts}, found {describe(node)}", f"did you mean {url.origin}?")
        return url.origin

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\]+/?$"}


class HostName(Plain):
    """A host name or address without port, kept as URLs carry it (lower case, punycode)."""

    accepts = "a host name or address without scheme and port, such as example.org"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        try:
            return plain_host(text_of(node, self))
        except BadPattern:
            raise Refused(node.mark, f"expected {self.accepts}, found {describe(node)}") from None


class HostEntry(HostName):
    """What settings of a host are for: a host name or address, perhaps with a port, or an origin."""

    accepts = "a host (example.org), host and port (example.org:8080) or an origin (https://example.org)"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        text = text_of(node, self)
        if "://" in text:
            return OriginName().read(node, at, reader)
        try:
            return plain_host(text)
        except BadPattern:
            url = normalise(f"https://{text}", max_length=LONGEST_URL)
            if not isinstance(url, CrawlUrl) or url.href != f"{url.origin}/" or not _PORT.search(text):
                raise Refused(node.mark, f"expected {self.accepts}, found {describe(node)}") from None
            return f"{url.host}:{url.port}"


class StartPath(Plain):
    """The beginning of a path, as URLs carry it (percent-encoded)."""

    accepts = "a path that begins with /"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        text = text_of(node, self)
        url = normalise(f"http://host{text}", max_length=LONGEST_URL) if text.startswith("/") else None
        if not isinstance(url, CrawlUrl) or url.query or url.fragment or any(c.isspace() for c in text):
            raise Refused(node.mark, f"expected {self.accepts}, without query and fragment, found {describe(node)}")
        return url.path

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^/[^?#\\s]*$"}


class ProxyAddress(Plain):
    """The URL of an HTTP proxy; credentials are refused, they would be shown and logged."""

    accepts = "the http or https URL of a proxy, without user name and password"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        _, url = read_url(node, self)
        if url.path != "/" or url.query or url.fragment:
            raise Refused(node.mark, f"expected {self.accepts}, found {describe(node)}", f"did you mean {url.origin}?")
        return url.href

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\]+/?$"}


class UserAgent(Plain):
    """The User-Agent header. Its product token (up to the first space or slash) names us in robots.txt."""

    accepts = f"printable ASCII of at most {LONGEST_USER_AGENT} characters"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        text = text_of(node, self)
        if not _PRINTABLE_ASCII.fullmatch(text) or len(text) > LONGEST_USER_AGENT:
            raise Refused(node.mark, f"expected {self.accepts}, found {describe(node)}")
        token = re.split("[ /]", text, maxsplit=1)[0]
        if token in {"", "*"}:
            raise Refused(
                node.mark,
                f"the product token (up to the first space or slash) of {describe(node)} is "
                + ("empty" if not token else "*, the group of every crawler"),
                "begin with a name, as in my-crawler (for https://example.net/why)",
            )
        return text

    def json_schema(self) -> dict[str, Any]:
        return {
            "type": "string",
            "pattern": "^(?!\\*(?:[ /]|$))[\\x21-\\x2e\\x30-\\x7e][\\x20-\\x7e]*$",
            "maxLength": 512,
        }


def _with_scheme(text: str) -> str:
    """The suggestion for a seed that lacks its scheme, such as `example.org/docs`."""
    if not text or text.startswith("/") or _OTHER_SCHEME.match(text):
        return ""
    url = normalise(f"https://{text}")
    return f"did you mean {url.href}?" if isinstance(url, CrawlUrl) else ""
