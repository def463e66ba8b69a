"""The log for a replay (`domain/history/replay.py`): one origin after the other, a few attempts at a time.

All of it is the database as it was when the first row was read."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tui_crawler.domain.crawl.turn import OriginCommand
from tui_crawler.domain.history import replay
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.attempt import CRAWL_DELAY
from tui_crawler.domain.records.command import BadCommand, SetDelay, StopOrigins, from_json
from tui_crawler.domain.records.exit_code import UNTOUCHED, AttemptKind, ExitCode, exit_name
from tui_crawler.domain.url import CrawlUrl, normalise
from tui_crawler.storage.crawl import origins
from tui_crawler.storage.db.reader import SubjectReports, headers_of
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.models import Origin, RobotsText

_Ask = Callable[[str, Sequence[Any]], Iterator[Row]]

_SESSIONS = """SELECT s.id, s.run_id, s.started_at, s.ended_at, s.rest, s.crawl_settings, COALESCE(r.config_text, ''),
    COALESCE(r.config_name, '') FROM session s LEFT JOIN run r ON r.id = s.run_id ORDER BY s.id"""
_ACTIONS = "SELECT at, applied_at, action, command, after FROM operator_action WHERE error = '' ORDER BY id"
_RUNS = "SELECT id, finish_reason, requests, attempts FROM run ORDER BY id"
_SPAN = """SELECT COALESCE(MIN(a.id), 0), COUNT(DISTINCT a.origin_id), r.started_at, r.finished_at
FROM run r LEFT JOIN attempt a ON a.run_id = r.id WHERE r.id = ? GROUP BY r.id"""
_ELSEWHERE = """SELECT u.href, o.origin, r.ended_at FROM attempt a JOIN request r ON r.attempt_id = a.id
    JOIN url u ON u.id = r.url_id JOIN origin o ON o.id = a.origin_id
WHERE a.kind = 'robots' AND a.requests > 1 ORDER BY r.ended_at"""
_COUNTERS = "requests bytes attempts done failed blocked last_url last_exit_code last_http_status last_attempt_at"
_ROW = f"SELECT joined, participates, session_id, {_COUNTERS.replace(' ', ', ')} FROM origin WHERE id = ?"
_EXITS = "SELECT exit_code, count FROM exit_count WHERE run_id = ? AND origin_id = ?"
_CHANGES = """SELECT at, run_id, event = 'origin_joined' FROM activity WHERE origin_id = ? AND origin_id > 0
    AND (event = 'origin_joined' OR event = 'origin_finished' AND message = 'database_error') ORDER BY id"""
_REACHED = f"""SELECT 1 FROM request r WHERE r.attempt_id = a.id AND r.remote_address <> ''
    AND (r.method = 'HEAD' OR a.exit_code <> {ExitCode.request_timeout.value})"""  # as `Exchange.in_vain`
_ATTEMPTS = f"""SELECT a.id, a.run_id, a.session_id, a.page_id, u.href, a.kind, a.exit_code, a.http_status, a.ended_at,
    a.response_ms, a.bytes, a.requests, a.patience_after, a.politeness_after, a.delay_ms_after, a.delay_reason,
    a.kind = 'check' AND a.http_status IS NULL AND NOT EXISTS ({_REACHED}),
    CASE WHEN p.last_attempt_id = a.id THEN p.status END, p.attempts_remaining, p.external
FROM attempt a JOIN url u ON u.id = a.url_id LEFT JOIN page p ON p.id = a.page_id
WHERE a.origin_id = ? AND a.run_id <= ? ORDER BY a.id"""
_CODE_BEFORE = """SELECT exit_code FROM attempt WHERE url_id = (SELECT url_id FROM page WHERE id = ?) AND page_id = ?
    AND id < ? AND exit_code NOT IN (-1, -2) ORDER BY id DESC LIMIT 1"""
_REQUESTS = """SELECT http_status, sent_at, ended_at, fluke_retry, response_headers FROM request WHERE attempt_id = ?
ORDER BY id"""
_CRAWL_DELAY = f"SELECT value FROM attempt_result WHERE attempt_id = ? AND type = '{CRAWL_DELAY}'"
_MIRRORED_MS = 5_000  # so long after the first worker has carried a command out the others repeat it, at most
OF_ALL = ""
"""Stands for every origin."""
_ASKED_TO_WAIT = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class ReplayLog:
    """The log, on a connection that sees one moment of the database."""

    _ask: _Ask

    def runs(self) -> dict[int, tuple[str, int, int]]:
        """The finish reason (empty while it is live, and after a kill), requests and attempts of each run, by age."""
        return {run_id: (reason, requests, attempts) for run_id, reason, requests, attempts in self._ask(_RUNS, ())}

    def sessions(self) -> list[Row]:
        """Session, run, start, end, whether it rested, its settings, text and name of the configuration of its run."""
        return list(self._ask(_SESSIONS, ()))

    def commands(self, sessions: Sequence[replay.LoggedSession]) -> dict[str, list[replay.LoggedCommand]]:
        """What operators asked of origins, by origin (`OF_ALL`: of all), in the order of the journal."""
        found: dict[str, list[replay.LoggedCommand]] = defaultdict(list)
        for at, applied_at, action, text, after in self._ask(_ACTIONS, ()):
            try:
                command = from_json(action, text)
            except BadCommand:
                continue
            if not isinstance(command, OriginCommand):
                continue
            until = applied_at or None
            if until and sum(one.started_at < until <= (one.ended_at or until) for one in sessions) > 1:
                until += _MIRRORED_MS
            names = (command.origin,) if isinstance(command, SetDelay) else command.origins or (OF_ALL,)
            if isinstance(command, StopOrigins) and until:  # it ends those that had not ended before
                names = tuple(json.loads(after or "{}"))
            for name in names:
                found[name].append(replay.LoggedCommand(at, until, command))
        return found

    def requests_elsewhere(self) -> dict[str, list[int]]:
        """When hops of a robots.txt were requests to another origin, by that."""
        found: dict[str, list[int]] = defaultdict(list)
        for href, origin, at in self._ask(_ELSEWHERE, ()):
            url = normalise(href)
            if isinstance(url, CrawlUrl) and url.origin != origin:
                found[url.origin].append(at)
        return found

    def origins(self) -> Iterator[tuple[int, str]]:
        """The origins (id and name) in the order in which they were found."""
        return ((origin_id, name) for origin_id, name in self._ask("SELECT id, origin FROM origin ORDER BY id", ()))

    def changes(self, origin_id: int) -> list[replay.LoggedChange]:
        """When an origin joined a run, and when the database failed it."""
        return [
            replay.LoggedChange(at, run_id, bool(joined)) for at, run_id, joined in self._ask(_CHANGES, (origin_id,))
        ]

    def stored(self, origin_id: int, newest_run: int) -> replay.StoredState:
        """What the row of an origin says."""
        with_robots = RobotsText.origin == Origin.id
        query = Origin.select(*origins.RECORD).join(RobotsText, "LEFT OUTER JOIN", on=with_robots)
        text, values = query.where(Origin.id == origin_id).sql()
        record = origins.record_of(next(self._ask(text, values)))
        joined, participates, held_by, *counted = next(self._ask(_ROW, (origin_id,)))
        counters = dict(zip(_COUNTERS.split(), counted, strict=True))
        counters["last_exit_code"] = exit_name(counters["last_exit_code"])
        exits = {exit_name(code): count for code, count in self._ask(_EXITS, (newest_run, origin_id))}
        return replay.StoredState(record, joined == origins.EXTERNAL, bool(participates), held_by, counters, exits)

    def attempts(self, origin_id: int, up_to_run: int) -> Iterator[replay.LoggedAttempt]:
        """The attempts at an origin in the order of the log."""
        for *row, in_vain, status, remaining, external in self._ask(_ATTEMPTS, (origin_id, up_to_run)):
            yield replace(self._attempt(row, status, remaining, external), in_vain=bool(in_vain))

    def _attempt(self, row: list[Any], status: int | None, remaining: int, external: int) -> replay.LoggedAttempt:
        attempt_id, page_id, http_status, requests = row[0], row[3], row[7], row[11]
        kind, code = AttemptKind(row[5]), ExitCode(row[6])
        row[5:7] = kind, code
        left = None
        if status is not None:
            before = [code.value]
            if code in UNTOUCHED:
                before = [one for (one,) in self._ask(_CODE_BEFORE, (page_id, page_id, attempt_id))]
            left = (status, remaining, ExitCode(before[0]) if before else None, external)
        if http_status not in _ASKED_TO_WAIT and kind is not AttemptKind.robots:
            return replace(replay.LoggedAttempt(*row), made=requests > 0, page_left=left)
        exchanges: list[Row] = []
        for one in self._ask(_REQUESTS, (attempt_id,)):
            exchanges[len(exchanges) - one[3] :] = [one]  # a fluke is of the exchange before it
        of_robots = kind is AttemptKind.robots
        made = bool(exchanges) and (not of_robots or exchanges[-1][0] == http_status)
        hops = exchanges[: len(exchanges) - made] if of_robots else []
        delays = [int(value) for (value,) in self._ask(_CRAWL_DELAY, (attempt_id,))]
        return replace(
            replay.LoggedAttempt(*row),
            made=made,
            page_left=left,
            hops=tuple(replay.LoggedHop(*hop[:3]) for hop in hops),
            headers=headers_of(exchanges[-1][4]) if http_status in _ASKED_TO_WAIT and exchanges else (),
            crawl_delay_ms=delays[0] if delays else None,
        )


class ReplayReports(SubjectReports):
    """The log for a replay."""

    def run_span(self, run_id: int) -> tuple[int, int, int, int] | None:
        """The id of the first attempt of a run (0: it has none), at how many origins it made some, its start and its
        end (epoch ms, 0: none yet); None where there was no such run."""
        return self._reader.one(_SPAN, (run_id,))

    @contextmanager
    def replay_log(self) -> Iterator[ReplayLog]:
        """The log as it stands at the first question."""
        with self._reader.moment() as ask:
            yield ReplayLog(ask)
