"""Asking why a URL was (not) crawled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui_crawler.console.reading.ask import asks

if TYPE_CHECKING:
    from tui_crawler.console.ports import Explainer, Reports
    from tui_crawler.domain.history.explanation import Explanation

TRACE_MS = 2_000


@asks(TRACE_MS, by_time=True)
def explained(reports: Reports, now: int, explainer: Callable[[Reports], Explainer], url: str) -> Explanation:
    """Explain why a URL was (not) crawled, at the moment of the reading. It changes without a commit, when a page comes
    due, but what it says of waiting need not be right to the second."""
    return explainer(reports).explain(url, now)
