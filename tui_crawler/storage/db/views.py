# ruff: noqa: S608  # the SQL is made of constants of this program only
"""The read-only model: every view of docs/views.md. Tables may move by migration, these columns stay.

Texts that are unknown are empty; numbers and times that are unknown are NULL.
"""

from collections.abc import Mapping
from enum import IntEnum

import peewee

from tui_crawler.domain.records.exit_code import DISPOSITIONS, ExitCode, Group
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.drivers.driver import execute

ALL_ORIGINS = 0
"""The id under which the counts of all origins stand together."""

RECENT_MINUTES = 5
"""The present minute and those before it that count as recent."""


NOW_MS = "CAST((julianday('now') - 2440587.5) * 86400000 AS BIGINT)"
"""The wall clock in SQL, epoch ms."""


def name_of(column: str, names: type[IntEnum]) -> str:
    """SQL for the name of a number; an unknown number is its own name, NULL is an empty text."""
    cases = " ".join(f"WHEN {member.value} THEN '{member.name}'" for member in names)
    return f"CASE {column} {cases} ELSE COALESCE(CAST({column} AS TEXT), '') END"


ORIGIN_STATE = f"""CASE
    WHEN o.participates = 0 THEN 'IDLE'
    WHEN o.finish_reason <> '' THEN 'FINISHED'
    WHEN o.in_flight_url <> '' THEN 'BUSY'
    WHEN o.next_request_at > {NOW_MS} OR o.asleep_until > {NOW_MS} THEN 'WAITING'
    ELSE 'READY' END"""
"""The state of origin `o` at the moment of reading. IDLE: it takes no part in the newest run."""

_GREATER = "CASE WHEN {0} > {1} THEN {0} ELSE {1} END"
_LAST_TIME = _GREATER.format("p.not_before", _GREATER.format("p.last_crawled_at", "p.created_at"))
_INTERVAL = "(SELECT recrawl_interval_ms FROM run ORDER BY id DESC LIMIT 1)"
_FRESH = "(SELECT respect_http_freshness FROM run ORDER BY id DESC LIMIT 1)"
_AGAIN = f"(p.last_crawled_at + {_INTERVAL})"

PAGE_DUE_AT = f"""CASE
    WHEN p.status IN ({PageStatus.SKIPPED.value}, {PageStatus.STASHED.value}) THEN NULL
    WHEN p.attempts_remaining > 0 THEN {_LAST_TIME}
    WHEN {_FRESH} = 1 AND p.fresh_until > {_AGAIN} THEN p.fresh_until
    ELSE {_AGAIN} END"""
"""When page `p` is due: one with tries left since it was found or last tried, a done one after the interval."""

_CONTENT = f"({ExitCode.file_ingested.value}, {ExitCode.file_of_unknown_type.value})"
_NOTHING = ", ".join(
    str(code.value)
    for code, one in DISPOSITIONS.items()
    if one.unlinks or (one.contentful and one.group is not Group.ok)
)
_OK_STATUS = f"""CASE
    WHEN p.last_exit_code IN {_CONTENT} THEN p.last_http_status
    WHEN p.last_exit_code IN ({_NOTHING}) THEN NULL
    ELSE (SELECT c.http_status FROM attempt c WHERE c.url_id = p.url_id AND c.page_id = p.id
        AND c.exit_code IN {_CONTENT} ORDER BY c.id DESC LIMIT 1) END"""
PAGE_PAST = f"""NULLIF(p.created_at, 0) AS first_seen,
    (SELECT COUNT(*) FROM link l WHERE l.to_url_id = p.url_id) AS inlinks, {_OK_STATUS} AS ok_status"""
"""When the URL of page `p` was first known, how many links name it, and the status with which it last gave content: a
304 and a failure that may pass leave it; NULL once the page is gone, refused, a redirect, noindex or not canonical."""

JOB_STATUS = """CASE
    WHEN aborted = 1 THEN 'ABORTED'
    WHEN pending = 0 AND claimed = 0 THEN 'FINISHED'
    WHEN pending <= claimed THEN 'DRAINING'
    ELSE 'ACTIVE' END"""

VALIDATION_TYPE = """CASE d.validation_type WHEN 'html5' THEN 'html' WHEN 'atom' THEN 'rss'
    ELSE NULLIF(d.validation_type, '') END"""
"""The kind a validator judged document `d` as: html, xml, css or rss (docs/behaviour.md). Older versions stored html5
and atom."""

IS_CHECKED = "CASE p.external WHEN 0 THEN 0 ELSE 1 END AS external"
"""Whether page `p` is only checked, 0 or 1."""

_KIND = "CASE l.kind WHEN 'frame' THEN 'object' ELSE l.kind END"
LINK_KIND = f"{_KIND} AS kind"  # of link `l`: one of seven (G), or other
IS_FRAME = "CASE l.kind WHEN 'frame' THEN 1 ELSE 0 END AS frame"

_URL, _FROM_URL = "JOIN url u ON u.id = p.url_id", "JOIN url f ON f.id = p.url_id"
"""The URL of page `p`."""

VIEWS: Mapping[str, str] = {
    "v_origin": f"""SELECT o.origin, {ORIGIN_STATE} AS state, o.finish_reason, o.paused, o.patience, o.politeness,
    o.delay_ms, o.delay_reason, o.next_request_at, o.robots_status,
    NULLIF(o.robots_fetched_at, 0) AS robots_fetched_at, NULLIF(o.robots_expires_at, 0) AS robots_expires_at,
    o.crawl_delay_ms, o.todo, o.pending, o.done, o.failed, o.blocked, o.requests,
    COALESCE(s.worker, '') AS worker
FROM origin o LEFT JOIN session s ON s.id = o.session_id AND o.participates = 1""",
    "v_page": f"""SELECT u.href AS url, o.origin, j.name AS job, {name_of("p.status", PageStatus)} AS status,
    p.attempts, p.attempts_remaining, p.nice, p.depth, p.not_before,
    {name_of("p.last_exit_code", ExitCode)} AS last_exit_code, p.last_http_status,
    NULLIF(p.last_crawled_at, 0) AS last_crawled_at, {PAGE_DUE_AT} AS due_at,
    COALESCE(d.etag, '') AS etag, COALESCE(d.last_modified, '') AS last_modified,
    COALESCE(d.content_type, '') AS content_type, d.size, COALESCE(d.title, '') AS title,
    COALESCE(d.sha256, '') AS sha256, {VALIDATION_TYPE} AS validation_type, d.valid, {IS_CHECKED},
    COALESCE(d.incomplete, (SELECT a.cut FROM attempt a WHERE a.id = p.last_attempt_id), '') AS incomplete,
    {PAGE_PAST}
FROM page p {_URL} JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
    LEFT JOIN document d ON d.page_id = p.id""",
    "v_attempt": f"""SELECT a.id AS attempt_id, a.run_id, u.href AS url, o.origin, a.kind,
    {name_of("a.exit_code", ExitCode)} AS exit_code, a.exit_code AS exit_code_id, a.http_status, a.started_at,
    a.ended_at, a.response_ms, a.bytes, a.requests, a.patience_after, a.politeness_after, a.delay_ms_after,
    a.ruleset_id, s.worker, a.message, a.cut
FROM attempt a JOIN url u ON u.id = a.url_id JOIN origin o ON o.id = a.origin_id
    JOIN session s ON s.id = a.session_id""",
    "v_request": """SELECT r.id AS request_id, r.attempt_id, u.href AS url, r.method, r.sent_at, r.head_at,
    r.ended_at, r.http_status, r.conditional, r.fluke_retry, r.error, r.remote_address, r.dns_ms, r.connect_ms,
    r.tls_ms, r.connection_reused
FROM request r JOIN url u ON u.id = r.url_id""",
    "v_link": f"""SELECT f.href AS from_url, t.href AS to_url, {LINK_KIND}, l.nofollow, l.text, l.first_seen_at,
    {IS_FRAME}
FROM link l JOIN page p ON p.id = l.from_page_id {_FROM_URL} JOIN url t ON t.id = l.to_url_id""",
    "v_redirect": f"""SELECT f.href AS from_url, t.href AS to_url, r.to_fragment, r.permanent, r.source, r.seen_at
FROM redirect r JOIN page p ON p.id = r.page_id {_FROM_URL} JOIN url t ON t.id = r.to_url_id""",
    "v_document": f"""SELECT u.href AS url, d.kind, d.content_type, d.charset, d.title, d.size, d.sha256, d.etag,
    d.last_modified, d.cache_control, d.expires, d.age, d.content_location, d.canonical, d.noindex, d.nofollow,
    d.incomplete, d.stored_at, {VALIDATION_TYPE} AS validation_type, d.valid, d.validation_errors,
    NULLIF(p.lastmod, 0) AS lastmod
FROM document d JOIN page p ON p.id = d.page_id {_URL}""",
    "v_data": f"""SELECT u.href AS url, b.name, b.type, b.place, b.value
FROM data_block b JOIN page p ON p.id = b.page_id {_URL}""",
    "v_result": "SELECT r.attempt_id, r.type, r.value FROM attempt_result r",
    "v_refused": """SELECT o.origin, r.reason, r.count, r.sample_url
FROM refused r JOIN origin o ON o.id = r.origin_id""",
    "v_run": """SELECT id AS run_id, started_at, NULLIF(finished_at, 0) AS finished_at, finish_reason, requests,
    user_agent, config_name
FROM run""",
    "v_job": f"""SELECT job, {JOB_STATUS} AS status, nice, depth, concurrency, tag, pending, claimed, done,
    ruleset_id
FROM (SELECT j.name AS job, j.nice, j.max_depth AS depth, j.concurrency, j.tag, j.pending, j.done, j.ruleset_id,
    j.aborted, (SELECT COUNT(*) FROM page p WHERE p.status = 2 AND p.job_id = j.id) AS claimed FROM job j) AS jobs""",
    "v_operator_action": """SELECT at, who, action, target, "before", "after", undone, command, error,
    NULLIF(applied_at, 0) AS applied_at
FROM operator_action""",
    "v_activity": """SELECT y.at, y.event, COALESCE(o.origin, '') AS origin, y.run_id, y.message
FROM activity y LEFT JOIN origin o ON o.id = y.origin_id""",
    "crawler_sites": """SELECT o.origin AS site, o.id,
    REPLACE(REPLACE(o.origin, 'https://', ''), 'http://', '') AS domain,
    CASE WHEN o.start_path = '' THEN '/' ELSE o.start_path END AS start_path
FROM origin o""",
    "crawler_queue": f"""SELECT o.origin AS site, p.id, u.href AS url, p.item_pattern AS pattern, p.force
FROM page p {_URL} JOIN origin o ON o.id = p.origin_id JOIN job j ON j.id = p.job_id
WHERE p.status IN (0, 2) AND p.attempts_remaining > 0 AND p.beyond_depth = 0
    AND j.aborted = 0 AND COALESCE(j.concurrency, 1) <> 0""",
    "crawler_urls": f"""SELECT o.origin AS site, u.href AS url, p.last_crawled_at AS accessed,
    COALESCE(d.content_type, '') AS "content-type", d.size AS "content-length",
    COALESCE(CAST(p.last_http_status AS TEXT), '') AS status, COALESCE(d.etag, '') AS etag,
    b.zstd AS response, {VALIDATION_TYPE} AS validation_type, d.valid
FROM page p {_URL} JOIN origin o ON o.id = p.origin_id
    LEFT JOIN document d ON d.page_id = p.id LEFT JOIN body b ON b.sha256 = d.sha256
WHERE p.last_crawled_at > 0""",
    "crawler_links": f"""SELECT o.origin AS site, f.href AS "from", t.href AS "to", {_KIND} AS type
FROM link l JOIN page p ON p.id = l.from_page_id JOIN origin o ON o.id = p.origin_id
    {_FROM_URL} JOIN url t ON t.id = l.to_url_id""",
}
"""View name to its SELECT. In `crawler_urls` the response is the zstd-compressed body."""


def drop_views(database: peewee.Database) -> None:
    """Takes all views away, so that a migration may change the tables below them."""
    for name in VIEWS:
        execute(database, f"DROP VIEW IF EXISTS {name}")


def create_views(database: peewee.Database) -> None:
    """Makes all views anew."""
    drop_views(database)
    for name, select in VIEWS.items():
        execute(database, f"CREATE VIEW {name} AS {select}")


def views_are_current(database: peewee.Database) -> bool:
    """Whether the views of a SQLite database are those of this program (an exit code may have been added)."""
    stored = dict(execute(database, "SELECT name, sql FROM sqlite_master WHERE type = 'view'").fetchall())
    return all(stored.get(name) == f"CREATE VIEW {name} AS {select}" for name, select in VIEWS.items())
