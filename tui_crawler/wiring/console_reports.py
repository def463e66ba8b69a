"""The reports as the console reads them: with the history of runs and the sums of what validators said."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from itertools import islice

from tui_crawler.console.ports import ValidationTotals
from tui_crawler.domain.view import RunView
from tui_crawler.storage.reports import Reports

_RUN_COLUMNS = ("run_id", "started_at", "finished_at", "finish_reason", "requests", "user_agent", "config_name")


class ConsoleReports(Reports):
    """What a console reads through a connection of its own."""

    def runs(self, limit: int) -> tuple[RunView, ...]:
        """The newest runs of `v_run`, newest first; `live` is not told. Raises StorageFailure."""
        newest = nlargest(limit, self.rows("v_run", _RUN_COLUMNS), key=lambda row: row[0])
        return tuple(_run(*row) for row in newest)

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
        return ValidationTotals(pages, pages < most, sums)


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
