"""Indexes of web archives: keys as the surt package makes them, which cdxj-indexer and pywb use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.export.warc_index import index_path, surt_key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://127.0.0.1:8000/", "1,0,0,127:8000)/"),
        ("https://www.example.org/", "org,example)/"),
        ("https://www2.example.org/A//b/?", "org,example)/a/b"),
        ("http://example.org:80/", "org,example)/"),
        ("https://example.org:8443/x?b=2&a=1&a", "org,example:8443)/x?a&a=1&b=2"),
        ("http://example.org/a/?x=", "org,example)/a?x="),
        ("http://example.org/%E4%BD%A0%20b%2520c", "org,example)/%e4%bd%a0%20b%20c"),
        ("http://example.org/a%2Fb", "org,example)/a/b"),
        ("http://example.org/a?q=%26x&b=%23", "org,example)/a?b=%23&q=&x"),
        ("http://example.org/x?PHPSESSID=0123456789abcdef0123456789abcdef&z=1", "org,example)/x?z=1"),
        ("http://example.org/x?z=1&sid=0123456789abcdef0123456789abcdef", "org,example)/x?&z=1"),
        ("http://[::1]:8080/x", "::1:8080)/x"),
        ("http://example.org/(a(0123456789abcdefghijklmn))/x.aspx?b", "org,example)/x.aspx?b"),
        ("http://example.org/x?&&", "org,example)/x?&&"),
        ("http://example.org/x?a=1&a", "org,example)/x?a&a=1"),
        ("http://xn--bcher-kva.example/x", "example,xn--bcher-kva)/x"),
        ("http://example.org/a/%2e%2e/b", "org,example)/b"),
        ("http://a.www.example.org/", "org,example,www,a)/"),
        ("http://www.www.example.org/x/y/", "org,example,www)/x/y"),
        ("http://example.org/x?q=a+b%20c&e=1", "org,example)/x?e=1&q=a+b%20c"),
        ("http://example.org/?cfid=1&cftoken=2&x", "org,example)/?x"),
        ("http://example.org/?/", "org,example)/?/"),
        ("http://example.org/%", "org,example)/%25"),
        ("http://example.org/x/..%2fy", "org,example)/y"),
    ],
)
def test_a_key_is_that_of_surt(url: str, key: str) -> None:
    assert surt_key(url) == key


@given(st.text(max_size=30))
def test_a_key_is_one_word_of_ascii(text: str) -> None:
    url = normalise(f"http://example.org/{text}")
    if isinstance(url, CrawlUrl):
        key = surt_key(url.href)
        assert key.isascii()
        assert len(key.split()) == 1


@pytest.mark.parametrize("name", ["x.warc.gz", "x.warc", "x.gz", "x", "x.warc.gz.open"])
def test_an_index_stands_next_to_its_archive(name: str) -> None:
    assert index_path(Path("folder", name)) == Path("folder", "x.cdxj")
