"""`db`: which database it is, whether it is whole, and its migration."""

from __future__ import annotations

import argparse

from tui_crawler.cli.known_names import chosen_database, existing_database
from tui_crawler.cli.options import CommandSet, add_common
from tui_crawler.cli.printer import Printer
from tui_crawler.cli.problem import ExitStatus


def declare(commands: CommandSet) -> None:
    group = commands.group("db", "check or migrate the database, or tell where it is")
    check = group.add(
        "check",
        "check the integrity of the database",
        _check,
        "Checks the file and its references, also of an earlier version; changes nothing. Exit status 3 when it is "
        "damaged.",
        examples=("db check",),
    )
    upgrade = group.add(
        "upgrade",
        "migrate an older database to this version, after a backup copy",
        _upgrade,
        "Migrates a database of an earlier version. A copy of it as it was is laid beside it first. A run does the "
        "same when it starts.",
        examples=("db upgrade --db my-index.db",),
    )
    path = group.add(
        "path",
        "print the path of the database that would be used",
        _path,
        examples=("sqlite3 \"$(tui-crawler db path)\" 'SELECT * FROM v_origin'",),
    )
    for parser in (check, upgrade, path):
        add_common(parser)


def _check(arguments: argparse.Namespace, printer: Printer) -> int:
    path = existing_database(arguments)

    from tui_crawler.storage.database import check_integrity

    found = check_integrity(path)
    older = f" (schema {found.schema}; this program reads {found.latest}: `tui-crawler db upgrade` migrates it)"
    if arguments.json:
        problems = list(found.problems)
        printer.document({"ok": not problems, "path": str(path), "problems": problems, "schema": found.schema})
    elif found.problems:
        printer.lines(found.problems)
        printer.error(f"{path} is damaged")
    else:
        printer.line(f"{path} is whole" + (older if found.schema < found.latest else ""))
    return ExitStatus.cannot_run if found.problems else ExitStatus.ok


def _upgrade(arguments: argparse.Namespace, printer: Printer) -> int:
    path = existing_database(arguments)

    from tui_crawler.storage.database import upgrade

    done = upgrade(path)
    lines = [f"{path} has the schema of this version already"]
    if done is not None:
        lines = [f"{path}: schema {done.from_version} is now {done.to_version}", f"as it was: {done.backup}"]
    backup = None if done is None else str(done.backup)
    return printer.answer(arguments.json, {"path": str(path), "upgraded": done is not None, "backup": backup}, lines)


def _path(arguments: argparse.Namespace, printer: Printer) -> int:
    path = chosen_database(arguments)
    return printer.answer(arguments.json, {"path": str(path), "exists": path.exists()}, (str(path),))
