"""The tables of a site audit. Each is read by a few queries of its own, none of them one per page, and holds `LISTED`
rows at most; what grows with the crawl stays in the database. While a run is live they are not of one moment.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program, and of the number of a run

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from tui_crawler.domain.crawl.canonical import ClaimState
from tui_crawler.domain.crawl.cut import cut_names
from tui_crawler.domain.history import site_audit as record
from tui_crawler.domain.history.audit import audit
from tui_crawler.domain.history.site_audit import Found, SiteAudit, over_time, politeness
from tui_crawler.domain.history.span import TimeSpan
from tui_crawler.domain.records.exit_code import DISPOSITIONS, ExitCode
from tui_crawler.domain.records.page import EMBEDDED, EXTERNAL
from tui_crawler.storage.db.reader import Reader, SubjectReports
from tui_crawler.storage.db.views import name_of
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.reports.attempts import AttemptReports
from tui_crawler.storage.reports.links import (
    CHAINED,
    NAMED,
    broken_fragments,
    count_fragments,
    dead,
    dead_ends,
    referrers_of,
    walled,
)
from tui_crawler.storage.reports.overview import DONE
from tui_crawler.storage.reports.timeline import TimelineReports

_MOST_INVALID = 100_000  # invalid documents; more are not looked at

_NOW = """SELECT id AS page_id, origin_id, url_id, last_exit_code AS exit_code, last_http_status AS http_status,
    last_attempt_id AS attempt_id, failed, external FROM page"""
_OF_RUN = """SELECT page_id, origin_id, url_id, exit_code, http_status, id AS attempt_id, problem AS failed,
    (SELECT external FROM page p WHERE p.id = page_id) AS external FROM attempt
    WHERE id IN (SELECT MAX(id) FROM attempt WHERE {of_run} AND page_id IS NOT NULL GROUP BY page_id)"""

_WHEN = {code.name: row.when for code, row in DISPOSITIONS.items()}
_EXIT = name_of("q.exit_code", ExitCode)
_SUMS = f"""SELECT (SELECT MIN(started_at) FROM attempt), (SELECT MAX(ended_at) FROM attempt), COUNT(*),
    SUM(pages_known), SUM({DONE}), SUM(failed), SUM(blocked), SUM(pending), SUM(requests), SUM(bytes) FROM origin"""
_SUMS_OF_RUN = """SELECT MIN(started_at), MAX(ended_at), COUNT(DISTINCT origin_id), COUNT(DISTINCT page_id), NULL, (
    SELECT COUNT(*) FROM outcome WHERE failed = 1), NULL, NULL, SUM(requests), SUM(bytes) FROM attempt WHERE {of_run}"""
_EXITS = f"""SELECT {_EXIT}, COUNT(*) FROM attempt q WHERE {{of_run}} GROUP BY exit_code
ORDER BY COUNT(*) DESC, exit_code"""
_CLASS = " ".join(f"WHEN response_ms < {bound} THEN {place}" for place, bound in enumerate(record.RESPONSE_BOUNDS[1:]))
_TIMES = f"""SELECT CASE {_CLASS} ELSE {len(record.RESPONSE_BOUNDS) - 1} END, COUNT(*) FROM attempt
WHERE response_ms IS NOT NULL AND {{of_run}} GROUP BY 1"""

_CAUSES = """(SELECT MIN(page_id) AS page_id, COUNT(*) AS pages, COUNT(DISTINCT origin_id) AS origins FROM outcome
    WHERE failed = 1 GROUP BY exit_code, http_status) g CROSS JOIN outcome q ON q.page_id = g.page_id
    JOIN url u ON u.id = q.url_id LEFT JOIN attempt a ON a.id = q.attempt_id"""
_FAILED = """outcome q JOIN page p ON p.id = q.page_id JOIN url u ON u.id = q.url_id
    LEFT JOIN attempt a ON a.id = q.attempt_id WHERE q.failed = 1"""
_BY_HAND = "(p.seed = 1 OR p.found_on_page_id IS NULL)"
_LINKS = "(SELECT COUNT(*) FROM link l WHERE l.to_url_id = q.url_id)"
_ATTEMPTED = "outcome q CROSS JOIN attempt a ON a.id = q.attempt_id CROSS JOIN url u ON u.id = q.url_id"
_HTML = """document d JOIN page p ON p.id = d.page_id JOIN url u ON u.id = p.url_id
    WHERE d.kind = 'html' AND p.failed = 0"""
_TITLES = f"""(SELECT d.title AS title, COUNT(DISTINCT p.url_id) AS pages FROM {_HTML} AND d.title <> ''
    GROUP BY d.title HAVING COUNT(DISTINCT p.url_id) > 1) t"""
_DOCUMENTS = _HTML.replace("d.kind = 'html'", "d.kind IN ('html', 'xml', 'css', 'rss')")
_JUDGED = f"""SELECT d.kind, COUNT(*), COUNT(d.valid), COUNT(CASE WHEN d.valid = 0 THEN 1 END)
FROM {_DOCUMENTS} GROUP BY d.kind ORDER BY d.kind"""
_INVALID = f"""SELECT d.kind, d.validation_errors, u.href
FROM {_DOCUMENTS} AND d.valid = 0 ORDER BY d.page_id LIMIT {_MOST_INVALID}"""
_ENDED_AS = "outcome q JOIN url u ON u.id = q.url_id {0} WHERE q.exit_code = {1.value}"
_CANONICAL = """LEFT JOIN redirect r ON r.page_id = q.page_id AND r.source = 'canonical'
    LEFT JOIN url t ON t.id = r.to_url_id"""
_IGNORED = f"""outcome q JOIN canonical_claim c ON c.page_id = q.page_id AND c.state = {ClaimState.ignored.value}
    JOIN url u ON u.id = q.url_id JOIN url t ON t.id = c.to_url_id"""
_STEPS = """SELECT r.page_id, f.href, t.href FROM redirect r CROSS JOIN page p ON p.id = r.page_id
    CROSS JOIN url f ON f.id = p.url_id CROSS JOIN url t ON t.id = r.to_url_id
WHERE r.source <> 'canonical' AND r.page_id IN ({ids})"""


_ENDS = ("broken", "broken_external")
"""The sections of chains of redirects that end nowhere, of the crawl and outside of it."""


class _Tables:
    """Reads the tables; `run` None: about all runs."""

    def __init__(self, reader: Reader, run: int | None) -> None:
        self._reader = reader
        self._run = run
        self._of_run = "1 = 1" if run is None else f"run_id = {int(run)}"
        self._with = f"WITH outcome AS ({_NOW if run is None else _OF_RUN.format(of_run=self._of_run)}) "
        (self._sums,) = self._rows(_SUMS if run is None else self._with + _SUMS_OF_RUN)
        self._chains, loops = record.chains(reader.stream(CHAINED))
        self._dead_ends = list(dead_ends(reader, record.NAMED, loops))
        self.summary = list(zip(record.SUMMARY, self._sums, strict=True))

    def all(self) -> Iterator[Found]:
        """Every section, in no order."""
        yield from self._failures()
        yield from self._redirects()
        stored = "COALESCE((SELECT d.incomplete FROM document d WHERE d.page_id = q.page_id), a.cut)"
        cut = stored if self._run is None else "a.cut"
        key, rows, total = self._listed("cut", f"u.href, {cut}, a.bytes", f"{_ATTEMPTED} WHERE {cut} <> ''")
        yield key, [(url, cut_names(names), size) for url, names, size in rows], total
        slow = f"{_ATTEMPTED} WHERE a.response_ms > {record.SLOW_MS}"
        yield self._listed("slow", "u.href, a.response_ms, a.bytes, a.started_at", slow, "a.response_ms DESC, a.id")
        yield self._duplicate_titles()
        yield from self._validation()
        yield self._listed("missing_titles", "u.href", f"{_HTML} AND d.title = ''", "d.page_id")
        canonical = _ENDED_AS.format(_CANONICAL, ExitCode.not_canonical)
        yield self._listed("not_canonical", "u.href, t.href", canonical)
        yield self._listed("canonical_nowhere", "u.href, t.href", _IGNORED)
        noindex = _ENDED_AS.format("LEFT JOIN document d ON d.page_id = q.page_id", ExitCode.noindex)
        yield self._listed("noindex", "u.href", f"{noindex} OR d.noindex = 1")
        exits = [(code, _WHEN.get(code, ""), count) for code, count in self._rows(_EXITS)]
        yield "exit_codes", exits, len(exits)
        times: dict[int, int] = dict(self._rows(_TIMES))
        bounds = zip(record.RESPONSE_BOUNDS, (*record.RESPONSE_BOUNDS[1:], None), strict=True)
        classes = [(*bound, times.get(place, 0)) for place, bound in enumerate(bounds)]
        yield "response_times", classes, len(classes)
        counts: dict[str, list[int]] = {}
        requests = over_time(AttemptReports(self._reader).attempts_for_audit(self._run), self._sums, counts)
        proof = list(politeness(audit(requests), counts))
        yield from proof
        yield self._timelines([row[0] for row in proof[-1][1]])
        seeds = "page p JOIN outcome q ON q.page_id = p.id JOIN url u ON u.id = p.url_id WHERE p.seed = 1"
        yield self._listed("seeds", f"u.href, {_EXIT}, q.http_status", seeds)
        runs = "id, started_at, NULLIF(finished_at, 0), finish_reason, requests, user_agent"
        yield self._listed("runs", runs, f"run WHERE {self._of_run.replace('run_id', 'id')}", "id DESC")

    def _rows(self, text: str, values: Sequence[object] = ()) -> list[Row]:
        return self._reader.all(text.format(of_run=self._of_run), values)

    def _listed(self, key: str, columns: str, body: str, order: str = "q.page_id") -> Found:
        """A section of the first rows of a query; counts them all only if there are more."""
        rows = self._rows(f"{self._with}SELECT {columns} FROM {body} ORDER BY {order} LIMIT ?", (record.LISTED + 1,))
        if len(rows) <= record.LISTED:
            return key, rows, len(rows)
        return key, rows[: record.LISTED], self._rows(f"{self._with}SELECT COUNT(*) FROM {body}")[0][0]

    def _failures(self) -> Iterator[Found]:
        causes = f"{_EXIT}, q.http_status, g.pages, g.origins, u.href, COALESCE(a.message, '')"
        yield self._listed("failures", causes, _CAUSES, "g.pages DESC, q.page_id")
        broken = f"u.href, {_EXIT}, q.http_status, {_LINKS} AS links, q.page_id, q.url_id"
        alive = walled("q", "http_status")
        kinds = ("broken", 0), ("broken_embedded", EMBEDDED), ("broken_external", EXTERNAL)
        wheres = [(key, f"q.external = {kind} AND {dead('q', 'http_status', 'exit_code')}") for key, kind in kinds]
        for key, which in (*wheres, ("walls", alive)):
            where = f"{_FAILED} AND {which} AND {NAMED}"
            found = self._listed(key, broken, where, "links DESC, q.page_id")
            rows = [(*row[:-2], referrers_of(self._reader, row[-2], row[-1], record.NAMED).first) for row in found[1]]
            cut = [one for one in self._dead_ends if not one.leads_to and key == _ENDS[one.external]]
            rows += [(one.url, one.exit_code, None, len(one.referrers.first), one.referrers.first) for one in cut]
            yield key, rows[: record.LISTED], found[2] + len(cut)
        missing = list(islice(broken_fragments(self._reader, record.NAMED), record.LISTED + 1))
        total = len(missing) if len(missing) <= record.LISTED else count_fragments(self._reader)
        by = [(one.url, one.fragment, one.referrers) for one in missing[: record.LISTED]]
        named = [(url, fragment, len(those.first) + those.more, those.first) for url, fragment, those in by]
        yield "broken_fragments", named, total
        unnamed = f"u.href, {_EXIT}, q.http_status, COALESCE(a.message, '')"
        yield self._listed("failed_unnamed", unnamed, f"{_FAILED} AND {_BY_HAND} AND NOT {NAMED}")

    def _redirects(self) -> Iterator[Found]:
        paths = self._chains
        ids = ", ".join({str(page) for path in paths[: record.LISTED] for page in path})
        steps = {page: step for page, *step in self._rows(_STEPS.format(ids=ids))} if ids else {}
        known = [[steps[page] for page in path if page in steps] for path in paths[: record.LISTED]]
        yield "redirect_chains", [([step[0] for step in path] + [path[-1][1]],) for path in known if path], len(paths)
        loops = [([one.url, *one.leads_to], one.referrers.first) for one in self._dead_ends if one.leads_to]
        yield "redirect_loops", loops[: record.LISTED], len(loops)

    def _timelines(self, origins: Sequence[str]) -> Found:
        chosen = "SELECT started_at, id FROM run WHERE id = COALESCE(?, (SELECT MAX(id) FROM run))"
        run = self._rows(chosen, (self._run,))
        ended = self._rows("SELECT MAX(ended_at) FROM attempt WHERE run_id = ?", (run[0][1],))[0][0] if run else None
        if not ended:
            return "timelines", [], 0
        span = TimeSpan(run[0][0], ended + 1, record.LANE_CELLS)
        drawn = TimelineReports(self._reader, lambda: ended).timelines(origins[: record.DRAWN], span)
        asked = [(lane.origin, lane) for lane in drawn if lane.audit.requests]
        return "timelines", asked, len(asked)

    def _duplicate_titles(self) -> Found:
        key, rows, total = self._listed("duplicate_titles", "title, pages", _TITLES, "pages DESC, title")
        urls: dict[str, dict[str, None]] = {title: {} for title, _ in rows}
        marks = ", ".join("?" * len(urls)) or "NULL"
        text = f"SELECT d.title, u.href FROM {_HTML} AND d.title IN ({marks}) ORDER BY d.page_id"
        for title, url in self._reader.stream(text, tuple(urls)):
            if len(urls[title]) < record.NAMED:
                urls[title][url] = None
        return key, [(title, pages, list(urls[title])) for title, pages in rows], total

    def _validation(self) -> Iterator[Found]:
        kinds = self._rows(_JUDGED)
        yield "validation", kinds, len(kinds)
        pages, urls = Counter[tuple[str, str]](), defaultdict[tuple[str, str], list[str]](list)
        for kind, errors, url in self._reader.stream(_INVALID):
            for found in {(kind, message) for _, _, message in json.loads(errors or "[]")}:
                pages[found] += 1
                urls[found] += [url] * (pages[found] <= record.NAMED)
        most = sorted(pages, key=lambda found: (-pages[found], found))[: record.LISTED]
        yield "invalid", [(*found, pages[found], urls[found]) for found in most], len(pages)


class SiteAuditReports(SubjectReports):
    """The site audit."""

    def site_audit(self, run: int | None) -> SiteAudit | None:
        """What the crawl says of its sites, over all runs (None) or in one; None: there is no such run."""
        if run is not None and self._reader.one("SELECT id FROM run WHERE id = ?", (run,)) is None:
            return None
        name = self._reader.one("SELECT config_name FROM run ORDER BY id DESC LIMIT 1")
        tables = _Tables(self._reader, run)
        found = {key: replace(record.SECTIONS[key], rows=rows, total=total) for key, rows, total in tables.all()}
        sections = [found[key] for key in record.SECTIONS]
        return SiteAudit(name[0] if name else "", run, self._now(), tables.summary, sections)
