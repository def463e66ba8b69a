"""The politeness proof: every gap between two requests to one origin, recomputed from the log (docs/behaviour.md).

A gap runs from the end of a request to the sending of the next one to the same origin, whichever attempt made it: a
redirect hop of robots.txt to another origin counts for that other origin. What was promised after a request is

- the delay that its attempt recorded (`delay_ms_after`), when the attempt belongs to that origin and is over;
- the last delay recorded for that origin, when the request was a hop of another origin's robots.txt;
- not on record between two hops of the origin's own robots.txt: there only overlaps are judged.

A fluke retry is exempt from the gap before it, and from nothing else. Stored times are whole milliseconds of the wall
clock, each rounded on its own, so a gap may read `TOLERANCE_MS` short; a clock that was set back reads as an overlap.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.exit_code import ExitCode

TOLERANCE_MS = 1
"""Rounding of stored times: this much under the promise, or of overlap, is none."""

LISTED = 100
"""How many findings of each origin are kept; all are counted."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as the log has it. `origin` is that of `url`, `attempt_origin` that of its attempt; times in ms.

    The rest is for the timeline: by whom it was made, how its attempt ended (the number of an `ExitCode`), what decided
    the delay after it (a `DelayReason`), what was left of the patience.
    """

    attempt_id: int
    attempt_origin: str
    origin: str
    url: str
    sent_at: int
    ended_at: int
    fluke_retry: bool
    delay_ms_after: int
    exit_code: int = ExitCode.file_ingested.value
    delay_reason: str = ""
    patience_after: int = 0
    run_id: int = 0
    session_id: int = 0


class Fault(StrEnum):
    """A broken promise between two requests."""

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


@dataclass(frozen=True, slots=True)
class Gap:
    """From the end of the request before it (`earlier`, the one that ended last) to the sending of a request.

    Both are None for the first request to its origin. `kept_ms` is negative where they overlap; `promised_ms` None:
    nothing is on record. `fault` None: the promise was kept, or there was none.
    """

    request: SentRequest
    earlier: SentRequest | None = None
    kept_ms: int | None = None
    promised_ms: int | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class OriginAudit:
    """The proof for one origin, while it is counted and after that. `min_gap_ms` is its shortest gap and `promised_ms`
    what was promised for that one: None when there was no gap to measure, or nothing was promised for it. `findings`
    are the first `LISTED`; `violations` and `overlaps` count all."""

    origin: str
    requests: int = 0
    min_gap_ms: int | None = None
    promised_ms: int | None = None
    violations: int = 0
    overlaps: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether every promise was kept."""
        return not self.violations and not self.overlaps

    def add(self, gap: Gap) -> None:
        """Count a request with the gap before it."""
        self.requests += 1
        kept, request, earlier = gap.kept_ms, gap.request, gap.earlier
        if kept is None or earlier is None:
            return
        if gap.fault is not None:
            self.overlaps += gap.fault is Fault.overlap
            self.violations += gap.fault is Fault.gap
            if len(self.findings) < LISTED:
                found = Finding(gap.fault, request.url, request.sent_at, kept, gap.promised_ms or 0, earlier.url)
                self.findings = (*self.findings, found)
        if not request.fluke_retry and (self.min_gap_ms is None or kept < self.min_gap_ms):
            self.min_gap_ms, self.promised_ms = kept, gap.promised_ms


@dataclass(slots=True)
class _GapState:
    _before: SentRequest | None = None  # the request that ended last
    _recorded_ms: int | None = None  # the delay of the origin's last own attempt that is over

    def judge(self, request: SentRequest) -> Gap:
        before = self._before
        if before is None or request.ended_at >= before.ended_at:
            self._before = request
        if before is None:
            return Gap(request)
        kept, promised, fault = request.sent_at - before.ended_at, self._promised(before, request), None
        if kept < -TOLERANCE_MS:
            fault = Fault.overlap
        elif not request.fluke_retry and promised is not None and kept < promised - TOLERANCE_MS:
            fault = Fault.gap
        return Gap(request, before, kept, promised, fault)

    def _promised(self, before: SentRequest, request: SentRequest) -> int | None:
        """The delay promised between two requests (ms); None when none is on record.

        Remembers the delay of an attempt that is over for hops to come.
        """
        if before.attempt_origin != before.origin:
            return self._recorded_ms
        if before.attempt_id == request.attempt_id:
            return None
        self._recorded_ms = before.delay_ms_after
        return self._recorded_ms


def judged(requests: Iterable[SentRequest]) -> Iterator[Gap]:
    """Each request with the gap before it. `requests` come in the order in which they were sent, of any origins.

    Keeps one small record per origin, not the log.
    """
    states: defaultdict[str, _GapState] = defaultdict(_GapState)
    return (states[request.origin].judge(request) for request in requests)


def audit(requests: Iterable[SentRequest]) -> tuple[OriginAudit, ...]:
    """Check every gap between requests in the order in which they were sent; return by name of origin."""
    found: dict[str, OriginAudit] = {}
    for gap in judged(requests):
        found.setdefault(gap.request.origin, OriginAudit(gap.request.origin)).add(gap)
    return tuple(one for _, one in sorted(found.items()))
