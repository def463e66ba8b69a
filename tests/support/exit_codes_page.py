"""docs/exit-codes.md, made from the table of exit codes."""

from __future__ import annotations

from tui_crawler.domain.exit_code import DISPOSITIONS, ExitCode


def exit_codes_markdown() -> str:
    """The text of the page."""
    lines = [
        "# Exit codes",
        "",
        "Made from `tui_crawler/domain/exit_code.py`; a test keeps this page equal to it. The name is the",
        "interface, the number is storage. *left* says what becomes of `attempts_remaining`: `keep` means that",
        "the claim has lowered it already; `zero` is final: a failed page that ended so is not recoverable, and only",
        "`retry`, or its recrawl when that is due, asks for it again. Any other failed page is recoverable: with",
        "tries left it is asked again in this run (*retry*) or the next, without when `retry` puts it back.",
        "",
        "| id | name | when | group | contentful | retry | patience | slow | left | counts as failed | severity |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for code, row in DISPOSITIONS.items():
        retry = "502, 503, 504 only" if code is ExitCode.server_internal_error else _yes(row.retry)
        lines.append(
            f"| {code.value} | {code.name} | {row.when} | {row.group.value} | {_yes(row.contentful)} | {retry} "
            f"| {row.patience.value.replace('_', ' ')} | {_yes(row.slow)} | {row.left.value.replace('_', ' ')} "
            f"| {_yes(row.failure)} | {row.severity.name} |"
        )
    return "\n".join(lines) + "\n"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
