"""The coverage statement of the newest run. It reads counters, the seeds, and the pages that need an eye; of an origin
that has refused pages, all pages.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tui_crawler.domain.coverage import (
    LEADS,
    LISTED,
    Coverage,
    CoverageCounts,
    SeedEnd,
    SeedState,
    refused_group,
    seed_state,
)
from tui_crawler.domain.cut import CUTS, cut_names
from tui_crawler.domain.exit_code import BLOCKED, DOCUMENTS, ExitCode, code_of, lost_words
from tui_crawler.storage.reader import SubjectReports, among
from tui_crawler.storage.reports.overview import HAS_DOCUMENT, OverviewReports, exit_name

_HOPS = 20  # a longer chain of redirects is taken for a circle
_CRAWLED = "o.participates = 1 AND o.joined <> 'external'"
_SUMS = f"SELECT COALESCE(SUM(o.done), 0), COALESCE(SUM(o.failed), 0), COALESCE(SUM(o.blocked), 0), \
COALESCE(SUM(o.pending), 0) FROM origin o WHERE {_CRAWLED}"
_ENDS = f"SELECT o.finish_reason, COUNT(*) FROM origin o WHERE {_CRAWLED} GROUP BY o.finish_reason"
_OF_PAGES = "FROM page p JOIN origin o ON o.id = p.origin_id WHERE {0} AND " + _CRAWLED
_FAILED = (
    f"SELECT p.last_exit_code, COUNT(*) {_OF_PAGES.format('p.failed = 1')} GROUP BY p.last_exit_code ORDER BY 2 DESC"
)
_CUT = """SELECT names, COUNT(*) FROM (SELECT incomplete AS names FROM document WHERE incomplete != ''
    UNION ALL SELECT a.cut FROM attempt a JOIN page p ON p.id = a.page_id AND p.last_attempt_id = a.id
    LEFT JOIN document d ON d.page_id = p.id WHERE a.cut != '' AND d.page_id IS NULL) c GROUP BY names"""
_NOT_CANONICAL = f"""SELECT COUNT(DISTINCT r.page_id) FROM redirect r JOIN page p ON p.id = r.page_id
WHERE r.source = 'canonical' AND p.last_exit_code = {ExitCode.not_canonical.value}
    AND NOT EXISTS (SELECT 1 FROM page q WHERE q.url_id = r.to_url_id AND q.external = 0)"""
_TOO_DEEP = """SELECT CASE WHEN EXISTS (SELECT 1 FROM job WHERE max_depth IS NOT NULL)
    THEN (SELECT COUNT(*) FROM page WHERE beyond_depth = 1) ELSE 0 END"""
_BLOCKED = f"""SELECT o.origin, g.code AS reason, g.pages AS count, u.href AS sample_url, g.decided_by, g.every
FROM (SELECT p.origin_id, p.last_exit_code AS code, COALESCE(a.decided_by, '') AS decided_by, COUNT(*) AS pages,
        MIN(p.id) AS sample, COUNT(*) OVER () AS every
    FROM origin o JOIN page p ON p.origin_id = o.id LEFT JOIN attempt a ON a.id = p.last_attempt_id
    WHERE {_CRAWLED} AND o.blocked > 0 AND {among("p.last_exit_code", BLOCKED)}
    GROUP BY p.origin_id, p.last_exit_code, COALESCE(a.decided_by, '')) g
    JOIN origin o ON o.id = g.origin_id JOIN page p ON p.id = g.sample JOIN url u ON u.id = p.url_id
ORDER BY g.pages DESC, g.sample LIMIT {LISTED}"""
_LINKS = f"""SELECT o.origin, r.reason, r.count, r.sample_url, '' AS decided_by, COUNT(*) OVER () AS every
FROM refused r JOIN origin o ON o.id = r.origin_id WHERE {_CRAWLED} ORDER BY r.count DESC, o.id LIMIT {LISTED}"""
_SEEDS = f"""SELECT p.id, u.href, o.origin, p.last_exit_code, p.last_http_status, o.finish_reason,
    CASE WHEN {among("p.last_exit_code", DOCUMENTS)} THEN 1 ELSE 0 END AS good
FROM page p JOIN origin o ON o.id = p.origin_id JOIN url u ON u.id = p.url_id
WHERE p.seed = 1 AND {_CRAWLED} ORDER BY good, p.id"""
_LEADS_TO = """SELECT r.page_id, t.href, q.id, q.last_exit_code, COALESCE(o.finish_reason, '') FROM redirect r
    JOIN url t ON t.id = r.to_url_id LEFT JOIN page q ON q.url_id = t.id AND q.external = 0
    LEFT JOIN origin o ON o.id = q.origin_id WHERE {0} ORDER BY r.page_id, q.id DESC"""
_MESSAGES = "SELECT p.id, a.message FROM page p JOIN attempt a ON a.id = p.last_attempt_id WHERE {0}"


class _Seed:
    """A seed on the way to where its redirects and canonicals end. `at` is a page, None for a URL that is none."""

    def __init__(self, page: int, url: str, origin: str, code: int | None, status: int | None, finish: str) -> None:
        self.page, self.url, self.origin, self.status = page, url, origin, status
        self.code = self.last = None if code is None else code_of(code)
        self.at: int | None = page
        self.end, self.finish = url, finish
        self.state = SeedState.pending

    @property
    def leads(self) -> bool:
        return self.at is not None and self.last in LEADS

    def ended(self, said: str) -> SeedEnd:
        """The seed as it is reported; `said` is the message of its last attempt."""
        name = None if self.code is None else self.code.name
        message = lost_words(self.code, said) if self.state in {SeedState.lost, SeedState.elsewhere} else ""
        if self.at is None and message:
            end = "" if message.endswith(self.end) else f", ends at {self.end}"
            message += f"{end}, which is no page of this crawl: add it to seeds"
        return SeedEnd(self.url, name, self.status, self.end, message, self.state)


class CoverageReports(SubjectReports):
    """The coverage statement."""

    def coverage(self) -> Coverage:
        """What the newest run covers, by what is stored; without the parts of `why` and of the configuration."""
        run = OverviewReports(self._reader, self._now).run()
        if run is None:
            return Coverage()
        done, failed, blocked, pending = self._reader.all(_SUMS)[0]
        cut: Counter[str] = Counter()
        truncated = 0
        for names, number in self._reader.all(_CUT):
            truncated += number
            for name in cut_names(names):
                cut.update(dict.fromkeys(CUTS.get(name, ("", (name,)))[1][:1], number))
        groups = [row for text in (_BLOCKED, _LINKS) for row in self._reader.all(text)]
        refused = [refused_group(row[0], _reason(row[1]), *row[2:5]) for row in groups]
        number = self._reader.number
        return self._with_seeds(
            Coverage(
                run,
                pages=CoverageCounts(done, failed, blocked, truncated, number(_NOT_CANONICAL)),
                refused=tuple(sorted(refused, key=lambda one: -one.count)[:LISTED]),
                refused_total=sum({row[1] in BLOCKED: row[5] for row in groups}.values()),
                failures=tuple((code, count) for id_, count in self._reader.all(_FAILED) if (code := code_of(id_))),
                ends=tuple((row[0], row[1]) for row in self._reader.all(_ENDS)),
                cut=tuple(cut.items()),
                pending=pending,
                stashed=number("SELECT COUNT(*) FROM page WHERE status = 4"),
                too_deep=number(_TOO_DEEP),
                segments=number("SELECT COUNT(*) FROM segment WHERE consumed_at = 0"),
            )
        )

    def documents_unread(self) -> int:
        """How many documents the offline mode has not read; an index knows them."""
        return self._reader.number("SELECT COUNT(*) FROM document WHERE scanned_at = 0")

    def _with_seeds(self, coverage: Coverage) -> Coverage:
        seeds = [_Seed(*row[:6]) for row in self._reader.all(_SEEDS)]
        self._follow([one for one in seeds if one.leads])
        good = {
            origin
            for (origin,) in self._reader.all(f"SELECT o.origin FROM origin o WHERE {_CRAWLED} AND {HAS_DOCUMENT}")
        }
        for one in seeds:
            one.state = seed_state(one.last, one.finish, has_documents=one.origin in good)
        lost = [one for one in seeds if one.state in {SeedState.lost, SeedState.elsewhere}]
        others = [one for one in seeds if one.state in {SeedState.document, SeedState.pending}]
        listed = [*lost, *others][:LISTED]
        said = self._reader.all(_MESSAGES.format(among("p.id", [one.page for one in listed])))
        messages: dict[int, str] = dict(map(tuple, said))
        return replace(
            coverage,
            seeds=tuple(one.ended(messages.get(one.page, "")) for one in listed),
            seeds_total=len(seeds),
            seeds_lost=len(lost),
            empty=tuple(dict.fromkeys(one.origin for one in seeds if one.finish and one.origin not in good)),
        )

    def _follow(self, seeds: list[_Seed]) -> None:
        """Takes seeds to where they lead, a hop at a time for all of them."""
        for _ in range(_HOPS):
            at = {one.at for one in seeds if one.leads}
            rows = self._reader.all(_LEADS_TO.format(among("r.page_id", filter(None, at)))) if at else []
            if not rows:
                return
            hops = {page: hop for page, *hop in rows}
            for one in seeds:
                if one.leads and one.at in hops:
                    one.end, one.at, code, finish = hops[one.at]
                    one.last = one.last if one.at is None else None if code is None else code_of(code)
                    one.finish = one.finish if one.at is None else finish


def _reason(stored: int | str) -> str:
    return stored if isinstance(stored, str) else exit_name(stored)
