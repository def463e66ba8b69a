"""Header values of a hostile server: what is understood, and that nothing raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.fetch.headers import (
    LONGEST_WAIT_MS,
    clean_message,
    content_codings,
    content_type,
    decode_headers,
    location_text,
    retry_after_ms,
    same_etag,
)

NOW = 784_111_777_000  # Sun, 06 Nov 1994 08:49:37 GMT
LATER = "Sun, 06 Nov 1994 08:50:37 GMT"


@pytest.mark.parametrize(
    ("value", "date", "wait"),
    [
        ("0", None, 0),
        ("120", None, 120_000),
        (" 7 ", None, 7_000),
        ("999999999999", None, LONGEST_WAIT_MS),
        ("9" * 400, None, LONGEST_WAIT_MS),
        ("-5", None, None),
        ("1.5", None, None),
        ("1e3", None, None),
        ("\u0663", None, None),
        ("", None, None),
        (None, None, None),
        ("soon", None, None),
        (LATER, None, 60_000),
        ("Sunday, 06-Nov-94 08:50:37 GMT", None, 60_000),
        ("Sun Nov  6 08:50:37 1994", None, 60_000),
        (LATER, "Sun, 06 Nov 1994 08:50:07 GMT", 30_000),
        (LATER, "nonsense", 60_000),
        (LATER, "Sun, 06 Nov 1994 09:00:00 GMT", 0),
        ("Sun, 06 Nov 1993 08:50:37 GMT", None, 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None, LONGEST_WAIT_MS),
        ("Fri, 99 Dec 99999 23:59:59 GMT", None, None),
    ],
)
def test_retry_after(value: str | None, date: str | None, wait: int | None) -> None:
    assert retry_after_ms(value, date, NOW) == wait


@given(st.text(), st.text(), st.integers(0, 1 << 45))
def test_retry_after_never_raises(value: str, date: str, now: int) -> None:
    wait = retry_after_ms(value, date, now)
    assert wait is None or 0 <= wait <= LONGEST_WAIT_MS


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('"a"', '"a"', True),
        ('W/"a"', '"a"', True),
        ('"a"', 'W/"a"', True),
        ('"a"', '"b"', False),
        ("", "", False),
        ("", '"a"', False),
        ("unquoted", "unquoted", True),
        ('w/"a"', '"a"', False),
    ],
)
def test_weak_comparison(one: str, other: str, same: bool) -> None:
    assert same_etag(one, other) is same


@pytest.mark.parametrize(
    ("value", "mime", "charset"),
    [
        ("text/html", "text/html", ""),
        ("Text/HTML; Charset=UTF-8", "text/html", "UTF-8"),
        ('text/html;charset="utf-8"', "text/html", "utf-8"),
        ("text/html; charset='utf-8'", "text/html", "utf-8"),
        ("text/html ; x=y ; charset = koi8-r ; z", "text/html", "koi8-r"),
        ("text/html, text/plain", "text/html", ""),
        ("charset=utf-8", "", ""),
        ("nonsense", "", ""),
        ("", "", ""),
        ("application/rss+xml;charset", "application/rss+xml", ""),
    ],
)
def test_content_type(value: str, mime: str, charset: str) -> None:
    assert content_type(value) == (mime, charset)


def test_content_codings_keep_their_order() -> None:
    assert content_codings(["deflate, GZIP", "identity", " , br"]) == (("deflate", "gzip", "br"), "")
    assert content_codings(["gzip, UTF-8", "none"]) == (("gzip",), "utf-8")
    assert content_codings([]) == ((), "")


def test_headers_are_cut_by_whole_fields() -> None:
    raw = [(b"A", b"1"), (b"B", b"\xe9" * 10), (b"C", b"3")]
    assert decode_headers(raw, 27) == ((("A", "1"), ("B", "\xe9" * 10), ("C", "3")), False)
    assert decode_headers(raw, 26) == ((("A", "1"), ("B", "\xe9" * 10)), True)
    assert decode_headers(raw, 5) == ((), True)


def test_a_location_is_utf_8_if_it_can_be_else_its_bytes_stay() -> None:
    assert location_text("caf\xc3\xa9") == "café"
    assert location_text("caf\xe9?q=\xef") == "caf%E9?q=%EF"
    assert location_text("/plain") == "/plain"


@given(st.text(max_size=1000))
def test_a_message_is_printable_and_short(text: str) -> None:
    cleaned = clean_message(text)
    assert len(cleaned) <= 300
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in "\u202e\u2066\u2028" for char in cleaned)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean_message(cleaned) == cleaned
