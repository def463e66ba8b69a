"""A timeline drawn with characters, for console and command line: the required delay and the gaps that were kept, below
them the requests, the patience, and what the origin crawler did. Pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from math import expm1, log1p

from tui_crawler.domain.history.idle_reason import delay_words
from tui_crawler.domain.history.timeline import LaneCell, LaneEvent, LaneMark, LanePhase, Timeline
from tui_crawler.domain.records.exit_code import Group
from tui_crawler.domain.records.status_words import finish_words
from tui_crawler.text.charts import Dots, Form, Mark, Piece, Series, beside, chart, joined, round_top
from tui_crawler.text.format import clock, count, date_time, phase, plural
from tui_crawler.text.glyphs import StateGlyph, exit_mark, in_ascii, state_mark
from tui_crawler.text.safe_text import safe
from tui_crawler.text.standing import end_mark

LABEL = 9
"""Cells at the left of a lane, for what its lines are and for the scale."""

_PLAIN = frozenset({Group.ok, Group.redirect, Group.unchanged, Group.dropped})
_PHASES: Mapping[LanePhase, StateGlyph] = {
    LanePhase.not_known: StateGlyph(" ", "", ""),
    LanePhase.at_rest: state_mark("idle"),
    LanePhase.in_turn: state_mark("ready"),
    LanePhase.in_delay: state_mark("waiting"),
    LanePhase.over: StateGlyph("■", "over", "muted"),
    LanePhase.asking: state_mark("crawling"),
    LanePhase.held: state_mark("paused"),
}
_EVENTS: Mapping[LaneEvent, tuple[str, str]] = {
    LaneEvent.slower: ("▲", "warning"),
    LaneEvent.impatient: ("▼", "warning"),
    LaneEvent.takeover: ("↻", "accent"),
    LaneEvent.next_run: ("▶", "accent"),
    LaneEvent.pause_begun: ("‖", "paused"),
    LaneEvent.pause_over: ("▶", "active"),
    LaneEvent.broken_promise: ("✗", "error"),
}
SERIES = (
    Series("required delay", (), "accent"),
    Series("gap", (), "ok", Form.line),
    Series("too short", (), "error", Form.line),
)
"""What the chart of a lane shows."""
_LONG_MS = 72_000_000
_NEAR_MS = 500
"""Below this the scale is nearly linear."""
_CHART = 3  # lines, its axis among them
_LONGEST = 60  # characters of what the database says
_TELLING = (LaneEvent.broken_promise, LaneEvent.slower, LaneEvent.pause_begun, LaneEvent.takeover, LaneEvent.next_run)


def kept_words(timeline: Timeline) -> str:
    """How the delays were kept: `kept 467 of 467 · min gap 2.0s, required 2.0s`."""
    audit = timeline.audit
    gap = f" · min gap {phase(audit.min_gap_ms)}, required {phase(audit.promised_ms)}"
    return f"kept {count(timeline.kept)} of {count(audit.requests)}{gap * (audit.min_gap_ms is not None)}"


def mark_words(mark: LaneMark) -> str:
    """What happened, in words."""
    match mark.event:
        case LaneEvent.slower:
            why = safe(delay_words(mark.reason), _LONGEST)
            return f"delay {phase(mark.before)} → {phase(mark.after)}{why and ': '}{why}"
        case LaneEvent.impatient:
            return f"patience {mark.before} → {mark.after}{mark.reason and ': '}{mark.reason}"
        case LaneEvent.takeover:
            return "another worker took over"
        case LaneEvent.next_run:
            return f"run {mark.after}"
        case LaneEvent.pause_begun | LaneEvent.pause_over:
            return "paused" if mark.event is LaneEvent.pause_begun else "resumed"
        case LaneEvent.origin_over:
            return safe(finish_words(mark.reason), _LONGEST)
        case LaneEvent.broken_promise:
            over = f"overlap of {phase(-mark.after)}" if mark.after < 0 else f"gap {phase(mark.after)}"
            return f"{over}, required {phase(mark.before)}"


def cell_words(timeline: Timeline, at: int, zone: tzinfo = UTC) -> str:
    """What one cell says, with what happened in it: for the cursor."""
    span, cell = timeline.span, timeline.cells[at]
    parts = [f"{clock(span.at(at), zone)} to {clock(span.at(at + 1), zone)}", plural(cell.requests, "request")]
    if cell.kept_ms is not None:
        parts.append(f"gap {phase(cell.kept_ms)}, required {phase(cell.promised_ms)}")
    elif cell.delay_ms is not None:
        parts.append(f"delay {phase(cell.delay_ms)}")
    if why := safe(delay_words(cell.delay_reason), _LONGEST):
        parts.append(why)
    if cell.patience is not None:
        parts.append(f"patience {cell.patience}")
    parts += [_PHASES[cell.phase].label] * (cell.phase is not LanePhase.not_known)
    return " · ".join([*parts, *(mark_words(mark) for mark in timeline.marks if span.cell(mark.at) == at)])


def lane(
    timeline: Timeline, height: int, *, dots: Dots = Dots.braille, cursor: int | None = None, zone: tzinfo = UTC
) -> list[list[Piece]]:
    """Return a lane of `height` lines, `LABEL` cells wider than the timeline has cells: what was asked and the state
    first, then with more room the gaps as a chart, the patience, and the times."""
    cells, width = timeline.cells, len(timeline.cells)
    states = ((_PHASES[cell.phase].glyph, _PHASES[cell.phase].role) for cell in cells)
    lines = [_line("requests", map(_asked, cells), cursor), _line("state", states, cursor)]
    if height - len(lines) > _CHART:
        lines.insert(1, _line("patience", _patience(cells), cursor))
    if height - len(lines) > _CHART:
        lines.append([(" " * LABEL, ""), *beside(width, _marks(timeline, zone))])
    if height - len(lines) > 1:
        lines = _gaps(timeline, height - len(lines), dots, cursor) + lines
    lines = lines[:height]
    return [[(in_ascii(text), role) for text, role in line] for line in lines] if dots is Dots.ascii else lines


def _gaps(timeline: Timeline, height: int, dots: Dots, cursor: int | None) -> list[list[Piece]]:
    """Delays and gaps on a logarithmic scale: a wait of minutes leaves room for the seconds next to it."""
    cells, width = timeline.cells, len(timeline.cells)
    broken = [cell.kept_ms if cell.broken else None for cell in cells]
    values = [cell.delay_ms for cell in cells], [cell.kept_ms for cell in cells], broken
    series = [
        Series(one.name, tuple(None if value is None else _height(value) for value in of), one.role, one.form)
        for one, of in zip(SERIES, values, strict=True)
    ]
    return chart(
        series,
        width + LABEL,
        height,
        dots=dots,
        top=_height(round_top(1.2 * timeline.longest_ms)),
        times=False,
        scale=lambda at: phase(_NEAR_MS * expm1(at)).rjust(LABEL - 1),
        cursor=None if cursor is None else (cursor + 0.5) / width,
    )


def _height(ms: float) -> float:
    return log1p(max(ms, 0) / _NEAR_MS)


def _line(label: str, cells: Iterable[tuple[str, str]], cursor: int | None) -> list[Piece]:
    marked = [(glyph, "strong reverse" if at == cursor else role) for at, (glyph, role) in enumerate(cells)]
    return [(label.ljust(LABEL), "muted"), *joined(marked)]


def _asked(cell: LaneCell) -> tuple[str, str]:
    if not cell.requests or cell.ended is None:
        return " ", ""
    if cell.broken:
        return "█", "error"
    mark = exit_mark(cell.ended.value)
    return ("╷" if cell.requests == 1 else "│", mark.role) if cell.ended in _PLAIN else (mark.glyph, mark.role)


def _patience(cells: Iterable[LaneCell]) -> Iterable[tuple[str, str]]:
    """Patience as steps: a number where it changes, its tens are left out."""
    before: int | None = None
    for cell in cells:
        left, told = cell.patience, cell.patience != before
        fell = told and before is not None and left is not None and left < before
        yield (" " if left is None else str(left % 10) if told else "─"), "warning" if fell else "muted"
        before = left


def _marks(timeline: Timeline, zone: tzinfo) -> Iterable[Mark]:
    """What happened, and times of day wherever there is room; with the day where the span is long."""
    span = timeline.span
    for mark in sorted(timeline.marks, key=lambda one: (one.event not in _TELLING, one.event)):
        ended = end_mark(mark.reason)
        glyph, role = _EVENTS.get(mark.event, (ended.glyph, ended.role))
        yield Mark((span.cell(mark.at) + 0.5) / span.cells, "", glyph, role)
    shown = slice(5, 16) if span.until - span.since > _LONG_MS else slice(11, 19)
    yield from (Mark(at / span.cells, date_time(span.at(at), zone)[shown]) for at in range(0, span.cells, 16))
