"""How often each value of a field occurs among the pages that pass a filter: one bounded look, told honestly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest
from types import MappingProxyType
from typing import Any

from tui_crawler.domain.page_filter import PageFilter, PageTally
from tui_crawler.storage.overview_reports import exit_name
from tui_crawler.storage.page_windows import STATES, Search, Step, known_pages, next_edge, search_of, steps, where_of
from tui_crawler.storage.reader import Reader

URLS_COUNTED, ROWS_COUNTED = 100_000, 200_000
"""How many rows are looked at: where the text of URLs decides, and where only fields do."""
MOST_VALUES = 1_000
"""So many different values are told; the rarer ones are only counted."""

_STATE = "CASE " + " ".join(f"WHEN {condition} THEN '{state.value}'" for state, condition in STATES.items()) + " END"
_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "state": _STATE,
        "exit": "p.last_exit_code",
        "status": "p.last_http_status",
        "depth": "p.depth",
        "origin": "p.origin_id",
    }
)


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """Values with how often they occur, the most frequent first, among the first `looked_at` of `known` pages.

    `values` is how many different ones there are; an empty one stands for nothing.
    """

    counts: tuple[tuple[str, int], ...]
    values: int
    looked_at: int
    known: int


def page_counts(reader: Reader, narrowing: PageFilter, field: str) -> ValueCounts:
    """Counts state, exit, status, depth or origin. Raises StorageFailure, and ValueError for another field."""
    if field not in _FIELDS:
        raise ValueError(f"pages are not counted by {field!r}")
    search = search_of(reader, narrowing)
    if search.nothing:
        return ValueCounts((), 0, 0, known_pages(reader, Search()))
    known = known_pages(reader, search)
    most = URLS_COUNTED if search.needs_url else ROWS_COUNTED
    number, edge = next_edge(reader, search, 0, most, newest_first=False)
    found = _counted(reader, search, _FIELDS[field], edge) if number else {}
    most_frequent = nlargest(MOST_VALUES, found.items(), key=lambda one: one[1])
    listed = [(_name(reader, field, value), times) for value, times in most_frequent]
    return ValueCounts(tuple(listed), len(found), number, max(known, number))


def page_tally(reader: Reader, narrowing: PageFilter, after_id: int) -> PageTally:
    """How many pages pass a filter in the next piece of the list, after a page id (0: from the beginning). Raises
    StorageFailure."""
    search = search_of(reader, narrowing)
    if search.nothing:
        return PageTally(0, 0, known_pages(reader, Search()))
    matched = looked_at = 0
    for step in steps(reader, search, after_id):
        matched, looked_at = matched + _matched(reader, search, step), looked_at + step.number
    return PageTally(matched, looked_at, max(known_pages(reader, search), looked_at), step.up_to, step.ended)


def _matched(reader: Reader, search: Search, step: Step) -> int:
    joined = "JOIN url u ON u.id = p.url_id" if search.needs_url else ""
    source = f"FROM page p {joined} WHERE {where_of(search)} AND p.id > ? AND p.id <= ?"
    values = (*search.values, step.after, step.up_to)
    if not search.patterns:
        number: int = reader.all(f"SELECT COUNT(*) {source}", values)[0][0]
        return number
    rows = reader.all(f"SELECT u.href {source}", values)
    return sum(all(p.search(row[0]) is not inverted for p, inverted in search.patterns) for row in rows)


def _counted(reader: Reader, search: Search, expression: str, edge: int) -> dict[Any, int]:
    joined = "JOIN url u ON u.id = p.url_id" if search.needs_url else ""
    source = f"FROM page p {joined} WHERE {where_of(search)} AND p.id <= ?"
    values = (*search.values, edge)
    if not search.patterns:
        return dict(reader.all(f"SELECT {expression} AS v, COUNT(*) {source} GROUP BY v", values))
    rows = reader.all(f"SELECT {expression}, u.href {source}", values)
    return Counter(value for value, href in rows if all(p.search(href) is not inv for p, inv in search.patterns))


def _name(reader: Reader, field: str, value: Any) -> str:
    if value is None:
        return ""
    match field:
        case "exit":
            return exit_name(value)
        case "origin":
            row = reader.one("SELECT origin FROM origin WHERE id = ?", (value,))
            return row[0] if row else ""
        case _:
            return str(value)
