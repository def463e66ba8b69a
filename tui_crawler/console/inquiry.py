"""Why a URL is (not) crawled, asked in the reading thread: one explainer is kept there, with the rules it compiled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what explains takes long to load, and is not needed before the first question
    from collections.abc import Callable

    from tui_crawler.console.ports import Explainer, Reports
    from tui_crawler.domain.explanation import Explanation

TRACE_MS = 2_000


@dataclass(frozen=True, slots=True)
class TraceOf:
    """Why a URL was (not) crawled, at the moment of the reading."""

    url: str
    answer: Callable[[Reports, str, int], Explanation] = field(compare=False, repr=False)

    @property
    def every_ms(self) -> int:
        """What it says of waiting need not be right to the second."""
        return TRACE_MS

    @property
    def by_time(self) -> bool:
        """Due times come without a commit."""
        return True

    def read(self, reports: Reports, now: int) -> Explanation:
        """Asks."""
        return self.answer(reports, self.url, now)


class _Desk:
    """Where questions are answered, in the reading thread."""

    def __init__(self, factory: Callable[[Reports], Explainer]) -> None:
        self._factory = factory
        self._asked: tuple[Reports, Explainer] | None = None

    def answer(self, reports: Reports, url: str, now: int) -> Explanation:
        """Asks the explainer of these reports, which is made once."""
        if self._asked is None or self._asked[0] is not reports:
            self._asked = reports, self._factory(reports)
        return self._asked[1].explain(url, now)


class Inquiry:
    """Asks why. `factory` None: nobody can be asked, and there is nothing to read."""

    def __init__(self, factory: Callable[[Reports], Explainer] | None) -> None:
        """Asks nobody yet."""
        self._desk = None if factory is None else _Desk(factory)

    def parts(self, url: str) -> tuple[TraceOf, ...]:
        """What a screen wants that shows the trace of a URL."""
        return () if self._desk is None or not url else (TraceOf(url, self._desk.answer),)
