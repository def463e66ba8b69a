"""The log as view 5 holds it: stretches of one list by time, read by keyset and joined, never all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.log_parts import (
    BEGINNING,
    END,
    LogActions,
    LogAfter,
    LogAround,
    LogBefore,
    LogEntries,
    LogPlace,
    LogWindow,
)
from tui_crawler.console.present.log_lines import Key, LogLine, action_line
from tui_crawler.domain.exit_code import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tui_crawler.domain.desk_view import ActionView

KEPT = 2_000
"""How many entries are held at most, besides the window joined last and the one in view."""

JOINED = 500
"""Up to how many entries neighbouring spans are joined to one."""


@dataclass(frozen=True, slots=True)
class LogSpan:
    """The entries between two places, those of a level and above."""

    after: LogPlace
    up_to: LogPlace
    lines: tuple[LogLine, ...]


class LogBook:
    """A stretch of the log without gaps, in the order of time, and what to read at its edges. Knows no screen.

    `news` counts the entries that came after `newest`, which is where one stopped following.
    """

    def __init__(
        self,
        origin: str = "",
        *,
        level: Severity = Severity.info,
        start: LogPlace = END,
        newest: LogPlace = END,
        news: int = 0,
    ) -> None:
        """Begins empty, for one origin (empty: all), for entries of a level and above, at the end of the log, at its
        beginning or around a place; then `newest` is up to where the end is known already."""
        self.origin = origin
        self.level = level
        self.start = start
        self.newest = newest
        self.news = news
        self.spans: list[LogSpan] = []
        self.lines: Sequence[LogLine] = ()
        self.at_end = False
        self._keys: dict[Key, LogLine] = {}

    # what it holds

    @property
    def problems_only(self) -> bool:
        """Whether only warnings and errors are read."""
        return self.level is not Severity.info

    @property
    def started(self) -> bool:
        """Whether anything was read."""
        return bool(self.spans)

    @property
    def at_first(self) -> bool:
        """Whether it reaches the beginning of the log."""
        return self.started and self.spans[0].after == BEGINNING

    @property
    def whole(self) -> bool:
        """Whether it holds every entry."""
        return self.at_first and self.at_end

    def at(self, start: LogPlace) -> LogBook:
        """The same log anew from another place; what is known of its end stays known."""
        return LogBook(self.origin, level=self.level, start=start, newest=self.newest, news=self.news)

    def anew(self) -> LogBook:
        """The same log from its end."""
        return LogBook(self.origin, level=self.level)

    def line(self, key: object) -> LogLine | None:
        """An entry by its key."""
        return self._keys.get(key) if isinstance(key, tuple) else None

    # what is to be read

    @property
    def unread_before(self) -> LogPlace | None:
        """The place before which the log goes on; None at its beginning, or before anything was read."""
        return None if not self.started or self.at_first else self.spans[0].after

    @property
    def unread_behind(self) -> LogPlace | None:
        """The place behind which it goes on; None at its end."""
        return None if not self.started or self.at_end else self.spans[-1].up_to

    @property
    def begin(self) -> LogWindow:
        """Its first window."""
        if self.start == END:
            return self._before(END)
        return self._after(BEGINNING) if self.start == BEGINNING else LogAround(self.start, self.origin, self.level)

    @property
    def above(self) -> LogBefore | None:
        """What comes before the entries held; None at the beginning of the log."""
        place = self.unread_before
        return None if place is None else self._before(place)

    @property
    def below(self) -> LogAfter | None:
        """What comes after them; at the end of the log what will come."""
        return self._after(self.spans[-1].up_to) if self.started else None

    @property
    def latest(self) -> LogAfter | None:
        """What came in at the end of the log while that is not held; None while it is, or is not known."""
        return None if self.at_end or not self.started or self.newest == END else self._after(self.newest)

    @property
    def actions(self) -> LogActions:
        """The actions that belong to it."""
        return LogActions(self.origin)

    def _before(self, place: LogPlace) -> LogBefore:
        return LogBefore(place, self.origin, self.level)

    def _after(self, place: LogPlace) -> LogAfter:
        return LogAfter(place, self.origin, self.level)

    # what was read

    def take(self, part: LogWindow, entries: LogEntries) -> bool:
        """Takes a window that was read for one of its parts; True when the entries held are others now."""
        if (part.origin, part.level) != (self.origin, self.level):
            return False
        found = tuple(line for line in entries.lines if self._shows(line))
        span = LogSpan(entries.after, entries.up_to, found)
        before = self.started, self.at_first, self.at_end
        if not self.started:
            if part != self.begin:
                return False
            self.spans = [span]
            self.at_end = entries.ended or self.start == END
            self._end_known(found, entries)
        elif part == self.above:
            self._join_above(span)
        elif part == self.below:
            self._join_below(span)
            self.at_end = entries.ended
            self._end_known(found, entries)
        else:
            if part == self.latest:
                self._count(found, entries)
            return False
        if found:
            self._arrange()
        return bool(found) or before != (self.started, self.at_first, self.at_end)

    def take_actions(self, actions: Iterable[ActionView]) -> bool:
        """Shows anew the actions held whose fate is another one now; True when there are any."""
        changed = {line.key: line for line in map(action_line, actions) if self._keys.get(line.key, line) != line}
        if not changed:
            return False
        self.spans = [
            replace(span, lines=tuple(line for old in span.lines if self._shows(line := changed.get(old.key, old))))
            for span in self.spans
        ]
        self._arrange()
        return True

    def let_go(self, anchor: object) -> None:
        """Lets whole spans go that are farthest from the entry of key `anchor`, while there is too much."""
        while len(self.lines) > KEPT and len(self.spans) > 1:
            at = next((index for index, line in enumerate(self.lines) if line.key == anchor), len(self.lines) - 1)
            above = 2 * at >= len(self.lines)
            gone = self.spans[0 if above else -1]
            if any(line.key == anchor for line in gone.lines):
                return
            self.spans.remove(gone)
            self.at_end = self.at_end and above
            self._arrange()

    def _shows(self, line: LogLine) -> bool:
        return line.level >= self.level

    def _join_above(self, span: LogSpan) -> None:
        first = self.spans[0]
        if len(span.lines) + len(first.lines) <= JOINED:
            self.spans[0] = LogSpan(span.after, first.up_to, (*span.lines, *first.lines))
        else:
            self.spans.insert(0, span)

    def _join_below(self, span: LogSpan) -> None:
        last = self.spans[-1]
        if len(span.lines) + len(last.lines) <= JOINED:
            self.spans[-1] = LogSpan(last.after, span.up_to, (*last.lines, *span.lines))
        else:
            self.spans.append(span)

    def _end_known(self, found: Sequence[LogLine], entries: LogEntries) -> None:
        """What was read at the end of what is held is news if it reaches beyond what is known of the end."""
        if self.newest == END:
            if self.at_end:
                self.newest = entries.up_to
        else:
            self._count(found, entries)

    def _count(self, found: Sequence[LogLine], entries: LogEntries) -> None:
        known = {"attempt": self.newest.attempt, "activity": self.newest.activity, "action": self.newest.action}
        self.news += sum(number > known[kind] for kind, number in (line.key for line in found))
        self.newest = self.newest.later(entries.up_to)

    def _arrange(self) -> None:
        every = [line for span in self.spans for line in span.lines]
        self.lines = sorted(every, key=lambda line: line.order)
        self._keys = {line.key: line for line in self.lines}
