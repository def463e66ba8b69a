"""A run seen again: its log folded and compared with what is stored (docs/replay.md)."""

import heapq
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import takewhile
from typing import TypeVar

from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.crawl.origin import SettingsByOrigin
from tui_crawler.domain.crawl.origin import from_json as settings_from_json
from tui_crawler.domain.history.replay import Difference, Findings, LoggedSession, OriginReplay
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.domain.records.status_words import RunReason
from tui_crawler.domain.records.view import LogReach, LogStretch, LogTerms
from tui_crawler.engine.replayed import Entry, ReplayedRun
from tui_crawler.fetch.headers import asked_wait_ms
from tui_crawler.storage.reports.replay import OF_ALL, ReplayLog
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.origin_settings import crawl_settings, read_once

_WINDOW = 500  # entries of the log that are read at once
_MOST_ACTIONS = 100_000  # of the operator journal
T = TypeVar("T")


def check_replay(database: DatabasePlace, run_id: int | None) -> tuple[int, Findings] | None:
    """Folds the log up to the end of a run (None: the newest) and compares; None when there is no such run. Of an
    older run its attempts and totals are compared, of the newest the rows of the origins, too."""
    with closing(Reports(database)) as reports, reports.replay_log() as log:
        runs = log.runs()
        newest = max(runs, default=0)
        looked_at = newest if run_id is None else run_id
        if looked_at not in runs:
            return None
        finish_reason, requests, attempts = runs[looked_at]
        findings = Findings()
        sessions = sessions_of(log)
        elsewhere, commands = log.requests_elsewhere(), log.commands(sessions)
        for origin_id, origin in log.origins():
            stored = log.stored(origin_id, newest)
            changes = log.changes(origin_id)
            joined = next((one.at for one in changes if one.joined), 0)
            asked = sorted((*commands[origin], *commands[OF_ALL]), key=lambda one: one.at)
            asked = [one for one in asked if one.until is None or one.until >= joined]
            fold = OriginReplay(origin, stored.external, looked_at, sessions, asked, changes, elsewhere[origin])
            for logged in log.attempts(origin_id, looked_at):
                wait = asked_wait_ms(logged.headers, logged.ended_at)
                fold.take(logged if wait is None else replace(logged, retry_after_ms=wait))
            if looked_at == newest:
                fold.compare(stored, newest, finish_reason == RunReason.max_requests.value)
            findings.add(fold.findings)
        for name, stored_sum, folded in (
            ("requests", requests, findings.requests),
            ("attempts", attempts, findings.attempts),
        ):
            if stored_sum != folded:
                findings.found += 1
                findings.differences.append(Difference("", name, stored_sum, folded))
        return looked_at, findings


def sessions_of(log: ReplayLog) -> list[LoggedSession]:
    """With what each has gone by; those of older versions by the configuration their run was last started with."""
    found = []
    for session_id, run_id, started_at, ended_at, rest, kept, text, name in log.sessions():
        config = None if kept else read_once(text, name)
        configured = crawl_settings(config) if config else SettingsByOrigin()
        settings = settings_from_json(kept) if kept else configured
        found.append(LoggedSession(session_id, run_id, started_at, ended_at, bool(rest), settings))
    return found


def replayed(database: DatabasePlace, run_id: int | None) -> Iterator[Event] | None:
    """The events of a run (None: the newest) once more, in the order of time; None when there is no such run. The
    database is read in windows: nothing is held open between two."""
    with closing(Reports(database)) as reports:
        newest = reports.runs(1)
        wanted = run_id or (newest[0].run_id if newest else 0)
        span = reports.run_span(wanted)
    return None if span is None else _events(database, wanted, *span)


def _events(database: DatabasePlace, run_id: int, first: int, origins: int, began: int, ended: int) -> Iterator[Event]:
    with closing(Reports(database)) as reports:
        attempts = _stretches(lambda reach: reports.attempt_stretch(LogTerms(), reach), first - 1) if first else ()
        activity = _stretches(lambda reach: reports.activity_stretch(LogTerms(), reach), 0)
        actions = reports.actions(_MOST_ACTIONS, oldest_first=True)
        entries: Iterator[tuple[int, Entry]] = heapq.merge(
            ((one.ended_at, one) for one in takewhile(lambda one: one.run_id == run_id, attempts)),
            ((one.at, one) for one in activity if one.run_id == run_id),
            ((one.at, one) for one in actions if began <= one.at <= (ended or one.at)),
            key=lambda pair: pair[0],
        )
        run = ReplayedRun(origins)
        for _, entry in entries:
            yield from run.events_of(entry)


def _stretches(read: Callable[[LogReach], LogStretch[T]], edge: int) -> Iterator[T]:
    while True:
        stretch = read(LogReach(edge, _WINDOW, oldest_first=True))
        yield from stretch.found
        if stretch.ended:
            return
        edge = stretch.last_id
