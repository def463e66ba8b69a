"""The reports as the console reads them: with the history of runs and the sums of what validators said."""

# ruff: noqa: PLC0415  # what the first picture does not need is loaded when it is asked for

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

from tui_crawler.console.ports import PageCounts, SessionView, ValidationTotals
from tui_crawler.domain.view import RunView
from tui_crawler.storage.clock import wall_clock
from tui_crawler.storage.reports import Reports

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tui_crawler.config.schema import Config
    from tui_crawler.domain.contract import Contract
    from tui_crawler.domain.page_filter import PageFilter, PageTally
    from tui_crawler.storage.session_reports import SessionRow

_RUN_COLUMNS = ("run_id", "started_at", "finished_at", "finish_reason", "requests", "user_agent", "config_name")


class ConsoleReports(Reports):
    """What a console reads through a connection of its own."""

    _config: tuple[str, Config] | None = None

    def __init__(self, path: Path, now: Callable[[], int] = wall_clock) -> None:
        super().__init__(path, now=now)
        self._path = path

    def lock_holder(self) -> int:
        """The process of another program that holds the lock of the writer just now; 0: none, or it is not known. A
        session of ours, which commits, is no other program."""
        from tui_crawler.storage.write_lock import write_lock_holder

        holder = write_lock_holder(self._path)
        if not holder or holder == os.getpid():
            return 0
        ours = self._reader.one("SELECT 1 FROM session WHERE ended_at = 0 AND pid = ?", (holder,))
        return 0 if ours else holder

    def contract(self, origin: str) -> Contract:
        """What the configuration of the newest run promises an origin. Raises StorageFailure."""
        from tui_crawler.wiring.origin_settings import contract_of
        from tui_crawler.wiring.rules_in_force import stored_config

        run, text = self.run(), self.config_text()
        if self._config is None or self._config[0] != text:
            self._config = text, stored_config(text, run)
        return contract_of(self._config[1], origin, run.user_agent if run is not None else "")

    def page_tally(self, narrowing: PageFilter, after_id: int) -> PageTally:
        """How many pages pass a filter in the next piece of the list. Raises StorageFailure."""
        from tui_crawler.storage import page_counts

        return page_counts.page_tally(self._reader, narrowing, after_id)

    def page_counts(self, narrowing: PageFilter, field: str) -> PageCounts:
        """How often each value of a field occurs among the pages that pass a filter. Raises StorageFailure."""
        from tui_crawler.storage import page_counts

        found = page_counts.page_counts(self._reader, narrowing, field)
        return PageCounts(found.counts, found.values, found.looked_at, found.known)

    def sessions(self, limit: int) -> tuple[SessionView, ...]:
        """The newest processes that hold, or held, the database, newest first. Raises StorageFailure."""
        from tui_crawler.storage import session_reports

        return tuple(_session(row) for row in session_reports.sessions(self._reader, limit))

    def runs(self, limit: int) -> tuple[RunView, ...]:
        """The newest runs of `v_run`, newest first; `live` is not told. Raises StorageFailure."""
        newest = nlargest(limit, self.rows("v_run", _RUN_COLUMNS), key=lambda row: row[0])
        worked: dict[int, int] = dict(self._reader.all("SELECT id, worked_ms FROM run"))
        return tuple(replace(_run(*row), worked_ms=worked[row[0]]) for row in newest)

    def validations(self, most: int) -> ValidationTotals:
        """What validators said of the documents of the first `most` pages of `v_page`. Raises StorageFailure."""
        said: Counter[tuple[str, bool]] = Counter()
        pages = 0
        for kind, valid in islice(self.rows("v_page", ("validation_type", "valid")), most):
            pages += 1
            if valid is not None:
                said[kind, bool(valid)] += 1
        kinds = sorted({kind for kind, _ in said})
        sums = tuple((kind, said[kind, True], said[kind, False]) for kind in kinds)
        return ValidationTotals(pages, pages < most, sums, self.documents_waiting())


def _session(row: SessionRow) -> SessionView:
    return SessionView(
        session_id=row.session_id,
        run_id=row.run_id,
        rest=row.rest,
        worker=row.worker,
        host=row.host,
        pid=row.pid,
        started_at=row.started_at,
        heartbeat_at=row.heartbeat_at,
        lease_ms=row.lease_ms,
        ended_at=row.ended_at,
        clean=row.clean,
        ended_by=row.ended_by,
        origins=row.origins,
    )


def _run(
    run_id: int,
    started_at: int,
    finished_at: int | None,
    finish_reason: str,
    requests: int,
    user_agent: str,
    config_name: str,
) -> RunView:
    return RunView(run_id, started_at, finished_at or 0, finish_reason, requests, user_agent, config_name, live=False)
