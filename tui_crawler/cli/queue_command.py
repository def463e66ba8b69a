"""`queue`: segments of the offline mode (M), built from what was crawled and loaded into the queue."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui_crawler.cli.actions import carry_out, value_of
from tui_crawler.cli.known_names import configuration_file, database_of_run, existing, existing_database, named_database
from tui_crawler.cli.options import CommandSet, add_ignore_database_name
from tui_crawler.cli.printer import Printer, picked, safe
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.records.command import LoadSegment
from tui_crawler.domain.records.database_place import DatabasePlace
from tui_crawler.text.format import count, plural

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config
    from tui_crawler.domain.records.segment import SegmentHead

PATIENCE_S = 120.0
"""So long a live run may take to load a segment."""

_ORIGINS_TOLD = 20


def declare(commands: CommandSet) -> None:
    group = commands.group("queue", "write what an offline crawl has found into segments, and load them")
    build = group.add(
        "build",
        "write what an offline crawl has found into segments",
        _build,
        "Scans the documents that were not scanned yet, puts their links through the filters of the configuration, "
        "drops the URLs that are known, and writes the others into segments: files sorted by origin and URL. Also "
        "while a run is live.",
        examples=("queue build my-index.yaml --output segments",),
    )
    folder = "folder for the segments (default: segments, next to the database)"
    build.add_argument("file", metavar="CONFIG", nargs="?", help="the configuration (else that of the newest run)")
    build.add_argument("--output", metavar="DIR", help=folder)
    add_ignore_database_name(build)
    load = group.add(
        "load",
        "take a segment into the queue, once",
        _load,
        "Takes the URLs of a segment into the queue, also while a run is live. A segment is loaded once: a copy of it "
        "is the same segment. Of a folder the oldest segment that waits is loaded.",
        examples=("queue load", "queue load segments --all"),
    )
    place = "a segment, or a folder (default: segments, next to the database)"
    load.add_argument("place", metavar="FILE", nargs="?", help=place)
    load.add_argument("--all", action="store_true", help="load all segments of the folder that wait")


def _build(arguments: argparse.Namespace, printer: Printer) -> int:
    config, database = _configured(arguments)
    output = None if arguments.output is None else Path(arguments.output).absolute()
    if output is not None and ("\0" in arguments.output or not output.is_dir()):
        raise UsageProblem(f"--output {arguments.output}: there is no such folder")

    from tui_crawler.wiring.offline import build

    built = build(config, database, output)
    for warning in built.warnings:
        printer.note(f"warning: {warning}")
    segments = [{"path": str(one.path), "urls": one.urls} for one in built.segments]
    document = picked(built, "scanned found known refused") | {"segments": segments}
    found = f"{plural(built.scanned, 'page')} scanned, {plural(built.found, 'URL')} found"
    lines = [f"{found}: {count(built.known)} already known, {count(built.refused)} refused"]
    lines += [f"{safe(str(one.path), 4_096)}  {plural(one.urls, 'URL')}" for one in built.segments]
    lines += [] if built.segments else ["nothing new: no segment was written"]
    return printer.answer(arguments.json, document, lines)


def _configured(arguments: argparse.Namespace) -> tuple[Config, DatabasePlace]:
    """Return configuration and database: as for `run` where a configuration is named, else that of the newest run.
    Raises UsageProblem."""
    if arguments.file is not None and arguments.config is not None:
        raise UsageProblem("two configurations are named", hint="leave --config out")
    file = configuration_file(arguments)
    if file is not None:
        from tui_crawler.config.load import load_config

        config = load_config(Path(file), None, True, looks_at_files=named_database(arguments) is None, resolves=False)
        return config, existing(database_of_run(arguments, config))
    database = existing_database(arguments)

    from tui_crawler.wiring.origin_settings import kept_config

    kept = kept_config(database)
    if kept is None:
        raise UsageProblem(f"{database} keeps no configuration of a run", hint="tui-crawler queue build CONFIG")
    return kept, database


def _load(arguments: argparse.Namespace, printer: Printer) -> int:
    database = existing_database(arguments)
    segments = _chosen(arguments, database, printer)
    documents: list[dict[str, object]] = []
    try:
        for path, head in segments:
            after = value_of(carry_out(database, LoadSegment(str(path)), PATIENCE_S).after)
            loaded: dict[str, int] = after.get("pages", {}) if isinstance(after, dict) else {}
            known = head.urls - sum(loaded.values())
            documents.append({"loaded": loaded, "known": known, "segment": head.name})
            if not arguments.json:
                printer.lines(_loaded_lines(loaded, known, head.name))
    finally:
        if arguments.json and (documents or not segments):
            first = documents[0] if documents else {"loaded": {}, "known": 0, "segment": None}
            printer.document({"segments": documents} if arguments.all else first)
    if not segments and not arguments.json:
        printer.line("no segment waits to be loaded")
    return ExitStatus.ok


def _chosen(
    arguments: argparse.Namespace, database: DatabasePlace, printer: Printer
) -> Sequence[tuple[Path, SegmentHead]]:
    from tui_crawler.storage.db.segment_files import read_head
    from tui_crawler.wiring.offline import segment_folder

    place = None if arguments.place is None else Path(arguments.place).absolute()
    is_file = place is not None and not place.is_dir()
    if is_file and arguments.all:
        raise UsageProblem(f"--all is for a folder, {place} is none")
    if place is not None and is_file:
        return ((place, read_head(place)),)  # whether it was consumed is not asked
    folder = segment_folder(database, place)
    for problem in folder.problems:
        printer.note(f"warning: {problem}")
    return folder.waiting if arguments.all else folder.waiting[:1]


def _loaded_lines(loaded: dict[str, int], known: int, segment: str) -> Iterator[str]:
    known_too = f", {count(known)} already known" if known else ""
    yield f"{plural(sum(loaded.values()), 'page')} loaded{known_too}  {safe(segment)}"
    yield from (f"  {count(number)} {safe(origin)}" for origin, number in list(loaded.items())[:_ORIGINS_TOLD])
    if len(loaded) > _ORIGINS_TOLD:
        yield f"  and {plural(len(loaded) - _ORIGINS_TOLD, 'more origin')}"
