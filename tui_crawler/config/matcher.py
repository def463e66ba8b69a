"""Matchers as a configuration writes them: `{path: {prefix: /admin/}}`, combined by all, any and not (U)."""

from __future__ import annotations

from typing import Any, assert_never, get_args

from tui_crawler.config.kinds import Kind, Text, expected, nearest, text_of
from tui_crawler.config.problem import Refused, visible_key
from tui_crawler.config.reader import Reader
from tui_crawler.config.tree import ListNode, MappingNode, Node, Scalar, describe, value_of
from tui_crawler.domain.matcher import All, AnyOf, Field, Matcher, Not, Op, Test
from tui_crawler.domain.pattern import BadPattern, Pattern, glob

FIELDS: tuple[Field, ...] = get_args(Field)
OPS: tuple[Op, ...] = get_args(Op)
_COMBINERS = ("all", "any", "not")
_LONGEST = 4096  # characters of a value that is compared with a URL


class MatcherKind:
    """A test of a URL: `{path: {prefix: /admin/}}`; several fields in one mapping must all match."""

    accepts = "a matcher such as {path: {prefix: /admin/}}"

    def read(self, node: Node, at: str, reader: Reader) -> Matcher:
        if not isinstance(node, MappingNode) or not node.entries:
            hint = f"write {{url: {{regex: …}}}} or {{path: {{prefix: …}}}}; fields: {', '.join(FIELDS)}"
            raise expected(self, node, hint)
        parts: list[Matcher] = []
        for name, value in node.entries:
            path = f"{at}.{visible_key(name.text)}"
            if name.text == "not":
                parts.append(Not(self.read(value, path, reader)))
            elif name.text in _COMBINERS:
                inner = self._parts(value, path, reader)
                parts.append(All(inner) if name.text == "all" else AnyOf(inner))
            elif name.text in FIELDS:
                if name.text == "fragment":
                    reader.warn(name.mark, path, "pages have no fragment: it is cut off when a link is found")
                parts += _tests(name.text, value, path, self)
            else:
                raise Refused(name.mark, "unknown field", nearest(name.text, (*FIELDS, *_COMBINERS)), path)
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _parts(self, node: Node, at: str, reader: Reader) -> tuple[Matcher, ...]:
        if not isinstance(node, ListNode) or not node.items:
            raise Refused(node.mark, f"expected a list of matchers, found {describe(node)}", at=at)
        return tuple(self.read(item, f"{at}[{index}]", reader) for index, item in enumerate(node.items))

    def show(self, value: Matcher) -> Any:
        match value:
            case Test(name, op, text):
                return {name: {op: text}}
            case All(parts):
                return {"all": [self.show(part) for part in parts]}
            case AnyOf(parts):
                return {"any": [self.show(part) for part in parts]}
            case Not(part):
                return {"not": self.show(part)}
            case _:
                assert_never(value)

    def json_schema(self) -> dict[str, Any]:
        return {"$ref": "#/$defs/matcher"}


def matcher_schema() -> dict[str, Any]:
    """The JSON Schema of a matcher, for `$defs`: matchers hold matchers."""
    test = {"type": "object", "minProperties": 1, "additionalProperties": False}
    text = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
    field = {"anyOf": [text, {"type": "integer"}, test | {"properties": dict.fromkeys(OPS, text)}]}
    parts = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/matcher"}}
    combiners = {"all": parts, "any": parts, "not": {"$ref": "#/$defs/matcher"}}
    return test | {"properties": dict.fromkeys(FIELDS, field) | combiners}


def _tests(field: Field, node: Node, at: str, kind: Kind) -> list[Matcher]:
    if not isinstance(node, MappingNode):
        return [Test(field, "equals", _compared(field, node, at, kind))]
    if not node.entries:
        raise Refused(node.mark, f"expected a comparison, one of {', '.join(OPS)}, found an empty mapping", at=at)
    tests: list[Matcher] = []
    for name, value in node.entries:
        if name.text not in OPS:
            raise Refused(name.mark, "unknown comparison", nearest(name.text, OPS), f"{at}.{visible_key(name.text)}")
        op = name.text
        text = _compared(field, value, f"{at}.{op}", kind)
        try:
            if op in {"regex", "glob"}:
                Pattern(text if op == "regex" else glob(text))
        except BadPattern as error:
            what = "linear-time regular expression" if op == "regex" else "glob"
            raise Refused(value.mark, f"not a {what}: {error.message}", at=f"{at}.{op}") from None
        tests.append(Test(field, op, text))
    return tests


def _compared(field: Field, node: Node, at: str, kind: Kind) -> str:
    """The text a field is compared with; a port may be written as a number."""
    if field == "port" and isinstance(node, Scalar) and isinstance(value_of(node), int):
        return node.text
    try:
        text = text_of(node, Text(f"a text to compare the {field} with"), may_quote=True)
    except Refused as refused:
        raise Refused(refused.mark, refused.message, refused.suggestion, at) from None
    if not text or len(text) > _LONGEST:
        raise Refused(node.mark, f"expected a text of 1 to {_LONGEST} characters", at=at)
    return text
