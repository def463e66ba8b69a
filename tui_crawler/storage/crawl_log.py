"""The append-only crawl log: attempts with their requests and results, and the links that filters refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import peewee

from tui_crawler.domain.attempt import (
    AttemptRecord,
    AttemptResult,
    Headers,
    RefusedCount,
    RequestRecord,
)
from tui_crawler.domain.exit_code import is_problem
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.claim import Claim
from tui_crawler.storage.clean_text import clean
from tui_crawler.storage.models import Attempt, Refused, Request
from tui_crawler.storage.models import AttemptResult as ResultRow
from tui_crawler.storage.origins import OriginRow
from tui_crawler.storage.statements import insert_rows, slots
from tui_crawler.storage.transaction import Transaction

_ATTEMPT = (
    Attempt.run,
    Attempt.session,
    Attempt.origin,
    Attempt.url,
    Attempt.page,
    Attempt.kind,
    Attempt.exit_code,
    Attempt.http_status,
    Attempt.started_at,
    Attempt.ended_at,
    Attempt.response_ms,
    Attempt.bytes,
    Attempt.requests,
    Attempt.patience_before,
    Attempt.patience_after,
    Attempt.politeness_after,
    Attempt.delay_ms_before,
    Attempt.delay_ms_after,
    Attempt.delay_reason,
    Attempt.new_pages,
    Attempt.ruleset_id,
    Attempt.problem,
    Attempt.message,
    Attempt.decided_by,
    Attempt.cut,
)
_REQUEST = (
    Request.attempt,
    Request.url,
    Request.method,
    Request.sent_at,
    Request.head_at,
    Request.ended_at,
    Request.http_status,
    Request.conditional,
    Request.fluke_retry,
    Request.error,
    Request.remote_address,
    Request.request_headers,
    Request.response_headers,
    Request.dns_ms,
    Request.connect_ms,
    Request.tls_ms,
    Request.connection_reused,
)


def log_attempt(
    transaction: Transaction,
    claim: Claim,
    attempt: AttemptRecord,
    row: OriginRow,
    ids: Mapping[int, int],
    new_pages: int,
) -> int:
    """Appends the attempt and its requests to the crawl log; answers its id."""
    values = {
        "run_id": claim.run_id,
        "session_id": claim.session_id,
        "origin_id": row.id,
        "url_id": ids[url_hash(clean(attempt.url))],
        "page_id": attempt.page_id,
        "kind": attempt.kind.value,
        "exit_code": attempt.exit_code.value,
        "http_status": attempt.http_status,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "response_ms": attempt.response_ms,
        "bytes": attempt.bytes,
        "requests": len(attempt.requests),
        "patience_before": attempt.patience_before,
        "patience_after": attempt.patience_after,
        "politeness_after": attempt.politeness_after,
        "delay_ms_before": row.delay_ms,
        "delay_ms_after": attempt.delay_ms_after,
        "delay_reason": attempt.delay_reason,
        "new_pages": new_pages,
        "ruleset_id": attempt.ruleset_id,
        "problem": is_problem(attempt.exit_code, attempt.kind.value),
        "message": clean(attempt.message),
        "decided_by": clean(attempt.decided_by),
        "cut": ",".join(attempt.cut),
    }
    stored = transaction.one(_insert_attempt, values)
    attempt_id: int = stored[0] if stored else 0
    if attempt.requests:
        rows = [_request_row(request, attempt_id, ids) for request in attempt.requests]
        transaction.insert(_insert_requests, rows)
    store_results(transaction, attempt_id, attempt.results)
    return attempt_id


def store_results(transaction: Transaction, attempt_id: int, results: Sequence[AttemptResult]) -> None:
    """Adds typed results to an attempt (B). A result that is there already, by its id, stays as it is."""
    if not results:
        return
    rows = [(clean(f"{attempt_id}:{one.type}"), attempt_id, clean(one.type), clean(one.value)) for one in results]
    transaction.insert(_insert_results, rows)


def _request_row(request: RequestRecord, attempt_id: int, ids: Mapping[int, int]) -> tuple[Any, ...]:
    """The values of `_REQUEST`."""
    return (
        attempt_id,
        ids[url_hash(clean(request.url))],
        clean(request.method),
        request.sent_at,
        request.head_at,
        request.ended_at,
        request.http_status,
        request.conditional,
        request.fluke_retry,
        clean(request.error),
        clean(request.remote_address),
        _headers_text(request.request_headers),
        _headers_text(request.response_headers),
        request.dns_ms,
        request.connect_ms,
        request.tls_ms,
        request.connection_reused,
    )


def _headers_text(headers: Headers) -> str:
    """Compact JSON; escapes make any text storable."""
    return json.dumps(headers, separators=(",", ":")) if headers else ""


def count_refused(transaction: Transaction, origin_id: int, refused: Iterable[RefusedCount]) -> None:
    by_reason: dict[str, tuple[int, str]] = {}
    for one in refused:
        count, sample = by_reason.get(one.reason, (0, clean(one.sample_url)))
        by_reason[one.reason] = (count + one.count, sample)
    rows = [(origin_id, reason, count, sample) for reason, (count, sample) in by_reason.items()]
    transaction.insert(_add_refused, rows)


def _insert_attempt() -> Any:
    return Attempt.insert(slots(_ATTEMPT)).returning(Attempt.id)


def _insert_requests(size: int) -> Any:
    return insert_rows(_REQUEST, size)


def _insert_results(size: int) -> Any:
    columns = [ResultRow.id, ResultRow.attempt, ResultRow.type, ResultRow.value]
    return insert_rows(columns, size).on_conflict(action="nothing", conflict_target=[ResultRow.id])


def _add_refused(size: int) -> Any:
    columns = [Refused.origin, Refused.reason, Refused.count, Refused.sample_url]
    return insert_rows(columns, size).on_conflict(
        conflict_target=columns[:2], update={Refused.count: Refused.count + peewee.EXCLUDED.count}
    )
