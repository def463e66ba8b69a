"""Probes that operators asked for, until the last answer of each action is there (U: crawl type check)."""

import json
from dataclasses import dataclass, field, replace

from tui_crawler.domain.crawl.origin import Check
from tui_crawler.domain.records.attempt import Exchange
from tui_crawler.domain.records.command import ActionResult, ProbeUrls
from tui_crawler.domain.records.status_words import FinishReason
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise
from tui_crawler.engine.origin_table import OriginTable
from tui_crawler.engine.ports import Clock

MOST_URLS = 1_000  # of one action
LONGEST_WAIT_MS = 600_000  # an origin that may not be asked for longer is not probed


_Answer = dict[str, object]
"""The answer to a probe, as the journal keeps it."""


@dataclass(slots=True)
class Probes:
    """The open probes. An action is finished when all its URLs are answered, be it with a refusal."""

    _table: OriginTable
    _clock: Clock
    _asked: dict[int, dict[str, _Answer | None]] = field(default_factory=dict)  # by action and URL; None: it is open

    @property
    def open(self) -> bool:
        return bool(self._asked)

    def ask(self, action_id: int, command: ProbeUrls) -> tuple[str, ...]:
        """Put the probes into the states of their origins; return which origins. Raises ValueError."""
        if len(command.urls) > MOST_URLS:
            raise ValueError(f"at most {MOST_URLS} URLs at once")
        asked: dict[str, _Answer | None] = {}
        touched: dict[str, None] = {}
        for raw in command.urls:
            url = normalise(raw, None, self._table.job_filters.main.limits.max_url_length)
            if isinstance(url, InvalidUrl):
                asked.setdefault(url.raw, _answer(url.raw, "", None, None, f"invalid URL: {url.reason}"))
            elif reason := self._refusal(url):
                asked.setdefault(url.href, _answer(url.href, "", None, None, reason))
            elif url.href not in asked:
                asked[url.href] = None
                state = self._table.states[url.origin]
                self._table.update(replace(state, checks=(*state.checks, Check(action_id, url))))
                touched[url.origin] = None
        self._asked[action_id] = asked
        return tuple(touched)

    def take(self, check: Check, exchange: Exchange) -> None:
        if (asked := self._asked.get(check.action_id)) is None:
            return
        name, took = check.url.href, exchange.response_ms if exchange.requests else None
        asked[name] = _answer(name, exchange.exit_code.name, exchange.http_status, took, exchange.message)

    def give_up(self, origin: str, message: str) -> None:
        """What is open at an origin cannot be asked: its robots.txt could not be had."""
        state = self._table.states[origin]
        for check in state.checks:
            if (asked := self._asked.get(check.action_id)) is not None:
                asked[check.url.href] = _answer(check.url.href, "", None, None, message)
        self._table.update(replace(state, checks=()))

    def finished(self) -> list[ActionResult]:
        """The actions whose answers are all there; they are no longer kept."""
        done = [action_id for action_id, asked in self._asked.items() if None not in asked.values()]
        probed = [(action_id, list(self._asked.pop(action_id).values())) for action_id in done]
        return [ActionResult(action_id, "{}", json.dumps({"probed": answers})) for action_id, answers in probed]

    def _refusal(self, url: CrawlUrl) -> str:
        if (state := self._table.states.get(url.origin)) is None:
            return f"{url.origin} is not an origin of this crawl; add it first"
        if state.paused:
            return f"{url.origin} is paused"
        if (wait := state.release_ms - self._clock.now().mono_ms) > LONGEST_WAIT_MS:
            return f"{url.origin} may not be asked for another {wait // 60_000} min"
        return f"{url.origin} is on the exclusion list" if state.finished is FinishReason.excluded else ""


def _answer(url: str, code: str, http_status: int | None, response_ms: int | None, message: str) -> _Answer:
    return {"url": url, "exit_code": code, "http_status": http_status, "response_ms": response_ms, "message": message}
