"""The origins of the overview as a relation. Pure."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING, Any

from tui_crawler.console.action import Where
from tui_crawler.console.logs.attempts import exit_cell
from tui_crawler.console.overview.order import SORT_COLUMNS
from tui_crawler.console.table.cells import clip_host
from tui_crawler.console.urls.cells import bare_host, host_of, path_of, twin_of
from tui_crawler.domain.history.idle_reason import idle_reason
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.record import dataclass, replace
from tui_crawler.domain.records.exit_code import FAILURES, ExitCode
from tui_crawler.domain.records.status import DelayReason, OriginPhase
from tui_crawler.text import shown
from tui_crawler.text.cells import Cell, Present, Styled
from tui_crawler.text.charts import heat
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import due, seconds
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.safe_text import safe
from tui_crawler.text.sparkline import patience_dots, sparkline
from tui_crawler.text.standing import standing

if TYPE_CHECKING:
    from tui_crawler.console.reading.snapshot import LiveState
    from tui_crawler.domain.records.view import OriginView, RunView

CLOCK_MS = 10_000
"""Below this a wait is shown in tenths of a second and counts down."""

RATE_CELLS, _FEW_CELLS = 20, 7
"""Cells of the small graphs in a row, five seconds each: they stand where no other column wants the room; where they
are chosen, the few will do."""
_LEAST_ORIGIN = 15
UNORDERED = {"rate": "requests, last 100 s", "latency": "slowest responses, last 100 s", "why": "why it waits"}
"""What columns show by which nothing is ordered."""

SUSPECTED = "⚠"
"""Stands after the state of an origin that looks like a trap; WHY and the pane beside the table tell the reason."""
_ROOM_BESIDE = 7
"""Letters of a state that fit beside that sign, its own glyph and a space where the column is narrow."""


@dataclass(frozen=True, slots=True)
class OriginLine:
    """An origin with what its row shows next to it, perhaps `suspected` as a trap.

    `in_flight` as `idle_reason` has it. `rate` is what it was asked in each of the last spans of time, `latency` how
    long it took at most (ms).
    """

    view: OriginView
    run: RunView | None = None
    you: str = ""
    suspected: bool = False
    in_flight: int | None = None
    rate: Sequence[float | None] = ()
    latency: Sequence[float | None] = ()

    def idle(self, at: Present, *, brief: bool = False) -> str:
        """Return why it makes no request; empty while it makes one."""
        run, you, flying = self.run, self.you, self.in_flight
        return idle_reason(self.view, at.now, run, zone=at.zone, you=you, in_flight=flying, brief=brief)

    @property
    def requesting(self) -> str:
        """Return what it does when nothing holds it up; raw text."""
        return f"requesting {path_of(self.view.in_flight_url, self.view.origin)}"


def line_of(view: OriginView, live: LiveState) -> OriginLine:
    """Return an origin with all that its row shows."""
    meter, mono = live.meters.get(view.origin), live.counted_ms()
    return OriginLine(
        view,
        live.run,
        you=live.who,
        suspected=view.origin in live.traps,
        in_flight=live.in_flight(view),
        rate=meter.line(mono, RATE_CELLS) if meter else (),
        latency=meter.worst(mono, RATE_CELLS) if meter else (),
    )


def _state(mark: StateGlyph, line: OriginLine, _present: Present) -> Cell:
    short = mark.short or mark.word
    gap = "" if line.suspected and len(short) > _ROOM_BESIDE else " "
    state = Styled(mark.label, mark.role, short=f"{mark.glyph}{gap}{short}")
    return (state, *((Styled(f" {SUSPECTED}", "warning", short=SUSPECTED),) if line.suspected else ()))


def _name(origin: str, line: OriginLine, _present: Present) -> Cell:
    role = "muted" if line.view.ended else "strong"
    if (name := host_of(origin)) != origin:
        return Styled(name, role)
    scheme = origin.partition("://")[0]
    host = clip_host(safe(bare_host(origin)), _LEAST_ORIGIN - len(scheme) - 1)
    return Styled(origin, role, short=f"{scheme} {host}")


def _why(_: object, line: OriginLine, present: Present) -> Cell:
    trap = (Styled(f"{SUSPECTED} trap suspected  ", "warning"),) if line.suspected else ()
    return (*trap, Styled(line.idle(present, brief=True) or line.requesting, "muted"))


_SOON_MS, _LATE_MS = 50, 5_000


def _latency(line: OriginLine) -> Styled:
    """How long the worst answers took, darker for longer, alike for all origins: from 50 ms to 5 s by ratio."""
    shares = [None if ms is None else log1p(ms / _SOON_MS) / log1p(_LATE_MS / _SOON_MS) for ms in line.latency]
    whole, short = (heat(shares[-cells:], cells, top=1.0) if shares else "" for cells in (RATE_CELLS, _FEW_CELLS))
    return Styled(whole, "client", short=short)


def patience_cell(view: OriginView) -> Styled:
    """Patience as dots: filled for what is left."""
    role = "warning" if view.patience else "error"
    if view.patience >= view.patience_max:
        role = "faint" if view.ended else "muted"
    numbers = f"{view.patience}/{view.patience_max}"
    return Styled(patience_dots(view.patience, view.patience_max), role, short=numbers)


def patience_words(view: OriginView) -> Styled:
    """Return patience as dots and numbers; as numbers alone where there are too many for dots, or no room."""
    cell = patience_cell(view)
    return cell if cell.text == cell.short else replace(cell, text=f"{cell.text} {cell.short}")


_RAISED = (DelayReason.rate_limit, DelayReason.retry_after, DelayReason.robots_unreachable)
_LETTERS: Mapping[str, tuple[str, str]] = {
    DelayReason.crawl_delay: ("R", ""),
    DelayReason.operator: ("✎", "accent"),
    DelayReason.lowered: ("▼", "accent"),
    **dict.fromkeys(_RAISED, ("▲", "warning")),
}


def delay_cell(view: OriginView) -> Styled:
    """The delay, with `R` when robots.txt sets it, `▲` when it was raised, `✎` when the operator did; `▼`: lowered
    by the operator, while a longer wait is still under way."""
    if not view.delay_ms:
        return Styled("-", "faint")
    letter, role = _LETTERS.get(view.delay_reason, (" ", ""))
    return Styled(f"{seconds(view.delay_ms)}{letter}", role)


_OVER = frozenset({OriginPhase.finished, OriginPhase.resting})


def next_cell(view: OriginView, now: int) -> Styled:
    """When the next request goes out: counts down below 10 s; `now` while one is under way."""
    if view.state in _OVER:
        return Styled("-", "faint")
    if view.in_flight_url:
        return Styled("now", "active")
    if view.paused or view.asleep_until == HELD:
        return Styled("paused", "paused")
    wait = max(view.next_request_at, view.asleep_until) - now
    if wait <= 0:
        return Styled("ready", "waiting")
    return Styled(seconds(wait) if wait < CLOCK_MS else due(wait).lstrip("+"), "")


def counts_down(view: OriginView, now: int) -> bool:
    """Whether the row of this origin changes by time alone."""
    wait = max(view.next_request_at, view.asleep_until) - now
    return view.state not in _OVER and not view.paused and not view.in_flight_url and wait < CLOCK_MS


_PAGES: Mapping[str, str] = {
    "known": "",
    "done": "state:done",
    "failed": "state:failed,retry",
    "blocked": "exit:blocked !exit:blocked_address",
    "pending": "state:queued,retry,claimed",
}
"""The filter of the pages that an origin or a branch counts, by its column."""


def opened_by(
    column: str, origin: str, origins: Container[str], pattern: str = ""
) -> tuple[Where, object, *tuple[object, ...]]:
    """Return the place of what a column counts of one of `origins` (of URLs that match a pattern), else of itself."""
    match column:
        case "fail":
            return Where.failures, (("origin", origin),)
        case "todo":
            return Where.origin, origin, column
        case _ if column in _PAGES:
            words = _only_of(origin, origins), f"re:{pattern}" if pattern else "", _PAGES[column]
            return Where.urls, " ".join(filter(None, words))
        case _:
            return Where.origin, origin


def ended_with(code: str, origin: str, origins: Container[str]) -> tuple[Where, object]:
    """Return the place of the pages of an origin whose last attempt ended with an exit code."""
    if ExitCode.__members__.get(code) in FAILURES:
        return Where.failures, (("origin", origin), ("exit_code", code))
    return Where.urls, f"{_only_of(origin, origins)} exit:{code}"


def _only_of(origin: str, origins: Container[str]) -> str:
    return f"origin:{origin if twin_of(origin) in origins else bare_host(origin)}"


def _of(column: str) -> Callable[[OriginLine], Any]:
    of, _ = SORT_COLUMNS[column]
    return lambda line: of(line.view)


OVERVIEW: Relation[OriginLine] = Relation(
    key=lambda line: line.view.origin,
    source=lambda line: line.view,
    columns=(
        Column("state", "STATE", _state, 14, 0, min_width=10, value=lambda line: standing(line.view)),
        Column("origin", "ORIGIN", _name, None, 0, min_width=_LEAST_ORIGIN, kind="place",
               value=lambda line: line.view.origin),
        Column("todo", "TODO", shown.number("", "faint"), 7, 3, "right", min_width=4, value=_of("todo"),
               opens="its todo list"),
        Column("done", "DONE", shown.number(), 8, 6, "right", min_width=6, value=_of("done"), opens="pages done"),
        Column("fail", "FAIL", shown.number("error", "faint"), 5, 1, "right", value=lambda line: line.view.failed,
               opens="its failures"),
        Column("patience", "PAT", lambda _, line, __: patience_cell(line.view), 5, 2, value=_of("patience")),
        Column("delay", "DELAY", lambda _, line, __: delay_cell(line.view), 7, 5, "right", 6, value=_of("delay")),
        Column("next", "NEXT", lambda _, line, at: next_cell(line.view, at.now), 6, 4, "right", value=_of("next")),
        Column("exit", "LAST EXIT", shown.by_value(exit_cell), 15, 7, min_width=14, value=_of("exit")),
        Column("rate", "RATE", lambda _, line, __: Styled(sparkline(line.rate, RATE_CELLS), "active",
                                                          short=sparkline(line.rate, _FEW_CELLS)),
               RATE_CELLS, 14, value=lambda line: sum(filter(None, line.rate))),
        Column("latency", "LATENCY", shown.by_record(_latency), RATE_CELLS, 15,
               value=lambda line: max(filter(None, line.latency), default=None)),
        Column("took", "TOOK", shown.words(seconds, "", "faint"), 6, 9, "right",
               value=lambda line: line.view.last_response_ms if line.view.requests else None),
        Column("blocked", "BLOCKED", shown.number("blocked", "faint"), 7, 10, "right", value=_of("blocked"),
               opens="blocked pages"),
        Column("pending", "PENDING", shown.number("", "faint"), 9, 11, "right", min_width=7, value=_of("pending"),
               opens="pending pages"),
        Column("bytes", "BYTES", shown.data_size(), 7, 12, "right", value=_of("bytes")),
        Column("why", "WHY", _why, None, 13, min_width=36, value=lambda line: line.view.state),
    ),
)  # fmt: skip


def chosen(ids: Sequence[str]) -> Relation[OriginLine]:
    """Return the columns of these ids in their order; all where none is named. Where there is too little room those
    chosen last drop out first; the origin always stays."""
    known = {column.id: column for column in OVERVIEW.columns}
    picked = [one for one in dict.fromkeys(ids) if one in known]
    if not picked:
        return OVERVIEW
    if "origin" not in picked:
        picked.insert(0, "origin")
    least = {"rate": _FEW_CELLS, "latency": _FEW_CELLS}
    columns = (
        replace(known[one], priority=place * (one != "origin"), min_width=least.get(one, known[one].min_width))
        for place, one in enumerate(picked)
    )
    return replace(OVERVIEW, columns=tuple(columns))
