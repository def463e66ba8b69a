"""The order of the rows of any table by one of its columns: what a cell says is compared, numbers as numbers. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tui_crawler.console.table_cells import Row, cell_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from tui_crawler.console.table_columns import Column

OrderKey = tuple[int, float, str]
"""What two cells are compared by: nothing before numbers before words."""

_ABSENT = frozenset({"", "-", "none", "never", "NULL"})
_NUMBER = re.compile(r"[<+~]?(-?\d{1,3}(?: \d{3})+|-?\d+)(\.\d+)? ?(ms|[KMGTPE]?B|[kMGTPE]|%|[dhms])?(?: ago)?")
_SPAN = re.compile(r"(-?)(\d+)([dhm])(\d\d)([hms])")
_PART = re.compile(r"(\d+)/\d+")
_UNITS = {
    "": 1.0, "%": 1.0, "B": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0,
    **{unit + byte: 1_000.0**power for power, unit in enumerate("kMGTPE", 1) for byte in ("", "B")}, "KB": 1_000.0,
}  # fmt: skip
_MARKS = " \t▶‖■●○◐✓✗⚠↻▲▼◆⊘∅◷✎×▸R·→↳"


def order_key(text: str) -> OrderKey:
    """What a cell is ordered by: `1 204`, `2.1 MB`, `1h12m`, `4s ago` and `2/5` are numbers; glyphs do not count."""
    bare = text.strip(_MARKS) or text.strip()
    if bare in _ABSENT:
        return (0, 0.0, "")
    if bare == "now":
        return (1, 0.0, "")
    part = _PART.fullmatch(bare)
    span = _SPAN.fullmatch(bare)
    if span:
        sign, first, big, second, small = span.groups()
        amount = int(first) * _UNITS[big] + int(second) * _UNITS[small]
        return (1, -amount if sign else amount, "")
    number = _NUMBER.fullmatch(part[1] if part else bare)
    if number and len(number[1]) < 40:
        whole, rest, unit = number.groups()
        return (1, float(whole.replace(" ", "") + (rest or "")) * _UNITS[unit or ""], "")
    return (2, 0.0, bare.casefold())


def ordered(rows: Iterable[Row], columns: Sequence[Column], column_id: str, *, descending: bool) -> list[Row]:
    """Rows by one column; equal ones as they came. Without such a column: as they came."""
    index = next((at for at, column in enumerate(columns) if column.id == column_id), None)
    if index is None:
        return list(rows)

    def key(row: Row) -> OrderKey:
        return order_key(cell_text(row.cells[index])) if index < len(row.cells) else (0, 0.0, "")

    return sorted(rows, key=key, reverse=descending)


def in_place(shown: Iterable[Hashable], coming: Sequence[Row]) -> tuple[list[Row], int]:
    """Rows that come, each where it is shown already, those that are not shown yet at the end; and how many these are.

    Of equal keys the last row counts.
    """
    rows = {row.key: row for row in coming}
    placed = {key: rows[key] for key in shown if key in rows}
    new = [row for key, row in rows.items() if key not in placed]
    return [*placed.values(), *new], len(new)


def begins_with_the_greatest(rows: Iterable[Row], columns: Sequence[Column], column_id: str) -> bool:
    """Whether an order by this column begins with the greatest: where most cells are numbers."""
    index = next((at for at, column in enumerate(columns) if column.id == column_id), None)
    if index is None:
        return False
    ranks = [order_key(cell_text(row.cells[index]))[0] for row in rows if index < len(row.cells)]
    return ranks.count(1) > ranks.count(2)
