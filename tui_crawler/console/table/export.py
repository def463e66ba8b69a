"""The rows of a table as text: one of them for the clipboard, all of them for a file. Pure.

What a table shows is text made safe; a record (the row as it was read) becomes JSON in ASCII, whose strings hold
whatever was crawled, escaped. CSV has the plain values of the records: names, numbers, times in UTC; what has no record
stands there as it is shown. A text that a spreadsheet would take for a formula gets an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.table.cells import Row
from tui_crawler.text.cells import cell_text
from tui_crawler.text.glyphs import EXIT_GROUPS, STATES
from tui_crawler.text.safe_text import safe
from tui_crawler.text.sheet import CellKind, kind_of, sheet_text

if TYPE_CHECKING:
    from pathlib import Path

    from tui_crawler.text.columns import AnyColumn

FORMATS: tuple[tuple[str, str], ...] = (
    ("csv", "CSV, for a spreadsheet"),
    ("jsonl", "JSON Lines, rows as read"),
    ("md", "Markdown table"),
)
"""Id (which ends the file's name) and words of what a view is exported to."""
ENCODINGS = {"csv": "utf-8-sig", "jsonl": "utf-8", "md": "utf-8"}
"""Of a file by its format: Excel reads CSV as UTF-8 only after a byte order mark."""
_LONGEST = 8_192
_TOLD = range(100_000_000_000, 253_402_300_800_000)
"""Epoch ms that are taken for times: from 1973 up to the year 9999."""
_SIGNS = frozenset(mark.glyph for mark in (*STATES.values(), *EXIT_GROUPS.values())) | {"·"}
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|#~!&$]")


class ListExport(Protocol):
    """What writes a list of which a table holds a part only."""

    def begin(self, format_id: str, path: Path) -> None:
        """Begin to write, in the background."""


@dataclass(frozen=True, slots=True)
class TableText:
    """What a table shows: columns, and rows in their order."""

    columns: tuple[AnyColumn, ...]
    rows: tuple[Row, ...]


def export(table: TableText, format_id: str) -> str:
    """All rows in one of `FORMATS`."""
    return heading(table, format_id) + lines(table, format_id)


def heading(table: TableText, format_id: str) -> str:
    """What stands above the rows."""
    if format_id == "csv":
        return _csv([map(_cell, _fields(_values(row.source) for row in table.rows) or map(_name, table.columns))])
    if format_id == "jsonl":
        return ""
    rules = ("---:" if column.align == "right" else "---" for column in table.columns)
    return _markdown(_escaped(_name(column)) for column in table.columns) + _markdown(rules)


def lines(table: TableText, format_id: str) -> str:
    """The rows alone: a long list is written piece by piece."""
    values = [_values(row.source) for row in table.rows] if format_id == "csv" else []
    if names := _fields(values):
        return _csv([[_plain(name, one.get(name)) for name in names] for one in values if one is not None])
    if format_id == "csv":
        return _csv([[sheet_text(_bare(text)) for text in _texts(row)] for row in table.rows])
    if format_id == "jsonl":
        return "".join(f"{as_json(table.columns, row)}\n" for row in table.rows)
    return "".join(_markdown(map(_escaped, _texts(row))) for row in table.rows)


def as_json(columns: Sequence[AnyColumn], row: Row) -> str:
    """A row as one JSON object in ASCII: its record, or what is shown of it by column."""
    record = row.source
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
    return [safe(cell_text(cell), _LONGEST).strip() for cell in row.cells]


def _name(column: AnyColumn) -> str:
    """The title of a column, which in an answer to SQL is whatever the question or the database calls it."""
    return safe(column.title or column.id, _LONGEST).strip()


def _csv(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _fields(records: Iterable[Mapping[str, object] | None]) -> tuple[str, ...]:
    """The names of all values that the records have, in their order; none where a row has no record."""
    names: dict[str, None] = {}
    for values in records:
        if values is None:
            return ()
        names |= dict.fromkeys(values)
    return tuple(names)


def _values(record: object | None) -> Mapping[str, object] | None:
    if record is None or isinstance(record, Mapping):
        return record
    return {one.name: getattr(record, one.name) for one in fields(record)} if is_dataclass(record) else {}


def _plain(name: str, value: object) -> str:
    """A value as a spreadsheet takes it: numbers as numbers, times of ours (epoch ms) in UTC, what has parts as
    JSON."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int() if kind_of(name) is CellKind.time and value in _TOLD:
            return f"{datetime.fromtimestamp(value // 1_000, UTC):%Y-%m-%dT%H:%M:%S}.{value % 1_000:03}Z"
        case 0 if kind_of(name) is CellKind.time:
            return ""
        case int():
            return str(value)
        case float() if isfinite(value):
            return str(value)
        case str() | float():
            return _cell(str(value))
        case bytes():
            return value.hex()
    return _cell(json.dumps(value, ensure_ascii=True, default=_parts))


def _cell(text: str) -> str:
    return safe(sheet_text(text), _LONGEST)


def _parts(value: object) -> object:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def _bare(text: str) -> str:
    """A text as it is shown without the sign that stands before its word; a dash alone stands for nothing."""
    if text == "-":
        return ""
    return text[2:].lstrip() if text[:1] in _SIGNS and text[1:2] == " " else text


def _markdown(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |\n"


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", text)
