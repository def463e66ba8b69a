"""The store's contract in memory: fast, without threads or files, for whole crawls in virtual time.

A second, simpler reading of the same rules as `tui_crawler.storage`; one contract suite runs against both.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tests.support.memory_rows import Rows, StoredCrawler, StoredPage, StoredRun
from tui_crawler.domain.crawl.job import JobChange, JobPlan, JobState, QueueChange
from tui_crawler.domain.crawl.run import RunPlan, RunStart, Settled, StoredOrigin
from tui_crawler.domain.records.attempt import AttemptRecord, Exchange, FillRecord, OriginRecord, Settle
from tui_crawler.domain.records.command import (
    RETRIED_NEXT,
    ActionResult,
    ApplyRules,
    Command,
    PendingAction,
    ReclaimPages,
    RetryPages,
    SetDripfeed,
    SetJob,
    StashPages,
    SteerJobs,
    UnstashPages,
    WorkerCommand,
)
from tui_crawler.domain.records.exit_code import CRAWLED, FAILURES, ExitCode
from tui_crawler.domain.records.failure import BadSegment, NoSuchJob, RunHeld, StorageFailure, StorageHeldUp
from tui_crawler.domain.records.page import RETRIED_AT_ONCE, Candidates, KnownPage, NewPage, PutBack, TodoPage
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.policy import EMPTY, PolicySet
from tui_crawler.domain.rules.preview import Rejudgement
from tui_crawler.domain.rules.ruleset import Ruleset, RulesetConflict, from_json
from tui_crawler.domain.url import url_hash


class MemoryStore:
    """`now` gives epoch ms. `attempts` is the crawl log. Set `fail_writes` or `lease_lost` to make it fail, `full` to
    have it wait for room.

    `fault` is called with the name of every call before it does anything, and may raise.
    """

    def __init__(self, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self.now = now
        self.rows = Rows()
        self.crawlers: dict[str, StoredCrawler] = {}
        self.jobs: dict[str, int] = {}
        self.job_states: dict[str, JobState] = {}
        self.rulesets: list[Ruleset] = []
        self.runs: list[StoredRun] = []
        self.attempts: list[AttemptRecord] = []
        self.refused: Counter[tuple[str, str]] = Counter()
        self.excluded: dict[tuple[str, str], Exclusion] = {}
        self.actions: list[PendingAction] = []
        self.results: dict[int, ActionResult] = {}
        self.in_flight: tuple[int, str, str] | None = None
        self.segments: dict[str, tuple[NewPage, ...]] = {}
        self.saved_rest = False
        self.fail_writes = self.full = self.given_up = False
        self.told: Callable[[str], None] = lambda trouble: None
        self.lease_lost = False
        self.asks = True
        self.fault: Callable[[str], None] = lambda name: None
        self._held = False
        self._taken = 0

    def known_pages(self, job_id: int) -> dict[int, KnownPage]:
        return {}

    def clone(self) -> MemoryStore:
        """A copy as a crash leaves it: nobody holds it."""
        twin = MemoryStore(self.now)
        twin.rows = self.rows.copy()
        twin.crawlers = {key: replace(one, todo=list(one.todo)) for key, one in self.crawlers.items()}
        twin.jobs, twin.job_states = dict(self.jobs), dict(self.job_states)
        twin.rulesets = list(self.rulesets)
        twin.runs = [replace(run) for run in self.runs]
        twin.attempts = list(self.attempts)
        twin.refused, twin.excluded = Counter(self.refused), dict(self.excluded)
        twin.actions, twin.results = list(self.actions), dict(self.results)
        return twin

    def freeze(self) -> None:
        """The owner is gone, as after a kill: what it still brings is not stored. The next start finds it so."""
        self._held = False

    def ask(self, command: Command, who: str = "operator") -> int:
        """Writes a wish into the journal; answers its action id, under which `results` will have the result."""
        action_id = len(self.actions) + 1
        self.actions.append(PendingAction(action_id, self.now(), who, command))
        return action_id

    @property
    def outstanding(self) -> int:
        """Nothing is ever done elsewhere."""
        return 0

    async def begin_run(self, plan: RunPlan) -> RunStart:
        await self._enter("begin_run")
        if self._held:
            raise RunHeld("another run holds this database")
        last = self.runs[-1] if self.runs else None
        unclean = last is not None and not last.clean
        continued = last is not None and not plan.new_run and (not last.clean or last.reason == "interrupted")
        last_plan = plan if last is None else last.plan
        edited = last_plan.config_text != plan.config_text
        if continued and last is not None:
            last.plan, last.reason, last.clean = plan, "", None
        else:
            self.runs.append(StoredRun(len(self.runs) + 1, plan, self.now()))
        self._held, self.lease_lost, self._taken, self.in_flight = True, False, 0, None
        job_id = self._ensure_job(JobPlan(plan.job, plan.seeds, max_depth=plan.max_depth), plan)
        for page in self.rows.pages.values():
            if page.status is PageStatus.CLAIMED:
                page.status = PageStatus.READY
        if edited:
            before, after = (one.policies.with_exclusions(self.excluded.values()) for one in (last_plan, plan))
            self._judge_again(before, after, plan.max_url_length)
        self._gather(plan, continued)
        self.rows.max_depths[job_id] = plan.max_depth
        self.rows.queue(self.run, job_id, None, [replace(seed, seed=True) for seed in plan.seeds])
        for job in plan.jobs:
            other = self._ensure_job(job, plan)
            self.rows.max_depths[other] = job.max_depth
            self.rows.queue(self.run, other, None, [replace(seed, seed=True) for seed in job.seeds])
        origins = tuple(self._stored(name) for name, one in self.crawlers.items() if one.participates)
        return RunStart(
            self.run.run_id,
            continued,
            unclean,
            origins,
            self.run.requests,
            config_text=plan.config_text,
            jobs=tuple(self.job_states.values()),
            rulesets=tuple(one for one in self.rulesets if one.current),
        )

    async def begin_rest(self) -> RunStart:
        await self._enter("begin_rest")
        if self._held:
            raise RunHeld("another run holds this database")
        self._held, self._taken = True, 0
        origins = tuple(self._stored(name) for name, one in self.crawlers.items() if one.participates)
        return RunStart(
            self.run.run_id,
            True,
            not self.run.clean,
            origins,
            jobs=tuple(self.job_states.values()),
            rulesets=tuple(one for one in self.rulesets if one.current),
        )

    async def end_rest(self) -> None:
        await self._write("end_rest")
        self._held = False

    async def candidates(self, origin: str, now: int, limit: int, first_fill: bool) -> Candidates:
        await self._enter("candidates")
        listed = {page_id for one in self.crawlers.values() for page_id in one.todo}
        self.rows.resolve(self.run, listed, now, last=False)
        free = self.rows.free(self.run, origin, self._crawler(origin).todo)
        open_pages = [page for page in free if page.remaining]
        held = {job.job_id for job in self.job_states.values() if job.held}
        paused = {job.job_id for job in self.job_states.values() if job.paused}
        waits = any(page.job_id in paused for page in open_pages)
        free = [page for page in free if page.job_id not in held]
        open_pages = [page for page in free if page.remaining]
        found = [page for page in open_pages if page.not_before <= now]
        done = [page for page in free if not page.remaining and page.not_before <= now]
        found += [page for page in done if self.rows.is_due(self.run, page, now) or (first_fill and page.sitemap)]
        ranked = sorted(found, key=lambda page: (not (first_fill and page.seed), *page.rank()))
        if ranked:
            return Candidates(tuple(self.rows.todo_page(self.run, page) for page in ranked[:limit]))
        later = [page.not_before for page in open_pages]
        return Candidates((), min(later) if later else None, held=waits)

    async def fill(self, record: FillRecord) -> Settled:
        await self._write("fill")
        crawler = self._crawler(record.origin.origin)
        for page_id in (*record.ignored, *record.todo):
            self.rows.pages[page_id].ignored_run = self.run.run_id
        crawler.todo = list(record.todo)
        for refusal in record.refusals:
            self._log(refusal)
            self._leave(refusal)
        self._save(record.origin)
        return self._settled(record.origin.origin, {})

    def _settled(self, origin: str, new: Mapping[str, int]) -> Settled:
        counts = self.rows.tally(origin)
        return Settled(tuple(sorted(new.items())), counts.pending, counts.done, counts.failed, counts.blocked)

    async def settle(self, settle: Settle) -> Settled:
        await self._write("settle")
        if settle.page is not None and (
            settle.page.page_id not in self.rows.pages
            or self.rows.pages[settle.page.page_id].origin != settle.origin.origin
        ):
            raise StorageFailure("not a page of this origin")
        parent = settle.attempt.page_id
        job_id = self.rows.pages[parent].job_id if parent is not None else self._job_id
        found = settle.new_pages
        if settle.page is not None and settle.page.depth is not None:
            shorter = max(0, settle.page.depth - self.rows.pages[settle.page.page_id].depth)
            found = tuple(replace(page, depth=page.depth - shorter) for page in found)
        new = self.rows.queue(self.run, job_id, parent, found)
        self._log(settle)
        self._leave(settle)
        self._save(settle.origin, settle.save_robots)
        return self._settled(settle.origin.origin, new)

    def mark_in_flight(self, page_id: int, origin: str, url: str) -> None:
        if self._held:
            self.in_flight = (page_id, origin, url)

    async def save_origins(self, records: Sequence[OriginRecord]) -> None:
        await self._write("save_origins")
        for record in records:
            self._save(record)

    async def add_pages(self, pages: Sequence[NewPage], job: str) -> tuple[int, ...]:
        await self._write("add_pages")
        if job and job not in self.jobs:
            raise NoSuchJob(f"there is no job named {job!r}")
        job_id = self.jobs[job] if job else self._job_id
        seeds = {page.url_hash: replace(page, seed=True) for page in pages}
        for page in seeds.values():
            self._join(page.origin)
        before = {key: self.rows.by_url.get((job_id, key)) for key in seeds}
        self.rows.queue(self.run, job_id, None, seeds.values())
        added = []
        for key, wanted in seeds.items():
            page = self.rows.pages[self.rows.by_url[job_id, key]]
            if wanted.not_before:
                page.not_before, page.ignored_run = wanted.not_before, 0
            if page.page_id in self._crawler(page.origin).todo or page.status is PageStatus.STASHED:
                continue
            if before[key] is not None and (wanted.force or page.status is PageStatus.SKIPPED):
                self.rows.crawl_again(self.run, page, wanted)
            elif page.remaining:
                page.ignored_run = 0
            if self._is_open(page):
                added.append(key)
        return tuple(added)

    async def added_pages(self, keys: Sequence[int], job: str) -> tuple[TodoPage, ...]:
        await self._enter("added_pages")
        job_id = self.jobs[job] if job else self._job_id
        pages = [self.rows.pages[self.rows.by_url[job_id, key]] for key in keys]
        return tuple(self.rows.todo_page(self.run, page) for page in pages if self._is_open(page))

    def _is_open(self, page: StoredPage) -> bool:
        """Whether a page is to be crawled now, and on no todo list."""
        return (
            page.page_id not in self._crawler(page.origin).todo
            and page.status is PageStatus.READY
            and not self.rows.is_beyond(page)
            and page.ignored_run != self.run.run_id
            and page.not_before <= self.now()
            and bool(page.remaining or self.rows.is_due(self.run, page, self.now()))
        )

    async def add_origins(
        self, names: Sequence[str], external: bool = False, start_path: str = ""
    ) -> tuple[StoredOrigin, ...]:
        await self._write("add_origins")
        for name in names:
            takes_part = name in self.crawlers and self.crawlers[name].participates
            self._join(name)
            one = self.crawlers[name]
            one.external = external and (one.external or not takes_part)
        return tuple(self._stored(name) for name in names)

    async def retry(self, selection: RetryPages) -> tuple[tuple[str, int], ...]:
        await self._write("retry")
        counts: Counter[str] = Counter()
        for page in self._meant(selection):
            page.status, page.attempts, page.remaining = PageStatus.READY, 0, self.plan.tries
            page.not_before = page.ignored_run = 0
            counts[page.origin] += 1
        return tuple(sorted(counts.items()))

    async def put_back(self, selection: RetryPages) -> PutBack:
        await self._enter("put_back")
        held = {job.job_id for job in self.job_states.values() if job.held}
        listed = {page_id for one in self.crawlers.values() for page_id in one.todo}
        found: list[tuple[int, StoredPage]] = []
        counts: Counter[str] = Counter()
        for page in sorted(self._meant(selection), key=StoredPage.rank):
            waits = page.page_id in listed or page.ignored_run != self.run.run_id
            ready = page.status is PageStatus.READY and page.remaining > 0 and page.not_before <= self.now()
            if waits and ready and page.job_id not in held and not self.rows.is_beyond(page):
                counts[page.origin] += 1
                if counts[page.origin] <= RETRIED_NEXT:
                    found.append((counts[page.origin], page))
        next_ = sorted(found, key=lambda turn: (turn[0], turn[1].rank()))[:RETRIED_AT_ONCE]
        pages: dict[str, list[TodoPage]] = {}
        for page in sorted((page for _, page in next_), key=StoredPage.rank):
            pages.setdefault(page.origin, []).append(self.rows.todo_page(self.run, page))
        return PutBack(
            tuple((origin, tuple(todo)) for origin, todo in pages.items()),
            frozenset(page.page_id for _, page in next_) & listed,
        )

    async def put_first(self, placed: Sequence[tuple[OriginRecord, Sequence[int]]]) -> None:
        await self._write("put_first")
        for record, page_ids in placed:
            crawler = self._crawler(record.origin)
            for page_id in page_ids:
                self.rows.pages[page_id].ignored_run = self.run.run_id
            crawler.todo = [*page_ids, *(page_id for page_id in crawler.todo if page_id not in page_ids)]
            self._save(record)

    def _meant(self, selection: RetryPages) -> list[StoredPage]:
        """The pages that a retry names."""
        unnamed = set(ExitCode) - CRAWLED if selection.urls else FAILURES
        urls = {url_hash(url) for url in selection.urls}
        return [
            page
            for page in self.rows.pages.values()
            if (selection.exit_codes or page.exit_code in unnamed)
            and page.status in {PageStatus.READY, PageStatus.SKIPPED}
            and (not selection.exit_codes or (page.exit_code and page.exit_code.name in selection.exit_codes))
            and (not urls or page.url_hash in urls)
            and (not selection.origins or page.origin in selection.origins)
        ]

    async def change_job(self, command: SetJob | SteerJobs) -> JobChange:
        await self._write("change_job")
        names = (command.job,) if isinstance(command, SetJob) else command.jobs
        unlisted: set[int] = set()
        for name in names:
            if name not in self.job_states:
                raise NoSuchJob(f"there is no job named {name!r}")
            old = self.job_states[name]
            new = self.job_states[name] = _changed(old, command)
            for page in self.rows.pages.values():
                page.nice += (new.nice - old.nice) * (page.job_id == new.job_id)
            if new.held:
                unlisted.update(self._unlist(new.job_id))
        return JobChange(tuple(self.job_states.values()), {}, {}, QueueChange((), frozenset(unlisted)))

    async def apply_rules(self, command: ApplyRules, who: str) -> tuple[tuple[Ruleset, ...], QueueChange]:
        await self._write("apply_rules")
        current = max((one.ruleset_id for one in self.rulesets if one.current), default=0)
        if command.base_id != current:
            raise RulesetConflict(f"ruleset {current} is in force, not {command.base_id}")
        before = next((one.policies for one in self.rulesets if one.current), EMPTY)
        self.rulesets = [replace(one, current=False) for one in self.rulesets]
        for name in self.jobs:
            number = len(self.rulesets) + 1
            self.rulesets.append(Ruleset(number, name, from_json(command.rules), current, self.now(), who))
        added = tuple(self.excluded.values())
        back = self._judge_again(before.with_exclusions(added), from_json(command.rules).with_exclusions(added))
        return tuple(one for one in self.rulesets if one.current), QueueChange(tuple(back.items()))

    def _judge_again(self, before: PolicySet, after: PolicySet, longest: int | None = None) -> Counter[str]:
        """All jobs go by the same rules here; answers how many pages of which origin went back into the queue."""
        listed = {page_id for one in self.crawlers.values() for page_id in one.todo}
        return self.rows.judge_again(Rejudgement(before, after, longest), self.plan.tries, listed)

    async def steer_workers(self, command: WorkerCommand) -> tuple[dict[str, str], dict[str, str]]:
        raise ValueError("no worker of this name is at work")

    def may_ask(self) -> bool:
        return self.asks

    async def stash(self, command: StashPages | UnstashPages | SetDripfeed) -> QueueChange:
        raise ValueError("the memory store keeps no stashes")

    async def reclaim(self, command: ReclaimPages) -> QueueChange:
        raise ValueError("the memory store claims nothing")

    async def load_segment(self, path: str) -> QueueChange:
        """A segment is a list of new pages, kept under its path; it is consumed once."""
        await self._write("load_segment")
        if path not in self.segments:
            raise BadSegment(f"no segment {path}")
        new = self.rows.queue(self.run, self._job_id, None, self.segments.pop(path))
        return QueueChange(tuple(sorted(new.items())))

    async def save_rest(self) -> str:
        await self._write("save_rest")
        self.saved_rest = True
        return "rest"

    async def next_segment(self) -> str:
        await self._enter("next_segment")
        return next(iter(self.segments), "")

    async def awake(self, origins: Sequence[str], now: int) -> tuple[str, ...]:
        await self._enter("awake")
        found = [(name, await self.candidates(name, now, 1, False)) for name in origins]
        return tuple(name for name, candidates in found if candidates.pages)

    async def resolve_claims(self) -> int:
        await self._write("resolve_claims")
        listed = {page_id for one in self.crawlers.values() for page_id in one.todo}
        return self.rows.resolve(self.run, listed, self.now(), last=True)

    async def kept_answer(self, page_id: int) -> Exchange:
        await self._enter("kept_answer")
        return self.rows.claims[page_id].answer

    async def exclusions(self) -> tuple[Exclusion, ...]:
        await self._enter("exclusions")
        return tuple(self.excluded.values())

    async def change_exclusion(self, exclusion: Exclusion, remove: bool) -> QueueChange | None:
        await self._write("change_exclusion")
        key, before = (exclusion.kind, exclusion.value), tuple(self.excluded.values())
        if (key in self.excluded) is not remove:
            return None
        if remove:
            del self.excluded[key]
        else:
            self.excluded[key] = exclusion
        own = next((one.policies for one in self.rulesets if one.current), self.plan.policies)
        back = self._judge_again(own.with_exclusions(before), own.with_exclusions(self.excluded.values()))
        return QueueChange(tuple(sorted(back.items())))

    async def take_actions(self) -> tuple[PendingAction, ...]:
        await self._enter("take_actions")
        waiting = [one for one in self.actions if one.action_id > self._taken and one.action_id not in self.results]
        self._taken = max((one.action_id for one in waiting), default=self._taken)
        return tuple(waiting)

    async def finish_actions(self, results: Sequence[ActionResult]) -> None:
        await self._write("finish_actions")
        self.results.update({result.action_id: result for result in results})

    async def heartbeat(self) -> bool:
        await self._enter("heartbeat")
        if self.fail_writes:
            raise StorageFailure("the disk is full")
        return self._held and not self.lease_lost

    async def end_run(self, reason: str, clean: bool) -> None:
        await self._write("end_run")
        self.run.reason, self.run.clean = reason, clean
        self._held = False

    @property
    def run(self) -> StoredRun:
        """The newest run."""
        return self.runs[-1]

    @property
    def plan(self) -> RunPlan:
        """Its plan."""
        return self.run.plan

    def _ensure_job(self, job: JobPlan, plan: RunPlan) -> int:
        job_id = self.jobs.setdefault(job.name, len(self.jobs) + 1)
        state = JobState(job_id, job.name, job.nice, job.max_depth, job.concurrency, job.tag)
        self.job_states.setdefault(job.name, state)
        return job_id

    def _unlist(self, job_id: int) -> list[int]:
        """Pages of a held job leave their todo lists and the ignore list."""
        gone = []
        for crawler in self.crawlers.values():
            mine = [page_id for page_id in crawler.todo if self.rows.pages[page_id].job_id == job_id]
            crawler.todo = [page_id for page_id in crawler.todo if page_id not in mine]
            for page_id in mine:
                self.rows.pages[page_id].ignored_run = 0
            gone += mine
        return gone

    @property
    def _job_id(self) -> int:
        return self.jobs[self.plan.job]

    def watch(self, told: Callable[[str], None], hinted: Callable[[], None]) -> bool:
        self.told = told
        return False

    def give_up(self, after_ms: int) -> None:
        asyncio.get_running_loop().call_later(after_ms / 1000, setattr, self, "given_up", True)

    async def _enter(self, name: str) -> None:
        self.fault(name)
        await asyncio.sleep(0)
        while self.full:
            if self.given_up:
                raise StorageHeldUp("the disk is full")
            self.told("the disk is full")
            await asyncio.sleep(0.25)
            if not self.full:
                self.told("")

    async def _write(self, name: str) -> None:
        await self._enter(name)
        if self.fail_writes:
            raise StorageFailure("the disk is full")
        if not self._held or self.lease_lost:
            raise StorageFailure("this session no longer holds the database: nothing was stored")

    def _gather(self, plan: RunPlan, continued: bool) -> None:
        seeds = [*plan.seeds, *(seed for job in plan.jobs for seed in job.seeds)]
        wanted = dict.fromkeys(seed.origin for seed in seeds)
        for name, one in self.crawlers.items():
            if name in wanted:
                continue
            one.participates = one.added and (one.participates or not continued)
            if one.participates and not continued:
                self._start_afresh(one)
        for name in wanted:
            one = self._crawler(name)
            if not (continued and one.participates):
                self._start_afresh(one)
            one.participates, one.external = True, False

    def _join(self, origin: str) -> None:
        one = self._crawler(origin)
        if not one.participates:
            one.participates = one.added = True
            self._start_afresh(one)

    def _start_afresh(self, one: StoredCrawler) -> None:
        one.todo = []
        one.record = replace(
            one.record,
            finish_reason="",
            patience=self.plan.patience,
            politeness=self.plan.start_politeness,
            may_fall=True,
            rate_limits=0,
            response_window=(),
            asleep_until=0,
        )

    def _crawler(self, origin: str) -> StoredCrawler:
        if origin not in self.crawlers:
            record = OriginRecord(origin, "", False, 0, 0, False, 0, 0, "", 0, 0, 0, 0)
            self.crawlers[origin] = StoredCrawler(record)
        return self.crawlers[origin]

    def _save(self, record: OriginRecord, robots: bool = False) -> None:
        one = self._crawler(record.origin)
        kept = record.robots if robots else one.record.robots
        if kept is not None and record.robots is not None:  # when it is due again is written with every state
            kept = replace(kept, expires_at=record.robots.expires_at)
        one.record = replace(record, robots=kept, in_flight_url="")

    def _stored(self, origin: str) -> StoredOrigin:
        one, counts = self.crawlers[origin], self.rows.tally(origin)
        todo = tuple(self.rows.todo_page(self.run, self.rows.pages[page_id]) for page_id in one.todo)
        pages = [self.rows.pages[page_id] for page_id in self.rows.of_origin.get(origin, ())]
        seeded = any(page.seed for page in pages)
        return StoredOrigin(
            one.record, todo, len(pages), counts.done, counts.failed, seeded=seeded, external=one.external
        )

    def _log(self, settle: Settle) -> None:
        self.attempts.append(settle.attempt)
        self.run.requests += bool(settle.attempt.requests)
        self._crawler(settle.origin.origin).requests += len(settle.attempt.requests)
        for refusal in settle.refused:
            self.refused[settle.origin.origin, refusal.reason] += refusal.count

    def _leave(self, settle: Settle) -> None:
        todo = self._crawler(settle.origin.origin).todo
        cancelled = settle.attempt.exit_code is ExitCode.cancelled
        if settle.page is not None and not (cancelled or settle.page.stays) and settle.page.page_id in todo:
            todo.remove(settle.page.page_id)
        self.rows.leave(self.run, settle)


def _changed(job: JobState, command: SetJob | SteerJobs) -> JobState:
    if isinstance(command, SetJob):
        number = command.concurrency
        job = replace(job, nice=job.nice if command.nice is None else command.nice)
        return job if number is None else replace(job, concurrency=None if number < 0 else number)
    match command.order:
        case "pause":
            return replace(job, concurrency=0)
        case "resume":
            return replace(job, concurrency=None)
        case order:
            return replace(job, aborted=order == "abort")
