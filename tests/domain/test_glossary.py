"""The glossary points at files that exist, and has what the code has."""

from __future__ import annotations

import re
from pathlib import Path

import tui_crawler
from tui_crawler.console.action import Situation, Where
from tui_crawler.console.dialogs.help import help_entries
from tui_crawler.console.keymap import KeyMap
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.records.status_words import FinishReason, RunReason

PACKAGE = Path(tui_crawler.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \| `(.+?)` \|$", PAGE, re.MULTILINE)


def test_every_term_lives_somewhere_and_stands_once_in_one_line():
    assert len(TERMS) == len([line for line in PAGE.splitlines() if line.startswith("| **")])
    assert len({word for word, _, _ in TERMS}) == len(TERMS)
    assert [word for word, _, place in TERMS if not (PACKAGE / place).exists()] == []


def test_every_way_to_end_and_every_status_of_a_page_is_told():
    for names in (FinishReason, RunReason, [status.name for status in PageStatus]):
        assert ", ".join(f"`{name}`" for name in names) in PAGE


def test_figures_that_are_easily_mistaken_for_each_other_are_told_apart():
    assert {"todo list", "todo", "pending", "turn", "attempt", "request", "problem"} <= {word for word, _, _ in TERMS}


def test_the_help_sheet_tells_them_apart_too():
    told = {entry.key for entry in help_entries(Situation(Where.overview), KeyMap())}
    assert {f"sign  {word}" for word in ("todo", "pending", "turn", "problem")} <= told
