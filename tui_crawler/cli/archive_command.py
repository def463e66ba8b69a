"""`archive`: a site with all its resources, as a web archive."""

import argparse
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path

from tui_crawler.cli import export_command
from tui_crawler.cli.known_names import reports_of
from tui_crawler.cli.options import EVENTS, CommandSet
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.seed_crawl import ENDING, add_seed_run, run_seeds, site_of
from tui_crawler.domain.records.content_kind import PAGE_KINDS
from tui_crawler.text.format import plural

SETTINGS: Mapping[str, object] = {
    "crawl.link_kinds_queued": [kind.value for kind in PAGE_KINDS],
    "crawl.canonical": "ignore",
    "crawl.recheck": True,
    "storage.store_bodies": "all",
    **ENDING,
}
"""What an archive is, by dotted key of the configuration. A later call fetches every page again."""
_EXPORT = {"what": "bodies", "format": "warc", "columns": None, "origin": "", "exit_code": "", "since": None}
"""The options of `export` that write a web archive."""
_DESCRIPTION = """\
Crawls a site without the console, keeps pages, images, styles, scripts and media with their bodies, and writes a WARC
file named after the site. Resources on other hosts are left out and counted.
"""


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "archive",
        "crawl a site with all its resources and write a WARC",
        execute,
        _DESCRIPTION,
        examples=("archive https://example.org/", "archive https://example.org/ --output example.warc.gz"),
        json=EVENTS,
    )
    add_seed_run(parser)
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="write the archive here; one named .warc is not compressed (default: example.org.warc.gz, or a free name)",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(fail_on={}, bom=False, **_EXPORT)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    stem = site_of(arguments)
    names = chain((f"{stem}.warc.gz",), (f"{stem}-{number}.warc.gz" for number in count(2)))
    free = next(name for name in names if not Path(name).exists())  # an older archive is not replaced
    status, database, path = run_seeds(arguments, printer, "archive", free, SETTINGS)
    if path is None:
        return status
    arguments.db = str(database)
    export_command.execute(arguments, printer)
    with reports_of(database) as reports:
        left_out = reports.requisites_left_out()
    if left_out:
        printer.note(f"left out: {plural(left_out, 'image, style, script or media file')} outside of the crawl")
    return status
