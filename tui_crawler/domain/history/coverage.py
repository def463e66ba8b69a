"""The coverage statement: what the newest run covers, what it leaves out, and whether it is complete. Pure.

Every output is made from one `Coverage`: the end of `run`, `status`, the event, the report and the console.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import BLOCKED, DOCUMENTS, FAILURES, ExitCode
from tui_crawler.domain.records.status_words import GAVE_UP, FinishReason, RunReason, run_end_words
from tui_crawler.domain.rules.verdict import Refusal

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import RunView

LISTED = 1_000
"""How many seeds and how many groups of refusals a statement lists; it counts the others."""

LEADS = frozenset({ExitCode.permanent_redirect, ExitCode.redirect, ExitCode.not_canonical})
"""The exit codes of a page that names another URL in its place."""

_OUTSIDE = frozenset({Refusal.scope, Refusal.whitelist, Refusal.start_path, Refusal.item_pattern, Refusal.invalid_url})
"""The refusals of what the crawl is not about, mailto: links among them: nothing is missing for them."""

_NOT_BEGUN = frozenset({None, ExitCode.cancelled, ExitCode.someone_stole_my_work})
_UNTRIED = GAVE_UP | {FinishReason.rate_limited, FinishReason.excluded}
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
    Refusal.redirect_loop: "crawl.cookies: redirect loop, as when a cookie is required",
    Refusal.nofollow: "meta robots or X-Robots-Tag of the page",
    ExitCode.blocked_url_by_local_policy.name: "policies.url_query_parameters",
}
SEED_COLUMNS = "url exit_code http_status ended_at_url message"
GROUP_COLUMNS = "origin reason count sample_url decided_by"
SAME_COLUMNS = "sha256 bytes count exit_code urls"

ALIKE = 10
"""The fewest URLs with one content that are named: often they say "not found", with status 200."""


@dataclass(frozen=True, slots=True)
class SeedEnd:
    """A seed and how it ended. `exit_code` is a name, None while it was not crawled; `ended_at_url` is where its
    redirects or canonicals lead, else the seed itself. `message` says why it gave no document and will not give one in
    this run (raw); it is empty for any other seed."""

    url: str
    exit_code: str | None
    http_status: int | None
    ended_at_url: str
    message: str


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
        """Return whether the crawl is about these URLs; others are in JSON only."""
        return self.reason not in _OUTSIDE


def refused_group(origin: str, reason: str, count: int, sample_url: str, decided_by: str) -> RefusedGroup:
    """A group as it is stored. A query that no policy speaks of is refused by default, which names no line."""
    limit = _LIMITS.get(reason, "")
    by_default = reason == ExitCode.blocked_url_by_local_policy.name and not decided_by
    missing = by_default or reason in {ExitCode.blocked_by_robots_txt.name, Refusal.redirect_loop}
    return RefusedGroup(origin, reason, count, sample_url, decided_by or _DECIDERS.get(reason, ""), limit, missing)


@dataclass(frozen=True, slots=True)
class SameContent:
    """URLs (`count`) whose bodies are the same, byte by byte: the first few, and how the first ended."""

    sha256: str
    bytes: int
    count: int
    exit_code: str
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The statement. `seeds` lists those without a document first; `seeds_total` and `refused_total` count what the
    lists leave out. `pages` has `crawled`, `failed`, `refused`, `truncated` and `not_canonical` (left to a canonical
    that is no page of the crawl). `failures` are failed pages by exit code, `ends` origins by finish reason, `cut`
    truncated pages by the key of the bound, `unread` documents whose links the offline mode has not queued. `pending`,
    `stashed`, `too_deep` are pages, `segments` files that wait to be loaded, `empty` origins whose seeds gave nothing.
    `same` are the largest groups of URLs with one content, of `same_total`.
    """

    run: RunView | None = None
    seeds: tuple[SeedEnd, ...] = ()
    seeds_total: int = 0
    seeds_lost: int = 0
    pages: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[RefusedGroup, ...] = ()
    refused_total: int = 0
    failures: Mapping[ExitCode, int] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)
    cut: Mapping[str, int] = field(default_factory=dict)
    pending: int = 0
    stashed: int = 0
    too_deep: int = 0
    segments: int = 0
    unread: int = 0
    unexplained: str = ""  # why the configuration could not be asked for what decided
    empty: tuple[str, ...] = ()
    same: tuple[SameContent, ...] = ()
    same_total: int = 0
    sitemaps: tuple[tuple[str, str], ...] = ()  # on other hosts that were not read: URL and exit code
    waived: str = ""  # which rules of own sites were not obeyed, and what decided it

    @property
    def nothing(self) -> bool:
        """Return whether every seed failed, was refused, or led to nothing: the exit status is 1."""
        return 0 < self.seeds_total == self.seeds_lost

    @property
    def lost(self) -> list[SeedEnd]:
        """The listed seeds without a document."""
        return [one for one in self.seeds if one.message]

    def why_empty(self, origin: str) -> str:
        """Return why the first seed of an empty origin gave no document."""
        return next((one.message for one in self.seeds if one.url.startswith(f"{origin}/")), "")

    @property
    def complete(self) -> bool:
        return not self.reasons

    @property
    def brief(self) -> str:
        """The statement in a few words; empty while the run is not over, or is to be continued."""
        if _run_words(self.run):
            return ""
        more = f" and {len(self.reasons) - 1} more" if len(self.reasons) > 1 else ""
        return f"not complete: {self.reasons[0]}{more}" if self.reasons else "complete"

    @property
    def limits(self) -> list[tuple[str, int, str]]:
        """The limits that stopped something: the key, and how many pages, links, segments or origins."""
        reason, links = self.run and self.run.finish_reason, Counter[str]()
        for one in self.refused:
            links[one.limit] += one.count
        found = (
            ("crawl.max_requests", self.pending if reason == RunReason.max_requests else 0, "page"),
            ("queue.min_origins", self.segments if reason == RunReason.few_origins else 0, "segment"),
            ("crawl.max_depth", self.too_deep, "page"),
            *((key, number, "link") for key, number in links.items()),
            ("network.max_body_bytes", self.failures.get(ExitCode.file_too_large, 0), "page"),
            *((key, number, "page") for key, number in self.cut.items()),
            ("crawl.patience", self.ends.get(FinishReason.patience, 0), "origin"),
            ("delay.retry_after_max", self.ends.get(FinishReason.rate_limited, 0), "origin"),
        )
        return [one for one in found if one[0] and one[1]]

    @property
    def reasons(self) -> list[str]:
        """Return why the crawl is not complete, each in a few words; nothing when it is."""
        run, refused = self.run, Counter[str]()
        for one in self.refused:
            refused[one.reason] += one.count if one.missing else 0
        limited = run is not None and run.finish_reason == RunReason.max_requests
        found = (
            (self.seeds_lost, "", f"of {_many(self.seeds_total, 'seed')} gave no document"),
            (self.ends.get(FinishReason.database_error, 0), "origin", "ended as the database failed"),
            (0 if limited else self.pending, "page", "still to be crawled"),
            (self.stashed, "page", "in stashes"),
            (self.segments, "segment", "not loaded yet"),
            (self.unread, "document", "whose links are not queued (crawl.mode: offline; tui-crawler queue build)"),
            (self.pages.get("not_canonical", 0), "page", "left to a canonical outside of the crawl (crawl.canonical)"),
            *((n, "page", f"failed: {code.name}") for code, n in self.failures.items() if code not in _SAID_ELSEWHERE),
            *((number, "URL", f"refused: {reason}") for reason, number in refused.items()),
        )
        told = [f"{_many(number, noun)} {what}" for number, noun, what in found if number]
        told += [self.unexplained] if self.unexplained else []
        told += [f"the sitemap {url} was not read: {code}" for url, code in self.sitemaps]
        return _run_words(run) + told + [f"{key} stopped {_many(number, unit)}" for key, number, unit in self.limits]

    def as_document(self) -> dict[str, object]:
        """The JSON object of `status`, `report` and the event. `left_out` is there only where a list is cut short,
        `waived` only where rules of own sites were not obeyed."""
        hidden = {"seeds": self.seeds_total - len(self.seeds), "refused": self.refused_total - len(self.refused)}
        hidden["same_content"] = self.same_total - len(self.same)
        left_out = {name: number for name, number in hidden.items() if number > 0}
        return {
            "complete": self.complete,
            "reasons": self.reasons,
            "seeds": [{name: getattr(one, name) for name in SEED_COLUMNS.split()} for one in self.seeds],
            "pages": self.pages,
            "refused": [{name: getattr(one, name) for name in GROUP_COLUMNS.split()} for one in self.refused],
            "same_content": [{name: getattr(one, name) for name in SAME_COLUMNS.split()} for one in self.same],
            "limits": [{"key": key, "count": number, "unit": unit} for key, number, unit in self.limits],
        } | {key: value for key, value in (("left_out", left_out), ("waived", self.waived)) if value}


@dataclasses.dataclass(frozen=True, slots=True)
class CoverageEvent(Event):
    """The event `coverage`, with the statement that its fields are made of."""

    coverage: Coverage = dataclasses.field(default_factory=Coverage)


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if noun and number != 1 else ''}".rstrip()


def _run_words(run: RunView | None) -> list[str]:
    if run is None:
        return ["no run has started yet"]
    if run.live or not run.finished_at:
        return ["the run is not over"]
    return [] if run.finish_reason in _HAS_LIMIT else [f"the run ended early: {run_end_words(run.finish_reason)}"]


def is_lost(code: ExitCode | None, finish_reason: str, *, has_documents: bool) -> bool:
    """Return whether a seed gave no document and will not give one in this run. Its redirects end at a page of this
    exit code, at an origin that ended so; `has_documents`: other pages of its origin have some, perhaps by it."""
    if code in DOCUMENTS:
        return False
    if code in _NOT_BEGUN:
        return finish_reason in _UNTRIED
    return not has_documents or code in BLOCKED | FAILURES
