"""docs/designs.md: every row names a design, a test that exists, and how a user sees the behaviour."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tui_crawler.cli.main import parse
from tui_crawler.storage.db.views import VIEWS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "designs.md").read_text(encoding="utf-8")
HEAD = "| behaviour | source | test that proves it | how a user sees it |"
DESIGNS = {"U", "M", "R", "G", "B"}


def rows() -> list[list[str]]:
    """The cells of all tables."""
    lines = [line for line in TEXT.splitlines() if line.startswith("| ") and line != HEAD]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def functions_of(path: str) -> set[str]:
    """The names of the test functions in a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {node.name for node in found if node.name.startswith("test_")}


def named(cell: str) -> list[tuple[str, str]]:
    """Path and name of the tests in a cell; a name alone is of the path before it."""
    found: list[tuple[str, str]] = []
    for path, name in re.findall(r"`(?:([\w/]+\.py))?::(\w+)`", cell):
        folder = "" if path.startswith("tests/") else "tests/designs/"
        found.append((f"{folder}{path}" if path else found[-1][0], name))
    return found


def test_there_is_a_row_for_each_behaviour() -> None:
    assert len(rows()) >= 100
    assert TEXT.count(HEAD) == len(re.findall(r"^## ", TEXT, re.MULTILINE)) == 6
    behaviours = [row[0] for row in rows()]
    assert len(set(behaviours)) == len(behaviours)


def test_every_row_is_whole() -> None:
    for row in rows():
        assert len(row) == 4, row
        assert all(row), row
        assert set(re.findall(r"\b[UMRGB]\b", row[1])) & DESIGNS or row[1] == "behaviour.md", row


def test_every_test_that_is_named_exists() -> None:
    known: dict[str, set[str]] = {}
    for row in rows():
        tests = named(row[2])
        assert tests, row
        for path, name in tests:
            if path not in known:
                known[path] = functions_of(path)
            assert name in known[path], f"{path}::{name}"


def test_every_test_of_this_package_proves_something_that_is_written() -> None:
    told = {test for row in rows() for test in named(row[2])}
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        if path == Path(__file__):
            continue
        inside = path.relative_to(ROOT).as_posix()
        missing = {name for name in functions_of(inside) if (inside, name) not in told}
        assert not missing, f"{inside}: {', '.join(sorted(missing))}"


def test_the_views_and_commands_that_show_it_exist(capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(row[3] for row in rows())
    assert set(re.findall(r"`((?:v|crawler)_\w+)", shown)) <= set(VIEWS)
    first = set(re.findall(r"`([a-z]+)(?: [^`]*)?`", shown))
    known = {"run", "check", "status", "why", "failures", "retry", "pause", "links", "rules", "audit", "export"}
    known |= {"jobs", "pages", "queue", "exclude", "log", "completion", "add", "db"}
    assert known <= first
    with pytest.raises(SystemExit):
        parse(["--help"])
    listed = set(re.findall(r"^ +([a-z]+)  ", capsys.readouterr().out, re.MULTILINE))
    assert known <= listed
