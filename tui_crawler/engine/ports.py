"""What the engine needs from outside. Storage and fetching fit these by shape; wiring joins them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.job import JobChange, QueueChange
from tui_crawler.domain.crawl.run import RunPlan, RunStart, Settled, StoredOrigin
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.records import command as commands
from tui_crawler.domain.records.attempt import Exchange, FetchRequest, FillRecord, OriginRecord, Reading, Settle
from tui_crawler.domain.records.page import Candidates, KnownPage, NewPage, PutBack, TodoPage
from tui_crawler.domain.rules.exclusion import Exclusion
from tui_crawler.domain.rules.ruleset import Ruleset
from tui_crawler.domain.url import CrawlUrl


class Clock(Protocol):
    """Both clocks, and waiting."""

    def now(self) -> Moment: ...

    async def wait(self, event: asyncio.Event, timeout_ms: int | None) -> bool:
        """Wait until the event is set (True) or the time is over (False)."""


class Store(Protocol):
    """The model behind the engine. Every method returns after its transaction is committed. Raises StorageFailure when
    the database cannot take what it is given; what passes by itself (a full disk, a lock) is waited for, without end
    once a run is at work."""

    def watch(self, told: Callable[[str], None], hinted: Callable[[], None]) -> bool:
        """Have `told` called on the running loop with what keeps the database from taking anything, empty when that has
        passed; `hinted` when the journal may have changed. Return whether such hints are to be expected."""

    def give_up(self, after_ms: int) -> None:
        """What passes by itself is waited for so long at most from now on; then StorageHeldUp is raised."""

    async def begin_run(self, plan: RunPlan) -> RunStart:
        """Claim the database and starts a run, or continues the last one. Raises RunHeld, StorageFailure."""

    async def begin_rest(self) -> RunStart:
        """Claim the database while no run is live, to carry out commands; return the last run, of which nothing is
        continued. Raises RunHeld, StorageFailure."""

    async def end_rest(self) -> None: ...

    async def candidates(self, origin: str, now: int, limit: int, first_fill: bool) -> Candidates:
        """Pages that may go on the todo list at `now` (epoch ms); seeds come first in the first fill of a run."""

    async def resolve_claims(self) -> int:
        """Decide the open canonical claims at the end of a run; return how many pages are queued again."""

    async def kept_answer(self, page_id: int) -> Exchange:
        """Return the response of a page that is kept aside (`TodoPage.kept`)."""

    async def fill(self, record: FillRecord) -> Settled:
        """Store the outcome of a fill; return where the counters of its origin stand now."""

    async def settle(self, settle: Settle) -> Settled:
        """Store one attempt, whole; return where the counters of its origin stand now."""

    def known_pages(self, job_id: int) -> Mapping[int, KnownPage]:
        """Pages of a job that are known to be stored, by the hash of their URL; few or many, as it happens."""

    def mark_in_flight(self, page_id: int, origin: str, url: str) -> None:
        """For the eyes: rides in the next commit, is never waited for."""

    async def save_origins(self, records: Sequence[OriginRecord]) -> None:
        """Store the states of origins, in one transaction."""

    async def add_pages(self, pages: Sequence[NewPage], job: str) -> tuple[int, ...]:
        """Add seeds while the run is live; return which (hashes) were not known or are to be crawled again. Raises
        NoSuchJob."""

    async def added_pages(self, keys: Sequence[int], job: str) -> tuple[TodoPage, ...]:
        """Those of added seeds (hashes) that are still to be crawled and on no todo list, in their order."""

    async def add_origins(
        self, names: Sequence[str], external: bool = False, start_path: str = ""
    ) -> tuple[StoredOrigin, ...]:
        """Origins that join the run, in one transaction; what is kept of them from earlier runs comes back. `external`:
        only links that lead there are checked, unless they take part already. `start_path`: what they get."""

    async def retry(self, selection: commands.RetryPages) -> tuple[tuple[str, int], ...]:
        """Give failed pages their tries back, many in several transactions; return how many pages of which origin."""

    async def put_back(self, selection: commands.RetryPages) -> PutBack:
        """Those of the pages named that wait to be crawled: at most RETRIED_NEXT of each origin and RETRIED_AT_ONCE in
        all, the first of every origin before the second of any."""

    async def put_first(self, placed: Sequence[tuple[OriginRecord, Sequence[int]]]) -> None:
        """Put pages (ids) before all else on the todo lists of their origins, in this order, and stores their states,
        in one transaction."""

    async def exclusions(self) -> tuple[Exclusion, ...]: ...

    async def change_exclusion(self, exclusion: Exclusion, remove: bool) -> QueueChange | None:
        """Add or remove an entry of the exclusion list; None when that changes nothing. Refused pages whose verdict
        changes go back into the queue."""

    async def change_job(self, command: commands.SetJob | commands.SteerJobs) -> JobChange:
        """Change jobs; the pages of jobs that are held from now on leave their todo lists. Raises NoSuchJob."""

    async def apply_rules(self, command: commands.ApplyRules, who: str) -> tuple[tuple[Ruleset, ...], QueueChange]:
        """Write a new version; return the current rulesets of all jobs, and the refused pages that go back into the
        queue as their verdict changes. Raises RulesetConflict, BadRuleset, BadPattern, NoSuchJob; then nothing was
        written."""

    async def steer_workers(self, command: commands.WorkerCommand) -> tuple[dict[str, str], dict[str, str]]:
        """Write down what an operator wants of workers; return what was and what is. Raises ValueError for one that
        is not at work, or an origin that takes no part."""

    def may_ask(self) -> bool:
        """Return whether requests may be made now: the lease of this process has not run out, as far as it can know."""

    async def stash(self, command: commands.StashPages | commands.UnstashPages | commands.SetDripfeed) -> QueueChange:
        """Move pages between READY and STASHED. Raises NoSuchJob, ValueError for a name or pattern that is none."""

    async def reclaim(self, command: commands.ReclaimPages) -> QueueChange:
        """Take pages back that were claimed for too long; what is in flight in this session is left alone."""

    async def load_segment(self, path: str) -> QueueChange:
        """Take a segment into the queue, exactly once, in one transaction. Raises BadSegment."""

    async def save_rest(self) -> str:
        """Save the pages that are still pending as a segment (M); return its path, empty when there were none."""

    async def next_segment(self) -> str:
        """The path of the oldest segment that was not consumed, empty when there is none."""

    async def awake(self, origins: Sequence[str], now: int) -> tuple[str, ...]:
        """Those of the origins named that have a page a fill would find at `now` (epoch ms)."""

    async def take_actions(self) -> tuple[commands.PendingAction, ...]:
        """Return what operators have asked for since the last call, oldest first."""

    async def finish_actions(self, results: Sequence[commands.ActionResult]) -> None: ...

    async def heartbeat(self) -> bool:
        """Renew the lease of this session; False when another owner has taken the database."""

    async def end_run(self, reason: str, clean: bool) -> None:
        """Close the run (`interrupted` and unclean ones are continued by the next start) and the session."""


class Fetcher(Protocol):
    """The network behind the engine."""

    async def exchange(self, request: FetchRequest) -> Exchange:
        """One GET or HEAD, with one fluke retry. Never raises for what a server does; cancelling closes it. Raises
        OutOfDescriptors when this process can open no connection: then nothing was sent."""

    async def read(self, url: CrawlUrl, exchange: Exchange, *, sitemap: bool = False) -> Reading:
        """Extract what a 2xx body says; large bodies are read off the event loop. `sitemap`: as a sitemap."""

    async def address(self, host: str) -> str | None:
        """The address a host resolves to, for politeness keys by ip; None when it does not resolve."""

    async def forget(self, origin: str) -> None: ...


class Listener(Protocol):
    """A receiver of events, after they are committed. Must be quick and must not raise."""

    def on_event(self, event: Event) -> None:
        """Take one event."""
