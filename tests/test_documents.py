"""The documents that are made from the code are equal to it, and the README's words are true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.support.keys_page import keys_markdown
from tests.support.views_page import views_markdown
from tui_crawler.cli.main import parse
from tui_crawler.config.document import configuration_markdown

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "made"),
    [("configuration.md", configuration_markdown), ("keys.md", keys_markdown), ("views.md", views_markdown)],
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
    assert "All keys are in `docs/configuration.md`." in shown
    named = re.findall(r"`(docs/[^`]*|CONTRIBUTING.md)`", shown)
    kept = project["build"]["targets"]["sdist"]["include"]
    assert len(named) >= 7
    assert all((ROOT / name).exists() and name.split("/")[0] in kept for name in named)


def test_every_command_of_the_readme_exists():
    commands = set(re.findall(r"`tui-crawler ([a-z-]+)", README))
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


def test_keys_of_the_readme_are_keys_of_the_console():
    page = keys_markdown()
    table = README.split("## Keys")[1].split("Every key")[0]
    for key in re.findall(r"`([^`]+)`", table):
        assert f"`{key}`" in page, key
