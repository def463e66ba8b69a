"""Request heads and chunks, pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_crawler.demo.responses import (
    DemoRequest,
    MalformedRequest,
    break_chunks,
    chunk_body,
    parse_request,
    render_head,
)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_malformed(head: bytes) -> None:
    try:
        request = parse_request(head)
    except MalformedRequest:
        return
    assert request.target.startswith("/")
    assert request.version.startswith("HTTP/1.")


@given(
    st.sampled_from(["GET", "HEAD", "POST"]),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30),
)
def test_a_good_head_is_read_as_it_was_written(method: str, path: str, value: str) -> None:
    request = parse_request(f"{method} /{path} HTTP/1.1\r\nX-One: {value}\r\nx-one:two\r\n\r\n".encode())
    assert (request.method, request.target) == (method, "/" + path)
    assert request.header("x-one") == f"{value}, two"
    assert request.header("x-two") is None


@pytest.mark.parametrize(
    ("version", "connection", "kept"),
    [
        ("HTTP/1.1", None, True),
        ("HTTP/1.1", "Close", False),
        ("HTTP/1.1", "upgrade, close", False),
        ("HTTP/1.0", None, False),
        ("HTTP/1.0", "Keep-Alive", True),
    ],
)
def test_who_keeps_the_connection(version: str, connection: str | None, kept: bool) -> None:
    headers = () if connection is None else (("connection", connection),)
    assert DemoRequest("GET", "/", version, headers).keeps_alive is kept


@given(st.binary(max_size=5000))
def test_chunks_put_together_are_the_body(body: bytes) -> None:
    rest, together = chunk_body(body), b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        together, end, rest = together + rest[:length], rest[length : length + 2], rest[length + 2 :]
        assert end == b"\r\n"
        if length == 0:
            break
    assert (together, rest) == (body, b"")


def test_a_broken_chunk_size_is_no_number() -> None:
    size = break_chunks(b"x" * 3000).split(b"\r\n")[-2]
    with pytest.raises(ValueError, match="invalid literal"):
        int(size, 16)


def test_statuses_without_a_name_have_one_anyway() -> None:
    assert render_head(799, None, ()) == b"HTTP/1.1 799 Unknown\r\n\r\n"
    assert render_head(200, "[/]", (("A", "b"),)) == b"HTTP/1.1 200 [/]\r\nA: b\r\n\r\n"
