"""Which rows an export has: every one of a view, in windows that hold nothing open, while others write."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.export.crawl import FORMULA, HOME, LONG_TITLE, PAGE, store_attempts
from tests.storage.making import T0, A, B, plan
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.export.output import open_stream
from tui_crawler.storage.db.reader import Reader
from tui_crawler.storage.reports import export as export_reports
from tui_crawler.storage.reports.export import Narrowing, StoredBody
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.text.sheet import CellKind, kind_of
from tui_crawler.wiring.export import BODY_COLUMNS, ExportPlan, body_row, write_export

EVERYTHING = Narrowing()
WHAT = ("pages", "attempts", "links", "redirects", "failures", "data", "documents")
VIEWS = {
    "pages": "v_page",
    "attempts": "v_attempt",
    "links": "v_link",
    "redirects": "v_redirect",
    "documents": "v_document",
}


def rows(reports: Reports, what: str, *columns: str, **narrowing: Any) -> list[tuple[Any, ...]]:
    return [row for window in reports.export_windows(what, columns, Narrowing(**narrowing)) for row in window]


@pytest.mark.parametrize(("what", "view"), VIEWS.items())
def test_an_export_is_the_view(what: str, view: str, reports: Reports):
    assert reports.export_columns(what) == reports.columns(view)
    assert sorted(rows(reports, what), key=repr) == sorted(reports.rows(view), key=repr)


def test_there_is_something_to_export(reports: Reports):
    assert [len(rows(reports, what)) for what in WHAT] == [9, 8, 8, 1, 2, 2, 5]


def test_bodies_are_text_where_they_are_of_a_kind_of_text_and_base64_else(reports: Reports):
    written: list[bytes] = []
    with open_stream(lambda data: written.append(bytes(data)) or len(data)) as output:
        count = write_export(reports, ExportPlan("bodies", "jsonl"), output)
    found = {one["url"]: one for one in map(json.loads, b"".join(written).splitlines())}
    assert count == len(found) == 4
    home = found[HOME]
    assert (home["text"], home["base64"], home["content_type"]) == (PAGE.decode(), None, "text/html")
    assert (home["crawled_at"], home["http_status"]) == (T0 + 10, 200)
    assert hashlib.sha256(PAGE).hexdigest() == home["sha256"]


@pytest.mark.parametrize(
    ("content_type", "charset", "body", "text"),
    [
        ("text/plain", "", b"caf\xc3\xa9", "café"),
        ("text/html", "windows-1252", b"caf\xe9", "café"),
        ("text/html", "utf-8", b"\xef\xbb\xbfx", "x"),
        ("application/ld+json; charset=utf-8", "", b"{}", "{}"),
        ("Application/JSON", "", b"{}", "{}"),
        ("application/pdf", "", b"%PDF", None),
        ("image/png", "", b"x", None),
        ("", "", b"x", None),
    ],
)
def test_which_bodies_are_text(content_type: str, charset: str, body: bytes, text: str | None):
    row = body_row(StoredBody(f"{A}/x", content_type, T0, "00", body, charset=charset))
    made = dict(zip(BODY_COLUMNS, row, strict=True))
    assert (made["text"], made["base64"]) == (text, None if text is not None else base64.b64encode(body).decode())


def test_failures_are_failed_pages_with_their_message(reports: Reports):
    assert reports.export_columns("failures") == (*reports.columns("v_page"), "message")
    assert rows(reports, "failures", "url", "last_exit_code", "message") == [
        (f"{B}/", "connection_failed", ""),
        (f"{A}/gone", "file_not_found", "+1\x1b[31m not there"),
    ]


def test_data_are_the_values_of_data_rules(reports: Reports):
    assert reports.export_columns("data") == ("url", "origin", "name", "type", "place", "value", "crawled_at")
    assert rows(reports, "data") == [
        (HOME, A, "photos", "picture", 0, "@SUM(1)", T0 + 10),
        (HOME, A, "photos", "picture", 1, "two\r\nlines", T0 + 10),
    ]


@pytest.mark.parametrize("what", WHAT)
def test_a_column_holds_what_its_kind_says(what: str, reports: Reports):
    columns = reports.export_columns(what)
    for row in rows(reports, what):
        for column, cell in zip(columns, row, strict=True):
            match kind_of(column):
                case CellKind.text:
                    assert isinstance(cell, str) or (cell is None and column == "validation_type"), column
                case CellKind.integer | CellKind.time:
                    assert cell is None or isinstance(cell, int), column
                case CellKind.flag:
                    assert cell in {None, 0, 1}, column


@pytest.mark.parametrize(
    ("what", "narrowing", "count"),
    [
        ("pages", {"origin": B}, 1),
        ("pages", {"origin": A}, 8),
        ("pages", {"exit_code": "file_ingested"}, 4),
        ("pages", {"since": T0 + 50}, 5),
        ("pages", {"since": 0}, 9),
        ("pages", {"origin": A, "exit_code": "file_ingested", "since": T0 + 40}, 2),
        ("attempts", {"exit_code": "file_not_found"}, 1),
        ("attempts", {"origin": B}, 1),
        ("attempts", {"since": T0 + 80}, 1),
        ("failures", {"origin": A}, 1),
        ("failures", {"exit_code": "connection_failed"}, 1),
        ("failures", {"exit_code": "file_ingested"}, 0),
        ("failures", {"since": T0 + 60}, 1),
        ("links", {"origin": A}, 8),
        ("links", {"origin": B}, 0),
        ("links", {"since": T0 + 11}, 0),
        ("redirects", {"origin": A, "since": T0 + 60}, 1),
        ("redirects", {"since": T0 + 61}, 0),
        ("data", {"origin": A, "since": T0}, 2),
        ("data", {"origin": B}, 0),
        ("pages", {"origin": "https://nowhere.example"}, 0),
    ],
)
def test_rows_are_narrowed(what: str, narrowing: dict[str, Any], count: int, reports: Reports):
    assert len(rows(reports, what, **narrowing)) == count


def test_names_that_do_not_exist_are_refused_before_anything_is_read(reports: Reports):
    for what, columns, narrowing in (
        ("v_page", (), EVERYTHING),
        ("pages", ("url; DROP TABLE page",), EVERYTHING),
        ("links", (), Narrowing(exit_code="file_ingested")),
    ):
        with pytest.raises(ValueError, match=r"no export|no column|no exit code"):
            reports.export_windows(what, columns, narrowing)
    with pytest.raises(ValueError, match="no exit code"):
        reports.export_bodies(Narrowing(exit_code="file_ingested"))


def test_only_bodies_are_archived(reports: Reports):
    stream = io.BytesIO()
    with open_stream(stream.write) as output:
        for asked in (ExportPlan("pages", "warc"), ExportPlan("bodies", "csv"), ExportPlan("pages", "xml")):
            with pytest.raises(ValueError, match=r"not exported as|no export"):
                write_export(reports, asked, output)
    assert stream.getvalue() == b""


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("what", WHAT)
def test_windows_of_any_size_hold_the_same_rows(
    what: str, size: int, reports: Reports, monkeypatch: pytest.MonkeyPatch
):
    whole = rows(reports, what)
    monkeypatch.setattr(export_reports, "WINDOW_ROWS", size)
    windows = list(reports.export_windows(what, (), EVERYTHING))
    assert [row for window in windows for row in window] == whole
    assert all(windows)


def test_the_rows_of_a_page_stay_in_one_window(reports: Reports, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(export_reports, "WINDOW_ROWS", 1)
    assert [len(window) for window in reports.export_windows("links", (), EVERYTHING)] == [8]
    assert [len(window) for window in reports.export_windows("redirects", (), EVERYTHING)] == [1]


def test_a_window_is_bounded_by_its_text_too(reports: Reports, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(export_reports, "_WINDOW_CHARS", 1_000)
    windows = list(reports.export_windows("pages", ("title",), EVERYTHING))
    assert (LONG_TITLE,) in windows[0]
    assert len(windows) == 2
    assert windows[1] == [("",)]


def test_an_empty_database_has_no_windows(tmp_path: Path):
    SqliteStore(tmp_path / "new.db").close()
    with closing(Reports(tmp_path / "new.db")) as reports:
        for what in WHAT:
            assert rows(reports, what) == []
        assert list(reports.export_bodies(EVERYTHING)) == []


class TestWhileARunIsLive:
    """One writer, one export."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "live.db"

    @pytest.fixture
    def store(self, path: Path) -> Iterator[SqliteStore]:
        store = SqliteStore(path, StoreSettings(now=lambda: T0))
        yield store
        store.close()

    async def test_the_end_is_fixed_and_nothing_is_held_open(
        self, path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(export_reports, "WINDOW_ROWS", 10)
        await store.begin_run(plan(HOME))
        await store_attempts(store, range(1, 31))
        with closing(Reports(path)) as reports, closing(sqlite3.connect(path, isolation_level=None)) as other:
            before = [row[0] for row in reports.rows("v_attempt", ("attempt_id",))]
            exported: list[int] = []
            number = 31
            for window in reports.export_windows("attempts", ("attempt_id",), EVERYTHING):
                exported += [row[0] for row in window]
                await store_attempts(store, range(number, number + 5))
                number += 5
                busy, left, done = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                assert (busy, left, done) == (0, 0, 0), "a reader keeps the log"
            assert exported == before
            assert number > 40
            assert len(rows(reports, "attempts")) == len(before) + number - 31

    async def test_bodies_hold_nothing_open_either(self, path: Path, store: SqliteStore):
        await store.begin_run(plan(HOME))
        await store_attempts(store, range(1, 6))
        with closing(Reports(path)) as reports, closing(sqlite3.connect(path, isolation_level=None)) as other:
            urls = []
            for number, body in enumerate(reports.export_bodies(EVERYTHING), 6):
                urls.append(body.url)
                await store_attempts(store, range(number, number + 1))
                assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
            assert urls == [f"{A}/n/{number}" for number in range(1, 6)]


class TestBodies:
    def test_each_answer_once_in_the_order_of_the_requests(self, reports: Reports):
        bodies = {body.url: body for body in reports.export_bodies(EVERYTHING)}
        assert list(bodies) == [HOME, f"{A}/bytes", f"{A}/twin", f"{A}/gone", f"{A}/moved", f"{A}/long"]
        assert (bodies[f"{A}/gone"].http_status, bodies[f"{A}/gone"].sha256) == (404, "")
        answered = bodies[f"{A}/bytes"]
        assert (answered.http_status, answered.method, answered.remote_address) == (200, "GET", "203.0.113.7")
        assert answered.sent_at == T0 + 10
        assert ("Set-Cookie", "b=2") in answered.response_headers
        assert bodies[f"{A}/long"].body == b""

    def test_narrowed(self, reports: Reports):
        assert list(reports.export_bodies(Narrowing(origin=B))) == []
        found = [body.url for body in reports.export_bodies(Narrowing(A, "", T0 + 40))]
        assert found == [f"{A}/twin", f"{A}/gone", f"{A}/moved", f"{A}/long"]

    def test_without_its_exchange(self, stored: Path, tmp_path: Path):
        with closing(Reports(copy_with(stored, tmp_path, "UPDATE document SET stored_at = 7"))) as reports:
            bodies = [body for body in reports.export_bodies(EVERYTHING) if body.http_status is None]
        assert [body.url for body in bodies] == [HOME, f"{A}/bytes", f"{A}/twin", f"{A}/long"]
        assert {(body.request_headers, body.stored_at) for body in bodies} == {((), 7)}

    @pytest.mark.parametrize(
        "change", ["UPDATE body SET zstd = x'00'", "UPDATE body SET zstd = (SELECT zstd FROM body WHERE size = 0)"]
    )
    def test_a_damaged_one_ends_the_export(self, change: str, stored: Path, tmp_path: Path):
        with (
            closing(Reports(copy_with(stored, tmp_path, change))) as reports,
            pytest.raises(StorageFailure, match=f"body of {HOME} is damaged"),
        ):
            list(reports.export_bodies(EVERYTHING))


def copy_with(stored: Path, folder: Path, change: str) -> Path:
    """A copy of the crawl, changed by hand."""
    path = folder / "changed.db"
    with closing(sqlite3.connect(stored)) as one, closing(sqlite3.connect(path)) as other:
        one.backup(other)
        other.execute(change)
        other.commit()
    return path


@pytest.mark.parametrize("narrowing", [EVERYTHING, Narrowing(A), Narrowing(A, "rate_limited", 5), Narrowing(since=5)])
@pytest.mark.parametrize("what", WHAT)
def test_windows_walk_along_a_key_and_sort_nothing(
    what: str, narrowing: Narrowing, reports: Reports, stored: Path, monkeypatch: pytest.MonkeyPatch
):
    if what not in {"pages", "attempts", "failures"}:
        narrowing = replace(narrowing, exit_code="")
    asked: list[tuple[str, Any]] = []

    def no_rows(_reader: Any, text: str, values: Any) -> Iterator[tuple[Any, ...]]:
        asked.append((text, values))
        yield from ()

    monkeypatch.setattr(Reader, "stream", no_rows)
    assert list(reports.export_windows(what, (), narrowing)) == []
    ((text, values),) = asked
    with closing(sqlite3.connect(f"file:{stored}?mode=ro", uri=True)) as database:
        steps = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    assert not [step for step in steps if "TEMP B-TREE" in step]
    assert not [step for step in steps if step.startswith("SCAN ") and step != "SCAN run"]


def test_hostile_text_is_exported_as_it_is_stored(reports: Reports):
    titles = [row[0] for row in rows(reports, "pages", "title")]
    assert FORMULA in titles
    assert "\u202eevil \ufffd \x9b title" in titles
