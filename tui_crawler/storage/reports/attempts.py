"""Reports on the crawl log: attempts for one URL, their requests, the past of an origin, all requests for the audit."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from collections.abc import Iterator

from tui_crawler.domain.history.audit import SentRequest
from tui_crawler.domain.records.attempt import AttemptResult, RequestRecord
from tui_crawler.domain.records.exit_code import ExitCode, exit_name
from tui_crawler.domain.records.page_view import OriginHistory, RefusalCount, RefusalCounts
from tui_crawler.domain.url import InvalidUrl, normalise
from tui_crawler.storage.db.reader import RowMapper, SubjectReports, among, headers_of, selected
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.reports.jobs import JobReports
from tui_crawler.storage.reports.overview import ATTEMPT, ATTEMPTS, OF_ORIGIN

_HISTORY = 200
_MOST_WORDS = 5_000

_REQUESTS = f"""SELECT {selected(RequestRecord, "r", request_id="r.id", url="u.href")}
FROM request r JOIN url u ON u.id = r.url_id WHERE r.attempt_id = ? ORDER BY r.id"""

SENT = """SELECT r.url_id = a.url_id, u.href, o.origin, r.attempt_id, r.sent_at, r.ended_at, r.fluke_retry,
    a.delay_ms_after, a.exit_code, a.delay_reason, a.patience_after, a.run_id, a.session_id
FROM {asked} JOIN origin o ON o.id = a.origin_id JOIN url u ON u.id = r.url_id
ORDER BY r.sent_at, r.id"""
"""Requests in the order in which they were sent; `asked` joins attempts `a` and requests `r`."""

_BY_RULES = (ExitCode.blocked_url_by_local_policy, ExitCode.blocked_by_exclusion_list, ExitCode.skipped_by_rule)

_REFUSED = f"""SELECT r.exit_code, r.decided_by, r.message, r.number AS count, a.ended_at AS last_at,
    u.href AS sample_url, r.first_ruleset, r.last_ruleset
FROM (SELECT exit_code, decided_by, message, COUNT(*) AS number, MAX(id) AS newest, MIN(ruleset_id) AS first_ruleset,
        MAX(ruleset_id) AS last_ruleset
    FROM (SELECT id, exit_code, decided_by, message, ruleset_id FROM attempt ORDER BY id DESC LIMIT ?) newest
    WHERE {among("exit_code", _BY_RULES)}
    GROUP BY exit_code, decided_by, message) r
JOIN attempt a ON a.id = r.newest JOIN url u ON u.id = a.url_id ORDER BY r.number DESC LIMIT {_MOST_WORDS}"""


def sent_request(row: Row) -> SentRequest:
    """A row of `SENT`."""
    own, url, of, attempt_id, sent_at, ended_at, fluke, *rest = row
    parsed = None if own else normalise(url)
    asked = of if parsed is None or isinstance(parsed, InvalidUrl) else parsed.origin
    return SentRequest(attempt_id, of, asked, url, sent_at, ended_at, bool(fluke), *rest)


_REQUEST = RowMapper(RequestRecord, request_headers=headers_of, response_headers=headers_of)
_REFUSALS = RowMapper(RefusalCount, exit_code=exit_name)


class AttemptReports(SubjectReports):
    """What stands behind attempts, and what they add up to."""

    def requests(self, attempt_id: int) -> tuple[RequestRecord, ...]:
        """The requests of an attempt, in their order."""
        return self._reader.records(_REQUEST, _REQUESTS, (attempt_id,))

    def results(self, attempt_id: int) -> tuple[AttemptResult, ...]:
        """The typed results of an attempt (B), by type."""
        text = "SELECT type, value FROM attempt_result WHERE attempt_id = ? ORDER BY type"
        return self._reader.records(AttemptResult, text, (attempt_id,))

    def refusal_counts(self, limit: int) -> RefusalCounts:
        """What rules refused among the newest `limit` attempts, in groups of the same words, the most frequent
        first."""
        rows = self._reader.records(_REFUSALS, _REFUSED, (limit,))
        known = self._reader.number("SELECT COALESCE(SUM(attempts), 0) FROM origin")
        return RefusalCounts(rows, min(limit, known), known)

    def history(self, origin: str) -> OriginHistory:
        """What cost an origin patience, what changed its delay (the newest 200 of each), and what it refused."""
        changed = ("a.patience_after < a.patience_before", "a.delay_ms_after != a.delay_ms_before")
        texts = (f"{ATTEMPTS} WHERE {OF_ORIGIN} AND {one} ORDER BY a.id DESC LIMIT ?" for one in changed)
        patience, delays = (self._reader.records(ATTEMPT, text, (origin, _HISTORY)) for text in texts)
        return OriginHistory(patience, delays, JobReports(self._reader).refused(origin))

    def attempts_for_audit(self, run: int | None = None) -> Iterator[SentRequest]:
        """Every request of the log (None) or of a run in the order in which they were sent, streamed."""
        of_run = "" if run is None else f" AND a.run_id = {int(run)}"
        asked = f"request r JOIN attempt a ON a.id = r.attempt_id{of_run}"
        return map(sent_request, self._reader.stream(SENT.format(asked=asked)))
