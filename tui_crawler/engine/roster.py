"""The origins of a run as the engine holds them between turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tui_crawler.domain.admission import Admission
from tui_crawler.domain.attempt import LinkKind
from tui_crawler.domain.moment import Moment
from tui_crawler.domain.origin import CrawlSettings, FinishReason, OriginState, Takeover, restore
from tui_crawler.domain.outcome import Intake, Storing
from tui_crawler.domain.robots import ALLOW_ALL, RobotsRules, parse_robots, product_token
from tui_crawler.domain.run import RunPlan, StoredOrigin


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What the engine is told. `settings_of` gives the settings of one origin, `key_of` its politeness key.

    `key_of` takes an origin and the address its host resolves to (only asked for when `by_address` is set).
    """

    plan: RunPlan
    settings_of: Callable[[str], CrawlSettings]
    key_of: Callable[[str, str | None], str]
    by_address: bool = False
    link_kinds_queued: frozenset[LinkKind] = frozenset({LinkKind.a})
    store_bodies: frozenset[str] = frozenset({"html", "xml", "css", "rss"})
    robots_max_bytes: int = 512_000
    fill_limit: int = 500
    poll_ms: int = 200
    heartbeat_ms: int = 5_000


@dataclass(slots=True)
class Counts:
    """Pages of one origin by outcome, as this engine has seen them committed."""

    done: int = 0
    failed: int = 0


class Roster:
    """States by origin, the filters in force, and how many pages each origin has."""

    def __init__(self, settings: EngineSettings, admission: Admission) -> None:
        self.settings = settings
        self.admission = admission
        self.states: dict[str, OriginState] = {}
        self.keys: dict[str, str] = {}
        self.pages_known: dict[str, int] = {}
        self.storing = Storing(settings.store_bodies)
        self.token = product_token(settings.plan.user_agent)

    def enter(self, stored: StoredOrigin, takeover: Takeover, now: Moment) -> OriginState:
        """Takes an origin into the run as the database has it."""
        record = stored.record
        rules = self.rules_of(record.robots.status, record.robots.body) if record.robots else None
        state = restore(record, stored.todo, rules, self.settings.settings_of(record.origin), takeover, now)
        self.states[state.origin] = state
        self.pages_known[state.origin] = stored.pages_known
        return state

    def rules_of(self, status: str, body: bytes) -> RobotsRules | None:
        """The rules that a kept robots.txt stands for; None where there are none to obey."""
        if status == "parsed":
            return parse_robots(body, self.token, self.settings.robots_max_bytes)
        return ALLOW_ALL if status == "unavailable" else None

    def intake(self) -> Intake:
        """What decides over found links, as it stands now."""
        return Intake(self.admission, self.settings.link_kinds_queued, self.pages_known)

    def update(self, state: OriginState) -> OriginState:
        """Replaces the state of an origin."""
        self.states[state.origin] = state
        return state

    def named(self, origins: Iterable[str]) -> list[str]:
        """The origins of this run among those named; all of them when none is named."""
        wanted = list(origins)
        return [name for name in wanted if name in self.states] if wanted else list(self.states)

    def all_finished(self) -> bool:
        """Whether nothing is left to do. Paused origins are not finished."""
        return all(state.finished is not None for state in self.states.values())

    def all_stopped(self) -> bool:
        """Whether every origin was stopped by the operator."""
        return bool(self.states) and all(s.finished is FinishReason.operator for s in self.states.values())
