"""The coverage statement of the newest run. It reads counters, the seeds, and the pages that need an eye; of an origin
that has refused pages, all pages.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program only

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import itemgetter

from tui_crawler.domain.crawl.cut import CUTS, cut_names
from tui_crawler.domain.history.coverage import (
    ALIKE,
    LEADS,
    LISTED,
    Coverage,
    SameContent,
    SeedEnd,
    is_lost,
    refused_group,
)
from tui_crawler.domain.history.site_audit import NAMED
from tui_crawler.domain.records.exit_code import BLOCKED, DOCUMENTS, ExitCode, code_of, exit_name, lost_words
from tui_crawler.domain.records.page import EXTERNAL
from tui_crawler.storage.db.reader import Reader, SubjectReports, among
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.reports.overview import HAS_DOCUMENT, PAGES_ONLY, OverviewReports

_GROUPS = 100  # of URLs with one content
_HOPS = 20  # a longer chain of redirects is taken for a circle
_CRAWLED = "o.participates = 1 AND o.joined <> 'external'"
_SUMS = f"SELECT COALESCE(SUM(o.done), 0), COALESCE(SUM(o.pending), 0) FROM origin o WHERE {_CRAWLED}"
_ENDS = f"SELECT o.finish_reason, COUNT(*) FROM origin o WHERE {_CRAWLED} GROUP BY o.finish_reason"
_FAILED = f"""SELECT p.last_exit_code, COUNT(*) FROM page p JOIN origin o ON o.id = p.origin_id
WHERE p.failed = 1 AND {PAGES_ONLY} AND {_CRAWLED} GROUP BY p.last_exit_code ORDER BY 2 DESC, 1"""
_CUT = """SELECT names, COUNT(*) FROM (SELECT incomplete AS names FROM document WHERE incomplete != ''
    UNION ALL SELECT a.cut FROM attempt a JOIN page p ON p.id = a.page_id AND p.last_attempt_id = a.id
    LEFT JOIN document d ON d.page_id = p.id WHERE a.cut != '' AND d.page_id IS NULL) c GROUP BY names"""
_NOT_CANONICAL = f"""SELECT COUNT(DISTINCT r.page_id) FROM redirect r JOIN page p ON p.id = r.page_id
WHERE r.source = 'canonical' AND p.last_exit_code = {ExitCode.not_canonical.value}
    AND NOT EXISTS (SELECT 1 FROM page q WHERE q.url_id = r.to_url_id AND q.external = 0)"""
_TOO_DEEP = """SELECT CASE WHEN EXISTS (SELECT 1 FROM job WHERE max_depth IS NOT NULL)
    THEN (SELECT COUNT(*) FROM page WHERE beyond_depth = 1) ELSE 0 END"""
_BLOCKED = f"""SELECT o.origin, g.code AS reason, g.pages AS count, u.href AS sample_url, g.decided_by, g.every,
    g.urls FROM (SELECT p.origin_id, p.last_exit_code AS code, COALESCE(a.decided_by, '') AS decided_by,
        COUNT(*) AS pages, MIN(p.id) AS sample, COUNT(*) OVER () AS every, SUM(COUNT(*)) OVER () AS urls
    FROM origin o JOIN page p ON p.origin_id = o.id LEFT JOIN attempt a ON a.id = p.last_attempt_id
    WHERE {_CRAWLED} AND {PAGES_ONLY} AND o.blocked > 0 AND {among("p.last_exit_code", BLOCKED)}
    GROUP BY p.origin_id, p.last_exit_code, COALESCE(a.decided_by, '')) g
    JOIN origin o ON o.id = g.origin_id JOIN page p ON p.id = g.sample JOIN url u ON u.id = p.url_id
ORDER BY g.pages DESC, g.sample LIMIT {LISTED}"""
_LINKS = f"""SELECT o.origin, r.reason, r.count, r.sample_url, '' AS decided_by, COUNT(*) OVER () AS every
FROM refused r JOIN origin o ON o.id = r.origin_id WHERE {_CRAWLED} ORDER BY r.count DESC, o.id LIMIT {LISTED}"""
_SITEMAPS = f"""SELECT u.href, p.last_exit_code FROM page p JOIN url u ON u.id = p.url_id
WHERE p.external = {EXTERNAL} AND p.sitemap = 1 AND NOT {among("p.last_exit_code", DOCUMENTS | LEADS)} ORDER BY p.id"""
_SEEDS = f"""SELECT p.id, u.href, o.origin, p.last_exit_code, p.last_http_status, o.finish_reason,
    CASE WHEN {among("p.last_exit_code", DOCUMENTS)} THEN 1 ELSE 0 END AS good
FROM page p JOIN origin o ON o.id = p.origin_id JOIN url u ON u.id = p.url_id
WHERE p.seed = 1 AND {_CRAWLED} ORDER BY good, p.id"""
_LEADS_TO = f"""SELECT r.page_id, q.id, t.href, q.last_exit_code, COALESCE(o.finish_reason, '') FROM redirect r
    JOIN page p ON p.id = r.page_id AND {among("p.last_exit_code", LEADS)}
    JOIN url t ON t.id = r.to_url_id LEFT JOIN page q ON q.url_id = t.id AND q.external = 0
    LEFT JOIN origin o ON o.id = q.origin_id WHERE {{0}} ORDER BY r.page_id, q.id DESC"""
_MESSAGES = "SELECT p.id, a.message FROM page p JOIN attempt a ON a.id = p.last_attempt_id WHERE {0}"

_DOCUMENTS = f"""document d JOIN page p ON p.id = d.page_id JOIN origin o ON o.id = p.origin_id AND {_CRAWLED}
    AND {among("p.last_exit_code", DOCUMENTS | {ExitCode.file_of_unknown_type})}"""
_SAME = f"""SELECT d.sha256, MIN(d.size), COUNT(DISTINCT p.url_id), COUNT(*) OVER () FROM {_DOCUMENTS}
WHERE d.sha256 IN (SELECT sha256 FROM document WHERE sha256 > '' GROUP BY sha256 HAVING COUNT(*) >= {ALIKE})
GROUP BY d.sha256 HAVING COUNT(DISTINCT p.url_id) >= {ALIKE} ORDER BY 3 DESC, 1 LIMIT {_GROUPS}"""
_ALIKE = f"""SELECT DISTINCT p.url_id, u.href, p.last_exit_code FROM {_DOCUMENTS} JOIN url u ON u.id = p.url_id
WHERE d.sha256 = ? ORDER BY p.url_id LIMIT {NAMED}"""

SeedPlace = tuple[int | None, str, int | None, str]
"""Where a seed leads: the page (None: it is none), its URL, its exit code, and how its origin ended."""


class CoverageReports(SubjectReports):
    """The coverage statement."""

    def coverage(self) -> Coverage:
        """What the newest run covers, by what is stored; without the parts of `why` and of the configuration."""
        run = OverviewReports(self._reader, self._now).run()
        if run is None:
            return Coverage()
        read, number = self._reader.all, self._reader.number
        (done, pending), failed = read(_SUMS)[0], read(_FAILED)
        cuts = sorted(map(tuple, read(_CUT)))
        cut: Counter[str] = Counter()
        for names, pages in cuts:
            for name in cut_names(names):
                cut.update(dict.fromkeys(CUTS.get(name, ("", (name,)))[1][:1], pages))
        pages_refused, links_refused, same = read(_BLOCKED), read(_LINKS), read(_SAME)
        groups = [refused_group(row[0], exit_name(row[1]), *row[2:5]) for row in pages_refused]
        groups += [refused_group(*row[:5]) for row in links_refused]
        groups.sort(key=lambda one: (-one.count, one.origin, one.reason, one.decided_by))
        coverage = Coverage(
            run,
            pages={
                "crawled": done,
                "failed": sum(pages for _, pages in failed),
                "refused": int(pages_refused[0][6]) if pages_refused else 0,
                "truncated": sum(pages for _, pages in cuts),
                "not_canonical": number(_NOT_CANONICAL),
            },
            refused=tuple(groups[:LISTED]),
            refused_total=sum(rows[0][5] for rows in (pages_refused, links_refused) if rows),
            failures={code: pages for id_, pages in failed if (code := code_of(id_)) is not None},
            ends=dict(map(tuple, read(_ENDS))),
            cut=cut,
            pending=pending,
            stashed=number("SELECT COUNT(*) FROM page WHERE status = 4"),
            too_deep=number(_TOO_DEEP),
            sitemaps=tuple((url, exit_name(code)) for url, code in read(_SITEMAPS)),
            segments=number("SELECT COUNT(*) FROM segment WHERE consumed_at = 0"),
        )
        return self._with_seeds(replace(coverage, same=tuple(self._alike(same)), same_total=same[0][3] if same else 0))

    def _alike(self, groups: Sequence[Row]) -> Iterator[SameContent]:
        for sha256, size, count, _ in groups:
            urls = self._reader.all(_ALIKE, (sha256,))
            yield SameContent(sha256, size, count, exit_name(urls[0][2]), tuple(href for _, href, _ in urls))

    def documents_unread(self) -> int:
        """How many documents the offline mode has not read; an index knows them."""
        return self._reader.number("SELECT COUNT(*) FROM document WHERE scanned_at = 0")

    def _with_seeds(self, coverage: Coverage) -> Coverage:
        seeds = self._reader.all(_SEEDS)
        with_documents = f"SELECT o.origin FROM origin o WHERE {_CRAWLED} AND {HAS_DOCUMENT}"
        good = {origin for (origin,) in self._reader.all(with_documents)}
        ends = ends_of(self._reader, {row[0]: (row[0], row[1], row[3], row[5]) for row in seeds if row[3] in LEADS})
        found, emptied = [], dict[str, bool]()
        for page, url, origin, code, status, finish, _ in seeds:
            at, end, last, ended = ends.get(page, (page, url, code, finish))
            last = code if at is None else last
            lost = is_lost(None if last is None else code_of(last), ended, has_documents=origin in good)
            found.append((not lost, page, url, code, status, end))
            emptied[origin] = lost and bool(finish) and emptied.get(origin, origin not in good)
        found.sort(key=itemgetter(0))
        pages = among("p.id", [row[1] for row in found[:LISTED] if not row[0]])
        said: dict[int, str] = dict(map(tuple, self._reader.all(_MESSAGES.format(pages))))
        return replace(
            coverage,
            seeds=tuple(
                SeedEnd(url, exit_name(code) or None, status, end, "" if fine else lost_words(code, said.get(page, "")))
                for fine, page, url, code, status, end in found[:LISTED]
            ),
            seeds_total=len(found),
            seeds_lost=sum(not row[0] for row in found),
            empty=tuple(origin for origin, is_empty in emptied.items() if is_empty),
        )


def ends_of(reader: Reader, ends: dict[int, SeedPlace]) -> dict[int, SeedPlace]:
    """Return where pages that lead elsewhere end, by page, a hop at a time for all of them."""
    for _ in range(_HOPS):
        at = among("r.page_id", [end[0] for end in ends.values() if end[0] is not None])
        hops: dict[int, SeedPlace] = {row[0]: (row[1], *row[2:]) for row in reader.all(_LEADS_TO.format(at))}
        if not hops:
            break
        ends = {seed: hops.get(end[0] or 0, end) for seed, end in ends.items()}
    return ends
