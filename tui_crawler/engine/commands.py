"""Carrying out what operators ask for: rows of the journal, folded into the states of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from tui_crawler.domain.admission import Found
from tui_crawler.domain.attempt import FillRecord
from tui_crawler.domain.command import (
    ActionResult,
    AddSeeds,
    Command,
    Exclude,
    PauseOrigins,
    PendingAction,
    ResumeOrigins,
    RetryPages,
    SetDelay,
    StopOrigins,
    TopUpPatience,
)
from tui_crawler.domain.origin import FinishReason, OriginState, Takeover, record_of
from tui_crawler.domain.page import NewPage, TodoPage
from tui_crawler.domain.pattern import BadPattern
from tui_crawler.domain.policy import Exclusion
from tui_crawler.domain.turn import finish, reopen, slow_down, top_up
from tui_crawler.domain.url import CLIENT_MAX_LENGTH, CrawlUrl, InvalidUrl, normalise
from tui_crawler.domain.verdict import Refused
from tui_crawler.engine.ports import Clock, Store
from tui_crawler.engine.roster import Roster

_FRONT = 1_000  # so many added seeds go to the front of the todo list; more wait for the next fill
_IDLE = frozenset({FinishReason.exhausted})


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of one action, and which origins it concerns."""

    result: ActionResult
    command: Command
    touched: tuple[str, ...] = ()


class CommandDesk:
    """Carries out actions on the roster and the store. The engine tells the origins' new places afterwards."""

    def __init__(self, roster: Roster, store: Store, clock: Clock) -> None:
        self._roster = roster
        self._store = store
        self._clock = clock

    async def carry_out(self, action: PendingAction) -> Carried:
        """Carries out one action; a command that cannot be is answered with its error, nothing is changed."""
        try:
            before, after, touched = await self._perform(action)
        except (ValueError, BadPattern) as error:
            return Carried(ActionResult(action.action_id, "", "", str(error)), action.command)
        result = ActionResult(action.action_id, json.dumps(before), json.dumps(after))
        return Carried(result, action.command, touched)

    async def _perform(self, action: PendingAction) -> tuple[object, object, tuple[str, ...]]:
        command = action.command
        match command:
            case PauseOrigins(origins=origins):
                return await self._each(origins, _paused, lambda s: replace(s, paused=True))
            case ResumeOrigins(origins=origins):
                return await self._each(origins, _paused, _resumed)
            case StopOrigins(origins=origins):
                return await self._each(origins, _finish_reason, lambda s: finish(s, FinishReason.operator))
            case TopUpPatience(origins=origins):
                return await self._each(origins, lambda s: s.patience, self._topped_up)
            case SetDelay(origin=origin, delay_ms=ms):
                return await self._each((origin,), lambda s: s.pace.operator_ms, lambda s: self._slower(s, ms))
            case RetryPages():
                return await self._retry(command)
            case AddSeeds():
                return await self._add(command)
            case Exclude():
                return await self._exclude(command, action.who)
            case _:
                assert_never(command)

    async def _each(
        self,
        origins: tuple[str, ...],
        shown: Callable[[OriginState], object],
        fold: Callable[[OriginState], OriginState],
    ) -> tuple[object, object, tuple[str, ...]]:
        """Folds the states of the origins named (or all); answers the shown value before and after."""
        unknown = [name for name in origins if name not in self._roster.states]
        if unknown:
            raise ValueError(f"not an origin of this crawl: {', '.join(unknown[:5])}")
        names = self._roster.named(origins)
        before: dict[str, object] = {}
        after: dict[str, object] = {}
        for name in names:
            old = self._roster.states[name]
            new = fold(old)
            if new == old:
                continue
            self._roster.update(new)
            before[name], after[name] = shown(old), shown(new)
            await self._store.save_origin(record_of(new))
        return before, after, tuple(names)

    def _topped_up(self, state: OriginState) -> OriginState:
        return top_up(state, self._roster.settings.settings_of(state.origin))

    def _slower(self, state: OriginState, ms: int) -> OriginState:
        return slow_down(state, ms, self._clock.now(), self._roster.settings.settings_of(state.origin))

    async def _retry(self, command: RetryPages) -> tuple[object, object, tuple[str, ...]]:
        counted = await self._store.retry(command)
        touched = tuple(name for name, _ in counted if name in self._roster.states)
        for name in touched:
            state = self._roster.update(reopen(self._roster.states[name], _IDLE))
            await self._store.save_origin(record_of(state))
        return {}, {"retried": dict(counted)}, touched

    async def _add(self, command: AddSeeds) -> tuple[object, object, tuple[str, ...]]:
        urls: list[CrawlUrl] = []
        refused: list[str] = []
        for raw in command.urls:
            url = normalise(raw, None, self._roster.admission.limits.max_url_length)
            if isinstance(url, InvalidUrl):
                refused.append(f"{raw[:200]}: {url.reason}")
                continue
            urls.append(url)
        for origin in dict.fromkeys(url.origin for url in urls):
            await self.join(origin)
        pages: dict[str, NewPage] = {}
        for url in urls:
            known = self._roster.pages_known.get(url.origin, 0)
            verdict = self._roster.admission.admit(Found(url, 0, None, known))
            if isinstance(verdict, Refused):
                refused.append(f"{url.href}: {verdict.reason.value}: {verdict.detail}")
                continue
            pages[url.href] = NewPage(
                url.href,
                url.hash,
                url.origin,
                depth=0,
                seed=True,
                item_pattern=command.pattern,
                force=command.force,
            )
        if not pages and refused:
            raise ValueError("; ".join(refused[:5]))
        added = await self._store.add_pages(tuple(pages.values()), command.job)
        touched = tuple(dict.fromkeys(page.origin for page in pages.values()))
        for origin in touched:
            mine = tuple(page for page in added if _origin_of(page) == origin)
            await self._to_front(origin, mine)
        return {}, {"added": len(added), "known": len(pages) - len(added), "refused": refused[:20]}, touched

    async def join(self, origin: str) -> None:
        """Takes an origin into the run that was not in it."""
        if origin in self._roster.states:
            return
        self._roster.admission = self._roster.admission.with_origin(origin)
        stored = await self._store.add_origin(origin)
        self._roster.enter(stored, Takeover(continued=False, unclean=False), self._clock.now())

    async def _to_front(self, origin: str, pages: tuple[TodoPage, ...]) -> None:
        """Added seeds come before what is on the todo list (a page in flight keeps its place by its id)."""
        state = reopen(self._roster.states[origin], _IDLE)
        if 0 < len(pages) <= _FRONT:
            new = {page.page_id for page in pages}
            state = replace(state, todo=pages + tuple(page for page in state.todo if page.page_id not in new))
            record = FillRecord(record_of(state), tuple(new), tuple(page.page_id for page in state.todo))
            self._roster.update(state)
            await self._store.fill(record)
            return
        self._roster.update(state)
        await self._store.save_origin(record_of(state))

    async def _exclude(self, command: Exclude, who: str) -> tuple[object, object, tuple[str, ...]]:
        exclusion = _exclusion_of(command, who)
        admission = self._roster.admission
        fresh = (
            admission.without_exclusion(exclusion.kind, exclusion.value)
            if command.remove
            else admission.with_exclusion(exclusion)
        )
        changed = await self._store.change_exclusion(exclusion, command.remove)
        self._roster.admission = fresh
        touched: list[str] = []
        for name, state in tuple(self._roster.states.items()):
            url = normalise(name)
            if command.remove or isinstance(url, InvalidUrl) or fresh.excludes(url) is None:
                continue
            ended = self._roster.update(finish(state, FinishReason.excluded))
            await self._store.save_origin(record_of(ended))
            touched.append(name)
        return {}, {"changed": changed, "origins": touched}, tuple(touched)


def _exclusion_of(command: Exclude, who: str) -> Exclusion:
    match command.kind:
        case "domain" | "host" | "cidr" | "pattern" as kind:
            return Exclusion(kind, command.value, command.reason, who, "operator")
        case other:
            raise ValueError(f"unknown kind of exclusion: {other!r} (domain, host, cidr or pattern)")


def _resumed(state: OriginState) -> OriginState:
    """Resume takes the pause off; an origin the operator had stopped goes on, too."""
    return reopen(replace(state, paused=False), frozenset({FinishReason.operator}))


def _paused(state: OriginState) -> object:
    return state.paused


def _finish_reason(state: OriginState) -> object:
    return state.finished.value if state.finished else None


def _origin_of(page: TodoPage) -> str:
    url = normalise(page.url, None, CLIENT_MAX_LENGTH)
    return "" if isinstance(url, InvalidUrl) else url.origin
