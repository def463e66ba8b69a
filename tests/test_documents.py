"""The documents that are made from the code are equal to it, and the README's words are true."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.commands_page import commands_markdown
from tests.support.keys_page import keys_markdown
from tests.support.source import ROOT, nodes_of
from tests.support.views_page import views_markdown
from tui_crawler.cli.main import parse
from tui_crawler.config.document import configuration_markdown

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("commands.md", commands_markdown),
        ("configuration.md", configuration_markdown),
        ("keys.md", keys_markdown),
        ("views.md", views_markdown),
    ],
)
def test_a_generated_page_is_what_the_code_says(name, made):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == made()


def test_every_link_and_picture_of_the_documents_exists():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_what_a_package_index_shows_has_no_link_that_leads_nowhere():
    """The substitutions that the build makes: no file stands beside the page there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    shown = README
    for one in project["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(one["pattern"], one["replacement"], shown)
    assert re.findall(r"\]\((?!https?://|#)", shown) == []
    assert "all keys are in\n`docs/configuration.md`." in shown
    named = re.findall(r"`(docs/[^`]*|CONTRIBUTING.md)`", shown)
    kept = project["build"]["targets"]["sdist"]["include"]
    assert len(named) >= 7
    assert all((ROOT / name).exists() and name.split("/")[0] in kept for name in named)


def test_every_command_of_the_readme_exists():
    commands = set(re.findall(r"[`$] ?tui-crawler ([a-z][a-z-]+)(?![\w.-])", README))
    assert len(commands) > 8
    for command in commands:
        with pytest.raises(SystemExit) as left:
            parse([command, "--help"])
        assert left.value.code == 0


def test_the_two_commands_of_the_readme_stand_in_it():
    lines = [line[2:] for line in README.splitlines() if line.startswith("$ python3 -m venv")]
    assert len(lines) == 2
    assert lines[0].endswith("tui-crawler demo")
    assert "pytest" in lines[1]


PROJECT = [path for part in ("tui_crawler", "tests", "benchmarks") for path in sorted((ROOT / part).rglob("*.py"))]
"""All modules of the project."""
FOREIGN = {
    "DEFERRABLE", "PYTHON", "cp", "_ARC_DEBUG", "json_each", "pg_dump", "pg_hba", "conf", "wget",
    "synchronous_standby_names",
    "httpx", "Client", "is_readable", "ssl_object", "tui_crawler_response_seconds",
}  # fmt: skip
"""Names in documents that are those of other programs, or that code puts together."""


def _docstrings(nodes: Iterable[ast.AST]) -> dict[int, str]:
    """The texts that are statements of their own, by the identity of their node."""
    statements = (node.value for node in nodes if isinstance(node, ast.Expr))
    return {id(one): one.value for one in statements if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def _names_in(path: Path) -> tuple[set[str], list[str]]:
    """The names that the code of a module uses or has in its texts, and its docstrings."""
    docstrings = _docstrings(nodes_of(path))
    names = {path.stem, *path.relative_to(ROOT).parts}
    for node in nodes_of(path):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                names |= set(re.findall(r"\w+", text))
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names |= {*name.split("."), other or ""}
    return names, list(docstrings.values())


def test_what_documents_and_docstrings_name_in_backticks_exists():
    known = {*dir(builtins), *sys.stdlib_module_names, *keyword.kwlist, *FOREIGN}
    texts: dict[str, list[str]] = {}
    for path in PROJECT:
        names, docstrings = _names_in(path)
        known |= names
        if path.is_relative_to(ROOT / "tui_crawler"):
            texts[path.name] = docstrings
    for path in (ROOT / "pyproject.toml", ROOT / "sample_config.yaml", *(ROOT / "tui_crawler").rglob("*.t*")):
        known |= set(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")))
    pages = (path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions")  # those name Textual's
    for path in (*pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        texts[path.name] = [path.read_text(encoding="utf-8")]
    missing: list[str] = []
    for page, parts in texts.items():
        for quoted in re.findall(r"(?<!`)`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?`(?!`)", "\n".join(parts)):
            file = re.fullmatch(r"(.+)\.(?:py|md|yaml|toml)", quoted)
            words = (file[1] if file else quoted).split(".")
            missing += [f"{page}: `{quoted}`" for word in words if word not in known and not word.startswith("NNNN")]
    assert missing == []


def test_a_file_that_a_document_or_a_docstring_names_is_in_the_project():
    pages = [*PROJECT, *(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"\b((?:docs|tests|benchmarks|tui_crawler)/[\w/.-]+\.(?:md|py))\b", text):
            assert (ROOT / name).exists(), f"{page.relative_to(ROOT)}: {name}"
        assert not re.findall(
            r"\b(?:CRAWL|CONSOLE|INTERFACE|RELIABILITY|HOUSE|ARCHITECTURE)\.md", text
        ) or page == Path(__file__)
