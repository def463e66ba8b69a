"""The glossary is made from the code, and points at files that exist."""

from __future__ import annotations

from pathlib import Path

import tui_crawler
from tui_crawler.console.action import Situation, Where
from tui_crawler.console.screens.help import help_entries
from tui_crawler.domain.glossary import TERMS, glossary_markdown

PACKAGE = Path(tui_crawler.__file__).parent


def test_the_page_of_the_documentation_is_the_glossary():
    page = PACKAGE.parent / "docs" / "glossary.md"
    assert page.read_text(encoding="utf-8") == glossary_markdown()


def test_every_term_lives_somewhere():
    missing = [term.word for term in TERMS if not (PACKAGE / term.lives_in).exists()]
    assert missing == []


def test_figures_that_are_easily_mistaken_for_each_other_are_told_apart():
    words = {term.word for term in TERMS}
    assert {"todo list", "todo", "pending", "turn", "attempt", "request", "problem"} <= words


def test_the_help_sheet_tells_them_apart_too():
    told = {entry.key for entry in help_entries(Situation(Where.overview), None)}
    assert {"word todo", "word pending", "word turn", "word problem"} <= told
