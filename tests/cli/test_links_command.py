"""`links`: who links to a URL and what it links to, on a real database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Say
from tests.storage.making import T0, A, B, crawled, failed, fill_of, link, new_page, plan
from tui_crawler.cli import links_command
from tui_crawler.domain.records.attempt import FoundLink, RedirectRecord, RedirectSource
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.storage.store import SqliteStore

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
            "frame": False,
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
    assert "… and 3 more (--limit)" in say("links", HOME, "--limit", "2").out.splitlines()
    assert len(say("links", HOME, "--limit", "2", "--json").document["outlinks"]) == 2
    monkeypatch.setattr(links_command, "SHOWN", 4)
    assert "… and 1 more (--limit)" in say("links", HOME).out.splitlines()
    assert say("links", HOME, "--limit", "0").status == 2


def test_what_nobody_knows(say: Say) -> None:
    url = f"{A}/nowhere"
    assert say("links", url, "--json").document == {"url": url, "inlinks": [], "outlinks": []}
    assert say("links", url).out == "0 links to it\n\n0 links from it\n"


@pytest.mark.parametrize("url", ["http://a b/", "no url at all", ""])
def test_what_is_no_url_is_refused(url: str, say: Say) -> None:
    say("links", url, "--json").refused("is not")


def test_hostile_texts_are_made_safe(say: Say) -> None:
    for words in ((f"{B}/far",), (f"{B}/far", "--json"), (EVIL,)):
        say("links", *words)


@pytest.fixture
def broken(here: Path) -> None:
    """The site of `crawl`, of which page 1 and, after a redirect of page 2, /moved cannot be had."""

    async def run() -> None:
        store = SqliteStore(here / "crawl.db")
        await store.begin_run(plan(HOME, f"{A}/alone", new_run=True))
        alone, one, two = (await store.candidates(A, T0 + 40, 10, True)).pages
        await store.settle(failed(alone, T0 + 40, ExitCode.file_gone, 410))
        await store.settle(failed(one, T0 + 40, ExitCode.file_not_found, 404))
        sent = RedirectRecord(f"{A}/moved", "", True, RedirectSource.location)
        there = new_page(f"{A}/moved", 1, redirect_hops=1)
        redirect = crawled(two, T0 + 50, code=ExitCode.permanent_redirect, redirect=sent, document=None)
        await store.settle(replace(redirect, new_pages=(there,)))
        (moved,) = (await store.candidates(A, T0 + 60, 10, False)).pages
        await store.settle(failed(moved, T0 + 60, ExitCode.connection_failed))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(run())


@pytest.mark.usefixtures("broken")
def test_broken_links_with_who_names_them(say: Say) -> None:
    named_by = {"url": HOME, "kind": "a", "text": "page 1", "chain": []}
    document = say("links", "--broken", "--json").document
    assert document["broken"] == [
        {
            "url": f"{A}/1",
            "exit_code": "file_not_found",
            "http_status": 404,
            "fragment": None,
            "external": False,
            "leads_to": [],
            "referrers": [named_by],
        },
        {
            "url": f"{A}/moved",
            "exit_code": "connection_failed",
            "http_status": None,
            "fragment": None,
            "external": False,
            "leads_to": [],
            "referrers": [{"url": HOME, "kind": "a", "text": "page 2", "chain": [f"{A}/2"]}],
        },
    ]
    lines = say("links", "--broken").out.splitlines()
    assert lines[:2] == [f"file_not_found           404  {A}/1", f'    a        {HOME}  "page 1"']
    assert "2 broken links" in lines[-2:]
    pages = say("failures", "--list", "--referrers", "--json").document["pages"]
    assert {page["url"]: page["referrers"] for page in pages}[f"{A}/1"] == [named_by]
    assert {page["url"]: page["referrers"] for page in pages}[f"{A}/alone"] == []
    assert f'    a        {HOME}  "page 1"' in say("failures", "--list", "--referrers").out.splitlines()


def test_who_names_a_broken_link_is_bounded_and_counted(say: Say, here: Path) -> None:
    async def run() -> None:
        store = SqliteStore(here / "crawl.db")
        await store.begin_run(plan(HOME, new_run=True))
        pages = (await store.candidates(A, T0 + 40, 10, False)).pages
        for page in pages:
            made = crawled(page, T0 + 50)
            await store.settle(replace(made, links=(link(f"{A}/gone", text=page.url),)))
        await store.settle(
            replace(crawled(pages[0], T0 + 60), links=(link(f"{A}/gone"),), new_pages=(new_page(f"{A}/gone"),))
        )
        (gone,) = (await store.candidates(A, T0 + 70, 10, False)).pages
        await store.settle(failed(gone, T0 + 70, ExitCode.file_not_found, 404))
        await store.end_run("exhausted", True)
        await asyncio.to_thread(store.close)

    asyncio.run(run())
    (one,) = say("links", "--broken", "--limit", "1", "--json").document["broken"]
    assert (len(one["referrers"]), one["more_referrers"]) == (1, 1)
    assert "    … and 1 more" in say("links", "--broken", "--limit", "1").out.splitlines()


@pytest.mark.parametrize("words", [(), ("--broken", HOME), (HOME, "--external")])
def test_a_url_or_what_is_broken(say: Say, words: tuple[str, ...]) -> None:
    assert say("links", *words).status == 2
    assert say("failures", "--referrers").status == 2


def test_nothing_is_broken(say: Say) -> None:
    assert say("links", "--broken").out.splitlines()[0] == "no link is broken"
    assert say("links", "--broken", "--json").document["broken"] == []
