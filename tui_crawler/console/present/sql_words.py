"""What the word under the cursor of the SQL editor may become: views, columns of the views named, keywords. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tui_crawler.console.completion import Completion

KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "LEFT JOIN", "ON", "AND", "OR", "NOT", "IN",
    "LIKE", "GLOB", "BETWEEN", "IS NULL", "IS NOT NULL", "DISTINCT", "COUNT(*)", "SUM(", "AVG(", "MIN(", "MAX(", "AS",
    "DESC", "HAVING", "WITH", "CASE", "WHEN", "THEN", "ELSE", "END", "UNION ALL", "EXPLAIN QUERY PLAN",
)  # fmt: skip
_FRAGMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*$")
_QUALIFIED = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)\.([A-Za-z_0-9]*)$")
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_LONGEST = 300
"""What is longer is no name of a view or column."""
_TAKES_A_VIEW = frozenset({"FROM", "JOIN"})

Schema = Sequence[tuple[str, Sequence[str]]]


def complete(text: str, at: int, schema: Schema) -> Completion:
    """What may be meant at offset `at`. Nothing inside a string, and nothing before anything is typed but a view."""
    before = text[:at]
    end = before[-_LONGEST:]  # where a search from any place to the end would take the square of its length
    if before.count("'") % 2 or (len(end) == _LONGEST and _WORD.fullmatch(end)):
        return Completion(at, ())
    columns = {view.casefold(): names for view, names in schema}
    qualified = _QUALIFIED.search(end)
    if qualified:
        view = _aliases(text, columns).get(qualified[1].casefold(), qualified[1].casefold())
        return _fitting(at - len(qualified[2]), qualified[2], columns.get(view, ()))
    found = _FRAGMENT.search(end)
    fragment = found[0] if found else ""
    start = at - len(fragment)
    words = _WORD.findall(before[:start])
    views = [view for view, _ in schema]
    if words and words[-1].upper() in _TAKES_A_VIEW:
        return _fitting(start, fragment, views)
    if not fragment:
        return Completion(start, ())
    named = [word.casefold() for word in _WORD.findall(text[:start] + " " + text[at:]) if word.casefold() in columns]
    own = [name for view in dict.fromkeys(named) for name in columns[view]]
    keywords = [word if fragment[:1].isupper() else word.lower() for word in KEYWORDS]
    return _fitting(start, fragment, [*own, *views, *keywords])


def _aliases(text: str, columns: Iterable[str]) -> dict[str, str]:
    """alias -> view, of `view alias` and `view AS alias`."""
    known = set(columns)
    words = _WORD.findall(text)
    found: dict[str, str] = {}
    for view, *rest in zip(words, words[1:], [*words[2:], ""], strict=False):
        if view.casefold() in known and rest:
            alias = rest[1] if rest[0].upper() == "AS" else rest[0]
            found.setdefault(alias.casefold(), view.casefold())
    return found


def _fitting(start: int, fragment: str, words: Iterable[str]) -> Completion:
    low = fragment.casefold()
    return Completion(start, tuple(dict.fromkeys(word for word in words if word.casefold().startswith(low))))
