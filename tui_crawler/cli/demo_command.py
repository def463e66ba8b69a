"""`demo`: the built-in demo web on loopback, and a crawl of it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tui_crawler.cli.console_command import start
from tui_crawler.cli.known_names import named_database
from tui_crawler.cli.options import CommandSet, port
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import UsageProblem

_HELP = "see tui-crawler demo --help"


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "demo",
        "crawl the built-in demo web; needs no network and no file",
        execute,
        "Starts about ten small origins on loopback (healthy, slow, rate-limiting, failing, blocked by robots.txt, "
        "redirecting, a trap) and opens the console crawling them. Without --db the crawl is kept in a new folder for "
        "temporary files, named at the end.",
        examples=("demo", "demo --headless --json | tail -1"),
        json="with --headless one JSON object per event, with --serve-only the seeds",
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--serve-only", action="store_true", help="print the seeds and keep serving")
    ways.add_argument("--headless", action="store_true", help="crawl at short delays without the console, then end")
    parser.add_argument(
        "--access-log", metavar="FILE", help="with --serve-only: append one JSON line per request to FILE"
    )
    parser.add_argument(
        "--port", type=port, metavar="N", help="the first of consecutive ports (default: any free ones)"
    )


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    """Carry out `demo`. Raises DemoUnavailable when the demo web cannot be started."""
    if arguments.access_log is not None and not arguments.serve_only:
        raise UsageProblem("--access-log needs --serve-only", hint=_HELP)
    if arguments.json and not (arguments.headless or arguments.serve_only):
        raise UsageProblem("--json needs --headless or --serve-only", hint=_HELP)
    if not (arguments.headless or arguments.serve_only):
        start(printer, "tui-crawler demo --headless crawls without it")
    database = named_database(arguments)

    from tui_crawler.cli.export_command import ended_by_signals
    from tui_crawler.cli.run_watch import watch
    from tui_crawler.wiring.demo import demo_headless, demo_serve

    def announce(seeds: Sequence[str]) -> None:
        if arguments.json:
            printer.document({"seeds": list(seeds)})
            return
        printer.lines(seeds)
        printer.note("serving the demo web; ctrl+c ends it")

    if arguments.serve_only:
        access_log = Path(arguments.access_log) if arguments.access_log else None
        with ended_by_signals():
            return demo_serve(arguments.port, access_log, announce)
    if arguments.headless:
        return watch(printer, arguments.json, lambda listener: demo_headless(database, arguments.port, listener))
    from tui_crawler.wiring.console import demo_console

    return demo_console(database, arguments.port)
