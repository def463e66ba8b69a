"""What a person is shown of a crawl: frozen rows made by the read-only reports, drawn by console and command line.

Its run, its origins, its attempts; pages and links stand in `page_view`, actions and jobs in `operator_view`. And
which entries of the log a window is to hold.

Strings are raw as stored (hostile); whoever draws them passes them through `safe`. Times are epoch ms, 0 = none.
"""

from typing import Generic, TypeVar

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.status import OriginPhase
from tui_crawler.domain.records.status_words import GAVE_UP, UNVERIFIED, RunReason, elsewhere_words


@dataclass(frozen=True, slots=True)
class RunView:
    """A run (`v_run`) with what its session says. `live` is judged by the owner's process and heartbeat."""

    run_id: int
    started_at: int
    finished_at: int
    finish_reason: str
    requests: int
    user_agent: str
    config_name: str
    live: bool
    owner: str = ""  # "process 4711 on host h" of the live or last session
    heartbeat_at: int = 0
    max_in_flight: int = 0
    max_requests: int | None = None
    tries: int = 0  # how many a page gets when it is put back; 0: not told
    disk_full: bool = False  # its live engine stores nothing any more, and there is no room for the database
    worked_ms: int = 0  # up to its last heartbeat, by a monotonic clock, without the rest between its sessions
    paused_jobs: tuple[int, ...] = ()  # their ids
    unverified: int = 0  # hosts whose certificates are not verified; -1: any

    @property
    def over(self) -> bool:
        """Return whether it has ended, so that the next start begins another."""
        return not self.live and self.finish_reason not in {"", RunReason.interrupted.value}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what is to be told as long as the run is shown."""
        if not self.unverified:
            return ()
        of = "" if self.unverified < 0 else f" ({self.unverified} of the entries in hosts)"
        return (f"{UNVERIFIED}{of}: requests and responses can be read and changed on the way",)


@dataclass(frozen=True, slots=True)
class OriginView:
    """An origin as `v_origin` has it, with what the overview needs beside. `change` grows with each change.

    `robots_message`: why robots.txt cannot be had, as the last try said, while it is unreachable. `refused_as`: the
    exit code of all its pages where every one was refused before it was asked for, "several" where they differ.
    """

    origin: str
    change: int
    state: str  # an `OriginPhase`
    finish_reason: str  # a `FinishReason`, or empty
    paused: bool
    patience: int
    patience_max: int
    politeness: int
    delay_ms: int
    delay_reason: str
    operator_delay_ms: int
    next_request_at: int
    asleep_until: int
    robots_status: str
    robots_fetched_at: int
    robots_expires_at: int
    crawl_delay_ms: int | None
    todo: int
    pending: int
    done: int
    failed: int
    blocked: int
    requests: int
    bytes: int
    in_flight_url: str
    last_url: str
    last_exit_code: str
    last_http_status: int | None
    last_attempt_at: int
    last_response_ms: int
    paused_at: int = 0
    paused_by: str = ""
    worker: str = ""
    discovered: int = 0  # pages of this origin that became known in this run
    in_flight_since: int = 0  # when the request in flight was begun; says nothing while none is
    robots_http_status: int | None = None
    robots_message: str = ""
    refused_as: str = ""
    not_canonical: int = 0  # pages that ended so in the newest run
    empty: str = ""  # it has ended, and no seed of it gave a document: why the first one did not

    @property
    def ended(self) -> bool:
        """Return whether its run is over."""
        return self.state == OriginPhase.finished

    @property
    def gave_up(self) -> bool:
        """Return whether it requests nothing in this run unless it gets new patience."""
        return self.ended and self.finish_reason in GAVE_UP

    @property
    def warning(self) -> str:
        """Return what is said of an origin most of whose pages are dropped as not canonical; else empty."""
        return elsewhere_words(self.not_canonical, self.done + self.failed, self.pending)


@dataclass(frozen=True, slots=True)
class TotalsView:
    """Sums over all origins, kept incrementally. `exit_codes` counts the attempts of the newest run by name."""

    todo: int
    pending: int
    done: int
    failed: int
    blocked: int
    requests: int
    bytes: int
    attempts: int
    exit_codes: tuple[tuple[str, int], ...] = ()
    known: int = 0  # pages, whatever became of them


@dataclass(frozen=True, slots=True)
class AttemptView:
    """A row of `v_attempt`, with the title of the page it was for."""

    attempt_id: int
    run_id: int
    url: str
    origin: str
    kind: str
    exit_code: str
    exit_code_id: int
    http_status: int | None
    started_at: int
    ended_at: int
    response_ms: int | None
    bytes: int
    requests: int
    patience_after: int
    politeness_after: int
    delay_ms_after: int
    worker: str
    message: str
    patience_before: int = 0
    delay_reason: str = ""
    decided_by: str = ""
    new_pages: int = 0
    title: str = ""
    ruleset_id: int = 0
    cut: tuple[str, ...] = ()  # names of `domain.cut`


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LogTerms:
    """A selection of entries of the log: those for which everything holds that is given.

    `origin` as in `v_origin`. `problems`: failed attempts, and of those, where `exits` is not empty, the ones that
    ended with an exit code of these names. `events`: activity with one of these names and, where one is given, this
    message; None: any. `text`: attempts that have it, whatever the case of letters; lower case.
    """

    origin: str = ""
    problems: bool = False
    exits: frozenset[str] = frozenset()
    events: tuple[tuple[str, str], ...] | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class LogReach:
    """The beginning of a window of the log, and how much it may take.

    `edge` is the id it begins behind, in its direction (0: at the end of the log, or at its beginning where
    `oldest_first`). It ends with `limit` entries found, or after `look` entries.
    """

    edge: int = 0
    limit: int = 200
    look: int = 10_000
    oldest_first: bool = False


@dataclass(frozen=True, slots=True)
class LogStretch(Generic[T]):
    """The entries found, in the order of reading, among those from the id `first_id` to `last_id`, which is the last
    one found where there were enough; `last_at` is its time (epoch ms). Both ids are 0 where there was nothing.

    `ended`: nothing lies beyond. `looked_at` entries were on the way, at most.
    """

    found: tuple[T, ...] = ()
    first_id: int = 0
    last_id: int = 0
    last_at: int = 0
    looked_at: int = 0
    ended: bool = True
