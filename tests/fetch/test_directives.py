"""What pages and their headers say to crawlers: robots directives, canonical, refresh."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.fetch.asking import answered
from tests.fetch.reading import LIMITS, PAGE, day, read
from tui_crawler.domain.records.attempt import Headers, Reading, RedirectSource, RequestRecord
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.fetch.extract import PageReader


@pytest.mark.parametrize(
    ("html", "headers", "noindex", "nofollow"),
    [
        ("<meta name=robots content=noindex>", (), True, False),
        ("<meta name=ROBOTS content='NOINDEX, nofollow'>", (), True, True),
        ("<meta name=robots content=none>", (), True, True),
        ("<meta name=robots content='index,follow'>", (), False, False),
        ("<meta name=robots content=noindexing>", (), False, False),
        ("<meta name=robots content=nofollow><meta name=example-crawler content=noindex>", (), True, True),
        ("<meta name=other-bot content=noindex>", (), False, False),
        ("<meta property=robots content=noindex>", (), False, False),
        ("", (("X-Robots-Tag", "noindex"),), True, False),
        ("", (("x-robots-tag", "max-snippet: 5, NoFollow"),), False, True),
        ("", (("X-Robots-Tag", "unavailable_after: 25 Jun 2027 15:00:00 PST, noindex"),), True, False),
        ("", (("X-Robots-Tag", "other-bot: noindex, nofollow"),), False, False),
        ("", (("X-Robots-Tag", "example-crawler: noindex"),), True, False),
        ("", (("X-Robots-Tag", "other-bot: noindex, Example-Crawler: nofollow"),), False, True),
        ("", (("X-Robots-Tag", "other-bot: none"), ("X-Robots-Tag", "nofollow")), False, True),
        ("", (("X-Robots-Tag", "none"),), True, True),
        ("<meta name=robots content='noarchive , noindex;'>", (), True, False),
        ("<meta name=robots content=' ;NOFOLLOW\t;; noindex '>", (), True, True),
        ("<meta name=robots content='noindex nofollow'>", (), True, True),
        ("<meta name=robots content='index, max-image-preview: none; max-snippet:-1'>", (), False, False),
        ("", (("X-Robots-Tag", "noarchive ; NoIndex;"),), True, False),
        ("", (("X-Robots-Tag", "noarchive nofollow"),), False, True),
        (
            "",
            (("X-Robots-Tag", "max-image-preview:none, unavailable_after: Fri, 25 Jun 2027 15:00 GMT"),),
            False,
            False,
        ),
        ("", (("X-Robots-Tag", "unavailable_after: Fri, 25 Jun 2027 15:00:00 GMT; noindex"),), True, False),
    ],
)
def test_robots_directives(html: str, headers: Headers, noindex: bool, nofollow: bool) -> None:
    reading = read(html, headers=headers)
    assert (reading.noindex, reading.nofollow) == (noindex, nofollow)


NOW = day("2026-06-01")
PAST = [
    "25 Jun 2010 15:00:00 PST",
    "25 jun 2010 15:00 GMT",
    "25-Aug-2010 15:00:00 EST",
    "Fri, 25 Jun 2010 15:00:00 +0200",
    "Friday, 25-Jun-10 15:00:00 GMT",
    "Fri Jun 25 15:00:00 2010",
    "25 June 2010",
    "Jun 25, 2010 15:00:00 GMT",
    "25 Jun 2010, 15:00:00 GMT",
    "2010-06-25",
    "2010-06-25T15:00:00Z",
    "2010-06-25 15:00:00 UTC",
    "2010-06-25T15:00:00+02:00",
    "2026-05-31T23:59:59Z",
    "2026-06-01T01:00:00+02:00",
]
NOT_PAST = ["25 Jun 2099 15:00:00 GMT", "2099-01-01", "2026-06-01T00:00:01Z", "2026-05-31T23:00:00-02:00"]
UNREADABLE = ["", "soon", "31 Feb 2010 15:00:00 GMT", "99999999999", "25 Jun", "June"]


def said(value: str, headers: Headers = (), *, at: int = NOW) -> Reading:
    """The reading of a page that was had at a time and says this in its meta element."""
    body = f"<meta name=robots content='{value}'><title>x</title>".encode()
    exchange = answered(body, "text/html", headers)
    had = RequestRecord(PAGE.href, "GET", at - 9, at - 5, at, 200)
    return asyncio.run(PageReader(LIMITS, "Example-Crawler").read(PAGE, replace(exchange, requests=(had,))))


@pytest.mark.parametrize("date", PAST)
def test_a_page_that_is_unavailable_after_a_past_date_is_noindex(date: str) -> None:
    for value in (f"unavailable_after: {date}", f"nofollow, Unavailable_After:{date}"):
        assert said(value).noindex
        assert said("", (("X-Robots-Tag", value),)).noindex
        assert said(value, at=day("2005-01-01")).noindex is False


@pytest.mark.parametrize("date", [*NOT_PAST, *UNREADABLE])
def test_a_date_to_come_or_one_that_cannot_be_read_says_nothing(date: str) -> None:
    reading = said(f"unavailable_after: {date}", (("X-Robots-Tag", f"unavailable_after: {date}, nofollow"),))
    assert (reading.noindex, reading.nofollow) == (False, True)


@pytest.mark.parametrize(
    ("values", "noindex", "nofollow"),
    [
        (("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST",), False, False),
        (("otherbot: noindex, unavailable_after: 25 Jun 2010 15:00:00 PST",), False, False),
        (("example-crawler: unavailable_after: Friday, 25-Jun-10 15:00:00 GMT",), True, False),
        (("otherbot: nofollow, example-crawler: unavailable_after: 2010-06-25T15:00:00Z, nofollow",), True, True),
        (("unavailable_after: Friday, 25-Jun-99 15:00:00 GMT, otherbot: noindex, nofollow",), True, False),
        (("unavailable_after: 25 Jun 2099 15:00:00 GMT", "nofollow"), False, True),
        (("unavailable_after: 25 Jun 2099, 15:00:00 GMT, nofollow",), False, True),
        (("otherbot: none", "unavailable_after: 25 Jun 2010 15:00:00 PST"), True, False),
    ],
)
def test_unavailable_after_belongs_to_the_bot_named_before_it(
    values: tuple[str, ...], noindex: bool, nofollow: bool
) -> None:
    reading = said("", tuple(("X-Robots-Tag", value) for value in values))
    assert (reading.noindex, reading.nofollow) == (noindex, nofollow)


def test_directives_in_the_header_hold_for_every_kind() -> None:
    fields = (("X-Robots-Tag", "noindex"), ("Link", '</doc>; rel="canonical"'))
    reading = read(b"%PDF", "application/pdf", fields)
    assert reading.noindex
    assert reading.canonical is not None
    assert reading.canonical.href == "https://site.example/doc"


@pytest.mark.parametrize(
    ("html", "headers", "canonical"),
    [
        ("<link rel=canonical href=/c>", (), "https://site.example/c"),
        ("<link rel='x CANONICAL' href=/c><link rel=canonical href=/d>", (), "https://site.example/c"),
        ("<base href=/b/><link rel=canonical href=c>", (), "https://site.example/b/c"),
        ("<link rel=canonical href='http://['>", (), None),
        ("<link rel=canonical>", (), None),
        ("", (("Link", "<c>; rel=canonical"),), "https://site.example/folder/c"),
        ("", (("Link", '</s.css>; rel=preload, </c>; title=x; rel="next canonical"'),), "https://site.example/c"),
        ("", (("Link", "</a,b>; rel=canonical"),), "https://site.example/a,b"),
        ("", (("Link", "</c>; rel=canonicals"),), None),
        ("", (("Link", "<<<<>>>>;;; rel=canonical"),), None),
        ("<link rel=canonical href=/html>", (("Link", "</header>; rel=canonical"),), "https://site.example/html"),
    ],
)
def test_canonical(html: str, headers: Headers, canonical: str | None) -> None:
    found = read(html, headers=headers).canonical
    assert (found.href if found else None) == canonical


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/next", "/next"),
        ("5; URL = '/next'", "/next"),
        ('0;url="/next" trailing', "/next"),
        ("0, /next", "/next"),
        ("1.5 url=/next", "/next"),
        (" 0 ; /next ", "/next"),
        ("0", None),
        ("5;", None),
        ("url=/next", None),
        ("nonsense", None),
        ("0;url=", None),
        ("0;url='", None),
        ("0;url=javascript:alert(1)", None),
        ("3;url=/folder/page?x=1", None),
        ("10;url=/next", "/next"),
        ("10.9;url=/next", "/next"),
        ("0000000010;url=/next", "/next"),
        (".5;url=/next", "/next"),
        ("-1;url=/next", None),
    ],
)
def test_a_refresh_is_a_redirect(content: str, target: str | None) -> None:
    attribute = content.replace('"', "&quot;")
    by_meta = read(f'<meta http-equiv=Refresh content="{attribute}">')
    by_header = read("", headers=(("Refresh", content),))
    for reading, source in ((by_meta, RedirectSource.meta_refresh), (by_header, RedirectSource.refresh_header)):
        assert (reading.refresh.target if reading.refresh else None) == target
        assert reading.refresh_source == (source if target else None)


@pytest.mark.parametrize("delay", ["11", "1800", "300.5", "9" * 5000])
def test_a_late_refresh_is_a_link(delay: str) -> None:
    """A reader sees the page long before it leads elsewhere."""
    by_meta = read(f'<base href=/base/><meta http-equiv=refresh content="{delay};url=next"><a href=/a>')
    by_header = read("<base href=/base/><a href=/a>", headers=(("Refresh", f"{delay};url=next"),))
    for reading, target in ((by_meta, "/base/next"), (by_header, "/folder/next")):
        assert reading.refresh is None
        assert {(link.kind, link.url.path) for link in reading.links} == {(LinkKind.a, "/a"), (LinkKind.a, target)}


def test_a_page_that_reloads_itself_late_links_to_nothing_new() -> None:
    assert read('<meta http-equiv=refresh content="300;url=/folder/page?x=1">').links == ()


def test_a_refresh_for_browsers_without_scripts_is_none() -> None:
    assert read("<noscript><meta http-equiv=refresh content='0;url=/x'></noscript>").refresh is None
