"""The statistics as rows: exit codes, origins, jobs, stashes, limbo, refused links, runs, actions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import TYPE_CHECKING

from tui_crawler.console.logs.attempts import exit_cell, mark_of
from tui_crawler.console.overview.event_rows import action_mark
from tui_crawler.console.table.cells import Row, Styled
from tui_crawler.console.table.columns import Column
from tui_crawler.console.urls.cells import bare_host, host_of
from tui_crawler.domain.job import JobStatus
from tui_crawler.domain.status_words import BROKEN_OFF, RUNNING, run_word
from tui_crawler.text.format import ABSENT, clock, compact, count, date_time, duration, percent, size
from tui_crawler.text.glyphs import StateGlyph, state_mark
from tui_crawler.text.same_as import command_line_of
from tui_crawler.text.sparkline import bar

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.operator_view import ActionView, JobView, LimboView, StashView
    from tui_crawler.domain.page_view import ExitCountView, RefusedView
    from tui_crawler.domain.view import OriginView, RunView


ACTION_COLUMNS: tuple[Column, ...] = (
    Column("at", "WHEN", 8, 1),
    Column("who", "WHO", 10, 3, min_width=6),
    Column("state", "STATE", 9, 0),
    Column("action", "ACTION", 10, 0, min_width=6),
    Column("target", "OF", None, 4, min_width=24, kind="place"),
    Column("same", "COMMAND LINE", None, 0, min_width=16),
)


def action_row(one: ActionView, zone: tzinfo) -> Row:
    """An action; its key is its number."""
    line, mark = command_line_of(one), action_mark(one)
    cells = (
        Styled(clock(one.at, zone), "muted"),
        Styled(one.who, "muted"),
        Styled(mark.label, mark.role),
        Styled(one.action.replace("_", " "), "strong"),
        Styled(one.target),
        (
            Styled(one.error + "  " if one.error else "", "error"),
            Styled(line or one.target, "" if line else "muted"),
        ),
    )
    return Row(one.action_id, cells)


SHOWN = 100
"""How many origins a top list names."""

EXIT_COLUMNS: tuple[Column, ...] = (
    Column("exit", "EXIT", 29, 0, min_width=12, kind="name"),
    Column("run", "RUN", 7, 0, "right", min_width=4),
    Column("recent", "5 MIN", 5, 0, "right"),
    Column("bar", "", None, 2, min_width=8, kind="name"),
)
ORDERS: tuple[tuple[str, str], ...] = (("requests", "requests"), ("bytes", "bytes"), ("failed", "failed pages"))
"""What the origins are ordered by, field and word."""
SPANS: dict[str, str] = {"requests": "in all runs", "bytes": "in all runs", "failed": "as they stand"}
"""What is counted by the field of an order of origins."""
ORIGIN_COLUMNS: tuple[Column, ...] = (
    Column("origin", "ORIGIN", None, 0, min_width=14, kind="place"),
    Column("requests", "REQUESTS", 8, 1, "right", min_width=5, short="REQ"),
    Column("bytes", "BYTES", 7, 2, "right"),
    Column("failed", "FAILED", 6, 1, "right", min_width=4, short="FAIL"),
    Column("bar", "", 12, 3, min_width=6, kind="name"),
)
JOB_COLUMNS: tuple[Column, ...] = (
    Column("job", "JOB", None, 0, min_width=10),
    Column("status", "STATUS", 10, 0),
    Column("nice", "NICE", 5, 1, "right", min_width=4),
    Column("depth", "DEPTH", 5, 3, "right"),
    Column("concurrency", "CONC", 5, 4, "right", min_width=4),
    Column("pending", "PENDING", 7, 1, "right", min_width=5, short="PEND"),
    Column("claimed", "CLAIMED", 7, 5, "right", min_width=5, short="CLAIM"),
    Column("done", "DONE", 7, 2, "right", min_width=5),
    Column("ruleset", "RULESET", 7, 6, "right", min_width=5, short="RULES"),
    Column("tag", "TAG", 8, 7),
)


@dataclass(frozen=True, slots=True)
class StatsTable:
    """A table that the pane at the bottom shows, one at a time: its word for the command line, its title, what stands
    where it is empty. `span` says what is counted; `key` is the field by which an entry is known, if it is one."""

    name: str
    title: str
    nothing: str
    columns: tuple[Column, ...]
    span: str = ""
    key: str = ""


RUNS = "runs"
"""The table of runs, two of which can be compared."""

STATS_TABLES: tuple[StatsTable, ...] = (
    StatsTable(
        "refused", "Refused links", "no link was refused",
        (
            Column("reason", "REASON", 22, 0, min_width=14),
            Column("count", "LINKS", 7, 0, "right", min_width=5),
            Column("origins", "ORIGINS", 7, 3, "right", min_width=4, short="ORIG"),
            Column("sample", "FOR EXAMPLE", None, 0, min_width=16, kind="place"),
        ),
        span="in all runs",
    ),
    StatsTable(
        "limbo", "Limbo", "no page is claimed",
        (
            Column("age", "CLAIMED FOR", 11, 0, "right", min_width=6, short="FOR"),
            Column("worker", "WORKER", 10, 2, min_width=6),
            Column("job", "JOB", 10, 3),
            Column("url", "URL", None, 0, min_width=20, kind="place"),
        ),
        span="now",
    ),
    StatsTable(
        "stashes", "Stashes", "nothing is stashed",
        (
            Column("stash", "STASH", None, 0, min_width=10),
            Column("job", "JOB", 12, 3),
            Column("pages", "PAGES", 8, 0, "right", min_width=5),
            Column("ready", "READY", 7, 2, "right", min_width=5),
            Column("dripfeed", "KEEPS READY", 11, 1, "right", min_width=5, short="KEEPS"),
        ),
    ),
    StatsTable(
        "validation", "Validation", "no document was validated",
        (
            Column("validator", "VALIDATOR", None, 0, min_width=10),
            Column("valid", "VALID", 8, 0, "right", min_width=5),
            Column("invalid", "NOT VALID", 9, 0, "right", min_width=5, short="NOT"),
            Column("share", "SHARE", 6, 1, "right"),
            Column("bar", "", 12, 2, min_width=8, kind="name"),
        ),
    ),
    StatsTable(
        RUNS, "Runs", "no run yet",
        (
            Column("run", "RUN", 4, 0, "right"),
            Column("started", "STARTED", 19, 0, min_width=8),
            Column("took", "TOOK", 7, 0, "right"),
            Column("requests", "TURNS", 9, 1, "right", min_width=6),
            Column("end", "END", None, 0, min_width=10),
            Column("config", "CONFIGURATION", 14, 4),
        ),
        key="run_id",
    ),
    StatsTable(
        "actions", "Actions of operators", "no operator has asked for anything yet",
        ACTION_COLUMNS,
        key="action_id",
    ),
)  # fmt: skip
_ENDS = {"exhausted": "✓", "error": "✗"}


@dataclass(frozen=True, slots=True)
class RefusedReason:
    """Links refused for one reason, over `origins` origins; the sample is of the origin with the most."""

    reason: str
    count: int
    origins: int
    most: str
    sample_url: str


def exit_rows(counts: Sequence[ExitCountView], short: int = 8) -> list[Row]:
    """How attempts ended, with a bar (in a narrow column of `short` cells) beside the most frequent; the keys are the
    names."""
    most = max((one.run for one in counts), default=0) or 1
    return [
        Row(
            one.exit_code,
            (
                exit_cell(one.exit_code),
                Styled(count(one.run), "", short=compact(one.run)),
                Styled(count(one.recent), "" if one.recent else "faint", short=compact(one.recent)),
                Styled(bar(one.run / most, 12), mark_of(one.exit_code).role, short=bar(one.run / most, short)),
            ),
        )
        for one in counts
    ]


def top_origins(views: Iterable[OriginView], order: str) -> list[OriginView]:
    """The origins with most requests, bytes or failures; none that has none."""
    found = nlargest(SHOWN, views, key=lambda view: (_amount(view, order), view.origin))
    return [view for view in found if _amount(view, order)]


def origin_rows(views: Sequence[OriginView], order: str) -> list[Row]:
    """Origins as rows, with a bar for what they are ordered by; the keys are the origins."""
    most = _amount(views[0], order) if views else 0
    return [_origin_row(view, order, _amount(view, order) / most if most else 0.0) for view in views]


def _amount(view: OriginView, order: str) -> int:
    return {"requests": view.requests, "bytes": view.bytes, "failed": view.failed}.get(order, 0)


def _origin_row(view: OriginView, order: str, share: float) -> Row:
    def role(field: str) -> str:
        return "strong" if field == order else "" if _amount(view, field) else "faint"

    cells = (
        Styled(host_of(view.origin), "strong", short=bare_host(view.origin)),
        Styled(count(view.requests), role("requests"), short=compact(view.requests)),
        Styled(size(view.bytes), role("bytes")),
        Styled(count(view.failed), "error" if view.failed else "faint", short=compact(view.failed)),
        Styled(bar(share, 12), "error" if order == "failed" else "accent", short=bar(share, 6)),
    )
    return Row(view.origin, cells)


def job_mark(job: JobView) -> StateGlyph:
    """Where a job stands."""
    if job.status == JobStatus.ABORTED:
        return state_mark("aborted")
    if job.concurrency == 0:
        return state_mark("paused")
    return StateGlyph("▶", "active", "active") if job.status == JobStatus.ACTIVE else state_mark(job.status.lower())


def job_row(job: JobView) -> Row:
    """A job as a row; its key is its name."""
    mark = job_mark(job)
    cells = (
        Styled(job.job, "strong"),
        Styled(mark.label, mark.role),
        Styled(str(job.nice), "" if job.nice else "faint"),
        _limit(job.depth),
        _limit(job.concurrency),
        Styled(count(job.pending), short=compact(job.pending)),
        Styled(count(job.claimed), "active" if job.claimed else "faint"),
        Styled(count(job.done), short=compact(job.done)),
        Styled(str(job.ruleset_id) if job.ruleset_id else ABSENT, "muted"),
        Styled(job.tag, "muted"),
    )
    return Row(job.job, cells)


def _limit(number: int | None) -> Styled:
    return Styled("any", "faint") if number is None else Styled(count(number))


def refused_row(one: RefusedReason) -> Row:
    """A reason with how many links were refused for it; its key is the reason."""
    cells = (
        Styled(f"⊘ {one.reason.replace('_', ' ')}", "blocked"),
        Styled(count(one.count), "strong", short=compact(one.count)),
        Styled(count(one.origins), "muted", short=compact(one.origins)),
        Styled(one.sample_url, "muted"),
    )
    return Row(one.reason, cells)


def limbo_row(one: LimboView) -> Row:
    """A claimed page; its key is job and URL."""
    cells = (
        Styled(duration(one.age_ms), "warning" if one.age_ms >= 60_000 else "active"),
        Styled(one.worker or ABSENT, "muted"),
        Styled(one.job, "muted"),
        one.url,
    )
    return Row((one.job, one.url), cells)


def stash_row(one: StashView) -> Row:
    """A stash; its key is job and name."""
    cells = (
        Styled(one.stash, "strong"),
        Styled(one.job, "muted"),
        Styled(count(one.pages), short=compact(one.pages)),
        Styled(count(one.ready), "" if one.ready else "faint", short=compact(one.ready)),
        Styled(count(one.dripfeed), "active") if one.dripfeed else Styled(ABSENT, "faint"),
    )
    return Row((one.job, one.stash), cells)


def validation_row(validator: str, valid: int, invalid: int) -> Row:
    """What a validator said; the key is its name."""
    share = valid / (valid + invalid)
    cells = (
        Styled(validator, "strong"),
        Styled(count(valid), "ok" if valid else "faint", short=compact(valid)),
        Styled(count(invalid), "error" if invalid else "faint", short=compact(invalid)),
        Styled(percent(valid, valid + invalid), "muted"),
        Styled(bar(share, 12), "ok", short=bar(share, 8)),
    )
    return Row(validator, cells)


def run_row(one: RunView, now: int, zone: tzinfo, *, live: bool) -> Row:
    """A run; `live` says that an engine is at work for it. Its key is its number."""
    if one.finished_at:
        end = Styled(f"{_ENDS.get(one.finish_reason, '■')} {run_word(one)}", "muted")
    else:
        end = Styled(f"▶ {RUNNING}", "active") if live else Styled(f"⚠ {BROKEN_OFF}", "warning")
    took = duration(one.worked_ms) if one.finished_at or live else ABSENT
    cells = (
        Styled(str(one.run_id), "strong"),
        Styled(date_time(one.started_at, zone), "", short=clock(one.started_at, zone)),
        took,
        Styled(count(one.requests), short=compact(one.requests)),
        end,
        Styled(one.config_name, "muted"),
    )
    return Row(one.run_id, cells)


def by_reason(refused: Iterable[RefusedView]) -> tuple[RefusedReason, ...]:
    """Refused links summed by reason, the most frequent first."""
    sums: dict[str, RefusedReason] = {}
    for one in sorted(refused, key=lambda one: -one.count):
        had = sums.get(one.reason) or RefusedReason(one.reason, 0, 0, one.origin, one.sample_url)
        sums[one.reason] = replace(had, count=had.count + one.count, origins=had.origins + 1)
    return tuple(sorted(sums.values(), key=lambda one: (-one.count, one.reason)))
