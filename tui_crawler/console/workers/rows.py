"""The workers as rows, those at work and those that have ended, and the one under the cursor in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING

from tui_crawler.console.overview.rows import chosen
from tui_crawler.console.panes.line import Line, Paragraph
from tui_crawler.domain.record import replace
from tui_crawler.domain.records.worker import WorkerState
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import ABSENT, date_time, duration, size
from tui_crawler.text.relations.workers import end_words, process_mark

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.records.operator_view import SessionView
    from tui_crawler.domain.records.view import OriginView
    from tui_crawler.domain.records.worker import WorkerView

LISTED = 200
"""So many origins of a worker are rows."""
ANOTHER = "tui-crawler worker --db DATABASE, from any machine where it is on a server"
"""How another worker is added."""


def held_origins(views: Iterable[OriginView], worker: str) -> list[OriginView]:
    """Origins that a worker has and has not finished: those with most to do."""
    held = (view for view in views if view.worker == worker and not view.ended)
    return nsmallest(LISTED, held, key=lambda view: (-view.todo, view.origin))


HELD = replace(
    chosen(("state", "origin", "todo", "done", "fail", "patience", "delay", "next", "exit", "took", "why")),
    nothing="no origins",
)


_MEANS = {
    WorkerState.paused: "sends no requests, keeps its origins",
    WorkerState.draining: "finishes requests in flight, gives its origins to others and exits",
    WorkerState.stopping: "exits at once",
    WorkerState.silent: "its heartbeat is late; when its lease expires, others take over its origins",
}


def worker_lines(one: WorkerView, zone: tzinfo, now: int) -> list[Line]:
    """A worker at `now` (epoch ms)."""
    mark, since, lasted = process_mark(one), date_time(one.started_at, zone), duration(now - one.started_at)
    leads = "applies operator commands" if one.leads else ""
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
    mark, lasted = process_mark(one), duration((one.ended_at or now) - one.started_at)
    what = "applies operator commands while no worker is running" if not one.ended_at else ""
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
    who = "It crawls alone" if workers else "No worker is running"
    return [Paragraph(f"{who}; another one: {ANOTHER}", "muted")]
