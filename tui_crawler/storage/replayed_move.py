"""How the TEMP tables of a replay come from one moment of the log to another, in one transaction."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tui_crawler.domain.command import (
    BadCommand,
    PauseOrigins,
    RefetchRobots,
    ResumeOrigins,
    SetDelay,
    TopUpPatience,
    from_json,
)
from tui_crawler.domain.exit_code import BLOCKED, FAILURES, ExitCode
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.replayed import FOLDED, UNTOUCHED, ReplayMoment
from tui_crawler.domain.status import PageStatus, RobotsStatus
from tui_crawler.domain.status_words import FinishReason
from tui_crawler.domain.turn import OriginCommand, robots_status
from tui_crawler.storage.models import Origin, Page
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import ALL_ORIGINS

Execute = Callable[..., Any]
"""Executes a statement; answers the cursor."""

MADE = ("origin", "page", "job", "run", "exit_count")
"""The tables that are made from the log."""

_FEW = 500  # attempts; of more, and more than there are up to the moment, everything is made anew
_AHEAD = 500  # attempts behind the moment among which those under way are looked for
_REOPENED: Mapping[type[object], frozenset[str]] = {
    ResumeOrigins: frozenset({FinishReason.operator.value}),
    TopUpPatience: frozenset({FinishReason.patience.value, FinishReason.database_error.value}),
    RefetchRobots: frozenset({FinishReason.exhausted.value}),
}
"""What lets an origin go on that has ended so."""
_ORIGIN = [one.column_name for one in Origin._meta.sorted_fields]
_PAGE = ", ".join(one.column_name for one in Page._meta.sorted_fields)


def _codes(codes: Iterable[ExitCode]) -> str:
    return ", ".join(str(code.value) for code in sorted(codes))


_UNKNOWN = dict.fromkeys(("ignored_run", "todo_order", "claimed_at", "claimed_by"), "0")
"""What of a page stands in no log: where it is on a todo list, and who has taken it."""
_KEPT = _UNKNOWN | {"status": f"CASE WHEN p.status = {PageStatus.CLAIMED.value} THEN 0 ELSE p.status END"}
_LATER = _UNKNOWN | {
    "status": f"CASE WHEN a.exit_code = {ExitCode.skipped_by_rule.value} THEN {PageStatus.SKIPPED.value} ELSE 0 END",
    "attempts": f"COALESCE(t.folded / {FOLDED}, 0)",
    "attempts_remaining": f"COALESCE(t.folded % {FOLDED}, :tries)",
    "failed": f"COALESCE(a.exit_code IN ({_codes(FAILURES)}), 0)",
    "last_exit_code": "a.exit_code",
    "last_http_status": "a.http_status",
    "last_crawled_at": "COALESCE(a.ended_at, 0)",
    "last_contentful_at": "CASE WHEN p.last_contentful_at <= a.ended_at THEN p.last_contentful_at ELSE 0 END",
    "last_attempt_id": "COALESCE(t.last_id, 0)",
    "fresh_until": "0",
    "unscanned": "0",
}
"""A page that was asked for again later is what its attempts (`t`), the last that touched it (`a`), have left."""


def columns_of(model: Any, table: str, otherwise: Mapping[str, str], *, named: bool = False) -> str:
    """The columns of a table (by its alias), some of them otherwise; `named`: those by their names."""
    names = [one.column_name for one in model._meta.sorted_fields]
    found = {name: otherwise.get(name, f'{table}."{name}"') for name in names}
    return ", ".join(f'{text} AS "{name}"' if named else text for name, text in found.items())


_OF_PAGE = "FROM main.attempt x WHERE x.url_id = p.url_id AND x.page_id = p.id AND x.id <= :id"
_PAGES = (
    f"""INSERT INTO temp.page ({_PAGE}) SELECT {columns_of(Page, "p", _KEPT)}
FROM main.page p WHERE p.last_attempt_id <= :id AND {{among}}""",
    f"""WITH t AS MATERIALIZED (
    SELECT p.id, (SELECT x.id {_OF_PAGE} ORDER BY x.id DESC LIMIT 1) AS last_id,
        (SELECT x.id {_OF_PAGE} AND x.exit_code NOT IN ({_codes(UNTOUCHED)}) ORDER BY x.id DESC LIMIT 1) AS touched_id,
        (SELECT page_fold(exit_code, http_status, :tries)
        FROM (SELECT x.exit_code, x.http_status {_OF_PAGE} ORDER BY x.id)) AS folded
    FROM main.page p WHERE p.last_attempt_id > :id AND {{among}})
INSERT INTO temp.page ({_PAGE}) SELECT {columns_of(Page, "p", _LATER)}
FROM t JOIN main.page p ON p.id = t.id LEFT JOIN main.attempt a ON a.id = t.touched_id""",
)
_OPEN = "status IN (0, 2) AND attempts_remaining > 0"
_TALLY = f"""SELECT origin_id, job_id, SUM({_OPEN} AND beyond_depth = 0),
    SUM(last_exit_code NOT IN ({_codes(BLOCKED | FAILURES)}) AND NOT ({_OPEN})),
    SUM(last_exit_code IN ({_codes(FAILURES)})), SUM(last_exit_code IN ({_codes(BLOCKED)})), COUNT(*)
FROM temp.page WHERE {{among}} GROUP BY origin_id, job_id"""
_TOUCHED = (
    "INSERT OR IGNORE INTO temp.touched SELECT page_id FROM main.attempt WHERE id > ? AND id <= ? AND page_id > 0"
)
_NEW = "INSERT OR IGNORE INTO temp.touched SELECT id FROM main.page WHERE id > ? AND id <= ?"
_SUMS = """SELECT origin_id, SUM(requests), SUM(bytes), COUNT(*) FROM main.attempt WHERE id > ? AND id <= ?
GROUP BY origin_id"""
_COUNTED = """INSERT INTO temp.exit_count (run_id, origin_id, exit_code, count)
SELECT run_id, {origin}, exit_code, ? * COUNT(*) FROM main.attempt WHERE id > ? AND id <= ? GROUP BY 1, 2, 3
ON CONFLICT DO UPDATE SET count = count + excluded.count"""
_RUNS = (
    "INSERT INTO temp.run SELECT * FROM main.run WHERE started_at <= :at",
    "UPDATE temp.run SET finished_at = 0, finish_reason = '', clean = 0 WHERE finished_at > :at",
    "UPDATE temp.run SET worked_ms = MIN(worked_ms, :at - started_at), requests = 0, attempts = 0",
)
_OF_RUN = "SELECT run_id, SUM(requests > 0), COUNT(*) FROM main.attempt WHERE id > ? AND id <= ? GROUP BY run_id"
_RUN = """SELECT id, patience, start_politeness, tries FROM main.run WHERE started_at <= ? ORDER BY id DESC LIMIT 1"""
_JOB = """UPDATE temp.job SET pending = pending + ?, done = done + ?, failed = failed + ?, blocked = blocked + ?
WHERE id = ?"""
_RULES = """UPDATE temp.job SET ruleset_id = COALESCE(
    (SELECT MAX(r.id) FROM main.ruleset r WHERE r.job_id = job.id AND r.at <= ?), ruleset_id)"""
_CHANGED = "SELECT DISTINCT origin_id FROM main.activity WHERE origin_id > 0 AND at > ? AND at <= ?"
_FLYING = "SELECT origin_id FROM main.attempt WHERE id > ? AND id <= ? AND started_at <= ?"

_LAST = "FROM main.attempt WHERE origin_id = :origin AND id <= :id"
_STATE = f"""SELECT run_id, started_at, session_id, patience_after AS patience, politeness_after AS politeness,
    delay_ms_after AS delay_ms, delay_reason {_LAST} ORDER BY id DESC LIMIT 1"""
_MADE = f"""SELECT ended_at + delay_ms_after, ended_at, COALESCE(response_ms, 0) {_LAST} AND requests > 0
ORDER BY id DESC LIMIT 1"""
_SHOWN = """SELECT u.href, a.exit_code, a.http_status, a.ended_at FROM main.attempt a JOIN main.url u ON u.id = a.url_id
WHERE a.origin_id = :origin AND a.id <= :id AND ({all} OR a.kind <> 'robots' OR a.problem = 1)
ORDER BY a.id DESC LIMIT 1"""
_NEXT = """SELECT a.run_id, a.started_at, a.patience_before, a.delay_ms_before, u.href, a.requests
FROM main.attempt a JOIN main.url u ON u.id = a.url_id WHERE a.origin_id = :origin AND a.id > :id
ORDER BY a.id LIMIT 1"""
_ROBOTS = """SELECT a.exit_code, a.http_status, a.ended_at FROM main.attempt a JOIN main.url u ON u.id = a.url_id
WHERE u.href = :robots AND a.id <= :id AND a.kind = 'robots' AND a.exit_code <> -1 ORDER BY a.id DESC LIMIT 1"""
_EVENT = """SELECT run_id, at, id, message FROM main.activity WHERE origin_id = :origin AND origin_id > 0
    AND event = :event AND at <= :at ORDER BY id DESC LIMIT 1"""
_COUNTERS = "pending, done, failed, blocked, pages_known, requests, bytes, attempts"
_JOURNAL = (
    "SELECT COALESCE(MAX(applied_at), 0), COUNT(*) FROM main.operator_action WHERE applied_at > 0 AND applied_at <= ?"
)
_ACTIONS = """SELECT action, command, applied_at, who FROM main.operator_action
WHERE error = '' AND applied_at > 0 AND applied_at <= ? ORDER BY applied_at, id"""


@dataclass(frozen=True, slots=True)
class ReplayPlace:
    """Where the tables stand: the last page known at the moment, the origins that a request was under way to, the run,
    and how far the journal was carried out."""

    moment: ReplayMoment = ReplayMoment()
    page_id: int = 0
    flying: frozenset[int] = frozenset()
    run_and_journal: Row = (0, 0, 0)


@dataclass(slots=True)
class _Changes:
    """How much counters change: pages pending, done, failed, blocked and known; requests, bytes and attempts."""

    pages: list[int] = field(default_factory=lambda: [0] * 5)
    asked: list[int] = field(default_factory=lambda: [0] * 3)


class Move:
    """One move. `carry_out` does it."""

    def __init__(self, execute: Execute, here: ReplayPlace | None, to: ReplayMoment, page_id: int, number: int) -> None:
        """`here` None: nothing is made yet. `page_id`: the last page known at the moment `to`; `number` is greater with
        each move."""
        self._execute, self._to, self._page_id, self._number = execute, to, page_id, number
        steps = 0 if here is None else abs(to.attempt_id - here.moment.attempt_id)
        self._anew = here is None or steps > max(_FEW, to.attempt_id)
        self._here = ReplayPlace() if here is None or self._anew else here
        self._sign = -1 if to.attempt_id < self._here.moment.attempt_id else 1
        self._span = sorted((to.attempt_id, self._here.moment.attempt_id))
        self._origins: dict[int, _Changes] = defaultdict(_Changes)
        self._jobs: dict[int, _Changes] = defaultdict(_Changes)
        run = execute(_RUN, (to.at,)).fetchone()
        self._newest_run = execute("SELECT COALESCE(MAX(id), 0) FROM main.run").fetchone()[0]
        self._run_id, self._patience, self._politeness, self._tries = map(int, run or (0, 0, 0, 0))

    def carry_out(self) -> ReplayPlace:
        """Does it; answers where the tables stand now."""
        execute, to = self._execute, self._to
        if self._anew:
            for table in MADE:
                execute(f"DELETE FROM temp.{table}")
            execute("INSERT INTO temp.job SELECT * FROM main.job")
            execute("UPDATE temp.job SET pending = 0, done = 0, failed = 0, blocked = 0")
        self._move_pages()
        self._count()
        self._move_runs()
        execute(_RULES, (to.at,))
        under_way = execute(_FLYING, (to.attempt_id, to.attempt_id + _AHEAD, to.at))
        journal = self._run_id, *execute(_JOURNAL, (to.at,)).fetchone()
        stand = ReplayPlace(to, self._page_id, frozenset(one for (one,) in under_way), journal)
        self._move_origins(stand)
        return stand

    def _move_pages(self) -> None:
        execute, among = self._execute, "1"
        if not self._anew:
            among = "id IN (SELECT id FROM temp.touched)"
            execute("DELETE FROM temp.touched")
            execute(_TOUCHED, self._span)
            execute(_NEW, sorted((self._page_id, self._here.page_id)))
        self._tally(among, -1)
        execute(f"DELETE FROM temp.page WHERE {among}")
        known = f"p.id <= {self._page_id:d} AND {among.replace('id', 'p.id', 1)}"
        for text in _PAGES:
            execute(text.format(among=known), {"id": self._to.attempt_id, "tries": self._tries})
        self._tally(among, 1)
        for job_id, changes in self._jobs.items():
            execute(_JOB, (*changes.pages[:4], job_id))

    def _tally(self, among: str, sign: int) -> None:
        for origin_id, job_id, *found in self._execute(_TALLY.format(among=among)):
            for changes in (self._origins[origin_id], self._jobs[job_id]):
                changes.pages = [one + sign * (more or 0) for one, more in zip(changes.pages, found, strict=True)]

    def _count(self) -> None:
        for origin_id, *found in self._execute(_SUMS, self._span):
            self._origins[origin_id].asked = [self._sign * one for one in found]
        for origin in ("origin_id", str(ALL_ORIGINS)):
            self._execute(_COUNTED.format(origin=origin), (self._sign, *self._span))
        self._execute("DELETE FROM temp.exit_count WHERE count = 0")

    def _move_runs(self) -> None:
        execute = self._execute
        sums = {run_id: list(of) for run_id, *of in execute("SELECT id, requests, attempts FROM temp.run")}
        execute("DELETE FROM temp.run")
        for text in _RUNS:
            execute(text, {"at": self._to.at})
        for run_id, *found in execute(_OF_RUN, self._span):
            sums[run_id] = [one + self._sign * more for one, more in zip(sums.get(run_id, [0, 0]), found, strict=True)]
        for run_id, of in sums.items():
            execute("UPDATE temp.run SET requests = ?, attempts = ? WHERE id = ?", (*of, run_id))

    def _move_origins(self, stand: ReplayPlace) -> None:
        execute, here = self._execute, self._here
        if self._anew or stand.run_and_journal != here.run_and_journal:
            touched = {one for (one,) in execute("SELECT id FROM main.origin")}
        else:
            changed = {one for (one,) in execute(_CHANGED, sorted((here.moment.at, self._to.at)))}
            touched = {*self._origins, *changed, *stand.flying, *here.flying}
        self._asked = [*_asked_of(execute(_ACTIONS, (self._to.at,)))]
        put = f"INSERT OR REPLACE INTO temp.origin ({', '.join(_ORIGIN)}) VALUES ({', '.join('?' * len(_ORIGIN))})"
        for origin_id in touched:
            found = execute(f"SELECT {', '.join(_ORIGIN)} FROM main.origin WHERE id = ?", (origin_id,)).fetchone()
            then = self._origin(dict(zip(_ORIGIN, found, strict=True)))
            if then is None:
                execute("DELETE FROM temp.origin WHERE id = ?", (origin_id,))
            else:
                execute(put, [*then.values()])

    def _one(self, text: str, row: dict[str, Any], **more: object) -> Any:
        values = {"origin": row["id"], "id": self._to.attempt_id, "at": self._to.at, **more}
        return self._execute(text, values).fetchone()

    def _origin(self, row: dict[str, Any]) -> dict[str, Any] | None:
        """The row of an origin as it was, but for what operators asked of it; None: it was not known yet."""
        counters = self._counters(row["id"])
        joined, state = self._one(_EVENT, row, event="origin_joined"), self._one(_STATE, row)
        if joined is None and state is None and not counters["pages_known"]:
            return None
        here = self._run_id > 0 and (row["participates"] == 1 or self._run_id < self._newest_run)
        finished, following = self._one(_EVENT, row, event="origin_finished"), self._one(_NEXT, row)
        over = finished is not None and finished[0] == self._run_id
        over = over and not (state and state[1] > finished[1]) and not (joined and joined[2] > finished[2])
        flies = following is not None and following[1] <= self._to.at and following[5] > 0 and not over
        made = self._one(_MADE, row) or (0, 0, 0)
        last, shown = (self._one(_SHOWN.format(all=every), row) or ("", None, None, 0) for every in (1, 0))
        shown = last if shown[0] in {"", last[0]} else shown
        then = dict(zip(("next_request_at", "last_request_at", "last_response_ms"), made, strict=True))
        then |= dict(zip(("last_url", "last_exit_code", "last_http_status", "last_attempt_at"), shown, strict=True))
        then |= {
            "participates": int(here),
            "change": self._number,
            "finish_reason": finished[3] if over else "",
            "in_flight_url": following[4] if flies else "",
            "in_flight_since": following[1] if flies else 0,
            "discovered": counters["pages_known"],
            "asleep_until": 0,
            "todo": 0,
        }
        afresh = state is None or state[0] < self._run_id
        then |= self._afresh(following, state) if afresh else _after(state)
        return self._obeyed(row | counters | then | self._robots(row), finished[1] if over else 0)

    def _obeyed(self, then: dict[str, Any], finished_at: int) -> dict[str, Any]:
        """The row after what operators had asked of the origin. What a later attempt says holds in its place."""
        then |= {"paused": 0, "paused_at": 0, "paused_by": "", "operator_delay_ms": 0}
        for one in self._asked:
            if one.origins and then["origin"] not in one.origins:
                continue
            later = one.at > then["last_attempt_at"]
            if then["finish_reason"] in _REOPENED.get(type(one.command), ()) and one.at >= finished_at:
                then["finish_reason"] = ""
            match one.command:
                case PauseOrigins():
                    then |= {"paused": 1, "paused_at": one.at, "paused_by": one.who}
                case ResumeOrigins():
                    then |= {"paused": 0, "paused_at": 0, "paused_by": ""}
                case SetDelay(delay_ms=delay_ms):
                    then["operator_delay_ms"] = delay_ms
                    then["delay_ms"] = max(then["delay_ms"], delay_ms if later and then["last_request_at"] else 0)
                case TopUpPatience() if later:
                    then["patience"] = max(then["patience"], self._patience)
        return then

    def _counters(self, origin_id: int) -> dict[str, int]:
        found = self._execute(f"SELECT {_COUNTERS} FROM temp.origin WHERE id = ?", (origin_id,)).fetchone()
        changes = self._origins.get(origin_id, _Changes())
        more = zip(found or (0,) * 8, (*changes.pages, *changes.asked), strict=True)
        return dict(zip(_COUNTERS.split(", "), (one + other for one, other in more), strict=True))

    def _afresh(self, following: Row | None, state: Row | None) -> dict[str, Any]:
        """The state at the start of a run: what the first attempt found."""
        found = following is not None and following[0] == self._run_id
        patience, delay_ms = (following[2], following[3]) if following and found else (self._patience, 0)
        if state is not None and not found:
            delay_ms = state[5]
        return {"patience": patience, "politeness": self._politeness, "delay_ms": delay_ms, "delay_reason": ""}

    def _robots(self, row: dict[str, Any]) -> dict[str, Any]:
        """What was known of robots.txt; where that was fetched again since, its text and how long it holds are those of
        now."""
        if row["robots_fetched_at"] <= self._to.at:
            return {}
        found = self._one(_ROBOTS, row, robots=f"{row['origin']}/robots.txt")
        lasts = row["robots_expires_at"] - row["robots_fetched_at"]
        if found is None:
            status, http_status, at, lasts = RobotsStatus.none, None, 0, 0
        else:
            code, http_status, at = found
            status = robots_status(ExitCode(code), http_status)
        held = {"robots_status": status.value, "robots_http_status": http_status}
        return held | {"robots_fetched_at": at, "robots_expires_at": at + lasts}


_AFTER = ("run_id", "started_at", "session_id", "patience", "politeness", "delay_ms", "delay_reason")


def _after(state: Row) -> dict[str, Any]:
    """What the log says of the state after an attempt."""
    return dict(zip(_AFTER[2:], state[2:], strict=True))


@dataclass(frozen=True, slots=True)
class _AppliedCommand:
    """What an operator asked of origins (none named: of all), and when it was carried out."""

    at: int
    who: str
    command: OriginCommand
    origins: tuple[str, ...]


def _asked_of(actions: Iterable[Row]) -> Iterator[_AppliedCommand]:
    """In the order in which it was carried out."""
    for action, text, at, who in actions:
        try:
            command = from_json(action, text)
        except BadCommand:
            continue
        if isinstance(command, OriginCommand):
            yield _AppliedCommand(
                at, who, command, (command.origin,) if isinstance(command, SetDelay) else command.origins
            )
