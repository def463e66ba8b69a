"""A configuration from its text: as a run keeps it in the database, or as the demo makes it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tui_crawler.config.load import load_config
from tui_crawler.config.schema import Config


def config_of_text(text: str, name: str) -> Config:
    """The configuration that `text` (YAML) says, as if it stood in NAME.yaml. Raises ConfigErrors."""
    with tempfile.TemporaryDirectory(prefix="tui-crawler-") as folder:
        path = Path(folder) / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path)
