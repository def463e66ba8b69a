"""Every relation shows, orders and exports every kind of record, missing and hostile values among them."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest

from tests.console.fake_reports import FakeReports
from tests.console.poison import CASES, FORBIDDEN, PoisonedReports
from tests.console.sample_crawl import API, NOW, failed_pages, page
from tests.console.sample_log import workers
from tests.console.sample_relations import relations, texts_of
from tui_crawler.console.failures.rows import groups_by, pages_by
from tui_crawler.console.operator.retry_start import NextRequest
from tui_crawler.console.table.cells import lay_out, rows_of
from tui_crawler.console.table.crawl_table import CrawlTable
from tui_crawler.console.table.export import FORMATS, TableText, export
from tui_crawler.console.urls.rows import PageLine
from tui_crawler.domain.crawl.recovery import NextTry
from tui_crawler.domain.records.page_view import FailureGroup
from tui_crawler.text.cells import Present
from tui_crawler.text.columns import Relation, is_missing, order_of
from tui_crawler.text.relations.workers import PROCESSES, process_of

PRESENT = Present(NOW)
SAMPLES = [*relations(FakeReports(), "sample")]


def ordered(relation: Relation[Any], records: Any, column_id: str, *, descending: bool = False) -> list[Any]:
    """Records as a table shows them in the order of a column."""
    rows = rows_of(relation, records, PRESENT)
    return [row.record for row in CrawlTable(relation).in_order(rows, (column_id, descending))]


@pytest.mark.parametrize(("relation", "records"), SAMPLES)
def test_every_column_of_every_relation_orders_all_records_by_value(relation: Relation[Any], records: Any) -> None:
    for column in relation.columns:
        for descending in (False, True):
            found = [column.value_of(one) for one in ordered(relation, records, column.id, descending=descending)]
            assert found
            held = [order_of(value) for value in found if not is_missing(value)]
            assert held == sorted(held, reverse=descending), column.id
            assert all(map(is_missing, found[len(held) :])), column.id


@pytest.mark.parametrize(("relation", "records"), SAMPLES)
def test_columns_have_ids_of_their_own_and_every_record_can_be_exported(relation: Relation[Any], records: Any) -> None:
    assert len({column.id for column in relation.columns}) == len(relation.columns)
    assert len({column.title for column in relation.text_columns}) == len(relation.text_columns) or not relation.text
    rows = tuple(rows_of(relation, records, PRESENT))
    for format_id, _ in FORMATS:
        assert export(TableText(relation.columns, rows), format_id).count("\n") >= len(rows)
    for document, record in zip(relation.documents(records), records, strict=True):
        names = relation.json.split() or [column.id for column in relation.columns]
        assert list(document) == names
        assert not relation.json or all(getattr(record, name) == value for name, value in document.items())


@pytest.mark.parametrize("payload", CASES.values(), ids=CASES)
def test_no_cell_of_a_hostile_record_is_anything_but_text(payload: str) -> None:
    reports = PoisonedReports()
    reports.load(payload, names=True)
    for relation, records in relations(reports, payload):
        for record in records:
            for column in (*relation.columns, *relation.text_columns):
                pieces = lay_out(column.cell(record, PRESENT), 30, column.align, place=column.kind == "place")
                assert not [char for text, _ in pieces for char in text if unicodedata.category(char) in FORBIDDEN]


def column_in_order(relation: Relation[Any], records: Any, column_id: str) -> list[str]:
    return [texts_of(relation, one)[column_id] for one in ordered(relation, records, column_id)]


def test_when_failed_pages_are_retried_is_ordered_by_time() -> None:
    waits = {"in 1d": 86_400, "in 2h": 7_200, "in 2m": 120, "in 3s": 3, "in 59s": 59, "in 8d": 8 * 86_400}
    one = failed_pages()[0]
    lines = [
        PageLine(replace(one, not_before=NOW + 1_000 * wait), NextRequest(NextTry.later)) for wait in waits.values()
    ]
    lines += [PageLine(one, NextRequest(when)) for when in (NextTry.final, NextTry.next_run, NextTry.now)]
    assert column_in_order(pages_by(()), lines, "retry") == [
        "now", "in 3s", "in 59s", "in 2m", "in 2h", "in 1d", "in 8d", "next run", "final",
    ]  # fmt: skip


def test_turns_in_flight_are_ordered_by_their_number() -> None:
    shown = [
        process_of(replace(workers()[0], in_flight=number, slots=slots), NOW) for number, slots in ((12, 16), (2, 8))
    ]
    assert column_in_order(PROCESSES, shown, "flight") == ["2 of 8", "12 of 16"]


def test_groups_are_ordered_by_how_many_pages_recover() -> None:
    groups = [
        FailureGroup((("exit_code", f"code {number}"),), 200, number, f"{API}/x", 0, NOW) for number in (120, 4, 0)
    ]
    assert column_in_order(groups_by(("exit_code",)), groups, "recoverable") == ["no", "4 yes", "120 yes"]


def test_a_page_that_was_never_crawled_is_the_last_in_both_directions() -> None:
    pages = [
        page(number, f"{API}/{number}", "", last_crawled_at=at) for number, at in enumerate((0, NOW - 9, NOW - 99))
    ]
    lines = [PageLine(one, NextRequest(NextTry.now)) for one in pages]
    for descending in (False, True):
        assert ordered(pages_by(()), lines, "last", descending=descending)[-1].page.page_id == 0
