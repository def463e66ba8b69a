"""The first line of every screen: which crawl, who runs it, how fast, how long it takes, why nothing moves. Pure.

Nothing moves sideways while the numbers change: a field has as many cells as its values take, and which of them there
is room for depends on the width of the screen alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from tui_crawler.console.panes.line import Line, Split, width_of
from tui_crawler.domain.history.eta import Eta, Limit
from tui_crawler.domain.history.idle_reason import worked_ms
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.status_words import UNVERIFIED
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import compact, count, elapsed, rate, size, span
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.safe_text import clip, safe
from tui_crawler.text.sparkline import sparkline
from tui_crawler.text.standing import Standing

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import RunView, TotalsView


_GAP = 2
"""Cells between pieces."""
COMPACT = 4
"""The widest number that `format.compact` gives, in cells."""


@dataclass(frozen=True, slots=True)
class Chip:
    """Pieces that stay together. `priority` 0 is never dropped; of the others the greatest goes first.

    Where there is no room for its whole words, the `short` ones of its parts stand there.
    """

    parts: tuple[Styled, ...]
    priority: int = 0

    @property
    def width(self) -> int:
        """How many terminal cells it takes."""
        return width_of(self.parts)

    @property
    def shortened(self) -> Chip:
        """The same in its short words."""
        return Chip(tuple(Styled(part.short or part.text, part.role) for part in self.parts), self.priority)


def chip(text: str, role: str = "", priority: int = 0, width: int = 0) -> Chip:
    """A chip of one piece; a shorter text is filled up to `width` cells, so that what stands beside it stays there."""
    return Chip((Styled(text.ljust(width), role),), priority)


def pair(label: str, value: Styled, priority: int = 0, width: int = 0) -> Chip:
    """A chip of a muted label and its value in at least `width` cells. Of a value that has a short form the short one
    is filled up to COMPACT cells."""
    filled = Styled(value.text.ljust(width), value.role, short=value.short.ljust(COMPACT) if value.short else "")
    return Chip((Styled(f"{label} ", "muted"), filled), priority)


def fit_chips(left: Sequence[Chip], right: Sequence[Chip], width: int) -> Split:
    """The pieces of both sides of a bar that fit in `width` cells, with a gap between them: one that has no room is
    left out, those after it in priority are not. What room is left goes to whole words in place of short ones."""
    sides = (left, right)
    ranked = sorted((one.priority, side, index) for side in (0, 1) for index, one in enumerate(sides[side]))
    kept: dict[tuple[int, int], Chip] = {}
    room = width + _GAP
    for priority, side, index in ranked:
        one = sides[side][index].shortened
        if one.width + _GAP <= room or not priority:
            kept[side, index] = one
            room -= one.width + _GAP
    for place, one in kept.items():
        whole = sides[place[0]][place[1]]
        if whole.width - one.width <= room:
            kept[place] = whole
            room -= whole.width - one.width
    shown: tuple[list[Styled], list[Styled]] = [], []
    for (side, _), one in sorted(kept.items(), key=itemgetter(0)):
        shown[side].extend((*((Styled(" " * _GAP),) if shown[side] else ()), *one.parts))
    return Split(tuple(shown[0]), tuple(shown[1]))


_LINE, _SHORT_LINE = 24, 12
_COUNT = 7
"""Cells of a number below a million, with its space between thousands."""
_NAME, _SHORT_NAME = 32, 12
"""Cells of the crawl's name at most: where there is room, and where there is little."""
_LABEL = 10
"""Cells of what an engine does while it crawls."""
_REFRESH = 12
_LIMITS = frozenset({Limit.delay, Limit.server, Limit.patience, Limit.slots})
UNREAD = "-"
"""What stands for a number as long as nothing was read: the rows below are empty, too."""
FULL_HZ = 10
"""Refreshes a second while the screen keeps up."""


@dataclass(frozen=True, slots=True)
class HeaderState:
    """Everything that the header and the tabs show. `engine` says who crawls (`attached`: another process); `idle` why
    nothing moves (empty while something does).

    `worked_ms` is how long the run has been seen to work, which its clock does not go behind: of an engine that was
    killed only the last sign of life is known. `stale_ms` is how old the picture is, 0 while it is fresh; `hz` is how
    often it is refreshed. `rules` is the version of the ruleset in force, 0 where jobs have different ones or none was
    read; `workers` is how many crawl.
    """

    name: str
    engine: StateGlyph
    run: RunView | None = None
    now: int = 0
    tally: Mapping[str, int] = field(default_factory=dict)
    totals: TotalsView | None = None
    requests_per_s: float | None = None
    bytes_per_s: float | None = None
    line: tuple[float | None, ...] = ()
    eta: Eta | None = None
    idle: str = ""
    worked_ms: int = 0
    stale_ms: int = 0
    hz: int = FULL_HZ
    readonly: bool = False
    frozen: bool = False
    attached: bool = False
    rules: int = 0
    workers: int = 0


def counted_now(state: HeaderState) -> Mapping[str, float]:
    """Return pages that wait, origins by state and, while a run is live, rates, for what is shown below the header;
    empty before they were read."""
    totals, tally = state.totals, state.tally
    if totals is None:
        return {}
    counts = {"todo": totals.todo, "pending": totals.pending, Standing.waiting.value: tally.get(Standing.waiting, 0)}
    live = state.run is not None and state.run.live
    rates = {"pages_per_s": state.requests_per_s, "bytes_per_s": state.bytes_per_s} if live else {}
    known = {name: number for name, number in rates.items() if number is not None}
    return {**dict.fromkeys(Standing, 0), **tally, **counts, **known}


def header_line(state: HeaderState, width: int) -> Line:
    """Return the header in `width` cells."""
    return fit_chips([*_who(state), *_pace(state)], [*_warnings(state), *_progress(state)], width)


def eta_words(eta: Eta | None) -> str:
    """An ETA as a short range: `2h–18h`, `2h+` without an end in sight, `-` when it cannot be told."""
    if eta is None or eta.low_ms is None:
        return "-"
    if eta.limit is Limit.none:
        return "done"
    return span(eta.low_ms, eta.high_ms) if eta.high_ms is not None else f"{span(eta.low_ms, eta.low_ms)}+"


def _who(state: HeaderState) -> list[Chip]:
    """Return the name of the crawl, which is the last to go, what its engine does, and the process it runs in."""
    chips, engine = [], state.engine
    if state.name:
        name = safe(state.name)
        chips.append(Chip((Styled(clip(name, _NAME), "strong bold", short=clip(name, _SHORT_NAME)),), 1))
    chips.append(chip(engine.label, engine.role, width=_LABEL))
    if state.run is not None and state.run.owner and state.attached:
        chips.append(chip(f"to {state.run.owner}", "muted", 25))
    return chips


def _pace(state: HeaderState) -> list[Chip]:
    """Return how fast it crawls, when it will be done and what limits that; or why nothing moves."""
    if state.idle:
        return [chip(state.idle, "warning")]
    pending, eta = state.totals.pending if state.totals else 0, state.eta
    ended = pending and eta is not None and eta.limit is Limit.none  # what is left is not of this run
    limit = f"(limited by {eta.limit.value})" if eta is not None and eta.limit in _LIMITS else ""
    return [
        Chip((Styled(rate(state.requests_per_s).rjust(5), "strong"), Styled("/s", "muted")), 3),
        Chip((Styled(size(state.bytes_per_s).rjust(6)), Styled("/s", "muted")), 7),
        pair("ETA", Styled(eta_words(None if ended else eta).rjust(7)), 5),
        chip(limit, "muted", 8, width=21),
    ]


def _warnings(state: HeaderState) -> list[Chip]:
    """Return what a person has to know of this console: read-only, certificates not verified, frozen, stale, slowed."""
    chips: list[Chip] = []
    if state.readonly:
        chips.append(chip("read-only", "paused", 4))
    if state.run is not None and state.run.warnings:
        chips.append(Chip((Styled(f"⚠ {UNVERIFIED}", "warning bold", short="⚠ unverified"),), 2))
    if state.frozen:
        chips.append(chip("frozen", "paused bold"))
    if state.stale_ms:
        chips.append(chip(f"⚠ stale {state.stale_ms // 1000} s", "warning bold", width=_REFRESH))
    elif state.hz < FULL_HZ:
        chips.append(chip(f"↻ {state.hz}/s slowed", "warning", 6, width=_REFRESH))
    return chips


def _progress(state: HeaderState) -> list[Chip]:
    """Return what is left to do, and for how long the run has worked."""
    totals, chips = state.totals, []
    if not state.idle:
        line = Styled(sparkline(state.line, _LINE), "active", short=sparkline(state.line, _SHORT_LINE))
        chips.append(Chip((line,), 24))
    chips += [
        pair("todo", _number(None if totals is None else totals.todo), 20, _COUNT),
        pair("pending", _number(None if totals is None else totals.pending, "strong"), 9, _COUNT),
    ]
    if state.run is not None:
        worked = elapsed(max(worked_ms(state.run, state.now), state.worked_ms))
        chips.append(Chip((Styled(f"run {state.run.run_id}  {worked}", "muted", short=worked),), 19))
    return chips


def _number(number: int | None, role: str = "") -> Styled:
    """A number of the totals; None, before they are read: nothing is said to be zero."""
    return Styled(UNREAD, role) if number is None else Styled(count(number), role, short=compact(number))
