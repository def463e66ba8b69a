"""Whatever text goes into a row or a line: what comes out is plain, in cells that were asked for."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.console.poisoned_lines import every_line
from tests.console.test_safe_text import ANY_TEXT, NASTY
from tui_crawler.console.dialogs.pivot_rows import pivot_of, values_of
from tui_crawler.console.panes.line import HangingText, Line, Paragraph, Split
from tui_crawler.console.panes.lines import lay_out_line
from tui_crawler.console.panes.typing import plain_text
from tui_crawler.console.sql.rows import answer_lines, answer_of, answer_rows
from tui_crawler.console.table.cells import rows_of
from tui_crawler.console.table.export import FORMATS, TableText, export
from tui_crawler.domain.records.operator_view import QueryAnswer
from tui_crawler.text.cells import Present, Styled
from tui_crawler.text.safe_text import safe, without_unseen

TEXT = ANY_TEXT | NASTY
VALUE = TEXT | st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.binary(max_size=40)
NUMBER = re.compile(r"-?\d[\d.]*(e[+-]?\d+)?").fullmatch
WIDTH = st.integers(1, 60)


def assert_plain(line: Line, width: int) -> None:
    for pieces in lay_out_line(line, width):
        text = "".join(text for text, _ in pieces)
        assert text.isprintable(), text
        assert cell_len(text) == width


@given(TEXT, TEXT, TEXT, WIDTH)
def test_every_kind_of_line_is_plain_and_as_wide_as_asked_for(one: str, two: str, three: str, width: int) -> None:
    for line in (
        one,
        (Styled(one, two), Styled(three, short=two)),
        Split((Styled(one),), two),
        Paragraph(one, indent=2),
        HangingText(one, 9, two),
        HangingText(one, 9, two, tail=three),
    ):
        assert_plain(line, width)


@settings(max_examples=25)
@given(TEXT)
def test_every_line_of_the_console_is_plain_for_any_text(text: str) -> None:
    for line in every_line(text):
        assert_plain(line, 40)


@given(st.lists(TEXT, min_size=1, max_size=4), st.data())
def test_an_answer_keeps_its_columns_and_leaves_as_plain_text(names: list[str], data: st.DataObject) -> None:
    row = st.tuples(*[VALUE] * len(names))
    answer = QueryAnswer(tuple(names), tuple(data.draw(st.lists(row, max_size=3))))
    relation = answer_of(answer)
    rows = tuple(rows_of(relation, answer_rows(answer), Present()))
    assert len({column.id for column in relation.columns}) == len(names)
    for shown in rows:
        for line in (*shown.cells, *answer_lines(answer, shown.key, UTC)):
            assert_plain(line, 30)
    table = TableText(relation.columns, rows)
    assert all(isinstance(row.source, dict) and len(row.source) == len(names) for row in table.rows)
    for format_id, _ in FORMATS:
        text = export(table, format_id)
        assert all(line.isprintable() for line in text.replace("\r\n", "\n").split("\n"))
        if format_id == "csv":
            for cells in csv.reader(io.StringIO(text)):
                assert not [cell for cell in cells if cell.lstrip()[:1] in {"=", "+", "-", "@"} and not NUMBER(cell)]


@given(st.lists(TEXT, max_size=5), TEXT)
def test_a_pivot_is_plain(texts: list[str], of: str) -> None:
    pivot = pivot_of(texts, of)
    for value in pivot.counts:
        for cell in values_of(pivot).cells(value, Present()):
            assert_plain(cell, 20)


@given(TEXT)
def test_what_is_edited_is_what_is_seen(text: str) -> None:
    kept = without_unseen(text)
    assert without_unseen(kept) == kept
    assert safe(f"a{kept}", 10_000) == f"a{kept}"
    assert kept.isprintable()
    assert all(line.isprintable() for line in plain_text(text).split("\n"))
