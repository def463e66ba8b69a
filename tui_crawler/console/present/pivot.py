"""How often each value of a column occurs: value, count, share and a bar, the most frequent first. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.format import compact, count, percent, plural
from tui_crawler.console.sparkline import bar
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column

if TYPE_CHECKING:
    from collections.abc import Iterable

PIVOT_COLUMNS: tuple[Column, ...] = (
    Column("value", "VALUE", None, 0, min_width=14),
    Column("count", "COUNT", 9, 0, "right", min_width=5),
    Column("share", "SHARE", 6, 1, "right"),
    Column("bar", "", 24, 2, min_width=8),
)
MOST_VALUES = 1_000
"""So many different values are listed; the rarer ones are only counted."""


@dataclass(frozen=True, slots=True)
class Pivot:
    """Values with how often they occur, the most frequent first; `values` different ones in `rows` rows.

    `of` says in words which rows those are.
    """

    counts: tuple[tuple[str, int], ...]
    values: int
    rows: int
    of: str


def pivot_of(texts: Iterable[str], of: str) -> Pivot:
    """The pivot of the texts of a column."""
    found = Counter(text.strip() for text in texts)
    listed = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:MOST_VALUES]
    return Pivot(tuple(listed), len(found), found.total(), of)


def pivot_rows(pivot: Pivot) -> list[Row]:
    """The values as rows; the keys are the values."""
    most = max((number for _, number in pivot.counts), default=0)
    return [_row(value, number, pivot.rows, most) for value, number in pivot.counts]


def _row(value: str, number: int, rows: int, most: int) -> Row:
    share = number / most
    return Row(
        value,
        (
            Styled(value) if value else Styled("∅ nothing", "faint"),
            Styled(count(number), "strong", short=compact(number)),
            Styled(percent(number, rows), "muted"),
            Styled(bar(share, 24), "accent", short=bar(share, 8)),
        ),
    )


def pivot_words(pivot: Pivot) -> str:
    """What was counted, in words."""
    left_out = f", the {count(len(pivot.counts))} most frequent" if pivot.values > len(pivot.counts) else ""
    return f"{plural(pivot.values, 'value')}{left_out} in {plural(pivot.rows, 'row')}{pivot.of}"
