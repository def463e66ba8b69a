"""What validators found, as it is shown."""

from __future__ import annotations

from tui_crawler.text.columns import Column, Present, Relation, Styled, number, plain
from tui_crawler.text.format import percent
from tui_crawler.text.sparkline import bar

_Sum = tuple[str, int, int]


def _share(one: _Sum) -> float:
    return one[1] / (one[1] + one[2])


def _percent(_share: float, one: _Sum, _present: Present) -> Styled:
    return Styled(percent(one[1], one[1] + one[2]), "muted")


def _bar(share: float, _one: _Sum, _present: Present) -> Styled:
    return Styled(bar(share, 12), "ok", short=bar(share, 8))


VALIDATIONS = Relation[_Sum](
    key=lambda one: one[0],
    nothing="no document was validated",
    columns=(
        Column("validator", "VALIDATOR", plain("strong"), None, 0, min_width=10, value=lambda one: one[0]),
        Column("valid", "VALID", number("ok", "faint"), 8, 0, "right", min_width=5, value=lambda one: one[1]),
        Column("invalid", "NOT VALID", number("error", "faint"), 9, 0, "right", 5, "NOT", value=lambda one: one[2]),
        Column("share", "SHARE", _percent, 6, 1, "right", value=_share),
        Column("bar", "", _bar, 12, 2, min_width=8, kind="name", value=_share),
    ),
    source=lambda _: None,
)
"""Validator, documents that it found valid, documents that it did not."""
