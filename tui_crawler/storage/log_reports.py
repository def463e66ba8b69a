"""What is read of the log: attempts, activity and what operators asked for, in windows by keyset."""
# ruff: noqa: PLC0415  # what the first picture of a crawl does not need is loaded when it is asked for

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.storage import overview_reports
from tui_crawler.storage.id_span import Span

if TYPE_CHECKING:
    from tui_crawler.domain.desk_view import ActionView, ActivityView
    from tui_crawler.domain.log_window import LogReach, LogStretch, LogTerms
    from tui_crawler.domain.view import AttemptView
    from tui_crawler.storage.reader import Reader


class LogReports:
    """The reports on the log; as all `Reports`, they raise StorageFailure when the database cannot be read."""

    _reader: Reader

    def attempts(
        self,
        origin: str = "",
        before_id: int = 0,
        after_id: int = 0,
        limit: int = 200,
        problems_only: bool = False,
        oldest_first: bool = False,
    ) -> tuple[AttemptView, ...]:
        """A window of the crawl log, newest first: older than `before_id` and newer than `after_id` (0: no bound)."""
        span = Span(before_id, after_id, limit, oldest_first)
        return overview_reports.attempts(self._reader, origin, span, problems_only)

    def attempt_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[AttemptView]:
        """A window of the attempts that are meant; a bounded number of rows is looked at."""
        from tui_crawler.storage import log_windows

        return log_windows.attempt_stretch(self._reader, terms, reach)

    def activity(
        self, limit: int = 200, origin: str = "", after_id: int = 0, before_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActivityView, ...]:
        """The activity log, newest first: between two entries (0: no bound), at one origin or anywhere."""
        from tui_crawler.storage import job_reports

        return job_reports.activity(self._reader, origin, Span(before_id, after_id, limit, oldest_first))

    def activity_stretch(self, terms: LogTerms, reach: LogReach) -> LogStretch[ActivityView]:
        """A window of the activity that is meant, whatever its text; a bounded number of rows is looked at."""
        from tui_crawler.storage import log_windows

        return log_windows.activity_stretch(self._reader, terms, reach)

    def actions(
        self, limit: int = 200, before_id: int = 0, after_id: int = 0, oldest_first: bool = False
    ) -> tuple[ActionView, ...]:
        """The operator journal, newest first: before and after an entry (0: no bound)."""
        from tui_crawler.storage import origin_reports

        return origin_reports.actions(self._reader, Span(before_id, after_id, limit, oldest_first))
