"""The selected origin in a few lines, beside the overview's table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui_crawler.console.logs.attempts import exit_cell, exit_code_of, status_cell
from tui_crawler.console.overview.rows import patience_words
from tui_crawler.console.panes.header import eta_words
from tui_crawler.console.panes.line import LABEL, HangingText, Line, Paragraph, as_door, fact
from tui_crawler.console.urls.cells import path_of
from tui_crawler.domain.history.eta import Limit, estimate
from tui_crawler.domain.history.idle_reason import delay_why
from tui_crawler.domain.records.exit_code import FAILURES
from tui_crawler.domain.records.status import RobotsStatus
from tui_crawler.text.cells import Cell, Styled
from tui_crawler.text.format import ago, count, due, plural, seconds, size
from tui_crawler.text.glyphs import StateGlyph
from tui_crawler.text.sparkline import sparkline
from tui_crawler.text.standing import standing

if TYPE_CHECKING:
    from tui_crawler.console.keys import KeyNames
    from tui_crawler.console.overview.queries import OriginSummary
    from tui_crawler.console.overview.rows import OriginLine
    from tui_crawler.domain.history.trap import TrapSuspicion
    from tui_crawler.domain.records.view import OriginView
    from tui_crawler.text.cells import Present

TRAP = "⚠ trap suspected"
_RATE = 18
_EXITS = 6


def why_line(line: OriginLine, at: Present) -> Cell:
    """What an origin does, or why it does nothing, in one line."""
    mark, idle = standing(line.view), line.idle(at)
    return (Styled(mark.label, mark.role), Styled("  "), Styled(idle or line.requesting, "" if idle else "active"))


def summary_lines(line: OriginLine, at: Present, suspicion: TrapSuspicion | None = None) -> list[Line]:
    """The selected origin, with why it is suspected as a trap."""
    view, now = line.view, at.now
    mark, why, idle = standing(view), delay_why(view), line.idle(at)
    lines: list[Line] = [
        Styled(mark.label, f"{mark.role} bold"),
        Paragraph(idle or line.requesting, "" if idle else "active", most=3),
        *trap_lines(suspicion),
        *([Paragraph(view.warning, "warning", most=4)] if view.warning else []),
        "",
        fact("patience", patience_words(view)),
        fact("delay", seconds(view.delay_ms), Styled(f" {why}" if why else "", "muted")),
        robots_line(view, now),
        rate_line(line.rate),
        eta_line(view, now),
        "",
        *count_lines(view),
    ]
    if view.last_exit_code:
        took = Styled(f"{ago(now - view.last_attempt_at)}, took {seconds(view.last_response_ms)}", "muted")
        lines += [
            "",
            exit_cell(view.last_exit_code),
            Paragraph(path_of(view.last_url, view.origin), most=2),
            took if view.last_http_status is None else (status_cell(view.last_http_status), Styled("  "), took),
        ]
    return lines


def count_lines(view: OriginView, more: str = "") -> list[Line]:
    """Return the counts of an origin; each count opens its pages. `more` follows the number of pages done."""
    lines = {
        "todo": fact("todo", count(view.todo)),
        "pending": fact("pending", count(view.pending)),
        "done": fact("done", count(view.done), Styled(f"  {size(view.bytes)}{more}", "muted")),
        "fail": fact("failed", Styled(count(view.failed), "error" if view.failed else "faint")),
        "blocked": fact("blocked", Styled(count(view.blocked), "blocked" if view.blocked else "faint")),
    }
    counts = [as_door(line, column) for column, line in lines.items()]
    return [*counts, fact("requests", count(view.requests), Styled(" in all runs", "muted"))]


def next_lines(view: OriginView, next_url: str) -> list[Line]:
    """The page that comes next at the selected origin (empty: none is on the todo list)."""
    if not next_url or view.ended:
        return []
    return ["", HangingText(Styled("next".ljust(LABEL), "muted"), LABEL, path_of(next_url, view.origin), most=2)]


def card_lines(card: OriginSummary) -> list[Line]:
    """How the attempts of the selected origin ended in the newest run, worst first."""
    worst = sorted(card.exits, key=lambda one: (exit_code_of(one.exit_code) not in FAILURES, -one.run))
    ends = [(exit_cell(one.exit_code), Styled(f" ×{count(one.run)}", "muted")) for one in worst if one.run]
    return ["", Styled("attempts in this run", "muted"), *ends[:_EXITS]] if ends else []


def rate_line(line: Sequence[float | None]) -> Cell:
    """Requests in the last fixed buckets of time, oldest first."""
    known = any(value is not None for value in line)
    return fact("rate", Styled(sparkline(line, _RATE), "active") if known else Styled("-", "faint"))


def robots_mark(view: OriginView) -> StateGlyph:
    """Return what is known of robots.txt in a few words."""
    status = view.robots_http_status
    match view.robots_status:
        case RobotsStatus.parsed:
            return StateGlyph("✓", "read", "ok")
        case RobotsStatus.unavailable if status is None:
            return StateGlyph("⚠", "no response", "warning")
        case RobotsStatus.unavailable:
            return StateGlyph("○", f"none, all allowed ({status})", "muted")
        case RobotsStatus.unreachable:
            return StateGlyph("⚠", "unreachable" if status is None else f"unreachable ({status})", "warning")
        case _:
            return StateGlyph("○", "not fetched yet", "muted")


def robots_line(view: OriginView, now: int) -> Cell:
    """What is known of robots.txt, and how long it holds."""
    mark, left, until = robots_mark(view), view.robots_expires_at - now, ""
    if view.robots_status != RobotsStatus.none and (left > 0 or not view.ended):
        until = f", {due(left).lstrip('+')} left" if left > 0 else ", due again"
    return fact("robots", Styled(mark.label, mark.role), Styled(until, "muted"))


def eta_line(view: OriginView, now: int) -> Cell:
    """When it will be done, and what limits it."""
    eta = estimate(view, now)
    limit = "" if eta.limit is Limit.none else f" {eta.limit.value}"
    return fact("ETA", eta_words(eta), Styled(limit, "muted"))


def no_origin_lines(was_read: bool, known: int, narrowed: bool, keys: KeyNames) -> list[Line]:
    """What is shown while nothing is selected. Where no filter leaves origins out, their rows are about to come."""
    if not was_read or (known and not narrowed):
        return []
    nothing = f"No origins yet. Press {keys('origin.add')} to add seeds."
    return [Paragraph(f"{plural(known, 'origin')} known, none matches." if known else nothing, "muted")]


def trap_lines(suspicion: TrapSuspicion | None, *, hint: str = "") -> list[Line]:
    """The word, what speaks for it, and what can be done (`hint`); nothing without a suspicion."""
    if suspicion is None:
        return []
    evidence = (Paragraph(words, "warning", most=3) for words in suspicion.evidence)
    sample = [Styled(suspicion.sample_url, "faint")] if suspicion.sample_url else []
    return ["", Styled(TRAP, "warning bold"), *evidence, *sample, *([Paragraph(hint, "muted", most=2)] if hint else [])]
