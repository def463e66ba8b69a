"""What this version does not carry out is refused, never silently passed over."""

from __future__ import annotations

from pathlib import Path

from tests.config.written import SEEDS, load_text
from tui_crawler.config.load import load_config
from tui_crawler.config.not_yet import blocking


def test_what_would_change_the_crawl_is_refused(tmp_path: Path) -> None:
    (reason,) = blocking(load_text(tmp_path, SEEDS + "database: postgresql://db.test/crawl\n"))
    assert reason.startswith("database:")


def test_the_sample_asks_for_nothing_too_early() -> None:
    assert blocking(load_config(Path(__file__).parents[2] / "sample_config.yaml")) == ()
