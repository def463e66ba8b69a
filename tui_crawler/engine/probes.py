"""Probes that operators asked for, until the last answer of each action is there (U: crawl type check)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from tui_crawler.domain.command import ActionResult, ProbeUrls
from tui_crawler.domain.origin import Check
from tui_crawler.domain.status_words import FinishReason
from tui_crawler.domain.url import CrawlUrl, InvalidUrl, normalise
from tui_crawler.engine.origin_table import OriginTable
from tui_crawler.engine.ports import Clock
from tui_crawler.engine.turns import CheckResult

MOST_URLS = 1_000  # of one action
LONGEST_WAIT_MS = 600_000  # an origin that may not be asked for longer is not probed


@dataclass(slots=True)
class _ProbeState:
    """One action: the URLs as they were given, and the answers by URL."""

    order: list[str]
    open: set[str] = field(default_factory=set)
    answers: dict[str, dict[str, object]] = field(default_factory=dict)


@dataclass(slots=True)
class Probes:
    """The open probes. An action is finished when all its URLs are answered, be it with a refusal."""

    _table: OriginTable
    _clock: Clock
    _asked: dict[int, _ProbeState] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Return whether any probe waits for its answer."""
        return bool(self._asked)

    def ask(self, action_id: int, command: ProbeUrls) -> tuple[str, ...]:
        """Put the probes into the states of their origins; return which origins. Raises ValueError."""
        if len(command.urls) > MOST_URLS:
            raise ValueError(f"at most {MOST_URLS} URLs at once")
        asked = _ProbeState([])
        touched: dict[str, None] = {}
        for raw in command.urls:
            url = normalise(raw, None, self._table.job_filters.main.limits.max_url_length)
            reason = f"invalid URL: {url.reason}" if isinstance(url, InvalidUrl) else self._refusal(url)
            name = url.raw if isinstance(url, InvalidUrl) else url.href
            if name in asked.answers or name in asked.open:
                continue
            asked.order.append(name)
            if reason or isinstance(url, InvalidUrl):
                asked.answers[name] = _answer(name, "", None, None, reason)
                continue
            state = self._table.states[url.origin]
            self._table.update(replace(state, checks=(*state.checks, Check(action_id, url))))
            asked.open.add(name)
            touched[url.origin] = None
        self._asked[action_id] = asked
        return tuple(touched)

    def take(self, result: CheckResult) -> None:
        """One answer."""
        asked = self._asked.get(result.check.action_id)
        if asked is None:
            return
        name = result.check.url.href
        asked.open.discard(name)
        code = result.exit_code.name
        asked.answers[name] = _answer(name, code, result.http_status, result.response_ms, result.message)

    def give_up(self, origin: str, message: str) -> None:
        """What is open at an origin cannot be asked: its robots.txt could not be had."""
        state = self._table.states[origin]
        for check in state.checks:
            asked = self._asked.get(check.action_id)
            if asked is not None:
                asked.open.discard(check.url.href)
                asked.answers[check.url.href] = _answer(check.url.href, "", None, None, message)
        self._table.update(replace(state, checks=()))

    def finished(self) -> list[ActionResult]:
        """The actions whose answers are all there; they are no longer kept."""
        done = [action_id for action_id, asked in self._asked.items() if not asked.open]
        results = []
        for action_id in done:
            asked = self._asked.pop(action_id)
            answers = [asked.answers[name] for name in asked.order]
            results.append(ActionResult(action_id, json.dumps({}), json.dumps({"probed": answers})))
        return results

    def _refusal(self, url: CrawlUrl) -> str:
        state = self._table.states.get(url.origin)
        if state is None:
            return f"{url.origin} is not an origin of this crawl; add it first"
        if state.paused:
            return f"{url.origin} is paused"
        wait = state.release_ms - self._clock.now().mono_ms
        if wait > LONGEST_WAIT_MS:
            return f"{url.origin} may not be asked for another {wait // 60_000} min"
        if state.finished is FinishReason.excluded:
            return f"{url.origin} is on the exclusion list"
        return ""


def _answer(url: str, code: str, http_status: int | None, response_ms: int | None, message: str) -> dict[str, object]:
    return {"url": url, "exit_code": code, "http_status": http_status, "response_ms": response_ms, "message": message}
