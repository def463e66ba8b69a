"""The politeness proof: every gap between two requests to one origin, recomputed from the log (CRAWL.md section 4).

A gap runs from the end of a request to the sending of the next one to the same origin, whichever attempt made it: a
redirect hop of robots.txt to another origin counts for that other origin. What was promised after a request is

- the delay that its attempt recorded (`delay_ms_after`), when the attempt belongs to that origin and is over;
- the last delay recorded for that origin, when the request was a hop of another origin's robots.txt;
- not on record between two hops of the origin's own robots.txt: there only overlaps are judged.

A fluke retry is exempt from the gap before it, and from nothing else. Stored times are whole milliseconds of the wall
clock, each rounded on its own, so a gap may read `TOLERANCE_MS` short; a clock that was set back reads as an overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from tui_crawler.domain.record import dataclass

TOLERANCE_MS = 1
"""Rounding of stored times: this much under the promise, or of overlap, is none."""

LISTED = 100
"""How many findings of each origin are kept; all are counted."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as the log has it. `origin` is that of `url`, `attempt_origin` that of its attempt; times in ms."""

    attempt_id: int
    attempt_origin: str
    origin: str
    url: str
    sent_at: int
    ended_at: int
    fluke_retry: bool
    delay_ms_after: int


class Fault(StrEnum):
    """What is wrong between two requests."""

    gap = "gap"
    overlap = "overlap"


@dataclass(frozen=True, slots=True)
class Finding:
    """A request that came too soon after the one before it. `gap_ms` is negative for an overlap."""

    fault: Fault
    url: str
    sent_at: int
    gap_ms: int
    promised_ms: int
    earlier_url: str


@dataclass(slots=True)
class OriginAudit:
    """The proof for one origin, while it is counted and after that. `min_gap_ms` is its shortest gap and `promised_ms`
    what was promised for that one: None when there was no gap to measure, or nothing was promised for it. `findings`
    are the first `LISTED`; `violations` and `overlaps` count all."""

    origin: str
    requests: int
    min_gap_ms: int | None = None
    promised_ms: int | None = None
    violations: int = 0
    overlaps: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return not self.violations and not self.overlaps


@dataclass(slots=True)
class _GapState:
    """What is remembered of one origin while the log is read. `before` is the request that ended last."""

    before: SentRequest
    audit: OriginAudit
    recorded_ms: int | None = None  # the delay of the origin's last own attempt that is over

    def promised(self, request: SentRequest) -> int | None:
        """The delay promised between `before` and this request (ms); None when none is on record.

        Remembers the delay of an attempt that is over for hops to come.
        """
        before = self.before
        if before.attempt_origin != before.origin:
            return self.recorded_ms
        if before.attempt_id == request.attempt_id:
            return None
        self.recorded_ms = before.delay_ms_after
        return self.recorded_ms

    def add(self, request: SentRequest) -> None:
        """Takes the next request of this origin."""
        audit = self.audit
        audit.requests += 1
        gap = request.sent_at - self.before.ended_at
        promised = self.promised(request)
        if gap < -TOLERANCE_MS:
            audit.overlaps += 1
            self._note(Fault.overlap, request, gap, promised or 0)
        elif not request.fluke_retry and promised is not None and gap < promised - TOLERANCE_MS:
            audit.violations += 1
            self._note(Fault.gap, request, gap, promised)
        if not request.fluke_retry and (audit.min_gap_ms is None or gap < audit.min_gap_ms):
            audit.min_gap_ms, audit.promised_ms = gap, promised
        if request.ended_at >= self.before.ended_at:
            self.before = request

    def _note(self, fault: Fault, request: SentRequest, gap: int, promised: int) -> None:
        if len(self.audit.findings) < LISTED:
            found = Finding(fault, request.url, request.sent_at, gap, promised, self.before.url)
            self.audit.findings = (*self.audit.findings, found)


def audit(requests: Iterable[SentRequest]) -> tuple[OriginAudit, ...]:
    """Checks every gap. `requests` come in the order in which they were sent; answers by name of origin.

    Keeps one small record per origin, not the log.
    """
    trails: dict[str, _GapState] = {}
    for request in requests:
        trail = trails.get(request.origin)
        if trail is None:
            trails[request.origin] = _GapState(request, OriginAudit(request.origin, 1))
        else:
            trail.add(request)
    return tuple(trail.audit for _, trail in sorted(trails.items()))
