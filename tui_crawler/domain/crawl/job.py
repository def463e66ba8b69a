"""Jobs (B): groups of pages with their own seeds, rules, depth and niceness. A plain crawl is one job."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tui_crawler.domain.record import dataclass, field

if TYPE_CHECKING:
    from tui_crawler.domain.records.page import NewPage
    from tui_crawler.domain.rules.policy import Rule


class JobStatus(StrEnum):
    """The state of a job; the value is the name in `v_job.status`."""

    ACTIVE = "ACTIVE"
    DRAINING = "DRAINING"
    FINISHED = "FINISHED"
    ABORTED = "ABORTED"


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job as the configuration has it. `max_depth` and `concurrency` None: no limit; concurrency 0: paused.

    `rules` are those of this job alone, judged after the common ones. `seeds` carry the job's `nice`.
    """

    name: str
    seeds: tuple[NewPage, ...]
    nice: int = 0
    max_depth: int | None = None
    concurrency: int | None = None
    tag: str = ""
    note: str = ""
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class JobState:
    """A job as a run holds it. `concurrency` counts pages in flight over all workers, None: no limit, 0: paused."""

    job_id: int
    name: str
    nice: int = 0
    max_depth: int | None = None
    concurrency: int | None = None
    tag: str = ""
    aborted: bool = False
    ruleset_id: int = 0

    @property
    def paused(self) -> bool:
        """Return whether an operator has put it off: its pages keep the run alive."""
        return self.concurrency == 0 and not self.aborted

    @property
    def held(self) -> bool:
        """Return whether no page of it may be crawled now: it is paused or aborted. Held work is not finished."""
        return self.aborted or self.concurrency == 0


@dataclass(frozen=True, slots=True)
class QueueChange:
    """The effect of a command on the queue: how many pages of which origin it was about, and which pages (ids)
    are on no todo list any more."""

    origins: tuple[tuple[str, int], ...] = ()
    unlisted: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class JobChange:
    """Jobs after a change, all of them; `before` and `after` are for the journal (JSON values by job and key)."""

    jobs: tuple[JobState, ...]
    before: dict[str, dict[str, object]]
    after: dict[str, dict[str, object]]
    queue: QueueChange = field(default_factory=QueueChange)
