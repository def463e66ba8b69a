"""The section `keymap`: presets, and where each key was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui_crawler.config.document import json_schema
from tui_crawler.config.load import load_config
from tui_crawler.config.problem import ConfigErrors
from tui_crawler.config.schema import Config

SEEDS = "seeds: [https://example.org/]\n"


def load(folder: Path, text: str) -> Config:
    path = folder / "crawl.yaml"
    path.write_text(SEEDS + text)
    return load_config(path)


def test_a_preset_and_keys_are_kept_with_their_places(tmp_path: Path) -> None:
    config = load(tmp_path, "keymap:\n  preset: vim\n  origin.stop: ctrl+x\n")
    assert config.keymap == (("preset", "vim"), ("origin.stop", "ctrl+x"))
    assert config.source_of("keymap.preset").endswith("crawl.yaml:3")
    assert config.source_of("keymap.origin.stop").endswith("crawl.yaml:4")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nano", "expected one of default, vim, emacs"),
        ("vi", "did you mean vim?"),
        ("[vim]", "found a list"),
        ("1", "found the number 1"),
    ],
)
def test_a_preset_that_does_not_exist_is_an_error(tmp_path: Path, written: str, message: str) -> None:
    with pytest.raises(ConfigErrors) as caught:
        load(tmp_path, f"keymap: {{preset: {written}}}\n")
    (problem,) = caught.value.problems
    assert problem.key == "keymap.preset"
    assert message in str(problem)


def test_the_schema_names_the_presets() -> None:
    keymap = json_schema()["properties"]["keymap"]
    assert keymap["properties"] == {"preset": {"enum": ["default", "vim", "emacs"]}}
    assert keymap["additionalProperties"]["type"] == "string"
