"""The log of an origin folded again: what the same pure functions make of it has to be what is stored.

An attempt in the log is an outcome; `domain/crawl/turn.py` folds it into the state that the log gives for the attempt
before it. What the log says of the state after each attempt, and what the origin's row holds in the end, is compared.
docs/replay.md names the fields, and what the log does not tell.

The journal dates a command when it was asked for and when its result was written: it took effect in between. An attempt
that ended meanwhile is folded with and without it, and the one that gives what was recorded holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tui_crawler.domain.crawl.delay import Pace
from tui_crawler.domain.crawl.origin import Check, CrawlSettings, OriginState, RobotsHop, Takeover, record_of, restore
from tui_crawler.domain.crawl.turn import (
    CrawlAnswer,
    OriginCommand,
    RobotsAnswer,
    after_check,
    after_crawl,
    after_robots,
    finish,
    obey,
)
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.record import dataclass, field, fields, replace
from tui_crawler.domain.records.attempt import OriginRecord, RobotsRecord
from tui_crawler.domain.records.command import (
    PauseOrigins,
    RefetchRobots,
    ResumeOrigins,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.records.exit_code import AttemptKind, ExitCode, is_problem
from tui_crawler.domain.records.page import tally
from tui_crawler.domain.records.status import DelayReason, PageStatus, RobotsStatus
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.rules.robots import RobotsRules
from tui_crawler.domain.url import CrawlUrl, normalise

if TYPE_CHECKING:
    from tui_crawler.domain.crawl.origin import SettingsByOrigin
    from tui_crawler.domain.records.attempt import Headers

_SUMS = ("requests", "bytes", "attempts", "done", "failed", "blocked")
_Unlike = tuple[str, object, object]
"""A field of an attempt as recorded and as folded."""
_FOREVER = 2**62
LISTED = 20
"""How many differences of each origin are kept; all are counted."""

_URL = normalise("http://origin.invalid/")
assert isinstance(_URL, CrawlUrl)  # noqa: S101  a URL of this module
_CHECK, _HOP = Check(0, _URL), RobotsHop(_URL, 0, 0, ())
_MOST_HOPS = 5
_STOLEN = (ExitCode.file_ingested, ExitCode.request_timeout, ExitCode.rate_limited, ExitCode.cancelled)
"""Of a page that another worker had taken the log keeps no other exit code: one of each kind that the delay and
patience tell apart."""
_BY_FILLS = frozenset({"", FinishReason.exhausted.value, FinishReason.excluded.value})
"""How an origin may stand of which fills and the exclusion list decide: attempts say nothing of it."""
_APART = frozenset({"origin", "robots", "in_flight_url", "asleep_until", "finish_reason"})
_STATE = {one.name: one.name for one in fields(OriginRecord) if one.name not in _APART}
_ROBOTS = {name: f"robots_{name}" for name in ("status", "http_status", "fetched_at", "expires_at")} | {
    "crawl_delay_ms": "crawl_delay_ms"
}
_NO_ROBOTS = RobotsRecord(RobotsStatus.none.value, None, 0, 0, b"", None)
_OF_WAIT = frozenset({"delay_reason", "next_request_at"})
_OF_REQUEST = frozenset({*_OF_WAIT, "delay_ms", "last_request_at", "last_response_ms", "response_window", "politeness"})
_BY_COMMAND: Mapping[type[OriginCommand], frozenset[str]] = {
    PauseOrigins: frozenset({"paused"}),
    ResumeOrigins: frozenset({"paused", "finish_reason"}),
    StopOrigins: frozenset({"finish_reason"}),
    TopUpPatience: frozenset({"patience", "finish_reason"}),
    SetDelay: frozenset({"operator_delay_ms", "delay_ms"}) | _OF_WAIT,
    RefetchRobots: frozenset({"robots_expires_at", "finish_reason"}),
}
"""What a command changes that may have been carried out, or not."""


@dataclass(frozen=True, slots=True)
class LoggedHop:
    """A request of robots.txt that led on (epoch ms)."""

    http_status: int
    sent_at: int
    ended_at: int


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """An attempt as the log has it. `made`: its last exchange was made; `hops` are those of robots.txt before it.
    `page_left`: status, tries left, last exit code and `external` of its page, where this was the last attempt for
    it."""

    attempt_id: int
    run_id: int
    session_id: int
    page_id: int | None
    url: str
    kind: AttemptKind
    exit_code: ExitCode
    http_status: int | None
    ended_at: int
    response_ms: int | None
    bytes: int
    requests: int
    patience_after: int
    politeness_after: int
    delay_ms_after: int
    delay_reason: str
    made: bool = False
    page_left: tuple[int, int, ExitCode | None, int] | None = None
    hops: tuple[LoggedHop, ...] = ()
    headers: Headers = ()  # of the last answer, where they decide the delay
    retry_after_ms: int | None = None
    crawl_delay_ms: int | None = None
    in_vain: bool = False


@dataclass(frozen=True, slots=True)
class LoggedCommand:
    """What an operator asked of an origin: it took effect between `at` and `until`. `until` None: the journal does not
    say that it did."""

    at: int
    until: int | None
    command: OriginCommand


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """That an origin joined a run, or else that the database failed it."""

    at: int
    run_id: int
    joined: bool


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """A process that crawled, or (`rest`) carried out what waited, and what it went by."""

    session_id: int
    run_id: int
    started_at: int
    ended_at: int
    rest: bool
    settings: SettingsByOrigin


@dataclass(frozen=True, slots=True)
class StoredState:
    """What the row of an origin says. `held_by`: the session that held it last; `counters` are sums over all runs, and
    its last attempt; `exits` the exit codes of the newest run."""

    record: OriginRecord
    external: bool
    participates: bool
    held_by: int | None
    counters: Mapping[str, object]
    exits: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not what the log makes of it, after an attempt (0: in the row of the origin)."""

    origin: str
    field: str
    stored: object
    folded: object
    attempt_id: int = 0


@dataclass(slots=True)
class Findings:
    """What was compared: attempts, differences (the first of each origin, and how many), and the fields of rows that
    the log does not prove, by name."""

    attempts: int = 0
    requests: int = 0
    found: int = 0
    differences: list[Difference] = field(default_factory=list)
    unproven: Counter[str] = field(default_factory=Counter)

    def add(self, other: Findings) -> None:
        """Takes those of one more origin."""
        self.attempts += other.attempts
        self.requests += other.requests
        self.found += other.found
        self.differences += other.differences
        self.unproven += other.unproven


class OriginReplay:
    """The fold of one origin: `take` its attempts in their order, then `compare` with its row. Holds no attempt."""

    def __init__(
        self,
        origin: str,
        external: bool,
        run_id: int,
        sessions: Sequence[LoggedSession],
        commands: Sequence[LoggedCommand],
        changes: Sequence[LoggedChange],
        touched: Sequence[int],
    ) -> None:
        """`run_id`: the run that is looked at, to which the findings belong. `touched`: when hops of other origins'
        robots.txt were requests to this one (epoch ms). All in the order of time."""
        self.state = OriginState(origin, 0, Pace(), external=external)
        self.findings = Findings()
        self._looked_at = run_id
        self._sessions = {one.session_id: one for one in sessions}
        self._commands = list(commands)
        self._changes = list(changes)
        self._touched = list(touched)
        self._unsure: set[str] = set()  # fields that were changed by what the log does not tell whole
        self._samples = 0  # since a hop whose time is not on record
        self._run_id = self._session_id = self._ended_at = 0
        self._last: LoggedAttempt | None = None
        self._sums = Counter(dict.fromkeys(_SUMS, 0))
        self._exits: Counter[str] = Counter()

    def take(self, logged: LoggedAttempt) -> None:
        session = self._sessions[logged.session_id]
        settings = session.settings.of(self.state.origin)
        self._advance(logged.ended_at, logged.run_id)
        if session.session_id != self._session_id:  # hops of a robots.txt that was due may have been lost
            self._unsure |= _OF_REQUEST if self.state.robots.expires_at <= session.started_at else _OF_WAIT
        after, differs = self._explained(logged, settings)
        for name, recorded, folded in differs:
            self._tell(name, recorded, folded, logged)
        led_on = bool(logged.hops) and not logged.made  # the wait after the last hop goes by a time not on record
        self.state = _as_recorded(after, logged) if differs or led_on else after
        self._session_id, self._ended_at = logged.session_id, logged.ended_at
        if logged.made:
            self._samples = 0 if logged.hops else self._samples + 1
            known = "response_window" not in self._unsure or self._samples >= len(after.pace.window)
            self._unsure -= _OF_REQUEST
            self._unsure |= set() if known and not logged.hops else {"response_window"}
        elif led_on:
            self._samples = 0
            self._unsure |= {"response_window", "next_request_at", "last_request_at", "last_response_ms"}
        self._count(logged)

    def compare(self, stored: StoredState, newest_run: int, at_limit: bool) -> None:
        """Compares what all attempts have come to with the row of the origin; `at_limit`: the newest run has ended at
        its number of requests. A row that takes no part in it is compared in its counters alone."""
        counted: dict[str, object] = dict(self._sums)
        if (last := self._last) is not None:
            counted |= {"last_url": last.url, "last_exit_code": last.exit_code.name}
            counted |= {"last_http_status": last.http_status, "last_attempt_at": last.ended_at}
        self._compare(counted, stored.counters)
        if not stored.participates:
            return
        self._advance(_FOREVER, newest_run)
        exits = {name: self._exits[name] for name in sorted({*self._exits, *stored.exits})}
        self._compare(exits, {name: stored.exits.get(name, 0) for name in exits})
        self._note_unsure(stored)
        now, row = record_of(self.state), stored.record
        self._compare(_values(_STATE, now), _values(_STATE, row))
        self._compare(_values(_ROBOTS, now.robots), _values(_ROBOTS, row.robots or _NO_ROBOTS))
        may_end = _BY_FILLS | ({FinishReason.max_requests.value} if at_limit else set())
        ended = self.state.finished
        as_folded = row.finish_reason == ended.value if ended is not None else row.finish_reason in may_end
        if not as_folded and row.finish_reason != FinishReason.excluded.value:
            self._compare({"finish_reason": now.finish_reason}, {"finish_reason": row.finish_reason})

    def _advance(self, at: int, run_id: int) -> None:
        """Folds what has happened beside the attempts until `at` (epoch ms), in an attempt of the run `run_id`."""
        while self._changes and self._changes[0].at <= at:
            change = self._changes.pop(0)
            if change.joined:
                self._begin(change.at, change.run_id)
            else:
                self.state = finish(replace(self.state, patience=0), FinishReason.database_error)
        if run_id != self._run_id:
            self._begin(0, run_id)
        while self._touched and self._touched[0] <= at:
            if self._touched.pop(0) >= self._ended_at:
                self._unsure |= {*_OF_WAIT, "delay_ms", "last_request_at"}
        self._obey_before(at)

    def _obey_before(self, at: int) -> None:
        while self._commands and self._commands[0].until is not None and self._commands[0].until < at:
            self.state = self._obeyed(self.state, self._commands.pop(0))

    def _begin(self, at: int, run_id: int) -> None:
        """The origin takes part in a run from now on: it starts afresh (docs/behaviour.md)."""
        mine = [one for one in self._sessions.values() if one.run_id == run_id and not one.rest]
        if not mine:
            return
        session = next((one for one in reversed(mine) if one.started_at <= at), mine[0])
        began = max(session.started_at, at)
        self._obey_before(began + 1)
        settings = session.settings.of(self.state.origin)
        politeness = settings.delay.start_politeness
        pace = replace(self.state.pace, politeness=politeness, may_fall=True, rate_limits=0, window=())
        afresh = record_of(replace(self.state, patience=settings.patience, pace=pace, finished=None))
        rules, new = self.state.robots.rules, Takeover(continued=False, unclean=False)
        self.state = restore(afresh, (), rules, settings, new, Moment(began, began), self.state.external)
        self._unsure |= _OF_WAIT
        if self._run_id != run_id:
            self._exits.clear()
        self._run_id = run_id

    def _obeyed(self, state: OriginState, logged: LoggedCommand) -> OriginState:
        """A state after a command; the wait that was under way depends on the moment of it, which nobody has noted."""
        mine = [one for one in self._sessions.values() if one.started_at <= logged.at] or [*self._sessions.values()]
        at = logged.until or logged.at
        if isinstance(logged.command, SetDelay):
            self._unsure |= _OF_WAIT
        return obey(state, logged.command, Moment(at, at), mine[-1].settings.of(state.origin))

    def _explained(self, logged: LoggedAttempt, settings: CrawlSettings) -> tuple[OriginState, list[_Unlike]]:
        """The state after an attempt, and in what it is not the one on record: the first of all that may have been
        before it which explains the record, else the first."""
        first: tuple[OriginState, list[_Unlike]] | None = None
        stolen = logged.exit_code is ExitCode.someone_stole_my_work and logged.kind is not AttemptKind.robots
        for obeyed, before in self._befores(logged, settings):
            for code in _STOLEN if stolen else (logged.exit_code,):
                after = _folded(before, logged, code, settings)
                differs = self._unlike(after, logged, settings)
                first = first or (after, differs)
                due = logged.kind is not AttemptKind.robots or before.robots.expires_at <= logged.ended_at
                if due and not differs:
                    del self._commands[:obeyed]
                    return after, differs
        assert first is not None  # noqa: S101  there is one before at least
        return first

    def _befores(self, logged: LoggedAttempt, settings: CrawlSettings) -> Iterator[tuple[int, OriginState]]:
        """The states that an attempt may have found, with how many of the commands under way: none carried out, one
        more each, or hops of a robots.txt made whose attempt was broken off with its process."""
        state = self.state
        yield 0, state
        for number, command in enumerate(self._commands, 1):
            if command.at > logged.ended_at:
                break
            state = self._obeyed(state, command)
            yield number, state
        if logged.kind is AttemptKind.robots and logged.session_id != self._session_id:
            state, at = self.state, self.state.last_request_at
            for _ in range(_MOST_HOPS):
                state = _after_hop(state, LoggedHop(301, at, at), settings)
                yield 0, state

    def _unlike(self, after: OriginState, logged: LoggedAttempt, settings: CrawlSettings) -> list[_Unlike]:
        """What the record of an attempt says otherwise than a state."""
        unsure = frozenset[str]() if logged.made else self._unsure
        by_hops = logged.hops and not logged.made
        if by_hops or ("response_window" in self._unsure and settings.delay.model == "running_average"):
            unsure |= {"delay_ms", "delay_reason"}
        said = (
            ("patience_after", logged.patience_after, after.patience, "patience"),
            ("politeness_after", logged.politeness_after, after.pace.politeness, "politeness"),
            ("delay_ms_after", logged.delay_ms_after, after.delay_ms, "delay_ms"),
            ("delay_reason", logged.delay_reason, after.delay_reason.value, "delay_reason"),
        )
        return [(name, one, other) for name, one, other, known in said if one != other and known not in unsure]

    def _note_unsure(self, stored: StoredState) -> None:
        """What of a row has been changed since the last attempt by what the log does not tell."""
        for command in self._commands:
            self._unsure |= _BY_COMMAND[type(command.command)]
        later = any(one.started_at >= self._ended_at for one in self._sessions.values())
        if later or stored.held_by != self._session_id:
            self._unsure |= _OF_WAIT
        if self.state.robots.expires_at <= stored.record.last_request_at > self.state.last_request_at:
            self._unsure |= _OF_REQUEST  # hops of a robots.txt, of which nothing came

    def _count(self, logged: LoggedAttempt) -> None:
        self.findings.attempts += logged.run_id == self._looked_at
        self.findings.requests += logged.run_id == self._looked_at and logged.requests > 0
        self._sums.update(requests=logged.requests, bytes=logged.bytes, attempts=1)
        self._exits[logged.exit_code.name] += 1
        if logged.page_left is not None:
            status, remaining, code, external = logged.page_left
            one = tally(PageStatus(status), remaining, code, external)
            self._sums.update(done=one.done, failed=one.failed, blocked=one.blocked)
        stands = logged.kind is not AttemptKind.robots or is_problem(logged.exit_code, logged.kind.value)
        if stands or self._last is None or self._last.url == logged.url:
            self._last = logged

    def _compare(self, folded: Mapping[str, object], stored: Mapping[str, object]) -> None:
        for name, value in folded.items():
            if name in self._unsure:
                self.findings.unproven[name] += 1
            elif value != stored[name]:
                self._tell(name, stored[name], value)

    def _tell(self, name: str, stored: object, folded: object, logged: LoggedAttempt | None = None) -> None:
        if logged is not None and logged.run_id != self._looked_at:
            return
        self.findings.found += 1
        if len(self.findings.differences) < LISTED:
            attempt_id = logged.attempt_id if logged else 0
            self.findings.differences.append(Difference(self.state.origin, name, stored, folded, attempt_id))


def _values(names: Mapping[str, str], record: object) -> dict[str, object]:
    return {shown: getattr(record, name) for name, shown in names.items()}


def _folded(state: OriginState, logged: LoggedAttempt, code: ExitCode, settings: CrawlSettings) -> OriginState:
    """The state after an attempt, as the engine's turn has folded it."""
    now, status = Moment(logged.ended_at, logged.ended_at), logged.http_status
    taken = logged.response_ms if logged.made else None
    untrusted = "as recorded" if code is ExitCode.connection_failed and not logged.patience_after else ""
    if logged.kind is AttemptKind.robots:
        for hop in logged.hops:
            state = _after_hop(state, hop, settings)
        rules = RobotsRules("", logged.crawl_delay_ms, (), ()) if code is ExitCode.file_ingested else None
        found = RobotsAnswer(code, status, taken, rules, retry_after_ms=logged.retry_after_ms, untrusted=untrusted)
        return after_robots(state, found, now, settings)
    is_check = logged.kind is AttemptKind.check
    in_vain, page_id, asked = logged.in_vain, logged.page_id or 0, logged.retry_after_ms
    answer = CrawlAnswer(page_id, code, status, taken, asked, is_check, in_vain, untrusted=untrusted)
    if logged.page_id is None:
        return after_check(state, _CHECK, answer, now, settings)
    if code is ExitCode.local_processing_error and not logged.requests and not logged.patience_after:
        return finish(replace(state, patience=0), FinishReason.patience)  # the turn raised
    return after_crawl(state, answer, now, settings)


def _after_hop(state: OriginState, hop: LoggedHop, settings: CrawlSettings) -> OriginState:
    """The state after a redirect of robots.txt that was followed. How long its answer took stands nowhere to the ms."""
    taken, now = max(0, hop.ended_at - hop.sent_at), Moment(hop.ended_at, hop.ended_at)
    answer = RobotsAnswer(ExitCode.redirect, hop.http_status, taken, hop=_HOP)
    return replace(after_robots(state, answer, now, settings), hop=None)


def _as_recorded(state: OriginState, logged: LoggedAttempt) -> OriginState:
    """A state with what the record says of it, so that one difference is told once."""
    return replace(
        state,
        patience=logged.patience_after,
        pace=replace(state.pace, politeness=logged.politeness_after),
        delay_ms=logged.delay_ms_after,
        delay_reason=DelayReason(logged.delay_reason),
        next_request_at=logged.ended_at + logged.delay_ms_after if logged.made else state.next_request_at,
    )
