"""CSS against CSS Syntax 3 (tinycss2): valid is what has no error tokens and no rule or declaration that is none."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import tinycss2  # type: ignore[import-untyped]  # it ships no types

from tui_crawler.domain.records.attempt import Validation, ValidationError
from tui_crawler.fetch.headers import clean_message
from tui_crawler.fetch.sniff import CSS

_MOST_ERRORS = 20
_HUGE_NUMBER = re.compile(r"\d{4000}")  # Python refuses to read it, and tinycss2 reads all numbers
_HOLDS_RULES = frozenset({"media", "supports", "layer", "container", "document", "scope", "starting-style"})
Node = Any  # a node of tinycss2, which ships no types


def validate_css(text: str) -> Validation | None:
    """Return what the tokenizer and parser say of a style sheet; None when it cannot be read."""
    if _HUGE_NUMBER.search(text):
        return None
    sheet = tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)
    errors = sorted(islice(_errors(sheet), _MOST_ERRORS), key=lambda error: (error.line, error.column))
    return Validation(CSS, tuple(errors))


def _errors(nodes: Iterable[Node]) -> Iterator[ValidationError]:
    waiting = [iter(nodes)]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
        elif node.type == "error":
            message = clean_message(f"{node.kind}: {node.message}")
            yield ValidationError(node.source_line, node.source_column, message)
        else:
            waiting.extend(iter(inner) for inner in _within(node))


def _within(node: Node) -> Iterator[list[Node]]:
    """What a node holds, the last list first."""
    match node.type:
        case "qualified-rule":
            yield tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            yield node.prelude
        case "at-rule":
            if node.content is not None:
                holds_rules = node.lower_at_keyword in _HOLDS_RULES or node.lower_at_keyword.endswith("keyframes")
                parse = tinycss2.parse_rule_list if holds_rules else tinycss2.parse_blocks_contents
                yield parse(node.content, skip_comments=True, skip_whitespace=True)
            yield node.prelude
        case "declaration":
            yield node.value
        case "function":
            yield node.arguments
        case "() block" | "[] block" | "{} block":
            yield node.content
