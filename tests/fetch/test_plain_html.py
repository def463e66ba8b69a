"""Ordinary HTML is read without a tree: as with one, on whatever markup."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from tests.fetch.asking import answered
from tests.fetch.reading import LIMITS, PAGE
from tui_crawler.domain.records.attempt import Reading
from tui_crawler.domain.url import SiteLinks
from tui_crawler.fetch.page import PageReading
from tui_crawler.fetch.plain_html import may_be_deep, plain_tags

CORPUS = json.loads((Path(__file__).parent / "corpora" / "html5lib_encoding.json").read_text(encoding="utf-8"))
HEADS = (
    b"<!doctype html>|<html>|<html lang=en>|<head>|</head>|<title>One &amp; two</title>"
    b"|<title lang='de'> x\n</title>|<title></title>|<title>|<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'>"
    b'|<!--[if IE]> <a href=/no> <![endif]-->|<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd">'
    b"|<svg><title>s</title></svg>|<script>x = '<b></b>' < 1</script>|<script><!-- <script></script>"
    b"|<style><b></style>|<script></script |<base href=/other/>|<base target=_top>|<meta charset=utf-8>"
    b"|<meta name=Robots content='noindex, nofollow'/>|<meta http-equiv=refresh content='0; url=/next'>"
    b"|<link rel=canonical href=/c>|<link rel='stylesheet' href=s.css />|<script src=/s.js></script>"
    b"|<script>if (a > b) '<a href=no>'</script>|<style>p { }</style>|<!-- a <a href=/no> -->|<!-- - -->|<!-->"
    b"|<link rel='shortcut icon' href=/i.ico>|<link rel=preload as=font href=/f>|<link rel=next href=/n><meta name=x>"
    b"|<meta property=og:image content='/o.png'>|<!--->|<noscript>|</noscript>"
    b"|<body class=x>|<svg>|</svg>|</html>|</body>"
).split(b"|")
BODIES = (
    b'<a href="/x">x</a>|<a href="">|<a href="/y">two words</a>|<a href=/u/ rel=nofollow>'
    b"|<a\nclass='q' href='z?a=1&b=2' >|<a href=/1 href=/2>|<a HREF=/up>|<a name=n>|<wbr>|<a href=/e/>|<a href=/e />"
    b"|<a href='x'/>|<a>|</a>|</a >|<b>|</b>|<i>|</i>|<span class=\"s t\">|</span>|<code>|</code>|<p>|</p>"
    b"|<div id=d>|</div>|<ul><li>|</ul>|<br>|<br/>|<img src=/i alt=pic>|<img srcset='/1.png 1x, /2.png 2x'/>|<td>"
    b"|<table>|</table>|<area href=/area alt='the  map'>|<input type=IMAGE src=b>|<video src=v poster=/p></video>"
    b"|<object data=/o>|</object>|<audio src=/a>|<embed src=/e>|<select>|<option>|<form>|<textarea>"
    b"|<textarea><a href=/no></textarea>|</textarea>|<path d=1 />|<div/>|<iframe src=/f></iframe>|<source src=/s>"
    b'|<template>|<a-b c>|<h1>|</h1>|<center>|<A HREF=/big>|<a href="data:,x">d</a>|<a href=" /s ">s</a>'
    b'|<a href="http://[/">bad</a>|<a href="/&amp;&lt;">&hellip;</a>|<a href=\'?x=1&copy=2&amp;y\'>|&nbsp;&#8217;'
    b"|&#128;|&notit;|&bogus;|&copy|& |&|<|>|\"|'|=|/|<a |<img |x|word word| |\n|\r\n|\t|\xc3\xa9|\x01|\x0b"
    b"|\xc2\x85|\xe2\x80\xa8|\x00|]]>|<?php x ?>|<![CDATA[x]]>|</|</p x>|<p / >|<p =x>|</body>|</html>|<a href=x<y>"
    b"|<a href='a>b'>c</a>|<form action=/do method=post>|<blockquote cite=/q>|<q class=x CITE='/q'>|<ins cite>"
    b"|<quux cite=/no>"
    b"|<button type=submit formaction=/f>b</button>|<button>|<input formaction=/i>|<track src=/t>|<use href=#i></use>"
    b"|<use xlink:href='/s.svg#i'/>|<svg>|</svg>|<a xlink:href=/svg>s</a>|<image href=/j>|<math>|</math>"
    b"|<mi href=/m>x</mi>"
    b"|<main data-href=/no>|<map name=href>|<iframe src=/g srcdoc=x></iframe>"
).split(b"|")


def reading_of(body: bytes, *, tree: bool) -> Reading:
    tags = body.count(b"<")
    return (
        PageReading(
            PAGE,
            answered(body, "text/html; charset=utf-8"),
            LIMITS,
            "Example-Crawler",
            SiteLinks(),
            lambda: False,
            tags,
            tree,
        )
        .read()
        .reading
    )


PARTS = st.tuples(
    st.sampled_from(
        (b"", b"<?xml version='1.0' encoding='UTF-8'?>\n", b"<?xml?>", b"<?xml >x", b" <?xml version='1.0'?>")
    ),
    st.lists(st.sampled_from(HEADS), max_size=5).map(b"".join),
    st.lists(st.sampled_from(BODIES), max_size=8).map(b"".join),
).map(b"".join)


@given(PARTS)
@example(b'<a href="/x"><b>one <i>two</i></b> three</a><a href=/y><b>x</a></b>')
@example(b"<title>one</title><title>two</title><a href=/x>")
@example(b"</a> x\n</html>\n<a href=/y>y</a> z")
def test_the_reading_of_ordinary_markup_is_that_of_its_tree(body: bytes) -> None:
    event("ordinary" if plain_tags(body.replace(b"\0", b""), LIMITS) is not None else "odd")
    assert reading_of(body, tree=False) == reading_of(body, tree=True)


def test_the_corpus_is_read_as_its_trees_are() -> None:
    for case in CORPUS["cases"]:
        body = case["data"].encode("latin-1")
        assert reading_of(body, tree=False) == reading_of(body, tree=True), case["data"]


def test_ordinary_pages_are_read_without_a_tree() -> None:
    page = (
        b'<!doctype html><title>&copy; x</title><p><a class="y" href="/y?a=1&b=2"><b>z</b><br>1</a><script>a<b</script>'
    )
    assert plain_tags(page, LIMITS) == [
        ("title", "", {"": "\xa9 x"}),
        ("a", "/y?a=1&b=2", {"class": "y", "href": "/y?a=1&b=2", "": "z1"}),
        ("script", "", {}),
    ]
    assert plain_tags(b'<?xml version="1.0" encoding="UTF-8"?>\n' + page, LIMITS) == plain_tags(page, LIMITS)
    assert plain_tags(page + b"<a href=/x>", LIMITS) is None


def test_a_page_with_many_tags_is_read_as_its_tree_is() -> None:
    flat = b"<!doctype html><title>x</title>" + b"<p>y <b>z</b> <a href=/q>q</a></p>" * 600
    deep = b"<!doctype html><title>x</title>" + b"<i>" * 2_100 + b"<a href=/q>q</a>" + b"</i>" * 2_100
    for page in (flat, deep):
        assert reading_of(page, tree=False) == reading_of(page, tree=True)
    assert reading_of(deep, tree=False).incomplete == ("depth",)


NESTED = (
    (b"<p>", 1), (b"<wbr>", 1), (b"<b><div></b>", 1), (b"<i><b>x</b>", 1), (b"<div><p>", 1), (b"<ul><li>x", 1),
    (b"<b><i><p>x</p></i></b>", 0), (b"<script>'<b></b>'</script><u>", 1), (b"<!-- </u> --><u>", 1),
    (b"<div class=x><a href=/q>q</a>", 1), (b"<b><!-- <i> --></i></b>", 1),
)  # fmt: skip
"""Markup, and whether elements stay open, or may, when it is repeated."""


@pytest.mark.parametrize(("part", "may_stay_open"), NESTED)
@pytest.mark.parametrize("number", [600, 1_100, 2_030, 2_300])
def test_what_is_nested_too_deeply_is_found_out(part: bytes, may_stay_open: int, number: int) -> None:
    page = b"<!doctype html><title>x</title>" + part * number + b"<a href=/last>z</a>"
    assert reading_of(page, tree=False) == reading_of(page, tree=True)
    if not may_stay_open:
        assert not may_be_deep(page, page.count(b"<"))
