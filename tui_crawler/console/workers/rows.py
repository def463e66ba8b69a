"""The workers as rows, those at work and those that have ended, and the one under the cursor in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING

from tui_crawler.console.overview.rows import chosen_columns, origin_row
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.console.table.cells import Cell, Row, Styled
from tui_crawler.domain.worker import WorkerState
from tui_crawler.text.columns import AnyColumn, Column, plain
from tui_crawler.text.format import ABSENT, ago, coarse, compact, count, date_time, duration, size
from tui_crawler.text.glyphs import StateGlyph, state_mark

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.operator_view import SessionView
    from tui_crawler.domain.view import OriginView, RunView
    from tui_crawler.domain.worker import WorkerView

LISTED = 200
"""So many origins of a worker are rows."""
ANOTHER = "tui-crawler worker --db DATABASE, from any machine where it is on a server"
"""How another worker is added."""

WORKER_COLUMNS: tuple[AnyColumn, ...] = (
    Column("state", "STATE", plain(), 10, 0),
    Column("worker", "WORKER", plain(), None, 0, min_width=10),
    Column("flight", "IN FLIGHT", plain(), 9, 1, "right", min_width=5, short="FLY"),
    Column("rate", "PAGES/MIN", plain(), 9, 0, "right", min_width=5, short="P/MIN"),
    Column("cpu", "CPU", plain(), 5, 6, "right", min_width=4),
    Column("origins", "ORIGINS", plain(), 7, 0, "right", min_width=5, short="ORIG"),
    Column("beat", "HEARTBEAT", plain(), 9, 0, "right", min_width=5, short="BEAT"),
    Column("host", "HOST AND PROCESS", plain(), None, 2, min_width=12, short="HOST"),
    Column("tags", "TAGS", plain(), 14, 3, min_width=6),
    Column("free", "DISK FREE", plain(), 9, 7, "right", min_width=6, short="FREE"),
    Column("version", "VERSION", plain(), 8, 8, min_width=5, short="VER"),
    Column("since", "SINCE", plain(), 19, 9),
    Column("end", "HOW IT ENDED", plain(), None, 4, min_width=26),
)


def worker_mark(state: WorkerState) -> StateGlyph:
    """How a worker stands."""
    return StateGlyph("⚠", state, "warning") if state is WorkerState.silent else state_mark(state)


def session_mark(one: SessionView) -> StateGlyph:
    """How a process stands that does not crawl, or not any more."""
    if not one.ended_at:
        return state_mark("resting")
    return StateGlyph("■", "ended", "muted") if one.clean else StateGlyph("✗", "lost", "error")


def worker_row(one: WorkerView, spent: float | None, zone: tzinfo) -> Row:
    """A worker that has not ended; it has `spent` so much processor time (ms) a second. The key is its session."""
    mark, late = worker_mark(one.state), one.state is WorkerState.silent
    silent, flying = one.heartbeat_age_ms, count(one.in_flight)
    beat = Styled(f"{'⚠ ' * late}{ago(silent)}", "warning" if late else "muted", f"{'⚠' * late}{coarse(silent)}")
    cells = (
        Styled(mark.label, mark.role),
        Styled(one.name or ABSENT, "strong"),
        Styled(f"{flying} of {count(one.slots)}", "active" if one.in_flight else "faint", f"{flying}/{one.slots}"),
        Styled(compact(one.pages_per_minute), "" if one.pages_per_minute else "faint"),
        ABSENT if spent is None else f"{spent / 1_000:.0%}",
        Styled(count(one.origins), "" if one.origins else "faint", compact(one.origins)),
        beat,
        _place(one.host, one.pid),
        Styled(f"{'=' * one.matchonly}{' '.join(one.tags)}" or ABSENT, "" if one.tags else "faint"),  # =: these only
        Styled(size(one.free_bytes or None), "muted"),
        Styled(one.version or ABSENT, "muted"),
        Styled(date_time(one.started_at, zone), "muted"),
        ABSENT,
    )
    return Row(one.session_id, cells)


def session_row(one: SessionView, now: int, zone: tzinfo) -> Row:
    """A process at `now` (epoch ms) that does not crawl, or not any more; the key is the number of its session."""
    mark, silent = session_mark(one), max(0, now - one.heartbeat_at)
    none = Styled(ABSENT, "faint")
    cells: tuple[Cell, ...] = (
        Styled(mark.label, mark.role),
        Styled(one.worker or ABSENT, "muted"),
        none,
        none,
        none,
        Styled(count(one.origins), "" if one.origins else "faint", compact(one.origins)),
        Styled(ago(silent), "muted", coarse(silent)),
        _place(one.host, one.pid),
        none,
        none,
        none,
        Styled(date_time(one.started_at, zone), "muted"),
        Styled(end_words(one), "warning" if one.ended_at and not one.clean else "muted"),
    )
    return Row(one.session_id, cells)


def _place(host: str, pid: int) -> Cell:
    return Styled(host or ABSENT), Styled(f" · {pid}", "muted")


def end_words(one: SessionView) -> str:
    """How a process ended; `-` while it lasts."""
    return (one.ended_by or ("in order" if one.clean else "nobody knows how")) if one.ended_at else ABSENT


def held_origins(views: Iterable[OriginView], worker: str) -> list[OriginView]:
    """Origins that a worker has and has not finished: those with most to do."""
    held = (view for view in views if view.worker == worker and not view.ended)
    return nsmallest(LISTED, held, key=lambda view: (-view.todo, view.origin))


HELD_COLUMNS, _PICKED = chosen_columns(
    ("state", "origin", "todo", "done", "fail", "patience", "delay", "next", "exit", "took", "why")
)


def held_row(view: OriginView, now: int, run: RunView | None, zone: tzinfo, in_flight: int) -> Row:
    """An origin of a worker as a row, as the overview has it; `in_flight` of this worker."""
    row = origin_row(view, now, run, zone, narrow=False, in_flight=in_flight)
    return Row(row.key, tuple(row.cells[at] for at in _PICKED))


_MEANS = {
    WorkerState.paused: "asks nothing more, and keeps its origins",
    WorkerState.draining: "ends what is in flight, gives its origins to others and leaves",
    WorkerState.stopping: "leaves at once",
    WorkerState.silent: "no sign of life within its lease; once it is found dead, the others go on with what it holds",
}


def worker_lines(one: WorkerView, zone: tzinfo, now: int) -> list[Line]:
    """A worker at `now` (epoch ms)."""
    mark, since, lasted = worker_mark(one.state), date_time(one.started_at, zone), duration(now - one.started_at)
    leads = "carries out what operators ask for" if one.leads else ""
    only = " · takes no other jobs" if one.matchonly else ""
    disk = f" · {size(one.free_bytes)} of disk free" if one.free_bytes else ""
    said = " · ".join(filter(None, (_MEANS.get(one.state, ""), leads)))
    return [
        (Styled(one.name, "strong"), Styled(f"  {mark.label}", mark.role), Styled(f"  {said}", "muted")),
        Paragraph(f"run {one.run_id} · since {since}, {lasted} · version {one.version or ABSENT}{disk}"),
        *([f"tags: {' '.join(one.tags) or 'none'}{only}"] if one.tags or one.matchonly else []),
    ]


def session_lines(one: SessionView, zone: tzinfo, now: int) -> list[Line]:
    """A process at `now` (epoch ms) that does not crawl, or not any more."""
    mark, lasted = session_mark(one), duration((one.ended_at or now) - one.started_at)
    what = "carries out what operators ask for while nobody crawls" if not one.ended_at else ""
    if one.ended_at:
        what = f"{date_time(one.ended_at, zone)}: {end_words(one)}"
    run = f"run {one.run_id} · " if one.run_id else ""
    return [
        (Styled(one.worker or f"process {one.pid}", "strong"), "  ", Styled(f"{mark.label}  {what}", mark.role)),
        f"{run}since {date_time(one.started_at, zone)}, {lasted}",
    ]


def alone_lines(workers: Sequence[WorkerView]) -> list[Line]:
    """How another worker is added, where there is one at most."""
    if len(workers) > 1:
        return []
    if workers and not workers[0].shared:
        return [Paragraph("It crawls alone, takes no other workers; to share: run CONFIG --workers 2", "muted")]
    who = "It crawls alone" if workers else "No worker is at work"
    return [Paragraph(f"{who}; another one: {ANOTHER}", "muted")]
