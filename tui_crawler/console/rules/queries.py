"""What the views of the rules read: the versions in force, and the history of one job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui_crawler.console.ports import RefusedReports
from tui_crawler.console.reading.ask import ONCE_MS, asks
from tui_crawler.console.rules.rule_hits import LINK_REASONS

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import RefusalCounts, RefusedView
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.rules.ruleset import Ruleset


class RuleReports(RefusedReports, Protocol):
    """Rulesets, and what they refused."""

    def current_rulesets(self) -> tuple[Ruleset, ...]: ...
    def rulesets(self, job: str, limit: int) -> tuple[Ruleset, ...]: ...
    def ruleset_writer(self, job: str, ruleset_id: int, alone: bool) -> int: ...
    def exclusions(self) -> tuple[Exclusion, ...]: ...
    def refusal_counts(self, limit: int) -> RefusalCounts: ...


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


@asks()
def rules_in_force(reports: RuleReports, _now: int) -> RulesInForce:
    """Read the rules in force."""
    return RulesInForce(reports.current_rulesets(), reports.exclusions())


RULES = rules_in_force()


@asks(3_600_000)
def history_of(reports: RuleReports, _now: int, job: str, _current_id: int) -> tuple[Ruleset, ...]:
    """Read the versions of a job, newest first. Versions never change, so they are read again when the current one is
    another."""
    return reports.rulesets(job, VERSIONS)


@asks(3_600_000)
def writer_of(reports: RuleReports, _now: int, job: str, ruleset_id: int) -> int:
    """Read the id of the action that wrote a version of a job and nothing else; 0: none did."""
    return reports.ruleset_writer(job, ruleset_id, alone=True)


@dataclass(frozen=True, slots=True)
class CountedRefusals:
    """What rules refused, as it was counted at a moment (epoch ms), and the links that they refused, by origin."""

    at: int
    counts: RefusalCounts
    links: tuple[RefusedView, ...] = ()


@asks(ONCE_MS)
def refusals(reports: RuleReports, now: int, _asked: int) -> CountedRefusals:
    """Read what rules refused. Attempts are looked through, so it is read once whenever it is `_asked`."""
    links = tuple(row for row in reports.refused("") if row.reason in LINK_REASONS)
    return CountedRefusals(now, reports.refusal_counts(MOST_ATTEMPTS), links)
