"""The section `keymap`: where each key was written, and presets, which are no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.written import SEEDS, load_text, problem_of
from tui_crawler.config.document import json_schema


def test_keys_are_kept_with_their_places(tmp_path: Path) -> None:
    config = load_text(tmp_path, SEEDS + "keymap:\n  view.freeze: F\n  origin.stop: ctrl+x\n")
    assert config.keymap == (("view.freeze", "F"), ("origin.stop", "ctrl+x"))
    assert config.source_of("keymap.origin.stop").endswith("crawl.yaml:5")


@pytest.mark.parametrize("written", ["vim", "default", "nano", "[vim]"])
def test_a_preset_is_an_error_that_says_what_to_write_instead(tmp_path: Path, written: str) -> None:
    problem = problem_of(tmp_path, f"{SEEDS}keymap: {{origin.stop: x, preset: {written}}}\n")
    assert problem.key == "keymap.preset"
    assert "journal.undo: u" in problem.suggestion


def test_the_schema_takes_texts_by_action() -> None:
    keymap = json_schema()["properties"]["keymap"]
    assert keymap["additionalProperties"]["type"] == "string"
