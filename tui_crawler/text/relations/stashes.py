"""Stashes as they are shown."""

from __future__ import annotations

from tui_crawler.domain.operator_view import StashView
from tui_crawler.text.columns import Column, Relation, number, plain
from tui_crawler.text.format import ABSENT


def _kept_ready(stash: StashView) -> int | None:
    return stash.dripfeed or None


_kept = number("active", "faint")

STASHES = Relation[StashView](
    key=lambda stash: (stash.job, stash.stash),
    nothing="nothing is stashed",
    columns=(
        Column("stash", "STASH", plain("strong"), None, 0, min_width=10),
        Column("job", "JOB", plain("muted"), 12, 3),
        Column("pages", "PAGES", number(), 8, 0, "right", min_width=5),
        Column("ready", "READY", number("", "faint"), 7, 2, "right", min_width=5),
        Column("dripfeed", "KEEPS READY", _kept, 11, 1, "right", 5, "KEEPS", value=_kept_ready),
    ),
    source=lambda _: None,
    text=("stash", Column("job", "JOB", plain(none=ABSENT)), "pages", "ready",
          Column("dripfeed", "DRIPFEED", _kept, align="right", value=_kept_ready)),
    json="job stash pages ready dripfeed",
)  # fmt: skip
