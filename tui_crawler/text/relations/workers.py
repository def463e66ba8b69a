"""Workers, and processes that do not crawl or not any more, as they are shown."""

from __future__ import annotations

from tui_crawler.domain.operator_view import SessionView
from tui_crawler.domain.record import dataclass
from tui_crawler.domain.worker import WorkerState, WorkerView
from tui_crawler.text.columns import (
    Cell,
    Column,
    Present,
    Relation,
    Styled,
    by_record,
    data_size,
    date_and_time,
    number,
    plain,
    state,
    words,
)
from tui_crawler.text.format import ABSENT, ago, coarse, compact, count, duration
from tui_crawler.text.glyphs import StateGlyph, state_mark


@dataclass(frozen=True, slots=True)
class Process:
    """A process that crawls, or has held the database; None or empty: not known, or it does not crawl.

    `cpu` is the processor time (ms) that it has a second, `silent_ms` how long ago its last heartbeat was.
    """

    source: WorkerView | SessionView
    mark: StateGlyph
    worker: str
    origins: int
    silent_ms: int
    flight: int | None = None
    slots: int = 0
    rate: float | None = None
    cpu: float | None = None
    tags: str = ""
    free: int | None = None
    version: str = ""
    end: str = ""

    @property
    def lost(self) -> bool:
        """Whether it was due to give a sign of life and did not."""
        if isinstance(self.source, WorkerView):
            return self.source.state is WorkerState.silent
        return bool(self.source.ended_at) and not self.source.clean


def worker_mark(of: WorkerState) -> StateGlyph:
    """Return the state of a worker."""
    return StateGlyph("⚠", of, "warning") if of is WorkerState.silent else state_mark(of)


def session_mark(one: SessionView) -> StateGlyph:
    """Return the state of a process that does not crawl, or not any more."""
    if not one.ended_at:
        return state_mark("resting")
    return StateGlyph("■", "ended", "muted") if one.clean else StateGlyph("✗", "lost", "error")


def end_words(one: SessionView) -> str:
    """Return how a process ended; empty while it lasts."""
    return (one.ended_by or ("in order" if one.clean else "nobody knows how")) if one.ended_at else ""


def process_of(one: WorkerView | SessionView, now: int, spent: float | None = None) -> Process:
    """Return a process at `now` (epoch ms) that has `spent` processor time (ms) a second."""
    if isinstance(one, SessionView):
        silent = max(0, now - one.heartbeat_at)
        return Process(one, session_mark(one), one.worker, one.origins, silent, end=end_words(one))
    return Process(
        one, worker_mark(one.state), one.name, one.origins, one.heartbeat_age_ms, one.in_flight, one.slots,
        one.pages_per_minute, spent, f"{'=' * one.matchonly}{' '.join(one.tags)}", one.free_bytes or None, one.version,
    )  # fmt: skip


def _name(one: Process) -> Cell:
    return Styled(one.worker or ABSENT, "strong" if isinstance(one.source, WorkerView) else "muted")


def _flight(flying: int | None, one: Process, _present: Present) -> Cell:
    if flying is None:
        return Styled(ABSENT, "faint")
    role = "active" if flying else "faint"
    return Styled(f"{count(flying)} of {count(one.slots)}", role, f"{count(flying)}/{one.slots}")


def _beat(silent_ms: int, one: Process, _present: Present) -> Cell:
    late = one.lost and not one.end
    return Styled(f"{'⚠ ' * late}{ago(silent_ms)}", "warning" if late else "muted", f"{'⚠' * late}{coarse(silent_ms)}")


def _place(host: str, one: Process, _present: Present) -> Cell:
    return Styled(host or ABSENT), Styled(f" · {one.source.pid}", "muted")


def _end(end: str, one: Process, _present: Present) -> Cell:
    return Styled(end or ABSENT, "warning" if end and one.lost else "muted")


PROCESSES = Relation[Process](
    key=lambda one: one.source.session_id,
    nothing="no process has held this database yet",
    source=lambda one: one.source,
    columns=(
        Column("state", "STATE", state(), 10, 0, value=lambda one: one.mark),
        Column("worker", "WORKER", by_record(_name), None, 0, min_width=10),
        Column("flight", "IN FLIGHT", _flight, 9, 1, "right", min_width=5, short="FLY"),
        Column("rate", "PAGES/MIN", words(compact, "", "faint"), 9, 0, "right", min_width=5, short="P/MIN"),
        Column("cpu", "CPU", words(lambda ms: ABSENT if ms is None else f"{ms / 1_000:.0%}"), 5, 6, "right", 4),
        Column("origins", "ORIGINS", number("", "faint"), 7, 0, "right", min_width=5, short="ORIG"),
        Column("beat", "HEARTBEAT", _beat, 9, 0, "right", 5, "BEAT", value=lambda one: one.silent_ms),
        Column("host", "HOST AND PROCESS", _place, None, 2, "left", 12, "HOST", "", lambda one: one.source.host),
        Column("tags", "TAGS", plain("", ABSENT, "faint"), 14, 3, min_width=6),
        Column("free", "DISK FREE", data_size("muted", "faint"), 9, 7, "right", min_width=6, short="FREE"),
        Column("version", "VERSION", plain("muted", ABSENT, "faint"), 8, 8, min_width=5, short="VER"),
        Column("since", "SINCE", date_and_time(shortens=False), 19, 9, value=lambda one: one.source.started_at),
        Column("end", "HOW IT ENDED", _end, None, 4, min_width=26),
    ),
)
WORKERS = Relation[WorkerView](
    key=lambda one: one.session_id,
    nothing="nobody crawls",
    columns=(),
    text=(
        Column("name", "NAME"),
        Column("state", "STATE", words(lambda one: one.value)),
        Column("slots", "SLOTS", number(), align="right"),
        Column("in_flight", "IN FLIGHT", number(), align="right"),
        Column("origins", "ORIGINS", number(), align="right"),
        Column("pages_per_minute", "PAGES/MIN", words(lambda rate: f"{rate:.0f}"), align="right"),
        Column("heartbeat_age_ms", "HEARTBEAT", words(duration), align="right"),
        Column("host", "HOST"),
        Column("version", "VERSION"),
        Column("tags", "TAGS", by_record(lambda one: " ".join(one.tags) + (" only" if one.matchonly else ""))),
    ),
    json="""name state leads slots in_flight origins pages_per_minute heartbeat_age_ms lease_ms host pid version tags
        matchonly free_bytes started_at""",
)
