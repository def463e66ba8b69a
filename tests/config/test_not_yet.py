"""What this version does not carry out is refused or told, never silently passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.written import SEEDS, load_text
from tui_crawler.config.load import load_config
from tui_crawler.config.not_yet import blocking, without_effect


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("jobs: [{name: news, seeds: [http://127.0.0.1:8000/news]}]\n", "jobs"),
        ("crawl: {mode: offline}\n", "crawl.mode"),
        ("database: postgresql://db.test/crawl\n", "database"),
    ],
)
def test_what_would_change_the_crawl_is_refused(tmp_path: Path, text: str, key: str) -> None:
    (reason,) = blocking(load_text(tmp_path, SEEDS + text))
    assert reason.startswith(f"{key}:")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("data_rules: [{host: a.test, name: x, type: text, css: p}]\n", "data_rules"),
        ("crawl: {sitemaps: true}\n", "crawl.sitemaps"),
        ("seen_index: {kind: memory}\n", "seen_index"),
        ("queue: {min_origins: 3}\n", "queue"),
        ("worker: {tags: [fast]}\n", "worker.tags and worker.matchonly"),
    ],
)
def test_what_has_no_effect_is_named(tmp_path: Path, text: str, key: str) -> None:
    config = load_text(tmp_path, SEEDS + text)
    assert without_effect(config) == (key,)
    assert blocking(config) == ()


def test_the_sample_asks_only_for_sitemaps_too_early() -> None:
    config = load_config(Path(__file__).parents[2] / "sample_config.yaml")
    assert blocking(config) == ()
    assert without_effect(config) == ("crawl.sitemaps",)
