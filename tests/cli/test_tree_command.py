"""`tree`: the branches of a site on a real database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.cli.crawls import store_crawl
from tests.storage.making import A, B
from tui_crawler.cli import tree_command

EVIL = "\x1b]52;c;x\x07"


@pytest.fixture(autouse=True)
def crawl(here: Path) -> None:
    paths = ("", "about", "a/1", "a/2", "a/b/3", "find?q=/x", "z%2Fz/4")
    store_crawl(here / "crawl.db", *(f"{A}/{path}" for path in paths), f"{B}/")


def test_as_json(say: Say) -> None:
    document = say("tree", A, "--json").document
    assert list(document) == [
        *("origin", "prefix", "known", "done", "failed", "blocked", "refused", "bytes", "mean_ms", "growth", "trap"),
        *("own_pages", "branches"),
    ]
    assert (document["origin"], document["prefix"], document["known"]) == (A, f"{A}/", 8)
    assert [(one["prefix"], one["known"]) for one in document["branches"]] == [
        (f"{A}/a/", 3),
        (f"{A}/find?", 1),
        (f"{A}/z%2Fz/", 1),
    ]
    assert document["own_pages"]["known"] + sum(one["known"] for one in document["branches"]) == document["known"]
    assert document["trap"] is None
    assert "branches" not in document["branches"][0]


def test_deeper(say: Say) -> None:
    document = say("tree", A, "--depth", "2", "--json").document
    below = next(one for one in document["branches"] if one["prefix"] == f"{A}/a/")
    assert [(one["prefix"], one["known"]) for one in below["branches"]] == [(f"{A}/a/b/", 1)]
    assert below["own_pages"]["known"] == 2


@pytest.mark.parametrize("prefix", ["/a/", "a", "/a", f"{A}/a/"])
def test_a_prefix_may_be_written_in_many_ways(prefix: str, say: Say) -> None:
    assert say("tree", "a.example", prefix, "--json").document["prefix"] == f"{A}/a/"


def test_a_path_with_queries(say: Say) -> None:
    document = say("tree", A, "/find?", "--json").document
    assert (document["prefix"], document["known"], document["branches"]) == (f"{A}/find?", 1, [])


def test_for_people(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = say("tree", A, "--depth", "2").out.splitlines()
    assert lines[0].split() == ["PREFIX", "KNOWN", "DONE", "FAILED", "BLOCKED", "REFUSED", "SIZE", "MEAN", "+/MIN"]
    assert lines[1].split()[:2] == [f"{A}/", "8"]
    assert [line.split()[0] for line in lines[2:5]] == ["a/", "b/", "pages"]
    monkeypatch.setattr(tree_command, "SHOWN", 1)
    assert "  … 2 more" in say("tree", A).out
    assert say("tree", A, "--limit", "1", "--json").document["left_out"]["branches"] == 2


def test_what_is_not_there_is_refused(say: Say) -> None:
    for words, why in (
        ((A, "/nowhere/"), "no known URL begins with https://a.example/nowhere/"),
        ((A, "/a?b=c"), "is no prefix of"),
        (("https://nobody.example",), "no origin"),
        ((A, "--depth", "0"), "not a whole number"),
    ):
        say("tree", *words).refused(why)


def test_hostile_texts_are_made_safe(say: Say) -> None:
    for words in ((A, EVIL), (EVIL,), (A, f"/a?{EVIL}")):
        assert say("tree", *words).status == 2
