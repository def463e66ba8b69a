"""Stashes as they are shown."""

from tui_crawler.domain.records.operator_view import StashView
from tui_crawler.text import shown
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT

STASHES: Relation[StashView] = Relation(
    key=lambda stash: (stash.job, stash.stash),
    nothing="no stashes",
    columns=(
        Column("stash", "STASH", shown.plain("strong"), None, 0, min_width=10),
        Column("job", "JOB", shown.plain("muted"), 12, 3),
        Column("pages", "PAGES", shown.number(), 8, 0, "right", min_width=5),
        Column("ready", "READY", shown.number("", "faint"), 7, 2, "right", min_width=5),
        Column("dripfeed", "KEEPS READY", shown.number("active", "faint"), 11, 1, "right", min_width=5, short="KEEPS",
               value=lambda stash: stash.dripfeed or None),
    ),
    source=lambda _: None,
    text=(
        "stash", Column("job", "JOB", shown.plain(none=ABSENT)), "pages", "ready",
        Column("dripfeed", "DRIPFEED", shown.number(), align="right", value=lambda stash: stash.dripfeed or None),
    ),
    json="job stash pages ready dripfeed",
)  # fmt: skip
