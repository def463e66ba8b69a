"""The rows of a `CrawlTable` by key: their order, the cursor that holds on to a key, the marks. Pure."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from tui_crawler.console.table.cells import Row

CursorRule = Literal["pin", "first", "last"]
"""Where the cursor goes when all rows are replaced: stays on its key, or to the first or last row."""


@dataclass(slots=True)
class TableRows:
    """Rows in shown order. An update is one write into a dict; order and cursor do not change by it. `marks` are the
    keys that are marked, also such as have no row now; `order` has the keys in shown order, `cursor_index` is that of
    the row under the cursor (-1 when there are no rows): neither is changed elsewhere."""

    _rows: dict[Hashable, Row] = field(default_factory=dict)
    order: Sequence[Hashable] = ()
    cursor_index: int = -1
    marks: set[Hashable] = field(default_factory=set)
    _mark_anchor: Hashable | None = None

    def __len__(self) -> int:
        return len(self.order)

    @property
    def cursor_key(self) -> Hashable | None:
        """The key of the row under the cursor, None when there are no rows."""
        return self.order[self.cursor_index] if self.order else None

    def get(self, key: Hashable) -> Row | None:
        """Return the row of `key`, or None."""
        return self._rows.get(key)

    def at(self, index: int) -> Row:
        """Return the row at `index` (0 to the number of rows - 1)."""
        return self._rows[self.order[index]]

    def index_of(self, key: Hashable) -> int | None:
        """Return the index of `key`, or None when there is no such row."""
        return self.order.index(key) if key in self._rows else None

    def replace(self, rows: Iterable[Row], cursor: CursorRule, keep_marks: bool) -> None:
        """Put `rows` in place of all rows; of equal keys the last row counts, at the place of the first.

        A pinned cursor whose key is gone goes to the row at its index, or the last one. Marks of keys that
        are gone are dropped unless `keep_marks`.
        """
        before = self.cursor_key
        self._rows = {row.key: row for row in rows}
        self.order = list(self._rows)
        if cursor == "pin":
            self._pin(before, self.cursor_index)
        else:
            self.cursor_index = min(0 if cursor == "first" else len(self.order), len(self.order) - 1)
        if not keep_marks:
            self.marks.intersection_update(self._rows)

    def update(self, row: Row) -> Row | None:
        """Put `row` in place of the row of its key and return that one; None (nothing done) if there is none."""
        if (before := self._rows.get(row.key)) is not None:
            self._rows[row.key] = row
        return before

    def remove(self, keys: Collection[Hashable]) -> int:
        """Remove the rows of `keys`, and all marks of these keys; return how many rows there were.

        The cursor stays on its key; if that is gone, it goes to the next row that is left, or the last one.
        """
        gone = {key for key in keys if key in self._rows}
        self.marks.difference_update(keys)
        if not gone:
            return 0
        before = self.cursor_key
        removed_above = sum(key in gone for key in self.order[: self.cursor_index])
        for key in gone:
            del self._rows[key]
        self.order = [key for key in self.order if key not in gone]
        self._pin(before, self.cursor_index - removed_above)
        return len(gone)

    def move_to(self, index: int) -> bool:
        """Put the cursor on the row at `index`, clamped to the rows; return whether it moved."""
        target = min(max(index, 0), len(self.order) - 1)
        moved = target != self.cursor_index
        self.cursor_index = target
        return moved

    def toggle_mark(self, index: int) -> None:
        """Mark the row at `index`, or take its mark away; a range starts here."""
        key = self.order[index]
        self._mark_anchor = key
        self.marks.symmetric_difference_update((key,))

    def mark(self, keys: Iterable[Hashable]) -> None:
        """Mark keys, also such as have no row now."""
        self.marks.update(keys)

    def mark_range(self) -> None:
        """Mark all rows from the one toggled last (if it is still there) to the cursor."""
        if not self.order:
            return
        start = None if self._mark_anchor is None else self.index_of(self._mark_anchor)
        low, high = sorted((self.cursor_index if start is None else start, self.cursor_index))
        self.marks.update(self.order[low : high + 1])
        self._mark_anchor = self.cursor_key

    def mark_all(self) -> None:
        """Mark all rows; if all are marked already, take the marks of these rows away."""
        if self.marks.issuperset(self._rows):
            self.marks.difference_update(self._rows)
        else:
            self.marks.update(self._rows)

    def clear_marks(self) -> None:
        """Take all marks away, also those of keys that have no row now."""
        self.marks.clear()
        self._mark_anchor = None

    def _pin(self, key: Hashable | None, fallback: int) -> None:
        if key is not None and key in self._rows:
            same_place = 0 <= fallback < len(self.order) and self.order[fallback] == key
            self.cursor_index = fallback if same_place else self.order.index(key)
        else:
            self.cursor_index = min(max(fallback, 0), len(self.order) - 1)
