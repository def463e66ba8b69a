"""Exit codes as cells: the name of CRAWL.md section 3, with the glyph and colour of its group. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.console.glyphs import Mark, exit_mark
from tui_crawler.console.table_cells import Styled
from tui_crawler.domain.exit_code import DISPOSITIONS, FAILURES, ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHORT: Mapping[str, str] = MappingProxyType(
    {
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
)


def exit_code_of(name: str) -> ExitCode | None:
    """The exit code of that name, or None: a newer version wrote it."""
    return ExitCode.__members__.get(name)


def mark_of(name: str) -> Mark:
    """Glyph, group word and colour role of an exit code by name."""
    code = exit_code_of(name)
    return Mark("·", name, "muted") if code is None else exit_mark(DISPOSITIONS[code].group.value)


def is_failure(name: str) -> bool:
    """Whether an attempt that ended so counts as failed."""
    return exit_code_of(name) in FAILURES


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


def status_cell(http_status: int | None) -> Styled:
    """The cell of an HTTP status; None: `-`."""
    if http_status is None:
        return Styled("-", "faint")
    roles = ((200, "local"), (300, "ok"), (400, "redirect"), (500, "client"), (600, "server"))
    return Styled(str(http_status), next((role for below, role in roles if http_status < below), "local"))
