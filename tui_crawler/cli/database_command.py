"""`db`: which database it is, whether it is whole, its migration, and a copy of it elsewhere."""

import argparse
import os
import time
from pathlib import Path

from tui_crawler.cli.known_names import PASSWORD_VARIABLE, chosen_database, existing, existing_database, place_named
from tui_crawler.cli.options import PROGRAM, CommandSet
from tui_crawler.cli.printer import Printer, Progress, picked
from tui_crawler.cli.problem import ExitStatus, UsageProblem
from tui_crawler.domain.records.failure import StorageHeldUp


def declare(commands: CommandSet) -> None:
    group = commands.group("db", "check, migrate or copy the database, or print its path")
    group.add(
        "check",
        "check the integrity of the database",
        _check,
        "Checks the file and its references, also of an earlier version; changes nothing. Exit status 3 when it is "
        "damaged.",
        examples=("db check",),
    )
    group.add(
        "upgrade",
        "migrate an older database to this version, after a backup copy",
        _upgrade,
        "Migrates a database of an earlier version. A backup is written next to the database first. A run does "
        "the same when it starts.",
        examples=("db upgrade --db my-index.db",),
    )
    group.add(
        "path",
        "print the path of the database that would be used",
        _path,
        examples=("sqlite3 \"$(tui-crawler db path)\" 'SELECT * FROM v_origin'",),
    )
    copy = group.add(
        "copy",
        "copy a crawl to PostgreSQL, to SQLite, or to another of the same",
        _copy,
        "Copies a crawl that no run uses to a new place: both are a path or postgresql://HOST/NAME. All rows are "
        "read again and compared, by counts and hashes. An interrupted copy is continued by the same command; no "
        "other command opens a copy before it is complete.",
        examples=("db copy crawl.db postgresql://localhost/crawl", "db copy postgresql://localhost/crawl crawl.db"),
    )
    copy.add_argument("source", metavar="FROM", help="the crawl")
    copy.add_argument("target", metavar="TO", help="a database that does not exist, is empty, or an unfinished copy")


def _check(arguments: argparse.Namespace, printer: Printer) -> int:
    path = existing_database(arguments)

    from tui_crawler.storage.db.database import check_integrity

    found = check_integrity(path)
    older = f" (schema {found.schema}; this program reads {found.latest}: `tui-crawler db upgrade` migrates it)"
    if arguments.json:
        problems = list(found.problems)
        printer.document({"ok": not problems, "path": str(path), "problems": problems, "schema": found.schema})
    elif found.problems:
        printer.lines(found.problems)
        printer.error(f"{path} is damaged")
    else:
        printer.line(f"{path}: ok" + (older if found.schema < found.latest else ""))
    return ExitStatus.cannot_run if found.problems else ExitStatus.ok


def _upgrade(arguments: argparse.Namespace, printer: Printer) -> int:
    path = existing_database(arguments)

    from tui_crawler.storage.db.database import upgrade

    done = upgrade(path)
    lines = [f"{path} has the schema of this version already"]
    if done is not None:
        lines = [f"{path}: schema {done.from_version or 'none'} is now {done.to_version}"]
        lines += [f"backup: {done.backup}"] if done.backup else []
    backup = str(done.backup) if done is not None and done.backup else None
    return printer.answer(arguments.json, {"path": str(path), "upgraded": done is not None, "backup": backup}, lines)


def _path(arguments: argparse.Namespace, printer: Printer) -> int:
    path = chosen_database(arguments)
    return printer.answer(arguments.json, {"path": str(path), "exists": path.exists()}, (str(path),))


def _copy(arguments: argparse.Namespace, printer: Printer) -> int:
    source, password = existing(place_named(arguments.source)), os.environ.get(PASSWORD_VARIABLE)
    target = place_named(arguments.target)
    if password != os.environ.get(PASSWORD_VARIABLE) and not isinstance(source, Path):
        raise UsageProblem("FROM and TO have passwords of their own", hint="put both into ~/.pgpass or a service file")

    from tui_crawler.storage.database_copy import copy_crawl

    progress, begun = Progress("rows copied"), time.monotonic()
    try:
        made = copy_crawl(source, target, progress)
    except (KeyboardInterrupt, StorageHeldUp):
        printer.note("interrupted; run the same command again to continue")
        raise
    finally:
        progress.clear()
    seconds = round(time.monotonic() - begun, 1)
    rows, size = sum(table.rows for table in made.tables), sum(table.bytes for table in made.tables)
    for path in made.segments:
        printer.note(f"not copied: {path}; `{PROGRAM} queue load {path} --db {target}` loads it")
    if made.changed_texts:
        printer.note(f"{made.changed_texts} texts held what no database takes, which is U+FFFD in the copy")
    lines = (f"{source} is copied to {target}: {rows} rows in {seconds} s, read again and found the same",)
    tables = [picked(table, "table rows bytes hash") for table in made.tables]
    document = {"from": str(source), "to": str(target), "tables": tables, "rows": rows, "bytes": size}
    document |= {"seconds": seconds, "resumed_rows": made.there, "changed_texts": made.changed_texts}
    return printer.answer(arguments.json, document | {"not_copied": [*map(str, made.segments)]}, lines)
