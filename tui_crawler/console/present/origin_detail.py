"""One origin, whole: its state with the history behind it, its todo list, and how its attempts ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from tui_crawler.console.format import clock, compact, count, due, seconds, size
from tui_crawler.console.present.exits import exit_cell, mark_of
from tui_crawler.console.present.line import LABEL, Line, Prose, fact, heading
from tui_crawler.console.present.origin_row import patience_cell
from tui_crawler.console.present.summary import delay_line, eta_line, rate_line, robots_line
from tui_crawler.console.present.urls import path_of
from tui_crawler.console.sparkline import bar
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.domain.idle_reason import delay_words
from tui_crawler.domain.view import AttemptView, ExitCountView, OriginHistory, OriginView, RefusedView, TodoView

TODO_COLUMNS: tuple[Column, ...] = (
    Column("number", "#", 3, 2, "right"),
    Column("url", "URL", None, 0, min_width=18),
    Column("depth", "DEPTH", 5, 3, "right"),
    Column("nice", "NICE", 4, 8, "right"),
    Column("due", "DUE", 5, 4, "right"),
    Column("from", "FROM", 20, 1, min_width=12),
    Column("title", "TITLE", None, 7, min_width=20),
)
EXIT_COLUMNS: tuple[Column, ...] = (
    Column("exit", "EXIT", 29, 0),
    Column("run", "RUN", 7, 0, "right", min_width=4),
    Column("recent", "5 MIN", 5, 0, "right"),
    Column("bar", "", None, 2, min_width=8),
)
NARROW_EXIT_COLUMNS: tuple[Column, ...] = (replace(EXIT_COLUMNS[0], min_width=14), *EXIT_COLUMNS[1:])
"""The same where there is no room for whole names."""
_PATIENCE_SHOWN = 6
_DELAYS_SHOWN = 6
_REFUSED_SHOWN = 8


def state_lines(
    view: OriginView, history: OriginHistory, now: int, zone: tzinfo, line: Sequence[float | None]
) -> list[Line]:
    """The state of an origin at `now` (epoch ms), newest changes first; `line` is its recent rate."""
    lines: list[Line] = [
        fact("patience", patience_cell(view), Styled(f" {view.patience} of {view.patience_max}", "muted")),
        *_patience_history(history.patience, zone),
        delay_line(view),
        fact("", Styled(f"politeness {view.politeness}", "muted")),
        *_delay_history(history.delays, zone),
        robots_line(view, now),
    ]
    if view.crawl_delay_ms is not None:
        lines.append(fact("", Styled(f"Crawl-delay {seconds(view.crawl_delay_ms)}", "muted")))
    if view.operator_delay_ms:
        lines.append(fact("", Styled(f"your delay {seconds(view.operator_delay_ms)}", "accent")))
    lines += [
        rate_line(line),
        eta_line(view, now),
        "",
        fact("todo", count(view.todo), Styled(f" of {count(view.pending)} queued", "muted")),
        fact("done", count(view.done), Styled(f"  {size(view.bytes)}", "muted")),
        fact("failed", Styled(count(view.failed), "error" if view.failed else "faint")),
        fact("blocked", Styled(count(view.blocked), "blocked" if view.blocked else "faint")),
        fact("found", count(view.discovered), Styled(" pages in this run", "muted")),
        fact("requests", count(view.requests)),
    ]
    if view.worker:
        lines.append(fact("worker", view.worker))
    if history.refused:
        lines += ["", heading("Links refused"), *map(_refused_line, history.refused[:_REFUSED_SHOWN])]
    return lines


def unknown_lines(origin: str) -> list[Line]:
    """What stands there when there is no such origin."""
    return [Prose(f"{origin} is not an origin of this crawl.", "muted")]


def _patience_history(lost: Sequence[AttemptView], zone: tzinfo) -> list[Line]:
    return [
        (
            Styled(f"  −{max(1, one.patience_before - one.patience_after)}".ljust(LABEL), "warning"),
            Styled(f"{clock(one.ended_at, zone)}  ", "muted"),
            exit_cell(one.exit_code, glyph=False),
        )
        for one in lost[:_PATIENCE_SHOWN]
    ]


def _delay_history(delays: Sequence[AttemptView], zone: tzinfo) -> list[Line]:
    return [
        (
            Styled(f"  {seconds(one.delay_ms_after)}".ljust(LABEL)),
            Styled(f"{clock(one.ended_at, zone)}  {delay_words(one.delay_reason) or 'as configured'}", "muted"),
        )
        for one in delays[:_DELAYS_SHOWN]
    ]


def _refused_line(refused: RefusedView) -> Line:
    reason = refused.reason.replace("_", " ")
    number = Styled(count(refused.count).rjust(LABEL - 2) + "  ")
    return (number, Styled(reason), Styled(f"  {refused.sample_url}", "faint"))


def todo_row(number: int, item: TodoView, origin: str, now: int) -> Row:
    """A page of the todo list as a row; its key is the URL."""
    wait = item.not_before - now
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
            Styled(due(wait) if wait > 0 else "now", "waiting" if wait > 0 else "muted"),
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
