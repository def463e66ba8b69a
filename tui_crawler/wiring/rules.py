"""Rulesets of a database as people ask about them: shown, tested, previewed, and made into the edit to apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_crawler.domain.records.command import ApplyRules
from tui_crawler.domain.records.failure import UsageProblem
from tui_crawler.domain.rules.policy import CompiledPolicies, PolicySet, RuleSettings
from tui_crawler.domain.rules.preview import Comparison, Impact, Preview, RuleSide
from tui_crawler.domain.rules.ruleset import Ruleset, RulesetChange, RulesetLine, change_between, difference, to_json
from tui_crawler.wiring.origin_settings import rules_in_force

if TYPE_CHECKING:
    from tui_crawler.domain.rules.exclusion import Exclusion
    from tui_crawler.domain.url import CrawlUrl
    from tui_crawler.storage.reports.reports import Reports

WINDOW = 5_000
"""So many known URLs are read at once: a read never lasts longer than a few hundredths of a second."""


class NoSuchRuleset(UsageProblem):
    """A version that does not exist, or an earlier one where there is none."""


def judge_known(impact: Impact, reports: Reports, progress: Callable[[int], None] | None = None) -> Preview:
    """Judge the known URLs that were not judged yet, from the oldest page on; return the result for all. `progress`
    gets how many were judged so far. Raises StorageFailure."""
    while rows := reports.urls_known(impact.last_id, WINDOW):
        impact.add(rows)
        if progress is not None:
            progress(impact.known)
    return impact.result()


@dataclass(frozen=True, slots=True)
class RuleQueries:
    """The rules of one database. A job is named, else it is that of the newest run. Every method raises StorageFailure
    when the database cannot be read, and NoSuchJob."""

    _reports: Reports

    def test(self, url: CrawlUrl, job: str = "") -> tuple[str, str, RuleSettings]:
        """Return `allowed` or the stage that refuses a URL, the line that decided, and what the rules set for it."""
        policies = rules_in_force(self._reports, job)[0].policies
        return *RuleSide(policies).verdict(url), CompiledPolicies(policies).settings(url)

    def preview(self, change: RulesetChange, job: str = "", progress: Callable[[int], None] | None = None) -> Preview:
        """What a change would block and revive among all known URLs; for every job unless one is named. `progress` gets
        how many URLs were judged so far. Raises BadPattern for a bad value."""
        return judge_known(self.impact(change, job), self._reports, progress)

    def impact(self, change: RulesetChange, job: str = "") -> Impact:
        """Return what counts a change, no URL judged yet; jobs with equal rules share a comparison. As when it is
        applied, the edit is what the change makes of the rules of the job named, or of the newest run's job. Raises
        BadPattern for a bad value."""
        meant = rules_in_force(self._reports, job)
        base = meant[0].own
        edit = change_between(base, change.applied_to(base))
        made: list[tuple[PolicySet, Comparison]] = []
        comparisons: dict[str, Comparison] = {}
        for rules in meant[:1] if job else meant:
            after = edit.applied_to(rules.own).with_exclusions(rules.added)
            known = next((one for own, one in made if own == rules.own), None) or Comparison(rules.policies, after)
            comparisons[rules.job] = known
            made.append((rules.own, known))
        return Impact(comparisons)

    def impact_of_exclusions(self, more: tuple[Exclusion, ...]) -> Impact:
        """The same of more exclusions of operators: they hold for every job. Raises BadPattern for a bad value."""
        rules = rules_in_force(self._reports)
        return Impact({one.job: Comparison(one.policies, one.policies.with_exclusions(more)) for one in rules})

    def edit(self, change: RulesetChange, base_id: int = 0, job: str = "", note: str = "") -> ApplyRules:
        """The command that applies a change to the version it was made from (0: the one in force now). Raises
        NoSuchRuleset."""
        base = self._version(base_id) if base_id else self._current(job)
        return ApplyRules(to_json(change.applied_to(base.policies)), base.ruleset_id, job, note)

    def undoing(self, job: str = "") -> tuple[RulesetChange, Ruleset, int]:
        """The change that brings back what the version in force has replaced, the version it brings back, and the
        action of the operator journal that it takes back (0: none, or only in part). Raises NoSuchRuleset when it is
        the first."""
        now = self._current(job)
        if not now.parent_id:
            raise NoSuchRuleset(f"version {now.ruleset_id} is the first of job {now.job}: there is none before it")
        former = self._version(now.parent_id)
        taken_back = self._reports.ruleset_writer(now.job, now.ruleset_id, bool(job))
        return change_between(now.policies, former.policies), former, taken_back

    def history(self, job: str = "") -> tuple[Ruleset, ...]:
        return self._reports.rulesets(rules_in_force(self._reports, job)[0].job)

    def difference(self, one: int, other: int = 0, job: str = "") -> tuple[Ruleset, Ruleset, tuple[RulesetLine, ...]]:
        """Two versions (`other` 0: the one in force), and what only one of them has. Raises NoSuchRuleset."""
        before, after = self._version(one), self._version(other) if other else self._current(job)
        return before, after, difference(before.policies, after.policies)

    def _current(self, job: str) -> Ruleset:
        found = next((one for one in self._reports.current_rulesets() if not job or one.job == job), None)
        if found is None:
            raise NoSuchRuleset("there is no ruleset yet: the first run writes one")
        return found

    def _version(self, ruleset_id: int) -> Ruleset:
        found = self._reports.ruleset(ruleset_id)
        if found is None:
            raise NoSuchRuleset(f"there is no version {ruleset_id}; tui-crawler rules history lists them")
        return found
