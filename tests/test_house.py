"""The house: layers, sizes, words that may not occur. Import layers themselves are checked by import-linter."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tui_crawler"
MODULES = sorted(PACKAGE.rglob("*.py"))
PURE_FORBIDDEN = {"asyncio", "time", "logging", "sqlite3", "httpx", "os", "random", "threading", "socket", "peewee"}
FORBIDDEN_NAMES = {"utils", "helpers", "common", "manager", "misc"}
MAX_LINES = 600


def imports_of(path: Path) -> set[str]:
    """The top-level names a module imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def test_there_is_something_to_check():
    assert len(MODULES) > 30


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_one_subject_with_a_docstring(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    assert path.stem not in FORBIDDEN_NAMES
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "a module says what it is for"


@pytest.mark.parametrize("path", sorted((PACKAGE / "domain").rglob("*.py")), ids=lambda path: path.stem)
def test_the_domain_is_pure(path):
    assert not imports_of(path) & PURE_FORBIDDEN


def test_httpx_and_peewee_stay_in_their_rooms():
    with_httpx = [path for path in MODULES if "httpx" in imports_of(path)]
    assert [path.relative_to(PACKAGE).as_posix() for path in with_httpx] == ["fetch/httpx_wire.py"]
    with_peewee = {path.relative_to(PACKAGE).parts[0] for path in MODULES if {"peewee", "playhouse"} & imports_of(path)}
    assert with_peewee <= {"storage"}


def test_console_opens_no_database_and_no_socket():
    for path in sorted((PACKAGE / "console").rglob("*.py")):
        assert not imports_of(path) & {"sqlite3", "peewee", "httpx", "socket"}, path


def test_what_is_imported_is_declared_and_what_is_declared_is_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    written = [*project["dependencies"], *project["optional-dependencies"]["parquet"]]
    declared = {re.split(r"[<>=\[]", one)[0].replace("_", "-").lower() for one in written}
    provided = packages_distributions()
    modules = set().union(*(imports_of(path) for path in MODULES)) - {*sys.stdlib_module_names, "tui_crawler"}
    assert {provided[one][0].replace("_", "-").lower() for one in modules} == declared


def test_only_the_export_to_parquet_needs_what_its_extra_installs():
    assert [path.name for path in MODULES if "pyarrow" in imports_of(path)] == ["parquet.py"]
