"""The coverage statement: what the newest run covers, what it leaves out, and whether it is complete. Pure.

Every output is made from one `Coverage`: the end of `run`, `status`, the event, the report and the console.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING

from tui_crawler.domain.event import Event
from tui_crawler.domain.exit_code import BLOCKED, DOCUMENTS, FAILURES, ExitCode
from tui_crawler.domain.record import asdict, dataclass
from tui_crawler.domain.status_words import FinishReason, RunReason, run_end_words
from tui_crawler.domain.verdict import Refusal

if TYPE_CHECKING:
    from tui_crawler.domain.view import RunView

LISTED = 1_000
"""How many seeds and how many groups of refusals a statement lists; it counts the others."""

LEADS = frozenset({ExitCode.permanent_redirect, ExitCode.redirect, ExitCode.not_canonical})
"""The exit codes of a page that names another URL in its place."""

_OUTSIDE = frozenset({Refusal.scope, Refusal.whitelist, Refusal.start_path, Refusal.item_pattern, Refusal.invalid_url})
"""The refusals of what the crawl is not about, mailto: links among them: nothing is missing for them."""

_NOT_BEGUN = frozenset({None, ExitCode.cancelled, ExitCode.someone_stole_my_work})
_UNTRIED = {FinishReason.patience, FinishReason.database_error, FinishReason.rate_limited, FinishReason.excluded}
_SAID_ELSEWHERE = frozenset({ExitCode.file_not_found, ExitCode.file_gone, ExitCode.file_too_large})
_HAS_LIMIT = frozenset({RunReason.exhausted, RunReason.max_requests, RunReason.few_origins})
_LIMITS: Mapping[str, str] = {
    Refusal.origin_full: "crawl.max_pages_per_origin",
    Refusal.redirect_hops: "crawl.max_redirect_hops",
    Refusal.url_length: "crawl.max_url_length",
    Refusal.trap_repeat: "trap guard",
    Refusal.trap_depth: "trap guard",
}
_DECIDERS: Mapping[str, str] = {
    **_LIMITS,
    Refusal.scope: "seeds",
    Refusal.whitelist: "whitelist.patterns",
    Refusal.start_path: "sites",
    ExitCode.blocked_url_by_local_policy.name: "policies.url_query_parameters",
}
SEED_COLUMNS = "url exit_code http_status ended_at_url message"
GROUP_COLUMNS = "origin reason count sample_url decided_by"


class SeedState(Enum):
    """How a seed ended: with a document, not yet, without one, or at a URL that is no page of the crawl."""

    document = auto()
    pending = auto()
    lost = auto()
    elsewhere = auto()


@dataclass(frozen=True, slots=True)
class SeedEnd:
    """A seed and how it ended. `exit_code` is a name, None while it was not crawled; `ended_at_url` is where its
    redirects or canonicals lead, else the seed itself; `message` says why it has no document (raw)."""

    url: str
    exit_code: str | None
    http_status: int | None
    ended_at_url: str
    message: str
    state: SeedState

    @property
    def lost(self) -> bool:
        """Whether it gave no document and will not give one in this run."""
        return self.state in {SeedState.lost, SeedState.elsewhere}


@dataclass(frozen=True, slots=True)
class RefusedGroup:
    """URLs or links of an origin that one thing refused. `reason` is an exit code for pages and a `Refusal` for links;
    `decided_by` is `file:line`, a key, or a line of robots.txt. `limit` is the key of the limit that refused them;
    `missing`: the operator did not choose it, so that the crawl lacks them."""

    origin: str
    reason: str
    count: int
    sample_url: str
    decided_by: str
    limit: str = ""
    missing: bool = False

    @property
    def inside(self) -> bool:
        """Whether the crawl is about these URLs; others are in JSON only."""
        return bool(self.limit) or self.reason not in _OUTSIDE


def refused_group(origin: str, reason: str, count: int, sample_url: str, decided_by: str) -> RefusedGroup:
    """A group as it is stored. A query that no policy speaks of is refused by default, which names no line."""
    limit = _LIMITS.get(reason, "")
    by_default = reason == ExitCode.blocked_url_by_local_policy.name and not decided_by
    missing = bool(limit) or by_default or reason == ExitCode.blocked_by_robots_txt.name
    return RefusedGroup(origin, reason, count, sample_url, decided_by or _DECIDERS.get(reason, ""), limit, missing)


@dataclass(frozen=True, slots=True)
class CoverageLimit:
    """A limit that stopped something: its key, and how many pages, links or origins (`unit`) it stopped."""

    key: str
    count: int
    unit: str


@dataclass(frozen=True, slots=True)
class CoverageCounts:
    """Pages of the origins of the newest run. `refused` are URLs, not links; `not_canonical` were left to a canonical
    that is no page of the crawl."""

    crawled: int = 0
    failed: int = 0
    refused: int = 0
    truncated: int = 0
    not_canonical: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """The statement. `seeds` lists those without a document first; `seeds_total` and `refused_total` count what the
    lists leave out. `failures` are failed pages by exit code, `ends` origins by finish reason, `cut` truncated pages by
    the key of the bound. `pending`, `stashed`, `too_deep` are pages, `segments` files that wait to be loaded; `unread`:
    documents whose links the offline mode has not queued. `empty` are origins whose seeds gave no document."""

    run: RunView | None = None
    seeds: tuple[SeedEnd, ...] = ()
    seeds_total: int = 0
    seeds_lost: int = 0
    pages: CoverageCounts = CoverageCounts()
    refused: tuple[RefusedGroup, ...] = ()
    refused_total: int = 0
    failures: tuple[tuple[ExitCode, int], ...] = ()
    ends: tuple[tuple[str, int], ...] = ()
    cut: tuple[tuple[str, int], ...] = ()
    pending: int = 0
    stashed: int = 0
    too_deep: int = 0
    segments: int = 0
    unread: int = 0
    empty: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether every seed failed, was refused, or led to nothing: the exit status is 1."""
        return 0 < self.seeds_total == self.seeds_lost

    def why_empty(self, origin: str) -> str:
        """Why the first seed of an empty origin gave no document."""
        return next((one.message for one in self.seeds if one.url.startswith(f"{origin}/")), "")

    @property
    def refusals(self) -> int:
        """How many URLs and links inside of the crawl were refused."""
        return sum(one.count for one in self.refused if one.inside)

    @property
    def complete(self) -> bool:
        return not self.reasons

    @property
    def brief(self) -> str:
        """The statement in a few words."""
        more = f" and {len(self.reasons) - 1} more" if len(self.reasons) > 1 else ""
        return f"not complete: {self.reasons[0]}{more}" if self.reasons else "complete"

    @property
    def limits(self) -> tuple[CoverageLimit, ...]:
        """The limits that stopped something."""
        reason, ends = self.run and self.run.finish_reason, dict(self.ends)
        refused = [(one.limit, one.count) for one in self.refused if one.limit]
        found = (
            ("crawl.max_requests", self.pending if reason == RunReason.max_requests else 0, "page"),
            ("queue.min_origins", self.segments if reason == RunReason.few_origins else 0, "segment"),
            ("crawl.max_depth", self.too_deep, "page"),
            *((key, sum(n for name, n in refused if name == key), "link") for key in dict.fromkeys(dict(refused))),
            ("network.max_body_bytes", dict(self.failures).get(ExitCode.file_too_large, 0), "page"),
            *((key, number, "page") for key, number in self.cut),
            ("crawl.patience", ends.get(FinishReason.patience, 0), "origin"),
            ("delay.retry_after_max", ends.get(FinishReason.rate_limited, 0), "origin"),
        )
        return tuple(CoverageLimit(*one) for one in found if one[1])

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the crawl is not complete, each in a few words; nothing when it is."""
        run, limited = self.run, self.run is not None and self.run.finish_reason == RunReason.max_requests
        by: dict[str, int] = {}
        for one in self.refused:
            if one.missing and not one.limit:
                by[one.reason] = by.get(one.reason, 0) + one.count
        found = (
            (self.seeds_lost, f"of {_many(self.seeds_total, 'seed')} gave no document", ""),
            (dict(self.ends).get(FinishReason.database_error, 0), "ended as the database failed", "origin"),
            (0 if limited else self.pending, "still to be crawled", "page"),
            (self.stashed, "in stashes", "page"),
            (self.segments, "not loaded yet", "segment"),
            (self.unread, "whose links are not queued (crawl.mode: offline; tui-crawler queue build)", "document"),
            (self.pages.not_canonical, "left to a canonical outside of the crawl (crawl.canonical)", "page"),
            *((n, f"failed: {code.name}", "page") for code, n in self.failures if code not in _SAID_ELSEWHERE),
            *((n, f"refused: {reason}", "URL") for reason, n in by.items()),
        )
        told = [f"{_many(number, noun)} {what}" for number, what, noun in found if number]
        limits = [f"{one.key} stopped {_many(one.count, one.unit)}" for one in self.limits]
        return (*_run_words(run), *told, *limits)

    def as_document(self) -> dict[str, object]:
        """The JSON object of `status`, `report` and the event. `left_out` is there only where a list is cut short."""
        hidden = {"seeds": self.seeds_total - len(self.seeds), "refused": self.refused_total - len(self.refused)}
        left_out = {name: number for name, number in hidden.items() if number > 0}
        return {
            "complete": self.complete,
            "reasons": list(self.reasons),
            "seeds": [{name: getattr(one, name) for name in SEED_COLUMNS.split()} for one in self.seeds],
            "pages": asdict(self.pages),
            "refused": [{name: getattr(one, name) for name in GROUP_COLUMNS.split()} for one in self.refused],
            "limits": [asdict(one) for one in self.limits],
        } | ({"left_out": left_out} if left_out else {})


@dataclasses.dataclass(frozen=True, slots=True)
class CoverageEvent(Event):
    """The event `coverage`, with the statement that its fields are made of."""

    coverage: Coverage = dataclasses.field(default_factory=Coverage)


def coverage_event(at: int, coverage: Coverage) -> CoverageEvent:
    """The event before the end of a run; `at` is epoch ms."""
    return CoverageEvent(at, "coverage", extra=tuple(coverage.as_document().items()), coverage=coverage)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if noun and number != 1 else ''}".rstrip()


def _run_words(run: RunView | None) -> tuple[str, ...]:
    """Why the run itself left something out. That a limit ended it is said with what it stopped."""
    if run is None:
        return ("no run has started yet",)
    if run.live or not run.finished_at:
        return ("the run is not over",)
    ended = run.finish_reason in _HAS_LIMIT
    return () if ended else (f"the run ended early: {run_end_words(run.finish_reason)}",)


def seed_state(code: ExitCode | None, finish_reason: str, *, has_documents: bool) -> SeedState:
    """How a seed ended whose redirects end at a page of this exit code, at an origin that ended so. `has_documents`:
    pages of the seed's origin have documents, so that a seed without one did lead to some."""
    if code in DOCUMENTS:
        return SeedState.document
    if code in _NOT_BEGUN:
        return SeedState.lost if finish_reason in _UNTRIED else SeedState.pending
    if has_documents and code not in BLOCKED | FAILURES:
        return SeedState.document
    return SeedState.elsewhere if code in LEADS else SeedState.lost
