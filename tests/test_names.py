"""Classes and modules are called by the words of docs/glossary.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tui_crawler"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
BANNED = frozenset(re.findall(r"[a-z]+", GLOSSARY.split("says what it is.")[1].split("##")[0]))


def words_of(name: str) -> set[str]:
    """The words of a name, in lower case: `RuleBench` and `rule_bench` have the same."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def names() -> list[tuple[str, str]]:
    """Every module and class with where it is."""
    found: list[tuple[str, str]] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        found.append((path.stem, place))
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found += [(node.name, place) for node in nodes if isinstance(node, ast.ClassDef)]
    return found


def test_the_glossary_says_which_words_name_nothing() -> None:
    assert {"room", "desk", "roster", "helpers"} <= BANNED
    assert len(BANNED) < 60


def test_no_class_and_no_module_has_a_private_word() -> None:
    assert {name: place for name, place in names() if words_of(name) & BANNED} == {}
