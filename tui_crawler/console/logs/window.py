"""The log as a list: what is held of it, which only grows at its end, and the table that shows that.

What comes in at the end is read as it comes, or counted while the end is not held.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from tui_crawler.console.logs import queries
from tui_crawler.console.logs.queries import BEGINNING, END, LogEntries, LogPlace, LogScope, log_after, log_before
from tui_crawler.console.logs.rows import LogLine, action_line
from tui_crawler.console.reading.window import KeysetWindow, Span
from tui_crawler.console.table.window_list import AHEAD, WindowList
from tui_crawler.domain.records.exit_code import Severity

if TYPE_CHECKING:
    from tui_crawler.console.reading.ask import Ask
    from tui_crawler.console.reading.refresh import Snapshot
    from tui_crawler.console.table.rows import CursorRule
    from tui_crawler.domain.records.operator_view import ActionView

JOINED = 500
"""Up to how many entries of the log neighbouring spans are joined to one."""


class LogListWindow(KeysetWindow[LogPlace, LogLine]):
    """The log in the order of time, or of it the attempts at an origin.

    `news` counts the entries that came after `newest`, which is where one stopped following.
    """

    def __init__(self, scope: LogScope = queries.EVERYTHING, start: LogPlace = END) -> None:
        """Begins empty, at the end of the log, at its beginning or around a place."""
        super().__init__(BEGINNING)
        self.scope, self.start = scope, start
        self.level = min(scope.levels)
        self.newest, self.news = END, 0
        self._ended = False

    def key_of(self, row: LogLine) -> Hashable:
        return row.key

    @property
    def at_last(self) -> bool:
        return self._ended

    @property
    def problems_only(self) -> bool:
        return self.level is not Severity.info

    def at(self, start: LogPlace) -> LogListWindow:
        """The same log anew from another place; what is known of its end stays known."""
        keyset = LogListWindow(self.scope, start)
        keyset.newest, keyset.news = self.newest, self.news
        return keyset

    def restarted(self, level: Severity | None = None) -> LogListWindow:
        """Return the same log from its end, with entries of `level` and above (None: of the same levels)."""
        return LogListWindow(self.scope if level is None else replace(self.scope, levels=queries.levels_from(level)))

    @property
    def unread_before(self) -> LogPlace | None:
        """The place before which the log goes on; None at its beginning, or before anything was read."""
        return None if not self.started or self.at_first else self.spans[0].after

    @property
    def unread_behind(self) -> LogPlace | None:
        """The place behind which it goes on; None at its end."""
        return None if not self.started or self.at_last else self.spans[-1].up_to

    @property
    def begin(self) -> Ask[LogEntries]:
        return (log_before if self.start == END else queries.log_around)(self.start, self.scope)

    @property
    def above(self) -> Ask[LogEntries] | None:
        """What comes before the entries held; None at the beginning of the log."""
        place = self.unread_before
        return None if place is None else log_before(place, self.scope)

    @property
    def below(self) -> Ask[LogEntries] | None:
        """What comes after them; at the end of the log what will come."""
        place = self.spans[-1].up_to if self.spans else None
        return None if place is None else log_after(place, self.scope)

    @property
    def latest(self) -> Ask[LogEntries] | None:
        """What came in at the end of the log while that is not held; None while it is, or is not known."""
        known = self.started and self.newest != END and not self.at_last
        return log_after(self.newest, self.scope) if known else None

    @property
    def actions(self) -> Ask[tuple[ActionView, ...]] | None:
        return None if self.scope.attempts_only else queries.log_actions(self.scope.origin)

    def take(self, ask: Ask[LogEntries], entries: LogEntries) -> bool:
        """Takes a window that was read for one of its asks; True when the entries held are others now."""
        found = entries.lines
        span = Span(entries.after, entries.up_to, found)
        before = self.started, self.at_first, self.at_last
        if not self.started:
            if ask != self.begin:
                return False
            self.spans = [span]
            self._ended = entries.ended or self.start == END
            self._end_known(span)
        elif ask == self.above:
            self.spans[:1] = _joined(span, self.spans[0])
        elif ask == self.below:
            self.spans[-1:] = _joined(self.spans[-1], span)
            self._ended = entries.ended
            self._end_known(span)
        else:
            if ask == self.latest:
                self._end_known(span)
            return False
        if found:
            self._arrange()
        return bool(found) or before != (self.started, self.at_first, self.at_last)

    def take_actions(self, actions: Iterable[ActionView]) -> bool:
        """Shows anew the actions held whose outcome is another one now; True when there are any."""
        changed = {line.key: line for line in map(action_line, actions) if self._by_key.get(line.key, line) != line}
        if changed:
            for at, span in enumerate(self.spans):
                lines = (changed.get(line.key, line) for line in span.rows)
                self.spans[at] = replace(span, rows=tuple(line for line in lines if line.level >= self.level))
            self._arrange()
        return bool(changed)

    def _end_known(self, span: Span[LogPlace, LogLine]) -> None:
        """What was read at the end of what is held is news if it reaches beyond what is known of the end."""
        up_to = span.up_to or END
        if self.newest != END:
            known = self.newest._asdict()
            self.news += sum(number > known[kind] for kind, number in (line.key for line in span.rows))
            self.newest = self.newest.later(up_to)
        elif self.at_last:
            self.newest = up_to

    def drop(self, gone: Span[LogPlace, LogLine], *, from_top: bool) -> None:
        super().drop(gone, from_top=from_top)
        self._ended = self._ended and from_top

    def _in_order(self, rows: Iterable[LogLine]) -> Iterable[LogLine]:
        return sorted(rows, key=lambda line: line.order)


def _joined(one: Span[LogPlace, LogLine], other: Span[LogPlace, LogLine]) -> list[Span[LogPlace, LogLine]]:
    if len(one.rows) + len(other.rows) > JOINED:
        return [one, other]
    return [Span(one.after, other.up_to, (*one.rows, *other.rows))]


class LogList(WindowList[LogListWindow, "Ask[Any]", LogLine]):
    """The log. It follows the end where the newest entry goes: the bottom, or `newest_on_top`."""

    newest_on_top = False
    _goal: LogLine | None = None  # the entry that gets the cursor with the first rows of a book

    def look(self, keyset: LogListWindow, *, keep: bool = False, goal: LogLine | None = None) -> None:
        """Goes elsewhere, to the entry `goal` if there is one, which is read with the next beat; `keep`: until then the
        rows stay."""
        self.go_elsewhere(keyset, keep=keep)
        self._goal = goal

    @property
    def following(self) -> bool:
        """Whether the row where the newest entry goes has the cursor and is in view."""
        table, keyset = self.table, self.keyset
        if self._turned:
            return keyset.start == END
        at, visible = table.cursor_index, table.visible_keys
        newest = at <= 0 if self.newest_on_top else at >= table.row_count - 1
        return keyset.at_last and newest and (not visible or table.cursor_key in visible)

    def seen(self) -> None:
        """The cursor was moved: at the newest entry there are no news."""
        if self.following:
            self.keyset.news = 0

    def go_to_end(self, *, bottom: bool) -> bool:
        newest = bottom is not self.newest_on_top
        keyset = self.keyset
        if self.in_part or not keyset.started or (keyset.at_last if newest else keyset.at_first):
            return False
        self.look(keyset.restarted() if newest else keyset.at(BEGINNING), keep=True)
        return True

    def _windows(self, *, frozen: bool) -> Iterable[Ask[Any] | None]:
        """What comes in at the end, unless the picture is held still, and what lies beyond an edge that is near."""
        keyset = self.keyset
        if not keyset.started:
            yield keyset.begin
            return
        if not frozen:
            yield keyset.actions
            yield keyset.below if keyset.at_last else keyset.latest
        if self.in_part:
            return
        above, below = self.near()
        older, newer = (below <= AHEAD, above < AHEAD) if self.newest_on_top else (above < AHEAD, below <= AHEAD)
        if newer and not keyset.at_last:
            self._edge = keyset.below
        elif older:
            self._edge = keyset.above
        yield self._edge

    def take(self, shot: Snapshot, *, frozen: bool) -> bool:
        """Takes what was read. Nothing is held back: while the picture is held still, what comes in is not read."""
        keyset, following, anchor, reads_on = self.keyset, self.following, self.looked_at(), self._edge is not None
        changed = False
        for ask in self._asked:
            found = shot.parts.get(ask)
            if isinstance(found, LogEntries):
                self._edge = None if ask == self._edge else self._edge
                changed |= keyset.take(ask, found)
            elif isinstance(found, tuple):
                changed |= keyset.take_actions(found)
        if following:
            keyset.news = 0
        if changed:
            keyset.let_go(keyset.rows[-1].key if following and keyset.rows else anchor)
            self.show(following=following)
            self._changed()
        fell_behind = following and keyset.started and not keyset.at_last
        if fell_behind:  # so much has come in that it is not at the end any more
            self.look(keyset.restarted(), keep=True)
        if reads_on or fell_behind:
            self._read_soon()
        return False

    def show(self, *, following: bool) -> None:
        rules: tuple[CursorRule, CursorRule] = ("last", "first")
        newest, oldest = reversed(rules) if self.newest_on_top else rules
        self._show(newest if following else oldest if self._turned else "pin", reverse=self.newest_on_top)
        if self._goal is not None:
            table, goal, self._goal = self.table, self._goal, None
            if not table.move_cursor(key=goal.key):  # it is not held: the one after it
                table.move_cursor(index=bisect_left(self.keyset.rows, goal.order, key=lambda line: line.order))
            table.scroll_to(y=max(0, table.cursor_index - table.size.height // 2), animate=False, force=True)

    def remake(self) -> None:
        """Makes all rows anew: what is underlined or how time is shown has changed."""
        self._rows = {}
        if not self._turned:
            self.show(following=False)

    def ahead(self, *, older: bool) -> Iterable[LogLine]:
        """The entries on one side of the cursor, the nearest first."""
        here = self.table.cursor_index
        keys = self.table.row_order
        there = reversed(keys[: max(here, 0)]) if older else iter(keys[here + 1 :])
        return (line for line in map(self.keyset.row, there) if line is not None)

    def nearest(self, text: str) -> Hashable | None:
        """The key of the nearest entry above the cursor that has a text (lower case), else of the one below."""
        both_ways = chain(self.ahead(older=True), self.ahead(older=False))
        return next((line.key for line in both_ways if text in line.text), None)
