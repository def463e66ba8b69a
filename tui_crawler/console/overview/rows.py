"""The overview's table: its columns, and an origin as one row. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log1p
from typing import TYPE_CHECKING

from tui_crawler.console.logs.attempts import exit_cell
from tui_crawler.console.table.cells import Cell, Row, Styled, clip_host
from tui_crawler.console.urls.cells import bare_host, host_of, path_of
from tui_crawler.domain.idle_reason import idle_reason
from tui_crawler.domain.moment import HELD
from tui_crawler.domain.record import replace
from tui_crawler.domain.status import DelayReason, OriginPhase
from tui_crawler.text.charts import heat
from tui_crawler.text.columns import AnyColumn, Column, plain
from tui_crawler.text.format import compact, count, due, seconds, size
from tui_crawler.text.safe_text import safe
from tui_crawler.text.sparkline import patience_dots, sparkline
from tui_crawler.text.standing import standing

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.view import OriginView, RunView

CLOCK_MS = 10_000
"""Below this a wait is shown in tenths of a second and counts down."""

RATE_CELLS, _FEW_CELLS = 20, 7
"""Cells of the small graphs in a row, five seconds each: they stand where no other column wants the room; where they
are chosen, the few will do."""
_LEAST_ORIGIN = 16
COLUMNS: tuple[AnyColumn, ...] = (
    Column("state", "STATE", plain(), 14, 0, min_width=11),
    Column("origin", "ORIGIN", plain(), None, 0, min_width=_LEAST_ORIGIN, kind="place"),
    Column("todo", "TODO", plain(), 7, 4, "right", min_width=5),
    Column("done", "DONE", plain(), 8, 3, "right", min_width=6),
    Column("fail", "FAIL", plain(), 5, 1, "right"),
    Column("patience", "PAT", plain(), 5, 2),
    Column("delay", "DELAY", plain(), 7, 6, "right", min_width=6),
    Column("next", "NEXT", plain(), 6, 5, "right"),
    Column("exit", "LAST EXIT", plain(), 15, 7, min_width=14, kind="word"),
    Column("rate", "RATE", plain(), RATE_CELLS, 14),
    Column("latency", "LATENCY", plain(), RATE_CELLS, 15),
    Column("took", "TOOK", plain(), 6, 9, "right"),
    Column("blocked", "BLOCKED", plain(), 7, 10, "right"),
    Column("pending", "PENDING", plain(), 9, 11, "right", min_width=7),
    Column("bytes", "BYTES", plain(), 7, 12, "right"),
    Column("why", "WHY", plain(), None, 13, min_width=36),
)
UNORDERED = {"rate": "requests, last 100 s", "latency": "slowest answers, last 100 s", "why": "why nothing moves"}
"""What columns show by which nothing is ordered."""
NARROW_COLUMNS: tuple[AnyColumn, ...] = (
    Column("state", "", plain(), 2, 0),
    Column("origin", "ORIGIN", plain(), None, 0, min_width=20, kind="place"),
    Column("todo", "TODO", plain(), 6, 3, "right", min_width=4),
    Column("fail", "FAIL", plain(), 5, 1, "right"),
    Column("patience", "PAT", plain(), 5, 2, min_width=3),
    Column("next", "NEXT", plain(), 6, 4, "right"),
    Column("exit", "LAST EXIT", plain(), 14, 5, kind="word"),
)
"""The columns below 81 cells; the state is its glyph alone, the word stands under the table."""

SUSPECTED = "⚠"
"""Stands after the state of an origin that looks like a trap; WHY and the pane beside the table tell the reason."""
_ROOM_BESIDE = 8
"""Letters of a state that fit beside that sign, its own glyph and a space where the column is narrow."""

_SHORT_STATES: Mapping[str, str] = {"rate limited": "limited", "database error": "db error", "limit reached": "limit"}


def origin_row(
    view: OriginView,
    now: int,
    run: RunView | None,
    zone: tzinfo,
    *,
    narrow: bool,
    you: str = "",
    suspected: bool = False,
    in_flight: int | None = None,
    twin: bool = False,
    rate: Sequence[float | None] = (),
    latency: Sequence[float | None] = (),
) -> Row:
    """An origin as a row of the overview at `now` (epoch ms), perhaps `suspected` as a trap; its key is the origin.

    `in_flight` as `idle_reason` has it. A `twin` differs from another origin by its scheme alone, which is shown then.
    `rate` is what it was asked in each of the last spans of time, `latency` how long it took at most (ms).
    """
    mark = standing(view)
    done = view.ended
    name = Styled(host_of(view.origin), "muted" if done else "strong", short=bare_host(view.origin))
    if twin:
        scheme = view.origin.partition("://")[0]
        host = clip_host(safe(bare_host(view.origin)), _LEAST_ORIGIN - len(scheme) - 1)
        name = Styled(view.origin, name.role, short=f"{scheme} {host}")
    short = _SHORT_STATES.get(mark.word, mark.word)
    gap = "" if suspected and len(short) > _ROOM_BESIDE else " "
    state = Styled(mark.label, mark.role, short=f"{mark.glyph}{gap}{short}")
    sign = (Styled(f" {SUSPECTED}", "warning", short=SUSPECTED),) if suspected else ()
    fail = Styled(count(view.failed), "error" if view.failed else "faint", short=compact(view.failed))
    todo = Styled(count(view.todo), "" if view.todo else "faint", short=compact(view.todo))
    last: Cell = exit_cell(view.last_exit_code)
    if narrow:
        cells: tuple[Cell, ...] = (
            (Styled(mark.glyph, mark.role), *(Styled(one.short, one.role) for one in sign)),
            name,
            todo,
            fail,
            patience_cell(view),
            next_cell(view, now),
            last,
        )
        return Row(view.origin, cells)
    idle = idle_reason(view, now, run, zone=zone, you=you, in_flight=in_flight, brief=True)
    cells = (
        (state, *sign),
        name,
        todo,
        Styled(count(view.done), "", short=compact(view.done)),
        fail,
        patience_cell(view),
        delay_cell(view),
        next_cell(view, now),
        last,
        Styled(sparkline(rate, RATE_CELLS), "active", short=sparkline(rate, _FEW_CELLS)),
        latency_cell(latency),
        Styled(seconds(view.last_response_ms) if view.requests else "-", "" if view.requests else "faint"),
        Styled(count(view.blocked), "blocked" if view.blocked else "faint", short=compact(view.blocked)),
        Styled(count(view.pending), "" if view.pending else "faint", short=compact(view.pending)),
        size(view.bytes),
        (
            *((Styled(f"{SUSPECTED} trap suspected  ", "warning"),) if suspected else ()),
            Styled(idle or requesting(view), "muted"),
        ),
    )
    return Row(view.origin, cells)


def latency_cell(latency: Sequence[float | None]) -> Styled:
    """How long the worst answers took, darker for longer, alike for all origins: from 50 ms to 5 s by ratio."""
    shares = [None if ms is None else log1p(ms / _SOON_MS) / log1p(_LATE_MS / _SOON_MS) for ms in latency]
    whole, short = (heat(shares[-cells:], cells, top=1.0) if shares else "" for cells in (RATE_CELLS, _FEW_CELLS))
    return Styled(whole, "client", short=short)


_SOON_MS, _LATE_MS = 50, 5_000


def chosen_columns(ids: Sequence[str]) -> tuple[tuple[AnyColumn, ...], tuple[int, ...]]:
    """The columns of these ids in their order, and which cells of a row are theirs; all where none is named. Where
    there is too little room those chosen last drop out first; the origin always stays."""
    places = {column.id: at for at, column in enumerate(COLUMNS)}
    picked = tuple(places[one] for one in dict.fromkeys(ids) if one in places)
    if not picked:
        return COLUMNS, tuple(range(len(COLUMNS)))
    if places["origin"] not in picked:
        picked = (places["origin"], *picked)
    ranked = [(COLUMNS[at], place if at != places["origin"] else 0) for place, at in enumerate(picked)]
    least = {"rate": _FEW_CELLS, "latency": _FEW_CELLS}
    columns = (replace(one, priority=rank, min_width=least.get(one.id, one.min_width)) for one, rank in ranked)
    return tuple(columns), picked


def requesting(view: OriginView) -> str:
    """What an origin does when nothing holds it up; raw text."""
    return f"requesting {path_of(view.in_flight_url, view.origin)}"


def patience_cell(view: OriginView) -> Styled:
    """Patience as dots: filled for what is left."""
    numbers = f"{view.patience}/{view.patience_max}"
    role = "warning" if view.patience else "error"
    if view.patience >= view.patience_max:
        role = "faint" if view.ended else "muted"
    return Styled(patience_dots(view.patience, view.patience_max), role, short=numbers)


def patience_parts(view: OriginView) -> tuple[Styled, ...]:
    """Patience as dots with the number beside; the number alone where there are too many for dots."""
    dots, number = patience_cell(view), f"{view.patience} of {view.patience_max}"
    return (Styled(number, dots.role),) if dots.text == dots.short else (dots, Styled(f" {number}", "muted"))


def delay_cell(view: OriginView) -> Styled:
    """The delay, with `R` when robots.txt sets it, `▲` when it was raised, `✎` when the operator did; `▼`: lowered
    by the operator, while a longer wait is still under way."""
    if not view.delay_ms:
        return Styled("-", "faint")
    letters: dict[str, tuple[str, str]] = {
        DelayReason.crawl_delay: ("R", ""),
        DelayReason.rate_limit: ("▲", "warning"),
        DelayReason.retry_after: ("▲", "warning"),
        DelayReason.robots_unreachable: ("▲", "warning"),
        DelayReason.operator: ("✎", "accent"),
        DelayReason.lowered: ("▼", "accent"),
    }
    letter, role = letters.get(view.delay_reason, (" ", ""))
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
