"""What view 8 reads beside the workers: the processes that held the database, those that have ended among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.reading.ask import reads

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import SessionView


class SessionReports(Protocol):
    """Who has held the database."""

    def sessions(self, limit: int) -> tuple[SessionView, ...]: ...


SESSIONS_SHOWN = 200
"""So many of the last processes are read, ended ones among them."""


SESSIONS = reads(SessionReports.sessions, by_time=True)(SESSIONS_SHOWN)
