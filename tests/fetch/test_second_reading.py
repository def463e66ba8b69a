"""Reading stored bodies in a process of low priority: the same answers, and bodies that end the process."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
import zstandard

from tests.fetch.reading import LIMITS, PAGE, read
from tui_crawler.domain.records.attempt import WaitingDocument
from tui_crawler.domain.records.content_kind import DataRule
from tui_crawler.fetch import second_reading
from tui_crawler.fetch.extract import PageReader, ReaderSetup
from tui_crawler.fetch.second_reading import SecondReader, read_again
from tui_crawler.fetch.validation.validators import VALIDATED_KINDS

RULE = DataRule("site.example", "b", "link", css="b a::attr(href)", source="crawl.yaml:7")
ENDLESS = DataRule("site.example", "endless", "text", xpath="count(" + "//*[" * 6 + "//*" + "]" * 6 + ")")
FEED = '<feed xmlns="http://www.w3.org/2005/Atom"><id>i</id>'
BODIES = [
    (
        b"<!doctype html><base href=/b/><title>x</title><b><a href=1>\xe9</a><i></b></i>",
        "text/html; charset=iso-8859-1",
    ),
    ("<meta charset=koi8-r><title>\u0434</title><p>&foo;</span>".encode("koi8-r"), "text/html"),
    (b"<?xml version='1.0'?>\n<a>\xe9</a>", "text/xml; charset=utf-8"),
    (b"<?xml version='1.0' encoding='iso-8859-2'?><a>\xe9<b></a>", "application/xhtml+xml"),
    (b"\xff\xfe" + FEED.encode("utf-16-le"), "application/atom+xml; charset=utf-8"),
    (FEED.encode() + b"</feed>", ""),
    (b"a{b:'x\n}", "text/css"),
    (b"<p>" * 90_000, "text/html"),
]


class Hang:
    """A value that the child never comes to the end of reading, in native code that asks for no deadline."""

    def __reduce__(self) -> Any:
        return max, (count(),)


def waiting(body: bytes, content_type: str, charset: str) -> WaitingDocument:
    packed = zstandard.ZstdCompressor().compress(body)
    return WaitingDocument(1, PAGE.href, hashlib.sha256(body).hexdigest(), content_type, charset, len(body), packed)


GOOD = waiting(b"<!doctype html><title>x</title>", "text/html", "utf-8")


@pytest.fixture
async def second() -> AsyncIterator[SecondReader]:
    quick = replace(LIMITS, validate_deadline_ms=100, data_deadline_ms=100)
    reader = SecondReader(ReaderSetup(quick, "x", {"data_rules": (RULE, ENDLESS), "validate_kinds": VALIDATED_KINDS}))
    yield reader
    await reader.close()


@pytest.mark.parametrize(("body", "content_type"), BODIES)
def test_a_stored_body_gives_what_it_gave_when_it_came(body: bytes, content_type: str) -> None:
    first = read(body, content_type, data_rules=(RULE,))
    later = read(body, content_type, data_rules=(RULE,), later=frozenset({first.kind}))
    assert (later.validation, later.data) == (None, ())
    assert later.waits == (first.validation is not None or first.data != () or first.kind == "html")
    reader = PageReader(LIMITS, "x", data_rules=(RULE,))
    found = asyncio.run(read_again(reader, waiting(body, first.content_type, first.charset)))
    assert (found.validation, found.data, found.message) == (first.validation, first.data, first.message)


async def test_a_process_of_low_priority_answers(second: SecondReader) -> None:
    body, content_type = BODIES[0]
    expected = await asyncio.to_thread(read, body, content_type)
    documents = [waiting(body, "text/html", expected.charset)] * 10
    assert [one and one.validation for one in await second.read(documents)] == [expected.validation] * 10
    assert second.pid is not None
    assert os.getpriority(os.PRIO_PROCESS, second.pid) == 19


async def test_what_several_pages_have_is_looked_at_once() -> None:
    second = SecondReader(ReaderSetup(LIMITS, "x", {"data_rules": (), "validate_kinds": VALIDATED_KINDS}))
    first, other = await second.read([GOOD, replace(GOOD, page_id=2, packed=b"not read again")])
    await second.close()
    assert first is not None
    assert first == other


async def test_a_body_that_ends_or_hangs_the_process_costs_only_itself(
    second: SecondReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = await second.read([GOOD])
    assert found is not None
    assert await second.read([GOOD, replace(GOOD, sha256="other", packed=b"no zstd"), GOOD]) == [found, None, found]
    monkeypatch.setattr(second_reading, "_AT_ONCE", 1)  # and it is not tried twice: that takes seconds
    hanging: Any = replace(GOOD, sha256="", packed=Hang())
    assert await second.read([hanging, GOOD]) == [None, found]


async def test_an_expression_without_end_is_given_up_and_other_documents_are_read_whole(second: SecondReader) -> None:
    slow = waiting(b"<!doctype html><title>x</title>" + b"<i></i>" * 5_000, "text/html", "utf-8")
    found, other = await second.read([slow, GOOD])
    assert other is not None
    assert (found.incomplete, found.validation is not None and found.validation.valid) == (("data",), True)
    assert other.incomplete == (), "the thread that hangs went with its process"


async def test_no_process_no_verdict(second: SecondReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_reading.sys, "executable", "/bin/false")
    with pytest.raises(OSError, match="does not start"):
        await second.read([GOOD])
