"""Runs as they are shown."""

from tui_crawler.domain.records.status_words import BROKEN_OFF, RUNNING, run_word
from tui_crawler.domain.records.view import RunView
from tui_crawler.text import shown
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import duration
from tui_crawler.text.glyphs import StateGlyph

_ENDS = {"exhausted": "✓", "error": "✗"}


def _took(run: RunView) -> int | None:
    return run.worked_ms if run.finished_at or run.live else None


def _end(run: RunView) -> StateGlyph:
    if run.finished_at:
        return StateGlyph(_ENDS.get(run.finish_reason, "■"), run_word(run), "muted")
    return StateGlyph("▶", RUNNING, "active") if run.live else StateGlyph("⚠", BROKEN_OFF, "warning")


RUNS: Relation[RunView] = Relation(
    key=lambda run: run.run_id,
    nothing="no run yet",
    columns=(
        Column("run", "RUN", shown.plain("strong"), 4, 0, "right", value=lambda run: run.run_id),
        Column("started", "STARTED", shown.date_and_time(""), 19, 0, min_width=8, value=lambda run: run.started_at),
        Column("took", "TOOK", shown.words(duration), 7, 0, "right", value=_took),
        Column("requests", "TURNS", shown.number(), 9, 1, "right", min_width=6),
        Column("end", "END", shown.state(), None, 0, min_width=10, value=_end),
        Column("config", "CONFIGURATION", shown.plain("muted"), 14, 4, value=lambda run: run.config_name),
    ),
)
"""Runs; `live` says that an engine is at work for one."""
