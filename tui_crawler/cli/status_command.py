"""`status`: origins and totals."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from itertools import chain
from textwrap import wrap
from types import MappingProxyType
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, reports_of
from tui_crawler.cli.options import CommandSet
from tui_crawler.cli.printer import ColumnFit, Printer, columns, local_zone, picked, safe, terminal_width
from tui_crawler.domain.records.status import OriginPhase
from tui_crawler.domain.records.status_words import BROKEN_OFF, run_end_words
from tui_crawler.text.format import coarse, count, date_time, elapsed, plural, seconds, size, span
from tui_crawler.wiring import operator_name

if TYPE_CHECKING:
    from tui_crawler.domain.records.view import OriginView, RunView, TotalsView


_DROPS = (6, 7, 8, 2, 9, 5, 4, 3)
"""The columns that `status` leaves out where there is no room: blocked first, then patience, delay, todo and so on."""
_SHRINKS = MappingProxyType({10: 20, 1: 22})
"""How narrow the reason and the origin become before that."""
_RUN = """run_id started_at finished_at finish_reason requests user_agent config_name live owner heartbeat_at
max_in_flight max_requests"""
_TOTALS = "todo pending done failed blocked requests bytes attempts"
_ORIGIN = """origin state finish_reason paused patience politeness delay_ms delay_reason next_request_at todo pending
done failed blocked requests robots_status robots_expires_at"""


def declare(commands: CommandSet) -> None:
    commands.add(
        "status",
        "show origins and totals",
        execute,
        "Shows the newest run, the totals, and for each origin how far it is and why it makes no request now. Pending "
        "are the pages with tries left: new ones and failed ones, which count as failed, too.",
        examples=("status", "status --json | jq '.origins[] | select(.failed > 0) | .origin'"),
    )


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.domain.history.diagnosis import diagnoses
    from tui_crawler.domain.history.idle_reason import at_rest, flying, idle_reason
    from tui_crawler.text.coverage import coverage_lines
    from tui_crawler.wiring.coverage import coverage_of

    database = existing_database(arguments)
    with reports_of(database) as reports:
        run, totals, stored = reports.run(), reports.totals(), reports.origins_changed(0)
        coverage, waiting = coverage_of(reports), reports.documents_waiting()
        found = diagnoses(run, reports.diagnosis_facts())
    every = sorted(stored, key=lambda one: one.origin)
    now, zone, you = time.time_ns() // 1_000_000, local_zone(), operator_name(database)
    origins = [at_rest(one, run) for one in every]
    aloft = flying(origins)
    reasons = [idle_reason(one, now, run, zone=zone, you=you, in_flight=aloft[one.worker]) for one in origins]
    sums = {"exit_codes": dict(totals.exit_codes), "cut": coverage.pages.get("truncated", 0), "waiting": waiting}
    document: dict[str, object] = {
        "run": None if run is None else picked(run, _RUN) | {"warnings": list(run.warnings)},
        "totals": picked(totals, _TOTALS) | sums,
        "diagnosis": [picked(one, "kind words count origins") for one in found],
        "coverage": coverage.as_document(),
    }
    if arguments.json:
        document["origins"] = [_origin_document(*one, now) for one in zip(every, origins, reasons, strict=True)]
    width = terminal_width()
    covered = coverage_lines(coverage) if coverage.run is not None else ()
    warned = (f"⚠ {safe(one.words, 500)}" for one in found)
    lines = chain(
        _wrapped(_heads(run, totals, waiting, now, zone), width),
        _table(origins, reasons, now, width) if origins else (),
        _wrapped(chain(warned, covered), width),
    )
    return printer.answer(arguments.json, document, lines)


def _origin_document(one: OriginView, rests: OriginView, reason: str, now: int) -> dict[str, object]:
    """An origin as it is stored, and as it stands when no engine is at work (`rests`)."""
    from tui_crawler.domain.history.eta import estimate

    state = one.state
    if state == OriginPhase.busy and rests is not one:  # the engine died; so `v_origin` has it without its request
        state = OriginPhase.waiting if max(one.next_request_at, one.asleep_until) > now else OriginPhase.ready
    document = picked(one, _ORIGIN) | {"state": state, "eta_s": estimate(rests, now).seconds, "idle_reason": reason}
    return document | picked(one, "not_canonical warning")


def _wrapped(lines: Iterable[str], width: int | None) -> Iterator[str]:
    for line in lines:
        yield from [line] if width is None else wrap(line, width, subsequent_indent="  ", break_on_hyphens=False)


def _heads(run: RunView | None, totals: TotalsView, waiting: int, now: int, zone: tzinfo) -> Iterator[str]:
    """Run and totals. `waiting` documents wait for validators and data rules."""
    yield _run_line(run, totals.pending, now, zone)
    for warning in () if run is None else run.warnings:
        yield f"warning: {warning}"
    overlap = " (failed pages with tries left are pending, too)" if totals.failed and totals.pending else ""
    yield (
        f"in all runs: {plural(totals.requests, 'request')}, {size(totals.bytes)}; pages: "
        f"{count(totals.todo)} on todo lists, {count(totals.pending)} pending, {count(totals.done)} done, "
        f"{count(totals.failed)} failed, {count(totals.blocked)} blocked{overlap}"
    )
    if waiting:
        yield f"{plural(waiting, 'stored document')} still to be validated, while a run is live"


def _table(origins: Sequence[OriginView], reasons: Sequence[str], now: int, width: int | None) -> Iterator[str]:
    from tui_crawler.domain.history.eta import estimate
    from tui_crawler.text.standing import standing

    header = ("STATE", "ORIGIN", "TODO", "PENDING", "DONE", "FAILED", "BLOCKED", "PATIENCE", "DELAY", "ETA", "WHY")
    rows = []
    for one, reason in zip(origins, reasons, strict=True):
        pages = map(count, (one.todo, one.pending, one.done, one.failed, one.blocked))
        eta = estimate(one, now)
        due = (
            "-"
            if not eta.low_ms
            else f"{coarse(eta.low_ms)}+"
            if eta.high_ms is None
            else span(eta.low_ms, eta.high_ms)
        )
        state = f"{one.patience}/{one.patience_max}", seconds(one.delay_ms), due
        rows.append((safe(standing(one).label), safe(one.origin), *pages, *state, safe(reason)))
    return columns(header, rows, frozenset(range(2, 10)), None if width is None else ColumnFit(width, _DROPS, _SHRINKS))


def _run_line(run: RunView | None, pending: int, now: int, zone: tzinfo) -> str:
    from tui_crawler.domain.history.idle_reason import end_of_run, held_up_words, worked_ms

    if run is None:
        return "no run has started yet"
    of = f" of {safe(run.config_name)}" if run.config_name else ""
    begun = (
        f"run {run.run_id}{of}, started {date_time(run.started_at, zone)}, {plural(run.requests, 'turn')} with a "
        f"request, worked {elapsed(worked_ms(run, now))}"
    )
    if run.live:
        held_up = held_up_words(run, now)
        slots = f", at most {run.max_in_flight} in flight" if run.max_in_flight else ""
        return f"{begun}, live: {safe(run.owner)}{slots}{held_up and '; '}{held_up}"
    if not run.finished_at:
        heard = date_time(end_of_run(run, 0), zone)
        return f"{begun}, {BROKEN_OFF} (last heartbeat {heard}): no worker is running, the next start continues it"
    return f"{begun}, ended {date_time(run.finished_at, zone)}: {safe(run_end_words(run.finish_reason, pending))}"
