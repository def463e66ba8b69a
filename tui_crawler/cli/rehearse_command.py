"""`rehearse`: a configuration in virtual time against stored pages; nothing is requested."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import configured_database, existing, named_database, place_named
from tui_crawler.cli.options import CommandSet, add_impolite
from tui_crawler.cli.printer import Printer, picked, safe
from tui_crawler.text.format import count, duration, plural

if TYPE_CHECKING:
    from tui_crawler.domain.history.run_totals import Rehearsed

_COUNTS = "fetched refused not_stored"


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "rehearse",
        "try a configuration against stored pages, in virtual time",
        execute,
        "Runs the crawl of CONFIG with the engine itself, on a simulated clock and with the responses stored in a"
        " database: what would be fetched, what refused, how long it would take. No request is sent, and the "
        "database is not changed. Pages that are not stored count as not_stored; they are assumed to respond, "
        "without links.",
        examples=("rehearse changed.yaml --from my-index.db", "rehearse my-index.yaml --json"),
    )
    parser.add_argument("file", metavar="CONFIG", help="the configuration (YAML)")
    stored = "the database with the pages (else --db, or that of CONFIG)"
    parser.add_argument("--from", metavar="DB", dest="stored", help=stored)
    add_impolite(parser)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.config.load import load_config
    from tui_crawler.wiring.rehearsal import rehearse

    config = load_config(Path(arguments.file), None, arguments.allow_impolite, looks_at_files=False, resolves=False)
    named = place_named(arguments.stored) if arguments.stored else named_database(arguments)
    took_ms, origins = rehearse(config, existing(named or configured_database(config)))
    by_origin = [
        picked(one, "origin", _COUNTS) | {"virtual_s": one.took_ms / 1000, "finish_reason": one.finish_reason}
        for one in origins
    ]
    sums = {name: sum(getattr(one, name) for one in origins) for name in _COUNTS.split()}
    document = {**sums, "virtual_s": took_ms / 1000, "by_origin": by_origin}
    pages, missing, refused = plural(sums["fetched"], "page"), count(sums["not_stored"]), count(sums["refused"])
    total = f"it would fetch {pages} ({missing} not stored) and refuse {refused}, in {duration(took_ms)}"
    return printer.answer(arguments.json, document, (*map(_line, origins), total))


def _line(one: Rehearsed) -> str:
    unknown = f", {count(one.not_stored)} not stored" if one.not_stored else ""
    what = f"{plural(one.fetched, 'page')} fetched, {count(one.refused)} refused{unknown}"
    return f"{safe(one.origin)}  {what}  {duration(one.took_ms)}"
