"""The reports as the console reads them: with who else writes, and what the configuration promises."""

# ruff: noqa: PLC0415  # what the first picture does not need is loaded when it is asked for

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.reports.reports import Reports

if TYPE_CHECKING:
    from tui_crawler.domain.crawl.contract import Contract
    from tui_crawler.domain.history.coverage import Coverage


class ConsoleReports(Reports):
    """What a console reads through a connection of its own."""

    def __init__(self, path: DatabasePlace, now: Callable[[], int] = wall_clock) -> None:
        super().__init__(path, now=now)
        self._path = path

    def lock_holder(self) -> int:
        """The process of another program that holds the lock of the writer just now; 0: none, or it is not known. A
        session of ours, which commits, is no other program."""
        from tui_crawler.storage.db.file_identity import write_lock_holder

        holder = write_lock_holder(self._path) if isinstance(self._path, Path) else 0
        if not holder or holder == os.getpid():
            return 0
        ours = self._reader.one("SELECT 1 FROM session WHERE ended_at = 0 AND pid = ?", (holder,))
        return 0 if ours else holder

    def coverage_statement(self) -> Coverage:
        """What the newest run covers, with the sentences of `why`. Raises StorageFailure."""
        from tui_crawler.wiring.coverage import coverage_of

        return coverage_of(self)

    def contract(self, origin: str) -> Contract:
        """What the configuration of the newest run promises an origin. Raises StorageFailure."""
        from tui_crawler.wiring.origin_settings import contract_of, stored_config

        run, text = self.run(), self.config_text()
        found = contract_of(stored_config(text, run), origin, run.user_agent if run is not None else "")
        return found if text else replace(found, delay_from="a default: no configuration is kept")
