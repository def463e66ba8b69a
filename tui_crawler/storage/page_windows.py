"""Windows of pages narrowed by a filter: by keyset over the id, each looking at a bounded number of rows.

Fields narrow in the database, one origin and failures by their index. Where no index helps, ids are walked in steps, so
that no reading lasts long however many pages there are: the window then says how far it looked.
"""
# ruff: noqa: S608  # the SQL is made of constants of this program and of integers only

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from tui_crawler.domain.exit_code import BLOCKED, FAILURES
from tui_crawler.domain.page import PageStatus
from tui_crawler.domain.page_filter import (
    ExitTerm,
    Measure,
    NumberTerm,
    OriginTerm,
    PageFilter,
    PageState,
    PageWindow,
    PatternTerm,
    StateTerm,
    Term,
    TextTerm,
)
from tui_crawler.domain.pattern import Pattern
from tui_crawler.storage.page_reports import pages_of_ids
from tui_crawler.storage.reader import Reader

URLS_LOOKED_AT, ROWS_LOOKED_AT = 100_000, 500_000
"""How many rows one window looks at: where the text of URLs decides, and where only fields do."""

_STEP_OF_URLS, _STEP_OF_ROWS = 5_000, 50_000
_AFTER_ALL = 2**63 - 1
_ALWAYS = "1 = 1"

_READY = f"p.status NOT IN ({PageStatus.CLAIMED.value}, {PageStatus.SKIPPED.value}, {PageStatus.STASHED.value})"
STATES: Mapping[PageState, str] = {
    PageState.stashed: f"p.status = {PageStatus.STASHED.value}",
    PageState.skipped: f"p.status = {PageStatus.SKIPPED.value}",
    PageState.claimed: f"p.status = {PageStatus.CLAIMED.value}",
    PageState.queued: f"{_READY} AND p.attempts_remaining > 0 AND p.failed = 0",
    PageState.retry: f"{_READY} AND p.attempts_remaining > 0 AND p.failed = 1",
    PageState.failed: f"{_READY} AND p.attempts_remaining <= 0 AND p.failed = 1",
    PageState.blocked: f"{_READY} AND p.attempts_remaining <= 0 AND p.last_exit_code IN "
    f"({', '.join(str(code.value) for code in sorted(BLOCKED))})",
    PageState.done: f"{_READY} AND p.attempts_remaining <= 0 AND p.failed = 0 AND COALESCE(p.last_exit_code, 0) NOT IN "
    f"({', '.join(str(code.value) for code in sorted(BLOCKED))})",
}
"""When page `p` is in a state."""
_COLUMNS = {Measure.status: "p.last_http_status", Measure.depth: "p.depth"}


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
    nothing: bool = False


def page_window(
    reader: Reader, narrowing: PageFilter, after_id: int, limit: int, *, newest_first: bool = False
) -> PageWindow:
    """At most `limit` pages that pass a filter, by id: those after `after_id`, or before it when `newest_first`
    (0: from the beginning). Raises StorageFailure."""
    search = search_of(reader, narrowing)
    known = 0 if search.nothing else known_pages(reader, search)
    if search.nothing:
        return PageWindow((), known=known_pages(reader, Search()))
    ids: list[int] = []
    looked_at, ended = 0, False
    most = URLS_LOOKED_AT if search.needs_url else ROWS_LOOKED_AT
    at = after_id or (_AFTER_ALL if newest_first else 0)
    while len(ids) <= limit and looked_at < most and not ended:
        size = _step(search, limit)
        number, edge = next_edge(reader, search, at, size, newest_first=newest_first)
        ended = number < size
        if number:
            ids += _found(reader, search, (at, edge), limit + 1 - len(ids), newest_first=newest_first)
            looked_at += number
            at = edge
    more = len(ids) > limit
    shown = ids[:limit]
    return PageWindow(
        pages_of_ids(reader, shown),
        looked_at=min(looked_at, known),
        known=known,
        last_id=shown[-1] if more else at,
        ended=ended and not more,
    )


def _step(search: Search, limit: int) -> int:
    if search.needs_url:
        return _STEP_OF_URLS
    return _STEP_OF_ROWS if search.conditions else limit + 1


def next_edge(reader: Reader, search: Search, at: int, size: int, *, newest_first: bool) -> tuple[int, int]:
    """How many rows (at most `size`) come next on the way of a search, and the id of the last of them."""
    sign, order, last = ("<", "DESC", "MIN") if newest_first else (">", "ASC", "MAX")
    way = " AND ".join(search.ways) or _ALWAYS
    row = reader.all(
        f"SELECT COUNT(*), {last}(id) FROM (SELECT p.id FROM page p WHERE {way} AND p.id {sign} ?"
        f" ORDER BY p.id {order} LIMIT ?)",
        (at, size),
    )[0]
    return row[0], row[1] or 0


def _found(reader: Reader, search: Search, span: tuple[int, int], room: int, *, newest_first: bool) -> list[int]:
    """The ids that pass among those after the first id of `span`, up to its second, at most `room`."""
    sign, up_to, order = ("<", ">=", "DESC") if newest_first else (">", "<=", "ASC")
    where = where_of(search)
    joined = "JOIN url u ON u.id = p.url_id" if search.needs_url else ""
    chosen = "p.id, u.href" if search.patterns else "p.id"
    rows = reader.all(
        f"SELECT {chosen} FROM page p {joined} WHERE {where} AND p.id {sign} ? AND p.id {up_to} ?"
        f" ORDER BY p.id {order} LIMIT ?",
        (*search.values, *span, -1 if search.patterns else room),
    )
    if not search.patterns:
        return [row[0] for row in rows]
    passed = (row[0] for row in rows if all(p.search(row[1]) is not inverted for p, inverted in search.patterns))
    return [page_id for page_id, _ in zip(passed, range(room), strict=False)]


def known_pages(reader: Reader, search: Search) -> int:
    """How many pages there are on the way of a search, from the counters of their origins."""
    column = "failed" if search.failed else "pages_known"
    where = f" WHERE id = {search.origin_id}" if search.origin_id else ""
    number: int = reader.all(f"SELECT COALESCE(SUM({column}), 0) FROM origin{where}")[0][0]
    return number


def where_of(search: Search) -> str:
    """The condition of a search, whose values are `search.values`; its patterns are not in it."""
    return " AND ".join([*search.ways, *search.conditions]) or _ALWAYS


def search_of(reader: Reader, narrowing: PageFilter) -> Search:
    """A filter as SQL, for the origins there are now. Raises StorageFailure."""
    search = Search()
    for term in narrowing.terms:
        _add(reader, search, term)
    return search


def _add(reader: Reader, search: Search, term: Term) -> None:
    match term:
        case PatternTerm(text=text, inverted=inverted):
            search.patterns.append((Pattern(text), inverted))
            search.needs_url = True
        case TextTerm(text=text, inverted=inverted):
            search.conditions.append(_either("instr(lower(u.href), ?) > 0", inverted))
            search.values.append(text.lower())
            search.needs_url = True
        case OriginTerm():
            _add_origin(reader, search, term)
        case ExitTerm(codes=codes, never=never, inverted=inverted):
            listed = _among("p.last_exit_code", (code.value for code in codes))
            search.conditions.append(_either(f"({listed}{' OR p.last_exit_code IS NULL' if never else ''})", inverted))
            if codes <= FAILURES and not never and not inverted:
                _by_failures(search)
        case StateTerm(states=states, inverted=inverted):
            listed = " OR ".join(f"({STATES[state]})" for state in sorted(states))
            search.conditions.append(_either(f"({listed})", inverted))
            if states <= {PageState.failed, PageState.retry} and not inverted:
                _by_failures(search)
        case NumberTerm(measure=measure, spans=spans, none=none, inverted=inverted):
            column = _COLUMNS[measure]
            listed = " OR ".join(f"{column} BETWEEN {first} AND {last}" for first, last in spans) or "0 = 1"
            search.conditions.append(_either(f"({listed}{f' OR {column} IS NULL' if none else ''})", inverted))
        case _:
            assert_never(term)


def _add_origin(reader: Reader, search: Search, term: OriginTerm) -> None:
    """One origin is a way of its own; several are a condition."""
    ids = sorted({each for name in term.names for each in _origins_named(reader, name)})
    if not ids and not term.inverted:
        search.nothing = True
    elif len(ids) == 1 and not term.inverted and not search.origin_id:
        search.origin_id = ids[0]
        search.ways.append(f"p.origin_id = {ids[0]}")
    else:
        search.conditions.append(_either(_among("+p.origin_id", ids), term.inverted))


def _origins_named(reader: Reader, name: str) -> Iterator[int]:
    """The origin of that name or host; where there is none, all that it is a part of."""
    plain = name.rstrip("/")
    exact = reader.all(
        "SELECT id FROM origin WHERE origin IN (?, ?, ?)", (plain, f"https://{plain}", f"http://{plain}")
    )
    rows = exact or reader.all("SELECT id FROM origin WHERE instr(lower(origin), ?) > 0", (plain,))
    return (row[0] for row in rows)


def _by_failures(search: Search) -> None:
    """Failed pages have an index of their own."""
    if not search.failed:
        search.failed = True
        search.ways.append("p.failed = 1")


def _among(column: str, numbers: Iterable[int]) -> str:
    return f"{column} IN ({', '.join(map(str, sorted(numbers)))})"


def _either(condition: str, inverted: bool) -> str:
    """The condition, or its opposite: what is unknown counts as not so."""
    return f"{condition} IS NOT TRUE" if inverted else condition
