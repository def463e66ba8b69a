"""Validators: what is valid, the first errors with line and column, and what is not validated at all."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import answered
from tests.fetch.reading import LIMITS, PAGE, judge, read
from tui_crawler.domain.records.attempt import Validation, ValidationError
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.extract import PageReader
from tui_crawler.fetch.limits import FetchLimits
from tui_crawler.fetch.validation import html as html_validation

RSS = "application/rss+xml"
ATOM = "application/atom+xml"
START = "<!doctype html><title>x</title>"


def faults(validation: Validation) -> list[tuple[int, int, str]]:
    return [(error.line, error.column, error.message) for error in validation.errors]


@pytest.mark.parametrize(
    "html",
    [
        START,
        f"{START}<p>one<p>two<ul><li>a<li>b</ul><table><tr><td>c</table>",
        "<!-- c --><!DOCTYPE HTML><html lang=en><head><title>x</title></head><body><p>x</p></body></html>\n",
        f"{START}<svg viewBox='0 0 1 1'><path d='M0'/></svg><math><mi>x</mi></math><br/><img src=x alt=''>",
        f"{START}<script>if (a<b && c</d>/x/) '<p>'</script><style>a>b{{}}</style><textarea><p></textarea>",
        f"{START}<template><tr><td>x</td></tr></template><ruby>a<rt>b</ruby><select><option>a<option>b</select>",
        f"{START}&amp;&nbsp;&copy; a & b <input disabled value=a><a href='?a=1&b=2'>x</a>",
        f'{START}<p title="<b>">\u65e5\u672c\u8a9e caf\u00e9 \U0001f600</p>\r\n<pre>\n\tx</pre>',
        '<!DOCTYPE html SYSTEM "about:legacy-compat"><title>x</title>',
    ],
)
def test_valid_html(html: str) -> None:
    assert judge(html, "text/html") == Validation("html")


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>x", (1, 1, "the document has no <!doctype html>")),
        (f"{START}\n<p>a</span>", (2, 5, "an end tag without its start tag: </span>")),
        (f"{START}\n\n  <div>\n", (3, 3, "an element is not closed at the end: <div>")),
        (f"{START}\r\n<b><i></b></i>", (2, 7, "Formatting element not current node: </b>")),
        (f"{START}<table>text</table>", (1, 43, "text may not stand here in a table: </table>")),
        (f"{START}<a id=1 id=2>x</a>", (1, 32, "Duplicate attribute: <a id=1 id=2>")),
        (f"{START}<p>&foo;", (1, 32, "Invalid character reference: <p>")),
        (f"{START}\u00e9\u00e9<div/>", (1, 34, "Unacknowledged self-closing tag: <div/>")),
        (f"{START}<a href='x'b>y</a>", (1, 32, "'b' may not stand here: <a href='x'b>")),
        (f"{START}<form><form></form>", (1, 38, "nested forms: <form>")),
        (f"{START}\n a\x00b", (2, 3, "U+0000 may stand nowhere")),
        (f"{START}a\x1fb", (1, 33, "U+001F may stand nowhere")),
        (f"{START}\u0085", (1, 32, "U+0085 may stand nowhere")),
        (f"{START}\U0001ffff", (1, 32, "U+1FFFF may stand nowhere")),
        (f"{START}<!-- c", (1, 38, "the document ends within a tag or comment")),
        (f"{START}<div <p></div>", (1, 32, "'<' may not stand here: <div <p>")),
    ],
)
def test_the_first_error_of_html(html: str, found: tuple[int, int, str]) -> None:
    validation = judge(html, "text/html")
    errors = faults(validation)
    assert (validation.type, validation.valid) == ("html", False)
    assert found in errors or errors == [found], errors


def test_the_first_twenty_errors_of_html_in_order() -> None:
    html = START + "".join(f"\n<p>{number}</b></p>" for number in range(30))
    errors = judge(html, "text/html").errors
    assert [error.line for error in errors] == list(range(2, 22))
    assert {error.column for error in errors} <= {5, 6}


def test_a_long_tag_is_quoted_by_its_beginning() -> None:
    (error,) = judge(f"{START}<p class='{'x' * 500}' class=y>", "text/html").errors
    assert error.message.startswith("Duplicate attribute: <p class='xxx")
    assert len(error.message) < 120


def test_errors_whose_place_marks_would_change_keep_their_names() -> None:
    validation = judge("<!doctype html><svg><![CDATA[<p></svg>", "text/html")
    assert not validation.valid
    assert all((error.line, error.column) == (0, 0) or error.line == 1 for error in validation.errors)


@pytest.mark.parametrize("end", ["", "</p>" * 3, "<a href='", "<!-- x", "<table>x"])
@pytest.mark.parametrize("errors", [0, 1, 19, 30])
def test_errors_are_placed_wherever_the_beginning_that_is_read_first_ends(
    errors: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "<p a a>\u00e9</i><table>x</table>" * errors
    page = f"<!doctype html><title>x</title>{wrong}{'<p class=x>y <b>z</b>' * 500}{end}".encode()
    monkeypatch.setattr(html_validation, "_BEGINNINGS", ())
    whole = html_validation.validate_html(page, lambda: False)
    assert whole is not None
    assert whole.valid == (not errors and not end)
    for beginning in (64, *range(1_000, 1_040), 4_096):
        monkeypatch.setattr(html_validation, "_BEGINNINGS", (beginning, 2 * beginning))
        assert html_validation.validate_html(page, lambda: False) == whole


def test_a_page_is_judged_in_its_encoding() -> None:
    html = f"{START}<p>\u0434\u0430</p>".encode("koi8-r")
    assert judge(html, "text/html; charset=koi8-r").valid


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<a><b/></a>", []),
        ('<?xml version="1.0"?><!DOCTYPE a SYSTEM "a.dtd"><a>&nbsp;</a>', []),
        ("<a>\n<b></a>", [(2, 8, "Opening and ending tag mismatch: b line 2 and a")]),
        ("<a b='1' b='2'/>", [(1, 15, "Attribute b redefined")]),
        ("<x:a/>", [(1, 5, "Namespace prefix x on a is not defined")]),
        ("<a>&nbsp;</a>", [(1, 10, "Entity 'nbsp' not defined")]),
        ("hello", [(1, 1, "Start tag expected, '<' not found")]),
        ("<a/>\n\x00", [(2, 1, "U+0000 may stand nowhere")]),
    ],
)
@pytest.mark.parametrize("content_type", ["application/xml", "application/xhtml+xml"])
def test_xml(body: str, content_type: str, found: list[tuple[int, int, str]]) -> None:
    validation = judge(body, content_type)
    assert (validation.type, validation.valid) == ("xml", not found)
    assert faults(validation)[:1] == found[:1]


def test_xml_that_is_illegal_in_its_encoding() -> None:
    validation = judge(b"<?xml version='1.0'?>\n<a>\xe9</a>", "text/xml; charset=utf-8")
    assert faults(validation)[:1] == [(2, 4, "a byte that is illegal in utf-8")]


def test_xml_has_at_most_twenty_errors() -> None:
    assert len(judge("<a>" + "<b x=1/>" * 50 + "</a>", "text/xml").errors) == 20


CHANNEL = "<title>t</title><link>http://a.example/</link><description>d</description>"


@pytest.mark.parametrize(
    ("feed", "messages"),
    [
        (f"<rss version='2.0'><channel>{CHANNEL}<item><title>x</title></item></channel></rss>", []),
        (
            f"<rss version='2.0'><channel>{CHANNEL}<pubDate>Tue, 05 Mar 2024 06:07:08 GMT</pubDate><item><description>x"
            "</description><guid>http://a.example/1</guid><enclosure url='u' length='1' type='t'/></item>"
            "<item><title>x</title><guid isPermaLink='false'>7</guid></item></channel></rss>",
            [],
        ),
        (
            "<rss><channel/></rss>",
            ["<rss> has no version"] + [f"<channel> has no <{p}>" for p in ("title", "link", "description")],
        ),
        ("<rss version='2.0'/>", ["<rss> has 0 <channel>, not one"]),
        (
            f"<rss version='2.0'><channel>{CHANNEL}<link>b</link><lastBuildDate>now</lastBuildDate></channel></rss>",
            ["<channel> has more than one <link>", "<lastBuildDate> is no date of RFC 822: now"],
        ),
        (
            f"<rss version='2.0'><channel>{CHANNEL}<item><guid>7</guid><enclosure url='u'/><source>s</source>"
            "<pubDate>2024-03-05</pubDate></item></channel></rss>",
            [
                "<item> has neither <title> nor <description>",
                '<guid> is no URL, and has no isPermaLink="false"',
                "<enclosure> has no length",
                "<enclosure> has no type",
                "<source> has no url",
                "<pubDate> is no date of RFC 822: 2024-03-05",
            ],
        ),
        ("<opml/>", ["the root element is <opml>, neither <rss> nor <feed>"]),
        (
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
            f"<channel>{CHANNEL}</channel><item><title>x</title></item></rdf:RDF>",
            ["<item> has no <link>"],
        ),
    ],
)
def test_rss(feed: str, messages: list[str]) -> None:
    validation = judge(feed, RSS)
    assert (validation.type, validation.valid) == ("rss", not messages)
    assert [error.message for error in validation.errors] == messages
    assert all((error.line, error.column) == (1, 0) for error in validation.errors)


FEED = '<feed xmlns="http://www.w3.org/2005/Atom">'
PARTS = "<id>i</id><title>t</title><updated>2024-03-05T06:07:08Z</updated>"
AUTHOR = "<author><name>n</name></author>"


@pytest.mark.parametrize(
    ("feed", "messages"),
    [
        (f"{FEED}{PARTS}</feed>", []),
        (f"{FEED}{PARTS}{AUTHOR}<entry>{PARTS}<link href='/'/></entry></feed>", []),
        (f"{FEED}{PARTS}<entry>{PARTS}{AUTHOR}<content>c</content></entry></feed>", []),
        (f"{FEED}{PARTS}<entry>{PARTS}<source>{AUTHOR}</source><content>c</content></entry></feed>", []),
        (f"{FEED}</feed>", [f"<feed> has no <{part}>" for part in ("id", "title", "updated")]),
        (
            f"{FEED}{PARTS}<entry><id>i</id><id>j</id><title>t</title><updated>2024-03-05</updated>"
            "<link rel='self'/></entry></feed>",
            [
                "<entry> has more than one <id>",
                "<updated> is no date of RFC 3339: 2024-03-05",
                "<entry> has no <author>, and neither has its feed",
                "<entry> has neither <content> nor an alternate <link>",
                "<link> has no href",
            ],
        ),
    ],
)
def test_atom(feed: str, messages: list[str]) -> None:
    validation = judge(feed, ATOM)
    assert (validation.type, validation.valid) == ("rss", not messages)
    assert [error.message for error in validation.errors] == messages


def test_a_feed_says_the_line() -> None:
    validation = judge(f"<rss version='2.0'>\n<channel>\n{CHANNEL}\n<item/></channel></rss>", RSS)
    assert faults(validation) == [(4, 0, "<item> has neither <title> nor <description>")]


def test_a_feed_that_is_not_well_formed_says_so_first() -> None:
    validation = judge(f"<rss version='2.0'><channel>{CHANNEL}<item/></rss>", RSS)
    assert validation.errors[0].message.startswith("Opening and ending tag mismatch")
    assert validation.errors[-1].message == "<item> has neither <title> nor <description>"


def test_feeds_that_are_served_as_xml_are_judged_as_feeds() -> None:
    assert judge(f"{FEED}</feed>", "text/xml").type == "rss"
    assert judge("<rss/>", "application/xml").type == "rss"
    assert judge("<urlset/>", "application/xml") == Validation("xml")


@pytest.mark.parametrize(
    ("css", "found"),
    [
        (" ", []),
        ("@charset 'x';@import 'a';a{b:c;d:e}@media print{a:hover{b:c}}", []),
        ("@font-face{src:url(x)}@page :first{margin:1px}@keyframes x{from{a:b}50%{a:c}}@layer a,b;", []),
        (":root{--x:{a:b}}a{&:hover{b:c}>d{e:f}color:red}@supports (a:b) and (not (c:d)){e{f:g}}", []),
        ("a{b:c", []),
        ("a{b:'x\n}", [(1, 5, "bad-string: Bad string token")]),
        ("a{b:url(x y)}", [(1, 5, "bad-url: bad URL token")]),
        ("a{b:c}\n }d{e:f}", [(2, 2, "}: Unmatched }")]),
        ("a{b:(c]}", [(1, 7, "]: Unmatched ]")]),
        ('a{b:"unclosed', [(1, 5, "eof-in-string: EOF in string")]),
        ("a{}\nb", [(2, 1, "invalid: EOF reached before {} block for a qualified rule.")]),
    ],
)
def test_css(css: str, found: list[tuple[int, int, str]]) -> None:
    validation = judge(css, "text/css")
    assert (validation.type, validation.valid) == ("css", not found)
    assert faults(validation)[:1] == found


def test_css_has_at_most_twenty_errors() -> None:
    errors = judge("a{b:)}\n" * 30, "text/css").errors
    assert [error.line for error in errors] == list(range(1, 21))


def test_css_with_a_number_nobody_reads_is_not_judged() -> None:
    assert read("a{b:" + "1" * 10_000 + "}", "text/css").validation is None


def test_messages_hold_no_control_characters() -> None:
    for body, content_type in (
        (f"{START}<p\x1b]0;x\x07>", "text/html"),
        ("<a\x1b[31m/>", "text/xml"),
        ("a{b:'\x1b\n}", "text/css"),
    ):
        assert all(error.message.isprintable() for error in judge(body, content_type).errors)


@pytest.mark.parametrize(
    ("body", "content_type", "options"),
    [
        ("<p>" + "x" * 300_000, "text/html", {}),
        ("", "text/html", {}),
        ("a{b:c}" * 25_000, "text/css", {}),
        ("hello", "text/plain", {}),
        ("<p>x", "text/html", {"validate_kinds": frozenset({"xml"})}),
        ("<p>x", "text/html", {"limits": FetchLimits(max_input_bytes=2)}),
        ("<p>x", "text/html", {"limits": FetchLimits(max_tags=1, validate_bytes=1)}),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "text/xml", {}),
        ("<a>" * 3_000 + "</a>" * 3_000, "text/xml", {}),
    ],
)
def test_what_is_not_judged(body: str, content_type: str, options: dict[str, object]) -> None:
    assert read(body, content_type, **options).validation is None  # type: ignore[arg-type]  # of several kinds


async def test_what_overstays_on_the_loop_is_judged_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def note(*_: object) -> Validation | None:
        seen.append(threading.current_thread().name)
        return Validation("html") if seen[-1] == "reading" else None

    monkeypatch.setattr("tui_crawler.fetch.extract.validate", note)
    reading = await PageReader(LIMITS, "x").read(PAGE, answered(b"<p>"))
    assert seen == [threading.main_thread().name, "reading"]
    assert reading.validation == Validation("html")


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 50_000,
        b"<span>" * 20_000 + b"</x>" * 30_000,
        b"".join(b"<font a%d>" % number for number in range(15_000)),
    ],
    ids=["nesting", "scopes", "formatting"],
)
async def test_a_page_that_costs_too_much_stays_unjudged(body: bytes) -> None:
    reader = PageReader(FetchLimits(validate_deadline_ms=20), "x")
    reading = await reader.read(PAGE, answered(body))
    assert (reading.exit_code, reading.validation) == (ExitCode.file_ingested, None)


async def test_a_validator_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr("tui_crawler.fetch.extract.is_quick", lambda _: False)
    monkeypatch.setattr("tui_crawler.fetch.extract.validate", lambda *_: release.wait())
    reading = await PageReader(FetchLimits(validate_deadline_ms=10), "x").read(PAGE, answered(b"<title>t</title>"))
    release.set()
    assert (reading.title, reading.validation) == ("t", None)


@pytest.mark.parametrize(
    ("name", "body", "content_type"),
    [("html.Parser", b"<p>", "text/html"), ("css.tinycss2.parse_stylesheet", b"a{}", "text/css")],
)
async def test_a_validator_that_fails_harms_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, body: bytes, content_type: str
) -> None:
    class PanicException(BaseException):  # as the binding to Rust has it
        pass

    def fail(*_: object, **__: object) -> None:
        raise PanicException if name == "html.Parser" else RecursionError

    monkeypatch.setattr(f"tui_crawler.fetch.validation.{name}", fail)
    reading = await PageReader(LIMITS, "x").read(PAGE, answered(body, content_type))
    assert (reading.exit_code, reading.validation) == (ExitCode.file_ingested, None)


HTML_PIECES = st.sampled_from(
    "<p> </p> <b> </b> <table> <td> </table> text &foo; <!-- --> <script> </script> <title> </title> <a\thref=x> </a> "
    "<div/> </div\tx> <!doctype\thtml> <svg> <![CDATA[ ]]> <textarea> <select> < </ <! <? ' \" = > / <a\tb=' "
    "<plaintext> <frameset> <template> \x00 \x80 \ufffe <div\t<p> \r\n".replace("\t", "\u00a0").split(" ")
)


@given(st.lists(HTML_PIECES, max_size=20).map(lambda pieces: " ".join(pieces).replace("\u00a0", " ")))
def test_every_html_is_judged_with_places_within_it(html: str) -> None:
    validation = read(html, "text/html").validation
    if not html:
        assert validation is None
        return
    assert validation is not None
    lines = html.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for error in validation.errors:
        assert error.line <= len(lines)
        assert error.line == 0 or error.column <= len(lines[error.line - 1]) + 1
        assert (error.line == 0) is (error.column == 0)


@given(st.text(max_size=80), st.sampled_from(["text/css", "text/xml", RSS, ATOM, "text/html"]))
def test_no_text_raises(text: str, content_type: str) -> None:
    reading = read(text, content_type)
    assert reading.exit_code is ExitCode.file_ingested
    for error in () if reading.validation is None else reading.validation.errors:
        assert isinstance(replace(error), ValidationError)
        assert error.message
