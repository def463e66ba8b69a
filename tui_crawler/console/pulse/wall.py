"""The tables of Pulse: the wall, which is every origin over the span, one line each, and the exit codes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tui_crawler.console.origin.rows import exits_of
from tui_crawler.console.overview.rows import chosen
from tui_crawler.domain.record import replace
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.columns import AnyColumn, Column, Relation
from tui_crawler.text.shown import by_record
from tui_crawler.text.sparkline import LEVELS

if TYPE_CHECKING:
    from tui_crawler.domain.history.pulse import Pace
    from tui_crawler.domain.records.page_view import ExitCountView
    from tui_crawler.domain.records.view import OriginView

LISTED = 500
"""How many origins are rows: those with most requests."""


class WallLine(NamedTuple):
    """An origin with its pace over the span. Its other columns are those of the list of origins."""

    view: OriginView
    pace: Pace
    suspected: bool = False


def wall_of(cells: int) -> Relation[WallLine]:
    """Return the relation with a pace of `cells` cells."""
    state, origin, failed = chosen(("state", "origin", "fail")).columns
    pace = Column("pace", "PACE", by_record(pace_cell), cells, 1, value=lambda line: sum(n for n, _ in line.pace))
    columns: tuple[AnyColumn, ...] = state, replace(origin, width=24, min_width=16), pace, failed
    return Relation(columns, key=lambda line: line.view.origin, nothing="no origins yet", source=lambda line: line.view)


def pace_cell(line: WallLine) -> Cell:
    """Return attempts over time, on the scale of the origin; a cross where half of them or more failed, spaces before
    the first."""
    most = max((number for number, _ in line.pace), default=0)
    begun, cells = False, list[tuple[str, str]]()
    for number, failed in line.pace:
        begun = begun or number > 0
        level = LEVELS[max(1, ceil(number / most * (len(LEVELS) - 1)))] if number else "·" if begun else " "
        cells.append(("✗", "error") if failed and 2 * failed >= number else (level, "active" if number else "faint"))
    runs = groupby(cells, key=lambda cell: cell[1])
    return tuple(Styled("".join(text for text, _ in run), role) for role, run in runs)


def wall_lines(origins: Mapping[str, OriginView], paces: Mapping[str, Pace]) -> Sequence[WallLine]:
    """Return the rows in the order of their names."""
    listed = nlargest(LISTED, origins.values(), key=lambda view: (view.requests, view.origin))
    listed.sort(key=lambda view: view.origin)
    return [WallLine(view, paces.get(view.origin, ())) for view in listed]


def exits_of_run(counts: Sequence[ExitCountView]) -> Relation[ExitCountView]:
    """Return how attempts of the run ended as a relation."""
    relation = exits_of(counts)
    return replace(relation, columns=tuple(one for one in relation.columns if one.id != "recent"))
