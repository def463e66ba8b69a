"""Reading pages: kinds, titles, bounds, and what hostile bytes do (nothing)."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import CORPORA, answered
from tests.fetch.reading import LIMITS, PAGE, hrefs, read
from tui_crawler.domain.records.attempt import Exchange
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import FetchLimits


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html", b"", "html"),
        ("TEXT/HTML; charset=x", b"<p>", "html"),
        ("application/xhtml+xml", b"<html/>", "html"),
        ("text/xml", b"<a/>", "xml"),
        ("application/xml", b"<a/>", "xml"),
        ("application/ld+xml", b"<a/>", "xml"),
        ("text/css", b"a{}", "css"),
        ("application/rss+xml", b"<rss/>", "rss"),
        ("application/atom+xml", b"<feed/>", "rss"),
        ("image/svg+xml", b"<svg/>", "other"),
        ("text/plain", b"<html>", "other"),
        ("application/json", b"{}", "other"),
        ("application/octet-stream", b"<html>", "other"),
        ("image/png", b"\x89PNG", "other"),
        ("", b"  \n<!DOCTYPE html><p>", "html"),
        ("", b"<!-- x --><html>", "html"),
        ("", b"\xef\xbb\xbf<HTML>", "html"),
        ("", "\ufeff<html>".encode("utf-16-le"), "html"),
        ("*/*", b"<p>hi", "html"),
        ("unknown/unknown", b"<rss version=2>", "rss"),
        ("", b"<?xml version='1.0'?><!-- <rss> --><feed>", "rss"),
        ("", b"<?xml version='1.0'?><html>", "html"),
        ("", b"<?xml version='1.0'?><urlset>", "xml"),
        ("", b"<?xml version='1.0'?>", "xml"),
        ("", b"@charset 'x';", "css"),
        ("", b"@media print{}", "css"),
        ("", b"hello", "other"),
        ("", b"\x89PNG\r\n", "other"),
        ("", b"", "other"),
        ("nonsense", b"<html>", "html"),
    ],
)
def test_the_kind_of_a_body(content_type: str, body: bytes, kind: str) -> None:
    reading = read(body, content_type)
    assert reading.kind == kind
    wanted = ExitCode.file_of_unknown_type if kind == "other" else ExitCode.file_ingested
    assert reading.exit_code is wanted


def test_an_answer_without_content_is_of_no_kind() -> None:
    exchange = Exchange((), ExitCode.file_of_unknown_type, 204, 5, (("Content-Type", "text/html"),))
    reading = asyncio.run(PageReader(LIMITS, "x").read(PAGE, exchange))
    assert (reading.kind, reading.exit_code) == ("other", ExitCode.file_of_unknown_type)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Plain</title>", "Plain"),
        ("<title>\n  two\t lines \r\n</title>", "two lines"),
        ("<title>&lt;b&gt; &amp; caf&eacute;</title>", "<b> & café"),
        ("<title><b>not markup</b></title>", "<b>not markup</b>"),
        ("<title>never closed", "never closed"),
        ("<title>first</title><title>second</title>", "first"),
        ("<title></title><title>second</title>", "second"),
        ("<svg><title>tooltip</title></svg><title>real</title>", "real"),
        ("<title>a\x00b\x07c\x1b[31md\x9be</title>", "ab\x07c\x1b[31md\x9be"),  # stored raw, shown through safe()
        ("<p>none", ""),
        ("<title>\u202eevil</title>", "\u202eevil"),
        ("<title>" + "x" * 1024 + "</title>", "x" * 1024),
    ],
)
def test_the_title(html: str, title: str) -> None:
    reading = read(html)
    assert reading.title == title
    assert reading.incomplete == ()


def test_a_long_title_is_cut_within_characters_and_marked() -> None:
    reading = read("<title>" + "é" * 1000 + "</title>")
    assert reading.title == "é" * 512
    assert reading.incomplete == ("title",)


def test_xhtml_is_read_as_xml() -> None:
    html = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title><script src="/s.js"/></head>'
        '<body><a href="/a">t</a></body></html>'
    )
    reading = read(html, "application/xhtml+xml")
    assert (reading.title, hrefs(reading), hrefs(reading, LinkKind.script)) == (
        "X",
        ["https://site.example/a"],
        ["https://site.example/s.js"],
    )


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE rss [<!ENTITY % p SYSTEM "http://127.0.0.1:1/x"> %p;]>',
    ],
)
def test_entities_are_never_expanded(doctype: str) -> None:
    body = f"<?xml version='1.0'?>{doctype}<rss><channel><title>&a;</title><link>/x</link></channel></rss>"
    reading = read(body, "application/rss+xml")
    assert (reading.title, reading.links, reading.incomplete) == ("", (), ("entities",))


def test_an_external_document_type_is_not_fetched() -> None:
    body = '<!DOCTYPE rss SYSTEM "http://127.0.0.1:1/x.dtd"><rss><channel><title>T&nbsp;</title></channel></rss>'
    assert read(body, "application/rss+xml").title == "T"


@pytest.mark.parametrize(
    ("name", "html", "marks"),
    [
        ("an input over the bound", "<a href=/first>" + "x" * (4 << 20), ("input",)),
        (
            "a tag with 40,000 attributes",
            "<a href=/first><a " + " ".join(f"a{n}=1" for n in range(40_000)) + ">",
            ("tag",),
        ),
        (
            "such a tag with brackets in quotes",
            "<a href=/first><a " + " ".join(f"a{n}='>'" for n in range(2_000)) + ">",
            ("tag",),
        ),
        ("more tags than the bound", "<a href=/first>" + "<b>x</b>" * 130_000, ("tags",)),
        ("deep nesting", "<a href=/first>x</a>" + "<div>" * 10_000 + "<a href=/lost>", ("depth",)),
    ],
)
def test_what_would_cost_too_much_is_cut_and_marked(name: str, html: str, marks: tuple[str, ...]) -> None:
    reading = read(html)
    assert hrefs(reading) == ["https://site.example/first"], name
    assert reading.incomplete == marks, name
    assert reading.exit_code is ExitCode.file_ingested, name


BIG = "A" * 150_000
MANY = " ".join(f"/{number}.png {number}w," for number in range(15_000))

BIG_TAGS = {
    "double": f'<img src="data:image/png;base64,{BIG}">',
    "single": f"<img src='data:image/png;base64,{BIG}'/>",
    "bare": f"<img src=data:image/png;base64,{BIG}>",
    "spaced": f"<IMG SRC = \"data:image/png;base64,{BIG}\" alt=''>",
    "srcset": f'<img srcset="{MANY}">',
    "two": f'<div style="{BIG}" class="{BIG}">',
    "halves": f'<div title="{BIG[:40_000]}" class="{BIG[:40_000]}">',
    "brackets": "<div data-page='" + '{"a":"</p><b>"},' * 8_000 + "'>",
    "JSON": '<div data-page="' + "{&quot;a&quot;:1}," * 6_000 + '">',
    "name": f"<div {BIG}>",
    "blanks": f"<div {' ' * 150_000}>",
    "5MB": f'<img src="data:image/png;base64,{BIG * 34}">',
    "unclosed": f'<a href="/broken" title="{BIG}></a><p class="x">',
}


@pytest.mark.parametrize("fragments", [False, True])
@pytest.mark.parametrize("tag", BIG_TAGS.values(), ids=BIG_TAGS)
def test_an_attribute_over_the_bound_is_cut_by_itself(tag: str, fragments: bool) -> None:
    """docs/behaviour.md."""
    name, _, rest = tag.partition(" ")
    with_more = f'{name} id="big" {rest}' if name != "<IMG" else f'{name} {rest[:-1]} id="big">'
    html = f'<p><a href="/first">1</a>{with_more}<h2 id="here">x</h2><a href="/after" title="x">2</a></p>'
    reading = read(html, limits=replace(LIMITS, check_fragments=fragments))
    assert reading.incomplete == ()
    assert hrefs(reading)[0 :: len(hrefs(reading)) - 1] == ["https://site.example/first", "https://site.example/after"]
    assert not fragments or {"big", "here"} <= set(reading.anchors or ())


def test_an_address_after_a_big_attribute_is_found() -> None:
    reading = read(f'<a data-x="{BIG}" href="/one" title="{BIG}">1</a><a href="/two" data-x=\'{BIG}\'>2</a>')
    assert hrefs(reading) == ["https://site.example/one", "https://site.example/two"]


def test_links_after_an_oversized_tag_are_found() -> None:
    attributes = " ".join(f"a{number}" for number in range(1_500))
    filler = "<p class=x>text</p>" * 4_000
    reading = read(f"<script>if (a<b {attributes}</script>{filler}<a {attributes}>{filler}<a href=/after>")
    assert hrefs(reading) == ["https://site.example/after"]
    assert reading.incomplete == ("tag",)


def test_a_page_of_many_attributes_in_one_quoted_value_is_whole() -> None:
    data = json.dumps({f"key {number}": "a > b" for number in range(1_200)}).replace('"', "&quot;")
    reading = read(f'<div data-props="{data}"></div><a href=/after>')
    assert hrefs(reading) == ["https://site.example/after"]
    assert reading.incomplete == ()


async def test_the_deadline_keeps_what_was_found() -> None:
    ticks = iter([0.0, 0.0, 0.0, 0.0] + [100.0] * 1000)
    reader = PageReader(FetchLimits(parse_inline_bytes=1), "x", timer=lambda: next(ticks))
    reading = await reader.read(PAGE, answered(b"<title>T</title>" + b"".join(b"<a href=/%d>" % n for n in range(999))))
    assert reading.incomplete == ("deadline",)
    assert reading.title == "T"
    assert 0 < len(reading.links) < 999


async def test_a_reading_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    reader = PageReader(FetchLimits(parse_inline_bytes=1, parse_deadline_ms=20), "x")
    monkeypatch.setattr(reader, "_read", lambda *_: release.wait())
    reading = await reader.read(PAGE, answered(b"<a href=/x>"))
    release.set()
    assert (reading.kind, reading.incomplete) == ("html", ("deadline",))


async def test_large_pages_are_read_in_a_thread_and_the_loop_goes_on() -> None:
    reader = PageReader(LIMITS, "x")
    seen: list[str] = []
    reader_read = reader._read
    reader._read = lambda *args: (seen.append(threading.current_thread().name), reader_read(*args))[1]  # type: ignore[method-assign]
    body = b"".join(b"<a href=/%d>link</a>" % number for number in range(40_000))
    reading = await reader.read(PAGE, answered(body))
    assert (seen, len(reading.links), reading.incomplete) == (["reading"], 10_000, ("links",))


async def test_whatever_a_parser_raises_is_230(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken \x1b[31m parser")

    monkeypatch.setattr("tui_crawler.fetch.document.html_statements", fail)
    reading = await PageReader(LIMITS, "x").read(PAGE, answered(b"<P>"))
    assert reading.exit_code is ExitCode.local_processing_error
    assert reading.message == "RuntimeError: broken \ufffd[31m parser"


TYPES = ("text/html", "application/rss+xml", "application/xhtml+xml", "text/css", "", "text/html; charset=utf-16")
FRAGMENTS = st.sampled_from(
    (
        b"<\t>\t</\t<!--\t-->\t<script>\t</script>\t<a href=\t<base href=x>\t<title>\t\x00\t&#0;\t<![CDATA[\t"
        b"]]>\t<?xml\t<!DOCTYPE\t'\t\"\t=\t<meta charset=\t\xff\xfe\t\xd8\x00\t&amp\t \t<img srcset='\t"
        b"<link rel=canonical href=\t<meta http-equiv=refresh content=\thttp://[\t\xe9\t<svg>"
    ).split(b"\t")
)


@given(st.lists(FRAGMENTS | st.binary(max_size=5), max_size=40).map(b"".join), st.sampled_from(TYPES))
def test_no_bytes_raise(body: bytes, content_type: str) -> None:
    reading = read(body, content_type)
    assert reading.exit_code in (ExitCode.file_ingested, ExitCode.file_of_unknown_type), reading.message
    texts = [reading.title, *(link.text for link in reading.links)]
    assert all(text.encode() is not None and "\0" not in text for text in texts)


@pytest.mark.parametrize("name", ["html5lib_encoding.json", "llhttp_responses.json"])
def test_the_corpora_as_pages(name: str) -> None:
    for case in json.loads((CORPORA / name).read_text())["cases"]:
        body = (case.get("data") or case.get("raw")).encode("latin-1")
        for data in (body, gzip.compress(body)):
            assert read(data, "text/html").exit_code is ExitCode.file_ingested
