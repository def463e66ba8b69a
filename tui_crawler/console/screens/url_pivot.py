"""The pivot of view 3: counted by the database over all pages that pass the filter, not only those held."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.console.format import count
from tui_crawler.console.ports import PageCounts
from tui_crawler.console.present.pivot import Pivot
from tui_crawler.console.present.url_rows import URL_COLUMNS
from tui_crawler.console.screens.lifetime import stands
from tui_crawler.console.screens.pivot import PivotScreen
from tui_crawler.console.url_parts import PageCountsOf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.console.refresh import Part
    from tui_crawler.console.screens.urls import UrlsScreen

_FIELDS: Mapping[str, str] = MappingProxyType(
    {"state": "state", "exit": "exit", "status": "status", "depth": "depth", "url": "origin"}
)
"""The field of the filter that a column stands for: of URLs the origin is counted."""


class UrlPivot:
    """Asks for the counting, shows it, and filters by what is chosen."""

    def __init__(self, screen: UrlsScreen) -> None:
        """Nothing is counted yet."""
        self._screen = screen
        self._field = ""
        self._part: PageCountsOf | None = None
        self._dialog: PivotScreen | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is to be counted, until it is shown."""
        return () if self._part is None else (self._part,)

    def open(self, column_id: str) -> bool:
        """Counts a column; False when the database keeps no such field."""
        field = _FIELDS.get(column_id)
        if field is None:
            return False
        column = next(column for column in URL_COLUMNS if column.id == column_id)
        self._field, self._part = field, PageCountsOf(self._screen.narrowing, field)
        self._dialog = PivotScreen("ORIGIN" if field == "origin" else column.title, None)
        self._screen.console.push_screen(self._dialog, self._chosen)
        self._screen.console.read_soon()
        return True

    def take(self, read: Mapping[Part, object]) -> None:
        """Shows what was counted."""
        value = None if self._part is None else read.get(self._part)
        if isinstance(value, PageCounts) and self._dialog is not None and stands(self._dialog):
            self._part = None
            rest = f" of the first {count(value.looked_at)} of {count(value.known)}"
            of = rest if value.looked_at < value.known else ""
            self._dialog.show(Pivot(value.counts, value.values, sum(n for _, n in value.counts), of))

    def _chosen(self, value: object) -> None:
        """Keeps the pages with that value, of those that pass the filter already."""
        self._part = self._dialog = None
        if isinstance(value, str):
            word = f"{self._field}:{value.removeprefix('https://') or 'none'}"
            self._screen.do("filter.open", f"{self._screen.filter_text} {word}".strip())
