"""What the overview shows: the run, its origins and totals, the log of attempts. Loaded before all other reports."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from collections.abc import Iterator

from tui_crawler.domain.crawl.cut import cut_names
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.exit_code import DOCUMENTS, ExitCode, exit_name, lost_words
from tui_crawler.domain.records.status_words import GAVE_UP
from tui_crawler.domain.records.view import AttemptView, OriginView, RunView, TotalsView
from tui_crawler.storage.db.owner import OpenSession, Owner, this_process
from tui_crawler.storage.db.reader import From, IdSpan, RowMapper, SubjectReports, among, selected
from tui_crawler.storage.db.views import ALL_ORIGINS, NOW_MS, ORIGIN_STATE

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

DONE = "CASE WHEN joined = 'external' THEN 0 ELSE done END"
PAGES_ONLY = "p.external = 0"
"""Pages count, and checks do not (`domain/records/page.py`): of an origin, and in a query of pages."""

_OF_ORIGIN = {
    "state": ORIGIN_STATE,
    "patience_max": "COALESCE((SELECT patience FROM run ORDER BY id DESC LIMIT 1), 0)",
    "asleep_until": _ASLEEP_UNTIL,
    "worker": "COALESCE(s.worker, '')",
    "robots_message": """CASE WHEN o.robots_status = 'unreachable' THEN COALESCE((SELECT a.message FROM attempt a
        WHERE a.origin_id = o.id AND a.kind = 'robots' ORDER BY a.id DESC LIMIT 1), '') ELSE '' END""",
    "refused_as": f"""CASE WHEN o.finish_reason = 'exhausted' AND o.blocked > 0 AND o.pending + o.done + o.failed = 0
        THEN (SELECT CASE WHEN MIN(r.last_exit_code) = MAX(r.last_exit_code) THEN MIN(r.last_exit_code)
        ELSE {_SEVERAL} END FROM page r WHERE r.origin_id = o.id) END""",
    "not_canonical": f"""COALESCE((SELECT e.count - (SELECT COUNT(*) FROM canonical_claim c
            JOIN page p ON p.id = c.page_id WHERE p.origin_id = o.id AND c.run_id = e.run_id)
        FROM exit_count e WHERE e.run_id = (SELECT MAX(id) FROM run)
        AND e.origin_id = o.id AND e.exit_code = {ExitCode.not_canonical.value}), 0)""",
}
"""What a view of an origin has beside the columns of its row, which bear the names of their fields."""

HAS_DOCUMENT = f"EXISTS (SELECT 1 FROM page p WHERE p.origin_id = o.id AND {among('p.last_exit_code', DOCUMENTS)})"
"""Whether a page of origin `o` has a document."""

_LED_ON = f"""EXISTS (WITH RECURSIVE x (id, hops) AS (
    SELECT s.id, 0 FROM page s WHERE s.origin_id = o.id AND s.seed = 1
    UNION SELECT q.id, hops + 1 FROM x JOIN redirect r ON r.page_id = x.id JOIN page q ON q.url_id = r.to_url_id
        WHERE hops < 20)
    SELECT 1 FROM x JOIN page q ON q.id = x.id WHERE {among("q.last_exit_code", DOCUMENTS)})"""
EMPTY = f"""o.participates = 1 AND o.finish_reason <> '' AND o.joined <> 'external' AND NOT {HAS_DOCUMENT}
    AND NOT {_LED_ON}"""
"""Whether origin `o` has ended without a document of its seeds."""
ORIGINS = f"""SELECT {selected(OriginView, "o", empty=None, **_OF_ORIGIN)},
    seed.id AS seed_id, seed.last_exit_code AS seed_code, a.message AS seed_message
FROM origin o LEFT JOIN session s ON s.id = o.session_id AND o.participates = 1
    LEFT JOIN page seed ON seed.id = CASE WHEN {EMPTY}
        THEN (SELECT MIN(p.id) FROM page p WHERE p.origin_id = o.id AND p.seed = 1) END
    LEFT JOIN attempt a ON a.id = seed.last_attempt_id"""
"""Origins, each with its first seed where it is empty."""

_RUN = """SELECT r.id AS run_id, r.started_at, r.finished_at, r.finish_reason, r.requests, r.user_agent, r.config_name,
    0 AS live, r.max_in_flight, r.max_requests, r.tries, r.worked_ms,
    COALESCE((SELECT value FROM meta WHERE name = 'unverified'), 0) AS unverified
FROM run r JOIN session s ON s.run_id = r.id AND s.rest = 0 ORDER BY s.id DESC LIMIT 1"""

_PAST = """SELECT id AS run_id, started_at, finished_at, finish_reason, requests, user_agent, config_name, 0 AS live,
    worked_ms
FROM run ORDER BY id DESC LIMIT ?"""

_HOLDS = """SELECT s.host, s.machine, s.pid, s.process_started_ms, s.started_at, s.heartbeat_at, s.lease_ms
FROM session s WHERE s.run_id = ? AND s.rest = 0"""
_OPEN_HOLDS, _LAST_HOLD = f"{_HOLDS} AND s.ended_at = 0 ORDER BY s.id", f"{_HOLDS} ORDER BY s.id DESC LIMIT 1"

_PAUSED_JOBS = "SELECT id FROM job WHERE concurrency = 0 AND aborted = 0 ORDER BY id"

_TOTALS = f"""SELECT COALESCE(SUM(todo), 0) AS todo, COALESCE(SUM(pending), 0) AS pending,
    COALESCE(SUM({DONE}), 0) AS done, COALESCE(SUM(failed), 0) AS failed,
    COALESCE(SUM(blocked), 0) AS blocked, COALESCE(SUM(requests), 0) AS requests, COALESCE(SUM(bytes), 0) AS bytes,
    COALESCE(SUM(attempts), 0) AS attempts, COALESCE(SUM(pages_known), 0) AS known
FROM origin"""

EXITS_OF_RUN = """SELECT exit_code, count FROM exit_count
WHERE run_id = (SELECT MAX(id) FROM run) AND origin_id = ? ORDER BY count DESC, exit_code"""

_OF_ATTEMPT = {"attempt_id": "a.id", "exit_code_id": "a.exit_code", "title": "COALESCE(d.title, '')"}
_OF_ATTEMPT |= {"url": "u.href", "origin": "o.origin", "worker": "s.worker"}
ATTEMPTS = f"""SELECT {selected(AttemptView, "a", **_OF_ATTEMPT)}
FROM attempt a JOIN url u ON u.id = a.url_id JOIN origin o ON o.id = a.origin_id
    JOIN session s ON s.id = a.session_id LEFT JOIN document d ON d.page_id = a.page_id"""

OF_ORIGIN = "a.origin_id = (SELECT id FROM origin WHERE origin = ?)"


class OverviewReports(SubjectReports):
    """The newest run, origins, totals, attempts."""

    def run(self) -> RunView | None:
        """The newest run, None when there was none; it is live as long as one of its workers is, and its owner is the
        one of them that leads."""
        now, reader = self._now(), self._reader
        run = reader.record(RunView, _RUN)
        if run is None:
            return None
        here = this_process()
        leading = next((hold for hold in self._holds(_OPEN_HOLDS, run.run_id) if hold.is_live(here, now)), None)
        live, hold = leading is not None, leading or next(self._holds(_LAST_HOLD, run.run_id))
        disk_full = live and now - hold.heartbeat_at > _SILENT_MS and reader.free_bytes() < _ROOM
        paused_jobs = tuple(job for (job,) in reader.all(_PAUSED_JOBS))
        owner, at = hold.owner.describe(), hold.heartbeat_at
        return replace(run, live=live, owner=owner, heartbeat_at=at, disk_full=disk_full, paused_jobs=paused_jobs)

    def _holds(self, text: str, run_id: int) -> Iterator[OpenSession]:
        return (OpenSession(Owner(*row[:4]), *row[4:]) for row in self._reader.all(text, (run_id,)))

    def config_text(self) -> str:
        """The effective configuration of the newest run, empty when there was none."""
        return str((self._reader.one("SELECT config_text FROM run ORDER BY id DESC LIMIT 1") or ("",))[0])

    def runs(self, limit: int) -> tuple[RunView, ...]:
        """The newest runs, newest first; `live` is not told."""
        return self._reader.records(RunView, _PAST, (limit,))

    def totals(self) -> TotalsView:
        """Sums over all origins, and the exit codes of the newest run."""
        exits = tuple((exit_name(code), count) for code, count in self._reader.all(EXITS_OF_RUN, (ALL_ORIGINS,)))
        return replace(self._reader.records(TotalsView, _TOTALS)[0], exit_codes=exits)

    def of_run(self) -> tuple[int, int, int]:
        """Of the origins of the newest run: how many ended it by patience or database_error; their pages that are done
        and those that have failed."""
        ends = ", ".join(f"'{reason}'" for reason in sorted(GAVE_UP))
        sums = f"COUNT(*) FILTER (WHERE finish_reason IN ({ends})), SUM({DONE}), SUM(failed)"
        gave_up, done, failed = self._reader.all(f"SELECT {sums} FROM origin WHERE participates = 1")[0]
        return gave_up or 0, done or 0, failed or 0

    def documents_waiting(self) -> int:
        """How many stored documents wait for validators and data rules; an index knows them."""
        return self._reader.number("SELECT COUNT(*) FROM document WHERE parsed_at < 0")

    def origins_changed(self, since: int = 0) -> tuple[OriginView, ...]:
        """Origins that changed after the change number `since`, oldest change first; 0 gives all."""
        return self._reader.records(ORIGIN, f"{ORIGINS} WHERE o.change > ? ORDER BY o.change", (since,))

    def origin(self, origin: str) -> OriginView | None:
        """One origin, None when it is unknown."""
        return self._reader.record(ORIGIN, f"{ORIGINS} WHERE o.origin = ?", (origin,))

    def attempts(
        self, origin: str = "", before_id: int = 0, after_id: int = 0, limit: int = 200
    ) -> tuple[AttemptView, ...]:
        """A window of the crawl log, newest first: older than `before_id` and newer than `after_id` (0: no bound)."""
        span, of_origin = IdSpan(before_id, after_id, limit), (OF_ORIGIN,) if origin else ()
        values = (*((origin,) if origin else ()), *span.values)
        return self._reader.records(ATTEMPT, f"{ATTEMPTS}{span.ending('a.id', *of_origin)}", values)


ATTEMPT = RowMapper(AttemptView, exit_code=exit_name, cut=cut_names)
"""An attempt of a row that `ATTEMPTS` gave."""

ORIGIN = RowMapper(
    OriginView,
    last_exit_code=exit_name,
    refused_as=lambda code: "several" if code == _SEVERAL else exit_name(code),
    empty=From("seed_id seed_code seed_message", lambda seed, code, said: lost_words(code, said or "") if seed else ""),
)
