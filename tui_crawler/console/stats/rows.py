"""The statistics as relations: exit codes and busiest origins. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tui_crawler.console.logs.attempts import exit_cell, mark_of
from tui_crawler.console.urls.cells import host_cell
from tui_crawler.text import shown
from tui_crawler.text.cells import Present, Styled
from tui_crawler.text.columns import Column, Kind, Relation
from tui_crawler.text.shown import Show
from tui_crawler.text.sparkline import bar

if TYPE_CHECKING:
    from tui_crawler.domain.records.page_view import ExitCountView
    from tui_crawler.domain.records.view import OriginView


SHOWN = 100
"""How many origins a top list names."""

ORDERS: tuple[tuple[str, str], ...] = (("requests", "requests"), ("bytes", "bytes"), ("failed", "failed pages"))
"""What the origins are ordered by, field and word."""
SPANS: dict[str, str] = {"requests": "in all runs", "bytes": "in all runs", "failed": "now"}
"""What is counted by the field of an order of origins."""


def exits_of(counts: Sequence[ExitCountView], *, brief: bool = False) -> Relation[ExitCountView]:
    """Return how attempts ended as a relation, with a bar for their shares; `brief`: with short names and bars."""
    most, short = max((one.run for one in counts), default=0) or 1, 6 if brief else 8
    width, least = (15, 14) if brief else (29, 12)
    kind: Kind = "word" if brief else "name"

    def share(value: int, one: ExitCountView, _present: Present) -> Styled:
        return Styled(bar(value / most, 12), mark_of(one.exit_code).role, short=bar(value / most, short))

    return Relation(
        key=lambda one: one.exit_code,
        nothing="no attempts yet",
        columns=(
            Column("exit", "EXIT", lambda name, *_: exit_cell(name), width, 0, min_width=least, kind=kind,
                   value=lambda one: one.exit_code),
            Column("run", "RUN", shown.number(), 7, 0, "right", min_width=4),
            Column("recent", "5 MIN", shown.number("", "faint"), 5, 1, "right"),
            Column("bar", "", share, None, 2, min_width=8, kind="name", value=lambda one: one.run),
        ),
        source=lambda _: None,
    )  # fmt: skip


EXITS, BRIEF_EXITS = exits_of(()), exits_of((), brief=True)


def top_origins(views: Iterable[OriginView], order: str) -> list[OriginView]:
    """The origins with most requests, bytes or failures; none that has none."""
    found = nlargest(SHOWN, views, key=attrgetter(order, "origin"))
    return [view for view in found if getattr(view, order)]


def busiest(order: str, views: Sequence[OriginView]) -> Relation[OriginView]:
    """Return origins as a relation, with a bar for what they are ordered by; the first has the most of it."""
    most = getattr(views[0], order) if views else 0

    def amount(of: Callable[[str, str | None], Show[Any, object]], field: str) -> Show[Any, object]:
        return of("strong", None) if field == order else of("", "faint")

    def share(value: int, _view: OriginView, _present: Present) -> Styled:
        part, role = value / most if most else 0.0, "error" if order == "failed" else "accent"
        return Styled(bar(part, 12), role, short=bar(part, 6))

    return Relation(
        key=lambda view: view.origin,
        nothing="nothing to order yet",
        columns=(
            Column("origin", "ORIGIN", lambda name, *_: host_cell(name, "strong"), None, 0, min_width=14, kind="place"),
            Column("requests", "REQUESTS", amount(shown.number, "requests"), 8, 1, "right", min_width=5, short="REQ"),
            Column("bytes", "BYTES", amount(shown.data_size, "bytes"), 7, 2, "right"),
            Column("failed", "FAILED", shown.number("error", "faint"), 6, 1, "right", min_width=4, short="FAIL"),
            Column("bar", "", share, 12, 3, min_width=6, kind="name", value=attrgetter(order)),
        ),
    )  # fmt: skip
