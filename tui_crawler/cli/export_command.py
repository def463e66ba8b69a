"""`export`: rows and bodies of a crawl as JSON Lines, CSV, Parquet or a web archive."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import existing_database, exit_code_name, reports_of
from tui_crawler.cli.options import CommandSet, moment, words
from tui_crawler.cli.printer import Printer, safe
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.known_word import did_you_mean
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.text.format import plural, size

if TYPE_CHECKING:
    from tui_crawler.export.output import Output
    from tui_crawler.storage.reports.reports import Reports

WHAT = ("pages", "documents", "attempts", "links", "redirects", "failures", "data", "bodies")
FORMATS = ("jsonl", "csv", "parquet", "warc")
_WITH_EXIT_CODE = ("pages", "attempts", "failures")
_BINARY = ("parquet", "warc")
_DESCRIPTION = """\
Writes all rows to standard output or to a file, also while a run is live. Columns are those of the views v_page,
v_document, v_attempt, v_link, v_redirect; failures are failed pages with their last message, data what data rules
found, bodies in warc all stored responses with their requests and an index next to the file, in jsonl the stored bodies
as text or Base64. Times are epoch milliseconds, UTC. In JSON Lines and CSV booleans are 0 and 1; in CSV what a
spreadsheet would run is prefixed with an apostrophe and control characters are spelled out. Excel opens a CSV file that
was written with --bom by a double click. A file gets its name when the export is complete.
"""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "export",
        "write pages, attempts, links, bodies … as JSON Lines, CSV, Parquet or WARC",
        execute,
        _DESCRIPTION,
        examples=("export pages --format csv --output pages.csv", "export bodies --format warc --output all.warc.gz"),
        json="",
    )
    parser.add_argument("what", metavar="WHAT", choices=WHAT, help=", ".join(WHAT))
    parser.add_argument(
        "--format",
        metavar="FMT",
        choices=FORMATS,
        required=True,
        help="jsonl, csv, parquet (an extra); of bodies warc, jsonl",
    )
    parser.add_argument("--bom", action="store_true", help="begin csv with a byte order mark: Excel then reads UTF-8")
    add_output(parser, "; an archive named .warc is not compressed")
    parser.add_argument("--columns", type=words, metavar="NAMES", help="only these columns, in this order: a,b,c")
    parser.add_argument("--origin", metavar="ORIGIN", default="", help="only this origin")
    parser.add_argument(
        "--exit-code", metavar="CODE", default="", help="only this exit code (pages, attempts, failures)"
    )
    parser.add_argument(
        "--since",
        type=moment,
        metavar="TIME",
        help="only what was begun, crawled or seen from then on: epoch milliseconds, or a date as in ISO 8601 "
        "(2026-01-31, 2026-01-31T12:00; UTC unless it says otherwise)",
    )


def formats_of(what: str | None) -> tuple[str, ...]:
    """The formats in which something is exported; None: nothing is chosen yet."""
    others = tuple(form for form in FORMATS if form != "warc")
    return FORMATS if what is None else ("jsonl", "warc") if what == "bodies" else others


def add_output(parser: argparse.ArgumentParser, more: str = "") -> None:
    """`--output` and `--force`."""
    text = f"write into this file, whole or not at all (default or -: standard output){more}"
    parser.add_argument("--output", metavar="FILE", help=text)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    _check_form(arguments)
    code = exit_code_name(arguments.exit_code) if arguments.exit_code else ""
    database = existing_database(arguments)
    path = target_of(arguments, database)
    if path is None and arguments.format in _BINARY and sys.stdout.isatty():
        said = f"{arguments.format} is a binary format and this is a terminal"
        raise UsageProblem(said, hint="name a file with --output, or pipe it")

    from tui_crawler.storage.reports.export import Narrowing
    from tui_crawler.wiring.export import ExportPlan, write_export

    began = time.monotonic()
    with reports_of(database) as reports:
        chosen = _columns(arguments, reports), Narrowing(arguments.origin, code, arguments.since)
        gzip = path is None or path.suffix.lower() != ".warc"
        named = path.name if path else ""
        plan = ExportPlan(arguments.what, arguments.format, *chosen, named, gzip=gzip, bom=arguments.bom)
        with output_of(path, arguments) as output:
            count = write_export(reports, plan, output)
    if path is not None and plan.index:
        from tui_crawler.export.warc_index import index_path

        arguments.force = True  # an index of that name belongs to the file that was just written
        with output_of(index_path(path), arguments) as lines:
            lines.write("".join(sorted(plan.index)).encode())
    counted = plural(count, "answer" if plan.form == "warc" else "row")
    printer.note(f"{counted}, {size(output.bytes)}, {time.monotonic() - began:.1f} s -> {output.name}")
    return ExitStatus.ok


def _check_form(arguments: argparse.Namespace) -> None:
    what, form = arguments.what, arguments.format
    has_code, with_pyarrow = what in _WITH_EXIT_CODE, "pip install 'tui_crawler[parquet]', or --format jsonl or csv"
    allowed = f"export {what} --format {' or '.join(formats_of(what))}"
    for is_wrong, said, hint in (
        (form not in formats_of(what), f"{what} cannot be exported as {form}", allowed),
        (arguments.bom and form != "csv", f"--bom is for csv, not for {form}", "leave --bom out"),
        (form == "parquet" and not find_spec("pyarrow"), "parquet needs pyarrow, which is not installed", with_pyarrow),
        (arguments.columns is not None and what == "bodies", "bodies have no columns to choose", "leave --columns out"),
        (arguments.columns == (), "--columns names no column", ""),
        (
            arguments.exit_code and not has_code,
            f"{what} have no exit code",
            f"--exit-code narrows {', '.join(_WITH_EXIT_CODE)}",
        ),
    ):
        if is_wrong:
            raise UsageProblem(said, hint=hint)


def target_of(arguments: argparse.Namespace, database: DatabasePlace) -> Path | None:
    """The file that `--output` names, None for standard output. Raises UsageProblem for what cannot be one."""
    if arguments.output in {None, "-"}:
        return None
    if not arguments.output or arguments.output.endswith(("/", os.sep)):
        raise UsageProblem(f"--output {arguments.output!r} is not a file", hint="name a file")

    from tui_crawler.export.output import check_target

    path = Path(arguments.output).absolute()
    check_target(path, force=arguments.force, protected=(database,) if isinstance(database, Path) else ())
    return path


def _columns(arguments: argparse.Namespace, reports: Reports) -> tuple[str, ...]:
    known = reports.export_columns(arguments.what) if arguments.columns else ()
    for name in arguments.columns or ():
        if name not in known:
            said = f"{arguments.what} have no column {name!r}{did_you_mean(name, known)}"
            raise UsageProblem(said, hint=f"columns: {', '.join(known)}")
    return tuple(dict.fromkeys(arguments.columns or ()))


@contextmanager
def output_of(path: Path | None, arguments: argparse.Namespace) -> Iterator[Output]:
    """The file, or standard output. Raises CannotWrite where it cannot be written; SystemExit by a signal, and with
    status 0 when nobody reads any more."""
    from tui_crawler.export.output import ReaderGone, open_file, open_stream

    try:
        with ended_by_signals(), ExitStack() as opened:
            made = open_stream(_standard_output(opened)) if path is None else open_file(path, force=arguments.force)
            yield opened.enter_context(made)
    except ReaderGone:
        raise SystemExit(int(ExitStatus.ok)) from None


def _standard_output(opened: ExitStack) -> Callable[[memoryview], int | None]:
    """Return what writes to standard output: to a copy of its descriptor, so that a reader who went away leaves nothing
    behind in Python's own stream."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        return _shown
    try:
        return opened.enter_context(os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)).write
    except (OSError, ValueError):  # a stream without a descriptor
        return sys.stdout.buffer.write


def _shown(data: memoryview) -> int:
    """Hands text to a terminal. JSON Lines are ASCII; of CSV, whatever a terminal might obey or hide is spelled out.

    Both formats hand on whole lines, and no line has a break within.
    """
    text = bytes(data).decode("utf-8", "replace")
    shown = text if text.isascii() else "".join(safe(line, 12 * len(line)) + "\n" for line in text.splitlines())
    sys.stdout.write(shown)
    sys.stdout.flush()
    return len(data)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the command by its exit status, after what was begun is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
