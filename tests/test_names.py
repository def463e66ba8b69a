"""Classes and modules are called by the words of docs/glossary.md."""

from __future__ import annotations

import ast
import re

from tests.support.source import MODULES, PACKAGE, ROOT, nodes_of

GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
BANNED = frozenset(re.findall(r"[a-z]+", GLOSSARY.split("says what it is.")[1].split("##")[0]))


def words_of(name: str) -> set[str]:
    """The words of a name, in lower case: `RuleBench` and `rule_bench` have the same."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def singular(word: str) -> str:
    """A word without the ending of more than one."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def glossary() -> set[str]:
    """The words that the glossary has, in the singular: those that name things, and the others."""
    things = re.findall(r"^\| \*\*(.+?)\*\*", GLOSSARY, re.MULTILINE)
    others = GLOSSARY.split("## Other words in names")[1].split("##")[0].split("\n\n")[-2]
    return {singular(word) for text in (*things, others) for word in words_of(text)}


def names() -> list[tuple[str, str]]:
    """Every module and class with where it is."""
    found: list[tuple[str, str]] = []
    for path in MODULES:
        place = path.relative_to(PACKAGE).as_posix()
        if "migrations" not in path.parts:  # which are called by what they were made for
            found.append((path.stem, place))
        found += [(node.name, place) for node in nodes_of(path) if isinstance(node, ast.ClassDef)]
    return found


def test_the_glossary_says_which_words_name_nothing() -> None:
    assert {"room", "desk", "roster", "helpers"} <= BANNED
    assert len(BANNED) < 60


def test_no_class_and_no_module_has_a_private_word() -> None:
    assert {name: place for name, place in names() if words_of(name) & BANNED} == {}


def test_every_word_of_a_class_and_a_module_stands_in_the_glossary() -> None:
    known = glossary()
    assert {name: place for name, place in names() if not {singular(word) for word in words_of(name)} <= known} == {}


def test_the_glossary_has_no_word_that_no_name_has() -> None:
    used = {singular(word) for name, _ in names() for word in words_of(name)}
    others = GLOSSARY.split("## Other words in names")[1].split("##")[0].split("\n\n")[-2]
    assert words_of(others) - used == set()
