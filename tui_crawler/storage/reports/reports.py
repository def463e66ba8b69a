"""What is shown: read-only queries over a connection of their own, whoever hosts the engine.

There is a class for each subject. What the first picture of a crawl shows is read by `OverviewReports`; the others are
loaded when one of theirs is asked for.
"""
# ruff: noqa: S608  # views and columns are constants of this program

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.storage.db.clock import wall_clock
from tui_crawler.storage.db.open_settings import USUAL, OpenSettings
from tui_crawler.storage.db.reader import Reader
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.reports.overview import OverviewReports

if TYPE_CHECKING:
    from tui_crawler.storage.reports.attempts import AttemptReports
    from tui_crawler.storage.reports.coverage import CoverageReports
    from tui_crawler.storage.reports.diagnosis import DiagnosisReports
    from tui_crawler.storage.reports.export import ExportReports
    from tui_crawler.storage.reports.failures import FailureReports
    from tui_crawler.storage.reports.jobs import JobReports
    from tui_crawler.storage.reports.links import LinkAuditReports
    from tui_crawler.storage.reports.log_windows import LogReports
    from tui_crawler.storage.reports.page_windows import PageWindowReports
    from tui_crawler.storage.reports.pages import PageReports
    from tui_crawler.storage.reports.pulse import PulseReports
    from tui_crawler.storage.reports.replay import ReplayReports
    from tui_crawler.storage.reports.rulesets import RulesetReports
    from tui_crawler.storage.reports.run_diffs import RunDiffReports
    from tui_crawler.storage.reports.site_audit import SiteAuditReports
    from tui_crawler.storage.reports.timeline import TimelineReports
    from tui_crawler.storage.reports.tree import TreeReports

    class _Subjects(
        OverviewReports, AttemptReports, CoverageReports, DiagnosisReports, ExportReports, FailureReports, JobReports,
        LinkAuditReports, LogReports, PageWindowReports, PageReports, ReplayReports, PulseReports, RulesetReports,
        RunDiffReports, SiteAuditReports, TimelineReports, TreeReports,
    ):  # fmt: skip
        """All that can be asked."""
else:
    _Subjects = OverviewReports

LATE_SUBJECTS: Mapping[str, str] = {
    "attempts.AttemptReports": "requests results refusal_counts history attempts_for_audit",
    "coverage.CoverageReports": "coverage documents_unread",
    "diagnosis.DiagnosisReports": "diagnosis_facts",
    "export.ExportReports": "export_columns export_windows export_bodies",
    "failures.FailureReports": "failure_count failure_window page_past",
    "jobs.JobReports": "todo exit_counts refused origins_added jobs limbo stashes segments sessions workers "
    "validations",
    "links.LinkAuditReports": "broken_counts broken_links walls checks_refused referrers requisites_left_out "
    "kept_configs pages_read_before pages_slower",
    "log_windows.LogReports": "attempt_stretch activity_stretch activity actions",
    "page_windows.PageWindowReports": "page_window page_counts page_tally",
    "pages.PageReports": "page_detail body robots_text urls_known inlinks outlinks link_ends link_counts standing",
    "replay.ReplayReports": "replay_log run_span",
    "pulse.PulseReports": "pulse paces",
    "rulesets.RulesetReports": "rulesets ruleset current_rulesets ruleset_writer exclusions",
    "run_diffs.RunDiffReports": "runs_compared compared_origins origin_id page_changes failure_changes "
    "origin_diffs robots_diffs run_pace page_diff",
    "site_audit.SiteAuditReports": "site_audit",
    "timeline.TimelineReports": "timeline timelines",
    "tree.TreeReports": "branch_list branch_piece branch_traps branch_failures",
}
"""Module and class of each subject that is loaded late, and its methods."""

_SUBJECT_OF = {name: subject for subject, names in LATE_SUBJECTS.items() for name in names.split()}


class Reports(_Subjects):
    """Reads a database that may be written meanwhile. Usable from one thread at a time, whichever that is.

    Every method raises StorageFailure when the database cannot be read; making it also raises NotOurDatabase.
    """

    READER: ClassVar[type[Reader]] = Reader

    def __init__(
        self, path: DatabasePlace, settings: OpenSettings = USUAL, now: Callable[[], int] = wall_clock
    ) -> None:
        super().__init__(self.READER(path, settings), now)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A method of a subject that was not asked yet; from now on an attribute."""
            if name not in _SUBJECT_OF:
                raise AttributeError(f"there is no report {name}", name=name, obj=self)
            module, _, subject = _SUBJECT_OF[name].partition(".")
            found = getattr(import_module(f"{__package__}.{module}"), subject)
            method = getattr(found(self._reader, self._now), name)
            setattr(self, name, method)
            return method

    def close(self) -> None:
        self._reader.close()

    def stop_when(self, stops: Callable[[], bool]) -> None:
        """Has every reading end with ReadingStopped as soon as `stops` answers True, which is asked now and then."""
        self._reader.stop_when(stops)

    def data_version(self) -> int:
        """A number that is another one after every commit of somebody else: equal means nothing to read."""
        return self._reader.data_version()

    def columns(self, view: str) -> tuple[str, ...]:
        """The columns of a view of docs/views.md."""
        return self._reader.columns(view)

    def rows(self, view: str, columns: Sequence[str] = ()) -> Iterator[Row]:
        """The rows of a view of docs/views.md, streamed, with these columns (none named: all)."""
        chosen = ", ".join(f'"{name}"' for name in columns) or "*"
        return self._reader.stream(f"SELECT {chosen} FROM {view}")
