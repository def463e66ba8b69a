"""Columns and relations: how each value of a record is shown, sorted and filtered. Below console, command line, export.

A column is declared once, in a relation; tables, `--json`, copies and exports are made from it.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, Literal, TypeVar

from tui_crawler.domain.record import dataclass
from tui_crawler.text.cells import Cell, Present, Styled, cell_text
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.safe_text import Align
from tui_crawler.text.shown import Show, plain

FLEXIBLE_MINIMUM = 8
"""The least width of a flexible column that names none, in cells."""

R = TypeVar("R")
V = TypeVar("V")

Kind = Literal["", "place", "bar"]
"""What a column shows. `place`: a URL, a path or a host, cut in the middle, for such differ at their ends. `bar`: all
cells take their short form where the whole one of any does not fit, to keep one scale."""


def is_missing(value: object) -> bool:
    """Return whether there is nothing to order by."""
    return value is None or value == ""


def order_of(value: object) -> tuple[int, Any]:
    """Return what a value that is not missing is ordered by: numbers come before texts, whose case does not count."""
    match value:
        case int() | float():
            return 0, value
        case str():
            return 1, value.casefold()
        case StateGlyph():
            return 1, value.word
        case Styled() | tuple():
            return 1, cell_text(value).casefold()
        case bytes():
            return 2, value
        case _:
            return 3, str(value)


@dataclass(frozen=True, slots=True)
class Column(Generic[R, V]):
    """One column.

    `width` is in cells; None shares what the others leave. `priority` 0 is never dropped; of the others the greatest
    goes first. `min_width` is how far the column may shrink before anything is dropped; 0: not below `width` (flexible:
    `FLEXIBLE_MINIMUM`). `short` is the title where the column is too narrow for `title`. `value` reads what rows are
    ordered by, a number, a text, or None where it is missing; without one it is the attribute that `id` names.
    `opens` says in words what enter opens on a cell of it that counts something; empty: the row.
    """

    id: str
    title: str
    show: Show[V, R] = plain()
    width: int | None = None
    priority: int = 0
    align: Align = "left"
    min_width: int = 0
    short: str = ""
    kind: Kind = ""
    value: Callable[[R], V] | None = None
    opens: str = ""

    @property
    def least(self) -> int:
        """The width below which the column is rather dropped, in cells."""
        width = self.min_width or self.width or FLEXIBLE_MINIMUM
        return max(1, width if self.width is None else min(width, self.width))

    @property
    def wanted(self) -> int:
        """The width the column asks for, in cells."""
        return self.least if self.width is None else max(1, self.width)

    def value_of(self, record: R) -> Any:
        """Return the value of a record."""
        return getattr(record, self.id) if self.value is None else self.value(record)

    def cell(self, record: R, present: Present) -> Cell:
        """Return the cell of a record."""
        return self.show(self.value_of(record), record, present)


AnyColumn = Column[Any, Any]


@dataclass(frozen=True, slots=True)
class Relation(Generic[R]):
    """Records of one kind as a table: its columns, what identifies a record, and what is shown where there are none.

    `source` returns the record as it was read, for copies and exports; None: they have the texts that are shown. `json`
    names the attributes of a JSON document. `text` are the columns of the command line, some by their ids in `columns`.
    Without these, both have the columns.
    """

    columns: tuple[Column[R, Any], ...]
    key: Callable[[R], Hashable]
    nothing: str = ""
    source: Callable[[R], object | None] = lambda record: record
    json: str = ""
    text: tuple[str | Column[R, Any], ...] = ()

    def cells(self, record: R, present: Present) -> tuple[Cell, ...]:
        """Return the cells of a record, in the order of the columns."""
        return tuple(column.cell(record, present) for column in self.columns)

    @property
    def text_columns(self) -> tuple[Column[R, Any], ...]:
        """The columns that the command line prints."""
        known = {column.id: column for column in self.columns}
        return tuple(known[one] if isinstance(one, str) else one for one in self.text or self.columns)

    def documents(self, records: Iterable[R]) -> Iterable[dict[str, object]]:
        """Return records as members of a JSON document."""
        if names := self.json.split():
            return ({name: getattr(record, name) for name in names} for record in records)
        return ({column.id: column.value_of(record) for column in self.columns} for record in records)
