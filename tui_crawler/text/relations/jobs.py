"""Jobs as they are shown."""

from __future__ import annotations

from tui_crawler.domain.job import JobStatus
from tui_crawler.domain.operator_view import JobView
from tui_crawler.text.columns import Column, Present, Relation, Styled, number, plain, state, words
from tui_crawler.text.format import ABSENT, count
from tui_crawler.text.glyphs import StateGlyph, state_mark


def job_mark(job: JobView) -> StateGlyph:
    """Return the state of a job."""
    if job.status == JobStatus.ABORTED:
        return state_mark("aborted")
    if job.concurrency == 0:
        return state_mark("paused")
    return StateGlyph("▶", "active", "active") if job.status == JobStatus.ACTIVE else state_mark(job.status.lower())


def _ruleset(job: JobView) -> int | None:
    return job.ruleset_id or None


def _limit(value: int | None, _job: JobView, _present: Present) -> Styled:
    return Styled("any", "faint") if value is None else Styled(count(value))


def _limit_words(value: int | None) -> str:
    return "none" if value is None else count(value)


JOBS = Relation[JobView](
    key=lambda job: job.job,
    nothing="no job yet",
    columns=(
        Column("job", "JOB", plain("strong"), None, 0, min_width=10),
        Column("status", "STATUS", state(), 10, 0, value=job_mark),
        Column("nice", "NICE", words(str, "", "faint"), 5, 1, "right", min_width=4),
        Column("depth", "DEPTH", _limit, 5, 3, "right"),
        Column("concurrency", "CONC", _limit, 5, 4, "right", min_width=4),
        Column("pending", "PENDING", number(), 7, 1, "right", min_width=5, short="PEND"),
        Column("claimed", "CLAIMED", number("active", "faint"), 7, 5, "right", min_width=5, short="CLAIM"),
        Column("done", "DONE", number(), 7, 2, "right", min_width=5),
        Column("ruleset", "RULESET", plain("muted", ABSENT), 7, 6, "right", 5, "RULES", value=_ruleset),
        Column("tag", "TAG", plain("muted"), 8, 7),
    ),
    text=(
        "job",
        Column("status", "STATUS", words(str.lower)),
        "nice",
        Column("depth", "DEPTH", words(_limit_words), align="right"),
        Column("concurrency", "CONCURRENCY", words(lambda value: _limit_words(value) if value != 0 else "paused"),
               align="right"),
        Column("tag", "TAG", plain(none=ABSENT)),
        "pending", "claimed", "done", "ruleset",
        Column("note", "NOTE"),
    ),
    json="job status nice depth concurrency tag pending claimed done ruleset_id note created_by created_at",
)  # fmt: skip
