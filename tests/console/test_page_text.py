"""A stored page as readable text: words without markup, numbered links that open, whatever the markup is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.sample_crawl import API
from tests.console.support import stage
from tui_crawler.console.action import Where
from tui_crawler.console.panes.entry import EntryLine
from tui_crawler.console.url.page_text import PageText, page_text
from tui_crawler.console.url.screen import PageTextPane, UrlScreen
from tui_crawler.text.cells import cell_parts

PAGE = b"""<!doctype html><html><head><title>Deer &amp; more</title><style>p { color: red }</style>
<script>if (a < b) document.write("<p>never seen</p>")</script><base href="/shop/"></head><body>
<h1>All   deer</h1><p>One <a href="one.html">first deer</a>, one <b>sec</b>ond, <a href=/two?a=1&amp;b=2>two</a>.
<!-- <a href="/hidden">no</a> --><ul><li>item <a href='one.html#part'>again</a><li><img src=x alt="a picture"></ul>
<a href="#top">top</a> <a href="mailto:a@b.example">mail</a> <a name=x>anchor</a>5 &lt; 6"""


def told(text: PageText) -> list[str]:
    rows = (row for row in text.rows if isinstance(row, (str, tuple)))
    return ["".join(part.text for part in cell_parts(row)) for row in rows]


def read(data: bytes, width: int = 60) -> PageText:
    return page_text(data, len(data), "text/html", f"{API}/a/page.html", width)


def test_words_stand_without_markup_and_links_have_numbers() -> None:
    text = read(PAGE)
    assert told(text) == [
        "Deer & more", "", "All deer", "", "One first deer[1], one second, two[2].", "",
        "· item again[1]", "· [a picture]", "", "top mail anchor5 < 6",
    ]  # fmt: skip
    assert text.links == [f"{API}/shop/one.html", f"{API}/two?a=1&b=2"]


def test_a_link_can_be_clicked_where_its_words_stand() -> None:
    text = read(PAGE, 20)
    for row, spots in text.spots.items():
        for begin, end, number in spots:
            assert told(text)[row][begin:end].strip() in {"first", "deer", "again", "two", f"[{number}]"}
    assert {number for spots in text.spots.values() for *_, number in spots} == {1, 2}


@given(st.text(alphabet="<>/!-\"'= abhrefpliscript\u202e\u4e00\x1b&;#\n", max_size=300), st.integers(1, 40))
def test_no_row_is_wider_than_the_pane_and_no_text_is_obeyed(markup: str, width: int) -> None:
    for row in told(read(markup.encode(), width)):
        assert cell_len(row) <= max(8, width)
        assert row.isprintable()
        assert "\u202e" not in row


@pytest.mark.parametrize(
    "part", ["<", "<a ", "<!--", '<a href="', "<a href='x", "<script>", "a<b", " ", "&", "&#", "<p>"]
)
def test_hostile_markup_takes_no_longer(part: str) -> None:
    data = (part * 65_536)[:65_536].encode()
    began = time.process_time()
    read(data)
    assert time.process_time() - began < 2


async def test_a_link_is_opened_by_its_number_or_a_click() -> None:
    async with stage((120, 40)) as held:
        held.reports.body = lambda _: PAGE  # type: ignore[method-assign]
        held.app.go_to(Where.url, f"{API}/products/1", "body")
        await held.settle(3)
        await held.press("url.read", rounds=2)
        held.sees("as text, 2 links", "first deer[1]")
        await held.press("enter", "2", "enter", rounds=3)
        assert isinstance(held.app.screen, UrlScreen)
        assert held.app.screen.crumbs()[-1].endswith("/two?a=1&b=2")
        await held.press("escape", rounds=2)
        pane = held.app.screen.query_one(PageTextPane)
        row, ((begin, *_), *_) = next(iter(pane.spots.items()))
        await held.pilot.click(PageTextPane, offset=(pane.gutter.left + begin, pane.gutter.top + row))
        await held.settle(3)
        assert held.app.screen.crumbs()[-1].endswith("/shop/one.html")


async def test_what_is_no_number_of_a_link_is_said() -> None:
    async with stage((80, 24)) as held:
        held.reports.body = lambda _: PAGE  # type: ignore[method-assign]
        held.app.go_to(Where.url, f"{API}/products/1", "body")
        await held.settle(3)
        await held.press("url.follow", rounds=1)
        assert "no link has a number here" in held.text()
        await held.press("url.read", rounds=2)
        for number in ("0", "3", "x", "9" * 30):
            await held.command(f"link {number}", rounds=1)
            assert "no link has the number" in held.text()
        await held.press("url.follow", rounds=1)
        assert held.app.screen.query_one(EntryLine).display
        await held.press("escape", "url.read", rounds=2)
        assert "as text" not in held.text()
