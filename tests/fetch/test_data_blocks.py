"""Data rules: what CSS, XPath and regular expressions find, as which type; and what never ends."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.asking import answered
from tests.fetch.reading import LIMITS, PAGE, hrefs, read
from tests.support.held_time import HeldTime
from tui_crawler.domain.records.attempt import DataValue, Reading
from tui_crawler.domain.records.content_kind import DataRule, DataType
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.fetch.data_blocks import BadDataRule, DataBlocks
from tui_crawler.fetch.extract import GRACE, PageReader
from tui_crawler.fetch.limits import FetchLimits

SHOP = """<base href=/shop/><h1 class=name> A  <b>big</b> lamp </h1><p class=price>12,50 €</p>
<img class=photo src=1.jpg><img class=photo src='/2.jpg'><img class=photo src='data:x'><img class=photo src='http://[/'>
<video src=v.mp4></video><a class=more href='next?a=1#top'>More</a><!-- stock: 7 --><i data-id=x></i>"""


def rule(kind: DataType = "text", host: str = "site.example", name: str = "block", **expression: str) -> DataRule:
    return DataRule(host, name, kind, source="crawl.yaml:7", **expression)


def taken(*rules: DataRule, body: str = SHOP, content_type: str = "text/html", **limits: Any) -> Reading:
    return read(body, content_type, limits=FetchLimits(**limits), data_rules=rules)


def values(reading: Reading) -> list[str]:
    return [each.value for each in reading.data]


@pytest.mark.parametrize(
    ("kind", "expression", "found"),
    [
        ("text", {"css": "h1.name"}, ["A big lamp"]),
        ("text", {"css": "h1.name::text"}, ["A", "lamp"]),
        ("text", {"css": "P.price::text"}, ["12,50 €"]),
        ("text", {"css": "i::attr(data-id)"}, ["x"]),
        ("text", {"css": "h2"}, []),
        ("text", {"xpath": "//h1/b"}, ["big"]),
        ("text", {"xpath": "string(//h1)"}, ["A big lamp"]),
        ("text", {"xpath": "count(//img)"}, ["4"]),
        ("text", {"xpath": "1 div 4"}, ["0.25"]),
        ("text", {"xpath": "boolean(//h1)"}, ["true"]),
        ("text", {"xpath": "//comment()"}, ["stock: 7"]),
        ("text", {"xpath": "//i/@data-id | //h1/@class"}, ["name", "x"]),
        ("text", {"regex": r"stock: (\d+)"}, ["7"]),
        ("text", {"regex": r"\d+,\d+ €"}, ["12,50 €"]),
        ("text", {"regex": r"(z)?lamp"}, []),
        ("picture", {"css": "img.photo::attr(src)"}, ["https://site.example/shop/1.jpg", "https://site.example/2.jpg"]),
        ("picture", {"css": "img.photo"}, ["https://site.example/shop/1.jpg", "https://site.example/2.jpg"]),
        ("video", {"xpath": "//video"}, ["https://site.example/shop/v.mp4"]),
        ("link", {"xpath": "//a[@class='more']"}, ["https://site.example/shop/next?a=1"]),
        ("link", {"regex": r"href='([^']+)"}, ["https://site.example/shop/next?a=1"]),
        ("link", {"css": "h1"}, ["https://site.example/shop/A%20%20big%20lamp"]),
        ("link", {"css": "p.price::attr(href)"}, []),
    ],
)
def test_what_a_rule_finds(kind: DataType, expression: dict[str, str], found: list[str]) -> None:
    reading = taken(rule(kind, **expression))
    assert [(each.name, each.type, each.place, each.value) for each in reading.data] == [
        ("block", kind, place, value) for place, value in enumerate(found)
    ]
    assert (reading.incomplete, reading.message) == ((), "")


def test_rules_follow_each_other_and_belong_to_their_host() -> None:
    reading = taken(
        rule(name="b", css="h1"),
        rule(name="a", xpath="//b"),
        rule(name="c", host="other.example", css="h1"),
    )
    assert reading.data == (DataValue("b", "text", 0, "A big lamp"), DataValue("a", "text", 0, "big"))


def test_the_rest_of_the_reading_stays() -> None:
    with_rules, without = taken(rule(css="h1")), taken()
    assert hrefs(with_rules) == hrefs(without) != []
    assert with_rules.validation == without.validation is not None
    assert without.data == ()


RSS = """<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><item><title>One</title>
<pubDate>today</pubDate><dc:creator>Ann</dc:creator><link>/one</link><enclosure url="/one.mp4"/></item>
</channel></rss>"""
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>One</title><link href="/one"/></entry></feed>'


@pytest.mark.parametrize(
    ("body", "content_type", "kind", "expression", "found"),
    [
        (RSS, "application/rss+xml", "text", {"css": "item pubDate"}, ["today"]),
        (RSS, "application/rss+xml", "text", {"xpath": "//item/dc:creator"}, ["Ann"]),
        (RSS, "application/rss+xml", "link", {"css": "item > link"}, ["https://site.example/one"]),
        (RSS, "text/xml", "video", {"xpath": "//enclosure"}, ["https://site.example/one.mp4"]),
        (ATOM, "application/atom+xml", "link", {"xpath": "//atom:entry/atom:link"}, ["https://site.example/one"]),
        (ATOM, "application/atom+xml", "text", {"regex": "<title>(.*?)</title>"}, ["One"]),
        ("<a><b>1</b></a>", "application/xml", "text", {"css": "b"}, ["1"]),
        ("a{color:#123456}", "text/css", "text", {"regex": "#[0-9a-f]{6}"}, ["#123456"]),
        ("a{color:#123456}", "text/css", "text", {"css": "a"}, []),
        ("<h1>no kind of ours</h1>", "text/plain", "text", {"regex": "kind"}, []),
        ("<h1>caf\u00e9</h1>", "text/html; charset=utf-8", "text", {"regex": "caf(.)"}, ["\u00e9"]),
        (
            '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>X</h1></body></html>',
            "application/xhtml+xml",
            "text",
            {"css": "h1"},
            ["X"],
        ),
    ],
)
def test_documents_of_other_kinds(
    body: str, content_type: str, kind: DataType, expression: dict[str, str], found: list[str]
) -> None:
    assert values(taken(rule(kind, **expression), body=body, content_type=content_type)) == found


def test_text_in_another_encoding() -> None:
    reading = read(
        "<h1>caf\u00e9</h1>".encode("latin-1"), "text/html; charset=iso-8859-1", data_rules=(rule(regex="caf."),)
    )
    assert values(reading) == ["caf\u00e9"]


def test_more_values_than_the_bound_are_left_and_marked() -> None:
    body = "<p>x</p>" * 15
    assert taken(rule(css="p"), body=body, max_data_values=15).incomplete == ()
    for expression in ({"css": "p"}, {"regex": "x"}):
        reading = taken(rule(**expression), body=body, max_data_values=10)
        assert [each.place for each in reading.data] == list(range(10))
        assert reading.incomplete == ("data",)


def test_long_values_are_cut_and_marked() -> None:
    reading = taken(rule(css="p"), body=f"<p>{'x' * 10_001}</p><p>{'y' * 10_000}</p>")
    assert [len(value) for value in values(reading)] == [10_000, 10_000]
    assert reading.incomplete == ("data",)
    assert taken(rule(css="p"), body=f"<p>{'y' * 10_000}</p>").incomplete == ()


def test_all_values_of_a_page_have_a_bound() -> None:
    reading = taken(rule(css="p"), rule(name="other", css="p"), body="<p>0123456789</p>" * 20, max_page_data_chars=100)
    assert len(reading.data) == 10
    assert reading.incomplete == ("data",)


def test_an_expression_that_fails_on_a_page_says_so_and_the_others_go_on() -> None:
    reading = taken(rule(name="bad", xpath="//nobody:knows"), rule(name="good", css="h1"))
    assert values(reading) == ["A big lamp"]
    assert reading.message == "data rule 'bad' (crawl.yaml:7): Undefined namespace prefix"
    assert (reading.incomplete, reading.exit_code) == (("data",), ExitCode.file_ingested)


def test_regular_expressions_of_python_cannot_be_used_in_xpath() -> None:
    reading = taken(rule(xpath="//h1[re:test(., '(a+)+b')]"))
    assert (reading.data, reading.incomplete) == ((), ("data",))


@pytest.mark.parametrize("expression", [{"css": "a["}, {"xpath": "//a["}, {"regex": "(a"}, {"css": "a::nonsense"}])
def test_a_bad_rule_is_refused_when_it_is_made(expression: dict[str, str]) -> None:
    with pytest.raises(BadDataRule, match="data rule 'block'"):
        DataBlocks([rule(**expression)], LIMITS)


async def test_an_expression_that_never_ends_is_given_up_and_left_alone(
    monkeypatch: pytest.MonkeyPatch, held_time: HeldTime
) -> None:
    release, calls, workers = threading.Event(), [], []
    loop = asyncio.get_running_loop()

    def hang(root: object) -> list[str]:
        calls.append(root)
        workers.append(threading.current_thread())
        if not release.is_set():
            asyncio.run_coroutine_threadsafe(held_time.let_pass(GRACE * LIMITS.data_deadline_ms / 1000), loop)
        release.wait()
        return ["late"]

    easy, hard, last = rule(name="easy", css="title"), rule(name="hard", xpath="//b"), rule(name="last", css="title")
    reader = PageReader(LIMITS, "x", loop.time, data_rules=[easy, hard, last])
    monkeypatch.setattr(reader._data_blocks._by_host["site.example"][1], "_in_html", hang)
    reading = await reader.read(PAGE, answered(b"<title>T</title><a href=/x>"))
    assert (reading.title, values(reading), reading.incomplete) == ("T", ["T"], ("data",))
    assert hrefs(reading) == ["https://site.example/x"]
    again = await reader.read(PAGE, answered(b"<title>U</title>"))
    assert (values(again), again.incomplete, len(calls)) == (["U", "U"], ("data",), 1)
    release.set()
    for worker in workers:
        await asyncio.to_thread(worker.join)
    free = await reader.read(PAGE, answered(b"<title>V</title>"))
    assert (values(free), free.incomplete) == (["V", "late", "V"], ())


async def test_rules_run_in_a_thread_also_for_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(
        "tui_crawler.fetch.data_blocks.DataReader.run", lambda _: seen.append(threading.current_thread().name)
    )
    await PageReader(LIMITS, "x", data_rules=[rule(css="p")]).read(PAGE, answered(b"<p>"))
    assert seen == ["reading"]


@pytest.mark.parametrize(
    "body",
    ["<p>" * 5_000 + "x" * 50_000, "<p>x" * 50_000, "<p><b></b>" + "<i></i>" * 80_000],
    ids=["deep", "many", "empty"],
)
def test_large_pages_are_bounded(body: str) -> None:
    reading = taken(rule(css="p"), rule(name="all", xpath="//text()"), rule(name="any", xpath="//*"), body=body)
    assert reading.exit_code is ExitCode.file_ingested
    assert sum(len(each.value) for each in reading.data) <= 1_010_000


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["<p>", "</p>", "<p class=", "x", "<!--", "<a href=", ">"])).map("".join),
    st.sampled_from(["text/html", "text/xml", "application/rss+xml", "text/css"]),
)
def test_no_text_raises(body: str, content_type: str) -> None:
    rules = (rule(css="p"), rule("link", xpath="//node()"), rule(regex="(?s)(.)?x*"))
    reading = taken(*rules, body=body, content_type=content_type)
    assert reading.exit_code is ExitCode.file_ingested
    assert reading.message == ""
