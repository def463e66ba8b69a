"""Groups of failed pages in a table, counted again and again, in an order that does not move while keys are pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.failure_parts import MANY, CountedFailures, FailureGroups
from tui_crawler.console.format import READING, clock
from tui_crawler.console.present.failure_rows import (
    GROUP_HINT,
    GROUPINGS,
    counted_at,
    counted_words,
    group_columns,
    group_row,
    grouping_words,
)
from tui_crawler.console.screens.base import STILL_MS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from tui_crawler.console.crawl_table import CrawlTable
    from tui_crawler.console.refresh import Part
    from tui_crawler.console.screens.base import ConsoleScreen
    from tui_crawler.domain.page_view import FailureGroup


def _with_found(counted: CountedFailures) -> frozenset[Hashable]:
    """The keys of the groups that hold what is looked for."""
    return frozenset(group.key for group in counted.count.groups if group.found)


class GroupList:
    """What a screen shows of the counted groups in its table."""

    def __init__(self, screen: ConsoleScreen, table: CrawlTable) -> None:
        """Nothing is counted yet."""
        self._screen = screen
        self._table = table
        table.stands_while_marked = True
        table.seeks_elsewhere = True
        table.filter_hint = GROUP_HINT
        self.by = GROUPINGS[0]
        self._asked = 0
        self._counted: CountedFailures | None = None
        self._held: CountedFailures | None = None  # what was counted while the picture is held still

    @property
    def part(self) -> FailureGroups:
        """What is read for it: the more was counted last, the less often."""
        looked_at = self._counted.count.looked_at if self._counted is not None else 0
        return FailureGroups(self.by, self._asked, looked_at, self._table.plain_words)

    def take(self, read: Mapping[Part, object], *, frozen: bool) -> tuple[bool, bool]:
        """Takes what was counted: whether it is shown and new, and whether it waits for a thaw and is another one."""
        counted = read.get(self.part)
        if not isinstance(counted, CountedFailures) or counted is self._counted:
            return False, False
        if frozen and self._counted is not None:
            waits = counted.count != (self._held or self._counted).count
            self._held = counted
            self._table.keep_besides(_with_found(counted))
            return False, waits
        self._show(counted)
        return True, False

    def thaw(self) -> bool:
        """Shows what came meanwhile; whether that is anything."""
        held, self._held = self._held, None
        if held is not None:
            self._show(held)
        return held is not None

    def _show(self, counted: CountedFailures) -> None:
        """Rows keep their places for a while after the last key, too (CONSOLE.md, refresh policy)."""
        self._counted = counted
        now, still = self._screen.console.clock.wall_ms(), self._screen.console.idle_ms() < STILL_MS
        self._table.placeholder = "nothing has failed"
        self._table.kept_besides, self._table.looks_elsewhere = _with_found(counted), False
        self._table.set_rows([group_row(group, now) for group in counted.count.groups], still=still)

    def count_again(self) -> None:
        """Counts with the next beat."""
        self._asked += 1

    def group_by(self, by: tuple[str, ...]) -> None:
        """Another grouping, which is counted with the next beat."""
        self.by = by
        self._counted = self._held = None
        self._table.placeholder = READING
        self._table.set_rows([])
        self._table.set_columns(group_columns(by))

    # what is shown

    @property
    def whole(self) -> bool:
        """Whether all failed pages were counted."""
        return self._counted is None or self._counted.count.looked_at >= self._counted.count.failed

    @property
    def groups(self) -> tuple[FailureGroup, ...]:
        """The groups, the largest first."""
        return self._counted.count.groups if self._counted is not None else ()

    def at(self, key: Hashable) -> FailureGroup | None:
        """The group with a key."""
        return next((group for group in self.groups if group.key == key), None)

    @property
    def current(self) -> FailureGroup | None:
        """The group under the cursor."""
        return self.at(self._table.cursor_key)

    @property
    def sought(self) -> tuple[str, ...]:
        """What is looked for among the pages of the group under the cursor: the filter's words, where the group is kept
        only because it holds such pages."""
        group = self.current
        row = self._table.row(group.key) if group is not None else None
        by_pages = group is not None and group.found > 0 and row is not None and not self._table.says(row)
        return self._table.plain_words if by_pages else ()

    def title_words(self) -> tuple[str, str]:
        """What was counted by what; and of when it is, where that is not done again by itself."""
        words, held = [f"By {grouping_words(self.by)}"], ""
        if self._counted is not None:
            words.append(counted_words(self._counted))
            if self._counted.count.looked_at > MANY:
                held = counted_at(clock(self._counted.at, self._screen.console.clock.zone), self._screen.key_names)
        return " · ".join(word for word in words if word), held
