"""The glossary is made from the code, and points at files that exist."""

from __future__ import annotations

from pathlib import Path

import tui_crawler
from tui_crawler.domain.glossary import TERMS, glossary_markdown

PACKAGE = Path(tui_crawler.__file__).parent


def test_the_page_of_the_documentation_is_the_glossary():
    page = PACKAGE.parent / "docs" / "glossary.md"
    assert page.read_text(encoding="utf-8") == glossary_markdown()


def test_every_term_lives_somewhere():
    missing = [term.word for term in TERMS if not (PACKAGE / term.lives_in).exists()]
    assert missing == []
