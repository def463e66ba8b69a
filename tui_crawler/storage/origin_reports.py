"""Reports on the run and its origins: what the overview shows."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.policy import Exclusion
from tui_crawler.domain.view import (
    ActionView,
    ExitCountView,
    OriginChanges,
    OriginView,
    RefusedView,
    RunView,
    TodoView,
    TotalsView,
)
from tui_crawler.storage.counters import ALL_ORIGINS, MINUTE_MS, RECENT_MINUTES
from tui_crawler.storage.id_span import Span
from tui_crawler.storage.owner import Hold, Owner, this_process
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row
from tui_crawler.storage.views import ORIGIN_STATE

_ORIGINS = f"""SELECT o.origin, o.change, {ORIGIN_STATE}, o.finish_reason, o.paused, o.patience,
    COALESCE((SELECT patience FROM run ORDER BY id DESC LIMIT 1), 0), o.politeness, o.delay_ms, o.delay_reason,
    o.operator_delay_ms, o.next_request_at, o.asleep_until, o.robots_status, o.robots_fetched_at,
    o.robots_expires_at, o.crawl_delay_ms, o.todo, o.pending, o.done, o.failed, o.blocked, o.requests, o.bytes,
    o.in_flight_url, o.last_url, o.last_exit_code, o.last_http_status, o.last_attempt_at, o.last_response_ms,
    o.paused_at, o.paused_by, COALESCE(s.worker, ''), o.discovered, o.in_flight_since,
    o.robots_http_status
FROM origin o LEFT JOIN session s ON s.id = o.session_id"""

_RUN = """SELECT r.id, r.started_at, r.finished_at, r.finish_reason, r.requests, r.user_agent, r.config_name,
    r.max_in_flight, r.max_requests, s.host, s.machine, s.pid, s.process_started_ms, s.started_at, s.heartbeat_at,
    s.lease_ms, s.ended_at, r.tries
FROM run r JOIN session s ON s.run_id = r.id AND s.rest = 0 ORDER BY s.id DESC LIMIT 1"""

_TODO = """SELECT u.href, p.depth, p.nice, p.attempts, p.attempts_remaining, p.not_before, p.seed,
    COALESCE(d.title, ''), COALESCE(fu.href, '')
FROM page p JOIN url u ON u.id = p.url_id LEFT JOIN document d ON d.page_id = p.id
    LEFT JOIN page f ON f.id = p.found_on_page_id LEFT JOIN url fu ON fu.id = f.url_id
WHERE p.origin_id = (SELECT id FROM origin WHERE origin = ?) AND p.todo_order > 0
ORDER BY p.todo_order LIMIT ?"""

_TOTALS = """SELECT COALESCE(SUM(todo), 0), COALESCE(SUM(pending), 0), COALESCE(SUM(done), 0),
    COALESCE(SUM(failed), 0), COALESCE(SUM(blocked), 0), COALESCE(SUM(requests), 0), COALESCE(SUM(bytes), 0),
    COALESCE(SUM(attempts), 0)
FROM origin"""

_EXITS_OF_RUN = """SELECT exit_code, count FROM exit_count
WHERE run_id = (SELECT MAX(id) FROM run) AND origin_id = ? ORDER BY count DESC, exit_code"""

_RECENT_EXITS = """SELECT exit_code, SUM(count) FROM exit_minute
WHERE origin_id = ? AND minute > ? GROUP BY exit_code"""

_ACTIONS = """SELECT id, at, who, action, target, "before", "after", undone, applied_at > 0, error, command
FROM operator_action"""


def run_view(reader: Reader, now: int) -> RunView | None:
    """The newest run, None when there was none. `now` (epoch ms) judges the lease of an owner elsewhere."""
    row = reader.one(_RUN)
    if row is None:
        return None
    owner = Owner(*row[9:13])
    hold = Hold(owner, *row[13:16])
    live = not row[16] and hold.is_live(this_process(), now)
    values = [*row[:7], live, owner.describe(), hold.heartbeat_at, *row[7:9], row[17]]
    return RunView(*values)


def totals(reader: Reader) -> TotalsView:
    """Sums over all origins, and the exit codes of the newest run."""
    sums = reader.all(_TOTALS)[0]
    exits = tuple((exit_name(code), count) for code, count in reader.all(_EXITS_OF_RUN, (ALL_ORIGINS,)))
    values = [*sums, exits]
    return TotalsView(*values)


def origins_changed(reader: Reader, since: int) -> OriginChanges:
    """Origins that changed after the change number `since`."""
    rows = tuple(_origin_view(row) for row in reader.all(f"{_ORIGINS} WHERE o.change > ? ORDER BY o.change", (since,)))
    return OriginChanges(rows[-1].change if rows else since, rows)


def origin_view(reader: Reader, name: str) -> OriginView | None:
    """One origin, None when it is unknown."""
    row = reader.one(f"{_ORIGINS} WHERE o.origin = ?", (name,))
    return _origin_view(row) if row else None


def todo(reader: Reader, origin: str, limit: int) -> tuple[TodoView, ...]:
    """The first pages of a todo list."""
    rows = ([*row[:6], bool(row[6]), *row[7:]] for row in reader.all(_TODO, (origin, limit)))
    return tuple(TodoView(*row) for row in rows)


def exit_counts(reader: Reader, origin: str, now: int) -> tuple[ExitCountView, ...]:
    """How often each exit code ended an attempt: of one origin, or of all for an empty name; most frequent first.

    `recent` counts the present minute and the four before it.
    """
    origin_id = ALL_ORIGINS
    if origin:
        found = reader.one("SELECT id FROM origin WHERE origin = ?", (origin,))
        if found is None:
            return ()
        origin_id = found[0]
    of_run: dict[int, int] = dict(reader.all(_EXITS_OF_RUN, (origin_id,)))
    recent: dict[int, int] = dict(reader.all(_RECENT_EXITS, (origin_id, now // MINUTE_MS - RECENT_MINUTES)))
    codes = [*of_run, *(code for code in recent if code not in of_run)]
    return tuple(ExitCountView(exit_name(code), of_run.get(code, 0), recent.get(code, 0)) for code in codes)


def refused(reader: Reader, origin: str) -> tuple[RefusedView, ...]:
    """Links that filters refused, by reason: of one origin, or of all for an empty name."""
    text = "SELECT origin, reason, count, sample_url FROM v_refused"
    if origin:
        rows = reader.all(f"{text} WHERE origin = ? ORDER BY count DESC, reason", (origin,))
    else:
        rows = reader.all(f"{text} ORDER BY count DESC, origin, reason")
    return tuple(RefusedView(*row) for row in rows)


def actions(reader: Reader, span: Span) -> tuple[ActionView, ...]:
    """A stretch of the operator journal."""
    found = reader.all(f"{_ACTIONS}{span.ending('id')}", span.values)
    rows = ([*row[:7], bool(row[7]), bool(row[8]), *row[9:]] for row in found)
    return tuple(ActionView(*row) for row in rows)


def exclusions(reader: Reader) -> tuple[Exclusion, ...]:
    """The exclusion list as operators have extended it."""
    rows = reader.all("SELECT kind, value, reason, who, source FROM exclusion ORDER BY id")
    return tuple(Exclusion(*row) for row in rows)


def exit_name(code: int | None) -> str:
    """The name of a stored exit code; an unknown one (of a newer program) is its number."""
    if code is None:
        return ""
    try:
        return ExitCode(code).name
    except ValueError:
        return str(code)


def _origin_view(row: Row) -> OriginView:
    name, change, state, finish_reason, paused, *rest = row
    before, code, after = rest[:21], rest[21], rest[22:]
    values = [name, change, state, finish_reason, bool(paused), *before, exit_name(code), *after]
    return OriginView(*values)
