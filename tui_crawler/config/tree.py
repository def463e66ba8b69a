"""YAML text to a tree of values that know their file, line and column.

The tree is composed of a parser's events here, because a configuration is stricter than YAML: no key twice, no tags
beyond the core schema (YAML 1.2: `on` and `yes` are texts), one document, text keys, bounded nesting and aliases.

Plain ASCII is read by libyaml, which takes a tenth of the time; whatever that does not take, and everything else, is
read by ruamel.yaml, whose words an error has. Both give the same events there (tests compare them).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tui_crawler.config.problem import BadValue, SourcePlace, visible, visible_key
from tui_crawler.domain.record import dataclass, field
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

    composer = _Composer(file, report)
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            composer.take(event)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = SourcePlace(file, mark.line + 1, mark.column + 1) if mark else SourcePlace(file, 1, 1)
        context = f" {error.context}" if error.context else ""
        message = f"not valid YAML{context}: {error.problem or 'cannot be read'}"
        raise BadValue(place, message, at=composer.path()) from error
    except (YAMLError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise BadValue(composer.last, f"not valid YAML: {visible(str(error))}", at=composer.path()) from error
    return composer.root or Scalar("", True, SourcePlace(file, 1, 1))


def _compose_quickly(text: str, file: str) -> Node | None:
    """Return the tree by libyaml; None where it refuses the text or is missing, and for what it reads differently:
    tabs, block scalars, ends of documents, empty values, and what is not ASCII, since its marks count bytes."""
    if not text.isascii() or _OTHERWISE.search(text):
        return None
    try:
        from yaml import CLoader, YAMLError, parse  # noqa: PLC0415  as above
    except ImportError:
        return None
    problems: list[SourcePlace] = []
    composer = _Composer(file, lambda *problem: problems.append(problem[-1]))
    try:
        for event in parse(text, CLoader):
            if not getattr(event, "value", True) and event.implicit[0]:
                return None
            composer.take(event)
    except (YAMLError, BadValue, ValueError, ArithmeticError, LookupError):
        return None
    return None if problems else composer.root


@dataclass(slots=True)
class _Open:
    """A list or mapping that is not closed yet."""

    mark: SourcePlace
    is_mapping: bool
    anchor: str | None
    nodes_before: int
    height: int = 1
    items: list[Node] = field(default_factory=list)
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    key: Scalar | None = None


@dataclass(frozen=True, slots=True)
class _Anchored:
    """The nodes of an alias: `size` nodes in all, `height` levels of lists and mappings."""

    node: Node
    size: int
    height: int


class _Composer:
    """Folds parser events into one tree, without recursion."""

    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored | None] = {}  # None while the anchored node is still open
        self._documents = 0
        self._nodes = 0
        self._aliases = 0
        self._aliased_nodes = 0
        self.root: Node | None = None
        self.last = SourcePlace(file, 1, 1)

    def take(self, event: Any) -> None:
        """Fold in one event of a parser (untyped: theirs have the same names, and no common class)."""
        mark = SourcePlace(self._file, event.start_mark.line + 1, event.start_mark.column + 1)
        self.last = mark
        match type(event).__name__:
            case "ScalarEvent":
                self._scalar(event, mark)
            case "SequenceStartEvent" | "MappingStartEvent":
                self._begin(event, mark)
            case "SequenceEndEvent" | "MappingEndEvent":
                self._end()
            case "AliasEvent":
                self._alias(event.anchor, mark)
            case "DocumentStartEvent" if self._documents:
                raise BadValue(mark, "a second YAML document begins here", "keep one document in the file")
            case "DocumentStartEvent":
                self._documents += 1
                if event.version is not None and tuple(event.version) != (1, 2):
                    raise BadValue(mark, "configurations are YAML 1.2", "remove the %YAML line")

    def _scalar(self, event: Any, mark: SourcePlace) -> None:
        text = _checked_text(event.value, mark, self.path)
        plain: bool = event.implicit[0] and not event.style
        if tag := event.tag or "":
            plain = tag not in {"!", _CORE + "str"}
            if plain and type(value_of(Scalar(text, True, mark))) not in _SCALAR_TAGS.get(tag, ()):
                raise self._bad_tag(tag, mark)
        self._nodes += 1
        node = Scalar(text, plain, mark, (event.start_mark.index, event.end_mark.index))
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(node, 1, 0)
        self._add(node, 0)

    def _begin(self, event: Any, mark: SourcePlace) -> None:
        is_mapping = type(event).__name__ == "MappingStartEvent"
        if event.tag not in (None, "!", _CORE + ("map" if is_mapping else "seq")):
            raise self._bad_tag(event.tag, mark)
        if len(self._open) >= MAX_DEPTH:
            raise self._refused(mark, f"nested more than {MAX_DEPTH} levels deep")
        if event.anchor:
            self._anchors[event.anchor] = None
        self._open.append(_Open(mark, is_mapping, event.anchor, self._nodes))
        self._nodes += 1

    def _end(self) -> None:
        done = self._open.pop()
        node: Node = ListNode(tuple(done.items), done.mark)
        if done.is_mapping:
            node = MappingNode(tuple(done.entries), done.mark)
        if done.anchor:
            self._anchors[done.anchor] = _Anchored(node, self._nodes - done.nodes_before, done.height)
        self._add(node, done.height)

    def _alias(self, name: str, mark: SourcePlace) -> None:
        shown = f"the alias *{self._told(name)}"
        if name not in self._anchors:
            raise self._refused(mark, f"{shown} has no anchor before it")
        found = self._anchors[name]
        if found is None:
            raise self._refused(mark, f"{shown} stands inside its own anchor", "write the value out")
        self._aliases += 1
        self._aliased_nodes += found.size
        self._nodes += found.size
        if self._aliases > MAX_ALIASES or self._aliased_nodes > MAX_ALIASED_NODES:
            most = f"at most {MAX_ALIASES}, for {MAX_ALIASED_NODES} values in all"
            raise self._refused(mark, f"too many aliases: {most}")
        if len(self._open) + found.height > MAX_DEPTH:
            raise self._refused(mark, f"nested more than {MAX_DEPTH} levels deep")
        self._add(found.node, found.height)

    def _add(self, node: Node, height: int) -> None:
        if not self._open:
            self.root = node
            return
        around = self._open[-1]
        around.height = max(around.height, height + 1)
        if not around.is_mapping:
            around.items.append(node)
        elif around.key is None:
            around.key = _checked_key(node)
        else:
            key, lines = around.key, around.lines
            if key.text in lines:
                message = f"duplicate key, first given in line {lines[key.text]}"
                self._report(self.path(), message, "keep one of the two", key.mark)
            else:
                lines[key.text] = key.mark.line
                around.entries.append((key, node))
            around.key = None

    def path(self) -> str:
        """The dotted key of the value that comes next."""
        path = ""
        for frame in self._open:
            if frame.key is not None:
                path += ("." if path else "") + visible_key(frame.key.text)
            elif not frame.is_mapping:
                path += f"[{len(frame.items)}]"
        return path

    def _told(self, name: str) -> str:
        """An alias or tag; among the hosts it may be a password that begins with * or ! and has lost its quotes."""
        return MASK if self.path().startswith("hosts") else visible(name)

    def _refused(self, mark: SourcePlace, message: str, suggestion: str = "") -> BadValue:
        return BadValue(mark, message, suggestion, self.path())

    def _bad_tag(self, tag: str, mark: SourcePlace) -> BadValue:
        return self._refused(mark, f"the tag {self._told(tag)} is not accepted", "remove the tag")


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
        raise BadValue(mark, f'the text "{visible(text)}" holds a character that is not text', at=path())
    return text
