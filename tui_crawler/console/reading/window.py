"""What is held of a long list: spans without a gap between them, read by keyset and joined, never all of it.

A span reaches from one place of the list to another. What lies above the first span and below the last one is read as
the ask `above` or `below`, which begins at the edge of that span: so no row is lost or doubled, whatever comes in
meanwhile. Pages stand in the order of their ids and change while they are held: spans are read again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from tui_crawler.console.reading.ask import WINDOW, Ask, PageAsk
from tui_crawler.console.reading.reading import PaneReading
from tui_crawler.domain.record import dataclass

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import PageView
    from tui_crawler.domain.rules.page_filter import PageWindow

KEPT = 2_000
"""How many rows are held at most, besides the window joined last and the one in view: whole spans far away are let go.
At least three windows, so that what is in view and what was read ahead of it stay."""

E = TypeVar("E")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Span(Generic[E, R]):
    """The rows between two places of the list: behind `after`, up to and with `up_to` (None: to the end)."""

    after: E
    up_to: E | None
    rows: tuple[R, ...]


class KeysetWindow(Generic[E, R]):
    """A stretch of a list without gaps. Knows no screen."""

    def __init__(self, beginning: E) -> None:
        """Begins empty; `beginning` is the place before all rows."""
        self._beginning = beginning
        self.spans: list[Span[E, R]] = []
        self.rows: Sequence[R] = ()
        """The rows held, in the order of the list."""
        self._by_key: dict[Hashable, R] = {}

    def row(self, key: Hashable) -> R | None:
        """A row that is held, by its key."""
        return self._by_key.get(key)

    @property
    def started(self) -> bool:
        """Whether anything was read."""
        return bool(self.spans)

    @property
    def at_first(self) -> bool:
        """Whether it reaches the beginning of the list."""
        return self.started and self.spans[0].after == self._beginning

    @property
    def at_last(self) -> bool:
        """Whether it reaches the end of the list."""
        return self.started and self.spans[-1].up_to is None

    @property
    def whole(self) -> bool:
        """Whether it holds every row."""
        return self.at_first and self.at_last

    def let_go(self, anchor: Hashable) -> None:
        """Lets whole spans go that are farthest from the row of key `anchor`, while there is too much."""
        while len(self.rows) > KEPT and len(self.spans) > 1:
            keys = list(self._by_key)
            at = keys.index(anchor) if anchor in self._by_key else len(keys) - 1
            from_top = 2 * at >= len(keys)
            gone = self.spans[0 if from_top else -1]
            if any(self.key_of(row) == anchor for row in gone.rows):
                return
            self.drop(gone, from_top=from_top)
            self._arrange()

    @abstractmethod
    def key_of(self, row: R) -> Hashable:
        """The key of a row."""

    def drop(self, gone: Span[E, R], *, from_top: bool) -> None:
        self.spans.remove(gone)

    def _arrange(self) -> None:
        rows = self._in_order(row for span in self.spans for row in span.rows)
        self._by_key = {self.key_of(row): row for row in rows}
        self.rows = tuple(self._by_key.values())

    def _in_order(self, rows: Iterable[R]) -> Iterable[R]:
        return rows


class SpanWindow(KeysetWindow[int, "PageView"]):
    """Pages, in the order in which they were found or newest first; places are page ids, 0 before all.

    `first` is the number of the first page held, counted from 1, None when nobody knows; `exact`: it was counted,
    not taken from the counters. `looked_at` of `known` rows were judged to make it.
    """

    def __init__(self, windows: PageAsk, *, newest_first: bool = False, from_end: bool = False) -> None:
        """Begins empty, at the beginning of the list of `windows` or at its end."""
        super().__init__(0)
        self._windows = windows.at(0, newest_first=False)
        self.newest_first, self.from_end = newest_first, from_end
        self.first: int | None = None
        self.exact = True
        self.known = 0
        self.looked_at = 0

    def key_of(self, row: PageView) -> int:
        return row.page_id

    @abstractmethod
    def restarted(self, *, from_end: bool) -> Self:
        """Return the same list without its rows, from its beginning or its end."""

    def lacks(self, page_id: int) -> bool:
        """Whether a page would be held if it belonged to the list, and is not."""
        if self.row(page_id) is not None or not self.started:
            return False
        after, up_to = self.spans[0].after, self.spans[-1].up_to
        behind = after == 0 or self._beyond(page_id, after)
        return behind and (up_to is None or not self._beyond(page_id, up_to))

    @property
    def counted(self) -> bool:
        """Whether the length of the list is known with any window; of a filtered one it is not, and each window costs
        more."""
        return self._windows.counted

    @property
    def total(self) -> int | None:
        """How many pages the list has, None while that is not known."""
        least = (self.first or 1) - 1 + len(self.rows)
        if self.at_last and self.first is not None and self.exact:
            return least
        return max(self.known, least) if self.counted else None

    @property
    def begin(self) -> PageAsk:
        """Its first window."""
        return self._windows.at(0, newest_first=self.newest_first is not self.from_end)

    @property
    def below(self) -> PageAsk | None:
        """What comes after the pages held; None at the end."""
        up_to = self.spans[-1].up_to if self.spans else None
        return None if up_to is None else self._windows.at(up_to, newest_first=self.newest_first)

    @property
    def above(self) -> PageAsk | None:
        """What comes before them, the nearest first; None at the beginning."""
        if not self.started or self.at_first:
            return None
        return self._windows.at(self.spans[0].after + self._step, newest_first=not self.newest_first)

    def again(self, key: Hashable) -> PageAsk | None:
        """The window that reads the span of a page anew; None when it is not held."""
        span = next((span for span in self.spans if any(page.page_id == key for page in span.rows)), None)
        return None if span is None else self._windows.at(span.after, newest_first=self.newest_first)

    @property
    def end_again(self) -> PageAsk | None:
        """The window that reads the end of the list anew, for what is found meanwhile; None when that is not held."""
        return self._windows.at(self.spans[-1].after, newest_first=self.newest_first) if self.at_last else None

    def take(self, ask: PageAsk, window: PageWindow) -> bool:
        """Takes a window that was read for one of its parts; True when anything is new."""
        if ask.at(0, newest_first=False) != self._windows:
            return False
        self.known = window.known
        up_to = None if window.ended else window.last_id
        edge_above = self.spans[0].after if self.spans else None
        backwards = Span(0 if window.ended else window.last_id - self._step, edge_above, window.pages[::-1])
        if not self.started:
            if ask != self.begin:
                return False
            self.spans = [backwards if self.from_end else Span(0, up_to, window.pages)]
            self.first = 1 if window.ended or not self.from_end else None
            if self.first is None and self.counted:
                self.first, self.exact = max(1, window.known - len(window.pages) + 1), False
        elif ask == self.below:
            self.spans.append(Span(ask.after_id, up_to, window.pages))
        elif ask == self.above:
            self.spans.insert(0, backwards)
            self.first = None if self.first is None else max(1, self.first - len(window.pages))
            if window.ended:
                self.first, self.exact = 1, True
        elif not self._take_again(ask, window):
            return False
        else:
            self._arrange()
            return True
        self.looked_at += window.looked_at
        self._arrange()
        return True

    def _take_again(self, ask: PageAsk, window: PageWindow) -> bool:
        """Puts what was read anew in place of the span; what it does not reach any more becomes a span of its own."""
        at = next((at for at, span in enumerate(self.spans) if span.after == ask.after_id), None)
        if at is None or ask.newest_first is not self.newest_first:
            return False
        span, last = self.spans[at], window.last_id
        up_to = span.up_to
        pages = tuple(page for page in window.pages if up_to is None or not self._beyond(page.page_id, up_to))
        short = not window.ended and (up_to is None or self._beyond(up_to, last))
        fresh = [Span(span.after, last if short else up_to, pages)]
        if short:
            fresh.append(Span(last, up_to, tuple(page for page in span.rows if self._beyond(page.page_id, last))))
        if fresh == [span]:
            return False
        following = self.spans[at + 1 : at + 2]
        if short and following and len(fresh[1].rows) + len(following[0].rows) <= WINDOW:
            fresh[1] = Span(last, following[0].up_to, fresh[1].rows + following[0].rows)
            self.spans[at : at + 2] = fresh
        else:
            self.spans[at : at + 1] = fresh
        return True

    def drop(self, gone: Span[int, PageView], *, from_top: bool) -> None:
        super().drop(gone, from_top=from_top)
        if from_top and self.first is not None:
            self.first += len(gone.rows)

    @property
    def _step(self) -> int:
        return -1 if self.newest_first else 1

    def _beyond(self, number: int, edge: int) -> bool:
        return number < edge if self.newest_first else number > edge


class TurnedWindow(Generic[E, R]):
    """One window of a list, which turns to the next and to those before. Knows no screen."""

    def __init__(
        self,
        window: Callable[[E], Ask[tuple[R, ...]]],
        first: E,
        place: Callable[[R], E],
        show: Callable[[tuple[R, ...]], object] = lambda _: None,
    ) -> None:
        """Begins with the first window, not read yet. `window` is what reads the rows behind a place, with one more
        than is shown; `place` is that of a row, `show` shows what was read."""
        self._place = place
        self._after: list[E] = [first]
        self.reading = PaneReading(lambda: window(self._after[-1]), show)

    @property
    def rows(self) -> tuple[R, ...]:
        """What was read of the window."""
        return self.reading.value or ()

    @property
    def read(self) -> bool:
        """Whether the window was read."""
        return self.reading.value is not None

    @property
    def first(self) -> int:
        """The number of its first row, counted from 1."""
        return (len(self._after) - 1) * WINDOW + 1

    @property
    def older(self) -> bool:
        """Whether there is a next window."""
        return len(self.rows) > WINDOW

    @property
    def newer(self) -> bool:
        """Whether there is a former window."""
        return len(self._after) > 1

    def turn(self, *, on: bool) -> bool:
        """Goes to the next or the former window; answers whether there is one, which is then to be read."""
        if on and self.older:
            self._after.append(self._place(self.rows[WINDOW - 1]))
        elif not on and self.newer:
            self._after.pop()
        else:
            return False
        return True
