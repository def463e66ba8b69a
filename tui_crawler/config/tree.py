"""YAML text to a tree of values that know their file, line and column.

The tree is composed of a parser's events here, because a configuration is stricter than YAML: no key twice, no tags
beyond the core schema (YAML 1.2: `on` and `yes` are texts), one document, text keys, bounded nesting and aliases.

Plain ASCII is read by libyaml, which takes a tenth of the time; whatever that does not take, and everything else, is
read by ruamel.yaml, whose words an error has. Both give the same events there (tests compare them).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tui_crawler.config.problem import BadValue, SourcePlace, visible, visible_key
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.url import MASK, without_userinfo

MAX_DEPTH = 64  # levels of lists and mappings
MAX_ALIASES = 100
MAX_ALIASED_NODES = 10_000  # nodes that aliases may stand for in all
_CORE = "tag:yaml.org,2002:"
_SCALAR_TAGS: dict[str, tuple[type, ...]] = {
    _CORE + "int": (int,),
    _CORE + "float": (int, float),
    _CORE + "bool": (bool,),
    _CORE + "null": (type(None),),
}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_ENDS = frozenset({"SequenceEndEvent", "MappingEndEvent"})
_OTHERWISE = re.compile(r"[\t|>]|^(?:\.\.\.|---|%)", re.MULTILINE)
_LONGEST_INT = 40  # digits; more is read as a float, which no key accepts


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. `plain` is True when it stands without quotes and so may be null, a boolean or a number; `span` is
    where it begins and ends in the text, in characters."""

    text: str
    plain: bool
    mark: SourcePlace
    span: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list of values."""

    items: tuple[Node, ...]
    mark: SourcePlace


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Keys and their values in the order of the file; no key twice."""

    entries: tuple[tuple[Scalar, Node], ...]
    mark: SourcePlace


Node = Scalar | ListNode | MappingNode


def value_of(node: Node) -> str | int | float | bool | None:
    """Return what a scalar means by the core schema of YAML 1.2 (section 10.3); None for lists and mappings."""
    if not isinstance(node, Scalar) or (node.plain and node.text in _NULLS):
        return None
    text = node.text
    if not node.plain or text[0] not in "+-.0123456789":
        return _BOOLS.get(text, text) if node.plain else text
    if _INT.fullmatch(text) and len(text) <= _LONGEST_INT:
        return int(text, 0 if text[:2] in {"0o", "0x"} else 10)
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan")) if _FLOAT.fullmatch(text) else text


def is_null(node: Node) -> bool:
    """Return whether the node is an empty value or `null`."""
    return isinstance(node, Scalar) and value_of(node) is None


def describe(node: Node) -> str:
    """Return what was found, for a message."""
    if not isinstance(node, Scalar):
        return "a list" if isinstance(node, ListNode) else "a mapping"
    match value_of(node):
        case None:
            return "nothing (null)"
        case bool():
            return f"the boolean {node.text}"
        case int() | float():
            return f"the number {visible(node.text, 30)}"
        case _:
            return f'the text "{visible(without_userinfo(node.text))}"'


def node_of(value: object, mark: SourcePlace) -> Node:
    """A value of the program (command line option) as if it had been written at `mark`."""
    match value:
        case None:
            return Scalar("null", True, mark)
        case bool():
            return Scalar("true" if value else "false", True, mark)
        case int() | float():
            return Scalar(repr(value), True, mark)
        case Mapping():
            pairs = ((Scalar(str(k), False, mark), node_of(v, mark)) for k, v in value.items())
            return MappingNode(tuple(pairs), mark)
        case list() | tuple():
            return ListNode(tuple(node_of(item, mark) for item in value), mark)
        case _:
            return Scalar(_checked_text(str(value), mark), False, mark)


Report = Callable[[str, str, str, SourcePlace], None]


def compose(text: str, file: str, report: Report) -> Node:
    """Return the tree of one YAML document; an empty document is null at line 1.

    `report(key, message, suggestion, mark)` is called for each duplicate key. Raises BadValue for everything
    else that is not accepted; never a YAML error or RecursionError.
    """
    quick = _compose_quickly(text, file)
    if quick is not None:
        return quick
    from ruamel.yaml import YAML  # noqa: PLC0415  it loads slowly, and most configurations need it not
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    composer = _Composer(file, report, iter(YAML(typ="safe", pure=True).parse(text)))
    try:
        return composer.root() or Scalar("", True, SourcePlace(file, 1, 1))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = SourcePlace(file, mark.line + 1, mark.column + 1) if mark else SourcePlace(file, 1, 1)
        context = f" {error.context}" if error.context else ""
        message = f"not valid YAML{context}: {error.problem or 'cannot be read'}"
        raise BadValue(place, message, at=composer.path()) from error
    except (YAMLError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise BadValue(composer.last, f"not valid YAML: {visible(str(error))}", at=composer.path()) from error


def _compose_quickly(text: str, file: str) -> Node | None:
    """Return the tree by libyaml; None where it refuses the text or is missing, and for what it reads differently:
    tabs, block scalars, ends of documents, empty values, and what is not ASCII, since its marks count bytes."""
    if not text.isascii() or _OTHERWISE.search(text):
        return None
    try:
        from yaml import CLoader, YAMLError, parse  # noqa: PLC0415  as above
    except ImportError:
        return None

    def events() -> Iterator[Any]:
        for event in parse(text, CLoader):
            if not getattr(event, "value", True) and event.implicit[0]:
                raise ValueError("an empty value")
            yield event

    def refuse(*_: object) -> None:
        raise ValueError("a duplicate key")

    try:
        return _Composer(file, refuse, events()).root()
    except (YAMLError, BadValue, ValueError, ArithmeticError, LookupError):
        return None


class _Anchored(NamedTuple):
    """The nodes of an alias: `size` nodes in all, `height` levels of lists and mappings."""

    node: Node
    size: int = 1
    height: int = 0


class _Composer:
    """Folds the events of a parser into one tree (untyped: theirs have the same names, and no common class)."""

    def __init__(self, file: str, report: Report, events: Iterator[Any]) -> None:
        self._file, self._report, self._events = file, report, events
        self._at: list[str | int | None] = []  # of each open list its next index, of each mapping its key
        self._anchors: dict[str, _Anchored | None] = {}  # None while the anchored node is still open
        self._aliases = self._aliased_nodes = 0
        self.last = SourcePlace(file, 1, 1)

    def root(self) -> Node | None:
        """Return the root; None where there is no document. Raises BadValue, and what the parser raises."""
        found: Node | None = None
        while (event := self._next()) is not None:
            match type(event).__name__:
                case "DocumentStartEvent" if found is not None:
                    raise BadValue(self.last, "a second YAML document begins here", "keep one document in the file")
                case "DocumentStartEvent":
                    if event.version is not None and tuple(event.version) != (1, 2):
                        raise BadValue(self.last, "configurations are YAML 1.2", "remove the %YAML line")
                case "ScalarEvent" | "SequenceStartEvent" | "MappingStartEvent" | "AliasEvent":
                    found = self._node(event, type(event).__name__).node
        return found

    def _next(self) -> Any:
        event = next(self._events, None)
        if event is not None:
            self.last = SourcePlace(self._file, event.start_mark.line + 1, event.start_mark.column + 1)
        return event

    def _node(self, event: Any, name: str) -> _Anchored:
        if name == "ScalarEvent":
            found = self._scalar(event)
        elif name == "AliasEvent":
            return self._aliased(event.anchor)
        else:
            if event.anchor:
                self._anchors[event.anchor] = None
            found = self._collection(event, is_mapping=name == "MappingStartEvent")
        if event.anchor:
            self._anchors[event.anchor] = found
        return found

    def _scalar(self, event: Any) -> _Anchored:
        text = _checked_text(event.value, self.last, self.path)
        plain: bool = event.implicit[0] and not event.style
        if tag := event.tag or "":
            plain = tag not in {"!", _CORE + "str"}
            if plain and type(value_of(Scalar(text, True, self.last))) not in _SCALAR_TAGS.get(tag, ()):
                raise self._bad_tag(tag)
        return _Anchored(Scalar(text, plain, self.last, (event.start_mark.index, event.end_mark.index)))

    def _collection(self, event: Any, *, is_mapping: bool) -> _Anchored:
        mark, size, height = self.last, 1, 1
        if event.tag not in (None, "!", _CORE + ("map" if is_mapping else "seq")):
            raise self._bad_tag(event.tag)
        self._check_depth(1)
        items: list[Node] = []
        entries: dict[str, tuple[Scalar, Node]] = {}
        key: Scalar | None = None
        self._at.append(None if is_mapping else 0)
        while (name := type(event := self._next()).__name__) not in _ENDS:
            child = self._node(event, name)
            size, height = size + child.size, max(height, child.height + 1)
            if not is_mapping:
                items.append(child.node)
                self._at[-1] = len(items)
            elif key is None:
                key = _checked_key(child.node)
                self._at[-1] = key.text
            else:
                first = entries.setdefault(key.text, entry := (key, child.node))
                if first is not entry:
                    message = f"duplicate key, first given in line {first[0].mark.line}"
                    self._report(self.path(), message, "keep one of the two", key.mark)
                key = self._at[-1] = None
        self._at.pop()
        node = MappingNode(tuple(entries.values()), mark) if is_mapping else ListNode(tuple(items), mark)
        return _Anchored(node, size, height)

    def _aliased(self, name: str) -> _Anchored:
        shown = f"the alias *{self._told(name)}"
        if name not in self._anchors:
            raise self._refused(f"{shown} has no anchor before it")
        found = self._anchors[name]
        if found is None:
            raise self._refused(f"{shown} is inside its own anchor", "write the value out")
        self._aliases += 1
        self._aliased_nodes += found.size
        if self._aliases > MAX_ALIASES or self._aliased_nodes > MAX_ALIASED_NODES:
            raise self._refused(f"too many aliases: at most {MAX_ALIASES}, for {MAX_ALIASED_NODES} values in all")
        self._check_depth(found.height)
        return found

    def _check_depth(self, more: int) -> None:
        if len(self._at) + more > MAX_DEPTH:
            raise self._refused(f"nested more than {MAX_DEPTH} levels deep")

    def path(self) -> str:
        """Return the dotted key of the value that comes next."""
        path = ""
        for part in self._at:
            if part is not None:
                path += f"[{part}]" if isinstance(part, int) else f"{path and '.'}{visible_key(part)}"
        return path

    def _told(self, name: str) -> str:
        """An alias or tag; among the hosts it may be a password that begins with * or ! and has lost its quotes."""
        return MASK if self.path().startswith("hosts") else visible(name)

    def _refused(self, message: str, suggestion: str = "") -> BadValue:
        return BadValue(self.last, message, suggestion, self.path())

    def _bad_tag(self, tag: str) -> BadValue:
        return self._refused(f"the tag {self._told(tag)} is not accepted", "remove the tag")


def _checked_key(node: Node) -> Scalar:
    if not isinstance(node, Scalar):
        raise BadValue(node.mark, f"a key must be a text, found {describe(node)}")
    at = visible_key(node.text)
    if node.plain and node.text == "<<":
        raise BadValue(node.mark, "merge keys are not part of YAML 1.2", "write the values out", at)
    if not isinstance(value_of(node), str):
        raise BadValue(node.mark, f"a key must be a text, found {describe(node)}", f'write it in quotes: "{at}"', at)
    return node


def _checked_text(text: str, mark: SourcePlace, path: Callable[[], str] = str) -> str:
    """`text` without NUL and lone surrogates, which an escape in double quotes can make. Raises BadValue."""
    if "\0" in text or not (text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)):
        raise BadValue(mark, f'the text "{visible(text)}" contains a character that is not text', at=path())
    return text
