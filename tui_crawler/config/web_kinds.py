"""The kinds of value that name something on the web: seeds, origins, hosts, the proxy, the user agent; and how a host
is asked: what is secret in that (header fields, cookies, a password; never shown) and certificates."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import Any

from tui_crawler.config.kinds import Plain, ValueKind, expected, text_kind, text_of, text_schema
from tui_crawler.config.problem import BadValue, SourcePlace, visible
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.tree import MappingNode, Node, Scalar, describe, is_null
from tui_crawler.config.url_tests import right_host
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.rules.exclusion import host_name
from tui_crawler.domain.rules.pattern import BadPattern
from tui_crawler.domain.url import (
    CLIENT_MAX_LENGTH,
    MASK,
    CrawlUrl,
    InvalidUrl,
    has_scheme,
    normalise,
    read_seed,
    scheme_words,
)

LONGEST_USER_AGENT = 512  # characters
LONGEST_URL = CLIENT_MAX_LENGTH

_SCHEME_AND_HOST = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)
_PORT = re.compile(r"[^:]:[0-9]+$|\]:[0-9]+$")
_PRINTABLE_ASCII = re.compile(r"[\x20-\x7e]*")


def read_url(node: Node, kind: ValueKind, text: str | None = None) -> tuple[str, CrawlUrl]:
    """A text (None: that of the node) and the http or https URL it is, stricter than WHATWG: no blanks, and `//` before
    the host. Raises BadValue."""
    text = text_of(node, kind) if text is None else text
    if " " in text or not text.isprintable():
        raise BadValue(node.mark, f"{describe(node)} contains a blank or control character", "write %20 for a space")
    if not _SCHEME_AND_HOST.match(text):
        meant = None if has_scheme(text) else read_seed(text)  # such as example.org/docs
        raise expected(kind, node, f"did you mean {meant.href}?" if isinstance(meant, CrawlUrl) else "")
    url = normalise(text, max_length=LONGEST_URL)
    if isinstance(url, InvalidUrl):
        raise BadValue(node.mark, f"expected {kind.accepts}; {describe(node)} {url.reason}")
    if not right_host(url.host):
        raise BadValue(node.mark, f"expected {kind.accepts}; {describe(node)} has a host that cannot exist")
    return text, url


def plain_host(text: str, *, globs: bool = False) -> str:
    """A host name (perhaps with `globs`) or address as URLs carry it; a port is refused, also a default one. Raises
    BadPattern."""
    if text.count(":") == 1:
        raise BadPattern(text, "has a port")
    name = host_name(text)
    if not globs and not right_host(name):
        raise BadPattern(text, "can never match")
    return name


def host_hint(text: str) -> str:
    """Return what to write instead of a text that is no host, as a suggestion."""
    right, glob = right_host(text), "name each host; `domain` of an exclusion applies to all hosts below a name"
    return f"did you mean {right}?" if right else glob if "*" in text else ""


_AUTHORITY = "^[Hh][Tt][Tt][Pp][Ss]?://"


class Seed(Plain):
    """A URL a crawl begins with, kept as written, but for blanks around it and a scheme that it lacks."""

    accepts = "an http or https URL with a host"
    schema = text_schema(pattern="[^/?#\\\\\\s]", maxLength=LONGEST_URL)

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        text = text_of(node, self).strip(" \t\r\n")
        url = None if has_scheme(text) else read_seed(text)
        if isinstance(url, CrawlUrl):
            text = f"{url.scheme}://{text.removeprefix('//')}"
            words = scheme_words({url.scheme})
            if all(warning.message != words for warning in reader.warnings):
                reader.warn(at, words, mark=node.mark)
        return read_url(node, self, text)[0]


def _origin_of(node: Node, kind: ValueKind) -> CrawlUrl:
    _, url = read_url(node, kind)
    if url.path != "/" or url.query or url.fragment:
        raise expected(kind, node, f"did you mean {url.origin}?")
    return url


@text_kind("an origin such as https://example.org", pattern=f"{_AUTHORITY}[^/?#\\\\]+/?$")
def origin_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """An origin, kept normalised: scheme, host and port without a default port."""
    return _origin_of(node, origin_kind).origin


@text_kind("a host name or address without scheme and port, such as example.org")
def host_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """A host name or address without port, kept as URLs carry it (lower case, punycode)."""
    try:
        return plain_host(text)
    except BadPattern:
        raise expected(host_kind, node, host_hint(text)) from None


@text_kind("a host (example.org), host and port (example.org:8080) or an origin (https://example.org)")
def host_entry_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """The target of settings of a host: a host name or address, perhaps with a port, or an origin."""
    if "://" in text:
        return _origin_of(node, origin_kind).origin
    try:
        return plain_host(text)
    except BadPattern:
        url = normalise(f"https://{text}", max_length=LONGEST_URL)
        if isinstance(url, CrawlUrl) and url.href == f"{url.origin}/" and _PORT.search(text) and right_host(url.host):
            return f"{url.host}:{url.port}"
        raise expected(host_entry_kind, node, host_hint(text)) from None


@text_kind("a path that begins with /", pattern="^/[^?#\\s]*$")
def start_path_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """The beginning of a path, as URLs carry it (percent-encoded)."""
    url = normalise(f"http://host{text}", max_length=LONGEST_URL) if text.startswith("/") else None
    if isinstance(url, CrawlUrl) and not (url.query or url.fragment or any(c.isspace() for c in text)):
        return url.path
    message = f"expected {start_path_kind.accepts}, without query and fragment, found {describe(node)}"
    raise BadValue(node.mark, message)


@text_kind("the http or https URL of a proxy, without user name and password", pattern=origin_kind.more["pattern"])
def proxy_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """The URL of an HTTP proxy; credentials are refused, they would be shown and logged."""
    return _origin_of(node, proxy_kind).href


@text_kind(
    f"printable ASCII of at most {LONGEST_USER_AGENT} characters",
    pattern="^(?!\\*(?:[ /]|$))[\\x21-\\x2e\\x30-\\x7e][\\x20-\\x7e]*$",
    maxLength=LONGEST_USER_AGENT,
)
def user_agent_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """The User-Agent header. Its product token (up to the first space or slash) names us in robots.txt."""
    if not _PRINTABLE_ASCII.fullmatch(text) or len(text) > LONGEST_USER_AGENT:
        raise expected(user_agent_kind, node)
    token = re.split("[ /]", text, maxsplit=1)[0]
    if token not in {"", "*"}:
        return text
    wrong = f"{describe(node)} is {'*, the group of every crawler' if token else 'empty'}"
    message = f"the product token (up to the first space or slash) of {wrong}"
    raise BadValue(node.mark, message, "begin with a name, as in my-crawler (for https://example.net/why)")


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ONLY_VARIABLE = re.compile(rf"(?:[A-Za-z]+ )?{_VARIABLE.pattern}")  # perhaps behind an authentication scheme
_FILE = "file:"
_LONGEST = 64 * 1024  # bytes of a file
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")  # RFC 9110, 5.6.2
_FIELD_VALUE = re.compile(r"[\x21-\x7e\xa0-\xff]+(?:[ \t]+[\x21-\x7e\xa0-\xff]+)*")  # RFC 9110, 5.5
_COOKIE_VALUE = re.compile(r"[\x21-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+")  # RFC 6265, 4.1.1
_USER_NAME = re.compile(r"[^\x00-\x1f\x7f:]+")  # RFC 7617, 2
_PASSWORD = re.compile(r"[^\x00-\x1f\x7f]+")
_INSTEAD = {"user-agent": "user_agent, or `ua` of a rule, names the crawler", "cookie": "write it under `cookies`"}
_OUR_FIELDS = re.compile(
    "host|connection|keep-alive|te|trailer|upgrade|expect|range|user-agent|cookie|content-(length|type)|"
    "(accept|content|transfer)-encoding|if-.+|proxy-.+"
)
"""Fields that would make another request of it than was judged (in lower case)."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that is sent and never shown: as written, and where (`mark`, dotted `key`)."""

    written: str = field(repr=False)
    fits: re.Pattern[str] = field(repr=False)
    mark: SourcePlace
    key: str
    folder: Path

    def reveal(self) -> str:
        """The value itself. Raises BadValue when variable or file is missing or holds what cannot be sent."""
        if self.written == MASK:
            raise BadValue(self.mark, "is not kept in the database", "start with the configuration file", self.key)
        value = self._from_file() if self.written.startswith(_FILE) else _VARIABLE.sub(self._variable, self.written)
        if "${" in self.written and not _VARIABLE.search(self.written):
            raise BadValue(self.mark, "contains ${ without the name of a variable", "as in ${NAME}", self.key)
        if not self.fits.fullmatch(value):
            wrong = "contains a character that cannot be sent there" if value else "is empty"
            raise BadValue(self.mark, wrong, "", self.key)
        return value

    @property
    def stored(self) -> str:
        """Return what the database keeps instead: where it comes from, or the mask."""
        if self.written.startswith(_FILE):
            return f"{_FILE}{self._file}"
        return self.written if _ONLY_VARIABLE.fullmatch(self.written) else MASK

    @property
    def _file(self) -> Path:
        return (self.folder / self.written.removeprefix(_FILE)).absolute()

    def _variable(self, found: re.Match[str]) -> str:
        value = os.environ.get(found[1])
        if value is None:
            raise BadValue(self.mark, f"the environment variable {found[1]} is not set", "", self.key)
        return value

    def _from_file(self) -> str:
        shown = visible(str(self._file), 200)
        try:
            _require_plain(self._file)
            with self._file.open("rb") as file:
                return file.read(_LONGEST).decode("utf-8").rstrip("\r\n")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not plain text"
            raise BadValue(self.mark, f"the file {shown} cannot be read: {why.lower()}", "", self.key) from None


def _require_plain(path: Path) -> None:
    """Raises OSError unless it is a regular file: a pipe could keep its reader for ever, and is read once only."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


@dataclass(frozen=True, slots=True)
class SecretText:
    """A secret in one value; no message quotes it."""

    what: str
    fits: re.Pattern[str]

    @property
    def accepts(self) -> str:
        return f"{self.what}, best as ${{NAME}} (an environment variable) or file:PATH"

    def read(self, node: Node, at: str, reader: ConfigReader) -> Secret:
        if not isinstance(node, Scalar) or is_null(node):
            raise expected(self, node)
        secret = Secret(node.text, self.fits, node.mark, at, reader.folder)
        reader.keep_out(node, secret.stored)
        if reader.resolves:
            secret.reveal()
        return secret

    def show(self, value: Secret) -> str:
        return MASK

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True, slots=True)
class Secrets:
    """A mapping of names to secrets, kept as pairs; no message quotes a value. `refused` are names in lower case."""

    what: str
    fits: re.Pattern[str]
    refused: re.Pattern[str] | None = None

    @property
    def accepts(self) -> str:
        return f"a mapping of {self.what} to values, best ${{NAME}} (an environment variable) or file:PATH"

    def read(self, node: Node, at: str, reader: ConfigReader) -> tuple[tuple[str, Secret], ...]:
        if is_null(node):
            return ()
        if not isinstance(node, MappingNode):
            raise BadValue(node.mark, f"expected {self.accepts}")
        found: dict[str, tuple[str, Secret]] = {}
        for key, value in node.entries:
            name = key.text
            if not _TOKEN.fullmatch(name):
                raise BadValue(key.mark, f"one of the {self.what} is no name of that", "letters, digits and - only")
            path, plain = f"{at}.{name}", name if self.refused is None else name.lower()
            if self.refused is not None and self.refused.fullmatch(plain):
                raise BadValue(key.mark, "is not to be set here", _INSTEAD.get(plain, "the crawler sets it"), path)
            if plain in found:
                raise BadValue(key.mark, "is given twice", "keep one of the two", path)
            try:
                found[plain] = name, SecretText("a value", self.fits).read(value, path, reader)
            except BadValue as refused:
                refused.at = path
                raise
        return tuple(found.values())

    def show(self, value: tuple[tuple[str, Secret], ...]) -> dict[str, str]:
        return {name: MASK for name, _ in value}

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["object", "null"], "additionalProperties": {"type": ["string", "number", "boolean"]}}


HEADERS = Secrets("header fields", _FIELD_VALUE, _OUR_FIELDS)
COOKIES = Secrets("cookies", _COOKIE_VALUE)
USER = SecretText("a user name", _USER_NAME)
PASSWORD = SecretText("a password", _PASSWORD)


@text_kind("a folder")
def folder_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """A folder, relative to the configuration; kept as its absolute path."""
    path = (reader.folder / text).absolute()
    reader.keep_out(node, str(path))
    if reader.resolves and path.exists() and not path.is_dir():
        raise BadValue(node.mark, f"{visible(str(path), 200)} is not a folder")
    return str(path)


@text_kind("a file of certificates (PEM)")
def certificate_kind(text: str, node: Node, reader: ConfigReader) -> str:
    """A file with certificates in PEM, relative to the configuration; kept as its absolute path."""
    path = (reader.folder / text).absolute()
    reader.keep_out(node, str(path))
    if reader.resolves:
        import ssl  # noqa: PLC0415  few configurations name certificates

        try:
            _require_plain(path)
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
        except (OSError, ValueError) as error:
            told = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
            why = (told or "it contains no certificate in PEM").lower()
            raise BadValue(node.mark, f"the file {visible(str(path), 200)} cannot be used: {why}") from None
    return str(path)
