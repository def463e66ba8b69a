"""What validators found, as it is shown."""

from tui_crawler.text import shown
from tui_crawler.text.cells import Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import percent
from tui_crawler.text.sparkline import bar

VALIDATIONS: Relation[tuple[str, int, int]] = Relation(
    key=lambda one: one[0],
    nothing="no document was validated",
    columns=(
        Column("validator", "VALIDATOR", shown.plain("strong"), None, 0, min_width=10, value=lambda one: one[0]),
        Column("valid", "VALID", shown.number("ok", "faint"), 8, 0, "right", min_width=5, value=lambda one: one[1]),
        Column("invalid", "NOT VALID", shown.number("error", "faint"), 9, 0, "right", min_width=5, short="NOT",
               value=lambda one: one[2]),
        Column("share", "SHARE", shown.words(lambda share: percent(share, 1), "muted"), 6, 1, "right",
               value=lambda one: one[1] / (one[1] + one[2])),
        Column("bar", "", shown.by_value(lambda share: Styled(bar(share, 12), "ok", short=bar(share, 8))), 12, 2,
               min_width=8, kind="bar", value=lambda one: one[1] / (one[1] + one[2])),
    ),
    source=lambda _: None,
)  # fmt: skip
"""Validator, documents that it found valid, documents that it did not."""
