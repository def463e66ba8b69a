"""Who decides over URLs in a run: one set of filters per job (B), with the operator's exclusions on top (M)."""

from __future__ import annotations

from collections.abc import Iterable

from tui_crawler.domain.admission import Admission
from tui_crawler.domain.exclusion import Exclusion, ExclusionKind
from tui_crawler.domain.job import JobState
from tui_crawler.domain.policy import PolicySet
from tui_crawler.domain.ruleset import Ruleset


class JobFilters:
    """The filters in force, by job. Jobs with equal rules share one compiled set."""

    def __init__(self, configured: Admission) -> None:
        self._main = configured
        self._given = configured.policies
        self._exclusions: tuple[Exclusion, ...] = ()
        self._by_job: dict[int, Admission] = {}
        self._rulesets: dict[int, int] = {}
        self.jobs: dict[int, JobState] = {}

    @property
    def main(self) -> Admission:
        """The filters of the job named after the configuration; they speak for whole origins and for robots.txt."""
        return self._main

    def of(self, job_id: int) -> Admission:
        return self._by_job.get(job_id, self._main)

    def job_named(self, name: str) -> JobState | None:
        """A job by its name, None for an empty or unknown one."""
        return next((one for one in self.jobs.values() if one.name == name), None)

    def named(self, name: str) -> Admission:
        """The filters of a job by its name; those of the run's job for an empty or unknown one."""
        job = self.job_named(name)
        return self._main if job is None else self.of(job.job_id)

    def ruleset_id(self, job_id: int) -> int:
        """The version of the rules a job goes by, 0 when there is none."""
        return self._rulesets.get(job_id, 0)

    def adopt(self, rulesets: Iterable[Ruleset], jobs: Iterable[JobState], main: str) -> None:
        """Takes rulesets over; `main` names the job of the run. Raises BadPattern before anything is changed."""
        self.jobs = {job.job_id: job for job in jobs} or self.jobs
        ids = {job.name: job.job_id for job in self.jobs.values()}
        made: list[tuple[PolicySet, Admission]] = [(self._given, self._main)]
        by_job, versions, of_run = dict(self._by_job), dict(self._rulesets), self._main
        for ruleset in rulesets:
            admission = next((known for policies, known in made if policies == ruleset.policies), None)
            if admission is None:
                admission = self._overlaid(Admission(ruleset.policies, self._main.scope, self._main.limits))
                made.append((ruleset.policies, admission))
            job_id = ids.get(ruleset.job)
            if job_id is not None:
                by_job[job_id], versions[job_id] = admission, ruleset.ruleset_id
            if ruleset.job == main:
                of_run, self._given = admission, ruleset.policies
        self._by_job, self._rulesets, self._main = by_job, versions, of_run

    def set_jobs(self, jobs: Iterable[JobState]) -> None:
        """Jobs as they stand now."""
        self.jobs = {job.job_id: job for job in jobs}

    def exclude(self, exclusions: Iterable[Exclusion]) -> None:
        """The exclusion list, longer. Raises BadPattern for a value that is none of its kind; nothing is changed."""
        added = tuple(exclusions)
        made = {id(one): one for one in self._all()}
        for key, admission in made.items():
            for exclusion in added:
                admission = admission.with_exclusion(exclusion)  # noqa: PLW2901  # each adds to the one before
            made[key] = admission
        self._replace(made)
        self._exclusions = (*self._exclusions, *added)

    def readmit(self, kind: ExclusionKind, value: str) -> None:
        """The exclusion list without these entries."""
        self._exclusions = tuple(one for one in self._exclusions if (one.kind, one.value) != (kind, value))
        self._replace({id(one): one.without_exclusion(kind, value) for one in self._all()})

    def add_origin(self, origin: str) -> None:
        """One origin more in scope."""
        self._replace({id(one): one.with_origin(origin) for one in self._all()})

    def _all(self) -> list[Admission]:
        return list({id(one): one for one in (self._main, *self._by_job.values())}.values())

    def _replace(self, made: dict[int, Admission]) -> None:
        self._by_job = {job_id: made[id(one)] for job_id, one in self._by_job.items()}
        self._main = made[id(self._main)]

    def _overlaid(self, admission: Admission) -> Admission:
        for exclusion in self._exclusions:
            admission = admission.with_exclusion(exclusion)
        return admission
