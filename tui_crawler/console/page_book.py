"""All pages as view 3 holds them: spans of a list that is read by keyset, joined where they touch, never all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_crawler.console.refresh import WINDOW
from tui_crawler.console.url_parts import UrlWindow
from tui_crawler.domain.page_filter import PageFilter, PageWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_crawler.domain.view import PageView

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


class PageBook:
    """A stretch of the list without gaps, and what to read at its edges. Knows no screen.

    `first` is the number of the first page held, counted from 1, None when nobody knows; `exact`: it was counted,
    not taken from the counters. `looked_at` of `known` rows were judged to make it.
    """

    def __init__(
        self, narrowing: PageFilter | None = None, *, newest_first: bool = False, from_end: bool = False
    ) -> None:
        """Begins empty, at the beginning of the list or at its end."""
        self.narrowing = narrowing or PageFilter()
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
    def total(self) -> int | None:
        """How many pages the list has, None while that is not known."""
        if self.at_last and self.first is not None and self.exact:
            return self.first - 1 + len(self._by_id)
        if self.narrowing.terms:
            return None
        return max(self.known, (self.first or 1) - 1 + len(self._by_id))

    # what is to be read

    @property
    def begin(self) -> UrlWindow:
        """Its first window."""
        return UrlWindow(self.narrowing, 0, self.newest_first is not self.from_end)

    @property
    def below(self) -> UrlWindow | None:
        """What comes after the pages held; None at the end."""
        up_to = self.spans[-1].up_to if self.spans else None
        return None if up_to is None else UrlWindow(self.narrowing, up_to, self.newest_first)

    @property
    def above(self) -> UrlWindow | None:
        """What comes before them, the nearest first; None at the beginning."""
        if not self.started or self.at_first:
            return None
        return UrlWindow(self.narrowing, self.spans[0].after + self._step, not self.newest_first)

    def again(self, key: object) -> UrlWindow | None:
        """The window that reads the span of a page anew; None when it is not held."""
        span = next((span for span in self.spans if any(page.page_id == key for page in span.pages)), None)
        return None if span is None else UrlWindow(self.narrowing, span.after, self.newest_first)

    @property
    def end_again(self) -> UrlWindow | None:
        """The window that reads the end of the list anew, for what is found meanwhile; None when that is not held."""
        return UrlWindow(self.narrowing, self.spans[-1].after, self.newest_first) if self.at_last else None

    # what was read

    def take(self, part: UrlWindow, window: PageWindow) -> bool:
        """Takes a window that was read for one of its parts; True when anything is new."""
        if part.narrowing != self.narrowing:
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
        elif not self.narrowing.terms:
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

    def _take_again(self, part: UrlWindow, window: PageWindow) -> bool:
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
