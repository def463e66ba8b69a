"""Jobs as they are shown."""

from tui_crawler.domain.crawl.job import JobStatus
from tui_crawler.domain.records.operator_view import JobView
from tui_crawler.text import shown
from tui_crawler.text.cells import Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, count
from tui_crawler.text.glyphs import StateGlyph, state_mark
from tui_crawler.text.shown import Show


def job_mark(job: JobView) -> StateGlyph:
    """Return the state of a job."""
    if job.status == JobStatus.ABORTED:
        return state_mark("aborted")
    if job.concurrency == 0:
        return state_mark("paused")
    return StateGlyph("▶", "active", "active") if job.status == JobStatus.ACTIVE else state_mark(job.status.lower())


def _limit(none: str, zero: str = "0") -> Show[int | None, object]:
    return lambda value, _, __: Styled(none, "faint") if value is None else Styled(count(value) if value else zero)


JOBS: Relation[JobView] = Relation(
    key=lambda job: job.job,
    nothing="no job yet",
    columns=(
        Column("job", "JOB", shown.plain("strong"), None, 0, min_width=10),
        Column("status", "STATUS", shown.state(), 10, 0, value=job_mark),
        Column("nice", "NICE", shown.words(str, "", "faint"), 5, 1, "right", min_width=4),
        Column("depth", "DEPTH", _limit("any"), 5, 3, "right"),
        Column("concurrency", "CONC", _limit("any"), 5, 4, "right", min_width=4),
        Column("pending", "PENDING", shown.number(), 7, 1, "right", min_width=5, short="PEND"),
        Column("claimed", "CLAIMED", shown.number("active", "faint"), 7, 5, "right", min_width=5, short="CLAIM"),
        Column("done", "DONE", shown.number(), 7, 2, "right", min_width=5),
        Column("ruleset", "RULESET", shown.plain("muted", ABSENT), 7, 6, "right", min_width=5, short="RULES",
               value=lambda job: job.ruleset_id or None),
        Column("tag", "TAG", shown.plain("muted"), 8, 7),
    ),
    text=(
        "job", Column("status", "STATUS", shown.words(str.lower)), "nice",
        Column("depth", "DEPTH", _limit("none"), align="right"),
        Column("concurrency", "CONCURRENCY", _limit("none", "paused"), align="right"),
        Column("tag", "TAG", shown.plain(none=ABSENT)), "pending", "claimed", "done", "ruleset", Column("note", "NOTE"),
    ),
    json="job status nice depth concurrency tag pending claimed done ruleset_id note created_by created_at",
)  # fmt: skip
