"""One origin, whole: its state with the history behind it, its todo list, and how its attempts ended. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from tui_crawler.console.format import clock, compact, count, seconds, size
from tui_crawler.console.present.contract_card import contract_lines
from tui_crawler.console.present.exits import exit_cell, mark_of
from tui_crawler.console.present.line import LABEL, Line, Prose, fact, heading
from tui_crawler.console.present.origin_now import clock_line
from tui_crawler.console.present.origin_row import patience_parts
from tui_crawler.console.present.summary import eta_line, rate_line, robots_line
from tui_crawler.console.present.trap_lines import trap_lines
from tui_crawler.console.present.url_rows import due_cell
from tui_crawler.console.present.urls import path_of
from tui_crawler.console.sparkline import bar
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.domain.contract import least_delay
from tui_crawler.domain.idle_reason import delay_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.origin_parts import TopUp
    from tui_crawler.console.uptake import Outlook
    from tui_crawler.domain.contract import Contract
    from tui_crawler.domain.page_view import ExitCountView, OriginHistory, RefusedView, TodoView
    from tui_crawler.domain.trap import TrapSuspicion
    from tui_crawler.domain.view import AttemptView, OriginView, RunView


_EVENTS_SHOWN = 5
_DELAYS_SHOWN = 7


@dataclass(frozen=True, slots=True)
class _Change:
    """Patience that went or came at a moment."""

    at: int
    before: int
    after: int
    cause: Styled


def patience_past(lost: Sequence[AttemptView], given: Sequence[TopUp], run: RunView | None, zone: tzinfo) -> list[Line]:
    """What patience went through in the newest run: each change, the newest first."""
    since = run.started_at if run is not None else 0
    changes = [
        _Change(one.ended_at, one.patience_before, one.patience_after, exit_cell(one.exit_code, glyph=False))
        for one in lost
        if run is None or one.run_id == run.run_id
    ]
    changes += [
        _Change(one.at, one.before, one.after, Styled(f"topped up by {one.who}", "accent"))
        for one in given
        if one.at >= since
    ]
    changes.sort(key=lambda change: change.at)
    lines: list[Line] = [
        fact("", Styled(f"{clock(one.at, zone)} {one.before}→{one.after} ", "muted"), one.cause)
        for one in reversed(changes[-_EVENTS_SHOWN:])
    ]
    if len(changes) > _EVENTS_SHOWN:
        lines.append(fact("", Styled(f"and {len(changes) - _EVENTS_SHOWN} before", "faint")))
    return lines


def delay_source(view: OriginView) -> str:
    """What decided the present delay, in words; empty before the first request."""
    match view.delay_reason:
        case "" | "none":
            return ""
        case "default":
            return "configured"
        case "floor":
            return "floor"
        case "response_time":
            return "adaptive: slow answers"
        case other:
            return delay_words(other)


def delay_past(view: OriginView, delays: Sequence[AttemptView], run: RunView | None) -> list[Line]:
    """How the delay went from one to the next in the newest run, oldest first, with what decided it; at the end what
    the operator has made of it since the last request. Nothing where it was the present one all the time."""
    own = [one for one in delays if run is None or one.run_id == run.run_id][:_DELAYS_SHOWN][::-1]
    steps, values = [], [seconds(view.delay_ms)]
    for reason, group in groupby(own, key=lambda one: one.delay_reason):
        of_reason = [value for value, _ in groupby(seconds(one.delay_ms_after) for one in group)]
        values += of_reason
        steps.append(f"{' → '.join(of_reason)} ({delay_words(reason) or 'configured'})")
    if len(set(values)) == 1:
        return []
    if view.delay_ms and seconds(view.delay_ms) != values[-1]:
        steps.append(f"{seconds(view.delay_ms)} ({delay_words(view.delay_reason) or 'configured'})")
    return [Prose(" " * LABEL + " → ".join(steps), "muted", LABEL, 3)]


TODO_COLUMNS: tuple[Column, ...] = (
    Column("number", "#", 3, 2, "right"),
    Column("url", "URL", None, 0, min_width=18, kind="place"),
    Column("depth", "DEPTH", 5, 3, "right"),
    Column("nice", "NICE", 4, 8, "right"),
    Column("due", "DUE", 8, 4, "right"),
    Column("from", "FROM", 20, 1, min_width=12, kind="place"),
    Column("title", "TITLE", None, 7, min_width=20),
)
EXIT_COLUMNS: tuple[Column, ...] = (
    Column("exit", "EXIT", 15, 0, min_width=14, kind="word"),
    Column("run", "RUN", 7, 0, "right", min_width=4),
    Column("recent", "5 MIN", 5, 0, "right"),
    Column("bar", "", None, 2, min_width=8, kind="name"),
)
_REFUSED_SHOWN = 8
_TRAP_HINT = "{rule.from_selection} on one of these URLs drafts a rule that skips them; nothing is refused by itself"


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of an origin beside its row: its history, who topped its patience up, and what it may rely on."""

    history: OriginHistory
    given: tuple[TopUp, ...] = ()
    run: RunView | None = None
    contract: Contract | None = None
    suspicion: TrapSuspicion | None = None


def state_lines(
    view: OriginView, past: Past, now: int, zone: tzinfo, line: Sequence[float | None], keys: KeyNames
) -> list[Line]:
    """The state of an origin at `now` (epoch ms), newest changes first; `line` is its recent rate."""
    history = past.history
    lines: list[Line] = [
        fact("patience", *patience_parts(view)),
        *patience_past(history.patience, past.given, past.run, zone),
        fact("delay", seconds(view.delay_ms), Styled(f" {delay_source(view)}", "muted"), *_own_delay(view)),
        *delay_past(view, history.delays, past.run),
        fact("", Styled(f"{_floor_words(view, past.contract)}politeness {view.politeness}", "muted")),
        *([] if view.in_flight_url else [clock_line(view, now, past.contract)]),
        robots_line(view, now),
        rate_line(line),
        eta_line(view, now),
        *([Prose(view.warning, "warning", most=4)] if view.warning else []),
        *trap_lines(past.suspicion, hint=keys.said(_TRAP_HINT)),
        "",
        fact("todo", count(view.todo)),
        fact("pending", count(view.pending)),
        fact("done", count(view.done), Styled(f"  {size(view.bytes)}  +{count(view.discovered)} found", "muted")),
        fact("failed", Styled(count(view.failed), "error" if view.failed else "faint")),
        fact("blocked", Styled(count(view.blocked), "blocked" if view.blocked else "faint")),
        fact("requests", count(view.requests), Styled(" in all runs", "muted")),
    ]
    if view.worker:
        lines.append(fact("worker", view.worker))
    if history.refused:
        lines += ["", heading("Links refused"), *map(_refused_line, history.refused[:_REFUSED_SHOWN])]
    if past.contract is not None:
        lines += ["", *contract_lines(past.contract, view, now, zone, keys)]
    return lines


def _own_delay(view: OriginView) -> tuple[Styled, ...]:
    """The operator's own minimum, where another one decides."""
    if not view.operator_delay_ms or view.delay_reason == "operator":
        return ()
    return (Styled(f"  yours {seconds(view.operator_delay_ms)}", "accent"),)


def _floor_words(view: OriginView, contract: Contract | None) -> str:
    """What the delay never falls below, once the configuration was read."""
    return "" if contract is None else f"floor {seconds(least_delay(contract, view).ms)}  "


def unknown_lines(origin: str) -> list[Line]:
    """What stands there when there is no such origin."""
    return [Prose(f"{origin} is not an origin of this crawl.", "muted")]


def _refused_line(refused: RefusedView) -> Line:
    reason = refused.reason.replace("_", " ")
    number = Styled(count(refused.count).rjust(LABEL - 2) + "  ")
    return (number, Styled(reason), Styled(f"  {refused.sample_url}", "faint"))


def todo_row(number: int, item: TodoView, origin: str, now: int, outlook: Outlook) -> Row:
    """A page of the todo list as a row at `now` (epoch ms); its key is the URL."""
    if item.attempts:
        source = Styled(f"↻ try {item.attempts + 1}", "warning")
    elif item.seed:
        source = Styled("◆ seed", "accent")
    else:
        source = Styled(path_of(item.found_on, origin) if item.found_on else "link", "muted")
    return Row(
        item.url,
        (
            Styled(str(number), "faint"),
            path_of(item.url, origin),
            str(item.depth),
            Styled(str(item.nice), "" if item.nice else "faint"),
            due_cell(outlook, item.not_before - now),
            source,
            Styled(item.title, "muted"),
        ),
    )


def exit_row(item: ExitCountView, most: int) -> Row:
    """An exit code with how often it came, beside the most frequent one; its key is the name."""
    role = mark_of(item.exit_code).role
    return Row(
        item.exit_code,
        (
            exit_cell(item.exit_code),
            Styled(count(item.run), "", short=compact(item.run)),
            Styled(count(item.recent), "" if item.recent else "faint"),
            Styled(bar(item.run / most if most else 0, 12), role, short=bar(item.run / most if most else 0, 6)),
        ),
    )
