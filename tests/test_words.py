"""Words that other software does not use (the table of words for contributors): how many strings have them."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.source import PACKAGE, ROOT, nodes_of

WORDS = re.compile(
    r"""\b(?:
    answer(?:s|ed)? | stands? | stood | tells? | told | anew | thereof | of\ wh(?:ich|om) | so\ many | beside
    | (?:takes?|taken) (?:\ \w+)? \ (?:off|out|away) | puts? (?:\ \w+)? \ back | (?:go|goes|went|going|gone) \ on
    | holds? (?:\ (?:for|no|with|at)) | is \ whole | as \ a \ whole | the \ like | as \ it \ (?:is|was)
    | nobody | somebody | nothing \ (?:fits|holds|moves|has|is) | (?:is|are) \ wanted | ask(?:s|ed) \ for
    | brings | carr(?:y|ies|ied) (?:\ \w+)? \ out | meanwhile | by \ then | now \ and \ then | wish(?:es)?
    | gave \ up | given \ up | br(?:oke|oken) \ off | impatient | mended | fired | watch(?:es|ing) \ only
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""The left column of the table of words, as far as a pattern can know them."""
PAGES = [
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "decisions"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "sample_config.yaml")),
]
"""What a person reads; decisions are records of their time."""
_MOST: Mapping[str, int] = {"console": 0, "text": 0, "domain": 0, "cli": 0, "config": 0, "wiring": 0}
"""Strings with such words, by folder of the package; the numbers may only fall."""


def strings(folder: str) -> Iterator[str]:
    """Return the texts of more than one word, but docstrings, and those of the help of panes."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        nodes = nodes_of(path)
        docs = {id(one.value) for one in nodes if isinstance(one, ast.Expr)}
        for one in nodes:
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in docs:
                yield from [f"{path.name}:{one.lineno}: {one.value}"] * (" " in one.value.strip())
    for path in sorted((PACKAGE / folder).rglob("help.toml")):
        yield from (f"{path.parent.name}/help.toml: {text}" for text in leaves(tomllib.loads(path.read_text("utf-8"))))


def leaves(table: Mapping[str, Any]) -> Iterator[str]:
    """Return the texts of a table and of those in it."""
    for value in table.values():
        yield from leaves(value) if isinstance(value, Mapping) else [str(value)]


@pytest.mark.parametrize("folder", _MOST)
def test_the_words_of_screens_and_help_are_those_of_the_field(folder: str) -> None:
    found = [text for text in strings(folder) if WORDS.search(text)]
    assert len(found) <= _MOST[folder], "\n".join(found)
    assert len(found) == _MOST[folder], f"fewer: {folder} has {len(found)} now"


_OLD_PAGES: Mapping[str, int] = {
    "designs.md": 41,
    "performance.md": 58,
    "glossary.md": 24,
    "views.md": 2,
    "exit-codes.md": 2,
    "diff.md": 1,
}
"""Words in pages that were not rewritten yet; the numbers may only fall."""


@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.name)
def test_documents_use_the_words_of_the_field(page: Path) -> None:
    found = [one.group(0) for one in WORDS.finditer(page.read_text(encoding="utf-8"))]
    assert len(found) == _OLD_PAGES.get(page.name, 0), found


def test_a_word_of_the_list_is_found_and_another_is_not() -> None:
    assert WORDS.search("what the server answered")
    assert WORDS.search("takes it off the list")
    assert not WORDS.search("the response of the server; a query that returns rows; continue the run")
