"""Two runs compared: pages by keyset, robots.txt, speed, and one page down to its bodies and links.

What it costs grows with what has changed, but for the counts of what stayed the same: those pass over the pages once.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program, and of numbers of runs

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import zstandard

from tui_crawler.domain.history import run_diff as record
from tui_crawler.domain.records.failure import NotComparable
from tui_crawler.domain.records.page_view import LinkView
from tui_crawler.storage.db.reader import SubjectReports, among
from tui_crawler.storage.drivers.driver import Row
from tui_crawler.storage.reports.links import LINK_COLUMNS, LISTED_BY
from tui_crawler.storage.reports.pages import known_rows

_WINDOW = 500  # rows, of which a page has one for each run at most
_FIRST = (0, 0)
_END = 2**62

_REDIRECT = "(SELECT r.to_url_id FROM redirect r WHERE r.page_id = p.id AND r.source <> 'canonical' LIMIT 1)"
_CANONICAL = """COALESCE(NULLIF(d.canonical, ''), (SELECT c.href FROM redirect r JOIN url c ON c.id = r.to_url_id
    WHERE r.page_id = p.id AND r.source = 'canonical' LIMIT 1), '')"""
_NOW = f"""p.last_exit_code, p.last_http_status, COALESCE(d.sha256, ''), COALESCE(d.title, ''), {_CANONICAL},
    {_REDIRECT}"""
_UNREACHED = f"""(p.seed = 0 AND p.sitemap = 0 AND (SELECT run_id FROM attempt a WHERE a.id = p.last_attempt_id) <= :old
    AND NOT EXISTS (SELECT 1 FROM link l WHERE l.to_url_id = p.url_id AND l.from_page_id <> p.id)
    AND NOT EXISTS (SELECT 1 FROM redirect r WHERE r.to_url_id = p.url_id AND r.page_id <> p.id)
    AND NOT EXISTS (SELECT 1 FROM page s WHERE {LISTED_BY}))"""
FORMER = "SELECT * FROM former_page WHERE run_id = {run} AND (origin_id, page_id) > (:from, :page) AND origin_id <= :to"
CHANGES = f"""SELECT f.run_id, f.origin_id, f.page_id, f.links, u.href, o.origin, {_UNREACHED},
    f.exit_code, f.http_status, f.sha256, f.title, f.canonical, f.redirect_id, {_NOW}
FROM ({{former}} ORDER BY origin_id, page_id, run_id LIMIT {_WINDOW}) f
    CROSS JOIN page p ON p.id = f.page_id CROSS JOIN url u ON u.id = p.url_id CROSS JOIN origin o ON o.id = f.origin_id
    LEFT JOIN document d ON d.page_id = p.id"""
"""Rows of pages before a run changed them, with what they are now."""

_THERE = f"""SELECT p.origin_id, MIN(o.origin),
    COUNT(*) FILTER (WHERE p.external = 0 AND NOT {among("p.last_exit_code", record.NOT_THERE)})
FROM page p CROSS JOIN origin o ON o.id = p.origin_id {{of_origin}} GROUP BY p.origin_id"""
_ORIGINS = """SELECT o.origin, o.id AS origin_id FROM origin o
WHERE EXISTS (SELECT 1 FROM page p WHERE p.origin_id = o.id) ORDER BY o.origin"""
_PACE = """SELECT r.id AS run_id, r.requests, r.worked_ms, COALESCE(SUM(a.bytes), 0) AS bytes,
    CAST(SUM(response_ms) AS BIGINT) / NULLIF(COUNT(response_ms), 0) AS response_ms, COALESCE(SUM(problem), 0) AS failed
FROM run r LEFT JOIN attempt a ON a.id >= :first AND a.id < :end WHERE r.id = :run GROUP BY r.id"""
_ROBOTS = """SELECT f.origin_id, o.origin, t.body, f.run_id, f.body FROM former_robots f
    JOIN origin o ON o.id = f.origin_id JOIN robots_text t ON t.origin_id = f.origin_id
WHERE f.run_id > ? ORDER BY o.origin, f.run_id"""
_PAGE = f"""SELECT p.id, p.origin_id, p.url_id, u.href, COALESCE(d.charset, ''), {_NOW} FROM url u
    JOIN page p ON p.url_id = u.id LEFT JOIN document d ON d.page_id = p.id WHERE u.hash = ? ORDER BY p.id LIMIT 1"""
_ENDS = f"""SELECT {LINK_COLUMNS}
    FROM {{table}} l JOIN page p ON p.id = l.from_page_id JOIN url f ON f.id = p.url_id JOIN url t ON t.id = l.to_url_id
WHERE l.{{key}} = :number"""
_IN_ORDER = "ORDER BY l.from_page_id, l.kind, l.to_url_id LIMIT :n"
LINKS_NEW = f"""{_ENDS.format(table="link", key="{key}")} AND l.first_seen_at BETWEEN :since AND :until - 1
{_IN_ORDER}"""
LINKS_GONE = f"""{_ENDS.format(table="former_link", key="{key}")} AND l.run_id IN ({{runs}})
    AND l.first_seen_at < :since AND NOT EXISTS (SELECT 1 FROM link k WHERE k.from_page_id = l.from_page_id
    AND k.kind = l.kind AND k.to_url_id = l.to_url_id) {_IN_ORDER}"""
"""Links of a page, or to a URL, that came between two times, and that went in some runs and have not come back."""
_SAME = record.PageDifference(None)


class RunDiffReports(SubjectReports):
    """What two runs found. A span is one that `runs_compared` has answered: of others changes are missing."""

    def runs_compared(self, runs: Sequence[int] = ()) -> record.RunSpan:
        """Two runs by their numbers in either order, one and the newest, or the last two. Raises NotComparable."""
        kept: dict[int, int] = dict(self._reader.all("SELECT id, keeps_former FROM run ORDER BY id"))
        unknown = [run for run in runs if run not in kept]
        last = max((run for run, keeps in kept.items() if not keeps), default=0)
        able = [str(run) for run in kept if run >= last]
        these = f"runs {', '.join(able)} can be compared" if len(able) > 1 else "no two runs can be compared"
        if unknown or not kept:
            raise NotComparable(f"there is no run {unknown[0]}: {these}" if unknown else "there is no run yet")
        chosen = sorted({*runs, max(kept)} if len(runs) == 1 else {*runs} or [*kept][-2:])
        if len(chosen) == 1:
            another = f"run {chosen[0]} is compared with another: {these}"
            raise NotComparable("there is only one run" if len(kept) == 1 else another)
        if lost := [run for run, keeps in kept.items() if run > chosen[0] and not keeps]:
            raise NotComparable(f"what run {lost[-1]} has changed is not kept (storage.keep_runs): {these}")
        return record.RunSpan(*chosen)

    def origin_id(self, origin: str) -> int:
        """The number of an origin in the other questions; 0 where it is not known."""
        return self._reader.origin_id(origin)

    def compared_origins(self) -> tuple[record.OriginDiff, ...]:
        """The origins of `origin_diffs`, not counted; takes no time that grows with their pages."""
        return self._reader.records(record.OriginDiff, _ORIGINS)

    def page_changes(
        self, span: record.RunSpan, origin_id: int = 0, after: tuple[int, int] = _FIRST, limit: int | None = None
    ) -> Iterator[record.PageChange]:
        """The pages that are new, gone or changed, of one origin (0: of all), by keyset: behind the `place` of the one
        before; at most `limit`. Read in windows."""
        return islice((one for one, *_ in self._walk(span, origin_id, after) if one.difference.kind), limit)

    def failure_changes(self, span: record.RunSpan, origin_id: int = 0) -> Iterator[record.PageChange]:
        """The pages that fail now and did not, or did and fail no more."""
        return (one for one, *_ in self._walk(span, origin_id, _FIRST) if one.difference.failing)

    def origin_diffs(self, span: record.RunSpan, origin_id: int = 0) -> tuple[record.OriginDiff, ...]:
        """How many pages of each origin are new, gone, changed and the same, by name."""
        text = _THERE.format(of_origin="WHERE p.origin_id = ?" if origin_id else "")
        rows = self._reader.all(text, (origin_id,) if origin_id else ())
        counts = {key: Counter(same=there or 0) for key, _, there in rows}
        for change, after, now in self._walk(span, origin_id, _FIRST):
            count, found = counts.setdefault(change.place[0], Counter()), change.difference
            count[found.kind.word if found.kind else "same"] += found.kind is not None or after.is_there
            count["same"] -= now.is_there
            if found.failing:
                count[f"failures_{found.failing.word}"] += 1
        made = (record.OriginDiff(name, key, **counts[key]) for key, name, _ in rows)
        return tuple(sorted(made, key=lambda one: one.origin))

    def robots_diffs(self, span: record.RunSpan, origin_id: int = 0) -> Iterator[record.RobotsDiff]:
        """The robots.txt that differ, by origin, as the lines that do."""
        for (key, name, now), rows in groupby(self._reader.all(_ROBOTS, (span.older,)), itemgetter(0, 1, 2)):
            former = [(run, body) for *_, run, body in rows]
            after = next((body for run, body in former if run > span.newer), now)
            if former[0][1] != after and origin_id in {0, key}:
                bodies = map(zstandard.ZstdDecompressor().decompress, (former[0][1], after))
                was, is_now = (record.text_of(body, "") for body in bodies)
                yield record.RobotsDiff(name, record.changed_lines(was, is_now))

    def run_pace(self, run: int) -> record.RunPace | None:
        """How fast a run was, by its log."""
        first, end = self._first_attempt(run), self._first_attempt(run + 1)
        return self._reader.record(record.RunPace, _PACE, {"run": run, "first": first, "end": end})

    def page_diff(self, span: record.RunSpan, url: str, links: int) -> record.PageDiff | None:
        """One page in two runs, with at most `links` of its links each way that came, and that went; None: no page."""
        found = next(iter(known_rows(self._reader, _PAGE, url)), None)
        if found is None:
            return None
        page_id, origin_id, url_id, href, charset, *now = found
        states, change = (record.PageVersion(*now), record.PageVersion(*now)), None
        walked = next(self._walk(span, origin_id, (origin_id, page_id - 1)), None)
        if walked is not None and walked[0].place[1] == page_id:
            states = (walked[0].before, walked[1])
            change = walked[0] if walked[0].difference != _SAME else None
        keys = ("from_page_id", page_id), ("to_url_id", url_id)
        ends = [self._links(span, key, number, links) for key, number in keys]
        bodies = [self._body(state.sha256) for state in states]
        of_url = "SELECT href FROM url WHERE id = ?"
        redirects = [(self._reader.one(of_url, (state.redirect,)) or ("",))[0] for state in states]
        return record.PageDiff(href, change, states, redirects, bodies, charset, *ends)

    def _walk(
        self, span: record.RunSpan, origin_id: int, after: tuple[int, int]
    ) -> Iterator[tuple[record.PageChange, record.PageVersion, record.PageVersion]]:
        """Every page that a run after the older one may have changed, with what it was after the newer run, and is."""
        text = CHANGES.format(former=" UNION ALL ".join(FORMER.format(run=run) for run in self._runs_after(span)))
        bounds, place = {"to": origin_id or _END, "old": span.older}, max(after, (origin_id, 0))
        while found := self._reader.all(text, bounds | {"from": place[0], "page": place[1]}):
            rows = sorted(found, key=itemgetter(1, 2, 0))  # as SQLite gives them
            groups = [list(group) for _, group in groupby(rows, itemgetter(1, 2))]
            whole = groups if len(rows) < _WINDOW else groups[:-1]
            yield from (_change_of(span, group) for group in whole)
            if whole is groups:
                return
            place = whole[-1][0][1:3]

    def _links(self, span: record.RunSpan, key: str, number: int, limit: int) -> record.LinkDiff:
        """The links that came and went, of a page or to a URL. What came later than the runs is left out."""
        text = "SELECT started_at FROM run WHERE id > ? ORDER BY id LIMIT 1"
        since, until = ((self._reader.one(text, (run,)) or (_END,))[0] for run in (span.older, span.newer))
        values = {"number": number, "since": since, "until": until, "n": limit}
        new = self._reader.records(LinkView, LINKS_NEW.format(key=key), values)
        runs = ", ".join(str(run) for run in self._runs_after(span) if run <= span.newer)
        return record.LinkDiff(new, self._reader.records(LinkView, LINKS_GONE.format(key=key, runs=runs), values))

    def _runs_after(self, span: record.RunSpan) -> list[int]:
        return [run for (run,) in self._reader.all("SELECT id FROM run WHERE id > ? ORDER BY id", (span.older,))]

    def _first_attempt(self, run: int) -> int:
        """The first attempt of a run or of one after it: runs come one after the other, and so do their attempts."""
        newest = self._reader.number("SELECT COALESCE(MAX(id), 0) FROM attempt")
        text = "SELECT id, run_id FROM attempt WHERE id >= ? ORDER BY id LIMIT 1"
        return self._reader.first_since(text, (), run, 1, newest + 1)

    def _body(self, sha256: str) -> bytes | None:
        row = self._reader.one("SELECT zstd, size FROM body WHERE sha256 = ?", (sha256,))
        return None if row is None else zstandard.ZstdDecompressor().decompress(row[0], max_output_size=row[1])


def _change_of(
    span: record.RunSpan, rows: Sequence[Row]
) -> tuple[record.PageChange, record.PageVersion, record.PageVersion]:
    first, now = rows[0], record.PageVersion(*rows[0][13:])
    before = record.PageVersion(*first[7:13])
    after = next((record.PageVersion(*row[7:13]) for row in rows if row[0] > span.newer), now)
    of_span: list[Any] = [row for row in rows if row[0] <= span.newer]
    unreached = bool(first[6] and of_span)
    found = record.difference(before, after, any(row[3] for row in of_span), unreached)
    return record.PageChange(first[4], first[5], found, before, after, unreached, (first[1], first[2])), after, now
