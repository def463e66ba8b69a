"""The append-only crawl log: attempts with their requests and results, and the links that filters refused."""

import json
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from tui_crawler.domain.records.attempt import AttemptRecord, AttemptResult, RefusedCount, RefusedCounts, RequestRecord
from tui_crawler.domain.records.exit_code import is_problem
from tui_crawler.domain.url import url_hash
from tui_crawler.storage.crawl.origins import OriginRow
from tui_crawler.storage.db.claim import Claim
from tui_crawler.storage.db.clean_text import clean
from tui_crawler.storage.db.statements import columns, counts_up, insert_rows, inserts
from tui_crawler.storage.db.transaction import Transaction
from tui_crawler.storage.models import Attempt, Refused, Request
from tui_crawler.storage.models import AttemptResult as ResultRow

_compact = json.JSONEncoder(separators=(",", ":")).encode
_ATTEMPT_PLAIN = """http_status started_at ended_at response_ms bytes patience_before patience_after politeness_after
delay_ms_after delay_reason ruleset_id"""
_REQUEST_PLAIN = (
    "sent_at head_at ended_at http_status conditional fluke_retry dns_ms connect_ms tls_ms connection_reused"
)
"""What is stored of a record as it is, in columns of the same names."""

_ATTEMPT = columns(
    Attempt,
    "run session origin url page kind exit_code requests delay_ms_before new_pages problem message decided_by cut",
    _ATTEMPT_PLAIN,
)
_REQUEST = columns(Request, "attempt url method error remote_address request_headers response_headers", _REQUEST_PLAIN)
_attempt_values, _request_values = attrgetter(*_ATTEMPT_PLAIN.split()), attrgetter(*_REQUEST_PLAIN.split())


def log_attempt(
    transaction: Transaction, claim: Claim, attempt: AttemptRecord, row: OriginRow, ids: Mapping[int, int], new: int
) -> int:
    """Appends the attempt, which found `new` pages, and its requests to the crawl log; answers its id."""
    ((attempt_id,),) = transaction.insert_returning(insert_attempts, [attempt_row(claim, attempt, row, ids, new)])
    transaction.insert(insert_requests, [request_row(request, attempt_id, ids) for request in attempt.requests])
    transaction.insert(insert_results, [result_row(one, attempt_id) for one in attempt.results])
    return int(attempt_id)


def attempt_row(
    claim: Claim, attempt: AttemptRecord, row: OriginRow, ids: Mapping[int, int], new_pages: int
) -> tuple[Any, ...]:
    """The values of an attempt, for `insert_attempts`."""
    kind, code = attempt.kind.value, attempt.exit_code
    where = (claim.run_id, claim.session_id, row.id, ids[url_hash(clean(attempt.url))], attempt.page_id)
    what = (kind, code.value, len(attempt.requests), row.delay_ms, new_pages, is_problem(code, kind))
    texts = (clean(attempt.message), clean(attempt.decided_by), ",".join(attempt.cut))
    return (*where, *what, *texts, *_attempt_values(attempt))


def result_row(result: AttemptResult, attempt_id: int) -> tuple[Any, ...]:
    """The values of a typed result (B), for `insert_results`, which keeps the one that is there by its id."""
    return (clean(f"{attempt_id}:{result.type}"), attempt_id, clean(result.type), clean(result.value))


def request_row(request: RequestRecord, attempt_id: int, ids: Mapping[int, int]) -> tuple[Any, ...]:
    """The values of a request, for `insert_requests`. Headers are JSON, whose escapes make any text storable."""
    texts = (clean(request.method), clean(request.error), clean(request.remote_address))
    headers = (_compact(one) if one else "" for one in (request.request_headers, request.response_headers))
    return (attempt_id, ids[url_hash(clean(request.url))], *texts, *headers, *_request_values(request))


def count_refused(transaction: Transaction, origin_id: int, refused: Iterable[RefusedCount]) -> None:
    counts = RefusedCounts()
    for one in refused:
        counts.add(one.reason, clean(one.sample_url), one.count)
    transaction.insert(add_refused, [(origin_id, one.reason, one.count, one.sample_url) for one in counts.all()])


def insert_attempts(size: int) -> Any:
    return insert_rows(_ATTEMPT, size).returning(Attempt.id)


insert_requests = inserts(_REQUEST)
insert_results = inserts(columns(ResultRow, "id attempt type value"), once=[ResultRow.id])
add_refused = counts_up([Refused.origin, Refused.reason], Refused.count, Refused.sample_url)
