"""The processes that hold, or held, the database, as rows: where, since when, their last sign of life. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import ABSENT, ago, clock, coarse, count, date_time, duration
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.console.ports import SessionView

SESSION_COLUMNS: tuple[Column, ...] = (
    Column("worker", "WORKER", 16, 0, min_width=12),
    Column("state", "STATE", 10, 0),
    Column("place", "HOST AND PROCESS", None, 1, min_width=14),
    Column("since", "SINCE", 19, 2, min_width=8),
    Column("took", "LASTED", 7, 6, "right"),
    Column("beat", "HEARTBEAT", 9, 1, "right", min_width=4, short="BEAT"),
    Column("origins", "ORIGINS", 7, 3, "right", min_width=4, short="ORIG"),
    Column("run", "RUN", 4, 7, "right"),
    Column("end", "ENDED BY", 18, 5, min_width=8),
)


def session_row(one: SessionView, now: int, zone: tzinfo) -> Row:
    """A process at `now` (epoch ms); its key is its number."""
    since = Styled(date_time(one.started_at, zone), "", short=clock(one.started_at, zone))
    silent = now - one.heartbeat_at
    late = not one.ended_at and silent > one.lease_ms
    return Row(
        one.session_id,
        (
            Styled(one.worker or ABSENT, "strong"),
            _state(one, late=late),
            (one.host or ABSENT, Styled(f" · {one.pid}", "muted")),
            since,
            Styled(duration((one.ended_at or now) - one.started_at), "muted"),
            Styled(ago(silent), "warning" if late else "muted", short=coarse(max(0, silent))),
            Styled(count(one.origins), "" if one.origins else "faint"),
            Styled(str(one.run_id) if one.run_id else ABSENT, "muted"),
            Styled(_end(one), "muted" if one.clean or not one.ended_at else "warning"),
        ),
    )


def _state(one: SessionView, *, late: bool) -> Styled:
    if one.ended_at:
        return Styled("■ ended", "muted") if one.clean else Styled("✗ lost", "error")
    if late:
        return Styled("⚠ silent", "warning")
    return Styled("○ resting", "muted") if one.rest else Styled("▶ crawling", "active")


def _end(one: SessionView) -> str:
    if not one.ended_at:
        return ABSENT
    return one.ended_by or ("itself" if one.clean else "nobody knows")
