"""Writes a configuration into a folder and reads it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui_crawler.config.load import load_config
from tui_crawler.config.problem import ConfigErrors, ConfigProblem
from tui_crawler.config.schema import Config

SEEDS = "seeds: [http://127.0.0.1:8000/]\nuser_agent: test-crawler\n"


def load_text(folder: Path, text: str, **options: object) -> Config:
    """The configuration of `text`, written as crawl.yaml into `folder`."""
    path = folder / "crawl.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(path, **options)  # type: ignore[arg-type]  # tests pass what load_config takes


def problems_of(folder: Path, text: str, **options: object) -> tuple[ConfigProblem, ...]:
    """The problems of a configuration that is refused, the file without its folder."""
    with pytest.raises(ConfigErrors) as caught:
        load_text(folder, text, **options)
    return caught.value.problems


def problem_of(folder: Path, text: str, **options: object) -> ConfigProblem:
    """The only problem of a configuration."""
    problems = problems_of(folder, text, **options)
    assert len(problems) == 1, problems
    return problems[0]
