"""The politeness of an origin over time: what was promised, what was kept, and what lay between.

It is made of the gaps that the audit judges, folded into cells of equal length as they are read: it holds no more than
its cells, however many requests were sent. Times are epoch ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from tui_crawler.domain.history.audit import Gap, OriginAudit, SentRequest
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.command import BadCommand, PauseOrigins, ResumeOrigins, from_json
from tui_crawler.domain.records.exit_code import DISPOSITIONS, Group, code_of

if TYPE_CHECKING:
    from tui_crawler.domain.records.operator_view import ActionView, ActivityView
    from tui_crawler.domain.records.view import RunView

MARKS = 100
"""How many marks of an origin are kept; all are counted."""

_ROSE, _ROSE_MS = 1.5, 500  # so many times the delay before it, and so much more, is a rise; answers vary by less


class LanePhase(IntEnum):
    """What an origin crawler did; of several in one cell the greatest is told."""

    not_known = 0  # before its first request, or not read
    at_rest = 1  # there was no run
    in_turn = 2  # its delay was over, it waited for its turn
    in_delay = 3  # its delay was not over
    over = 4  # it had finished
    asking = 5  # a request was under way
    held = 6  # by an operator: it was paused


class LaneEvent(StrEnum):
    """What a mark on a timeline says."""

    slower = "slower"  # the delay rose from `before` to `after` ms; `reason` is a `DelayReason`
    impatient = "impatient"  # patience fell from `before` to `after`; `reason` is the name of an exit code, if known
    takeover = "takeover"  # another worker went on with it
    next_run = "next_run"  # another run, which has the number `after`, went on with it
    pause_begun = "pause_begun"
    pause_over = "pause_over"
    origin_over = "origin_over"  # it finished; `reason` is a `FinishReason`
    broken_promise = "broken_promise"  # a gap of `after` ms where `before` were promised


@dataclass(frozen=True, slots=True)
class LaneMark:
    """Something that happened to an origin at a moment; what `before`, `after` and `reason` are, its event says."""

    at: int
    event: LaneEvent
    before: int = 0
    after: int = 0
    reason: str = ""


@dataclass(slots=True)
class LaneCell:
    """What a cell has: the requests sent in it, and the worst way in which the attempt of one ended; of the gaps before
    them the one that kept its promise least, with that promise; the greatest delay that was in force (None: none was)
    and what decided it; the least patience (None: before the first attempt)."""

    requests: int = 0
    ended: Group | None = None
    kept_ms: int | None = None
    promised_ms: int | None = None
    broken: bool = False
    delay_ms: int | None = None
    delay_reason: str = ""
    patience: int | None = None
    phase: LanePhase = LanePhase.not_known

    def keeps(self, gap: Gap) -> None:
        """Takes the gap before a request of this cell, if it is the one that says most."""
        if gap.kept_ms is None or gap.request.fluke_retry:
            return
        held = self.kept_ms
        least = None if held is None else held - (self.promised_ms or 0)
        if least is None or gap.kept_ms - (gap.promised_ms or 0) < least:
            self.kept_ms, self.promised_ms = gap.kept_ms, gap.promised_ms


@dataclass(frozen=True, slots=True)
class LaneEvents:
    """What befell an origin beside its requests, in order of time: pauses (until when; 0: they last), and ends, after
    which nothing is asked for until the next request: it has finished for a reason, or (empty) the run is over."""

    pauses: tuple[tuple[int, int], ...] = ()
    ends: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """A lane: an origin over a span. `audit` is of the requests sent in it. `marks` are the first `MARKS` in order of
    time, `marks_left_out` those beside. What was before `read_since` was not read: there was too much of it."""

    origin: str
    span: TimeSpan
    cells: tuple[LaneCell, ...]
    audit: OriginAudit
    marks: tuple[LaneMark, ...] = ()
    marks_left_out: int = 0
    read_since: int = 0

    @property
    def longest_ms(self) -> int:
        """The greatest delay that was in force."""
        return max((cell.delay_ms or 0 for cell in self.cells), default=0)

    @property
    def kept(self) -> int:
        """How many of the requests came as late as promised, or later."""
        return self.audit.requests - self.audit.violations - self.audit.overlaps

    def document(self) -> Mapping[str, object]:
        """The timeline for programs: a list of one value for each cell by each name."""
        cells = self.cells
        names = ("requests", "kept_ms", "promised_ms", "delay_ms", "delay_reason", "patience")
        columns: dict[str, object] = {name: [getattr(cell, name) for cell in cells] for name in names}
        columns["state"] = [cell.phase.name for cell in cells]
        marks = [{name: getattr(mark, name) for name in LaneMark.__slots__} for mark in self.marks]
        return {"since": self.span.since, "until": self.span.until, **columns, "marks": marks}


_TELLING = (Group.server, Group.network, Group.local, Group.client, Group.blocked, Group.dropped, Group.redirect)


class Lane:
    """A timeline while it is made: its gaps come in the order in which requests were sent, those of one origin only.
    What lies outside of the span is remembered for what follows it, and drawn no more than that."""

    def __init__(self, origin: str, span: TimeSpan, events: LaneEvents) -> None:
        self._span = span
        self._events = events
        self._cells = tuple(LaneCell() for _ in range(span.cells))
        self._audit = OriginAudit(origin)
        self._marks: list[LaneMark] = []
        self._left_out = 0
        self._last: SentRequest | None = None  # the one that ended last
        self._own: SentRequest | None = None  # the last one of an attempt of the origin itself
        self._patience_since = span.since

    def add(self, gap: Gap) -> None:
        """Takes the next request with the gap before it."""
        request, own = gap.request, gap.request.attempt_origin == gap.request.origin
        if gap.earlier is not None:
            self._between(gap.earlier, request.sent_at, gap.promised_ms)
        for cell in self._reached(request.sent_at, max(request.ended_at, request.sent_at + 1)):
            cell.phase = max(cell.phase, LanePhase.asking)
        if self._span.since <= request.sent_at < self._span.until:
            self._ask(gap)
        if own:
            self._follow(request)
        if self._last is None or request.ended_at >= self._last.ended_at:
            self._last = request

    def timeline(self, now: int, read_since: int = 0) -> Timeline:
        """The timeline as it is at a moment; nothing is drawn after it."""
        until, last = min(now, self._span.until), self._last
        if last is not None:
            own = last.attempt_origin == last.origin
            self._between(last, until, last.delay_ms_after if own else None)
        if self._own is not None:
            self._keep_patience(self._own.patience_after, until)
        for began, ended in self._events.pauses:
            self._mark(LaneMark(began, LaneEvent.pause_begun))
            if ended:
                self._mark(LaneMark(ended, LaneEvent.pause_over))
            for cell in self._reached(began, min(until, ended or until)):
                cell.phase = LanePhase.held
        marks = sorted(self._marks, key=lambda mark: mark.at)
        audit, left_out = self._audit, self._left_out
        return Timeline(audit.origin, self._span, self._cells, audit, tuple(marks), left_out, read_since)

    def _ask(self, gap: Gap) -> None:
        request, cell = gap.request, self._cells[self._span.cell(gap.request.sent_at)]
        self._audit.add(gap)
        cell.requests += 1
        known = code_of(request.exit_code)
        other = Group.ok if known is None else DISPOSITIONS[known].group
        cell.ended = next((group for group in _TELLING if group in {cell.ended, other}), other)
        cell.keeps(gap)
        if gap.fault is not None:
            cell.broken = True
            self._mark(LaneMark(request.sent_at, LaneEvent.broken_promise, gap.promised_ms or 0, gap.kept_ms or 0))

    def _between(self, earlier: SentRequest, until: int, promised: int | None) -> None:
        """What there was from the end of a request to the next one, or to the end."""
        since = earlier.ended_at
        ends = [one for one in self._events.ends if since <= one[0] < until]
        waited = min(until, since + (promised or 0))
        rested = min([at for at, _ in ends] or [until])
        for cell in self._reached(waited, rested):
            cell.phase = max(cell.phase, LanePhase.in_turn)
        for cell in self._reached(since, waited):
            cell.phase = max(cell.phase, LanePhase.in_delay)
        for at, reason in ends:
            phase = LanePhase.over if reason else LanePhase.at_rest
            for cell in self._reached(at, until):
                cell.phase = max(cell.phase, phase)
            if reason:
                self._mark(LaneMark(at, LaneEvent.origin_over, reason=reason))
        if promised is None:
            return
        for cell in self._reached(since, max(waited, rested)):
            if cell.delay_ms is None or promised > cell.delay_ms:
                cell.delay_ms, cell.delay_reason = promised, earlier.delay_reason

    def _follow(self, request: SentRequest) -> None:
        """What an attempt of the origin itself changed: who holds it, its delay, its patience."""
        before, self._own = self._own, request
        if before is None or before.attempt_id == request.attempt_id:
            return
        if request.run_id != before.run_id:
            self._mark(LaneMark(request.sent_at, LaneEvent.next_run, before.run_id, request.run_id))
        elif request.session_id != before.session_id:
            self._mark(LaneMark(request.sent_at, LaneEvent.takeover))
        at, old, new = request.ended_at, before.delay_ms_after, request.delay_ms_after
        if new >= max(_ROSE * old, old + _ROSE_MS):
            self._mark(LaneMark(at, LaneEvent.slower, old, new, request.delay_reason))
        self._keep_patience(before.patience_after, at)
        if request.patience_after < before.patience_after and request.run_id == before.run_id:
            why = code.name if (code := code_of(request.exit_code)) is not None else ""
            self._mark(LaneMark(at, LaneEvent.impatient, before.patience_after, request.patience_after, why))

    def _keep_patience(self, patience: int, until: int) -> None:
        for cell in self._reached(self._patience_since, until):
            cell.patience = patience if cell.patience is None else min(patience, cell.patience)
        self._patience_since = max(until, self._patience_since)

    def _reached(self, since: int, until: int) -> Sequence[LaneCell]:
        """The cells that a stretch of time (its end is not part of it) has a share in."""
        first, last = self._span.cell(since), self._span.cell(until - 1)
        return self._cells[max(0, first) : max(0, last + 1)] if since < until else ()

    def _mark(self, mark: LaneMark) -> None:
        if self._span.since <= mark.at < self._span.until:
            if len(self._marks) < MARKS:
                self._marks.append(mark)
            else:
                self._left_out += 1


def lane_events(
    origin: str, actions: Iterable[ActionView], activity: Iterable[ActivityView], runs: Iterable[RunView]
) -> LaneEvents:
    """What befell an origin: pauses out of the operator journal, ends out of the activity log and of the runs."""
    pauses: list[tuple[int, int]] = []
    for action in sorted(actions, key=lambda action: action.action_id):
        command = None
        with suppress(BadCommand):
            command = from_json(action.action, action.command) if action.applied and not action.error else None
        if not isinstance(command, PauseOrigins | ResumeOrigins) or (command.origins and origin not in command.origins):
            continue
        lasts = bool(pauses) and not pauses[-1][1]
        if isinstance(command, PauseOrigins) and not lasts:
            pauses.append((action.applied_at, 0))
        elif isinstance(command, ResumeOrigins) and lasts:
            pauses[-1] = pauses[-1][0], action.applied_at
    ended = [(one.at, one.message) for one in activity if one.event == "origin_finished" and one.origin == origin]
    stopped = (run.finished_at or (0 if run.live else run.heartbeat_at) for run in runs)
    over = [(at, "") for at in stopped if at]
    return LaneEvents(tuple(pauses), tuple(sorted((*ended, *over))))
