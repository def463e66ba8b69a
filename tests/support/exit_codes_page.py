"""docs/exit-codes.md, made from the table of exit codes."""

from __future__ import annotations

from tui_crawler.domain.records.exit_code import DISPOSITIONS, STATUS_WITHOUT_RETRY, ExitCode, unlinks


def exit_codes_markdown() -> str:
    """The text of the page."""
    lines = [
        "# Exit codes",
        "",
        "Made from `tui_crawler/domain/records/exit_code.py`; a test keeps this page equal to it. The name is the",
        "interface, the number is storage. *left* says what becomes of `attempts_remaining`: `keep` means that",
        "the claim has lowered it already; `zero` is final: a failed page that ended so is not recoverable, and only",
        "`retry`, or its recrawl when that is due, asks for it again. Any other failed page is recoverable: with",
        "tries left it is asked again in this run (*retry*) or the next, without when `retry` puts it back.",
        "*links* says what becomes of the links, fragments and redirects that the page had: `removed` is for pages",
        "that are gone or refused; what they linked to is no longer reported.",
        "",
        "| id | name | when | group | contentful | retry | patience | slow | left | links | counts as failed "
        "| severity |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for code, row in DISPOSITIONS.items():
        retry = "502, 503, 504 only" if code is ExitCode.server_internal_error else _yes(row.retry)
        lines.append(
            f"| {code.value} | {code.name} | {row.when} | {row.group.value} | {_yes(row.contentful)} | {retry} "
            f"| {row.patience.value.replace('_', ' ')} | {_yes(row.slow)} | {row.left.value.replace('_', ' ')} "
            f"| {_links(code)} | {_yes(row.failure)} | {row.severity.name} |"
        )
    return "\n".join(lines) + "\n"


def _links(code: ExitCode) -> str:
    removed = [str(status) for status in sorted(STATUS_WITHOUT_RETRY) if unlinks(code, status)]
    if DISPOSITIONS[code].contentful:
        return "replaced"
    if unlinks(code, None):
        return "removed"
    return f"removed with {', '.join(removed)}" if removed else "kept"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
