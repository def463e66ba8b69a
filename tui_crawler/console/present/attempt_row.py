"""Attempts as rows: the events of the whole crawl, and the log of one origin or one URL. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.format import clock, count, seconds, size
from tui_crawler.console.present.exits import exit_cell, exit_code_of, status_cell
from tui_crawler.console.present.urls import bare_host, host_of, path_of
from tui_crawler.console.table_cells import Row, Styled
from tui_crawler.console.table_columns import Column
from tui_crawler.domain import exit_code

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.view import AttemptView

EVENT_COLUMNS: tuple[Column, ...] = (
    Column("time", "TIME", 8, 1),
    Column("origin", "ORIGIN", 22, 2, min_width=14, kind="place"),
    Column("exit", "EXIT", 15, 0, min_width=14, kind="word"),
    Column("status", "ST", 3, 5, "right"),
    Column("took", "TOOK", 6, 6, "right"),
    Column("url", "URL", None, 0, min_width=16, kind="place"),
    Column("note", "NOTE", None, 4, min_width=20),
)
LOG_COLUMNS: tuple[Column, ...] = (
    Column("time", "TIME", 8, 1),
    Column("exit", "EXIT", 15, 0, min_width=14, kind="word"),
    Column("status", "ST", 3, 4, "right"),
    Column("took", "TOOK", 6, 3, "right"),
    Column("bytes", "BYTES", 7, 6, "right"),
    Column("new", "NEW", 4, 7, "right"),
    Column("url", "URL", None, 0, min_width=16, kind="place"),
    Column("note", "NOTE", None, 2, min_width=18),
)


def severity_of(attempt: AttemptView) -> exit_code.Severity:
    """How much an attempt matters."""
    return exit_code.severity(exit_code_of(attempt.exit_code), attempt.kind)


def is_problem(attempt: AttemptView) -> bool:
    """Whether `e` of the events stops at it, as the database has it."""
    return severity_of(attempt) > exit_code.Severity.info


def note(attempt: AttemptView) -> tuple[Styled, ...]:
    """What is worth knowing of an attempt beside its exit code."""
    parts: list[Styled] = []
    if attempt.patience_after != attempt.patience_before:
        parts.append(Styled(f"patience {attempt.patience_before}→{attempt.patience_after}  ", "warning"))
    if attempt.kind != "page":
        parts.append(Styled(f"{'robots.txt' if attempt.kind == 'robots' else attempt.kind}  ", "muted"))
    if attempt.cut:
        parts.append(Styled(f"cut: {', '.join(attempt.cut)}  ", "warning"))
    words = attempt.message or attempt.decided_by or attempt.title
    parts.append(Styled(words, "" if attempt.message else "muted"))
    return tuple(parts)


def event_row(attempt: AttemptView, zone: tzinfo) -> Row:
    """An attempt as a row of the events; its key is the attempt id."""
    return Row(
        attempt.attempt_id,
        (
            Styled(clock(attempt.ended_at, zone), "muted"),
            Styled(host_of(attempt.origin), short=bare_host(attempt.origin)),
            exit_cell(attempt.exit_code),
            status_cell(attempt.http_status),
            Styled(seconds(attempt.response_ms), "muted"),
            path_of(attempt.url, attempt.origin),
            note(attempt),
        ),
    )


def log_row(attempt: AttemptView, zone: tzinfo) -> Row:
    """An attempt as a row of the log of its origin; its key is the attempt id."""
    return Row(
        attempt.attempt_id,
        (
            Styled(clock(attempt.ended_at, zone), "muted"),
            exit_cell(attempt.exit_code),
            status_cell(attempt.http_status),
            Styled(seconds(attempt.response_ms), "muted"),
            Styled(size(attempt.bytes) if attempt.bytes else "-", "muted"),
            Styled(f"+{count(attempt.new_pages)}" if attempt.new_pages else "", "ok"),
            path_of(attempt.url, attempt.origin),
            note(attempt),
        ),
    )
