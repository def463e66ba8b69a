"""`links`: who links to a URL and what it links to, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Said
from tests.storage.making import T0, A, B, crawled, fill_of, link, plan
from tui_crawler.cli import links_command
from tui_crawler.domain.attempt import FoundLink, LinkKind
from tui_crawler.storage.store import SqliteStore

Say = Callable[..., Said]
HOME = f"{A}/"
EVIL = "\x1b]52;c;x\x07[/]\u202e"


@pytest.fixture(autouse=True)
def crawl(here: Path) -> None:
    """A home page that links to three pages of its own site and, as an image too, to another site."""
    found = (
        *(link(f"{A}/{number}", text=f"page {number}") for number in range(3)),
        link(f"{B}/far", text=EVIL, nofollow=True),
        FoundLink(LinkKind.img, link(f"{B}/far").url),
    )

    async def run() -> None:
        store = SqliteStore(here / "crawl.db")
        await store.begin_run(plan(HOME))
        (home,) = (await store.candidates(A, T0, 10, True)).pages
        await store.fill(fill_of((home,)))
        made = crawled(home, T0 + 10, *(f"{A}/{number}" for number in range(3)))
        await store.settle(replace(made, links=found))
        (page, *_) = (await store.candidates(A, T0 + 20, 10, False)).pages
        await store.settle(replace(crawled(page, T0 + 30), links=(link(HOME, text="home"),)))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(run())


def test_as_json(say: Say) -> None:
    document = say("links", "https://A.example", "--json").document
    assert list(document) == ["url", "inlinks", "outlinks"]
    assert document["url"] == "https://A.example"
    assert document["inlinks"] == [
        {
            "from_url": f"{A}/0",
            "to_url": HOME,
            "kind": "a",
            "nofollow": False,
            "text": "home",
            "first_seen_at": T0 + 30,
        }
    ]
    assert sorted((one["kind"], one["to_url"]) for one in document["outlinks"]) == [
        *(("a", f"{A}/{number}") for number in range(3)),
        ("a", f"{B}/far"),
        ("img", f"{B}/far"),
    ]
    assert [one["to_url"] for one in document["outlinks"] if one["nofollow"]] == [f"{B}/far"]


def test_a_url_that_is_no_page_has_inlinks(say: Say) -> None:
    document = say("links", f"{B}/far", "--json").document
    assert [one["kind"] for one in document["inlinks"]] == ["a", "img"]
    assert document["outlinks"] == []


def test_for_people(say: Say) -> None:
    lines = say("links", HOME).out.splitlines()
    assert lines[0] == "1 link to it"
    assert lines[1].split() == ["KIND", "FIRST", "SEEN", "FROM", "TEXT"]
    assert lines[2].split()[0] == "a"
    assert lines[2].endswith(f"{A}/0  home")
    assert lines[4] == "5 links from it"
    assert any(line.startswith("a nofollow") and f"{B}/far" in line for line in lines)


def test_a_limit_says_how_much_is_left_out(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = say("links", HOME, "--limit", "2")
    assert "… and 3 more (--limit)" in limited.out.splitlines()
    assert len(say("links", HOME, "--limit", "2", "--json").document["outlinks"]) == 2
    monkeypatch.setattr(links_command, "SHOWN", 4)
    assert "… and 1 more (--limit)" in say("links", HOME).out.splitlines()
    assert say("links", HOME, "--limit", "0").status == 2


@pytest.mark.parametrize("url", [f"{A}/nowhere", "no url at all", ""])
def test_what_nobody_knows(url: str, say: Say) -> None:
    assert say("links", url, "--json").document == {"url": url, "inlinks": [], "outlinks": []}
    assert say("links", url).out == "0 links to it\n\n0 links from it\n"


def test_hostile_texts_are_made_safe(say: Say) -> None:
    for words in (("links", f"{B}/far"), ("links", f"{B}/far", "--json"), ("links", EVIL)):
        assert all(char.isprintable() or char == "\n" for char in say(*words).out)
