"""Attempts as rows (events of the crawl, the log of one origin), and exit codes as cells with name and glyph. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.console.urls.cells import path_of
from tui_crawler.domain.records import exit_code
from tui_crawler.domain.records.exit_code import DISPOSITIONS, AttemptKind, ExitCode
from tui_crawler.domain.records.status_words import outcome_words
from tui_crawler.text import shown
from tui_crawler.text.cells import Styled
from tui_crawler.text.columns import Column, Relation
from tui_crawler.text.format import count, seconds
from tui_crawler.text.glyphs import StateGlyph, exit_mark

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import AttemptView


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


def exit_cell(name: str) -> Styled:
    """The cell of an exit code in words; empty name (nothing happened yet): `-`."""
    if not name:
        return Styled("-", "faint")
    mark = mark_of(name)
    return Styled(f"{mark.glyph} {outcome_words(name)}", mark.role)


def exit_in_full(name: str) -> Styled:
    """The exit code by its name, for details."""
    mark = mark_of(name)
    return Styled(f"{mark.glyph} {name}", mark.role)


def status_cell(http_status: int | None) -> Styled:
    """The cell of an HTTP status; None: `-`."""
    if http_status is None:
        return Styled("-", "faint")
    roles = ((200, "local"), (300, "ok"), (400, "redirect"), (500, "client"), (600, "server"))
    return Styled(str(http_status), next((role for below, role in roles if http_status < below), "local"))


def severity_of(attempt: AttemptView) -> exit_code.Severity:
    """How much an attempt matters."""
    return exit_code.severity(exit_code_of(attempt.exit_code), attempt.kind)


def is_problem(attempt: AttemptView) -> bool:
    """Whether `e` of the events stops at it, as the database has it."""
    return severity_of(attempt) > exit_code.Severity.info


def circumstances(attempt: AttemptView) -> list[Styled]:
    """What an attempt cost, what it was besides the crawl of a page, and what of its response was left out."""
    parts: list[Styled] = []
    if attempt.patience_after != attempt.patience_before:
        parts.append(Styled(f"patience {attempt.patience_before}→{attempt.patience_after}  ", "warning"))
    if attempt.kind != AttemptKind.page:
        parts.append(Styled(f"{'robots.txt' if attempt.kind == AttemptKind.robots else attempt.kind}  ", "muted"))
    if attempt.cut:
        parts.append(Styled(f"cut: {', '.join(attempt.cut)}  ", "warning"))
    return parts


def note(attempt: AttemptView) -> tuple[Styled, ...]:
    """What is worth knowing of an attempt in addition to its exit code."""
    words = attempt.message or attempt.decided_by or attempt.title
    return (*circumstances(attempt), Styled(words, "" if attempt.message else "muted"))


ATTEMPTS: Relation[AttemptView] = Relation(
    key=lambda attempt: ("attempt", attempt.attempt_id),
    nothing="no attempts yet",
    columns=(
        Column("time", "TIME", shown.time_of_day(), 8, 1, value=lambda attempt: attempt.ended_at),
        Column("exit", "EXIT", shown.by_value(exit_cell), 15, 0, min_width=14, value=lambda attempt: attempt.exit_code),
        Column("status", "ST", shown.by_value(status_cell), 3, 4, "right", value=lambda attempt: attempt.http_status),
        Column("took", "TOOK", shown.words(seconds, "muted"), 6, 3, "right", value=lambda attempt: attempt.response_ms),
        Column("bytes", "BYTES", shown.data_size("muted"), 7, 6, "right", value=lambda attempt: attempt.bytes or None),
        Column("new", "NEW", shown.words(lambda new: f"+{count(new)}" if new else "", "ok"), 4, 7, "right",
               value=lambda attempt: attempt.new_pages),
        Column("url", "URL", shown.plain(), None, 0, min_width=16, kind="place",
               value=lambda attempt: path_of(attempt.url, attempt.origin)),
        Column("note", "NOTE", shown.by_record(note), None, 2, min_width=18, value=lambda attempt: attempt.message),
    ),
)  # fmt: skip
"""The log of one origin."""
