"""Content codings under a bound: right when legal, refused when not, and never more than allowed."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import traced_peak
from tui_crawler.fetch.coding import BodyDecoder, BodyTooLarge, IllegalCoding, TruncatedCoding

ROOM = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODE = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress}


def decode(codings: tuple[str, ...], data: bytes, step: int = 1 << 30, room: int = ROOM) -> bytes:
    decoder = BodyDecoder(codings, room, room)
    for start in range(0, len(data), step):
        decoder.feed(data[start : start + step])
    return decoder.finish()


@given(
    st.binary(max_size=4000),
    st.lists(st.sampled_from(sorted(ENCODE)), max_size=2).map(tuple),
    st.integers(1, 500),
)
def test_what_was_coded_comes_back(plain: bytes, codings: tuple[str, ...], step: int) -> None:
    data = plain
    for name in codings:
        data = ENCODE[name](data)
    assert decode(codings, data, step) == plain


@given(st.binary(max_size=400), st.sampled_from([("gzip",), ("deflate",), ("gzip", "deflate"), ()]))
def test_no_bytes_raise_anything_else(data: bytes, codings: tuple[str, ...]) -> None:
    for start in (b"", gzip.compress(b"hello")[:14], zlib.compress(b"hello")[:6]):
        try:
            assert len(decode(codings, start + data)) <= ROOM
        except (IllegalCoding, TruncatedCoding, BodyTooLarge) as error:
            assert str(error)


@pytest.mark.parametrize("step", [1, 3, 100])
def test_raw_deflate_is_understood(step: int) -> None:
    assert decode(("deflate",), raw_deflate(b"hello" * 50), step) == b"hello" * 50


@pytest.mark.parametrize("step", [1, 2, 1000])
def test_several_gzip_members_and_padding(step: int) -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 30
    assert decode(("gzip",), data, step) == b"one two"


def test_data_after_deflate_is_ignored() -> None:
    assert decode(("deflate",), zlib.compress(b"hello") + b"more") == b"hello"


def test_no_data_is_an_empty_body() -> None:
    assert decode(("gzip",), b"") == decode(("deflate", "gzip"), b"") == b""


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_every_cut_of_a_coded_body_is_truncated(name: str) -> None:
    data = ENCODE[name](b"hello hello hello")
    for end in range(1, len(data)):
        with pytest.raises(TruncatedCoding):
            decode((name,), data[:end])


def test_a_truncated_inner_coding_is_truncated() -> None:
    with pytest.raises(TruncatedCoding):
        decode(("gzip", "gzip"), gzip.compress(gzip.compress(b"hello")[:-3]))


def test_a_wrong_checksum_is_illegal() -> None:
    data = bytearray(gzip.compress(b"hello"))
    data[-5] ^= 1
    with pytest.raises(IllegalCoding):
        decode(("gzip",), bytes(data))


@pytest.mark.parametrize("name", ["br", "zstd", "compress", "utf-8", "none", ""])
def test_other_codings_are_illegal(name: str) -> None:
    with pytest.raises(IllegalCoding, match=name or "''"):
        BodyDecoder((name,), ROOM, ROOM)


def test_too_many_members_are_illegal() -> None:
    with pytest.raises(IllegalCoding, match="members"):
        decode(("gzip",), gzip.compress(b"") * 1_001)


@pytest.mark.parametrize("codings", [("gzip",), ("gzip", "gzip"), ("deflate", "gzip")])
def test_a_bomb_stops_at_the_bound(codings: tuple[str, ...]) -> None:
    data = bytes(64 << 20)
    for name in codings:
        data = ENCODE[name](data)
    decoder = BodyDecoder(codings, ROOM, ROOM)
    with traced_peak() as peak:
        with pytest.raises(BodyTooLarge):
            decoder.feed(data)
        assert peak() < 4 * ROOM
    assert len(decoder.body) <= ROOM


def test_a_bomb_between_two_codings_stops_too() -> None:
    nothing = raw_deflate(b"")[:-2] + b"\x00\x00\x00\xff\xff" * 400_000
    with pytest.raises(BodyTooLarge, match="between"):
        decode(("deflate", "gzip"), gzip.compress(b"\x78\x9c" + nothing), room=ROOM)


def test_truncating_keeps_the_beginning() -> None:
    decoder = BodyDecoder(("gzip",), 1000, ROOM, truncate=True)
    decoder.feed(gzip.compress(b"0123456789" * 1000))
    assert decoder.finish() == b"0123456789" * 100
    assert decoder.cut
