"""Attempts as rows (events of the crawl, the log of one origin), and exit codes as cells with name and glyph. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui_crawler.console.table.cells import Row, Styled
from tui_crawler.console.urls.cells import bare_host, host_of, path_of
from tui_crawler.domain import exit_code
from tui_crawler.domain.exit_code import DISPOSITIONS, AttemptKind, ExitCode
from tui_crawler.text.columns import AnyColumn, Column, plain
from tui_crawler.text.format import clock, count, seconds, size
from tui_crawler.text.glyphs import StateGlyph, exit_mark

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.view import AttemptView


_SHORT: Mapping[str, str] = {
    "file_ingested": "ingested",
    "file_of_unknown_type": "other type",
    "permanent_redirect": "moved",
    "redirect": "redirect",
    "file_did_not_change": "unchanged",
    "server_blamed_client": "client error",
    "file_gone": "gone",
    "did_not_understand_answer": "bad answer",
    "file_not_found": "not found",
    "rate_limited": "rate limit",
    "server_internal_error": "server error",
    "connection_failed": "conn. failed",
    "request_timeout": "timeout",
    "error_reading_response": "read error",
    "blocked_by_robots_txt": "robots.txt",
    "blocked_url_by_local_policy": "policy",
    "blocked_by_exclusion_list": "excluded",
    "skipped_by_rule": "skipped",
    "not_canonical": "canonical",
    "file_too_large": "too large",
    "blocked_address": "address",
    "local_processing_error": "local error",
    "someone_stole_my_work": "stolen",
    "database_error": "database",
}


def exit_code_of(name: str) -> ExitCode | None:
    """The exit code of that name, or None: a newer version wrote it."""
    return ExitCode.__members__.get(name)


def mark_of(name: str) -> StateGlyph:
    """Glyph, group word and colour role of an exit code by name."""
    code = exit_code_of(name)
    return StateGlyph("·", name, "muted") if code is None else exit_mark(DISPOSITIONS[code].group.value)


def meaning(name: str) -> str:
    """When an exit code is given, in the words of its table; empty for one not known."""
    code = exit_code_of(name)
    return "" if code is None else DISPOSITIONS[code].when


def short_name(name: str) -> str:
    """A name for narrow columns, at most 12 characters for those known."""
    return _SHORT.get(name, name.replace("_", " "))


def exit_cell(name: str, *, glyph: bool = True) -> Styled:
    """The cell of an exit code; empty name (nothing happened yet): `-`."""
    if not name:
        return Styled("-", "faint")
    mark = mark_of(name)
    head = f"{mark.glyph} " if glyph else ""
    return Styled(head + name, mark.role, short=head + short_name(name))


def exit_in_full(name: str) -> Styled:
    """The exit code where details stand: never shortened."""
    cell = exit_cell(name)
    return Styled(cell.text, cell.role)


def status_cell(http_status: int | None) -> Styled:
    """The cell of an HTTP status; None: `-`."""
    if http_status is None:
        return Styled("-", "faint")
    roles = ((200, "local"), (300, "ok"), (400, "redirect"), (500, "client"), (600, "server"))
    return Styled(str(http_status), next((role for below, role in roles if http_status < below), "local"))


EVENT_COLUMNS: tuple[AnyColumn, ...] = (
    Column("time", "TIME", plain(), 8, 1),
    Column("origin", "ORIGIN", plain(), 22, 2, min_width=14, kind="place"),
    Column("exit", "EXIT", plain(), 15, 0, min_width=14, kind="word"),
    Column("status", "ST", plain(), 3, 5, "right"),
    Column("took", "TOOK", plain(), 6, 6, "right"),
    Column("url", "URL", plain(), None, 0, min_width=16, kind="place"),
    Column("note", "NOTE", plain(), None, 4, min_width=20),
)
LOG_COLUMNS: tuple[AnyColumn, ...] = (
    Column("time", "TIME", plain(), 8, 1),
    Column("exit", "EXIT", plain(), 15, 0, min_width=14, kind="word"),
    Column("status", "ST", plain(), 3, 4, "right"),
    Column("took", "TOOK", plain(), 6, 3, "right"),
    Column("bytes", "BYTES", plain(), 7, 6, "right"),
    Column("new", "NEW", plain(), 4, 7, "right"),
    Column("url", "URL", plain(), None, 0, min_width=16, kind="place"),
    Column("note", "NOTE", plain(), None, 2, min_width=18),
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
    if attempt.kind != AttemptKind.page:
        parts.append(Styled(f"{'robots.txt' if attempt.kind == AttemptKind.robots else attempt.kind}  ", "muted"))
    if attempt.cut:
        parts.append(Styled(f"cut: {', '.join(attempt.cut)}  ", "warning"))
    words = attempt.message or attempt.decided_by or attempt.title
    parts.append(Styled(words, "" if attempt.message else "muted"))
    return tuple(parts)


def event_row(attempt: AttemptView, zone: tzinfo) -> Row:
    """An attempt as a row of the events; its key is the attempt id."""
    cells = (
        Styled(clock(attempt.ended_at, zone), "muted"),
        Styled(host_of(attempt.origin), short=bare_host(attempt.origin)),
        exit_cell(attempt.exit_code),
        status_cell(attempt.http_status),
        Styled(seconds(attempt.response_ms), "muted"),
        path_of(attempt.url, attempt.origin),
        note(attempt),
    )
    return Row(attempt.attempt_id, cells)


def log_row(attempt: AttemptView, zone: tzinfo) -> Row:
    """An attempt as a row of the log of its origin; its key is that of its entry in the log."""
    cells = (
        Styled(clock(attempt.ended_at, zone), "muted"),
        exit_cell(attempt.exit_code),
        status_cell(attempt.http_status),
        Styled(seconds(attempt.response_ms), "muted"),
        Styled(size(attempt.bytes) if attempt.bytes else "-", "muted"),
        Styled(f"+{count(attempt.new_pages)}" if attempt.new_pages else "", "ok"),
        path_of(attempt.url, attempt.origin),
        note(attempt),
    )
    return Row(("attempt", attempt.attempt_id), cells)
