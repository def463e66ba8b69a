"""Places of jobs (B): which page is in flight at which origin, and which origins wait until a job has room."""

from __future__ import annotations

from tui_crawler.domain.page import TodoPage
from tui_crawler.engine.origin_table import OriginTable


class JobPlaces:
    """Counts the pages in flight of every job, in step with the turns."""

    def __init__(self, table: OriginTable) -> None:
        self._table = table
        self._crawling: dict[str, TodoPage] = {}
        self._starved: set[str] = set()

    def page_of(self, origin: str) -> TodoPage | None:
        """The page that the turn of an origin is about."""
        return self._crawling.get(origin)

    def pick_up(self, origin: str, page: TodoPage) -> None:
        """A page is in flight, instead of one that the same turn has refused."""
        former = self._crawling.pop(origin, None)
        if former is not None:
            self._table.put_down(former.job_id)
        self._crawling[origin] = page
        self._table.take_up(page.job_id)

    def land(self, origin: str) -> tuple[str, ...]:
        """The turn is over; answers the origins that may go on because its job has room again."""
        page = self._crawling.pop(origin, None)
        if page is None:
            return ()
        was_full = self._table.is_full(page.job_id)
        self._table.put_down(page.job_id)
        return tuple(self._starved) if was_full and not self._table.is_full(page.job_id) else ()

    def reconsider(self) -> tuple[str, ...]:
        """Jobs that had no room among all workers are asked again; answers the origins that wait for one."""
        any_denied = bool(self._table.denied)
        self._table.denied.clear()
        return tuple(self._starved) if any_denied else ()

    def starve(self, origin: str, is_starving: bool) -> None:
        """Whether an origin has nothing but pages of jobs that have no room."""
        if is_starving:
            self._starved.add(origin)
        else:
            self._starved.discard(origin)
