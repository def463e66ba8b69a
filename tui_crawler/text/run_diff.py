"""What two runs come to, in words and signs: the same on the command line and in the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_crawler.domain.history import run_diff as record
from tui_crawler.domain.records.exit_code import ExitCode, exit_name
from tui_crawler.text.format import ABSENT, clock, count, duration, phase, plural, rate, size

if TYPE_CHECKING:
    from datetime import tzinfo

    from tui_crawler.domain.records.view import RunView

NO_BODY, NO_LINE = "the body of one of both runs is not stored", "no line differs"
SIGNS = {record.ChangeKind.CHANGED: "~", record.ChangeKind.NEW: "+", record.ChangeKind.GONE: "−"}
"""The signs of changes, in the order in which these are listed."""


def snapshot(span: record.RunSpan, run: RunView | None, at: int, zone: tzinfo) -> str:
    """Return that one of two runs is live and when (epoch ms) it was read; empty where both have ended."""
    live = run is not None and run.live and run.run_id in {span.older, span.newer}
    return f"run {run.run_id} is live: snapshot of {clock(at, zone)}" if run is not None and live else ""


def counts(diff: record.OriginDiff) -> dict[record.ChangeKind | None, str]:
    """Return how many pages are changed, new, gone, the same (None): `~ 470 changed`, `+ 14 new`, `= 1 505`."""
    numbers = zip(SIGNS, (diff.changed, diff.new, diff.gone), strict=True)
    told: dict[record.ChangeKind | None, str] = {
        kind: f"{SIGNS[kind]} {count(many)} {kind.word}" for kind, many in numbers
    }
    return told | {None: f"= {count(diff.same)}"}


def sign(change: record.PageChange) -> str:
    """Return what stands before a page that differs."""
    kind = change.difference.kind
    return SIGNS[kind] if kind is not None else " "


def fields(change: record.PageChange) -> str:
    """Return what differs of a page, `hash title`; of one that was not requested, why it counts as gone."""
    if change.unreached:
        return "not linked, not requested"
    return " ".join(field.word for field in change.difference.fields)


def ends(change: record.PageChange) -> str:
    """Return how the page ended in both runs, where that differs: `200 → 404`, `200 → request_timeout`."""
    before, after = end(change.before), end(change.after)
    return before if before == after or change.unreached else f"{before} → {after}"


def end(state: record.PageVersion) -> str:
    """Return how a page ended: its HTTP status, without one its exit code."""
    if state.exit_code is None:
        return ABSENT
    if state.exit_code == ExitCode.file_did_not_change:
        return "200"  # that of the stored body
    return str(state.http_status) if state.http_status is not None else exit_name(state.exit_code) or ABSENT


def line(change: record.PageChange) -> str:
    """Return a page that differs in a line: `~ https://example.org/a   hash title   200 → 404`; raw text."""
    return f"{sign(change)} {change.url}   {fields(change)}   {ends(change)}"


def many(links: record.LinkDiff) -> str:
    """Return how many links came and went: `2 new, 1 gone`."""
    return f"{count(len(links.new))} new, {count(len(links.gone))} gone"


def pace(run: record.RunPace | None) -> str:
    """Return how fast a run was: `run 7  1 505 requests in 1m10s · 21.5/s · 180ms · 18 MB · 3 failed`."""
    if run is None:
        return ABSENT
    words = f"run {run.run_id}  {plural(run.requests, 'request')} in {duration(run.worked_ms)}"
    words += f" · {rate(run.requests * 1_000 / run.worked_ms if run.worked_ms else None)}/s"
    return f"{words} · {phase(run.response_ms)} · {size(run.bytes)} · {count(run.failed)} failed"
