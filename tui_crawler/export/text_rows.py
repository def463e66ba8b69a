"""Rows as lines of text: JSON Lines, and CSV that a spreadsheet opens without running anything."""

import csv
import io
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from tui_crawler.export.output import Output
from tui_crawler.text.sheet import sheet_text

Row = tuple[Any, ...]


def without_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which no encoding of Unicode has; a pair becomes what it means."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def write_csv(windows: Iterable[Sequence[Row]], columns: Sequence[str], output: Output, *, bom: bool = False) -> int:
    """Write the header and all rows, after a byte order mark for Excel if `bom`; return how many rows.

    Raises CannotWrite, ReaderGone.
    """
    output.write(BOM_UTF8 if bom else b"")
    count = -1  # the header is no row
    for window in chain([[columns]], windows):
        text = io.StringIO(newline="")
        cells = [[sheet_text(cell) if isinstance(cell, str) else cell for cell in row] for row in window]
        csv.writer(text, lineterminator="\r\n").writerows(cells)
        output.write(text.getvalue().encode("utf-8"))
        count += len(window)
    return count


_encode = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode


def write_jsonl(windows: Iterable[Sequence[Row]], columns: Sequence[str], output: Output) -> int:
    """Writes all rows; answers how many. Raises CannotWrite, ReaderGone."""
    count = 0
    for window in windows:
        output.write("".join(_line(dict(zip(columns, row, strict=True))) for row in window).encode("ascii"))
        count += len(window)
    return count


def _line(row: dict[str, Any]) -> str:
    text = _encode(row)
    if "\\ud" in text:  # a surrogate: half of a pair, or a lone one
        text = _encode({k: without_surrogates(cell) if isinstance(cell, str) else cell for k, cell in row.items()})
    return text.replace("\x7f", "\\u007f") + "\n"
