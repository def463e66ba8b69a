"""The facts that diagnoses are made of. Each is a counter, a row of an origin, or a bounded number of attempts, however
many pages there are."""
# ruff: noqa: S608  # the SQL is made of constants of this program only

import re
from collections import Counter
from collections.abc import Iterator

from tui_crawler.domain.history.coverage import SeedEnd
from tui_crawler.domain.history.diagnosis import DiagnosisFacts, LostPage, RefusedQueries
from tui_crawler.domain.records.exit_code import ExitCode, exit_name
from tui_crawler.domain.records.page_view import RefusedView
from tui_crawler.domain.records.status_words import GAVE_UP
from tui_crawler.domain.rules.verdict import Refusal
from tui_crawler.storage.db.reader import SubjectReports, selected
from tui_crawler.storage.reports.coverage import ends_of
from tui_crawler.storage.reports.failures import path_pattern
from tui_crawler.storage.reports.overview import EMPTY, ORIGIN, ORIGINS

_LISTED = 20  # origins of which more is read than their row
_LOOKED_AT, _PROBLEMS, _QUERIES = 1_000, 5, 3  # attempts of an origin; its last problems; origins with refused queries
_NEWEST = "(SELECT MAX(id) FROM run)"
_POLICY = ExitCode.blocked_url_by_local_policy.value
_PENDING = "SELECT COALESCE(SUM(pending), 0) FROM origin WHERE participates = 1"
_GAVE_UP = f"o.finish_reason IN ({', '.join(repr(reason.value) for reason in sorted(GAVE_UP))})"
_STOPPED = f"""SELECT o.id, o.origin, COUNT(*) OVER () FROM origin o WHERE o.participates = 1 AND {_GAVE_UP}
ORDER BY o.id LIMIT {_LISTED}"""
_LAST_PROBLEMS = f"""SELECT u.href, a.exit_code, a.http_status, a.message FROM attempt a JOIN url u ON u.id = a.url_id
WHERE a.origin_id = ? AND a.problem = 1 ORDER BY a.id DESC LIMIT {_PROBLEMS}"""
_SEEDS = f"""SELECT p.id, u.href, o.origin, p.last_exit_code, p.last_http_status, COALESCE(a.message, '')
FROM origin o JOIN page p ON p.id = (SELECT MIN(s.id) FROM page s WHERE s.origin_id = o.id AND s.seed = 1)
    JOIN url u ON u.id = p.url_id LEFT JOIN attempt a ON a.id = p.last_attempt_id
WHERE {EMPTY} AND NOT ({_GAVE_UP}) ORDER BY o.id LIMIT {_LISTED}"""
_REFUSED = f"""SELECT e.origin_id, o.origin FROM exit_count e JOIN origin o ON o.id = e.origin_id
WHERE e.run_id = {_NEWEST} AND e.exit_code = {_POLICY} ORDER BY e.count DESC, e.origin_id LIMIT {_QUERIES}"""
_REFUSED_URLS = f"""SELECT u.href, a.decided_by FROM (SELECT id, page_id, url_id, exit_code, decided_by FROM attempt
    WHERE origin_id = ? ORDER BY id DESC LIMIT {_LOOKED_AT}) a
    JOIN page p ON p.id = a.page_id AND p.last_attempt_id = a.id AND p.status = 0 AND p.attempts_remaining = 0
    JOIN url u ON u.id = a.url_id
WHERE a.exit_code = {_POLICY} ORDER BY a.id DESC"""
_TRAPS = f"""SELECT {selected(RefusedView, "r", origin="o.origin")} FROM refused r JOIN origin o ON o.id = r.origin_id
WHERE r.reason IN ('{Refusal.trap_repeat.value}', '{Refusal.trap_depth.value}') ORDER BY r.count DESC, o.id"""
_ELSEWHERE = f"""{ORIGINS} WHERE o.participates = 1 AND o.id IN (SELECT origin_id FROM exit_count
    WHERE run_id = {_NEWEST} AND exit_code = {ExitCode.not_canonical.value}) ORDER BY o.id LIMIT {_LISTED}"""


class DiagnosisReports(SubjectReports):
    """What may need a person."""

    def diagnosis_facts(self) -> DiagnosisFacts:
        """Return the facts about the newest run."""
        read = self._reader.all
        stopped = read(_STOPPED)
        views = self._reader.records(ORIGIN, _ELSEWHERE)
        seeds = read(_SEEDS)
        ends = ends_of(self._reader, {row[0]: (row[0], row[1], row[3], "") for row in seeds})
        return DiagnosisFacts(
            pending=self._reader.number(_PENDING),
            stopped=tuple(self._last_problem(number, origin) for number, origin, _ in stopped),
            stopped_total=stopped[0][2] if stopped else 0,
            seeds=tuple(
                LostPage(origin, SeedEnd(url, exit_name(code) or None, status, ends[page][1], message))
                for page, url, origin, code, status, message in seeds
            ),
            queries=tuple(self._queries()),
            traps=self._reader.records(RefusedView, _TRAPS),
            elsewhere=tuple((one.origin, one.warning) for one in views if one.warning),
        )

    def _last_problem(self, number: int, origin: str) -> LostPage:
        """The problem that most of the last ones of an origin are, with the pattern of their URLs."""
        problems = self._reader.all(_LAST_PROBLEMS, (number,))
        if not problems:
            return LostPage(origin, SeedEnd(origin, None, None, origin, ""))
        (code, status), _ = Counter((row[1], row[2]) for row in problems).most_common(1)[0]
        alike = [row for row in problems if (row[1], row[2]) == (code, status)]
        patterns = {path_pattern(row[0], origin) for row in alike}
        pattern = re.sub(r"\{\w+\}", "*", patterns.pop()) if len(patterns) == 1 < len(alike) else ""
        url, message = alike[0][0], alike[0][3]
        return LostPage(origin, SeedEnd(url, exit_name(code), status, url, message), pattern)

    def _queries(self) -> Iterator[RefusedQueries]:
        for number, origin in self._reader.all(_REFUSED):
            rows = [row for row in self._reader.all(_REFUSED_URLS, (number,)) if "?" in row[0]]
            by_default = tuple(url for url, decided_by in rows if not decided_by)
            if rows:
                yield RefusedQueries(origin, len(rows), tuple(url for url, _ in rows), by_default)
