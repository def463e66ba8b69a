"""What is copied and exported: what it holds, where it goes, and that nothing in it is ever obeyed."""

from __future__ import annotations

import base64
import csv
import io
import json
import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.console.sample_crawl import API, WWW, page
from tests.console.support import FakeReports, Stage, stage
from tests.console.test_injection import CASES, PoisonedReports
from tui_crawler.console.action import Where
from tui_crawler.console.session import SessionFile
from tui_crawler.console.table import export as view_export
from tui_crawler.console.table import row_actions as row_desk
from tui_crawler.console.table.cells import rows_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.export import TableText, export
from tui_crawler.domain.records.page_view import LinkEnd, LinkView, PageDetail
from tui_crawler.text.cells import Present
from tui_crawler.text.columns import Column, Relation

COLUMNS = (
    Column("name", "NAME", value=lambda one: one[0][0]),
    Column("number", "N", align="right", value=lambda one: one[0][1]),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Exports go to the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plain(text: str) -> bool:
    return all(char == "\n" or unicodedata.category(char)[0] != "C" for char in text)


def copied(held: Stage) -> str:
    """What the terminal was given."""
    return held.app.clipboard


async def test_each_key_copies_its_kind(tmp_path: Path) -> None:
    async with stage(memory=SessionFile(tmp_path / "state", "x")) as held:
        held.app.screen.query_one("#origins", CrawlTable).move_cursor(key=API)
        await held.press("y")
        await held.settle(4)
        held.sees("copy…", "u URL", "c curl", "j JSON", "r row")
        await held.press("u")
        assert copied(held) == f"{API}/"
        file = tmp_path / "state" / "copied.txt"
        assert file.read_text() == f"{API}/\n"
        assert file.stat().st_mode & 0o077 == 0
        assert "also in" in held.text()
        await held.press("y", "c")
        assert shlex.split(copied(held))[0] == "curl"
        assert shlex.split(copied(held))[-1] == f"{API}/"
        await held.press("y", "j")
        assert json.loads(copied(held))["origin"] == API
        await held.press("y", "r")
        assert "api.example.org" in copied(held)
        await held.press("y", "escape")
        assert "api.example.org" in copied(held)


async def test_a_page_is_asked_for_conditionally_and_a_link_is_its_other_end() -> None:
    reports = FakeReports()
    known = reports.detail

    def with_validators(url: str) -> PageDetail | None:
        detail = known(url)
        return detail and replace(detail, page=replace(detail.page, url=url, etag='W/"a81"'))

    def from_example(url: str, inward: bool) -> tuple[LinkEnd, ...]:
        return (LinkEnd(LinkView("https://from.example/", url, "a", False, "text", 1), "", "", (1, "a")),)

    reports.detail = with_validators
    reports.ends = from_example
    async with stage(reports=reports) as held:
        url = f"{API}/v2/items?page=18"
        held.app.go_to(Where.url, url)
        await held.settle(3)
        await held.press("y", "c")
        words = shlex.split(copied(held))
        assert 'If-None-Match: W/"a81"' in words
        assert any(word.startswith("User-Agent: ") for word in words)
        await held.press("url.tab_links", rounds=2)
        held.app.screen.query_one("#url-inlinks", CrawlTable).focus()
        await held.press("y", "u")
        assert copied(held) == "https://from.example/"


async def test_marked_rows_are_copied_in_their_order() -> None:
    async with stage() as held:
        await held.press("2", "enter", rounds=2)
        await held.press("space", "space", "y")
        await held.settle(4)
        assert "copy 2…" in held.text()
        await held.press("u")
        urls = copied(held).splitlines()
        assert len(urls) == 2
        assert all(url.startswith("https://") for url in urls)
        assert "2 × URL" in held.text()


async def test_a_row_that_is_no_page_has_no_url_to_copy() -> None:
    async with stage() as held:
        await held.press("2", rounds=2)
        await held.press("copy.url")
        assert "there is no URL to copy" in held.text()
        await held.press("copy.json")
        assert json.loads(copied(held))["key"]


async def test_a_terminal_is_never_given_what_is_too_long(tmp_path: Path) -> None:
    assert row_desk.copy_text("x" * (row_desk.MOST_BYTES + 1), tmp_path).for_terminal == ""
    assert row_desk.copy_text("é" * (row_desk.MOST_BYTES // 2), None).for_terminal
    assert row_desk.copy_text("é" * (row_desk.MOST_BYTES // 2 + 1), None).for_terminal == ""
    assert (tmp_path / "copied.txt").stat().st_size == row_desk.MOST_BYTES + 2


@pytest.mark.parametrize("payload", CASES.values(), ids=CASES)
def test_copies_and_exports_of_hostile_rows_are_plain(payload: str) -> None:
    for text in hostile_texts(payload):
        assert plain(text), (payload, text)
    assert plain(row_desk.copy_text(payload, None).text)


def table_of(*rows: tuple[tuple[str, str], object]) -> TableText:
    """A table of texts and the records they are of."""
    relation = Relation[tuple[tuple[str, str], object]](COLUMNS, itemgetter(0), source=itemgetter(1))
    return TableText(COLUMNS, tuple(rows_of(relation, rows, Present())))


def hostile_texts(payload: str) -> Iterator[str]:
    reports = PoisonedReports()
    reports.load(payload, names=True)
    table = table_of(*(((payload, page.title), page) for page in reports.pages))
    for format_id, _ in view_export.FORMATS:
        yield export(table, format_id).replace("\r\n", "\n")
    for one in reports.pages:
        yield row_desk.encoded_url(one.url)
        yield row_desk.curl_command(one.url, f"agent {payload}", one.etag, one.last_modified)
    yield view_export.as_line(table.rows[0])


@given(st.text(max_size=60))
def test_a_curl_command_is_one_line_of_plain_words(text: str) -> None:
    line = row_desk.curl_command(f"https://example.org/{text}", text, text, text)
    assert line.isascii()
    assert line.isprintable()
    words = shlex.split(line)
    assert words[:3] == ["curl", "--globoff", "--compressed"]
    assert words[-1].startswith("https://example.org")
    assert all(word == "-H" or word.split(":")[0] in {"User-Agent", "If-None-Match", "If-Modified-Since"}
               for word in words[3:-1])  # fmt: skip


def test_a_curl_command_asks_as_the_crawler_would() -> None:
    line = row_desk.curl_command("https://example.org/a?b=c&d", "my-crawler (for me)", '"a81"', "Mon, 05 Jan 2026")
    assert line == (
        "curl --globoff --compressed -H 'User-Agent: my-crawler (for me)' -H 'If-None-Match: \"a81\"' "
        "-H 'If-Modified-Since: Mon, 05 Jan 2026' 'https://example.org/a?b=c&d'"
    )


def test_urls_are_percent_encoded() -> None:
    assert row_desk.encoded_url("https://bücher.example/ä b") == "https://xn--bcher-kva.example/%C3%A4%20b"
    assert row_desk.encoded_url("javascript:alert(1)\x1b") == "javascript:alert(1)%1B"


def test_no_cell_is_a_formula() -> None:
    names = ("=1+1", "+1", "-1", "@SUM(A1)", "＝1", " =1", "plain", "-", "a,b", 'say "x"')
    text = export(table_of(*(((name, "7"), None) for name in names)), "csv")
    cells = [row[0] for row in csv.reader(io.StringIO(text))]
    assert cells[0] == "NAME"
    assert cells[1:] == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'＝1", "'=1", "plain", "", "a,b", 'say "x"']
    record = {"tab": "\t=1", "zero width": "\u200b=1", "number": -1.5}
    _, row = csv.reader(io.StringIO(export(table_of((("a", "b"), record)), "csv")))
    assert row == ["'\\t=1", "'\\u200b=1", "-1.5"]


def test_a_spreadsheet_gets_plain_values_not_what_is_shown_of_them() -> None:
    record = replace(page(7, f"{API}/=a", "request_timeout"), last_crawled_at=1_767_225_600_123, due_at=0, nice=-3)
    shown = ("✓ done", "8m ago")
    head, row = csv.reader(io.StringIO(export(table_of((shown, record)), "csv")))
    values = dict(zip(head, row, strict=True))
    assert values["last_exit_code"] == "request_timeout"
    assert values["last_crawled_at"] == "2026-01-01T00:00:00.123Z"
    assert values["due_at"] == ""
    assert values["nice"] == "-3"
    assert values["recoverable"] in {"true", "false"}
    assert "✓" not in "".join(row)
    head, row = csv.reader(io.StringIO(export(table_of((shown, None)), "csv")))
    assert (head, row) == (["NAME", "N"], ["done", "8m ago"]), "without a record as it is shown, without the sign"


def test_what_a_calendar_does_not_have_and_what_has_parts_is_written_too() -> None:
    record = {"asleep_until": 2**2_000, "body": b"\x00\x1b", "list": (1, "=2"), "odd": float("-inf")}
    head, row = csv.reader(io.StringIO(export(table_of((("a", "b"), record)), "csv")))
    assert head == ["asleep_until", "body", "list", "odd"]
    assert row == [str(2**2_000), "001b", '[1, "=2"]', "'-inf"]


def test_markdown_cells_are_text() -> None:
    text = export(table_of((("a|b <img> [x](y)", "7"), None)), "md")
    assert text.splitlines() == ["| NAME | N |", "| --- | ---: |", r"| a\|b \<img\> \[x\](y) | 7 |"]


async def test_the_view_is_written_and_its_path_is_told(here: Path) -> None:
    async with stage((200, 40)) as held:
        await held.press("view.export")
        assert f"Export {len(held.reports.rows)} rows" in held.text()
        await held.press("j", "enter")
        (path,) = (here / "exports").iterdir()
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        shown = held.app.screen.query_one("#origins", CrawlTable)
        assert [row["origin"] for row in rows] == list(shown.row_order)
        assert {row["origin"] for row in rows} >= {API, WWW}
        assert "rows written: " in held.text()
        assert path.name in held.text()
        await held.type("/www")
        await held.press("enter", "view.export", "enter")
        held.clock.move(1_000)
        (table,) = (here / "exports").glob("*.csv")
        assert len(table.read_text().splitlines()) == 1 + shown.row_count
        await held.press("view.export", "escape")
        assert len(list((here / "exports").iterdir())) == 2


async def test_an_export_that_cannot_be_written_is_told(here: Path) -> None:
    (here / "exports").write_text("")
    async with stage() as held:
        await held.press("view.export", "enter")
        assert "could not be written" in held.text()


async def test_what_the_terminal_gets_is_osc_52_of_clean_text_only() -> None:
    reports = PoisonedReports()
    reports.load(CASES["osc52"], names=False)
    async with stage(reports=reports) as held:
        for key in "ucjr":
            await held.press("y", key, rounds=0)
            text = copied(held)
            assert text
            assert plain(text)
            assert base64.b64encode(text.encode()).isascii()
