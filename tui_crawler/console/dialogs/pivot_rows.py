"""How often each value of a column occurs: value, count, share and a bar, the most frequent first. Times of day and
dates are counted by a span that fits their range. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from operator import itemgetter

from tui_crawler.console.logs.attempts import exit_cell, exit_code_of
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, count, percent, plural
from tui_crawler.text.sparkline import bar

MOST_VALUES = 1_000
"""So many different values are listed; the rarer ones are only counted."""
_TIME = re.compile(r"(?:(\d{4})-(\d\d)-(\d\d) )?(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?", re.ASCII)
_SPANS = (("second", 120, 8), ("minute", 7_200, 5), ("hour", 259_200, 2), ("day", 0, 0))
"""A span, the longest range in seconds that is counted by it, and what of the time of day names one."""
_DATE = len("2026-01-05 ")


@dataclass(frozen=True, slots=True)
class Pivot:
    """Values with how often they occur, the most frequent first; `values` different ones in `rows` rows.

    `of` says in words which rows those are. `span` ("second", "minute", "hour", "day"): the values are the beginnings
    of times that lie in one; empty: they are whole.
    """

    counts: tuple[tuple[str, int], ...]
    values: int
    rows: int
    of: str
    span: str = ""


def pivot_of(texts: Iterable[str], of: str) -> Pivot:
    stripped = [text.strip() for text in texts]
    span, length = _span_of({text for text in stripped if text not in {"", ABSENT}})
    found = Counter(text[:length] if text != ABSENT else text for text in stripped)
    listed = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:MOST_VALUES]
    return Pivot(tuple(listed), len(found), found.total(), of, span)


def _span_of(texts: Collection[str]) -> tuple[str, int | None]:
    """The span that fits the range of times, and how many characters name one; nothing and None if some are none."""
    found = [_TIME.fullmatch(text) for text in texts]
    seconds = [moment for one in found if one is not None and (moment := _seconds(one)) is not None]
    dated = {one is not None and one[1] is not None for one in found}
    if not seconds or len(seconds) < len(found) or len(dated) > 1:
        return "", None
    date_length = _DATE if True in dated else 0
    shortest = min(map(len, texts))
    spans = [one for one in _SPANS if date_length + one[2] <= shortest and (one[2] or date_length)]
    span, _, length = next((one for one in spans if max(seconds) - min(seconds) <= one[1]), spans[-1])
    return span, (date_length + length) if length else len("2026-01-05")


def _seconds(time: re.Match[str]) -> int | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in time.groups())
    try:
        days = date(year, month, day).toordinal() if year else 0
    except ValueError:
        return None
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def values_of(pivot: Pivot) -> Relation[tuple[str, int]]:
    """Return the values and how often they occur as a relation."""
    most = max((number for _, number in pivot.counts), default=1)

    def value(text: str) -> Cell:
        minutes = ":00" if pivot.span == "hour" and text[-1:].isdigit() else ""
        named = Styled(text + minutes) if text else Styled("∅ nothing", "faint")
        return exit_cell(text) if exit_code_of(text) is not None else named

    def share(number: int) -> Cell:
        return Styled(percent(number, pivot.rows), "muted")

    def drawn(number: int) -> Cell:
        return Styled(bar(number / most, 24), "accent", short=bar(number / most, 8))

    count_of = itemgetter(1)
    return Relation(
        key=itemgetter(0),
        nothing="there are no rows to count",
        columns=(
            Column("value", "VALUE", shown.by_value(value), None, 0, min_width=14, value=itemgetter(0)),
            Column("count", "COUNT", shown.number("strong"), 9, 0, "right", min_width=5, value=count_of),
            Column("share", "SHARE", shown.by_value(share), 6, 1, "right", value=count_of),
            Column("bar", "", shown.by_value(drawn), 24, 2, min_width=8, kind="bar", value=count_of),
        ),
    )


def pivot_words(pivot: Pivot) -> str:
    """What was counted, in words."""
    left_out = f", the {count(len(pivot.counts))} most frequent" if pivot.values > len(pivot.counts) else ""
    by = f"by {pivot.span} · " if pivot.span else ""
    return f"{by}{plural(pivot.values, 'value')}{left_out} in {plural(pivot.rows, 'row')}{pivot.of}"
