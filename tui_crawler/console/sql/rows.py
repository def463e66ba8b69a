"""The result of a query in SQL as a table, whatever it contains; and the completions of a word of the query. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.dialogs.completion import Completion
from tui_crawler.console.panes.line import HangingText, Line
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.text import shown
from tui_crawler.text.cells import Styled
from tui_crawler.text.columns import AnyColumn, Column, Kind, Relation
from tui_crawler.text.format import count, date_time, plural, seconds
from tui_crawler.text.safe_text import safe

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.records.operator_view import QueryAnswer
    from tui_crawler.text.safe_text import Align


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
    """Return the completions at offset `at`: none inside a string, and before anything is typed only views."""
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
    """alias -> view, of `view alias` and `view AS alias`; the first one holds."""
    views = "|".join(map(re.escape, columns))
    found = re.findall(rf"\b({views})\s+(?:AS\s+)?([A-Za-z_]\w*)", text, re.IGNORECASE)
    return {alias.casefold(): view.casefold() for view, alias in reversed(found)}


def _fitting(start: int, fragment: str, words: Iterable[str]) -> Completion:
    low = fragment.casefold()
    return Completion(start, tuple(dict.fromkeys(word for word in words if word.casefold().startswith(low))))


WIDEST = 60
"""The most cells of a column."""
_LOOKED_AT = 500  # rows, for how wide a column is
_LEAST, _LONG = 6, 24
_BYTES_SHOWN = 32
_TIME_ENDINGS = ("_at", "_before", "_until")


def _titles(names: Sequence[str]) -> Sequence[str]:
    """The names of columns, where equal ones get a number."""
    titles, taken = list[str](), set(names)
    for name in names:
        numbered = (f"{name} {number}" for number in itertools.count(2))
        title = name if name not in titles else next(one for one in numbered if one not in taken)
        taken.add(title)
        titles.append(title)
    return titles


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A row of a result, and its number."""

    number: int
    values: Sequence[object]


def answer_of(answer: QueryAnswer) -> Relation[AnswerRow]:
    """Return a result as a relation with its columns; the last ones are dropped first."""
    titles = _titles(answer.columns)
    made = [_column(name, at, [row[at] for row in answer.rows[:_LOOKED_AT]]) for at, name in enumerate(titles)]
    texts = [column for column in made if column.align == "left" and (column.width or 0) >= _LONG]
    widest = max(texts, key=lambda column: column.width or 0, default=None)
    columns = tuple(replace(column, width=None) if column is widest else column for column in made)
    return Relation(
        key=lambda row: row.number,
        nothing="no rows",
        source=lambda row: dict(zip(titles, map(_plain, row.values), strict=True)),
        columns=columns or (Column("answer", ""),),
    )


def answer_rows(answer: QueryAnswer) -> list[AnswerRow]:
    """Return the rows of a result."""
    return [AnswerRow(number, values) for number, values in enumerate(answer.rows)]


def _plain(value: object) -> object:
    """A value for copies and exports; bytes as hexadecimal digits."""
    return value.hex() if isinstance(value, bytes) else value


def _column(title: str, at: int, values: Sequence[object]) -> AnyColumn:
    wide = max((cell_len(safe(value_text(value), WIDEST + 1)) for value in values), default=1)
    numbers = bool(values) and all(value is None or isinstance(value, int | float) for value in values)
    width = min(max(wide, cell_len(safe(title, WIDEST)), 1), WIDEST)
    least = width if numbers else min(width, 16 if wide >= _LONG else _LEAST)
    kind: Kind = "place" if any(isinstance(value, str) and "://" in value for value in values) else ""
    align: Align = "right" if numbers else "left"
    return Column(title, title, shown.by_value(_cell), width, at, align, least, "", kind, lambda row: row.values[at])


def answer_lines(answer: QueryAnswer, key: object, zone: tzinfo) -> list[Line]:
    """Return a row in full, a line for each column; times in epoch ms also as date and time."""
    if not isinstance(key, int) or not 0 <= key < len(answer.rows):
        return []
    wide = min(max((cell_len(safe(name, 40)) for name in answer.columns), default=0), 28) + 2
    pairs = zip(answer.columns, answer.rows[key], strict=True)
    return [HangingText(Styled(name, "muted"), wide, _in_full(name, value, zone), most=3) for name, value in pairs]


def answer_words(answer: QueryAnswer) -> str:
    """Return how many rows there are, and how long the query took."""
    took = f"{answer.took_ms} ms" if answer.took_ms < 1_000 else seconds(answer.took_ms)
    rows = f"first {count(len(answer.rows))} rows of more" if answer.more else ""
    cut = f" · {plural(answer.cut, 'long value')} cut" if answer.cut else ""
    return f"{rows or plural(len(answer.rows), 'row')}{cut} · {took}"


def value_text(value: object) -> str:
    """Return a value as text."""
    match value:
        case None:
            return "NULL"
        case bytes():
            more = "…" if len(value) > _BYTES_SHOWN else ""
            return f"x'{value[:_BYTES_SHOWN].hex()}{more}'"
        case _:
            return str(value)


def _cell(value: object) -> Styled:
    return Styled(value_text(value), "faint" if value is None else "muted" if isinstance(value, bytes) else "")


def _in_full(name: str, value: object, zone: tzinfo) -> str:
    text = value_text(value)
    return f"{text}   {date_time(value, zone)}" if isinstance(value, int) and is_time(name, value) else text


def is_time(name: str, value: object) -> bool:
    """Return whether a value of the column `name` is a time (epoch ms)."""
    return isinstance(value, int) and name.endswith(_TIME_ENDINGS) and value > 10**11
