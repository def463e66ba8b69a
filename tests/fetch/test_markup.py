"""Guards before parsing, held against the parser that they protect."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.fetch.reading import LIMITS
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.markup import _may_be_oversized, _tags, guard_html, guard_xml
from tui_crawler.fetch.tree import parse_html, parse_xml

STRICT = FetchLimits(max_tag_attributes=1)
PIECES = (
    b"<a <b </a <! <!-- <!-> <? --> --!> -- <script <script> </script> <title> </title> <textarea></textarea> "
    b"> = \" ' x y=z / < ! <!--> <xmp> </xmp x>"
).split(b" ")


def most_attributes(data: bytes) -> int:
    root = parse_html(data, FetchLimits(max_tag_attributes=10_000), never).root
    return 0 if root is None else max(len(element.attrib) for element in root.iter(etree.Element))


def never() -> bool:
    return False


@given(st.lists(st.sampled_from([*PIECES, b" "]), max_size=30).map(b"".join))
@example(b"<script><!--<script></script>'<b --><!</script></a><b x y z>")
@example(b'<!--!><title>"--><b x y z>')
@example(b'<a b=="><b x y z>">')
@example(b'<a ="><b x y z>">')
@example(b"<script x y z><b x y z></script>")
def test_the_guard_sees_every_tag_that_the_parser_sees(data: bytes) -> None:
    safe, cut = guard_html(data, STRICT)
    assert safe is not None
    assert most_attributes(safe) <= 1
    assert cut == ("tag",) or safe == data


@given(st.lists(st.sampled_from([*PIECES, b" ", b"xxxxxxxx"]), max_size=30).map(b"".join), st.integers(1, 40))
@example(b'<a b="xxxxxxxx>xxxxxxxx>">', 15)
@example(b">xxxxxxxx<a xxxxxxxx", 8)
def test_the_quick_look_passes_over_no_long_tag(data: bytes, least: int) -> None:
    longest = max((end - start for start, end in _tags(data, False)), default=0)
    assert longest < least or _may_be_oversized(data, least)


def test_what_an_oversized_tag_opens_stays_open() -> None:
    attributes = b" ".join(b"a%d" % number for number in range(1_001))
    safe, _ = guard_html(b"<script " + attributes + b"><p " + attributes + b"></script><p>", LIMITS)
    assert safe == b"<script><p " + attributes + b"></script><p>"


@pytest.mark.parametrize("ending", [b"", b">", b"'", b'"', b"</script", b"-->"])
@pytest.mark.parametrize(
    "start", [b"<", b"<a", b"<a b=", b"<a b='", b"<!--", b"<!", b"<script>", b"<script><!--<script>", b"</"]
)
def test_markup_that_never_ends_is_left_as_it_is(start: bytes, ending: bytes) -> None:
    data = start * 3_000 + ending
    safe, _ = guard_html(data, LIMITS)
    assert safe is not None
    assert most_attributes(safe) <= LIMITS.max_tag_attributes


def test_the_input_is_cut_before_the_tag_that_is_too_many() -> None:
    limits = FetchLimits(max_tags=3)
    assert guard_html(b"<a><b><c>x", limits) == (b"<a><b><c>x", ())
    assert guard_html(b"<a><b><c>x<d>y", limits) == (b"<a><b><c>x", ("tags",))
    assert guard_xml(b"<a><b><c>x<d>y", limits) == (b"<a><b><c>x", ("tags",))
    late = b"x" * 200_000 + b"<a>" * 4
    assert guard_html(late, limits)[0] == late[:-3]


def test_nothing_is_parsed_after_the_deadline() -> None:
    parsed = parse_html(b"<a href=/x>", LIMITS, lambda: True)
    assert (parsed.root, parsed.incomplete) == (None, ("deadline",))


@pytest.mark.parametrize("data", [b"", b"no markup", b"\xff\xfe"])
def test_xml_that_is_none_gives_no_tree(data: bytes) -> None:
    assert parse_xml(data, LIMITS, never).root is None
