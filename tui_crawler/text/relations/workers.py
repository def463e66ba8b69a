"""Workers, and processes that do not crawl or not any more, as they are shown."""

from collections.abc import Callable
from typing import Any

from tui_crawler.domain.record import dataclass
from tui_crawler.domain.records.operator_view import SessionView
from tui_crawler.domain.records.worker import WorkerState, WorkerView
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import ABSENT, ago, coarse, compact, count, duration, size
from tui_crawler.text.glyphs import StateGlyph, state_mark


@dataclass(frozen=True, slots=True)
class Process:
    """A process that crawls, or has held the database. `cpu` is the processor time (ms) it has a second, None where
    that is not known; `silent_ms` is how long ago its last heartbeat was."""

    source: WorkerView | SessionView
    silent_ms: int
    cpu: float | None = None


def process_mark(one: WorkerView | SessionView) -> StateGlyph:
    """Return the state of a worker, or of a process that does not crawl, or not any more."""
    if isinstance(one, WorkerView):
        return StateGlyph("⚠", one.state, "warning") if one.state is WorkerState.silent else state_mark(one.state)
    if not one.ended_at:
        return state_mark("idle")
    return StateGlyph("■", "ended", "muted") if one.clean else StateGlyph("✗", "lost", "error")


def end_words(one: SessionView) -> str:
    """Return how a process ended; empty while it lasts."""
    return (one.ended_by or ("in order" if one.clean else "reason unknown")) if one.ended_at else ""


def process_of(one: WorkerView | SessionView, now: int, spent: float | None = None) -> Process:
    """Return a process at `now` (epoch ms) that has `spent` processor time (ms) a second."""
    silent = one.heartbeat_age_ms if isinstance(one, WorkerView) else max(0, now - one.heartbeat_at)
    return Process(one, silent, spent)


def _of_worker(name: str) -> Callable[[Process], Any]:
    return lambda process: getattr(process.source, name, None)


def _name(process: Process) -> Cell:
    one = process.source
    return (
        Styled(one.name or ABSENT, "strong") if isinstance(one, WorkerView) else Styled(one.worker or ABSENT, "muted")
    )


def _flight(flying: int | None, process: Process, _present: Present) -> Cell:
    slots = getattr(process.source, "slots", 0)
    text = Styled(f"{count(flying)} of {count(slots)}", "active" if flying else "faint", f"{count(flying)}/{slots}")
    return Styled(ABSENT, "faint") if flying is None else text


def _cpu(spent: float | None, process: Process, _present: Present) -> Cell:
    if spent is None and isinstance(process.source, SessionView):
        return Styled(ABSENT, "faint")
    return ABSENT if spent is None else f"{spent / 1_000:.0%}"


def _beat(silent_ms: int, process: Process, _present: Present) -> Cell:
    late = _of_worker("state")(process) is WorkerState.silent
    text, short = f"{'⚠ ' * late}{ago(silent_ms)}", f"{'⚠' * late}{coarse(silent_ms)}"
    return Styled(text, "warning" if late else "muted", short)


def _free(number: int | None, process: Process, _present: Present) -> Cell:
    return Styled(size(number), "muted" if isinstance(process.source, WorkerView) else "faint")


def _tags(process: Process) -> str:
    one = process.source
    return f"{'=' * one.matchonly}{' '.join(one.tags)}" if isinstance(one, WorkerView) else ""  # =: these only


def _end(end: str, process: Process, _present: Present) -> Cell:
    if isinstance(process.source, WorkerView):
        return ABSENT
    return Styled(end or ABSENT, "warning" if end and not process.source.clean else "muted")


PROCESSES: Relation[Process] = Relation(
    key=lambda process: process.source.session_id,
    nothing="no process has held this database yet",
    source=lambda process: process.source,
    columns=(
        Column("state", "STATE", shown.state(), 10, 0, value=lambda process: process_mark(process.source)),
        Column("worker", "WORKER", shown.itself, None, 0, min_width=10, value=_name),
        Column("flight", "IN FLIGHT", _flight, 9, 1, "right", min_width=6, short="FLIGHT",
               value=_of_worker("in_flight")),
        Column("rate", "PAGES/MIN", shown.words(compact, "", "faint"), 9, 0, "right", min_width=5, short="P/MIN",
               value=_of_worker("pages_per_minute")),
        Column("cpu", "CPU", _cpu, 5, 6, "right", min_width=4),
        Column("origins", "ORIGINS", shown.number("", "faint"), 7, 0, "right", min_width=5, short="ORIG",
               value=lambda process: process.source.origins),
        Column("beat", "HEARTBEAT", _beat, 9, 0, "right", min_width=5, short="BEAT",
               value=lambda process: process.silent_ms),
        Column("host", "HOST AND PROCESS",
               lambda host, process, _: (Styled(host or ABSENT), Styled(f" · {process.source.pid}", "muted")),
               None, 2, min_width=12, short="HOST", value=lambda process: process.source.host),
        Column("tags", "TAGS", shown.plain("", ABSENT, "faint"), 14, 3, min_width=6, value=_tags),
        Column("free", "DISK FREE", _free, 9, 7, "right", min_width=6, short="FREE",
               value=lambda process: _of_worker("free_bytes")(process) or None),
        Column("version", "VERSION", shown.plain("muted", ABSENT, "faint"), 8, 8, min_width=5, short="VER",
               value=_of_worker("version")),
        Column("since", "SINCE", shown.date_and_time(shortens=False), 19, 9,
               value=lambda process: process.source.started_at),
        Column("end", "HOW IT ENDED", _end, None, 4, min_width=26,
               value=lambda process: end_words(process.source) if isinstance(process.source, SessionView) else ""),
    ),
)  # fmt: skip
WORKERS: Relation[WorkerView] = Relation(
    key=lambda one: one.session_id,
    nothing="no workers are running",
    columns=(),
    text=(
        Column("name", "NAME"),
        Column("state", "STATE"),
        Column("slots", "SLOTS", shown.number(), align="right"),
        Column("in_flight", "IN FLIGHT", shown.number(), align="right"),
        Column("origins", "ORIGINS", shown.number(), align="right"),
        Column("pages_per_minute", "PAGES/MIN", shown.words(lambda rate: f"{rate:.0f}"), align="right"),
        Column("heartbeat_age_ms", "HEARTBEAT", shown.words(duration), align="right"),
        Column("host", "HOST"),
        Column("version", "VERSION"),
        Column("tags", "TAGS", shown.by_record(lambda one: " ".join(one.tags) + (" only" if one.matchonly else ""))),
    ),
    json="""name state leads slots in_flight origins pages_per_minute heartbeat_age_ms lease_ms host pid version tags
        matchonly free_bytes started_at""",
)
