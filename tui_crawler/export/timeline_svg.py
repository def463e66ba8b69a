"""A timeline as a picture in an HTML file, without a style of its own: report.css has the colours of both themes."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from tui_crawler.domain.exit_code import Group
from tui_crawler.domain.timeline import LaneCell, LaneEvent, LanePhase, Timeline
from tui_crawler.text.charts import round_top
from tui_crawler.text.format import date_time, phase, plural
from tui_crawler.text.safe_text import safe
from tui_crawler.text.timeline import kept_words, mark_words

_GAPS, _ASKED, _PATIENCE, _STATE, _HEIGHT = 60, 64, 90, 94, 102
"""Where the gaps end, what was asked begins, patience ends, the state begins, and all of it ends."""
_TOLD = 20
_BAD = {Group.server: "fault", Group.network: "warning", Group.client: "client", Group.local: "fault"}
_SAID = frozenset(LaneEvent) - {LaneEvent.broken_promise}


def timeline_svg(timeline: Timeline) -> str:
    """The picture with its scale, and what happened as a list, which says the same in words."""
    span, cells = timeline.span, timeline.cells
    top = round_top(1.2 * timeline.longest_ms)
    drawn = "".join(
        (
            *_promised(cells, top),
            *_kept(cells, top),
            *_asked(cells),
            _patience(cells),
            *_states(cells),
            *_marks(timeline),
        )
    )
    told = [
        f"<li>{date_time(mark.at)} {escape(mark_words(mark))}</li>" for mark in timeline.marks if mark.event in _SAID
    ]
    more = len(told) - _TOLD + timeline.marks_left_out
    told[_TOLD:] = [f"<li>and {more} more</li>"] if more > 0 else []
    said = f"<summary>{plural(len(told), 'mark')}</summary><ul>{''.join(told)}</ul>"
    return (
        f"<div><p>{kept_words(timeline)}</p>"
        f'<svg class="lane" viewBox="0 0 {len(cells)} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(kept_words(timeline))}">{drawn}</svg>'
        f'<p class="axis"><span>{date_time(span.since)}</span><span>up to {phase(top)}</span>'
        f"<span>{date_time(span.until)}</span></p>{f'<details>{said}</details>' if told else ''}</div>"
    )


def _promised(cells: tuple[LaneCell, ...], top: float) -> Iterator[str]:
    """The delay in force, filled from zero up."""
    points = "".join(f"V{_height(cell.delay_ms or 0, top)}H{at}" for at, cell in enumerate(cells, 1))
    yield f'<path class="promised" d="M0 {_GAPS}{points}V{_GAPS}Z"/>'


def _kept(cells: tuple[LaneCell, ...], top: float) -> Iterator[str]:
    """The gap that kept its promise least in each cell, as a line over the cell."""
    for kind, chosen in (("kept", False), ("broken", True)):
        lines = (
            f"M{at} {_height(max(cell.kept_ms, 0), top)}h1"
            for at, cell in enumerate(cells)
            if cell.kept_ms is not None and cell.broken is chosen
        )
        yield _path(kind, lines)


def _asked(cells: tuple[LaneCell, ...]) -> Iterator[str]:
    """A tick for each cell in which something was asked, by how that ended."""
    kinds = {kind: list[str]() for kind in ("asked", "client", "warning", "fault")}
    for at, cell in enumerate(cells):
        if cell.requests and cell.ended is not None:
            bad = "fault" if cell.broken else _BAD.get(cell.ended, "asked")
            kinds[bad].append(f"M{at + 0.5} {_ASKED}v12")
    return (_path(f"tick {kind}", ticks) for kind, ticks in kinds.items())


def _patience(cells: tuple[LaneCell, ...]) -> str:
    """Patience as steps; nothing of it lies on the ground."""
    most = max((cell.patience or 0 for cell in cells), default=0) or 1
    known = [(at, cell.patience) for at, cell in enumerate(cells) if cell.patience is not None]
    steps = (
        f"{'L' if number else 'M'}{at} {_PATIENCE - 10 * left / most:.1f}h1" for number, (at, left) in enumerate(known)
    )
    return _path("patience", steps)


def _path(kind: str, steps: Iterator[str] | list[str]) -> str:
    drawn = "".join(steps)
    return f'<path class="{kind}" d="{drawn}"/>' if drawn else ""


def _states(cells: tuple[LaneCell, ...]) -> Iterator[str]:
    for state, run in groupby(enumerate(cells), key=lambda each: each[1].phase):
        places = [at for at, _ in run]
        if state is not LanePhase.not_known:
            yield f'<rect class="{state.name}" x="{places[0]}" y="{_STATE}" width="{len(places)}" height="8"/>'


def _marks(timeline: Timeline) -> Iterator[str]:
    """A line at each mark; its words come up under the pointer."""
    for mark in timeline.marks:
        at = timeline.span.cell(mark.at) + 0.5
        words = escape(safe(f"{date_time(mark.at)} {mark_words(mark)}", 200))
        yield f'<path class="mark {mark.event}" d="M{at} 0V{_HEIGHT}"><title>{words}</title></path>'


def _height(ms: float, top: float) -> str:
    return f"{_GAPS - min(ms / top, 1.0) ** 0.5 * _GAPS:.1f}"


LEGEND = """<p class="legend"><svg viewBox="0 0 10 10"><rect class="promised" width="10" height="10"/></svg> promised
<svg viewBox="0 0 10 10"><path class="kept" d="M0 5h10"/></svg> kept
<svg viewBox="0 0 10 10"><path class="broken" d="M0 5h10"/></svg> broken promise
asked: <svg viewBox="0 0 10 10"><path class="tick asked" d="M5 0v10"/></svg> answered
<svg viewBox="0 0 10 10"><path class="tick fault" d="M5 0v10"/></svg> 429, 5xx
<svg viewBox="0 0 10 10"><path class="tick warning" d="M5 0v10"/></svg> no answer
<svg viewBox="0 0 10 10"><path class="tick client" d="M5 0v10"/></svg> other 4xx
<svg viewBox="0 0 10 10"><path class="patience" d="M0 3h5v5h5"/></svg> patience ·
<svg viewBox="0 0 10 10"><rect class="asking" width="10" height="10"/></svg> crawling
<svg viewBox="0 0 10 10"><rect class="in_delay" width="10" height="10"/></svg> waiting
<svg viewBox="0 0 10 10"><rect class="held" width="10" height="10"/></svg> paused
<svg viewBox="0 0 10 10"><rect class="over" width="10" height="10"/></svg> over</p>
"""
"""What the colours of the pictures mean; stands once above them."""
