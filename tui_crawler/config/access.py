"""How a host is asked: what is secret in that (header fields, cookies, a password) and certificates; never shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui_crawler.config.kinds import Plain, expected, text_of
from tui_crawler.config.problem import Mark, Refused, visible
from tui_crawler.config.reader import Reader
from tui_crawler.config.tree import MappingNode, Node, Scalar, is_null
from tui_crawler.domain.url import MASK

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_ONLY_VARIABLE = re.compile(rf"(?:[A-Za-z]+ )?{_VARIABLE.pattern}")  # perhaps behind an authentication scheme
_FILE = "file:"
_LONGEST = 64 * 1024  # bytes of a file
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")  # RFC 9110, 5.6.2
_FIELD_VALUE = re.compile(r"[\x21-\x7e\xa0-\xff]+(?:[ \t]+[\x21-\x7e\xa0-\xff]+)*")  # RFC 9110, 5.5
_COOKIE_VALUE = re.compile(r"[\x21-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+")  # RFC 6265, 4.1.1
_USER_NAME = re.compile(r"[^\x00-\x1f\x7f:]+")  # RFC 7617, 2
_PASSWORD = re.compile(r"[^\x00-\x1f\x7f]+")
_INSTEAD = {"user-agent": "user_agent, or `ua` of a rule, says who asks", "cookie": "write it under `cookies`"}
_OUR_FIELDS = re.compile(
    "host|connection|keep-alive|te|trailer|upgrade|expect|range|user-agent|cookie|content-(length|type)|"
    "(accept|content|transfer)-encoding|if-.+|proxy-.+"
)
"""Fields that would make another request of it than was judged (in lower case)."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that is sent and never shown: as it was written, and where (`mark`, dotted `key`)."""

    written: str = field(repr=False)
    fits: re.Pattern[str] = field(repr=False)
    mark: Mark
    key: str
    folder: Path

    def reveal(self) -> str:
        """The value itself. Raises Refused when variable or file is missing or holds what cannot be sent."""
        if self.written == MASK:
            raise Refused(self.mark, "is not kept in the database", "start with the configuration file", self.key)
        value = self._from_file() if self.written.startswith(_FILE) else _VARIABLE.sub(self._variable, self.written)
        if "${" in self.written and not _VARIABLE.search(self.written):
            raise Refused(self.mark, "holds ${ without the name of a variable", "as in ${NAME}", self.key)
        if not self.fits.fullmatch(value):
            wrong = "holds a character that cannot be sent there" if value else "is empty"
            raise Refused(self.mark, wrong, "", self.key)
        return value

    @property
    def stored(self) -> str:
        """What stands for it in the database: where it comes from, or the mask."""
        if self.written.startswith(_FILE):
            return f"{_FILE}{self._file}"
        return self.written if _ONLY_VARIABLE.fullmatch(self.written) else MASK

    @property
    def _file(self) -> Path:
        return (self.folder / self.written.removeprefix(_FILE)).absolute()

    def _variable(self, found: re.Match[str]) -> str:
        value = os.environ.get(found[1])
        if value is None:
            raise Refused(self.mark, f"the environment variable {found[1]} is not set", "", self.key)
        return value

    def _from_file(self) -> str:
        shown = visible(str(self._file), 200)
        try:
            with self._file.open("rb") as file:
                return file.read(_LONGEST).decode("utf-8").rstrip("\r\n")
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else "it holds no plain text"
            raise Refused(self.mark, f"the file {shown} cannot be read: {why.lower()}", "", self.key) from None


@dataclass(frozen=True, slots=True)
class SecretText:
    """A secret in one value; no message quotes it."""

    what: str
    fits: re.Pattern[str]

    @property
    def accepts(self) -> str:
        return f"{self.what}, best as ${{NAME}} (an environment variable) or file:PATH"

    def read(self, node: Node, at: str, reader: Reader) -> Secret:
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

    def read(self, node: Node, at: str, reader: Reader) -> tuple[tuple[str, Secret], ...]:
        if is_null(node):
            return ()
        if not isinstance(node, MappingNode):
            raise Refused(node.mark, f"expected {self.accepts}")
        found: dict[str, tuple[str, Secret]] = {}
        for key, value in node.entries:
            name = key.text
            if not _TOKEN.fullmatch(name):
                raise Refused(key.mark, f"one of the {self.what} is no name of that", "letters, digits and - only")
            path, plain = f"{at}.{name}", name if self.refused is None else name.lower()
            if self.refused is not None and self.refused.fullmatch(plain):
                raise Refused(key.mark, "is not to be set here", _INSTEAD.get(plain, "the crawler sets it"), path)
            if plain in found:
                raise Refused(key.mark, "is given twice", "keep one of the two", path)
            try:
                found[plain] = name, SecretText("a value", self.fits).read(value, path, reader)
            except Refused as refused:
                raise Refused(refused.mark, refused.message, refused.suggestion, path) from None
        return tuple(found.values())

    def show(self, value: tuple[tuple[str, Secret], ...]) -> dict[str, str]:
        return {name: MASK for name, _ in value}

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["object", "null"], "additionalProperties": {"type": ["string", "number", "boolean"]}}


HEADERS = Secrets("header fields", _FIELD_VALUE, _OUR_FIELDS)
COOKIES = Secrets("cookies", _COOKIE_VALUE)
USER = SecretText("a user name", _USER_NAME)
PASSWORD = SecretText("a password", _PASSWORD)


class CertificateFile(Plain):
    """A file with certificates in PEM, relative to the configuration; kept as its absolute path."""

    accepts = "a file of certificates (PEM)"

    def read(self, node: Node, at: str, reader: Reader) -> str:
        path = (reader.folder / text_of(node, self)).absolute()
        reader.keep_out(node, str(path))
        if reader.resolves:
            import ssl  # noqa: PLC0415  few configurations name certificates

            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=path)
            except (OSError, ValueError) as error:
                told = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
                why = (told or "it holds no certificate in PEM").lower()
                raise Refused(node.mark, f"the file {visible(str(path), 200)} cannot be used: {why}") from None
        return str(path)
