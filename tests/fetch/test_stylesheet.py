"""The links of CSS: in style sheets, style elements and style attributes; compared with a whole tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tinycss2
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import answered, crawl_url
from tests.fetch.reading import LIMITS, hrefs, read
from tui_crawler.domain.records.attempt import RefusedCount
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.page import stylesheet_links

CSS, IMG, OBJECT = LinkKind.css, LinkKind.img, LinkKind.object


def links(text: str) -> list[tuple[LinkKind, str]]:
    return [link[:2] for link in stylesheet_links(text, lambda: False)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@import 'a.css';", [(CSS, "a.css")]),
        ('@IMPORT "a.css" screen;', [(CSS, "a.css")]),
        ("@import url(a.css);@import url( 'b.css' ) layer(x) supports(a:url(no));", [(CSS, "a.css"), (CSS, "b.css")]),
        ('a{b:url(x.png)} c{d:URL( "y z.png" )}', [(IMG, "x.png"), (IMG, "y z.png")]),
        ("a{b:url(x), url(y) , linear-gradient(red, blue), url(z)}", [(IMG, "x"), (IMG, "y"), (IMG, "z")]),
        (
            "@font-face{src:url(f.woff2) format('woff2'),url('f.ttf')} a{b:url(i)}",
            [(OBJECT, "f.woff2"), (OBJECT, "f.ttf"), (IMG, "i")],
        ),
        ("@media print{@font-face{src:url(f)} a{b:url(i)}}", [(OBJECT, "f"), (IMG, "i")]),
        ("@namespace svg url(http://www.w3.org/2000/svg); @charset 'x'; a{b:url(i)}", [(IMG, "i")]),
        ("/* url(no) @import 'no'; */ a{b:url(yes)} /* url(no)", [(IMG, "yes")]),
        ("a{content:'url(no)'; b:\"@import 'no'\"}", []),
        ("a{b:curl(no) -url(no) url-x(no) #url(no) @url(no)}", []),
        ("a{b:url()} c{d:url('')} e{f:url( )}", []),
        ("a{b:url(data:image/png;base64,AA==)} c{d:url(' DATA:x')}", []),
        ("a{filter:url(#shadow)} b{c:url(sprite.svg#icon)}", [(IMG, "sprite.svg#icon")]),
        ("a{b:url(a b)} c{d:url(e'f)} g{h:url(yes)}", [(IMG, "yes")]),
        ("a{b:url('broken\n)} c{d:url(yes)}", [(IMG, "yes")]),
        (r"a{b:url(a\)b\(c)} d{e:url('a\'b')}", [(IMG, "a)b(c"), (IMG, "a'b")]),
        (r"a{b:url(\41 b\000043)} d{e:url('\e9t\e9')}", [(IMG, "AbC"), (IMG, "été")]),
        (r"a{b:url('\110000x\0y\d800z')}", [(IMG, "\ufffdx\ufffdy\ufffdz")]),
        ("a{b:url('one\\\ntwo')}", [(IMG, "onetwo")]),
        (r".a\"b{c:url(yes)} .d\'{e:url(too)}", [(IMG, "yes"), (IMG, "too")]),
        ("a{b:url(x", [(IMG, "x")]),
        ("a{b:url('x", []),
        ("", []),
    ],
)
def test_the_links_of_a_style_sheet(text: str, found: list[tuple[LinkKind, str]]) -> None:
    assert links(text) == found


def reference(text: str) -> list[tuple[LinkKind, str]]:
    """The same answer, from every token that tinycss2 makes of a text."""
    tokens = list(flat(tinycss2.parse_component_value_list(text, skip_comments=True)))
    found: list[tuple[LinkKind, str]] = []
    statement, font = "", False
    for place, (token, ends) in enumerate(tokens):
        if token.type == "at-keyword":
            statement = token.lower_value
            font = font or statement == "font-face"
        elif token.type == "{} block" or (token.type == "literal" and token.value == ";"):
            statement = ""
        elif ends:
            statement, font = "", False
        raw = None
        if token.type == "url":
            raw = token.value
        elif token.type == "function" and token.lower_name == "url":
            raw = string_in(token.arguments)
        elif (
            token.type == "string"
            and statement == "import"
            and not in_url(tokens, place)
            and not is_open([each for each, _ in tokens], place)
        ):
            raw = token.value
        if raw is None or statement in ("namespace", "charset"):
            continue
        kind = CSS if statement == "import" else OBJECT if font else IMG
        statement = "charset" if statement == "import" else statement
        raw = raw.strip()
        if raw and raw[0] != "#" and raw[:5].lower() != "data:":
            found.append((kind, raw))
    return found


def flat(tokens: list[Any]) -> Iterator[tuple[Any, bool]]:
    """All tokens with those in blocks and functions; whether one stands for the end of a {} block."""
    for token in tokens:
        yield token, token.type == "error" and token.kind == "}"
        for inner in (getattr(token, "content", None), getattr(token, "arguments", None)):
            if isinstance(inner, list):
                yield from flat(inner)
        if token.type == "{} block":
            yield tinycss2.ast.Comment(0, 0, ""), True


def string_in(arguments: list[Any]) -> str | None:
    """The string of `url("…")`, if it is whole."""
    parts = [token for token in arguments if token.type != "whitespace"]
    return parts[0].value if parts and parts[0].type == "string" and not is_open(parts, 0) else None


def in_url(tokens: list[tuple[Any, bool]], place: int) -> bool:
    before = [token for token, _ in tokens[:place] if token.type != "whitespace"]
    return bool(before) and before[-1].type == "function" and before[-1].lower_name == "url"


def is_open(tokens: list[Any], place: int) -> bool:
    """Whether a string has no end."""
    return place + 1 < len(tokens) and tokens[place + 1].type == "error" and tokens[place + 1].kind == "eof-in-string"


TOKENS = (
    "url( URL(' url(\" ) ') \") a.png ' \" ; { } @import @font-face ( @namespace @media /* */ \\29 x: data: # url(ok) "
    "url('ok') é , 1 /"
)
PIECES = st.sampled_from([*TOKENS.split(), " ", "\n", "b c"])


@given(st.lists(PIECES, max_size=14).map("".join))
def test_a_whole_tokenizer_finds_the_same(text: str) -> None:
    assert links(text) == reference(text)


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    assert all(raw for _, raw in links(text))


@pytest.mark.parametrize(
    "unit",
    [
        *("{", "url(", '"', '"\n', "/*", "\\", "@import ", "u", "url( ", "url('", "url(\\", "*", "url(a "),
        *("'\\", "é", "@", "(", "a{b:"),
    ],
)
def test_a_long_text_without_sense_takes_one_pass(unit: str) -> None:
    assert len(links("a{b:url(first)}" + unit * 100_000)) >= 1


def test_the_time_may_be_over() -> None:
    assert len(list(stylesheet_links("a{b:url(x)}" * 10_000, lambda: True))) < 10_000


async def test_a_style_sheet_is_resolved_against_itself() -> None:
    sheet = crawl_url("https://site.example/css/main.css")
    body = (
        b"@charset 'utf-8'; @import '../base.css'; a{b:url(i.png)} c{d:url(i.png)} "
        b"e{f:url(http://[/)} @font-face{src:url(/f.woff)}"
    )
    reading = await PageReader(LIMITS, "x").read(sheet, answered(body, "text/css"))
    assert (reading.kind, reading.exit_code) == ("css", ExitCode.file_ingested)
    assert [(link.kind, link.url.path, link.text, link.nofollow) for link in reading.links] == [
        (CSS, "/base.css", "", False),
        (IMG, "/css/i.png", "", False),
        (OBJECT, "/f.woff", "", False),
    ]
    assert reading.refused == (RefusedCount("invalid_url", 1, "http://[/"),)


def test_style_elements_and_attributes_of_a_page() -> None:
    reading = read(
        "<base href=/b/><style>@import 'one.css'; p{background:url(one.png)}</style><p style='background:URL(two.png)'>"
        "<a href=x style=\"color:red;background:url('three.png')\">t</a><b style='width:calc(1px)'><img src=one.png>"
    )
    assert hrefs(reading, CSS) == ["https://site.example/b/one.css"]
    assert hrefs(reading, IMG) == [f"https://site.example/b/{name}.png" for name in ("one", "two", "three")]
    assert hrefs(reading) == ["https://site.example/b/x"]


def test_links_of_styles_count_to_the_bound() -> None:
    style = "".join(f"p{{b:url({number})}}" for number in range(20))
    reading = read(f"<style>{style}</style>", limits=FetchLimits(max_links=10))
    assert (len(reading.links), reading.incomplete) == (10, ("links",))


async def test_a_deadline_within_a_style_sheet_is_marked() -> None:
    ticks = iter([0.0] * 3 + [100.0] * 10_000)
    reader = PageReader(FetchLimits(parse_inline_bytes=1), "x", timer=lambda: next(ticks), validate_kinds=frozenset())
    reading = await reader.read(crawl_url("https://site.example/"), answered(b"{}" * 50_000, "text/css"))
    assert reading.incomplete == ("deadline",)
