"""A stored body in colours: by its media type, in every row of it, never slow, and nothing of it is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.console.url.rows import text_lines
from tui_crawler.text.cells import Styled, cell_text

HTML, JSON, CSS = "text/html; charset=utf-8", "application/json", "text/css"


def roles(text: str, kind: str, width: int = 200) -> list[tuple[str, str]]:
    """The pieces that have a role."""
    rows = text_lines(text.encode(), len(text.encode()), kind, width)
    return [
        (one.text, one.role)
        for row in rows
        if isinstance(row, tuple)
        for one in row[1:]
        if isinstance(one, Styled) and one.role
    ]


def test_markup_json_and_styles_have_colours() -> None:
    assert roles('<a href="/x">hi &amp; you</a><!-- no', HTML) == [
        ("<a", "accent"), ('"/x"', "ok"), (">", "accent"), ("&amp;", "client"), ("</a", "accent"), (">", "accent"),
        ("<!-- no", "faint"),
    ]  # fmt: skip
    assert roles('{"a\\"b": "c", "n": -1.5e3, "t": true}', JSON) == [
        ('"a\\"b"', "accent"), ('"c"', "ok"), ('"n"', "accent"), ("-1.5e3", "client"), ('"t"', "accent"),
        ("true", "client"),
    ]  # fmt: skip
    assert roles("a { color: #0af; } /* x */", CSS) == [("color", "accent"), ("#0af", "client"), ("/* x */", "faint")]
    assert roles("<b>", "text/plain") == []


@given(
    st.text(st.characters(codec="utf-8"), max_size=80),
    st.sampled_from([HTML, JSON, CSS, "text/plain"]),
    st.integers(14, 60),
)
def test_colours_change_no_text(text: str, kind: str, width: int) -> None:
    data = text.encode()
    plain, coloured = (
        text_lines(data, len(data), one, width) for one in ("text/plain; charset=utf-8", f"{kind}; charset=utf-8")
    )
    assert [cell_text(one) for one in plain] == [cell_text(one) for one in coloured]  # type: ignore[arg-type]  # cells


@pytest.mark.parametrize("kind", [HTML, JSON, CSS])
@pytest.mark.parametrize(
    "part", ['"\\', '"\\"', "<", "<!--", '="', "a", "a-", "&", "&#", "/*", "'", "1.", "\\", '" ', "-", "]]>"]
)
def test_no_body_makes_it_slow(kind: str, part: str) -> None:
    data = (part * 65_536)[:65_536].encode()
    began = time.process_time()
    text_lines(data, len(data), kind, 120)
    assert time.process_time() - began < 2
