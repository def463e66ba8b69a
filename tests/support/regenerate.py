"""Writes the generated documents anew: `python -m tests.support.regenerate`."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands_page import commands_markdown
from tests.support.exit_codes_page import exit_codes_markdown
from tests.support.keys_page import keys_markdown
from tests.support.views_page import views_markdown
from tui_crawler.config.document import configuration_markdown

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Writes each page whose text has changed."""
    pages = {
        "commands.md": commands_markdown(),
        "configuration.md": configuration_markdown(),
        "exit-codes.md": exit_codes_markdown(),
        "keys.md": keys_markdown(),
        "views.md": views_markdown(),
    }
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
