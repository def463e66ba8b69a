"""Sitemaps: every format of the protocol, what real ones get wrong, and what hostile ones do (nothing)."""

from __future__ import annotations

import asyncio
import gzip
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import answered, traced_peak
from tests.fetch.reading import LIMITS, PAGE, day, read
from tui_crawler.domain.records.attempt import Reading, RefusedCount
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import MIB, FetchLimits

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITE = "https://site.example"


def sitemap(body: bytes | str, content_type: str = "application/xml", limits: FetchLimits = LIMITS) -> Reading:
    return read(body, content_type, limits=limits, sitemap=True)


def found(reading: Reading) -> list[str]:
    assert (reading.kind, reading.exit_code) == ("xml", ExitCode.file_ingested), reading.message
    return [entry.url.href for entry in reading.entries]


def urlset(*locations: str, rest: str = "") -> str:
    return f"<urlset {NS}>" + "".join(f"<url><loc>{each}</loc>{rest}</url>" for each in locations) + "</urlset>"


def test_a_urlset() -> None:
    reading = sitemap(
        f"""<?xml version="1.0" encoding="UTF-8"?>
        <urlset {NS}>
          <url><loc> {SITE}/a </loc><lastmod>2024-03-05</lastmod><changefreq>daily</changefreq></url>
          <url><lastmod>2024-03-05T06:00:00+06:00</lastmod><loc>{SITE}/b?x=1&amp;y=2</loc></url>
          <url><loc>{SITE}/c#part</loc><lastmod>someday</lastmod></url>
        </urlset>"""
    )
    assert [(entry.url.href, entry.lastmod, entry.sitemap) for entry in reading.entries] == [
        (f"{SITE}/a", day("2024-03-05"), False),
        (f"{SITE}/b?x=1&y=2", day("2024-03-05"), False),
        (f"{SITE}/c", 0, False),
    ]
    assert (reading.kind, reading.content_type, reading.charset) == ("xml", "application/xml", "utf-8")
    assert (reading.incomplete, reading.links, reading.validation) == ((), (), None)


def test_an_index_names_sitemaps() -> None:
    reading = sitemap(
        f"<sitemapindex {NS}><sitemap><loc>{SITE}/1.xml.gz</loc><lastmod>2024-03</lastmod></sitemap>"
        f"<url><loc>{SITE}/no</loc></url></sitemapindex>"
    )
    (entry,) = reading.entries
    assert (entry.url.href, entry.lastmod, entry.sitemap) == (f"{SITE}/1.xml.gz", day("2024-03-01"), True)


def test_only_the_loc_of_a_url_is_a_page() -> None:
    body = (
        f'<urlset {NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
        f"<loc>{SITE}/no1</loc><url><image:image><image:loc>{SITE}/no2</image:loc></image:image>"
        f'<image:loc>{SITE}/no3</image:loc><xhtml:link rel="alternate" href="{SITE}/no4"/><loc>{SITE}/yes</loc></url>'
        f"<group><url><loc>{SITE}/no5</loc></url></group><sitemap><loc>{SITE}/no6</loc></sitemap></urlset>"
    )
    assert found(sitemap(body)) == [f"{SITE}/yes"]


@pytest.mark.parametrize(
    "opening",
    [
        "<urlset>",
        f"<urlset {NS}>",
        '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84">',
        "\n\n<!-- made by x -->\n<urlset>",
    ],
)
def test_any_namespace_or_none(opening: str) -> None:
    assert found(sitemap(f"{opening}<url><loc>/a</loc></url></urlset>")) == [f"{SITE}/a"]


def test_a_prefix() -> None:
    body = f'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>{SITE}/a</s:loc></s:url></s:urlset>'
    assert found(sitemap(body)) == [f"{SITE}/a"]


def test_relative_urls_are_resolved_and_duplicates_are_one() -> None:
    assert found(sitemap(urlset("/a", f"{SITE}/a", "b", "//other.example/c", "/a#x"))) == [
        f"{SITE}/a",
        f"{SITE}/folder/b",
        "https://other.example/c",
    ]


def test_invalid_urls_are_counted_with_a_sample() -> None:
    reading = sitemap(urlset("http://[/", "ftp://a.example/", "/a", "mailto:a@b", " "))
    assert found(reading) == [f"{SITE}/a"]
    assert reading.refused == (RefusedCount("invalid_url", 3, "http://[/"),)


@pytest.mark.parametrize(
    ("location", "href"),
    [
        ("/a?x=1&y=2", "/a?x=1&y=2"),
        ("/a?x=1&amp;y=2", "/a?x=1&y=2"),
        ("/a?x=1&#38;y&#x26;z", "/a?x=1&y&z"),
        ("/a?x=1&copy=2&nbsp;", "/a?x=1&copy=2&nbsp;"),
        ("<![CDATA[/a?x=1&y=2&amp;z]]>", "/a?x=1&y=2&amp;z"),
        ("<![CDATA[/a?b>c&d]]>", "/a?b%3Ec&d"),
        ("/caf\u00e9", "/caf%C3%A9"),
    ],
)
def test_ampersands_as_people_write_them(location: str, href: str) -> None:
    reading = sitemap(urlset(location, "/next?a&b"))
    assert found(reading) == [SITE + href, f"{SITE}/next?a&b"]
    assert reading.incomplete == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(encoding: str) -> None:
    label = "utf-8" if encoding == "utf-8-sig" else encoding
    body = f'<?xml version="1.0" encoding="{label}"?>' + urlset("/caf\u00e9")
    assert found(sitemap(body.encode(encoding))) == [f"{SITE}/caf%C3%A9"]


def test_a_list_of_urls() -> None:
    reading = sitemap(f"\ufeff{SITE}/a\r\n\r\n  {SITE}/b  \n/c\n# said twice\n{SITE}/a\nnot a page\n", "text/plain")
    assert found(reading) == [f"{SITE}/a", f"{SITE}/b", f"{SITE}/c"]
    assert reading.refused == (RefusedCount("invalid_url", 1, "not a page"),)
    assert all(entry.lastmod == 0 for entry in reading.entries)


def test_a_long_list_of_urls_is_read_in_slices() -> None:
    lines = [f"{SITE}/é/{number:030}" for number in range(9_000)]
    reading = sitemap("\n".join(lines), "text/plain")
    assert len(reading.entries) == 9_000
    assert reading.incomplete == ()


def test_an_rss_feed_as_a_sitemap() -> None:
    body = (
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>/home</link>'
        "<item><atom:link href='/no'/><link>/one</link><pubDate>Tue, 05 Mar 2024 00:00:00 GMT</pubDate></item>"
        "<item><title>no link</title></item><item><link>/two</link></item></channel></rss>"
    )
    reading = sitemap(body, "application/rss+xml")
    assert [(entry.url.path, entry.lastmod) for entry in reading.entries] == [("/one", day("2024-03-05")), ("/two", 0)]


def test_an_rss_1_feed_as_a_sitemap() -> None:
    body = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><link>/home</link></channel>'
        "<item><link>/one</link><dc:date>2024-03-05</dc:date></item></rdf:RDF>"
    )
    assert [(entry.url.path, entry.lastmod) for entry in sitemap(body).entries] == [("/one", day("2024-03-05"))]


def test_an_atom_feed_as_a_sitemap() -> None:
    body = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/home"/><entry><link rel="self" href="/no"/>'
        '<link href="/one"/><updated>2024-03-05T00:00:00Z</updated></entry>'
        '<entry><link rel="alternate" href="/two"/></entry></feed>'
    )
    reading = sitemap(body, "application/atom+xml")
    assert [(entry.url.path, entry.lastmod) for entry in reading.entries] == [("/one", day("2024-03-05")), ("/two", 0)]


@pytest.mark.parametrize(
    "content_type", ["application/gzip", "application/x-gzip", "application/xml", "", "text/plain"]
)
def test_a_gzip_file(content_type: str) -> None:
    assert found(sitemap(gzip.compress(urlset("/a").encode()), content_type)) == [f"{SITE}/a"]
    assert found(sitemap(gzip.compress(f"{SITE}/b\n".encode()), content_type)) == [f"{SITE}/b"]


def test_what_is_called_gzip_and_is_none() -> None:
    assert found(sitemap(urlset("/a"), "application/gzip")) == [f"{SITE}/a"]


def test_a_gzip_file_that_ends_too_soon_keeps_what_was_read() -> None:
    locations = [f"/{number}" for number in range(3_000)]
    packed = gzip.compress(urlset(*locations).encode())
    reading = sitemap(packed[: len(packed) // 2])
    assert 100 < len(reading.entries) < 3_000
    assert found(reading) == [SITE + each for each in locations[: len(reading.entries)]]
    assert reading.incomplete == ("broken",)


@pytest.mark.parametrize(
    "content",
    [
        b"<urlset>" + b"<url><loc>/x</loc></url>" * 300_000,
        b"<urlset><url><loc>/x</loc></url>" + bytes(30 << 20),
        b"<urlset><url><loc>/x</loc></url>" + b"<a>" * 10_000_000,
    ],
    ids=["entries", "zeros", "nesting"],
)
def test_a_bomb_is_cut(content: bytes) -> None:
    packed = gzip.compress(content, 1, mtime=0)
    limits = FetchLimits(max_sitemap_bytes=MIB // 4)
    with traced_peak() as peak:
        reading = sitemap(packed, limits=limits)
        assert peak() < 4 * MIB
    assert found(reading) == [f"{SITE}/x"]
    assert reading.incomplete == ("sitemap",)


def test_more_entries_than_the_bound_are_left_and_marked() -> None:
    limits = FetchLimits(max_sitemap_urls=10)
    assert sitemap(urlset(*(f"/{n}" for n in range(10)), "/0"), limits=limits).incomplete == ()
    reading = sitemap(urlset(*(f"/{n}" for n in range(11))), limits=limits)
    assert found(reading) == [f"{SITE}/{n}" for n in range(10)]
    assert reading.incomplete == ("urls",)
    text = sitemap("\n".join(f"{SITE}/{n}" for n in range(11)), "text/plain", limits)
    assert (len(text.entries), text.incomplete) == (10, ("urls",))


def test_the_protocol_allows_fifty_thousand() -> None:
    assert LIMITS.max_sitemap_urls == 50_000


def test_a_body_over_the_bound_keeps_whole_entries() -> None:
    body = urlset(*(f"/page-{number}" for number in range(100)))
    for size in range(len(body) - 40, len(body) - 1):
        reading = sitemap(body, limits=FetchLimits(max_sitemap_bytes=size))
        paths = [entry.url.path for entry in reading.entries]
        assert paths == [f"/page-{number}" for number in range(len(paths))]
        assert len(paths) >= 97
        assert reading.incomplete == ("sitemap",)


def test_a_cut_list_loses_its_last_line_only() -> None:
    body = f"{SITE}/one\n{SITE}/two\n{SITE}/three\n"
    reading = sitemap(body, "text/plain", FetchLimits(max_sitemap_bytes=len(body) - 3))
    assert found(reading) == [f"{SITE}/one", f"{SITE}/two"]
    assert reading.incomplete == ("sitemap",)


@pytest.mark.parametrize("end", ["<url><loc>/b", "<url><loc>/b</l", "<url>", "", "<url><lo"])
def test_a_document_that_ends_too_soon(end: str) -> None:
    reading = sitemap(f"<urlset><url><loc>/a</loc></url>{end}")
    assert found(reading) == [f"{SITE}/a"]
    assert reading.incomplete == ("broken",)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE urlset [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE urlset [<!ENTITY % p SYSTEM "http://127.0.0.1:1/x"> %p;]>',
    ],
)
def test_entities_are_never_expanded(doctype: str) -> None:
    reading = sitemap(f"<?xml version='1.0'?>{doctype}" + urlset("/&b;"))
    assert (reading.entries, reading.incomplete, reading.exit_code) == ((), ("entities",), ExitCode.file_ingested)


def test_an_external_document_type_is_not_fetched() -> None:
    assert found(sitemap('<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/x.dtd">' + urlset("/a"))) == [f"{SITE}/a"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not a sitemap: neither XML nor a list of URLs"),
        (b"hello", "not a sitemap: neither XML nor a list of URLs"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not a sitemap: neither XML nor a list of URLs"),
        (b"https://a.example/\n\0\0\0", "not a sitemap: neither XML nor a list of URLs"),
        (b"<!doctype html><html><body><a href=/x>404</a>", "not a sitemap: it is an HTML document"),
        (b"<?xml version='1.0'?><html/>", "not a sitemap: it is an HTML document"),
        (b"<Error><Code>NoSuchKey</Code></Error>", "not a sitemap: its root element is 'Error'"),
        (b"<", "not a sitemap: it has no element"),
        (b"<!-- nothing -->", "not a sitemap: it has no element"),
        (b"\x1f\x8bnonsense", "not a sitemap: the compressed body is illegal"),
        (gzip.compress(b"x", mtime=0)[:4], "not a sitemap: the compressed body ends before its end"),
        (gzip.compress(b"hello", mtime=0), "not a sitemap: neither XML nor a list of URLs"),
    ],
)
def test_what_is_no_sitemap(body: bytes, message: str) -> None:
    reading = sitemap(body)
    assert (reading.kind, reading.exit_code, reading.entries) == ("xml", ExitCode.local_processing_error, ())
    assert reading.message.startswith(message)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("an element without end", b"<urlset><url><loc>/a</loc></url>" + b"<x>" * 300_000),
        ("a text without end", b"<urlset><url><loc>/a</loc></url><url><loc>" + b"&" * 3_000_000),
        ("junk between entries", b"<urlset><url><loc>/a</loc></url>" + b"<x/>" * 300_000 + b"</urlset>"),
        ("a line without end", b"https://site.example/a\nhttps://site.example/" + b"x" * 1_000_000),
        ("one tag of 2 MB", b"<urlset><url><loc>/a</loc></url><x " + b"a='1' " * 300_000 + b"/></urlset>"),
    ],
)
def test_what_would_cost_too_much_is_cut_and_marked(name: str, body: bytes) -> None:
    with traced_peak() as peak:
        reading = sitemap(body)
        assert peak() < 40 * MIB, name
    assert found(reading) == [f"{SITE}/a"], name
    assert reading.incomplete == ("broken",), name


async def test_a_sitemap_is_read_whole_however_busy_the_machine() -> None:
    ticks = iter(range(1, 10_000))
    reader = PageReader(FetchLimits(), "x", timer=lambda: next(ticks) / 4)  # 250 ms go by at each look
    body = urlset(*(f"/{number:060}" for number in range(50_000))).encode()
    reading = await reader.read(PAGE, answered(body, "text/xml"), sitemap=True)
    assert next(ticks) > 4 * 5
    assert (len(reading.entries), reading.incomplete) == (50_000, ())


async def test_the_deadline_keeps_what_was_found() -> None:
    ticks = iter([0.0] * 3 + [100.0] * 10_000)
    reader = PageReader(FetchLimits(parse_inline_bytes=1), "x", timer=lambda: next(ticks))
    body = urlset(*(f"/{number:060}" for number in range(9_999))).encode()
    reading = await reader.read(PAGE, answered(body, "text/xml"), sitemap=True)
    assert 0 < len(reading.entries) < 9_999
    assert reading.incomplete == ("deadline",)


async def test_a_reading_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    reader = PageReader(FetchLimits(parse_inline_bytes=1, parse_deadline_ms=20), "x")
    monkeypatch.setattr(reader, "_read_sitemap", lambda *_: release.wait())
    reading = await reader.read(PAGE, answered(b"<urlset/>", "text/xml"), sitemap=True)
    release.set()
    assert (reading.kind, reading.incomplete, reading.entries) == ("xml", ("deadline",), ())


@pytest.mark.parametrize(("body", "in_thread"), [(b"<urlset/>", False), (gzip.compress(b"<urlset/>", mtime=0), True)])
async def test_what_may_become_large_is_read_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, body: bytes, in_thread: bool
) -> None:
    seen: list[str] = []

    def note(*_: object) -> None:
        seen.append(threading.current_thread().name)
        raise RuntimeError("broken")

    monkeypatch.setattr("tui_crawler.fetch.extract.read_sitemap", note)
    reading = await PageReader(LIMITS, "x").read(PAGE, answered(body, "text/xml"), sitemap=True)
    assert (reading.exit_code, reading.message) == (ExitCode.local_processing_error, "RuntimeError: broken")
    assert (seen == ["reading"]) is in_thread


def test_a_page_that_is_read_as_a_page_has_no_entries() -> None:
    assert read(urlset("/a"), "application/xml").entries == ()


TOKENS = (
    b"<urlset> <sitemapindex> <url> </url> <loc> </loc> http://a.example/ & <![CDATA[ ]]> <!-- --> <item> <link> "
    b"<?xml </urlset> <!DOCTYPE <x:loc> xmlns='y' <lastmod>9999-99-99</lastmod> \x1f\x8b > \xe9 \0 \xff\xfe"
)
FRAGMENTS = st.sampled_from([*TOKENS.split(), b" ", b"\n"])


@given(st.lists(FRAGMENTS | st.binary(max_size=5), max_size=40).map(b"".join), st.booleans())
def test_no_bytes_raise(body: bytes, packed: bool) -> None:
    reader = PageReader(LIMITS, "x")
    data = gzip.compress(body, mtime=0) if packed else body
    reading = asyncio.run(reader.read(PAGE, answered(data, "application/xml"), sitemap=True))
    assert reading.exit_code in (ExitCode.file_ingested, ExitCode.local_processing_error)
    assert reading.exit_code is ExitCode.file_ingested or reading.message.startswith("not a sitemap: ")
