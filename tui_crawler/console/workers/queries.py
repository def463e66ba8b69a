"""What view 8 reads beside the workers: the processes that held the database, those that have ended among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.refresh import SLOW_MS, Query

if TYPE_CHECKING:
    from tui_crawler.domain.operator_view import SessionView


class SessionReports(Protocol):
    """Who has held the database."""

    def sessions(self, limit: int) -> tuple[SessionView, ...]: ...


SESSIONS_SHOWN = 200
"""So many of the last processes are read, ended ones among them."""


SESSIONS: Query[SessionReports, tuple[SessionView, ...]] = Query(
    lambda reports, _now: reports.sessions(SESSIONS_SHOWN), SLOW_MS, by_time=True
)
