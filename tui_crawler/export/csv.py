"""Comma-separated values (RFC 4180): a header, CRLF, quotes where they are needed; UTF-8 without a byte order mark.

What is opened in a spreadsheet must not run. A text that a spreadsheet would take for a formula is prefixed with an
apostrophe: one that begins with `=`, `+`, `-`, `@` (also in their full-width and small forms), be there white space or
an invisible character before it or not, and one that begins with a tab or a carriage return. Numbers stay numbers.

RFC 4180 knows no control characters but CR and LF. All of them, line breaks too, are spelled out (`\\n`, `\\x1b`), as
are line separators and characters that turn the direction of a text: one row is one line for every reader, also for
one that splits lines itself. JSON Lines and Parquet keep the text as it is. NULL and an empty text are both empty.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from tui_crawler.export.output import Output
from tui_crawler.export.sheet import Column, Row

_INVISIBLE = "\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u205f-\u2069\u3000\ufeff"
_FORMULA = re.compile(rf"[\t\r]|[{_INVISIBLE}\s]*[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]")
_SPELLED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def write_csv(windows: Iterable[Sequence[Row]], columns: Sequence[Column], output: Output) -> int:
    """Writes the header and all rows; answers how many rows. Raises CannotWrite, ReaderGone."""
    text = io.StringIO(newline="")
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
    """The text as a cell that no spreadsheet runs and no terminal obeys."""
    guarded = f"'{text}" if _FORMULA.match(text) else text
    return _SPELLED.sub(_spell, guarded) if _SPELLED.search(guarded) else guarded


def _spell(found: re.Match[str]) -> str:
    char = found[0]
    return "\ufffd" if "\ud800" <= char <= "\udfff" else char.encode("unicode_escape").decode("ascii")


def _hand_on(text: io.StringIO, output: Output) -> None:
    output.write(text.getvalue().encode("utf-8"))
    text.seek(0)
    text.truncate()
