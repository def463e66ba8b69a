"""Web archives: every body comes back bit for bit, with a head that is true of it, and the checker is content."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.export.crawl import ANSWER, BINARY, FORMULA, HOME, PAGE
from tests.storage.making import T0, A
from tui_crawler import __version__
from tui_crawler.export.output import Output
from tui_crawler.export.warc import Archive, write_warc
from tui_crawler.storage.reports.export import Narrowing, StoredBody
from tui_crawler.storage.reports.reports import Reports

Written = Callable[[Callable[[Output], int]], tuple[int, bytes]]


def places(path: Path) -> list[tuple[str, str, str]]:
    """URL, offset and length of each capture, as warcio finds them."""
    with path.open("rb") as file:
        records, found = ArchiveIterator(file), []
        for record in records:
            if record.rec_type in {"response", "revisit", "resource"}:
                record.content_stream().read()
                url = record.rec_headers["WARC-Target-URI"]
                found.append((url, str(records.get_record_offset()), str(records.get_record_length())))
        return found


@pytest.mark.parametrize("gzip", [True, False])
def test_the_index_says_where_each_capture_is(reports: Reports, tmp_path: Path, written: Written, gzip: bool):
    index: list[str] = []
    archive = Archive("x", gzip=gzip)
    _, data = written(lambda output: write_warc(reports.export_bodies(Narrowing()), archive, output, index))
    path = tmp_path / "x"
    path.write_bytes(data)
    lines = [json.loads(line.split(" ", 2)[2]) for line in index]
    assert [(line["url"], line["offset"], line["length"]) for line in lines] == places(path)
    assert {line["filename"] for line in lines} == {"x"}


STORED = StoredBody(
    f"{A}/x?q=1",
    "text/html",
    T0,
    hashlib.sha256(PAGE).hexdigest(),
    PAGE,
    http_status=200,
    method="GET",
    sent_at=T0 + 7,
    remote_address="2001:db8::1",
    request_headers=(("Host", "a.example"),),
    response_headers=ANSWER,
)


class Read:
    """A record with its content, read in full so that digests were checked."""

    def __init__(self, record: Any) -> None:
        self.type = record.rec_type
        self.fields = dict(record.rec_headers.headers)
        self.head = record.http_headers
        self.content = record.content_stream().read()
        self.passed = record.digest_checker.passed
        self.version = record.rec_headers.protocol


def read(data: bytes) -> list[Read]:
    return [Read(record) for record in ArchiveIterator(io.BytesIO(data), check_digests=True)]


def one(body: StoredBody, written: Written, archive: Archive = Archive()) -> list[Read]:  # noqa: B008  # it is frozen
    count, data = written(lambda output: write_warc([body], archive, output))
    assert count == 1
    return read(data)


def test_the_stored_crawl_comes_back_bit_for_bit(reports: Reports, written: Written):
    bodies = list(reports.export_bodies(Narrowing()))
    count, data = written(lambda output: write_warc(iter(bodies), Archive("crawl.warc.gz", "ua", "main"), output))
    records = read(data)
    assert count == 6
    types = Counter(record.type for record in records)
    assert types == {"warcinfo": 1, "response": 5, "revisit": 1, "request": 6, "metadata": 4}
    assert {record.version for record in records} == {"WARC/1.1"}
    responses = {record.fields["WARC-Target-URI"]: record for record in records if record.type == "response"}
    stored = {body.url: body.body for body in bodies if body.url != f"{A}/twin"}
    assert {url: record.content for url, record in responses.items()} == stored
    assert responses[f"{A}/bytes"].content == BINARY
    assert responses[HOME].content == PAGE
    assert all(record.passed for record in records if record.type != "revisit")  # whose payload is elsewhere


def test_a_payload_is_archived_once(reports: Reports, written: Written):
    _, data = written(lambda output: write_warc(reports.export_bodies(Narrowing()), Archive(), output))
    records = read(data)
    (home,) = (one for one in records if one.type == "response" and one.fields["WARC-Target-URI"] == HOME)
    (twin,) = (one for one in records if one.type == "revisit")
    assert twin.fields["WARC-Target-URI"] == f"{A}/twin"
    assert twin.fields["WARC-Profile"].endswith("/revisit/identical-payload-digest")
    assert twin.fields["WARC-Refers-To-Target-URI"] == HOME
    assert twin.fields["WARC-Refers-To-Date"] == home.fields["WARC-Date"]
    assert twin.fields["WARC-Payload-Digest"] == home.fields["WARC-Payload-Digest"]
    assert (twin.head.get_statuscode(), twin.content) == ("200", b"")


def test_what_was_read_of_a_page_is_archived(reports: Reports, written: Written):
    _, data = written(lambda output: write_warc(reports.export_bodies(Narrowing()), Archive(), output))
    records = read(data)
    (home,) = (one for one in records if one.type == "response" and one.fields["WARC-Target-URI"] == HOME)
    said = {one.fields["WARC-Target-URI"]: one for one in records if one.type == "metadata"}
    lines = said[HOME].content.decode().splitlines()
    assert {f"outlink: {A}/twin a", f"outlink: {A}/i.png img", f"title: {FORMULA}"} <= set(lines)
    assert said[HOME].fields["WARC-Concurrent-To"] == home.fields["WARC-Record-ID"]
    assert said[HOME].fields["Content-Type"] == "application/warc-fields"
    assert f"via: {HOME}" in said[f"{A}/twin"].content.decode().splitlines()


def test_errors_and_redirects_are_archived_without_a_body(reports: Reports, written: Written):
    _, data = written(lambda output: write_warc(reports.export_bodies(Narrowing()), Archive(), output))
    found = {
        record.fields["WARC-Target-URI"]: (record.head.statusline, record.content)
        for record in read(data)
        if record.type == "response" and record.fields.get("WARC-Truncated") == "unspecified"
    }
    assert found == {f"{A}/gone": ("404 Not Found", b""), f"{A}/moved": ("301 Moved Permanently", b"")}


def test_what_is_masked_is_plain(written: Written):
    secret = replace(STORED, request_headers=(("Authorization", "•••"),), response_headers=(("Location", "//•••@h"),))
    _, response, request = one(secret, written)
    assert request.head.headers == [("Authorization", "***")]
    assert response.head.headers[0] == ("Location", "//***@h")


def test_an_archive_is_compressed_record_by_record(reports: Reports, tmp_path: Path, written: Written):
    for zipped in (True, False):
        archive = Archive(gzip=zipped)
        _, data = written(
            lambda output, archive=archive: write_warc(reports.export_bodies(Narrowing()), archive, output)
        )
        path = tmp_path / f"{zipped}.warc"
        path.write_bytes(data)
        assert Checker(Namespace(inputs=[str(path)], verbose=False)).process_all() == 0
        assert data.startswith(b"\x1f\x8b" if zipped else b"WARC/1.1\r\n")
        if zipped:
            assert data.count(b"\x1f\x8b\x08") >= 17
            assert gzip.decompress(data).count(b"WARC/1.1\r\n") == 17


def test_the_head_is_true_of_the_stored_body(written: Written):
    _, response, request = one(STORED, written)
    assert response.head.protocol == "HTTP/1.1"
    assert response.head.statusline == "200 OK"
    assert response.head.headers == [
        ("Content-Type", "text/html"),
        ("X-Crawler-content-encoding", "gzip"),
        ("X-Crawler-Transfer-Encoding", "chunked"),
        ("X-Crawler-Content-Length", "17"),
        ("X-Latin", "caf\xe9"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Content-Length", str(len(PAGE))),
    ]
    assert (request.head.protocol, request.head.statusline) == ("GET", "/x?q=1 HTTP/1.1")
    assert request.head.headers == [("Host", "a.example")]


def test_octets_of_the_head_stay(written: Written):
    _, data = written(lambda output: write_warc([STORED], Archive(gzip=False), output))
    assert b"\r\nX-Latin: caf\xe9\r\n" in data


def test_what_is_said_of_a_record(written: Written):
    info, response, request = one(STORED, written)
    for record in (response, request):
        assert record.fields["WARC-Date"] == "2027-01-15T08:00:00.007Z"
        assert record.fields["WARC-IP-Address"] == "2001:db8::1"
        assert record.fields["WARC-Target-URI"] == STORED.url
        assert record.fields["WARC-Warcinfo-ID"] == info.fields["WARC-Record-ID"]
    assert request.fields["WARC-Concurrent-To"] == response.fields["WARC-Record-ID"]
    assert response.fields["WARC-Payload-Digest"].startswith("sha1:")
    assert response.fields["X-Crawler-Payload-Digest"] == f"sha256:{STORED.sha256}"
    assert response.fields["Content-Type"] == "application/http; msgtype=response"


def test_what_is_said_of_the_archive(written: Written):
    info = one(STORED, written, Archive("x.warc.gz", "ua/1 (for\r\nInjected: yes)", "main"))[0]
    assert info.fields["WARC-Filename"] == "x.warc.gz"
    lines = info.content.decode().splitlines()
    assert f"software: tui-crawler/{__version__}" in lines
    assert "http-header-user-agent: ua/1 (for Injected: yes)" in lines
    assert "isPartOf: main" in lines
    assert "robots: classic" in lines


def test_a_file_name_is_one_line(written: Written):
    info = one(STORED, written, Archive("a\r\nInjected: \udcff.warc"))[0]
    assert info.fields["WARC-Filename"] == "a Injected: \ufffd.warc"
    assert "Injected" not in info.fields


def test_a_body_without_its_exchange_is_a_resource(written: Written):
    bare = StoredBody(STORED.url, "text/css", T0, STORED.sha256, b"GET / HTTP/1.1\r\n\r\n")
    _, resource = one(bare, written)
    assert resource.type == "resource"
    assert resource.content == bare.body
    assert resource.fields["Content-Type"] == "text/css"
    assert resource.fields["WARC-Date"] == "2027-01-15T08:00:00.000Z"
    assert resource.passed
    _, unknown = one(replace(bare, content_type=""), written)
    assert unknown.fields["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize("address", ["", "unix:/x", "1.2.3.4\r\nX: y", "proxy.example"])
def test_what_is_no_address_is_left_out(address: str, written: Written):
    response = one(replace(STORED, remote_address=address), written)[1]
    assert "WARC-IP-Address" not in response.fields
    assert "X" not in response.fields


@pytest.mark.parametrize(("status", "line"), [(404, "404 Not Found"), (299, "299 Unknown")])
def test_the_reason_phrase_is_the_usual_one(status: int, line: str, written: Written):
    assert one(replace(STORED, http_status=status), written)[1].head.statusline == line


def test_a_length_that_was_right_stays_once(written: Written):
    headers = (("Content-Length", str(len(PAGE))), ("Server", "x"))
    response = one(replace(STORED, response_headers=headers), written)[1]
    assert response.head.headers == [("Server", "x"), ("Content-Length", str(len(PAGE)))]


def test_no_body_no_record_but_the_first(written: Written):
    count, data = written(lambda output: write_warc([], Archive(), output))
    assert count == 0
    assert [record.type for record in read(data)] == ["warcinfo"]


HOSTILE = st.text(alphabet=st.characters(codec=None, categories=None), max_size=20)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.binary(max_size=200),
    headers=st.lists(st.tuples(HOSTILE | st.sampled_from(("Content-Length", "X", "Transfer-Encoding")), HOSTILE)),
)
def test_no_head_can_reach_into_the_body(body: bytes, headers: list[tuple[str, str]], written: Written):
    stored = replace(
        STORED, body=body, request_headers=tuple(headers), response_headers=tuple(headers), url=f"{A}/ \r\nX: y"
    )
    info, response, request = one(stored, written)
    assert (info.type, response.type, request.type) == ("warcinfo", "response", "request")
    assert response.content == body
    assert request.content == b""
    assert response.fields["WARC-Target-URI"] == f"{A}/X:y"
    assert response.passed
    assert request.passed
    assert [value for name, value in response.head.headers if name.lower() == "content-length"] == [str(len(body))]
