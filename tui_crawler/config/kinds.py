"""The kinds of plain value a key can have: how each is read, shown, described and put into a JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, get_args

from tui_crawler.config import units
from tui_crawler.config.problem import BadValue
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.tree import MappingNode, Node, Scalar, describe, is_null, value_of
from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.rules.pattern import BadPattern, Pattern

LARGEST = 2**53 - 1  # the largest whole number a JSON reader keeps exactly


class ValueKind(Protocol):
    """A kind of value. `read` raises BadValue (or Incomplete, when a part of it is reported already)."""

    @property
    def accepts(self) -> str:
        """Return what is accepted, to follow "expected"."""

    def read(self, node: Node, at: str, reader: ConfigReader) -> Any:
        """Return the value of `node`, which has the dotted key `at`."""

    def show(self, value: Any) -> Any:
        """Return a value as JSON, written as a user would write it."""

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the value."""


class Plain:
    """The usual kind: a value is shown as written, and in a JSON Schema it is a text, or what `schema` says."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Any]] = {"type": "string", "minLength": 1}

    def show(self, value: Any) -> Any:
        return value

    def json_schema(self) -> dict[str, Any]:
        return dict(self.schema)


def text_schema(**more: Any) -> dict[str, Any]:
    """The JSON Schema of a text: `pattern`, `minLength`, `maxLength`."""
    return {"type": "string", **more}


def expected(kind: ValueKind, node: Node, suggestion: str = "") -> BadValue:
    """The refusal of a value of the wrong type."""
    return BadValue(node.mark, f"expected {kind.accepts}, found {describe(node)}", suggestion)


def text_of(node: Node, kind: ValueKind, may_quote: bool = False) -> str:
    """The text of a node. Raises BadValue for everything else; `may_quote` hints at quotes for a number."""
    value = value_of(node)
    if isinstance(value, str):
        return value
    quoted = isinstance(node, Scalar) and f'write it in quotes: "{node.text[:40]}"'
    raise expected(kind, node, quoted if quoted and may_quote and value is not None else "")


def similar(word: str, known: tuple[str, ...]) -> str:
    """The suggestion of the nearest known word, empty when none is near."""
    return did_you_mean(word.replace("-", "_"), known).removeprefix("; ")


def nearest(word: str, known: tuple[str, ...]) -> str:
    """The suggestion of the nearest known word, or the list of them when none is near."""
    return similar(word, known) or f"accepted: {', '.join(known)}"


@dataclass(frozen=True, slots=True)
class Text(Plain):
    """A text without control characters. `longest` in characters; `lines` allows line breaks and tabs."""

    accepts: str = "a text"
    longest: int = 200
    shortest: int = 1
    lines: bool = False

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        text = text_of(node, self, may_quote=True)
        if not self.shortest <= len(text) <= self.longest:
            raise BadValue(node.mark, f"expected {self.accepts} of {self.shortest} to {self.longest} characters")
        if all(c.isprintable() or (self.lines and c in "\n\t") for c in text):
            return text
        raise BadValue(node.mark, f"{describe(node)} contains a control character", "remove it")

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": self.shortest, "maxLength": self.longest}


@dataclass(frozen=True, slots=True)
class TextKind(Plain):
    """A kind of text: `take` returns its value, or raises BadValue. `more` is added to its JSON Schema."""

    accepts: str
    take: Callable[[str, Node, ConfigReader], str]
    more: Mapping[str, Any]

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        return self.take(text_of(node, self), node, reader)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", **(self.more or {"minLength": 1})}


def text_kind(accepts: str, **more: Any) -> Callable[[Callable[[str, Node, ConfigReader], str]], TextKind]:
    """Make a kind of text of the function that reads it."""
    return lambda take: TextKind(accepts, take, more)


class Flag(Plain):
    """true or false; `yes` and `on` are texts in YAML 1.2."""

    accepts = "true or false"
    schema: ClassVar[Mapping[str, Any]] = {"type": "boolean"}

    def read(self, node: Node, at: str, reader: ConfigReader) -> bool:
        value = value_of(node)
        if not isinstance(value, bool):
            raise expected(self, node)
        return value


@dataclass(frozen=True, slots=True)
class Whole(Plain):
    """A whole number between two bounds, both included."""

    least: int = 0
    most: int = LARGEST

    @property
    def accepts(self) -> str:
        top = f"{self.least} to {self.most}" if self.most < LARGEST else f"at least {self.least}"
        return f"a whole number ({top})"

    def read(self, node: Node, at: str, reader: ConfigReader) -> int:
        value = value_of(node)
        if not isinstance(value, int) or isinstance(value, bool) or not self.least <= value <= self.most:
            raise expected(self, node)
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Real(Plain):
    """A number between two bounds, both included; never NaN or infinite."""

    least: float
    most: float

    @property
    def accepts(self) -> str:
        return f"a number ({self.least:g} to {self.most:g})"

    def read(self, node: Node, at: str, reader: ConfigReader) -> float:
        value = value_of(node)
        if not isinstance(value, int | float) or isinstance(value, bool) or not self.least <= value <= self.most:
            raise expected(self, node)
        return float(value)

    def json_schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.least, "maximum": self.most}


def _within(node: Node, kind: Duration | Size, read: Callable[[], int], show: Callable[[int], str], noun: str) -> int:
    try:
        amount = read()
    except ValueError as error:
        raise BadValue(node.mark, f"{error}, found {describe(node)}") from None
    if not kind.least <= amount <= kind.most:
        message = f"expected {noun} of {show(kind.least)} to {show(kind.most)}, found {describe(node)}"
        raise BadValue(node.mark, message)
    return amount


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration, kept in milliseconds; the bounds are milliseconds too."""

    least: int
    most: int

    accepts = f"a duration such as {units.DURATION_FORMS}"

    def read(self, node: Node, at: str, reader: ConfigReader) -> int:
        value = value_of(node)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise expected(self, node)
        if not isinstance(value, str) and value != 0:
            raise expected(self, node, f"give the number a unit, as in {str(value)[:20]}s")
        text = value if isinstance(value, str) else "0"
        return _within(node, self, lambda: units.parse_duration(text), units.show_duration, "a duration")

    def show(self, value: int) -> str:
        return units.show_duration(value)

    def json_schema(self) -> dict[str, Any]:
        pattern = r"^\s*([0-9.]+\s*[a-z]+)(\s+[0-9.]+\s*[a-z]+)*\s*$"
        return {"anyOf": [{"type": "string", "pattern": pattern}, {"enum": [0, "0"]}]}


@dataclass(frozen=True, slots=True)
class Size:
    """A size, kept in bytes; the bounds are bytes too."""

    least: int
    most: int

    accepts = f"a size such as {units.SIZE_FORMS}"

    def read(self, node: Node, at: str, reader: ConfigReader) -> int:
        value = value_of(node)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise expected(self, node)
        return _within(node, self, lambda: units.parse_size(str(value)), units.show_size, "a size")

    def show(self, value: int) -> str | int:
        shown = units.show_size(value)
        return int(shown) if shown.isdigit() else shown

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": f"^{units.SIZE.pattern}$"}]}


@dataclass(frozen=True, slots=True)
class OneOf(Plain):
    """One of a few words. `flags` are those that true and false mean, where older configurations have these."""

    words: tuple[str, ...]
    flags: tuple[str, ...] = ()

    @property
    def accepts(self) -> str:
        return "one of " + ", ".join(self.words) if len(self.words) > 1 else self.words[0]

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        value = value_of(node)
        if isinstance(value, bool) and self.flags:
            return self.flags[not value]
        if not isinstance(value, str) or value not in self.words:
            raise expected(self, node, similar(value, self.words) if isinstance(value, str) else "")
        return value

    def json_schema(self) -> dict[str, Any]:
        return {"enum": [*self.words, *([True, False] if self.flags else ())]}


def one_of(literal: Any, flags: tuple[str, ...] = ()) -> OneOf:
    """Return the kind of a `Literal` type."""
    return OneOf(get_args(literal), flags)


class AutoFlag(OneOf):
    """`auto`, or true / false, kept as the words `auto`, `always` and `never`."""

    accepts = "auto, true or false"

    def show(self, value: str) -> str | bool:
        return value if value == "auto" else value == "always"


class Regex(Plain):
    """A regular expression of the linear-time engine (RE2): no look-around, no back-references."""

    accepts = "a linear-time regular expression (RE2)"

    def read(self, node: Node, at: str, reader: ConfigReader) -> str:
        text = text_of(node, self, may_quote=True)
        if not text:
            raise BadValue(node.mark, "the regular expression is empty, it would match everything")
        try:
            return Pattern(text).text
        except BadPattern as error:
            perl_only = "perl operator" in error.message or "escape" in error.message
            hint = "look-around and back-references are not available" if perl_only else ""
            raise BadValue(node.mark, f"not a linear-time regular expression: {error.message}", hint) from None


@dataclass(frozen=True, slots=True)
class Nullable:
    """Another kind, or null; `meaning` says what null stands for, empty when it is only "not given"."""

    kind: ValueKind
    meaning: str = ""

    @property
    def accepts(self) -> str:
        return f"{self.kind.accepts}, or null for {self.meaning}" if self.meaning else self.kind.accepts

    def read(self, node: Node, at: str, reader: ConfigReader) -> Any:
        return None if is_null(node) else self.kind.read(node, at, reader)

    def show(self, value: Any) -> Any:
        return None if value is None else self.kind.show(value)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [self.kind.json_schema(), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping from names to values of one kind, kept as a tuple of pairs."""

    kind: ValueKind
    accepts: str

    def read(self, node: Node, at: str, reader: ConfigReader) -> tuple[tuple[str, Any], ...]:
        if is_null(node):
            return ()
        if not isinstance(node, MappingNode):
            raise expected(self, node)
        found: list[tuple[str, Any]] = []
        for key, value in node.entries:
            path = f"{at}.{key.text}"
            name = Text(f"a name of {self.accepts}").read(key, path, reader)
            try:
                found.append((name, self.kind.read(value, path, reader)))
            except BadValue as refused:
                refused.at = refused.at or path
                raise
        return tuple(found)

    def show(self, value: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
        return {name: self.kind.show(item) for name, item in value}

    def json_schema(self) -> dict[str, Any]:
        return {"type": ["object", "null"], "additionalProperties": self.kind.json_schema()}


THEMES = (
    *("tui-crawler-dark", "tui-crawler-light", "tui-crawler-contrast-dark", "tui-crawler-contrast-light"),
    *("textual-dark", "textual-light", "ansi-dark", "ansi-light", "atom-one-dark", "atom-one-light"),
    *("catppuccin-frappe", "catppuccin-latte", "catppuccin-macchiato", "catppuccin-mocha", "dracula", "flexoki"),
    *("gruvbox", "monokai", "nord", "rose-pine", "rose-pine-dawn", "rose-pine-moon", "solarized-dark"),
    *("solarized-light", "tokyo-night"),
)
"""The console's own themes, then Textual's: named here so that a crawl without a console loads none of them."""


class Keymap(Pairs):
    """Keys of the console: action id -> keys."""

    def read(self, node: Node, at: str, reader: ConfigReader) -> tuple[tuple[str, str], ...]:
        for key, _ in node.entries if isinstance(node, MappingNode) else ():
            path = f"{at}.{key.text}"
            reader.note(path, key.mark)
            if key.text == "preset":
                instead = "remove this line and write keys by action, such as journal.undo: u (docs/keys.md lists all)"
                raise BadValue(key.mark, "there are no presets any more", instead, path)
        return super().read(node, at, reader)
