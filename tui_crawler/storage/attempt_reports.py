"""Reports on the crawl log: attempts for one URL, their requests, the past of an origin, all requests for the audit."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

import json
from collections.abc import Iterator

from tui_crawler.domain.attempt import AttemptResult
from tui_crawler.domain.audit import SentRequest
from tui_crawler.domain.exit_code import ExitCode
from tui_crawler.domain.page_view import OriginHistory, RequestView
from tui_crawler.domain.refusal_view import RefusalCount, RefusalCounts
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.domain.view import AttemptView
from tui_crawler.storage.origin_reports import refused
from tui_crawler.storage.overview_reports import ATTEMPTS, OF_ORIGIN, attempt_view, exit_name
from tui_crawler.storage.reader import Reader
from tui_crawler.storage.transaction import Row

_HISTORY = 200
_MOST_WORDS = 5_000

_REQUESTS = """SELECT r.id, r.attempt_id, u.href, r.method, r.sent_at, r.head_at, r.ended_at, r.http_status,
    r.conditional, r.fluke_retry, r.error, r.remote_address, r.request_headers, r.response_headers, r.dns_ms,
    r.connect_ms, r.tls_ms, r.connection_reused
FROM request r JOIN url u ON u.id = r.url_id WHERE r.attempt_id = ? ORDER BY r.id"""

_SENT = """SELECT r.attempt_id, o.origin, u.href, r.sent_at, r.ended_at, r.fluke_retry, a.delay_ms_after,
    r.url_id = a.url_id
FROM request r JOIN attempt a ON a.id = r.attempt_id JOIN origin o ON o.id = a.origin_id
    JOIN url u ON u.id = r.url_id
WHERE {of_run} ORDER BY r.sent_at, r.id"""

_BY_RULES = (
    ExitCode.blocked_url_by_local_policy,
    ExitCode.blocked_by_exclusion_list,
    ExitCode.skipped_by_rule,
)

_REFUSED = f"""SELECT r.exit_code, r.decided_by, r.message, r.number, a.ended_at, u.href, r.first_ruleset,
    r.last_ruleset
FROM (SELECT exit_code, decided_by, message, COUNT(*) AS number, MAX(id) AS newest, MIN(ruleset_id) AS first_ruleset,
        MAX(ruleset_id) AS last_ruleset
    FROM (SELECT id, exit_code, decided_by, message, ruleset_id FROM attempt ORDER BY id DESC LIMIT ?)
    WHERE exit_code IN ({", ".join(str(code.value) for code in _BY_RULES)})
    GROUP BY exit_code, decided_by, message) r
JOIN attempt a ON a.id = r.newest JOIN url u ON u.id = a.url_id ORDER BY r.number DESC LIMIT {_MOST_WORDS}"""


def attempts_of_url(reader: Reader, url_id: int, limit: int) -> tuple[AttemptView, ...]:
    """The attempts for one URL, newest first."""
    rows = reader.all(f"{ATTEMPTS} WHERE a.url_id = ? ORDER BY a.id DESC LIMIT ?", (url_id, limit))
    return tuple(attempt_view(row) for row in rows)


def attempts_of_page(reader: Reader, url_hash: int, page_id: int | None, limit: int) -> tuple[AttemptView, ...]:
    """The attempts for one URL that are of this page or of none (robots.txt, link checks), newest first."""
    of_page = "a.url_id = (SELECT id FROM url WHERE hash = ?) AND (a.page_id IS NULL OR a.page_id = ?)"
    rows = reader.all(f"{ATTEMPTS} WHERE {of_page} ORDER BY a.id DESC LIMIT ?", (url_hash, page_id, limit))
    return tuple(attempt_view(row) for row in rows)


def requests_of(reader: Reader, attempt_id: int) -> tuple[RequestView, ...]:
    """The requests of an attempt, in their order."""
    return tuple(_request_view(row) for row in reader.all(_REQUESTS, (attempt_id,)))


def results_of(reader: Reader, attempt_id: int) -> tuple[AttemptResult, ...]:
    """The typed results of an attempt (B), by type."""
    rows = reader.all("SELECT type, value FROM attempt_result WHERE attempt_id = ? ORDER BY type", (attempt_id,))
    return tuple(AttemptResult(*row) for row in rows)


def refusal_counts(reader: Reader, limit: int) -> RefusalCounts:
    """What rules refused among the newest `limit` attempts, in groups of the same words, the most frequent first."""
    rows = tuple(RefusalCount(exit_name(row[0]), *row[1:]) for row in reader.all(_REFUSED, (limit,)))
    known: int = reader.all("SELECT COALESCE(SUM(attempts), 0) FROM origin")[0][0]
    return RefusalCounts(rows, min(limit, known), known)


def history(reader: Reader, origin: str) -> OriginHistory:
    """What cost an origin patience, what changed its delay (the newest 200 of each), and what it refused."""
    patience = f"{ATTEMPTS} WHERE {OF_ORIGIN} AND a.patience_after < a.patience_before ORDER BY a.id DESC LIMIT ?"
    delays = f"{ATTEMPTS} WHERE {OF_ORIGIN} AND a.delay_ms_after != a.delay_ms_before ORDER BY a.id DESC LIMIT ?"
    return OriginHistory(
        tuple(attempt_view(row) for row in reader.all(patience, (origin, _HISTORY))),
        tuple(attempt_view(row) for row in reader.all(delays, (origin, _HISTORY))),
        refused(reader, origin),
    )


def sent_requests(reader: Reader, run: int | None = None) -> Iterator[SentRequest]:
    """Every request of the log (None) or of a run, in the order in which they were sent, for `domain.audit.audit`."""
    text = _SENT.format(of_run="1 = 1" if run is None else f"a.run_id = {int(run)}")
    for attempt_id, attempt_origin, url, sent_at, ended_at, fluke, delay, own in reader.stream(text):
        origin = attempt_origin if own else _origin_of(url, attempt_origin)
        yield SentRequest(attempt_id, attempt_origin, origin, url, sent_at, ended_at, bool(fluke), delay)


def _origin_of(url: str, otherwise: str) -> str:
    parsed = normalise(url)
    return otherwise if isinstance(parsed, InvalidUrl) else parsed.origin


def _request_view(row: Row) -> RequestView:
    reused = None if row[17] is None else bool(row[17])
    headers = (_headers(row[12]), _headers(row[13]))
    values = [*row[:8], bool(row[8]), bool(row[9]), *row[10:12], *headers, *row[14:17], reused]
    return RequestView(*values)


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in json.loads(text)) if text else ()
