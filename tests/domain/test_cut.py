"""What reading leaves out is named by the table, with the keys that raise its bounds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tui_crawler.domain.crawl.cut import CUTS, cut_names, cut_words

DOCS = Path(__file__).parents[2] / "docs"
FETCH = Path(__file__).parents[2] / "tui_crawler" / "fetch"


@pytest.mark.parametrize("name", CUTS)
def test_every_key_that_is_named_exists_and_says_the_name(name: str) -> None:
    documented = (DOCS / "configuration.md").read_text(encoding="utf-8")
    for key in CUTS[name][1]:
        section, _, field = key.partition(".")
        chapter = documented.partition(f"## `{section}`\n")[2].partition("\n## ")[0]
        (row,) = (line for line in chapter.splitlines() if line.startswith(f"| `{field}` |"))
        assert f"(cut: {name})" in row


def test_fetching_cuts_nothing_without_a_name_in_the_table() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FETCH.glob("*.py"))
    made = re.findall(
        r'(?:_note\(\(|cut\.append\(|cut = \(|cut\[|incomplete\.append\(|incomplete, |incomplete=\()"(\w+)"', text
    )
    assert len(set(made)) > 8
    assert set(made) <= CUTS.keys()


def test_in_words() -> None:
    assert cut_names("") == ()
    assert cut_words(()) == ""
    assert cut_words(cut_names("links,depth,newer")) == (
        "links over the bound (links: raise reading.max_links), what is nested more than 2,046 deep, newer"
    )
