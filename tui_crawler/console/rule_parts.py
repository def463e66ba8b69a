"""What the views of the rules read: the versions in force, and the history of one job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.console.rule_firing import LINK_REASONS

if TYPE_CHECKING:
    from tui_crawler.console.ports import Reports
    from tui_crawler.domain.exclusion import Exclusion
    from tui_crawler.domain.page_view import RefusedView
    from tui_crawler.domain.refusal_view import RefusalCounts
    from tui_crawler.domain.ruleset import Ruleset

VERSIONS = 100
"""So many versions the history shows."""

MOST_ATTEMPTS = 200_000
"""In so many of the newest attempts it is counted what rules refused."""


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """The version in force of each job, that of the newest run first, and the exclusions that operators added."""

    current: tuple[Ruleset, ...] = ()
    added: tuple[Exclusion, ...] = ()

    def of(self, job: str) -> Ruleset | None:
        """The version of a job; of the first one for an empty name."""
        return next((one for one in self.current if not job or one.job == job), None)


@dataclass(frozen=True, slots=True)
class RulesPart:
    """Reads RulesInForce."""

    every_ms: int = 1_000
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> RulesInForce:
        """Reads it."""
        return RulesInForce(reports.current_rulesets(), reports.exclusions())


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """Reads the versions of a job, newest first. Versions never change, so it is read again when the current one is
    another: `current_id` is part of it."""

    job: str
    current_id: int
    every_ms: int = 3_600_000
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> tuple[Ruleset, ...]:
        """Reads it."""
        return reports.rulesets(self.job, VERSIONS)


@dataclass(frozen=True, slots=True)
class WriterPart:
    """Reads the id of the action that wrote a version of a job and nothing else; 0: none did."""

    job: str
    ruleset_id: int
    every_ms: int = 3_600_000
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> int:
        """Reads it."""
        return reports.ruleset_writer(self.job, self.ruleset_id, alone=True)


@dataclass(frozen=True, slots=True)
class CountedRefusals:
    """What rules refused, as it was counted at a moment (epoch ms), and the links that they refused, by origin."""

    at: int
    counts: RefusalCounts
    links: tuple[RefusedView, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusalsPart:
    """Counts what rules refused. Attempts are looked through, so it is read once for each `asked`."""

    asked: int = 0
    every_ms: int = 86_400_000
    by_time: bool = False

    def read(self, reports: Reports, now: int) -> CountedRefusals:
        """Counts. Raises StorageFailure."""
        links = tuple(row for row in reports.refused("") if row.reason in LINK_REASONS)
        return CountedRefusals(now, reports.refusal_counts(MOST_ATTEMPTS), links)
