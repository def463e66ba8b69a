"""The two lines at the top of every screen: what runs, how fast, how well, and why nothing moves. Pure.

Nothing moves sideways while the numbers change: a field has as many cells as its values take, none goes because it is
zero, and which of them there is room for depends on the width of the screen and on how many origins there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui_crawler.console.panes.line import Line, Split
from tui_crawler.console.urls.cells import host_of
from tui_crawler.domain.history.eta import Eta, Limit
from tui_crawler.domain.history.idle_reason import worked_ms
from tui_crawler.domain.record import dataclass, field
from tui_crawler.domain.records.exit_code import DISPOSITIONS, ExitCode, Group
from tui_crawler.domain.records.status_words import UNVERIFIED
from tui_crawler.text.cells import Styled
from tui_crawler.text.format import ABSENT, compact, count, elapsed, percent, plural, rate, seconds, size, span
from tui_crawler.text.glyphs import StateGlyph, state_mark
from tui_crawler.text.safe_text import clip, fit, safe
from tui_crawler.text.sparkline import sparkline
from tui_crawler.text.standing import TALLIES, Standing

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
        return sum(cell_len(safe(part.text)) for part in self.parts)

    @property
    def shortened(self) -> Chip:
        """The same in its short words."""
        return Chip(tuple(Styled(part.short or part.text, part.role) for part in self.parts), self.priority)


def chip(text: str, role: str = "", priority: int = 0, width: int = 0) -> Chip:
    """A chip of one piece; a shorter text is filled up to `width` cells, so that what stands beside it stays there."""
    return Chip((Styled(text.ljust(width), role),), priority)


def pair(label: str, value: Styled, priority: int = 0, width: int = 0, short: str = "") -> Chip:
    """A chip of a muted label, perhaps with a short one, and its value in at least `width` cells.

    Of a value that has a short form the short one is filled up to COMPACT cells.
    """
    filled = Styled(value.text.ljust(width), value.role, short=value.short.ljust(COMPACT) if value.short else "")
    return Chip((Styled(f"{label} ", "muted", short=f"{short} " if short else ""), filled), priority)


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
_NAME, _SHORT_NAME, _SHORTEST_NAME = 32, 16, 12
"""Cells of the crawl's name at most: where there is room, where there is little, and in a header of one line."""
_SHARE = 5
_REFRESH = 12
_LIMITS = frozenset({Limit.delay, Limit.server, Limit.patience, Limit.slots})
_SHARES = (
    ("ok", (Group.ok, Group.unchanged), "ok", 1),
    ("redirect", (Group.redirect,), "redirect", 12),
    ("client", (Group.client,), "client", 13),
    ("server", (Group.server,), "server", 5),
    ("network", (Group.network,), "network", 6),
)
"""What the shares of a run are called: classes of exit codes, not of HTTP status (a 200 that makes no sense is one of
the server); what they count, their role and how soon they go."""
_SHORT_LABELS = {"redirect": "redir", "network": "net"}
UNREAD = "-"
"""What stands for a number as long as nothing was read: the rows below are empty, too."""
FULL_HZ = 10
"""Refreshes a second while the screen keeps up."""


@dataclass(frozen=True, slots=True)
class HeaderState:
    """Everything the header shows. `engine` says who crawls (`attached`: another process; `broken`: nobody, until
    somebody sees to it); `idle` why nothing moves (empty while something does).

    `worked_ms` is how long the run has been seen to work, which its clock does not go behind: of an engine that was
    killed only the last sign of life is known. `stale_ms` is how old the picture is, 0 while it is fresh; `hz` and
    `read_ms` are the refresh.
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
    hz: int = 10
    read_ms: int = 0
    readonly: bool = False
    frozen: bool = False
    broken: bool = False
    attached: bool = False


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


def header_lines(state: HeaderState, width: int, *, tall: bool) -> list[Line]:
    """The header in `width` cells: two lines if `tall`, else one with what matters most."""
    if tall:
        sides = (_who(state), _pace(state)), (_health(state), _refresh(state, watching=""))
        return [fit_chips(left, right, width) for left, right in sides]
    broken, mark = state.broken, state.engine
    engine = chip(mark.label if broken else mark.glyph, mark.role, 0 if broken else 15)
    return [fit_chips([engine, *_who(state, _SHORTEST_NAME)], [*_pace(state), *_refresh(state)], width)]


def share(totals: TotalsView) -> Mapping[Group, int]:
    """How many attempts of the run ended in each group of exit codes."""
    sums = Counter[Group]()
    for name, number in totals.exit_codes:
        if (code := ExitCode.__members__.get(name)) is not None:
            sums[DISPOSITIONS[code].group] += number
    return sums


def eta_words(eta: Eta | None) -> str:
    """An ETA as a short range: `2h–18h`, `2h+` without an end in sight, `-` when it cannot be told."""
    if eta is None or eta.low_ms is None:
        return "-"
    if eta.limit is Limit.none:
        return "done"
    return span(eta.low_ms, eta.high_ms) if eta.high_ms is not None else f"{span(eta.low_ms, eta.low_ms)}+"


def _who(state: HeaderState, least: int = _SHORT_NAME) -> list[Chip]:
    """What tells this crawl from others, which is the last to go (in at least so many cells), and how many origins
    do what."""
    chips = [chip("tui-crawler", "accent bold", 50)]
    if state.name:
        name = safe(state.name)
        chips.append(Chip((Styled(clip(name, _NAME), "strong bold", short=clip(name, least)),), 1))
    if state.run is not None:
        chips.append(chip(f"run {state.run.run_id}", "muted", 36))
        chips.append(chip(elapsed(max(worked_ms(state.run, state.now), state.worked_ms)), "muted", 35))
    most = sum(state.tally.values())
    digits = COMPACT if most > 999 else len(str(most))
    for word, priority in TALLIES:
        number, mark = state.tally.get(word, 0), state_mark(word)
        role = mark.role if number else "faint"
        told = compact(number) if state.totals is not None or state.tally else UNREAD
        chips.append(chip(f"{mark.glyph} {told}", role, priority, width=2 + digits))
    return chips


def _pace(state: HeaderState) -> list[Chip]:
    totals = state.totals
    todo, pending = (None, None) if totals is None else (totals.todo, totals.pending)
    ended = pending and state.eta is not None and state.eta.limit is Limit.none  # what is left is not of this run
    return [
        Chip((Styled(rate(state.requests_per_s).rjust(5), "strong"), Styled(" url/s", "muted", short="/s")), 4),
        Chip((Styled(size(state.bytes_per_s).rjust(6)), Styled("/s", "muted")), 37),
        pair("failed pages", _failed(state), 30, _COUNT + _SHARE + 3, short="fail"),
        pair("todo", _number(todo), 57, _COUNT),
        pair("pending", _number(pending, "strong"), 6, _COUNT),
        pair("ETA", Styled(eta_words(None if ended else state.eta)), 8, 7),
    ]


def _health(state: HeaderState) -> list[Chip]:
    """How attempts of the run ended: shares of its turns that made a request, which those of blocked pages did not."""
    if state.idle:
        droppable = 0 if state.broken else 10
        return [*_engine(state, droppable), chip(state.idle, "warning")]
    line = Styled(sparkline(state.line, _LINE), "active", short=sparkline(state.line, _SHORT_LINE))
    chips = [*_engine(state, 10), Chip((line,), 20)]
    sums = {} if state.totals is None else share(state.totals)
    numbers = [sum(sums.get(group, 0) for group in groups) for _, groups, _, _ in _SHARES]
    asked = max(state.run.requests if state.run is not None else 0, sum(numbers))
    for (label, _, role, priority), number in zip(_SHARES, numbers, strict=True):
        shown = Styled(_share(number, asked), role if number else "faint")
        chips.append(pair(label, shown, priority, _SHARE, short=_SHORT_LABELS.get(label, "")))
    chips.append(chip(f"of {plural(asked, 'turn')} with a request", "faint", 54, width=24 + _COUNT))
    pages = None if state.totals is None else state.totals.blocked
    blocked = _number(pages, "blocked" if pages else "faint")
    return [*chips, pair("blocked pages", blocked, 14, _COUNT, short="blocked")]


def _engine(state: HeaderState, priority: int) -> list[Chip]:
    """Who crawls; and right beside it, if there is room, to which process this console is attached."""
    chips = [chip(state.engine.label, state.engine.role, priority)]
    if state.run is not None and state.run.owner and state.attached:
        chips.append(chip(f"to {state.run.owner}", "muted", 25))
    return chips


def _number(number: int | None, role: str = "") -> Styled:
    """A number of the totals; None, before they are read: nothing is said to be zero."""
    return Styled(UNREAD, role) if number is None else Styled(count(number), role, short=compact(number))


def _failed(state: HeaderState) -> Styled:
    """The failed pages, the sum of the column FAIL; their share of all pages only where it is called that of pages:
    beside it shares are those of turns."""
    if (totals := state.totals) is None:
        return _number(None)
    number = _number(totals.failed, "warning" if totals.failed else "")
    share = _share(totals.failed, totals.done + totals.failed)
    return Styled(f"{number.text} ({share})" if share != ABSENT else number.text, number.role, short=number.short)


def _share(part: int, whole: int) -> str:
    return "100%" if part == whole > 0 else percent(part, whole)


def _refresh(state: HeaderState, watching: str = "watching") -> list[Chip]:
    """How fresh the picture is, and whether this console only watches: `watching` where there is little room."""
    chips: list[Chip] = []
    if state.readonly:
        chips.append(Chip((Styled("read-only", "paused", short=watching),), 3))
    if state.run is not None and state.run.warnings:
        chips.append(Chip((Styled(f"⚠ {UNVERIFIED}", "warning bold", short="⚠ unverified"),), 2))
    if state.frozen:
        chips.append(chip("frozen", "paused bold"))
    if state.stale_ms:
        chips.append(chip(f"⚠ stale {state.stale_ms // 1000} s", "warning bold", width=_REFRESH))
    elif state.hz < FULL_HZ:
        chips.append(chip(f"↻ {state.hz}/s slowed", "warning", 5, width=_REFRESH))
    else:
        took = seconds(state.read_ms) if state.read_ms > 999 else f"{state.read_ms} ms"
        short = f"{state.hz}/s".ljust(COMPACT)
        chips.append(Chip((Styled(f"{short} {took:>7}", "faint", short=short),), 55))
    if state.idle:
        return chips
    eta = state.eta if state.eta is not None and state.eta.limit in _LIMITS else None
    where = host_of(eta.origin) if eta is not None and eta.origin else ""
    limit = f"by {eta.limit.value}" if eta is not None else ""
    return [*chips, chip(fit(safe(where), _LINE, "right"), "faint", 56), chip(limit.rjust(11), "muted", 21)]
