"""The rows of a table as text: one of them for the clipboard, all of them for a file. Pure.

What a table shows is text made safe; a record (the row as it was read) becomes JSON in ASCII, whose strings hold
whatever was crawled, escaped. A cell that a spreadsheet would take for a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.safe_text import safe
from tui_crawler.console.table_cells import Cell, Row, cell_text

if TYPE_CHECKING:
    from tui_crawler.console.table_columns import Column

FORMATS: tuple[tuple[str, str], ...] = (
    ("csv", "CSV, for a spreadsheet"),
    ("jsonl", "JSON Lines, rows as read"),
    ("md", "Markdown table"),
)
"""Id (which ends the file's name) and words of what a view is exported to."""
_LONGEST = 8_192
_FORMULA = re.compile(r"\s*[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|#~!&$]")


@dataclass(frozen=True, slots=True)
class TableText:
    """What a table shows: columns, rows in their order, and the record of each row (None: it has none)."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    records: tuple[object | None, ...]


def export(table: TableText, format_id: str) -> str:
    """All rows in one of `FORMATS`."""
    match format_id:
        case "csv":
            return _as_csv(table)
        case "jsonl":
            pairs = zip(table.rows, table.records, strict=True)
            return "".join(f"{as_json(table.columns, row, record)}\n" for row, record in pairs)
        case _:
            return _as_markdown(table)


def as_json(columns: Sequence[Column], row: Row, record: object | None) -> str:
    """A row as one JSON object in ASCII: its record, or what is shown of it by column."""
    value: object = dict(zip((column.id for column in columns), _texts(row), strict=False))
    if is_dataclass(record) and not isinstance(record, type):
        value = asdict(record)
    elif isinstance(record, Mapping):
        value = dict(record)
    return json.dumps(value, ensure_ascii=True, default=str).replace("\x7f", "\\u007f")


def as_line(row: Row) -> str:
    """A row as it is shown, on one line."""
    return "  ".join(text for text in _texts(row) if text)


def _texts(row: Row) -> list[str]:
    return [_text(cell) for cell in row.cells]


def _text(cell: Cell) -> str:
    return safe(cell_text(cell), _LONGEST).strip()


def _name(column: Column) -> str:
    """The title of a column, which in an answer to SQL is whatever the question or the database calls it."""
    return safe(column.title or column.id, _LONGEST).strip()


def _as_csv(table: TableText) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_guarded(_name(column)) for column in table.columns])
    writer.writerows([_guarded(cell) for cell in _texts(row)] for row in table.rows)
    return text.getvalue()


def _guarded(text: str) -> str:
    """A text as a cell that no spreadsheet runs; a dash alone stands for nothing."""
    if text == "-":
        return ""
    return f"'{text}" if _FORMULA.match(text) else text


def _as_markdown(table: TableText) -> str:
    def line(texts: Iterable[str]) -> str:
        return f"| {' | '.join(texts)} |\n"

    rules = ("---:" if column.align == "right" else "---" for column in table.columns)
    head = line(_escaped(_name(column)) for column in table.columns) + line(rules)
    return head + "".join(line(_escaped(text) for text in _texts(row)) for row in table.rows)


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", text)
