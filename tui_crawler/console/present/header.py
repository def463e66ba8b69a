"""The two lines at the top of every screen: what runs, how fast, how well, and why nothing moves. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_crawler.console.format import compact, count, elapsed, percent, plural, rate, seconds, size, span
from tui_crawler.console.glyphs import Mark, state_mark
from tui_crawler.console.present.chips import Chip, chip, fit_chips, pair
from tui_crawler.console.present.line import Line, Split
from tui_crawler.console.present.standing import TALLIES
from tui_crawler.console.present.urls import host_of
from tui_crawler.console.sparkline import sparkline
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.eta import Eta, Limit
from tui_crawler.domain.exit_code import DISPOSITIONS, ExitCode, Group
from tui_crawler.domain.idle_reason import end_of_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui_crawler.domain.view import RunView, TotalsView

_LINE = 24
FULL_HZ = 10
"""Refreshes a second while the screen keeps up."""


@dataclass(frozen=True, slots=True)
class HeaderState:
    """Everything the header shows. `engine` says who crawls; `idle` why nothing moves (empty while something does).

    `stale_ms` is how old the picture is, 0 while it is fresh; `hz` and `read_ms` are the refresh.
    """

    name: str
    engine: Mark
    run: RunView | None = None
    now: int = 0
    tally: Mapping[str, int] = field(default_factory=dict)
    totals: TotalsView | None = None
    requests_per_s: float | None = None
    bytes_per_s: float | None = None
    line: tuple[float | None, ...] = ()
    eta: Eta | None = None
    idle: str = ""
    stale_ms: int = 0
    hz: int = 10
    read_ms: int = 0
    readonly: bool = False
    frozen: bool = False


def header_lines(state: HeaderState, width: int, *, tall: bool) -> list[Line]:
    """The header in `width` cells: two lines if `tall`, else one with what matters most."""
    if tall:
        return [
            Split(*fit_chips(_who(state), _pace(state), width)),
            Split(*fit_chips(_health(state), _refresh(state), width)),
        ]
    engine = [chip(state.engine.glyph, state.engine.role, 15)]
    if state.engine.role == "error":
        engine = [chip(state.engine.label, state.engine.role)]
    return [Split(*fit_chips([*engine, *_who(state)], [*_pace(state), *_refresh(state)], width))]


def share(totals: TotalsView) -> Mapping[Group, int]:
    """How many attempts of the run ended in each group of exit codes."""
    sums: dict[Group, int] = {}
    for name, number in totals.exit_codes:
        code = ExitCode.__members__.get(name)
        if code is not None:
            group = DISPOSITIONS[code].group
            sums[group] = sums.get(group, 0) + number
    return sums


def eta_words(eta: Eta | None) -> str:
    """An ETA as a short range: `2h–18h`, `2h+` without an end in sight, `-` when it cannot be told."""
    if eta is None or eta.low_ms is None:
        return "-"
    if eta.limit is Limit.none:
        return "done"
    return span(eta.low_ms, eta.high_ms) if eta.high_ms is not None else f"{span(eta.low_ms, eta.low_ms)}+"


def _who(state: HeaderState) -> list[Chip]:
    chips = [chip("tui-crawler", "accent bold", 50)]
    if state.name:
        chips.append(chip(state.name, "strong", 40))
    if state.run is not None:
        chips.append(chip(f"run {state.run.run_id}", "muted", 45))
        spent = end_of_run(state.run, state.now) - state.run.started_at
        chips.append(chip(elapsed(spent), "muted", 35))
    for word, _ in TALLIES:
        number = state.tally.get(word, 0)
        if word == "resting" and not number:
            continue
        mark = state_mark(word)
        role = mark.role if number else "faint"
        urgent = word in {"impatient", "gave up"}
        chips.append(chip(f"{mark.glyph} {compact(number)}", role, (2 if urgent else 20) if number else 60))
    return chips


def _pace(state: HeaderState) -> list[Chip]:
    totals = state.totals
    chips = [
        Chip((Styled(rate(state.requests_per_s), "strong"), Styled(" url/s", "muted")), 4),
        Chip((Styled(size(state.bytes_per_s)), Styled("/s", "muted")), 30),
    ]
    if totals is not None:
        tried = totals.done + totals.failed
        failed = "warning" if totals.failed else ""
        chips.append(pair("failed pages", percent(totals.failed, tried), failed, 32, short="fail"))
        chips.append(pair("todo", count(totals.todo), "", 57))
        chips.append(pair("pending", count(totals.pending), "strong", 6))
    chips.append(pair("ETA", eta_words(state.eta), "", 8))
    return chips


def _health(state: HeaderState) -> list[Chip]:
    """How attempts of the run ended: shares of its turns that made a request, which those of blocked pages did not."""
    if state.idle:
        droppable = 0 if state.engine.role == "error" else 10
        return [chip(state.engine.label, state.engine.role, droppable), chip(state.idle, "warning")]
    chips = [chip(state.engine.label, state.engine.role, 10)]
    if any(value is not None for value in state.line):
        chips.append(chip(sparkline(state.line, _LINE), "active", 20))
    if state.totals is not None:
        sums = share(state.totals)
        groups = (
            ("ok", (Group.ok, Group.unchanged), "ok", 1),
            ("3xx", (Group.redirect,), "redirect", 12),
            ("4xx", (Group.client,), "client", 13),
            ("5xx", (Group.server,), "server", 5),
            ("network", (Group.network,), "network", 6),
        )
        numbers = [sum(sums.get(group, 0) for group in members) for _, members, _, _ in groups]
        asked = max(state.run.requests if state.run is not None else 0, sum(numbers))
        for (label, _, role, priority), number in zip(groups, numbers, strict=True):
            chips.append(pair(label, percent(number, asked), role if number else "faint", priority))
        chips.append(chip(f"of {plural(asked, 'turn')} with a request", "faint", 54))
        blocked = state.totals.blocked
        chips.append(pair("blocked pages", count(blocked), "blocked" if blocked else "faint", 14, short="blocked"))
    return chips


def _refresh(state: HeaderState) -> list[Chip]:
    chips = []
    if state.run is not None and state.run.owner and state.engine.word == "attached":
        chips.append(chip(f"to {state.run.owner}", "muted", 25))
    if state.readonly:
        chips.append(chip("watching only", "paused", 3))
    if state.frozen:
        chips.append(chip("frozen", "paused bold"))
    if state.stale_ms:
        chips.append(chip(f"⚠ stale {state.stale_ms // 1000} s", "warning bold"))
    elif state.hz < FULL_HZ:
        chips.append(chip(f"↻ {state.hz}/s slowed", "warning", 9))
    else:
        chips.append(
            chip(
                f"{state.hz}/s  {seconds(state.read_ms) if state.read_ms > 999 else f'{state.read_ms} ms'}", "faint", 55
            )
        )
    return chips + _eta_limit(state.eta)


def _eta_limit(eta: Eta | None) -> list[Chip]:
    """What the ETA above it is decided by, and at which origin."""
    if eta is None or eta.limit in {Limit.none, Limit.resting}:
        return []
    where = [chip(host_of(eta.origin), "faint", 56)] if eta.origin else []
    return [*where, chip(f"by {eta.limit.value}", "muted", 21)]
