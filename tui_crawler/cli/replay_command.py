"""`replay`: a run seen again, or its log folded and compared with what is stored."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, no_run, reports_of
from tui_crawler.cli.options import CommandSet, positive
from tui_crawler.cli.printer import Printer, Progress, local_zone, safe
from tui_crawler.cli.problem import ExitStatus
from tui_crawler.text.format import count, plural

if TYPE_CHECKING:
    from tui_crawler.domain.crawl.event import Event
    from tui_crawler.domain.history.replay import Findings

_FASTEST = 1_000_000


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "replay",
        "see a run again, or fold its log and compare",
        execute,
        "Prints a run again as `run` did, at its pace. With --check no line is printed again: the log is folded "
        "by the functions of the engine, and the result is compared with what is stored of each attempt and of "
        "each origin. Exit status 1 if anything differs.",
        examples=("replay --speed 60", "replay --check --run 3 --json"),
        json="one JSON value on stdout, without --check one JSON object per event",
    )
    parser.add_argument("--run", type=positive, metavar="N", help="the run (default: the newest)")
    parser.add_argument(
        "--speed", type=_speed, metavar="X", default=1.0, help="N times as fast (default: 1); 0 or max: at once"
    )
    parser.add_argument("--console", action="store_true", help="see it in the console, as of then")
    parser.add_argument("--check", action="store_true", help="fold the log and compare it with what is stored")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    if arguments.console:
        from tui_crawler.cli.console_command import start

        start(printer, "tui-crawler replay prints it")
    from tui_crawler.wiring import replay

    database = existing_database(arguments)
    if arguments.console:
        from tui_crawler.wiring.replay_console import crawl_in_file, open_replay

        if arguments.run is not None:
            with reports_of(database) as reports:
                if reports.run_span(arguments.run) is None:
                    raise no_run(database, arguments.run)
        progress = Progress("rows copied")
        _end_by_signals()
        with crawl_in_file(database, progress) as file:
            progress.clear()
            return open_replay(database, file, arguments.run)
    found = (replay.check_replay if arguments.check else replay.replayed)(database, arguments.run)
    if found is None:
        raise no_run(database, arguments.run)
    if not isinstance(found, tuple):
        return _again(found, arguments.speed, printer, as_json=arguments.json)
    from tui_crawler.domain.record import asdict

    run_id, findings = found
    differences = [asdict(one) for one in findings.differences]
    document: dict[str, object] = {"ok": not findings.found, "run": run_id, "attempts": findings.attempts}
    document |= {"differences": differences, "found": findings.found, "unproven": dict(findings.unproven)}
    status = printer.answer(arguments.json, document, _lines(run_id, findings))
    return status or (ExitStatus.gave_up if findings.found else ExitStatus.ok)


def _again(told: Iterator[Event], speed: float, printer: Printer, *, as_json: bool) -> int:
    from tui_crawler.cli.run_watch import JsonLines, PlainLines, summary
    from tui_crawler.domain.history.run_totals import RunTotals

    _end_by_signals()
    now, ledger = 0, RunTotals()
    listener = JsonLines(printer) if as_json else PlainLines(printer, ledger, local_zone())
    for event in told:
        if now and speed:
            time.sleep(max(0, event.at - now) / 1000 / speed)
        now = max(now, event.at)
        listener.on_event(event)
        if printer.closed:
            return ExitStatus.ok
    if not as_json and not printer.quiet:
        printer.lines(summary(ledger))
    return ExitStatus.ok


def _end_by_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))


def _speed(text: str) -> float:
    try:
        found = 0.0 if text == "max" else float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= _FASTEST:
        raise argparse.ArgumentTypeError(f"{text!r} is neither max nor a number from 0 to {_FASTEST:,}")
    return found


def _lines(run_id: int, findings: Findings) -> Iterator[str]:
    for one in findings.differences:
        where = f"attempt {one.attempt_id}" if one.attempt_id else "stored state" if one.origin else f"run {run_id}"
        values = f"stored {safe(str(one.stored))}, folded {safe(str(one.folded))}"
        yield f"✗ {safe(one.origin)}  {one.field}  {values}  {where}".replace("✗   ", "✗ ")
    left_out = findings.found - len(findings.differences)
    if left_out:
        yield f"  … and {count(left_out)} more"
    if findings.unproven:
        fields = ", ".join(f"{name} of {plural(number, 'origin')}" for name, number in findings.unproven.items())
        yield f"  not proven by the log: {fields}"
    what = f"run {run_id}, {plural(findings.attempts, 'attempt')}"
    if findings.found:
        yield f"{plural(findings.found, 'difference')} between the log and what is stored: {what}"
    else:
        yield f"what is stored follows from the log: {what}"
