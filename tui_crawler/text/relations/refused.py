"""Refused links by their reason, as they are shown."""

from collections.abc import Iterable

from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.page_view import RefusedView
from tui_crawler.domain.records.status_words import outcome_words
from tui_crawler.text import shown
from tui_crawler.text.columns import Column, Relation


@dataclass(frozen=True, slots=True)
class RefusedReason:
    """Links refused for one reason, over `origins` origins; the sample is of the origin with the most."""

    reason: str
    count: int
    origins: int
    sample_url: str


def by_reason(refused: Iterable[RefusedView]) -> tuple[RefusedReason, ...]:
    """Return refused links summed by reason, the most frequent first."""
    sums: dict[str, RefusedReason] = {}
    for one in sorted(refused, key=lambda one: -one.count):
        had = sums.get(one.reason) or RefusedReason(one.reason, 0, 0, one.sample_url)
        sums[one.reason] = replace(had, count=had.count + one.count, origins=had.origins + 1)
    return tuple(sorted(sums.values(), key=lambda one: (-one.count, one.reason)))


REFUSED: Relation[RefusedReason] = Relation(
    key=lambda one: one.reason,
    nothing="no link was refused",
    columns=(
        Column("reason", "REASON", shown.words(lambda reason: f"⊘ {outcome_words(reason)}", "blocked"), 22, 0,
               min_width=14),
        Column("count", "LINKS", shown.number("strong"), 7, 0, "right", min_width=5),
        Column("origins", "ORIGINS", shown.number("muted"), 7, 3, "right", min_width=4, short="ORIG"),
        Column("sample", "FOR EXAMPLE", shown.plain("muted"), None, 0, min_width=16, kind="place",
               value=lambda one: one.sample_url),
    ),
    source=lambda _: None,
)  # fmt: skip
