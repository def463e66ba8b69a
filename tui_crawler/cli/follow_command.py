"""`follow`: what changes in a crawl, one sentence each, as it happens: the accessible interface."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING

from tui_crawler.cli.known_names import chosen_database, existing, no_run, reports_of
from tui_crawler.cli.log_command import LOOK_S, follow
from tui_crawler.cli.options import CommandSet, duration
from tui_crawler.cli.printer import LINE_LIMIT, Printer, local_zone, safe

if TYPE_CHECKING:
    from tui_crawler.text.changes import Change

USUAL_EVERY_MS = 10_000
_COLOURS = {"failed_page": 31, "diagnosis": 33, "sum": 2, "run": 1}


def declare(commands: CommandSet) -> None:
    parser = commands.add(
        "follow",
        "print what changes, one sentence per line (for screen readers and logs)",
        execute,
        "Prints one sentence per change until the run ends: origins that start, pause, fail, stop or finish, "
        "robots.txt, raised delays, failed pages with the reason, rules, actions of operators, and what needs a "
        "person; a sum of the pages every 10 s; at the end what the crawl covered. This is the accessible interface "
        "to a crawl: with --plain no glyph, no colour, and no line is changed after it was printed. Reads only. "
        "Ends with the status of the run: 0, 1 when origins were stopped by errors, 3 when the run failed, 130 when it "
        "was interrupted.",
        examples=("follow --plain", "follow --plain --every 1m --wait --db my-index.db >> crawl.log"),
        json="one JSON object per change",
    )
    parser.add_argument("--plain", action="store_true", help="ASCII text without colours")
    parser.add_argument("--wait", action="store_true", help="wait for a run to start")
    every = "sum up the pages after this time (default: 10s)"
    parser.add_argument("--every", type=duration, metavar="TIME", default=USUAL_EVERY_MS, help=every)


def execute(arguments: argparse.Namespace, printer: Printer) -> int:
    from tui_crawler.cli.run_follower import RunFollower
    from tui_crawler.storage.db.file_identity import FileState, examine

    database = chosen_database(arguments)
    while arguments.wait and examine(database) is not FileState.current:
        time.sleep(LOOK_S)
    with reports_of(existing(database)) as reports:
        while arguments.wait and not ((run := reports.run()) and run.live):
            time.sleep(LOOK_S)
        if reports.run() is None:
            raise no_run(database, None)
        following = RunFollower(reports, arguments.every, lambda: time.time_ns() // 1_000_000)

        def tell(one: Change) -> bool:
            is_read = _show(one, printer, as_json=arguments.json, plain=arguments.plain)
            return is_read and one is not following.last

        follow(following.more, following.begin(), tell, time.sleep, printer.note)
    return following.status


def _show(change: Change, printer: Printer, *, as_json: bool, plain: bool) -> bool:
    from tui_crawler.text.format import clock, date_time
    from tui_crawler.text.glyphs import spelled_in_ascii

    if as_json:
        return printer.document({**change.as_document(), "words": change.words})
    terminal = sys.stdout.isatty()
    time_of_day = clock(change.at, local_zone()) if terminal else date_time(change.at, local_zone())
    line = f"{time_of_day} {safe(change.words, LINE_LIMIT)}"
    if plain:
        return printer.text(f"{spelled_in_ascii(line)}\n")
    colour = _COLOURS.get(change.event) if terminal and not os.environ.get("NO_COLOR") else None
    return printer.text(f"\x1b[{colour}m{line}\x1b[0m\n") if colour else printer.line(line)
