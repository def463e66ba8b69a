"""A long list of pages as views 2 and 3 hold it: spans that are read by keyset, joined where they touch, never all of
it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from tui_crawler.console.failure_parts import FailureWindow
from tui_crawler.console.refresh import WINDOW
from tui_crawler.console.url_parts import UrlWindow
from tui_crawler.domain.page_filter import PageFilter, PageWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.console.failure_parts import GroupKey
    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.page_view import PageView

KEPT = 2_000
"""How many pages are held at most, besides the window joined last: whole spans far away are let go. At least three
windows, so that what is in view and what was read ahead of it stay."""


@dataclass(frozen=True, slots=True)
class Span:
    """Pages between two ids in the order of the list: after `after` (0: from the beginning) up to and with `up_to`
    (None: to the end)."""

    after: int
    up_to: int | None
    pages: tuple[PageView, ...]


class ListWindow(Protocol):
    """A window of a list of pages: a part, after a page id or, newest first, before it (0: from the beginning)."""

    @property
    def after_id(self) -> int:
        """Where it begins."""
        ...

    @property
    def newest_first(self) -> bool:
        """In which order it is read."""
        ...

    @property
    def counted(self) -> bool:
        """Whether `PageWindow.known` is how many pages the whole list has."""
        ...

    @property
    def every_ms(self) -> int:
        """How long a reading holds at least."""
        ...

    @property
    def by_time(self) -> bool:
        """Whether it changes without a commit."""
        ...

    def at(self, after_id: int, newest_first: bool) -> Self:
        """Another window of the same list."""
        ...

    def read(self, reports: Reports, now: int) -> PageWindow:
        """Reads it."""
        ...

    def __hash__(self) -> int: ...


W = TypeVar("W", bound=ListWindow)


class SpanBook(Generic[W]):
    """A stretch of the list without gaps, and what to read at its edges. Knows no screen.

    `first` is the number of the first page held, counted from 1, None when nobody knows; `exact`: it was counted,
    not taken from the counters. `looked_at` of `known` rows were judged to make it.
    """

    def __init__(self, windows: W, *, newest_first: bool = False, from_end: bool = False) -> None:
        """Begins empty, at the beginning of the list of `windows` or at its end."""
        self._windows = windows.at(0, newest_first=False)
        self.newest_first = newest_first
        self.from_end = from_end
        self.spans: list[Span] = []
        self.first: int | None = None
        self.exact = True
        self.known = 0
        self.looked_at = 0
        self._by_id: dict[int, PageView] = {}

    # what it holds

    @property
    def pages(self) -> Sequence[PageView]:
        """The pages held, in the order of the list."""
        return tuple(self._by_id.values())

    def page(self, key: object) -> PageView | None:
        """A page that is held, by its id."""
        return self._by_id.get(key) if isinstance(key, int) else None

    def lacks(self, page_id: int) -> bool:
        """Whether a page would be held if it belonged to the list, and is not."""
        if page_id in self._by_id or not self.started:
            return False
        after, up_to = self.spans[0].after, self.spans[-1].up_to
        behind = after == 0 or self._beyond_id(page_id, after)
        return behind and (up_to is None or not self._beyond_id(page_id, up_to))

    @property
    def started(self) -> bool:
        """Whether anything was read."""
        return bool(self.spans)

    @property
    def at_first(self) -> bool:
        """Whether it reaches the beginning of the list."""
        return self.started and self.spans[0].after == 0

    @property
    def at_last(self) -> bool:
        """Whether it reaches the end of the list."""
        return self.started and self.spans[-1].up_to is None

    @property
    def counted(self) -> bool:
        """Whether the length of the list is known with any window; of a filtered one it is not, and each window costs
        more."""
        return self._windows.counted

    @property
    def total(self) -> int | None:
        """How many pages the list has, None while that is not known."""
        if self.at_last and self.first is not None and self.exact:
            return self.first - 1 + len(self._by_id)
        if not self.counted:
            return None
        return max(self.known, (self.first or 1) - 1 + len(self._by_id))

    # what is to be read

    @property
    def begin(self) -> W:
        """Its first window."""
        return self._windows.at(0, self.newest_first is not self.from_end)

    @property
    def below(self) -> W | None:
        """What comes after the pages held; None at the end."""
        up_to = self.spans[-1].up_to if self.spans else None
        return None if up_to is None else self._windows.at(up_to, self.newest_first)

    @property
    def above(self) -> W | None:
        """What comes before them, the nearest first; None at the beginning."""
        if not self.started or self.at_first:
            return None
        return self._windows.at(self.spans[0].after + self._step, not self.newest_first)

    def again(self, key: object) -> W | None:
        """The window that reads the span of a page anew; None when it is not held."""
        span = next((span for span in self.spans if any(page.page_id == key for page in span.pages)), None)
        return None if span is None else self._windows.at(span.after, self.newest_first)

    @property
    def end_again(self) -> W | None:
        """The window that reads the end of the list anew, for what is found meanwhile; None when that is not held."""
        return self._windows.at(self.spans[-1].after, self.newest_first) if self.at_last else None

    # what was read

    def take(self, part: W, window: PageWindow) -> bool:
        """Takes a window that was read for one of its parts; True when anything is new."""
        if part.at(0, newest_first=False) != self._windows:
            return False
        self.known = window.known
        if not self.started:
            if part != self.begin:
                return False
            self._take_first(window)
        elif part == self.below:
            self._take_below(window)
        elif part == self.above:
            self._take_above(window)
        elif not self._take_again(part, window):
            return False
        self._by_id = {page.page_id: page for span in self.spans for page in span.pages}
        return True

    def _take_first(self, window: PageWindow) -> None:
        self.looked_at = window.looked_at
        if not self.from_end:
            self.first = 1
            self.spans = [Span(0, None if window.ended else window.last_id, window.pages)]
            return
        self.spans = [Span(self._before(window), None, window.pages[::-1])]
        if window.ended:
            self.first = 1
        elif self.counted:
            self.first, self.exact = max(1, window.known - len(window.pages) + 1), False

    def _take_below(self, window: PageWindow) -> None:
        self.looked_at += window.looked_at
        after = self.spans[-1].up_to or 0
        self.spans.append(Span(after, None if window.ended else window.last_id, window.pages))
        while self._held() > KEPT and len(self.spans) > 1:
            gone = self.spans.pop(0)
            self.first = None if self.first is None else self.first + len(gone.pages)

    def _take_above(self, window: PageWindow) -> None:
        self.looked_at += window.looked_at
        self.spans.insert(0, Span(self._before(window), self.spans[0].after, window.pages[::-1]))
        if window.ended:
            self.first, self.exact = 1, True
        elif self.first is not None:
            self.first = max(1, self.first - len(window.pages))
        while self._held() > KEPT and len(self.spans) > 1:
            self.spans.pop()

    def _take_again(self, part: W, window: PageWindow) -> bool:
        """Puts what was read anew in place of the span; what it does not reach any more becomes a span of its own."""
        if part.newest_first is not self.newest_first:
            return False
        at = next((at for at, span in enumerate(self.spans) if span.after == part.after_id), None)
        if at is None:
            return False
        span = self.spans[at]
        up_to = span.up_to
        if up_to is not None:
            window = replace(window, pages=tuple(page for page in window.pages if not self._beyond(page, up_to)))
        short = not window.ended and (up_to is None or self._beyond_id(up_to, window.last_id))
        fresh = [Span(span.after, window.last_id if short else up_to, window.pages)]
        if short:
            rest = tuple(page for page in span.pages if self._beyond(page, window.last_id))
            fresh.append(Span(window.last_id, up_to, rest))
        if fresh == [span]:
            return False
        following = self.spans[at + 1 : at + 2]
        if short and following and len(fresh[1].pages) + len(following[0].pages) <= WINDOW:
            fresh[1] = Span(window.last_id, following[0].up_to, fresh[1].pages + following[0].pages)
            self.spans[at : at + 2] = fresh
        else:
            self.spans[at : at + 1] = fresh
        while self._held() > KEPT and len(self.spans) - 1 > at + 1:
            self.spans.pop()
        return True

    @property
    def _step(self) -> int:
        return -1 if self.newest_first else 1

    def _before(self, window: PageWindow) -> int:
        """The id after which a window that was read backwards begins."""
        return 0 if window.ended else window.last_id - self._step

    def _beyond(self, page: PageView, edge: int) -> bool:
        return self._beyond_id(page.page_id, edge)

    def _beyond_id(self, number: int, edge: int) -> bool:
        return number < edge if self.newest_first else number > edge

    def _held(self) -> int:
        return sum(len(span.pages) for span in self.spans)


class PageBook(SpanBook[UrlWindow]):
    """All pages that pass a filter."""

    def __init__(
        self, narrowing: PageFilter | None = None, *, newest_first: bool = False, from_end: bool = False
    ) -> None:
        """Begins empty, at the beginning of the list or at its end."""
        self.narrowing = narrowing or PageFilter()
        super().__init__(UrlWindow(self.narrowing), newest_first=newest_first, from_end=from_end)


class GroupBook(SpanBook[FailureWindow]):
    """The failed pages of a group, of which `count` were counted, or those of them that hold the texts `sought`."""

    def __init__(self, key: GroupKey, count: int, *, from_end: bool = False, sought: tuple[str, ...] = ()) -> None:
        """Begins empty, at the beginning of the list or at its end."""
        self.key, self.count, self.sought = key, count, sought
        super().__init__(FailureWindow(key, sought=sought), from_end=from_end)

    @property
    def total(self) -> int:
        """How many pages the group has: as they were counted, or as many as were read at least; of those looked for
        only what was read."""
        whole = self.at_last and self.first is not None and self.exact
        least = (self.first or 1) - 1 + len(self.pages)
        return least if whole or self.sought else max(self.count, least)

    def take(self, part: FailureWindow, window: PageWindow) -> bool:
        """As in the stretch; how many the group has was counted elsewhere."""
        return super().take(part, replace(window, known=self.count))
