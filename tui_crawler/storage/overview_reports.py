"""What the overview shows: the run, its origins and totals, the log of attempts. Loaded before all other reports."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from tui_crawler.domain.cut import cut_names
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.view import AttemptView, OriginChanges, OriginView, RunView, TotalsView
from tui_crawler.storage.exit_keys import ALL_ORIGINS
from tui_crawler.storage.id_span import Span
from tui_crawler.storage.owner import Hold, Owner, this_process
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import NOW_MS, ORIGIN_STATE

_SEVERAL = 0  # no exit code
_SILENT_MS = 2_500  # more than lies between two signs of life of an engine that stores what it is given
_ROOM = 65_536  # bytes; a commit takes more

_OPEN = """EXISTS (SELECT 1 FROM page p WHERE p.origin_id = o.id AND p.job_id = j.id AND p.status = 0
        AND p.attempts_remaining > 0 AND p.beyond_depth = 0)"""

_ASLEEP_UNTIL = f"""CASE
    WHEN o.todo = 0 AND o.pending > 0 AND o.finish_reason = '' AND o.robots_expires_at > {NOW_MS}
        AND EXISTS (SELECT 1 FROM job j WHERE j.aborted = 0 AND j.concurrency = 0 AND {_OPEN})
        AND NOT EXISTS (SELECT 1 FROM job j WHERE j.aborted = 0 AND COALESCE(j.concurrency, 1) > 0 AND {_OPEN})
    THEN {HELD} ELSE o.asleep_until END"""
"""When origin `o` looks for work again. That its jobs are paused it finds out once its delay is over; this says so at
once."""

ORIGINS = f"""SELECT o.origin, o.change, {ORIGIN_STATE}, o.finish_reason, o.paused, o.patience,
    COALESCE((SELECT patience FROM run ORDER BY id DESC LIMIT 1), 0), o.politeness, o.delay_ms, o.delay_reason,
    o.operator_delay_ms, o.next_request_at, {_ASLEEP_UNTIL}, o.robots_status, o.robots_fetched_at,
    o.robots_expires_at, o.crawl_delay_ms, o.todo, o.pending, o.done, o.failed, o.blocked, o.requests, o.bytes,
    o.in_flight_url, o.last_url, o.last_exit_code, o.last_http_status, o.last_attempt_at, o.last_response_ms,
    o.paused_at, o.paused_by, COALESCE(s.worker, ''), o.discovered, o.in_flight_since,
    o.robots_http_status,
    CASE WHEN o.robots_status = 'unreachable' THEN COALESCE((SELECT a.message FROM attempt a
        WHERE a.origin_id = o.id AND a.kind = 'robots' ORDER BY a.id DESC LIMIT 1), '') ELSE '' END,
    CASE WHEN o.finish_reason = 'exhausted' AND o.blocked > 0 AND o.pending + o.done + o.failed = 0 THEN (
        SELECT CASE WHEN MIN(r.last_exit_code) = MAX(r.last_exit_code) THEN MIN(r.last_exit_code) ELSE {_SEVERAL} END
        FROM page r WHERE r.origin_id = o.id) END,
    COALESCE((SELECT e.count FROM exit_count e WHERE e.run_id = (SELECT MAX(id) FROM run) AND e.origin_id = o.id
        AND e.exit_code = {ExitCode.not_canonical.value}), 0)
FROM origin o LEFT JOIN session s ON s.id = o.session_id"""

_RUN = """SELECT r.id, r.started_at, r.finished_at, r.finish_reason, r.requests, r.user_agent, r.config_name,
    r.max_in_flight, r.max_requests, s.host, s.machine, s.pid, s.process_started_ms, s.started_at, s.heartbeat_at,
    s.lease_ms, s.ended_at, r.tries, r.worked_ms,
    COALESCE((SELECT value FROM meta WHERE name = 'unverified'), 0)
FROM run r JOIN session s ON s.run_id = r.id AND s.rest = 0 ORDER BY s.id DESC LIMIT 1"""

_PAUSED_JOBS = "SELECT id FROM job WHERE concurrency = 0 AND aborted = 0 ORDER BY id"

_TOTALS = """SELECT COALESCE(SUM(todo), 0), COALESCE(SUM(pending), 0),
    COALESCE(SUM(CASE WHEN joined = 'external' THEN 0 ELSE done END), 0),
    COALESCE(SUM(failed), 0), COALESCE(SUM(blocked), 0), COALESCE(SUM(requests), 0), COALESCE(SUM(bytes), 0),
    COALESCE(SUM(attempts), 0)
FROM origin"""

_CUT = """SELECT (SELECT COUNT(*) FROM document WHERE incomplete != '') + (SELECT COUNT(*) FROM attempt a
    JOIN page p ON p.id = a.page_id AND p.last_attempt_id = a.id LEFT JOIN document d ON d.page_id = p.id
    WHERE a.cut != '' AND d.page_id IS NULL)"""

EXITS_OF_RUN = """SELECT exit_code, count FROM exit_count
WHERE run_id = (SELECT MAX(id) FROM run) AND origin_id = ? ORDER BY count DESC, exit_code"""

ATTEMPTS = """SELECT a.id, a.run_id, u.href, o.origin, a.kind, a.exit_code, a.http_status, a.started_at, a.ended_at,
    a.response_ms, a.bytes, a.requests, a.patience_after, a.politeness_after, a.delay_ms_after, s.worker, a.message,
    a.patience_before, a.delay_reason, a.decided_by, a.new_pages, COALESCE(d.title, ''), a.ruleset_id,
    a.cut
FROM attempt a JOIN url u ON u.id = a.url_id JOIN origin o ON o.id = a.origin_id
    JOIN session s ON s.id = a.session_id LEFT JOIN document d ON d.page_id = a.page_id"""

OF_ORIGIN = "a.origin_id = (SELECT id FROM origin WHERE origin = ?)"


def run_view(reader: Reader, now: int) -> RunView | None:
    """The newest run, None when there was none. `now` (epoch ms) judges the lease of an owner elsewhere."""
    row = reader.one(_RUN)
    if row is None:
        return None
    owner = Owner(*row[9:13])
    hold = Hold(owner, *row[13:16])
    live = not row[16] and hold.is_live(this_process(), now)
    paused = tuple(job for (job,) in reader.all(_PAUSED_JOBS))
    full = live and now - hold.heartbeat_at > _SILENT_MS and reader.free_bytes() < _ROOM
    values = [*row[:7], live, owner.describe(), hold.heartbeat_at, *row[7:9], row[17], full, row[18], paused, row[19]]
    return RunView(*values)


def totals(reader: Reader) -> TotalsView:
    """Sums over all origins, and the exit codes of the newest run."""
    sums = reader.all(_TOTALS)[0]
    exits = tuple((exit_name(code), count) for code, count in reader.all(EXITS_OF_RUN, (ALL_ORIGINS,)))
    values = [*sums, exits]
    return TotalsView(*values)


def pages_cut(reader: Reader) -> int:
    """How many pages have something in `v_page.incomplete`; the indices know them."""
    number: int = reader.all(_CUT)[0][0]
    return number


def documents_waiting(reader: Reader) -> int:
    """How many documents wait for validators and data rules; an index knows them."""
    number: int = reader.all("SELECT COUNT(*) FROM document WHERE parsed_at < 0")[0][0]
    return number


def origins_changed(reader: Reader, since: int) -> OriginChanges:
    """Origins that changed after the change number `since`."""
    rows = tuple(_origin_view(row) for row in reader.all(f"{ORIGINS} WHERE o.change > ? ORDER BY o.change", (since,)))
    return OriginChanges(rows[-1].change if rows else since, rows)


def origin_view(reader: Reader, name: str) -> OriginView | None:
    """One origin, None when it is unknown."""
    row = reader.one(f"{ORIGINS} WHERE o.origin = ?", (name,))
    return _origin_view(row) if row else None


def attempts(reader: Reader, origin: str, span: Span, problems_only: bool) -> tuple[AttemptView, ...]:
    """A stretch of the log: of one origin, or of all for an empty name."""
    conditions = [*((OF_ORIGIN,) if origin else ()), *(("a.problem = 1",) if problems_only else ())]
    values = (*((origin,) if origin else ()), *span.values)
    rows = reader.all(f"{ATTEMPTS}{span.ending('a.id', *conditions)}", values)
    return tuple(attempt_view(row) for row in rows)


def exit_name(code: int | None) -> str:
    """The name of a stored exit code; an unknown one (of a newer program) is its number."""
    if code is None:
        return ""
    try:
        return ExitCode(code).name
    except ValueError:
        return str(code)


def attempt_view(row: Row) -> AttemptView:
    """An attempt of a row that `ATTEMPTS` gave."""
    values = [*row[:5], exit_name(row[5]), *row[5:-1], cut_names(row[-1])]
    return AttemptView(*values)


def _origin_view(row: Row) -> OriginView:
    name, change, state, finish_reason, paused, *rest = row
    before, code, after, refused = rest[:21], rest[21], rest[22:-2], rest[-2]
    refused_as = "several" if refused == _SEVERAL else exit_name(refused)
    values = [name, change, state, finish_reason, bool(paused), *before, exit_name(code), *after, refused_as, rest[-1]]
    return OriginView(*values)
