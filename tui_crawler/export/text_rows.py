"""Rows as lines of text: JSON Lines, and CSV that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
import io
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tui_crawler.export.output import Output
from tui_crawler.text.safe_text import unlike_formula

Row = tuple[Any, ...]


class CellKind(Enum):
    """What a column holds; None may stand in each of them. A flag is 0 or 1."""

    text = "text"
    integer = "integer"
    flag = "flag"


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column by the name it has in its view."""

    name: str
    kind: CellKind


_FLAGS = frozenset({"nofollow", "permanent", "valid", "external", "noindex", "frame"})
_INTEGERS = frozenset(
    {
        *("attempts", "attempts_remaining", "nice", "depth", "not_before", "last_http_status", "last_crawled_at"),
        *("due_at", "size", "attempt_id", "run_id", "exit_code_id", "http_status", "started_at", "ended_at"),
        *("response_ms", "bytes", "requests", "patience_after", "politeness_after", "delay_ms_after", "ruleset_id"),
        *("first_seen_at", "seen_at", "place", "crawled_at", "first_seen", "inlinks", "ok_status"),
        *("stored_at", "lastmod"),
    }
)


def columns_of(names: Iterable[str]) -> tuple[SheetColumn, ...]:
    """The columns of these names; one that is not known to be a number or a flag is text."""
    return tuple(SheetColumn(name, _kind_of(name)) for name in names)


def _kind_of(name: str) -> CellKind:
    if name in _FLAGS:
        return CellKind.flag
    return CellKind.integer if name in _INTEGERS else CellKind.text


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no encoding of Unicode has; a pair becomes what it means."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_SPELLED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def write_csv(
    windows: Iterable[Sequence[Row]], columns: Sequence[SheetColumn], output: Output, *, bom: bool = False
) -> int:
    """Write the header and all rows, after a byte order mark for Excel if `bom`; return how many rows.

    Raises CannotWrite, ReaderGone.
    """
    text = io.StringIO(newline="")
    output.write(BOM_UTF8 if bom else b"")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([column.name for column in columns])
    count = 0
    for window in windows:
        writer.writerows([[_guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in window])
        count += len(window)
        _hand_on(text, output)
    _hand_on(text, output)
    return count


def _guarded(text: str) -> str:
    guarded = unlike_formula(text)
    return _SPELLED.sub(_spell, guarded) if _SPELLED.search(guarded) else guarded


def _spell(found: re.Match[str]) -> str:
    char = found[0]
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char.encode("unicode_escape").decode("ascii")


def _hand_on(text: io.StringIO, output: Output) -> None:
    output.write(text.getvalue().encode("utf-8"))
    text.seek(0)
    text.truncate()


_encode = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode


def write_jsonl(windows: Iterable[Sequence[Row]], columns: Sequence[SheetColumn], output: Output) -> int:
    """Writes all rows; answers how many. Raises CannotWrite, ReaderGone."""
    names = [column.name for column in columns]
    count = 0
    for window in windows:
        output.write("".join(_line(names, row) for row in window).encode("ascii"))
        count += len(window)
    return count


def _line(names: list[str], row: Row) -> str:
    text = _encode(dict(zip(names, row, strict=True)))
    if "\\ud" in text:  # a surrogate: half of a pair, or a lone one
        text = _encode({name: _whole(cell) for name, cell in zip(names, row, strict=True)})
    return text.replace("\x7f", "\\u007f") + "\n"


def _whole(cell: object) -> object:
    return without_surrogates(cell) if isinstance(cell, str) else cell
