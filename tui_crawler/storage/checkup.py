"""Whether a database is whole: what SQLite's own checks find, of this version or an older one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tui_crawler.domain.run import StorageFailure
from tui_crawler.storage.database import connect_readonly
from tui_crawler.storage.driver import DATABASE_ERRORS, execute
from tui_crawler.storage.faults import storage_failure
from tui_crawler.storage.file_identity import FileState, examine
from tui_crawler.storage.log_file import has_log_file, put_log_away
from tui_crawler.storage.migrations import latest_version
from tui_crawler.storage.open_settings import OpenSettings


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found; no problems when all is well. `schema` is the file's own version, `latest` this program's."""

    problems: tuple[str, ...]
    schema: int
    latest: int


def check_up(path: Path, settings: OpenSettings | None = None) -> Checkup:
    """What integrity_check and foreign_key_check find wrong. Changes nothing. Raises NotOurDatabase, StorageFailure."""
    settings, found_log = settings or OpenSettings(), has_log_file(path)
    if examine(path, settings) is FileState.absent:
        raise StorageFailure(f"there is no database at {path}")
    try:
        database = connect_readonly(path, settings)
        try:
            said = [str(row[0]) for row in execute(database, "PRAGMA integrity_check").fetchall()]
            broken = execute(database, "PRAGMA foreign_key_check").fetchall()
            schema = database.pragma("user_version")
        finally:
            database.close()
            if not found_log:
                put_log_away(path, only_empty=True)
    except DATABASE_ERRORS as error:
        raise storage_failure(error, path) from error
    problems = [problem for problem in said if problem != "ok"]
    problems += [f"{table} row {row} refers to a missing row of {parent}" for table, row, parent, _ in broken]
    return Checkup(tuple(problems), schema, latest_version(settings.migrations))
