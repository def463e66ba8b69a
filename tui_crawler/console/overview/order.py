"""Which origins the overview shows, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING

from tui_crawler.console.table.filter_terms import ParsedFilter, read_needle
from tui_crawler.domain.history.idle_reason import lost_to_robots
from tui_crawler.domain.record import dataclass
from tui_crawler.text.standing import is_problem, severity, standing

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView

    SortKey = Callable[[OriginView], object]


SORT_COLUMNS: Mapping[str, tuple[SortKey, bool]] = {
    "state": (severity, False),
    "origin": (lambda view: view.origin.partition("://")[2], False),
    "todo": (lambda view: view.todo, True),
    "pending": (lambda view: view.pending, True),
    "done": (lambda view: view.done, True),
    "fail": (lambda view: max(view.failed, int(lost_to_robots(view))), True),  # lost to robots.txt: failed as a whole
    "blocked": (lambda view: view.blocked, True),
    "patience": (lambda view: view.patience - view.patience_max, False),
    "delay": (lambda view: view.delay_ms, True),
    "next": (lambda view: max(view.next_request_at, view.asleep_until), False),
    "exit": (lambda view: view.last_exit_code, False),
    "bytes": (lambda view: view.bytes, True),
    "took": (lambda view: view.last_response_ms, True),
}
"""The columns that an order may be made by: how to read from an origin what it compares, and whether it begins with the
greatest (of counts it does, of names it does not)."""


@dataclass(frozen=True, slots=True)
class OverviewFilter:
    """What the operator wants to see: `needle` filters by text, `problems` keeps problems only, `columns` are those of
    the table by their ids (empty: as many as have room), in their order. With a name it is kept as a layout."""

    sort: str = "fail"
    descending: bool = True
    needle: str = ""
    problems: bool = False
    columns: tuple[str, ...] = ()

    @property
    def narrows(self) -> bool:
        return bool(self.needle) or self.problems


def arrange(
    origins: Iterable[OriginView], wanted: OverviewFilter, suspects: Container[str] = frozenset()
) -> list[OriginView]:
    """The origins that pass the filter, in order; equal ones by name, so that nothing jumps.

    `suspects` are origins that look like traps: they are problems, too.
    """
    needle = read_origin_needle(wanted.needle)
    kept = [view for view in origins if not needle.terms or needle.keeps(fields_of(view))]
    if wanted.problems:
        kept = [view for view in kept if view.origin in suspects or is_problem(view)]
    kept.sort(key=lambda view: view.origin)
    kept.sort(key=SORT_COLUMNS[wanted.sort][0], reverse=wanted.descending)  # type: ignore[arg-type]  # each key gives values of one kind
    return kept


def read_origin_needle(text: str) -> ParsedFilter:
    return read_needle(text, frozenset({"worker"}))


def fields_of(view: OriginView) -> dict[str, str]:
    """What a filter looks in."""
    return {"origin": view.origin, "state": standing(view).word, "exit": view.last_exit_code, "worker": view.worker}
