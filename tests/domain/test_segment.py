"""Segments as text: what is written is read again, in an order that `sort` can check, and nothing else is taken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tui_crawler.domain.records.failure import BadSegment
from tui_crawler.domain.records.page import NewPage
from tui_crawler.domain.records.segment import (
    FORMAT,
    HEAD_LINES,
    SegmentHead,
    SegmentPage,
    head_text,
    line_of,
    name_stem,
    parse_head,
    parse_line,
)
from tui_crawler.domain.url import CrawlUrl, normalise

HEAD = SegmentHead("crawl-0000beef-00001-00001", "my job", 1_800_000_000_000, 12, "ab" * 32)
LINE = 'https://a.example\t/x?y=1\t{"depth":2,"found_on":"https://a.example/"}'

ORIGINS = st.sampled_from(
    ["https://a.example", "https://a.example:8080", "https://a.example.com", "http://a.example", "https://[::1]"]
)
PATHS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NUMBERS = st.integers(0, 2**63 - 1)


@st.composite
def urls(draw: st.DrawFn) -> CrawlUrl:
    url = normalise(f"{draw(ORIGINS)}/{draw(PATHS)}".replace("#", ""))
    return url if isinstance(url, CrawlUrl) else draw(urls())


@st.composite
def entries(draw: st.DrawFn) -> SegmentPage:
    url = draw(urls())
    page = NewPage(
        url.href,
        url.hash,
        url.origin,
        draw(NUMBERS),
        nice=draw(st.integers(-(2**63), 2**63 - 1)),
        redirect_hops=draw(NUMBERS),
        item_pattern=draw(st.text(max_size=8)),
        force=draw(st.booleans()),
        not_before=draw(NUMBERS),
        sitemap=draw(st.booleans()),
        lastmod=draw(NUMBERS),
    )
    return SegmentPage(page, draw(st.text(max_size=8)))


@given(entries())
def test_a_line_says_all_there_is_to_say(entry: SegmentPage):
    line = line_of(entry)
    assert parse_line(line) == entry
    assert line.isascii()
    assert line.replace("\t", "").isprintable()


@given(st.lists(entries(), max_size=20, unique_by=lambda entry: entry.page.url))
def test_the_order_of_bytes_is_that_of_origin_and_url(found: list[SegmentPage]):
    by_meaning = sorted(found, key=lambda entry: (entry.page.origin, entry.page.url))
    lines = [line_of(entry).encode() for entry in by_meaning]
    assert lines == sorted(lines)
    head = head_text(HEAD).encode().splitlines()
    assert [*head, *lines] == sorted([*head, *lines]), "sort -c has nothing to complain of"


@given(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,50}", fullmatch=True),
    st.text(max_size=10),
    st.integers(0, 10**15),
    st.integers(0, 10**9),
)
@example("a", "two\nlines\x7f\ud800", 0, 0)
def test_a_head_is_read_as_it_was_written(name: str, job: str, created_at: int, count: int):
    head = SegmentHead(name, job, created_at, count, "0f" * 32)
    text = head_text(head)
    lines = text.splitlines()
    assert len(lines) == HEAD_LINES
    assert parse_head(lines) == head
    assert text.isascii()
    for other in (replace(head, digest=""), replace(head, urls=0), replace(head, urls=10**9)):
        assert len(head_text(other)) == len(text), "it can be written over"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "an invalid URL"),
        ("https://a.example", "is not normalised"),
        ("https://a.example\t\t{}", "is not normalised"),
        (LINE.replace("a.example\t", "A.example\t"), "is not normalised"),
        (LINE.replace("example\t/x", "example/x\t"), "is not normalised"),
        (LINE.replace("/x", "/#x"), "is not normalised"),
        (LINE.replace("https", "javascript"), "an invalid URL"),
        (LINE.replace("https://", "https://me@"), "an invalid URL"),
        (LINE.partition("{")[0], "cannot be read"),
        (LINE + "}", "cannot be read"),
        (LINE.partition("{")[0] + "[]", "cannot be read"),
        (LINE.partition("{")[0] + "[" * 100_000, "cannot be read"),
        (LINE.replace("2", "true"), "'depth'"),
        (LINE.replace("2", "-2"), "'depth'"),
        (LINE.replace("2", "2.0"), "'depth'"),
        (LINE.replace("2", "9" * 30), "'depth'"),
        (LINE.replace("2", "9" * 5_000), "cannot be read"),
        (LINE.replace('"depth":2', '"force":1'), "'force'"),
        (LINE.replace('"depth":2', '"pattern":1'), "'pattern'"),
        (LINE.replace('"depth":2', '"more":1'), "'more'"),
        (LINE.replace('"https://a.example/"', "null"), "'found_on'"),
    ],
)
def test_what_cannot_have_been_written_is_refused(line: str, said: str):
    assert parse_line(LINE).page.depth == 2
    with pytest.raises(BadSegment, match=said):
        parse_line(line)


def lines_of(head: SegmentHead = HEAD) -> list[str]:
    return head_text(head).splitlines()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "not a segment"),
        (["seeds: [https://a.example/]"], "not a segment"),
        ([lines_of()[0][:-1] + "x"], "not a segment"),
        ([f"{lines_of()[0][:-1]}{FORMAT + 1}", "whatever"], "newer tui-crawler"),
        (lines_of()[:-1], "damaged"),
        ([*lines_of()[:-1], "# urls many"], "damaged"),
        ([*lines_of()[:-1], "# pages 1"], "damaged"),
        ([line.replace("ab" * 32, "zz" * 32) for line in lines_of()], "damaged"),
        ([line.replace('"my job"', "my job") for line in lines_of()], "damaged"),
        ([line.replace('"my job"', "[1]") for line in lines_of()], "damaged"),
        ([line.replace('"my job"', "[" * 100_000) for line in lines_of()], "damaged"),
        (lines_of(replace(HEAD, name="../elsewhere")), "damaged"),
        (lines_of(replace(HEAD, name="a/b")), "damaged"),
        (lines_of(replace(HEAD, name=".hidden")), "damaged"),
    ],
)
def test_a_head_that_is_none_is_refused(lines: list[str], said: str):
    with pytest.raises(BadSegment, match=said):
        parse_head(lines)


@given(st.text(max_size=200))
@example("")
@example("../../etc/passwd")
@example("my index.2027")
def test_any_name_of_a_database_begins_names_of_segments(text: str):
    name = f"{name_stem(text)}-0000beef-00001-00001"
    assert parse_head(lines_of(replace(HEAD, name=name))).name == name
