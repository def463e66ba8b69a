"""JSON Lines: one object a line, in ASCII, so that a terminal shows it and obeys nothing in it.

Keys are the columns of the view, times epoch ms, booleans 0 or 1 as in the views. Text is exactly what is stored; NUL
is `\\u0000`, a lone surrogate becomes U+FFFD (a JSON text cannot stand for one, RFC 8259 section 8.2).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from tui_crawler.export.output import Output
from tui_crawler.export.sheet import Column, Row, without_surrogates

_encode = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode


def write_jsonl(windows: Iterable[Sequence[Row]], columns: Sequence[Column], output: Output) -> int:
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
