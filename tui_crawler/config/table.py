"""Keys and the mappings and lists they make up: the table a configuration is read, documented and shown by.

A section is a frozen dataclass whose fields are made with `key`, `need` and `section`; `table_of` reads the table
off the class, so a key, its type, default, bounds and doc sentence are written down exactly once.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tui_crawler.config.kinds import Nullable, OneOf, ValueKind, expected, similar
from tui_crawler.config.problem import BadValue, Incomplete, SourcePlace, visible_key
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.tree import ListNode, MappingNode, Node, Scalar, describe, is_null
from tui_crawler.domain.known_word import nearest
from tui_crawler.domain.record import MISSING, dataclass, field, fields
from tui_crawler.domain.url import without_userinfo

_METADATA = "tui_crawler key"


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key: its `name` in YAML, what it may be, its meaning and default; `attribute` of the value that is built."""

    name: str
    kind: ValueKind
    doc: str
    default: Any = None
    required: bool = False
    alias: str = ""
    named: str = ""

    @property
    def attribute(self) -> str:
        return self.named or self.name


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping with known keys. `build(values, mark)` makes the value; it may raise BadValue. `unbuild(value)` returns
    the values, by field, if they are not its attributes. `quiet`: no message quotes what was given instead."""

    keys: tuple[ConfigKey, ...]
    build: Callable[[Mapping[str, Any], SourcePlace], Any]
    unbuild: Callable[[Any], Mapping[str, Any]] | None = None
    quiet: bool = False

    @property
    def accepts(self) -> str:
        return f"a mapping with the keys {', '.join(key.name for key in self.keys)}"

    def read(self, node: Node, at: str, reader: ConfigReader) -> Any:
        given, sound = self._given(node, at, reader)
        values: dict[str, Any] = {}
        for entry in self.keys:
            path = _join(at, entry.name)
            try:
                values[entry.attribute] = self._value(entry, given.get(entry.name), node.mark, path, reader)
            except BadValue as refused:
                reader.refuse(refused, path)
            except Incomplete:
                continue
        if len(values) < len(self.keys) or not sound:
            raise Incomplete
        return self.build(values, node.mark)

    def _value(
        self, entry: ConfigKey, given: tuple[Scalar, Node] | None, around: SourcePlace, path: str, reader: ConfigReader
    ) -> Any:
        node = reader.overrides.get(path)
        mark = node.mark if node is not None else around
        if node is None and given is not None:
            mark, node = given[0].mark, given[1]
        elif (
            node is None
            and isinstance(entry.kind, Table)
            and any(key.startswith(f"{path}.") for key in reader.overrides)
        ):
            node = MappingNode((), around)
        if node is None:
            if entry.required:
                raise BadValue(around, f"is missing: {entry.doc}", f"expected {entry.kind.accepts}")
            return entry.default
        items = [item.mark for item in node.items] if isinstance(node, ListNode) else None
        reader.note(path, node.mark if isinstance(node, Scalar) else mark, items)
        return entry.kind.read(node, path, reader)

    def _given(self, node: Node, at: str, reader: ConfigReader) -> tuple[dict[str, tuple[Scalar, Node]], bool]:
        if is_null(node):
            return {}, True
        if not isinstance(node, MappingNode):
            known = tuple(entry.name for entry in self.keys)
            hint = f"as in {at}: {{default: 1s}}; " if "default" in known else ""
            message = "expected a mapping of settings" + ("" if self.quiet else f", found {describe(node)}")
            raise BadValue(node.mark, message, f"{hint}keys: {', '.join(known)}")
        names = {entry.name: entry.name for entry in self.keys}
        names |= {entry.alias: entry.name for entry in self.keys if entry.alias}
        given: dict[str, tuple[Scalar, Node]] = {}
        sound = True
        for name, value in node.entries:
            canonical = names.get(name.text)
            path = _join(at, visible_key(name.text))
            if canonical is not None and canonical not in given:
                given[canonical] = (name, value)
                continue
            sound = False
            if canonical is None:
                hint = suggest_key(name.text, tuple(names), at, reader.places)
                reader.report(path, "unknown key", hint, name.mark)
            else:
                reader.report(path, f"{canonical} is given under both its names", "keep one of them", name.mark)
        return given, sound

    def show(self, value: Any) -> Any:
        if self.unbuild is not None:
            values = self.unbuild(value)
            return {k.name: k.kind.show(values[k.attribute]) for k in self.keys if values[k.attribute] != k.default}
        return {key.name: key.kind.show(getattr(value, key.attribute)) for key in self.keys}

    def json_schema(self) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for key in self.keys:
            about = {"description": key.doc} | ({} if key.required else {"default": key.kind.show(key.default)})
            properties[key.name] = key.kind.json_schema() | about
            if key.alias:
                properties[key.alias] = key.kind.json_schema() | {"description": f"Another name of {key.name}."}
        required = [key.name for key in self.keys if key.required]
        schema = {"type": "object" if required else ["object", "null"], "properties": properties}
        return schema | {"additionalProperties": False} | ({"required": required} if required else {})


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind, kept as a tuple. `what` names them in the plural."""

    kind: ValueKind
    what: str
    least: int = 0
    most: int = 100_000

    @property
    def accepts(self) -> str:
        return f"a list of {self.what}"

    def read(self, node: Node, at: str, reader: ConfigReader) -> tuple[Any, ...]:
        if is_null(node) and self.least == 0:
            return ()
        if not isinstance(node, ListNode):
            one = node.text if isinstance(node, Scalar) and not is_null(node) else None
            raise expected(self, node, "" if one is None else f"write it as a list: [{without_userinfo(one)[:60]}]")
        if not self.least <= len(node.items) <= self.most:
            number = f"at least {self.least}" if len(node.items) < self.least else f"at most {self.most}"
            raise BadValue(node.mark, f"expected {number} of {self.what}, found {len(node.items)}")
        values: list[Any] = []
        for index, item in enumerate(node.items):
            try:
                values.append(self.kind.read(item, f"{at}[{index}]", reader))
            except BadValue as refused:
                reader.refuse(refused, f"{at}[{index}]")
            except Incomplete:
                continue
        if len(values) < len(node.items):
            raise Incomplete
        return tuple(values)

    def show(self, value: tuple[Any, ...]) -> list[Any]:
        return [self.kind.show(item) for item in value]

    def json_schema(self) -> dict[str, Any]:
        schema = {"type": "array" if self.least else ["array", "null"], "items": self.kind.json_schema()}
        return schema | {"maxItems": self.most} | ({"minItems": self.least} if self.least else {})


@dataclass(frozen=True, slots=True)
class WordsOrAll:
    """A list of some of these words, or the word `all` for every one of them."""

    words: tuple[str, ...]
    what: str

    @property
    def accepts(self) -> str:
        return f"a list of {self.what} ({', '.join(self.words)}), or all"

    @property
    def _some(self) -> ListOf:
        return ListOf(OneOf(self.words), self.what, most=len(self.words))

    def read(self, node: Node, at: str, reader: ConfigReader) -> tuple[str, ...]:
        return self.words if isinstance(node, Scalar) and node.text == "all" else self._some.read(node, at, reader)

    def show(self, value: tuple[str, ...]) -> str | list[str]:
        return "all" if {*self.words} == {*value} else list(value)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [{"const": "all"}, self._some.json_schema()]}


def key(kind: ValueKind, default: Any, doc: str, *, alias: str = "") -> Any:
    """A field of a section: a key that may be left out. Its YAML name is the field's, without a final `_ms`."""
    return field(default=default, metadata={_METADATA: (kind, doc, alias)})


def need(kind: ValueKind, doc: str) -> Any:
    """A field of a section: a key that must be given."""
    return field(metadata={_METADATA: (kind, doc, "")})


def section(cls: type[Any], doc: str) -> Any:
    """A field that is a section itself; `cls` is its dataclass, whose keys may all be left out."""
    return key(table_of(cls), cls(), doc)


def table_of(cls: type[Any], *, quiet: bool = False) -> Table:
    """Return the table of a dataclass made with `key`, `need` and `section`. A field named `source` without a key takes
    the place (`file:line`) of the mapping."""
    keys = tuple(
        ConfigKey(f.name.removesuffix("_ms"), kind, doc, f.default, f.default is MISSING, alias, f.name)
        for f in fields(cls)
        if _METADATA in f.metadata
        for kind, doc, alias in (f.metadata[_METADATA],)
    )
    sourced = any(f.name == "source" for f in fields(cls))

    def build(values: Mapping[str, Any], mark: SourcePlace) -> Any:
        return cls(**values, source=mark.place) if sourced else cls(**values)

    return Table(keys, build, quiet=quiet)


def inner_table(kind: ValueKind) -> Table | None:
    """The table inside a section or a list of sections."""
    while isinstance(kind, ListOf | Nullable):
        kind = kind.kind
    return kind if isinstance(kind, Table) else None


def walk_keys(table: Table, at: str = "") -> Iterator[tuple[str, ConfigKey]]:
    """Every key of a table and of the tables inside it, with the dotted name of the section it stands in."""
    for entry in table.keys:
        yield at, entry
        inside = inner_table(entry.kind)
        if inside is not None:
            yield from walk_keys(inside, _join(at, entry.name))


def places_of(root: Table) -> dict[str, tuple[str, ...]]:
    """For the name (and alias) of each key, the sections it may stand in; "" is the top level."""
    places: dict[str, tuple[str, ...]] = {}
    for at, entry in walk_keys(root):
        for name in filter(None, (entry.name, entry.alias)):
            places[name] = (*places.get(name, ()), at)
    return places


def suggest_key(name: str, known: tuple[str, ...], at: str, places: Mapping[str, tuple[str, ...]]) -> str:
    """The nearest right key for an unknown one: its right section, else a similar name here, else elsewhere."""
    if elsewhere := places.get(name, ()):
        where = " or ".join(f"under `{place}`" if place else "at the top level" for place in elsewhere[:3])
        return f"`{name}` belongs {where}"
    if close := similar(name, known):
        return close
    if far := nearest(name.replace("-", "_"), places, 0.75):
        return f"did you mean {_join(places[far][0], far)}?"
    return f"keys {f'of {at}' if at else 'at the top level'}: {', '.join(known)}"


def _join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
