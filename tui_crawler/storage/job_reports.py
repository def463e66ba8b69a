"""Reports on jobs, stashes, pages in limbo, and the activity log."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from tui_crawler.domain.desk_view import ActivityView, JobView, LimboView, StashView
from tui_crawler.storage.id_span import Span
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.views import JOB_STATUS

_JOBS = f"""SELECT name, {JOB_STATUS}, nice, max_depth, concurrency, tag, pending, claimed, done, failed, blocked,
    ruleset_id, aborted, note, created_by, created_at
FROM (SELECT j.*, (SELECT COUNT(*) FROM page p WHERE p.status = 2 AND p.job_id = j.id) AS claimed FROM job j) AS jobs
ORDER BY id"""

_LIMBO = """SELECT u.href, o.origin, j.name, COALESCE(s.worker, ''), p.claimed_at
FROM page p JOIN url u ON u.id = p.url_id JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
    LEFT JOIN session s ON s.id = p.claimed_by
WHERE p.status = 2 AND p.claimed_at <= ? ORDER BY p.claimed_at"""

_STASHES = """SELECT j.name, x.stash,
    (SELECT COUNT(*) FROM page p WHERE p.status = 4 AND p.job_id = x.job_id AND p.stash = x.stash),
    (SELECT COUNT(*) FROM page p WHERE p.stash <> '' AND p.status <= 2 AND p.attempts_remaining > 0
        AND p.beyond_depth = 0 AND p.job_id = x.job_id AND p.stash = x.stash),
    COALESCE(f.ready, 0)
FROM (SELECT job_id, stash FROM dripfeed UNION SELECT DISTINCT job_id, stash FROM page WHERE status = 4) AS x
    JOIN job j ON j.id = x.job_id LEFT JOIN dripfeed f ON f.job_id = x.job_id AND f.stash = x.stash
ORDER BY j.name, x.stash"""

ACTIVITY = """SELECT y.id, y.at, y.event, COALESCE(o.origin, ''), y.run_id, y.message
FROM activity y LEFT JOIN origin o ON o.id = y.origin_id"""

ACTIVITY_OF_ORIGIN = "y.origin_id > 0 AND y.origin_id = (SELECT id FROM origin WHERE origin = ?)"


def jobs(reader: Reader) -> tuple[JobView, ...]:
    """All jobs, the oldest first."""
    rows = ([*row[:12], bool(row[12]), *row[13:]] for row in reader.all(_JOBS))
    return tuple(JobView(*row) for row in rows)


def limbo(reader: Reader, older_ms: int, now: int) -> tuple[LimboView, ...]:
    """Pages claimed for longer than `older_ms` at `now` (epoch ms), those in it for longest first."""
    rows = ([*row, now - row[-1]] for row in reader.all(_LIMBO, (now - older_ms,)))
    return tuple(LimboView(*row) for row in rows)


def stashes(reader: Reader) -> tuple[StashView, ...]:
    """Every stash that holds pages or has a dripfeed."""
    return tuple(StashView(*row) for row in reader.all(_STASHES))


def activity(reader: Reader, origin: str, span: Span) -> tuple[ActivityView, ...]:
    """A stretch of the activity log: of one origin, or of all for an empty name."""
    text = f"{ACTIVITY}{span.ending('y.id', *((ACTIVITY_OF_ORIGIN,) if origin else ()))}"
    rows = reader.all(text, (*((origin,) if origin else ()), *span.values))
    return tuple(ActivityView(*row) for row in rows)
