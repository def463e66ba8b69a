"""An origin crawler: the durable state of the crawl loop of one origin (docs/behaviour.md), and its settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tui_crawler.domain.crawl.delay import DelaySettings, Pace, minimum
from tui_crawler.domain.moment import HELD, Moment
from tui_crawler.domain.record import asdict, dataclass, field, fields, replace
from tui_crawler.domain.records.attempt import OriginRecord, RequestRecord, RobotsRecord
from tui_crawler.domain.records.status import DelayReason, RobotsStatus
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.url import InvalidUrl, is_loopback, normalise

if TYPE_CHECKING:
    from tui_crawler.domain.records.exit_code import ExitCode
    from tui_crawler.domain.records.page import TodoPage
    from tui_crawler.domain.rules.robots import RobotsRules
    from tui_crawler.domain.url import CrawlUrl


DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """The settings of the turn machine for one origin."""

    delay: DelaySettings = field(default_factory=DelaySettings)
    patience: int = 5
    tries: int = 3
    patience_reset_on_success: bool = False
    robots_expiry_ms: int = 1_800_000
    robots_retry_ms: int = 300_000
    robots_kept_ms: int = DAY_MS
    robots_max_hops: int = 5
    obey_robots: bool = True
    obey_nofollow: bool = True


@dataclass(frozen=True, slots=True)
class RobotsState:
    """robots.txt of an origin. Times are epoch ms. `rules` None: nothing is known that could be obeyed."""

    status: RobotsStatus = RobotsStatus.none
    http_status: int | None = None
    fetched_at: int = 0
    expires_at: int = 0
    rules: RobotsRules | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class RobotsHop:
    """A redirect of robots.txt that is followed in a turn of its own, after the delay.

    `requests` are those made so far: all hops are requests of one attempt, which began at `started_at` (epoch ms).
    """

    url: CrawlUrl
    hops: int
    started_at: int
    requests: tuple[RequestRecord, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A URL that an operator wants probed (U: crawl type check), for the action `action_id`, by HEAD and then GET.

    Kept in the journal alone: after a kill the action is still waiting there.
    """

    action_id: int
    url: CrawlUrl
    method: str = "HEAD"


@dataclass(frozen=True, slots=True)
class OriginState:
    """The state between two turns. `release_ms` (monotonic) is what `next_request_at` (epoch ms) means today."""

    origin: str
    patience: int
    pace: Pace
    finished: FinishReason | None = None
    paused: bool = False
    delay_ms: int = 0
    delay_reason: DelayReason = DelayReason.none
    next_request_at: int = 0
    release_ms: int = 0
    asleep_until: int = 0
    last_request_at: int = 0
    last_response_ms: int = 0
    robots: RobotsState = field(default_factory=RobotsState)
    hop: RobotsHop | None = None
    todo: tuple[TodoPage, ...] = ()
    filled: bool = False  # whether this run has filled the todo list before
    checks: tuple[Check, ...] = ()
    external: bool = False  # it is not crawled: links that lead there are checked
    setback: ExitCode | None = None  # what cost patience the last time since the start
    untrusted: str = ""  # why its certificate could not be verified the last time
    head_errors: int = 0  # of how many URLs GET succeeded where HEAD had failed, in this run
    cut_short: frozenset[int] = frozenset()  # ids of pages whose body could not be read since the start

    @property
    def lost(self) -> bool:
        """Return whether it is external and out of patience: not asked any more, links to it count as broken."""
        return self.external and self.patience == 0


def record_of(state: OriginState, in_flight_url: str = "") -> OriginRecord:
    """The durable part of a state, as the store keeps it."""
    robots = state.robots
    kept = RobotsRecord(
        status=robots.status.value,
        http_status=robots.http_status,
        fetched_at=robots.fetched_at,
        expires_at=robots.expires_at,
        body=robots.body,
        crawl_delay_ms=state.pace.crawl_delay_ms,
    )
    return OriginRecord(
        origin=state.origin,
        finish_reason=state.finished.value if state.finished else "",
        paused=state.paused,
        patience=state.patience,
        politeness=state.pace.politeness,
        may_fall=state.pace.may_fall,
        rate_limits=state.pace.rate_limits,
        delay_ms=state.delay_ms,
        delay_reason=state.delay_reason.value,
        operator_delay_ms=state.pace.operator_ms,
        next_request_at=state.next_request_at,
        last_request_at=state.last_request_at,
        last_response_ms=state.last_response_ms,
        response_window=state.pace.window,
        asleep_until=state.asleep_until,
        robots=kept,
        in_flight_url=in_flight_url,
    )


def says_all(record: OriginRecord, state: OriginState) -> bool:
    """Return whether a record says what a state does, so that it need not be stored again."""
    now = record_of(state)
    known = replace(record, delay_reason=record.delay_reason or now.delay_reason, robots=record.robots or now.robots)
    return now == known and (record.robots is not None or state.robots == RobotsState())


@dataclass(frozen=True, slots=True)
class Takeover:
    """The return of an origin. `unclean`: its last owner did not end well, a request may have been in flight."""

    continued: bool
    unclean: bool


def restore(
    record: OriginRecord,
    todo: tuple[TodoPage, ...],
    rules: RobotsRules | None,
    settings: CrawlSettings,
    takeover: Takeover,
    now: Moment,
    external: bool = False,
) -> OriginState:
    """An origin crawler as the database has it, ready for its next turn.

    The wall clock may have jumped back: the wait is never longer than the delay that was promised
    (docs/reliability.md, Clocks). After an unclean end any origin may have had a request in flight, since the mark of
    it is never waited for: each waits one full delay first (K5), from when that answer should have ended.
    A new run that finds a longer wait than `retry_after_max` finishes the origin at once as rate_limited.
    """
    pace = _pace_of(record)
    after_kill = max(record.delay_ms, minimum(settings.delay, pace).ms, settings.delay.floor_ms)
    # an answer may be under way: the slowest of the last ones tells how long; without any, as long as the delay
    after_kill += max((record.last_response_ms, *record.response_window)) or after_kill
    wait = min(max(0, record.next_request_at - now.wall_ms), _promised_ms(record, after_kill))
    reason = DelayReason(record.delay_reason) if record.delay_reason else DelayReason.none
    long_wait = reason is DelayReason.retry_after and wait > settings.delay.retry_after_max_ms
    if takeover.unclean and after_kill > wait:
        wait, reason = after_kill, DelayReason.restart
    finished = FinishReason(record.finish_reason) if record.finish_reason and takeover.continued else None
    if long_wait and not takeover.continued:
        finished = FinishReason.rate_limited
    kept = record.robots
    robots = RobotsState()
    if kept is not None and kept.status:
        robots = RobotsState(
            RobotsStatus(kept.status), kept.http_status, kept.fetched_at, kept.expires_at, rules, kept.body
        )
    return OriginState(
        origin=record.origin,
        patience=record.patience,
        pace=pace,
        finished=finished,
        paused=record.paused,
        delay_ms=record.delay_ms,
        delay_reason=reason,
        next_request_at=now.wall_ms + wait if wait else record.next_request_at,
        release_ms=now.mono_ms + wait,
        asleep_until=record.asleep_until if takeover.continued and record.asleep_until != HELD else 0,
        last_request_at=record.last_request_at,
        last_response_ms=record.last_response_ms,
        robots=robots,
        todo=todo,
        filled=takeover.continued,
        external=external,
    )


def _promised_ms(record: OriginRecord, after_kill_ms: int) -> int:
    """Return how long the origin was promised to be left alone: its delay. After a kill the answer that was under way,
    too; when the operator has lowered the delay since, what stands between its last request and the next one."""
    if record.delay_reason == DelayReason.restart.value:
        return after_kill_ms
    if record.delay_reason == DelayReason.lowered.value:
        return max(record.delay_ms, record.next_request_at - record.last_request_at)
    return record.delay_ms


def _pace_of(record: OriginRecord) -> Pace:
    return Pace(
        politeness=record.politeness,
        may_fall=record.may_fall,
        rate_limits=record.rate_limits,
        crawl_delay_ms=record.robots.crawl_delay_ms if record.robots else None,
        operator_ms=record.operator_delay_ms,
        window=record.response_window,
    )


POLITE_FLOOR_MS = 1_000


@dataclass(frozen=True, slots=True)
class SettingsByOrigin:
    """`common` holds for all; `delays` are pairs of an origin, a host and port, or a host, and its own default delay
    (ms). `polite_floor`: a floor below one second applies only to origins in `own` and, with `loopback`, to loopback
    origins. Origins that are not in `own` obey robots.txt and nofollow whatever `common` says."""

    common: CrawlSettings = field(default_factory=CrawlSettings)
    delays: tuple[tuple[str, int], ...] = ()
    polite_floor: bool = False
    own: tuple[str, ...] = ()
    loopback: bool = True

    def of(self, origin: str) -> CrawlSettings:
        obeys = self.common.obey_robots and self.common.obey_nofollow
        url = normalise(origin) if self.delays or self.polite_floor or not obeys else None
        if url is None or isinstance(url, InvalidUrl):
            return self.common
        given, delay, common = dict(self.delays), self.common.delay, self.common
        names = (url.origin, f"{url.host}:{url.port}", url.host)
        delay = replace(delay, default_ms=next((given[name] for name in names if name in given), delay.default_ms))
        if self.polite_floor and url.origin not in self.own and not (self.loopback and is_loopback(url.host)):
            delay = replace(delay, floor_ms=POLITE_FLOOR_MS)
        if url.origin not in self.own:
            common = replace(common, obey_robots=True, obey_nofollow=True)
        return replace(common, delay=delay)

    def to_json(self) -> str:
        """As a session keeps it."""
        return json.dumps(asdict(self))


def from_json(text: str) -> SettingsByOrigin:
    """Read what a session has kept; what an older one did not keep is the default. Raises ValueError, TypeError."""
    raw = json.loads(text)
    common = _known(CrawlSettings, raw["common"])
    settings = CrawlSettings(**common | {"delay": DelaySettings(**_known(DelaySettings, common["delay"]))})
    delays, own = tuple((name, ms) for name, ms in raw["delays"]), tuple(raw.get("own", ()))
    return SettingsByOrigin(settings, delays, raw["polite_floor"], own, raw.get("loopback", True))


def _known(record: Any, values: dict[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(record)}
    return {name: value for name, value in values.items() if name in names}
