"""Reports on the branches of a site: all by ranges of the index on the text of URLs (decision 14), in pieces.

What is right below a prefix is found by hops: the next URL says which branch comes, the end of its range is where the
next hop begins. Counts are read along the range, a bounded time at once; they find the branches, too, that lie behind
more pages of the prefix itself than one reading hops over.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program only

import time
from collections.abc import Mapping, Sequence

from tui_crawler.domain.history.site_tree import GROWTH_MS, BranchCounts, BranchList, BranchTally, end_of, name_below
from tui_crawler.domain.history.trap import TrapSuspicion, endless_shape
from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.storage.db.reader import SubjectReports, among
from tui_crawler.storage.reports.overview import ATTEMPT, ATTEMPTS

LOOK_S, STEP = 0.1, 2_000
"""So long one reading counts, to the end of the step of so many URLs it is in (about 15 ms)."""
SAMPLED, LOOKED_THROUGH = 200, 2_000
"""So many attempts are judged for a suspicion, of so many URLs of the branch."""

_NOWHERE = 2**30
_REST = "substr(href, :begin)"
_NAME = f"""CASE WHEN instr({_REST}, '/') > 0
        AND (instr({_REST}, '?') = 0 OR instr({_REST}, '/') < instr({_REST}, '?'))
    THEN substr({_REST}, 1, instr({_REST}, '/'))
    ELSE substr({_REST}, 1, instr({_REST}, '?')) END"""
"""`site_tree.name_below` of a URL, for a folder whose prefix has `:begin` - 1 characters."""
_RANGE = "href >= :low AND href < :end"
_NEXT = f"SELECT href FROM url WHERE {_RANGE} ORDER BY href LIMIT 1"
_NEXT_BRANCH = f"""SELECT MIN(href) FROM (SELECT href FROM url WHERE {_RANGE} ORDER BY href LIMIT {STEP}) u
    WHERE {_NAME} <> ''"""


_CODE = "p.last_exit_code"
_WAITS = f"p.status IN ({PageStatus.READY.value}, {PageStatus.CLAIMED.value}) AND p.attempts_remaining > 0"
_COUNTED = f"""COUNT(p.id) AS known,
    COUNT(*) FILTER (WHERE {_CODE} IS NOT NULL AND NOT {among(_CODE, FAILURES | BLOCKED)} AND NOT ({_WAITS})) AS done,
    COUNT(*) FILTER (WHERE {among(_CODE, FAILURES)}) AS failed,
    COUNT(*) FILTER (WHERE {among(_CODE, BLOCKED)}) AS blocked,
    COUNT(*) FILTER (WHERE p.id IS NULL AND EXISTS
        (SELECT 1 FROM link l WHERE l.to_url_id = u.id AND l.kind = 'a')) AS refused,
    COALESCE(SUM(d.size), 0) AS bytes, COUNT(a.response_ms) AS timed, COALESCE(SUM(a.response_ms), 0) AS response_ms,
    COUNT(*) FILTER (WHERE p.created_at > :since) AS fresh"""
"""The fields of `BranchCounts`; what they mean of a page is said by `domain.page.tally`."""
_JOINED = """u LEFT JOIN page p ON p.url_id = u.id LEFT JOIN document d ON d.page_id = p.id
    LEFT JOIN attempt a ON a.id = p.last_attempt_id"""
_PIECE = f"""SELECT {_NAME} AS name, MAX(u.href), COUNT(DISTINCT u.id), {_COUNTED}
FROM (SELECT id, href FROM url WHERE href {{sign}} :low AND href < :end ORDER BY href LIMIT :limit) {_JOINED}
GROUP BY name"""
_PAGES = f"SELECT u.href, {_COUNTED} FROM (SELECT id, href FROM url WHERE href IN ({{}})) {_JOINED} GROUP BY u.href"

_SAMPLE = f"""SELECT p.last_attempt_id FROM (SELECT id FROM url WHERE {_RANGE} ORDER BY href LIMIT {LOOKED_THROUGH}) u
    JOIN page p ON p.url_id = u.id WHERE p.last_attempt_id > 0 LIMIT {SAMPLED}"""
_FAILED = f"""SELECT u.href FROM page p JOIN url u ON u.id = p.url_id WHERE p.failed = 1
    AND p.origin_id = (SELECT id FROM origin WHERE origin = :origin) AND {_RANGE} ORDER BY p.id LIMIT :limit"""


class TreeReports(SubjectReports):
    """The branches below a prefix (`site_tree`), their pages, and what may be wrong with them."""

    def branch_list(self, prefix: str, branches: int, pages: int) -> BranchList:
        """The first `branches` and the first own `pages` of a prefix, found by hops over the index; behind these pages
        no branch that more than STEP others keep from the one before."""
        names, own, place, more = list[str](), list[str](), _place(prefix), False
        while not more and (row := self._reader.one(_NEXT if len(own) < pages else _NEXT_BRANCH, place)) and row[0]:
            name = name_below(prefix, row[0])
            more = bool(name) and len(names) == branches
            if name:
                names.append(name)
            else:
                own.append(row[0])
            place["low"] = end_of(prefix + name) if name else f"{row[0]}\1"  # in no URL is a lesser one
        urls = {f"url{'_' * at}": url for at, url in enumerate(own)}
        text = _PAGES.format(", ".join(f":{slot}" for slot in urls) or "NULL")
        rows = self._reader.all(text, urls | {"since": self._now() - GROWTH_MS})
        counts = {url: BranchCounts(*numbers) for url, *numbers in sorted(rows)}
        return BranchList(tuple(names[:branches]), counts, more)

    def branch_piece(self, prefix: str, after: str = "") -> BranchTally:
        """Counts of the branches right below a prefix, of the URLs after one (empty: from the first on); as many as can
        be looked at in LOOK_S."""
        until = time.monotonic() + LOOK_S
        tally = BranchTally(last=after)
        while not tally.ended and (not tally.urls or time.monotonic() < until):
            after = tally.last
            values = {**_place(prefix), "low": after or prefix, "limit": STEP, "since": self._now() - GROWTH_MS}
            rows = self._reader.all(_PIECE.format(sign=">" if after else ">="), values)
            counts = {name: BranchCounts(*numbers) for name, _, _, *numbers in rows}
            urls = sum(row[2] for row in rows)
            last = max((row[1] for row in rows), default=after)
            tally = tally.plus(BranchTally(counts, urls, last, urls < STEP))
        return tally

    def branch_traps(self, prefixes: Sequence[str]) -> Mapping[str, TrapSuspicion]:
        """Which of these branches look like a trap, by the last attempts at their first pages."""
        found: dict[str, TrapSuspicion] = {}
        for prefix in prefixes:
            ids = [row[0] for row in self._reader.all(_SAMPLE, _place(prefix))]
            attempts = self._reader.records(ATTEMPT, f"{ATTEMPTS} WHERE {among('a.id', ids)}")
            origin = "/".join(prefix.split("/", 3)[:3])
            if (suspicion := endless_shape(origin, attempts)) is not None:
                found[prefix] = suspicion
        return found

    def branch_failures(self, origin: str, prefix: str, limit: int) -> tuple[str, ...]:
        """The first failed pages of a branch, by the index of failed pages."""
        rows = self._reader.all(_FAILED, {**_place(prefix), "origin": origin, "limit": limit})
        return tuple(row[0] for row in rows)


def _place(prefix: str) -> dict[str, str | int]:
    begin = _NOWHERE if prefix.endswith("?") else len(prefix) + 1
    return {"low": prefix, "end": end_of(prefix), "begin": begin}
