"""Reports on what is crawled and by whom: todo lists, exit codes, refusals; jobs, stashes, pages in limbo,
segments, sessions, workers, validations."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from tui_crawler.domain.history.pulse import MINUTE_MS
from tui_crawler.domain.records.exit_code import exit_name
from tui_crawler.domain.records.operator_view import JobView, LimboView, SessionView, StashView, ValidationTotals
from tui_crawler.domain.records.page_view import ExitCountView, RefusedView, TodoView
from tui_crawler.domain.records.worker import WorkerView, state_of
from tui_crawler.storage.db.owner import Owner
from tui_crawler.storage.db.reader import From, RowMapper, SubjectReports, selected
from tui_crawler.storage.db.views import ALL_ORIGINS, JOB_STATUS, RECENT_MINUTES
from tui_crawler.storage.reports.overview import EXITS_OF_RUN

if TYPE_CHECKING:
    from tui_crawler.domain.records.segment import SegmentRow


_LISTED = {"url": "u.href", "title": "COALESCE(d.title, '')", "found_on": "COALESCE(fu.href, '')"}
_TODO = f"""SELECT {selected(TodoView, "p", **_LISTED)}
FROM page p JOIN url u ON u.id = p.url_id LEFT JOIN document d ON d.page_id = p.id
    LEFT JOIN page f ON f.id = p.found_on_page_id LEFT JOIN url fu ON fu.id = f.url_id
WHERE p.origin_id = (SELECT id FROM origin WHERE origin = ?) AND p.todo_order > 0
ORDER BY p.todo_order LIMIT ?"""

_RECENT_EXITS = "SELECT exit_code, SUM(count) FROM exit_minute WHERE origin_id = ? AND minute > ? GROUP BY exit_code"

_JOBS = f"""SELECT {selected(JobView, "jobs", job="name", status=JOB_STATUS, depth="max_depth")}
FROM (SELECT j.*, (SELECT COUNT(*) FROM page p WHERE p.status = 2 AND p.job_id = j.id) AS claimed FROM job j) AS jobs
ORDER BY id"""

_LIMBO = """SELECT u.href AS url, o.origin, j.name AS job, COALESCE(s.worker, '') AS worker, p.claimed_at,
    ? - p.claimed_at AS age_ms
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
    LEFT JOIN session s ON s.id = p.claimed_by
WHERE p.status = 2 AND p.claimed_at <= ? ORDER BY p.claimed_at, p.id"""

_STASHES = """SELECT j.name AS job, x.stash,
    (SELECT COUNT(*) FROM page p WHERE p.status = 4 AND p.job_id = x.job_id AND p.stash = x.stash) AS pages,
    (SELECT COUNT(*) FROM page p WHERE p.stash <> '' AND p.status <= 2 AND p.attempts_remaining > 0
        AND p.beyond_depth = 0 AND p.job_id = x.job_id AND p.stash = x.stash) AS ready,
    COALESCE(f.ready, 0) AS dripfeed
FROM (SELECT job_id, stash FROM dripfeed UNION SELECT DISTINCT job_id, stash FROM page WHERE status = 4) AS x
    JOIN job j ON j.id = x.job_id LEFT JOIN dripfeed f ON f.job_id = x.job_id AND f.stash = x.stash
ORDER BY j.name, x.stash"""

_HELD = "SELECT COUNT(*) FROM origin o WHERE o.session_id = s.id AND o.participates = 1 AND o.finish_reason = ''"
_OF_SESSION = {"session_id": "s.id", "origins": f"CASE WHEN s.ended_at <> 0 THEN 0 ELSE ({_HELD}) END", "cpu_ms": None}
_SESSIONS = f"""SELECT {selected(SessionView, "s", **_OF_SESSION)}, s.machine, s.process_started_ms
FROM session s ORDER BY s.id DESC LIMIT ?"""

_PROCESS = "ended_at host machine pid process_started_ms"
_SESSION = RowMapper(SessionView, cpu_ms=From(_PROCESS, lambda ended, *own: None if ended else Owner(*own).cpu_ms()))
_WORKERS = """SELECT s.id AS session_id, s.worker AS name, s.wanted AS state, s.slots, s.in_flight, s.lease_ms, s.host,
    (SELECT COUNT(*) FROM origin o WHERE o.session_id = s.id AND o.participates = 1 AND o.finish_reason = ''
        AND o.free = 0) AS origins,
    (SELECT COALESCE(SUM(p.pages), 0) FROM pulse p WHERE p.length = ? AND p.at >= ? AND p.session_id = s.id)
        AS pages_per_minute, s.heartbeat_at AS heartbeat_age_ms, s.pid, s.version, s.tags, s.matchonly, s.free_bytes,
    s.started_at, s.run_id, s.shared FROM session s WHERE s.ended_at = 0 AND s.rest = 0 ORDER BY s.id"""
_WORKER = RowMapper(WorkerView, tags=lambda text: tuple(text.split()))


class JobReports(SubjectReports):
    """Todo lists, exit codes and refusals; jobs, pages that are claimed or put aside, segments, the processes of a
    crawl, what validators said."""

    def todo(self, origin: str, limit: int = 200) -> tuple[TodoView, ...]:
        """The first pages of an origin's todo list, in the order of its turns."""
        return self._reader.records(TodoView, _TODO, (origin, limit))

    def exit_counts(self, origin: str, now: int) -> tuple[ExitCountView, ...]:
        """How often each exit code ended an attempt of the newest run, and in the present minute and the four before
        it up to `now` (epoch ms); most frequent first. An empty origin means all."""
        reader = self._reader
        origin_id = reader.origin_id(origin) if origin else ALL_ORIGINS
        if origin and not origin_id:
            return ()
        of_run: dict[int, int] = dict(reader.all(EXITS_OF_RUN, (origin_id,)))
        recent: dict[int, int] = dict(reader.all(_RECENT_EXITS, (origin_id, now // MINUTE_MS - RECENT_MINUTES)))
        codes = [*of_run, *(code for code in recent if code not in of_run)]
        return tuple(ExitCountView(exit_name(code), of_run.get(code, 0), recent.get(code, 0)) for code in codes)

    def refused(self, origin: str = "") -> tuple[RefusedView, ...]:
        """Links that filters refused, by reason, most frequent first."""
        where, values = ("WHERE origin = ?", (origin,)) if origin else ("", ())
        text = f"SELECT origin, reason, count, sample_url FROM v_refused {where} ORDER BY count DESC, origin, reason"
        return self._reader.records(RefusedView, text, values)

    def origins_added(self) -> dict[str, str]:
        """The origins that take part in the newest run without being configured, with their start paths: added by hand,
        by the whitelist, or by the redirect of a seed."""
        text = "SELECT origin, start_path FROM origin WHERE participates = 1 AND joined = 'added' ORDER BY id"
        return dict(self._reader.all(text))

    def jobs(self) -> tuple[JobView, ...]:
        return self._reader.records(JobView, _JOBS)

    def limbo(self, older_ms: int) -> tuple[LimboView, ...]:
        """Pages claimed for longer than `older_ms`, those in limbo for longest first."""
        now = self._now()
        return self._reader.records(LimboView, _LIMBO, (now, now - older_ms))

    def stashes(self) -> tuple[StashView, ...]:
        """Every stash that holds pages or has a dripfeed; counts pages."""
        return self._reader.records(StashView, _STASHES)

    def segments(self) -> tuple[SegmentRow, ...]:
        """Every segment of URLs that was written or loaded (M), oldest first."""
        from tui_crawler.domain.records.segment import SegmentRow  # noqa: PLC0415  only the offline mode has any

        text = "SELECT name, digest, urls, created_at, consumed_at, path FROM segment ORDER BY id"
        return self._reader.records(SegmentRow, text)

    def sessions(self, limit: int) -> tuple[SessionView, ...]:
        """The newest processes that hold, or held, the database, newest first."""
        return self._reader.records(_SESSION, _SESSIONS, (limit,))

    def validations(self, most: int) -> ValidationTotals:
        """What validators said of the documents of the first `most` pages; reads them all."""
        text = "SELECT validation_type, valid FROM v_page LIMIT ?"
        said = Counter(self._reader.stream(text, (most,)))
        kinds = sorted({kind for kind, valid in said if valid is not None})
        sums = tuple((kind, said[kind, 1], said[kind, 0]) for kind in kinds)
        waiting = self._reader.number("SELECT COUNT(*) FROM document WHERE parsed_at < 0")
        return ValidationTotals(said.total(), said.total() < most, sums, waiting)

    def workers(self) -> tuple[WorkerView, ...]:
        """The workers that have not ended, the oldest first. One that was killed is silent until another takes over
        what it held."""
        now = self._now()
        since = now - now % MINUTE_MS - MINUTE_MS
        found: list[WorkerView] = []
        for one in self._reader.records(_WORKER, _WORKERS, (MINUTE_MS, since)):
            age_ms, counted_ms = max(0, now - one.heartbeat_age_ms), max(1_000, now - max(since, one.started_at))
            state, pace = state_of(one.state, silent=age_ms > one.lease_ms), one.pages_per_minute * MINUTE_MS
            view = replace(one, state=state, heartbeat_age_ms=age_ms, leads=not found)
            found.append(replace(view, pages_per_minute=round(pace / counted_ms, 1)))
        return tuple(found)
