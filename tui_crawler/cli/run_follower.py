"""The changes of a run, read from its database as they are committed, with sums where there are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from tui_crawler.cli.log_command import ActivityLog
from tui_crawler.cli.printer import local_zone
from tui_crawler.cli.problem import ExitStatus
from tui_crawler.domain.history.diagnosis import diagnoses
from tui_crawler.domain.history.idle_reason import at_rest
from tui_crawler.domain.records.exit_code import AttemptKind
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.domain.records.status_words import RunReason, run_end_words, run_word
from tui_crawler.domain.records.view import AttemptView
from tui_crawler.text.changes import Change, ChangeName, change_of, in_sentence, origin_changes
from tui_crawler.text.coverage import coverage_lines
from tui_crawler.text.format import count, date_time, duration, plural
from tui_crawler.wiring.coverage import coverage_of

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView, RunView
    from tui_crawler.storage.reports.reports import Reports

MOST_LISTED = 10
"""How many changes of a kind are shown between two sums; the others are counted."""
_BROKEN: Mapping[str, int] = {
    "": ExitStatus.cannot_run,
    RunReason.error: ExitStatus.cannot_run,
    RunReason.interrupted: ExitStatus.interrupted,
}
"""The exit status of a run that did not finish, by its reason; the same as that of `run`."""


class RunFollower:
    """The changes of the newest run since they were last read. `last` is the one after which there are no more, once
    the run has ended; `status` is then the exit status."""

    def __init__(self, reports: Reports, every_ms: int, now: Callable[[], int]) -> None:
        self._reports, self._every_ms, self._now = reports, every_ms, now
        self._log = ActivityLog(reports, "", attempts=True)
        self._origins: dict[str, OriginView] = {}
        self._change = self._version = self._summed_at = self._pages = self._failed = 0
        self._seen: Counter[str] = Counter()
        self._diagnosed: dict[str, int] = {}
        self.last: Change | None = None
        self.status = 0

    def begin(self) -> list[Change]:
        """Return how the run is now."""
        self._version, self._summed_at = self._reports.data_version(), self._now()
        self._log.newest(1)
        for _ in self._of_origins():  # they are known from now on
            pass
        run = self._run()
        origins = in_sentence([at_rest(one, run) for one in self._origins.values()])
        since = f"run {run.run_id} of {run.config_name}, started {date_time(run.started_at, local_zone())}"
        first = Change(self._now(), ChangeName.run, words=f"{since}; {origins}")
        return [first, *self._diagnoses(run)] if run.live else [first, *self._end(run)]

    def more(self) -> list[Change]:
        """Return what has changed since."""
        found: list[Change] = []
        run = self._run()
        if (version := self._reports.data_version()) != self._version:
            found = sorted((*self._of_log(), *self._of_origins()), key=lambda one: one.at)
            self._version = version
        shown: list[Change] = []
        for one in found:
            self._seen[one.event] += 1
            shown += [one] * (self._seen[one.event] <= MOST_LISTED)
        if not run.live or self._now() - self._summed_at >= self._every_ms:
            shown += [*self._sum(), *self._diagnoses(run)]
        return shown if run.live else [*shown, *self._end(run)]

    def _run(self) -> RunView:
        if (run := self._reports.run()) is None:
            raise StorageFailure("the run is gone from the database")
        return run

    def _of_log(self) -> Iterator[Change]:
        for entry in self._log.more():
            self._pages += isinstance(entry, AttemptView) and entry.kind == AttemptKind.page and entry.requests > 0
            if change := change_of(entry):
                self._failed += change.event == ChangeName.page_failed
                yield change

    def _of_origins(self) -> Iterator[Change]:
        for one in self._reports.origins_changed(self._change):
            yield from origin_changes(self._origins.get(one.origin), one)
            self._origins[one.origin], self._change = one, one.change

    def _sum(self) -> Iterator[Change]:
        now = self._now()
        if self._pages:
            pages = f"{plural(self._pages, 'page')}, {self._failed} failed; {count(self._reports.totals().todo)} to do"
            yield Change(now, ChangeName.sum, words=f"in the last {duration(now - self._summed_at)}: {pages}")
        more = {name.replace("_", " "): number - MOST_LISTED for name, number in self._seen.items()}
        if left := ", ".join(plural(number, name) for name, number in more.items() if number > 0):
            yield Change(now, ChangeName.sum, words=f"not listed: {left}")
        self._summed_at, self._pages, self._failed = now, 0, 0
        self._seen.clear()

    def _diagnoses(self, run: RunView) -> Iterator[Change]:
        """Yield what needs a person and was not shown yet, or has grown."""
        for one in diagnoses(run, self._reports.diagnosis_facts()):
            if one.name not in self._diagnosed or one.has_grown(self._diagnosed[one.name]):
                self._diagnosed[one.name] = one.count
                yield Change(self._now(), ChangeName.diagnosis, words=f"attention: {one.words}")

    def _end(self, run: RunView) -> list[Change]:
        word = run_end_words(run.finish_reason) if run.finished_at else run_word(run)
        gave_up, done, failed = self._reports.of_run()
        ended = f"run {run.run_id} {word}; {plural(done, 'page')} done, {count(failed)} failed"
        coverage = coverage_of(self._reports)
        lines = (Change(self._now(), ChangeName.coverage, words=line.strip("- …")) for line in coverage_lines(coverage))
        changes = [Change(self._now(), ChangeName.run, words=ended), *lines]
        self.last = changes[-1]
        self.status = _BROKEN.get(run.finish_reason, int(bool(gave_up) or coverage.nothing))
        return changes
