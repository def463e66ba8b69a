"""Windows of pages narrowed by a filter: by keyset over the id, each looking for a bounded time.

Fields narrow in the database, one origin and failures by their index. Where no index helps, rows are looked through in
steps until LOOK_S is over, so that no reading lasts long however many pages there are: the window then says how far it
looked.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program and of integers only

import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, assert_never

from tui_crawler.domain.records.exit_code import BLOCKED, FAILURES, exit_name
from tui_crawler.domain.records.status import PageStatus
from tui_crawler.domain.rules import page_filter
from tui_crawler.domain.rules.pattern import Pattern
from tui_crawler.storage.db.reader import EVERY, Reader, SubjectReports, among
from tui_crawler.storage.reports.pages import pages_of_ids

LOOK_S = 0.3
"""So long one reading looks through rows, to the end of the step it is in: a million of them take about as long."""

STEP, STEP_OF_PATTERNS = 50_000, 5_000
"""How many rows a step has: about 10 ms, also where each URL is tried here."""
FEW, MOST_URLS = 200, 3_000_000
"""A text that at most FEW URLs hold is found by these, if it can be looked for in MOST_URLS at once: 0.3 s."""
_LONGEST_LIKE = 10_000
_AFTER_ALL = 2**63 - 1
_ALWAYS = "1 = 1"

_BLOCKED = among("COALESCE(p.last_exit_code, 0)", BLOCKED)
_READY = f"p.status NOT IN ({PageStatus.CLAIMED.value}, {PageStatus.SKIPPED.value}, {PageStatus.STASHED.value})"
STATES: Mapping[page_filter.PageListState, str] = {
    page_filter.PageListState.stashed: f"p.status = {PageStatus.STASHED.value}",
    page_filter.PageListState.skipped: f"p.status = {PageStatus.SKIPPED.value}",
    page_filter.PageListState.claimed: f"p.status = {PageStatus.CLAIMED.value}",
    page_filter.PageListState.queued: f"{_READY} AND p.attempts_remaining > 0 AND p.failed = 0",
    page_filter.PageListState.retry: f"{_READY} AND p.attempts_remaining > 0 AND p.failed = 1",
    page_filter.PageListState.failed: f"{_READY} AND p.attempts_remaining <= 0 AND p.failed = 1",
    page_filter.PageListState.blocked: f"{_READY} AND p.attempts_remaining <= 0 AND {_BLOCKED}",
    page_filter.PageListState.done: f"{_READY} AND p.attempts_remaining <= 0 AND p.failed = 0 AND NOT {_BLOCKED}",
}
"""When page `p` is in a state."""
_COLUMNS = {page_filter.Measure.status: "p.last_http_status", page_filter.Measure.depth: "p.depth"}


@dataclass(slots=True)
class Search:
    """A filter as SQL. `ways` are conditions that an index serves, `conditions` those tried on each row it gives;
    `patterns` are tried here, on the URL. `origin_id` and `failed` say which counters bound it."""

    ways: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    patterns: list[tuple[Pattern, bool]] = field(default_factory=list)
    origin_id: int = 0
    failed: bool = False
    needs_url: bool = False
    needs_title: bool = False

    def passes(self, href: str) -> bool:
        """Whether a URL passes the patterns."""
        return all(pattern.search(href) is not inverted for pattern, inverted in self.patterns)


class WindowStep(NamedTuple):
    """`number` rows after one id up to another; `ended`: they are the last."""

    after: int
    up_to: int
    number: int
    ended: bool


def steps(
    reader: Reader, search: Search, after_id: int, size: int = STEP, *, newest_first: bool = False
) -> Iterator[WindowStep]:
    """The rows on the way of a search after an id, at most `size` at once, until LOOK_S is over; one step at least."""
    until = time.monotonic() + LOOK_S
    size = min(size, STEP, STEP_OF_PATTERNS if search.patterns else STEP)
    step = WindowStep(0, after_id or (_AFTER_ALL if newest_first else 0), 0, False)
    while not step.ended and (not step.number or time.monotonic() < until):
        number, edge = next_edge(reader, search, step.up_to, size, newest_first=newest_first)
        step = WindowStep(step.up_to, edge or step.up_to, number, number < size)
        yield step


def next_edge(reader: Reader, search: Search, at: int, size: int, *, newest_first: bool) -> tuple[int, int]:
    """How many rows (at most `size`) come next on the way of a search, and the id of the last of them."""
    sign, order, last = ("<", "DESC", "MIN") if newest_first else (">", "ASC", "MAX")
    way = " AND ".join(search.ways) or _ALWAYS
    row = reader.all(
        f"SELECT COUNT(*), {last}(id) FROM (SELECT p.id FROM page p WHERE {way} AND p.id {sign} ?"
        f" ORDER BY p.id {order} LIMIT ?) s",
        (at, size),
    )[0]
    return row[0], row[1] or 0


def _found(reader: Reader, search: Search, step: WindowStep, room: int, *, newest_first: bool) -> list[int]:
    sign, up_to, order = ("<", ">=", "DESC") if newest_first else (">", "<=", "ASC")
    where = where_of(search)
    chosen = "p.id, u.href" if search.patterns else "p.id"
    rows = reader.all(
        f"SELECT {chosen} FROM page p {_joined(search)} WHERE {where} AND p.id {sign} ? AND p.id {up_to} ?"
        f" ORDER BY p.id {order} LIMIT ?",
        (*search.values, step.after, step.up_to, EVERY if search.patterns else room),
    )
    if not search.patterns:
        return [row[0] for row in rows]
    return list(islice((page_id for page_id, href in rows if search.passes(href)), room))


def known_pages(reader: Reader, search: Search) -> int:
    """How many pages there are on the way of a search, from the counters of their origins."""
    column = "failed" if search.failed else "pages_known"
    where = f" WHERE id = {search.origin_id}" if search.origin_id else ""
    return reader.number(f"SELECT COALESCE(SUM({column}), 0) FROM origin{where}")


def _joined(search: Search) -> str:
    url = "JOIN url u ON u.id = p.url_id" if search.needs_url else ""
    return f"{url} LEFT JOIN document d ON d.page_id = p.id" if search.needs_title else url


def where_of(search: Search) -> str:
    """The condition of a search, whose values are `search.values`; its patterns are not in it."""
    return " AND ".join([*search.ways, *search.conditions]) or _ALWAYS


def search_of(reader: Reader, narrowing: page_filter.PageFilter) -> Search:
    """A filter as SQL, for the origins there are now. Raises StorageFailure."""
    search = Search()
    for term in narrowing.terms:
        _add(reader, search, term)
    texts = narrowing.texts
    few = _few_with(reader, max(texts, key=len)) if texts and not search.ways else None
    if few is not None:
        search.ways.append(f"p.id IN (SELECT id FROM page WHERE {among('url_id', few)})")
    return search


def _few_with(reader: Reader, text: str) -> tuple[int, ...] | None:
    """The ids of all URLs that hold a text, None where these are many. Where a part of it was looked for last, only
    what that was found in and what came since is looked at: URLs are never taken away."""
    part, up_to, known = reader.looked_for
    if part not in text or (known is None and part != text):
        up_to, known = 0, ()
    newest = reader.number("SELECT COALESCE(MAX(id), 0) FROM url")
    if known is None or newest - up_to > MOST_URLS:
        return None
    holds, value = _holds(text, "href")
    rows = reader.all(
        f"SELECT id FROM url WHERE {among('id', known)} AND {holds}"
        f" UNION ALL SELECT id FROM url NOT INDEXED WHERE id > ? AND id <= ? AND {holds} LIMIT ?",
        (value, up_to, newest, value, FEW + 1),
    )
    few = None if len(rows) > FEW else tuple(row[0] for row in rows)
    reader.looked_for = text, newest, few
    return few


def _holds(text: str, column: str) -> tuple[str, str]:
    """When a column holds a text, and the value of that. LIKE is twice as quick, quicker still without escapes."""
    if len(text) > _LONGEST_LIKE or "\0" in text:
        return f"instr(lower({column}), ?) > 0", text.lower()
    escaped = re.sub("([!%_])", r"!\1", text)
    return f"{column} LIKE ?" if escaped == text else f"{column} LIKE ? ESCAPE '!'", f"%{escaped}%"


def _add(reader: Reader, search: Search, term: page_filter.Term) -> None:
    match term:
        case page_filter.TextTerm():
            _add_text(reader, search, term)
        case page_filter.ExitTerm(codes=codes, never=never, inverted=inverted):
            listed = among("p.last_exit_code", codes)
            search.conditions.append(_either(f"({listed}{' OR p.last_exit_code IS NULL' if never else ''})", inverted))
            if codes <= FAILURES and not never and not inverted:
                _by_failures(search)
        case page_filter.StateTerm(states=states, inverted=inverted):
            listed = " OR ".join(f"({STATES[state]})" for state in sorted(states))
            search.conditions.append(_either(f"({listed})", inverted))
            if states <= {page_filter.PageListState.failed, page_filter.PageListState.retry} and not inverted:
                _by_failures(search)
        case page_filter.NumberTerm(measure=measure, spans=spans, none=none, inverted=inverted):
            column = _COLUMNS[measure]
            listed = " OR ".join(f"{column} BETWEEN {first} AND {last}" for first, last in spans) or "0 = 1"
            search.conditions.append(_either(f"({listed}{f' OR {column} IS NULL' if none else ''})", inverted))
        case _:
            assert_never(term)


def _add_text(reader: Reader, search: Search, term: page_filter.TextTerm) -> None:
    match term.of:
        case page_filter.TextOf.as_pattern:
            search.patterns += [(Pattern(text), term.inverted) for text in term.texts]
            search.needs_url = True
        case page_filter.TextOf.of_origin:
            _add_origin(reader, search, term)
        case page_filter.TextOf.in_url | page_filter.TextOf.in_title:
            of_title = term.of is page_filter.TextOf.in_title
            found = [_holds(text, "d.title" if of_title else "href") for text in term.texts]
            search.conditions.append(_either(f"({' OR '.join(holds for holds, _ in found) or '0 = 1'})", term.inverted))
            search.values += (value for _, value in found)
            search.needs_title |= of_title
            search.needs_url |= not of_title
        case _:
            assert_never(term.of)


def _add_origin(reader: Reader, search: Search, term: page_filter.TextTerm) -> None:
    """One origin is a way of its own; several are a condition."""
    ids = sorted({each for name in term.texts for each in _origins_named(reader, name)})
    if not ids and not term.inverted:
        search.ways.append("0 = 1")
    elif len(ids) == 1 and not term.inverted and not search.origin_id:
        search.origin_id = ids[0]
        search.ways.append(f"p.origin_id = {ids[0]}")
    else:
        search.conditions.append(_either(among("+p.origin_id", ids), term.inverted))


def _origins_named(reader: Reader, name: str) -> Iterator[int]:
    """The origin of that name or host; where there is none, all that it is a part of."""
    plain = name.rstrip("/")
    names = (plain, f"https://{plain}", f"http://{plain}")
    exact = reader.all("SELECT id FROM origin WHERE origin IN (?, ?, ?)", names)
    return (row[0] for row in exact or reader.all("SELECT id FROM origin WHERE instr(lower(origin), ?) > 0", (plain,)))


def _by_failures(search: Search) -> None:
    if not search.failed:
        search.failed = True
        search.ways.append("p.failed = 1")


def _either(condition: str, inverted: bool) -> str:
    """The condition, or its opposite: what is unknown counts as not so."""
    return f"{condition} IS NOT TRUE" if inverted else condition


URLS_COUNTED, ROWS_COUNTED = 100_000, 200_000
"""How many rows are looked at: where the text of URLs decides, and where only fields do."""
MOST_VALUES = 1_000
"""So many different values are told; the rarer ones are only counted."""

_STATE = "CASE " + " ".join(f"WHEN {condition} THEN '{state.value}'" for state, condition in STATES.items()) + " END"
_FIELDS: Mapping[str, str] = {
    "state": _STATE,
    "exit": "p.last_exit_code",
    "status": "p.last_http_status",
    "depth": "p.depth",
    "origin": "p.origin_id",
}


def _counted(reader: Reader, search: Search, expression: str, after: int, up_to: int) -> Mapping[Any, int]:
    """How many pages pass, by the value of an expression: those behind one id, up to another."""
    source = f"FROM page p {_joined(search)} WHERE {where_of(search)} AND p.id > ? AND p.id <= ?"
    values = (*search.values, after, up_to)
    if not search.patterns:
        return dict(reader.all(f"SELECT {expression} AS v, COUNT(*) {source} GROUP BY v", values))
    rows = reader.all(f"SELECT {expression}, u.href {source}", values)
    return Counter(value for value, href in rows if search.passes(href))


def _name(reader: Reader, field: str, value: Any) -> str:
    if field == "origin":
        value = (reader.one("SELECT origin FROM origin WHERE id = ?", (value,)) or ("",))[0]
    return exit_name(value) if field == "exit" else "" if value is None else str(value)


class PageWindowReports(SubjectReports):
    """Pages that pass a filter: a window of them, how many they are, and by what they differ."""

    def page_window(
        self, narrowing: page_filter.PageFilter, after_id: int = 0, limit: int = 200, newest_first: bool = False
    ) -> page_filter.PageWindow:
        """At most `limit` pages that pass a filter, by id: those after `after_id`, or before it when `newest_first`
        (0: from the beginning). One window looks at a bounded number of rows."""
        reader, search = self._reader, search_of(self._reader, narrowing)
        known, ids, looked_at = known_pages(reader, search), list[int](), 0
        size = STEP if search.conditions or search.patterns else limit + 1
        for step in steps(reader, search, after_id, size, newest_first=newest_first):
            ids += _found(reader, search, step, limit + 1 - len(ids), newest_first=newest_first)
            looked_at += step.number
            if len(ids) > limit:
                break
        more, shown = len(ids) > limit, ids[:limit]
        return page_filter.PageWindow(
            pages_of_ids(reader, shown),
            looked_at=known if step.ended and not more else min(looked_at, known),
            known=known,
            last_id=shown[-1] if more else step.up_to,
            ended=step.ended and not more,
        )

    def page_counts(self, narrowing: page_filter.PageFilter, field: str) -> page_filter.PageCounts:
        """Counts state, exit, status, depth or origin. Raises ValueError for another field."""
        if field not in _FIELDS:
            raise ValueError(f"pages are not counted by {field!r}")
        search = search_of(self._reader, narrowing)
        known = known_pages(self._reader, search)
        most = URLS_COUNTED if search.needs_url else ROWS_COUNTED
        number, edge = next_edge(self._reader, search, 0, most, newest_first=False)
        found = _counted(self._reader, search, _FIELDS[field], 0, edge) if number else {}
        most_frequent = sorted(found.items(), key=lambda one: (-one[1], one[0] is not None, one[0]))
        listed = [(_name(self._reader, field, value), times) for value, times in most_frequent[:MOST_VALUES]]
        return page_filter.PageCounts(tuple(listed), len(found), number, max(known, number))

    def page_tally(self, narrowing: page_filter.PageFilter, after_id: int) -> page_filter.PageTally:
        """How many pages pass a filter in the next piece of the list, after a page id (0: from the beginning)."""
        search = search_of(self._reader, narrowing)
        matched = looked_at = 0
        for step in steps(self._reader, search, after_id):
            matched += sum(_counted(self._reader, search, "1", step.after, step.up_to).values())
            looked_at += step.number
        return page_filter.PageTally(
            matched, looked_at, max(known_pages(self._reader, search), looked_at), step.up_to, step.ended
        )
