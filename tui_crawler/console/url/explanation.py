"""Asking why a URL was (not) crawled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui_crawler.console.reading.ask import Ask

if TYPE_CHECKING:
    from tui_crawler.console.ports import Explainer, Reports
    from tui_crawler.domain.history.explanation import Explanation

TRACE_MS = 2_000


class ExplanationQuery:
    """Asks why, in the reading thread. `factory` None: nobody can be asked, and there is nothing to read."""

    def __init__(self, factory: Callable[[Reports], Explainer] | None) -> None:
        self._factory = factory
        self._asked: tuple[Reports, Explainer] | None = None

    def of(self, url: str) -> Ask[Explanation] | None:
        """Why a URL was (not) crawled, at the moment of the reading. It changes without a commit, when a page comes
        due, but what it says of waiting need not be right to the second."""
        if self._factory is None or not url:
            return None
        return Ask(self._explained, (self._factory, url), TRACE_MS, by_time=True)

    def _explained(self, reports: Reports, now: int, factory: Callable[[Reports], Explainer], url: str) -> Explanation:
        if self._asked is None or self._asked[0] is not reports:
            self._asked = reports, factory(reports)
        return self._asked[1].explain(url, now)
