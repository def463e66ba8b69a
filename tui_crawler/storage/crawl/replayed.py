"""The tables as they were at a moment of the log, on a connection that only reads the file.

SQLite looks for a name among the TEMP tables first: TEMP views let the log through up to the moment, and TEMP tables
hold what is changed in place (origins, pages, jobs, runs, counts), made from the log. So every report shows that
moment. A move goes from one moment to another: what the attempts in between have touched is made again, or everything
if these are many. TEMP tables are in a file of their own, which goes with the connection.

What no log keeps is as the file has it now: docs/replay.md."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import add
from typing import Any

from tui_crawler.domain.crawl.turn import OriginCommand, robots_status
from tui_crawler.domain.history.pulse import MINUTE_MS
from tui_crawler.domain.history.replayed import FOLDED, PageFold, ReplayGoal, ReplayMoment, ReplaySpan
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records import command as commands
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, UNTOUCHED, ExitCode
from tui_crawler.domain.records.page import EMBEDDED
from tui_crawler.domain.records.status import PageStatus, RobotsStatus
from tui_crawler.domain.records.status_words import GAVE_UP, FinishReason
from tui_crawler.storage.db.reader import Reader
from tui_crawler.storage.db.views import ALL_ORIGINS, RECENT_MINUTES, VIEWS
from tui_crawler.storage.drivers.driver import DATABASE_ERRORS, Row, Values, connection_of
from tui_crawler.storage.models import Origin, Page, Session

Execute = Callable[..., Any]
"""Executes a statement; answers the cursor."""

MADE = ("origin", "page", "job", "run", "exit_count")
"""The tables that are made from the log."""

_FEW = 500  # attempts; of more, and more than there are up to the moment, everything is made anew
_AHEAD = 500  # attempts behind the moment among which those under way are looked for
_REOPENED: Mapping[type[object], frozenset[str]] = {
    commands.ResumeOrigins: frozenset({FinishReason.operator.value}),
    commands.TopUpPatience: frozenset(GAVE_UP),
    commands.RefetchRobots: frozenset({FinishReason.exhausted.value}),
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
    SUM(last_exit_code NOT IN ({_codes(BLOCKED | FAILURES)}) AND NOT ({_OPEN}) AND external <> {EMBEDDED}),
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
_AFTER = ("session_id", "patience", "politeness", "delay_ms", "delay_reason")
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
    """Where the tables are: the last page known, the origins with a request under way, the run, the journal's end."""

    moment: ReplayMoment = ReplayMoment()
    page_id: int = 0
    flying: frozenset[int] = frozenset()
    run_and_journal: Row = (0, 0, 0)


class Move:
    """One move. `carry_out` does it."""

    def __init__(self, execute: Execute, here: ReplayPlace | None, to: ReplayMoment, page_id: int, number: int) -> None:
        """`here` None: nothing is made yet. `page_id`: the last page known at `to`; `number` grows with each move."""
        self._execute, self._to, self._page_id, self._number = execute, to, page_id, number
        steps = 0 if here is None else abs(to.attempt_id - here.moment.attempt_id)
        self._anew = here is None or steps > max(_FEW, to.attempt_id)
        self._here = ReplayPlace() if here is None or self._anew else here
        self._sign = -1 if to.attempt_id < self._here.moment.attempt_id else 1
        self._span = sorted((to.attempt_id, self._here.moment.attempt_id))
        # how much the counters of _COUNTERS change
        self._origins: dict[int, list[int]] = defaultdict(lambda: [0] * 8)
        self._jobs: dict[int, list[int]] = defaultdict(lambda: [0] * 5)
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
            execute(_JOB, (*changes[:4], job_id))

    def _tally(self, among: str, sign: int) -> None:
        for origin_id, job_id, *found in self._execute(_TALLY.format(among=among)):
            for changes in (self._origins[origin_id], self._jobs[job_id]):
                changes[:5] = [one + sign * (more or 0) for one, more in zip(changes[:5], found, strict=True)]

    def _count(self) -> None:
        for origin_id, *found in self._execute(_SUMS, self._span):
            self._origins[origin_id][5:] = [self._sign * one for one in found]
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
        self._asked = _asked_of(execute(_ACTIONS, (self._to.at,)))
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
        stored = self._execute(f"SELECT {_COUNTERS} FROM temp.origin WHERE id = ?", (row["id"],)).fetchone()
        sums = map(add, stored or (0,) * 8, self._origins.get(row["id"], (0,) * 8))
        counters = dict(zip(_COUNTERS.split(", "), sums, strict=True))
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
        then |= self._afresh(following, state) if afresh else dict(zip(_AFTER, state[2:], strict=True))
        return self._obeyed(row | counters | then | self._robots(row), finished[1] if over else 0)

    def _obeyed(self, then: dict[str, Any], finished_at: int) -> dict[str, Any]:
        """The row after what operators had asked of the origin. What a later attempt says holds in its place."""
        then |= {"paused": 0, "paused_at": 0, "paused_by": "", "operator_delay_ms": 0}
        for at, who, command in self._asked:
            origins = (command.origin,) if isinstance(command, commands.SetDelay) else command.origins
            if origins and then["origin"] not in origins:
                continue
            later = at > then["last_attempt_at"]
            if then["finish_reason"] in _REOPENED.get(type(command), ()) and at >= finished_at:
                then["finish_reason"] = ""
            match command:
                case commands.PauseOrigins():
                    then |= {"paused": 1, "paused_at": at, "paused_by": who}
                case commands.ResumeOrigins():
                    then |= {"paused": 0, "paused_at": 0, "paused_by": ""}
                case commands.SetDelay(delay_ms=delay_ms):
                    then["operator_delay_ms"] = delay_ms
                    then["delay_ms"] = max(then["delay_ms"], delay_ms if later and then["last_request_at"] else 0)
                case commands.TopUpPatience() if later:
                    then["patience"] = max(then["patience"], self._patience)
        return then

    def _afresh(self, following: Row | None, state: Row | None) -> dict[str, Any]:
        if following is not None and following[0] == self._run_id:
            patience, delay_ms = following[2:4]
        else:
            patience, delay_ms = self._patience, state[5] if state else 0
        return {"patience": patience, "politeness": self._politeness, "delay_ms": delay_ms, "delay_reason": ""}

    def _robots(self, row: dict[str, Any]) -> dict[str, Any]:
        """What was known of robots.txt; if it was fetched again since, its text and lifetime are those of now."""
        if row["robots_fetched_at"] <= self._to.at:
            return {}
        found = self._one(_ROBOTS, row, robots=f"{row['origin']}/robots.txt")
        lasts = row["robots_expires_at"] - row["robots_fetched_at"]
        if found is None:
            status, http_status, at, lasts = RobotsStatus.none, None, 0, 0
        else:
            code, http_status, at = found
            status = robots_status(ExitCode(code), http_status)
        names = ("robots_status", "robots_http_status", "robots_fetched_at", "robots_expires_at")
        return dict(zip(names, (status.value, http_status, at, at + lasts), strict=True))


def _asked_of(actions: Iterable[Row]) -> list[tuple[int, str, OriginCommand]]:
    """What operators asked of origins (none named: of all): when it was carried out, who, and the command."""
    asked = []
    for action, text, at, who in actions:
        with suppress(commands.BadCommand):
            command = commands.from_json(action, text)
            if isinstance(command, OriginCommand):
                asked.append((at, who, command))
    return asked


_SPAN_MS = 1_000  # what an attempt brought about is written down within this time after it
_NO_INDEX = frozenset({"page_done", "page_dripped", "origin_open"})  # of turns that nobody takes here
_AT, _ID = "(SELECT at FROM temp.moment)", "(SELECT attempt_id FROM temp.moment)"
_WHOLE = "(SELECT whole FROM temp.moment)"
_LASTS = {
    "heartbeat_at": f"MIN(s.heartbeat_at, {_AT})",
    **{name: f"CASE WHEN s.ended_at <= {_AT} THEN s.{name} ELSE 0 END" for name in ("ended_at", "clean")},
}
"""What of a session was not so before its end."""
_UP_TO = {
    f"id <= {_ID}": ("attempt",),
    f"attempt_id <= {_ID}": ("request", "attempt_result"),
    f"at <= {_AT}": ("activity", "ruleset"),
    f"at + length <= {_AT} OR {_WHOLE}": ("pulse", "gauge"),
    f"created_at <= {_AT}": ("exclusion",),
    f"first_seen_at <= {_AT}": ("link",),
    f"seen_at <= {_AT}": ("redirect",),
    f"stored_at <= {_AT}": ("document",),
    f"(SELECT o.last_attempt_at FROM main.origin o WHERE o.id = origin_id) <= {_AT}": ("refused",),
}
_VIEWED = {
    **{one: f"SELECT * FROM main.{one} WHERE {which}" for which, tables in _UP_TO.items() for one in tables},
    "operator_action": f"""SELECT id, at, who, action, target, command, "before",
    CASE WHEN applied_at <= {_AT} THEN "after" ELSE '' END AS "after",
    CASE WHEN applied_at <= {_AT} THEN error ELSE '' END AS error,
    CASE WHEN applied_at <= {_AT} THEN applied_at ELSE 0 END AS applied_at, undoes, undone
FROM main.operator_action WHERE at <= {_AT}""",
    "session": f"SELECT {columns_of(Session, 's', _LASTS, named=True)} FROM main.session s WHERE s.started_at <= {_AT}",
    "exit_minute": f"""SELECT origin_id, ended_at / {MINUTE_MS} AS minute, exit_code, COUNT(*) AS count
FROM main.attempt WHERE id > (SELECT recent_id FROM temp.moment) AND id <= {_ID} GROUP BY 1, 2, 3
UNION ALL SELECT {ALL_ORIGINS}, ended_at / {MINUTE_MS} AS minute, exit_code, COUNT(*)
FROM main.attempt WHERE id > (SELECT recent_id FROM temp.moment) AND id <= {_ID} GROUP BY 2, 3""",
}
"""The tables of which entries are let through up to the moment."""

_LATEST = """SELECT COALESCE((SELECT at FROM main.activity ORDER BY id DESC LIMIT 1), 0),
    COALESCE((SELECT MAX(applied_at) FROM main.operator_action), 0)"""
_MARKS = """SELECT {least}(at) FROM (SELECT {least}(at) AS at FROM main.activity WHERE origin_id = 0 AND at {sign} :at
UNION ALL SELECT {least}(at) FROM main.operator_action WHERE at {sign} :at)"""


class ReplayedReader(Reader):
    """A reader whose queries all go to the connection that has the tables as of then."""

    @contextmanager
    def moment(self) -> Iterator[Callable[[str, Values], Iterator[Row]]]:
        try:
            yield connection_of(self._database).execute
        except DATABASE_ERRORS as error:
            raise self._failure(error) from error

    @contextmanager
    def scratch(self) -> Iterator[Execute]:
        """What executes statements that change TEMP tables; all of them, or none where one fails or is stopped."""
        with self._lock:
            self._place.check()
            connection = connection_of(self._database)
            try:
                connection.execute("PRAGMA query_only = 0")  # the file itself was opened to be read alone
                connection.execute("BEGIN")
                yield connection.execute
                connection.execute("COMMIT")
            except DATABASE_ERRORS as error:
                raise self._failure(error) from error
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                connection.execute("PRAGMA query_only = 1")

    def define(self, now: Callable[[], int]) -> None:
        """The functions that the tables of then are made with; the clock of SQL says `now` (epoch ms)."""
        connection = connection_of(self._database)
        connection.create_function("julianday", 1, lambda _: now() / 86_400_000 + 2_440_587.5)
        connection.create_aggregate("page_fold", 3, PageFold)


class ReplayedTables:
    """The tables as of then. Used in one thread."""

    def __init__(self, reader: ReplayedReader, run_id: int | None = None) -> None:
        """`run_id`: of this run alone, None: of all."""
        self._reader, self._run_id = reader, run_id
        self._stand: ReplayPlace | None = None
        self._moves = 0
        reader.define(lambda: self.moment.at)
        with reader.scratch() as execute:
            _create(execute)

    @property
    def moment(self) -> ReplayMoment:
        """Where they stand."""
        return self._stand.moment if self._stand is not None else ReplayMoment()

    def span(self) -> ReplaySpan:
        """From where to where the log can be gone through now: while a run is at work the end moves on."""
        number, run_id = self._reader.number, self._run_id
        before, last = 0, number("SELECT COALESCE(MAX(id), 0) FROM main.attempt")
        among, values = "", list[int]()
        if run_id is not None:
            before, last = (self._last_by("attempt", "run_id", one) for one in (run_id - 1, run_id))
            among, values = "WHERE id = ?", [run_id]
        began = number(f"SELECT COALESCE(MIN(started_at), 0) FROM main.run {among}", values)
        ended = number(f"SELECT COALESCE(MAX(finished_at), 0) FROM main.run {among}", values)
        if run_id is None or run_id == number("SELECT COALESCE(MAX(id), 0) FROM main.run"):
            ended = max(ended, *self._reader.all(_LATEST)[0])
        if last > before:
            ended = max(ended, self._ended_at(last))
        return ReplaySpan(ReplayMoment(began, before), ReplayMoment(max(began, ended), last))

    def go(self, goal: ReplayGoal) -> ReplayMoment:
        """Goes there, as far as the log goes. Raises ReadingStopped, StorageFailure: then it stands where it was."""
        span = self.span()
        to = self._meant(goal, span)
        if self._stand is None or to != self.moment:
            page_id = self._last_by("page", "created_at", to.at)
            recent_id = self._last_by("attempt", "ended_at", (to.at // MINUTE_MS - RECENT_MINUTES) * MINUTE_MS)
            with self._reader.scratch() as execute:
                execute("DELETE FROM temp.moment")
                values = (to.at, to.attempt_id, recent_id, to == span.last)
                execute("INSERT INTO temp.moment (at, attempt_id, recent_id, whole) VALUES (?, ?, ?, ?)", values)
                stand = Move(execute, self._stand, to, page_id, self._moves + 1).carry_out()
            self._stand, self._moves = stand, self._moves + 1
        return self.moment

    def _meant(self, goal: ReplayGoal, span: ReplaySpan) -> ReplayMoment:
        here = self.moment
        if goal.at is not None:
            return self._up_to(goal.at, span)
        if goal.marks:
            least, sign = ("MIN", ">") if goal.marks > 0 else ("MAX", "<")
            at = self._reader.one(_MARKS.format(least=least, sign=sign), {"at": here.at})
            end = span.last if goal.marks > 0 else span.first
            return end if at is None or at[0] is None else self._up_to(at[0], span)
        problem = " AND problem = 1" if goal.failures else ""
        steps = goal.failures or goal.attempts
        way, order = (">", "") if steps > 0 else ("<", " DESC")
        text = f"SELECT id FROM main.attempt WHERE id {way} ?{problem} ORDER BY id{order} LIMIT 1 OFFSET ?"
        found = self._reader.one(text, (here.attempt_id, abs(steps) - 1))
        if found is None or found[0] <= span.first.attempt_id or found[0] > span.last.attempt_id:
            return here if problem else span.last if steps > 0 else span.first
        attempt_id = found[0]
        if attempt_id == span.last.attempt_id:
            return span.last
        # after the attempt, when what it brought about is written down, and before the next one
        ended_at, following = self._ended_at(attempt_id), self._ended_at(attempt_id + 1)
        return ReplayMoment(max(ended_at, min(ended_at + _SPAN_MS, following - 1)), attempt_id)

    def _ended_at(self, attempt_id: int) -> int:
        text = "SELECT ended_at FROM main.attempt WHERE id >= ? ORDER BY id LIMIT 1"
        return int((self._reader.one(text, (attempt_id,)) or (0,))[0])

    def _up_to(self, at: int, span: ReplaySpan) -> ReplayMoment:
        at = max(span.first.at, min(at, span.last.at))
        if at >= span.last.at:
            return span.last
        found = self._last_by("attempt", "ended_at", at)
        return ReplayMoment(at, max(span.first.attempt_id, min(found, span.last.attempt_id)))

    def _last_by(self, table: str, column: str, at: int) -> int:
        """The last id of a table that grows with time, up to a time."""
        text = f"SELECT id, {column} FROM main.{table} WHERE id >= ? ORDER BY id LIMIT 1"
        newest = self._reader.number(f"SELECT COALESCE(MAX(id), 0) FROM main.{table}")
        return self._reader.first_since(text, (), at + 1, 1, newest + 1) - 1


def _create(execute: Execute) -> None:
    execute("CREATE TEMP TABLE moment (at INTEGER, attempt_id INTEGER, recent_id INTEGER, whole INTEGER)")
    execute("INSERT INTO temp.moment VALUES (0, 0, 0, 0)")
    execute("CREATE TEMP TABLE touched (id INTEGER PRIMARY KEY)")
    made = ", ".join(f"'{name}'" for name in MADE)
    text = f"SELECT type, name, sql FROM main.sqlite_master WHERE tbl_name IN ({made}) AND sql <> '' ORDER BY type DESC"
    for kind, name, sql in execute(text).fetchall():
        if name not in _NO_INDEX:
            execute(re.sub(rf'{kind} "?{name}"?', f'{kind} temp."{name}"', sql, count=1, flags=re.IGNORECASE))
    for name, select in (*_VIEWED.items(), *VIEWS.items()):
        execute(f"CREATE TEMP VIEW {name} AS {select}")
