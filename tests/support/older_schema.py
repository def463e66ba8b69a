"""A database as an earlier version left it."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import peewee

from tui_crawler.storage.db.file_identity import APPLICATION_ID
from tui_crawler.storage.migrations import MIGRATIONS_DIRECTORY, migrate

OLDER = 3


def make_older(path: Path) -> None:
    """Brings a database back to schema 3: what its migrations make, with the rows as far as they had a place then."""
    with TemporaryDirectory() as folder:
        for number in range(1, OLDER + 1):
            (file,) = MIGRATIONS_DIRECTORY.glob(f"{number:04}_*.py")
            shutil.copy(file, folder)
        former = Path(folder) / "former.db"
        database = peewee.SqliteDatabase(former)
        migrate(database, Path(folder))
        database.close()
        with closing(sqlite3.connect(former)) as older:
            _take_rows(older, path)
            older.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            older.execute(f"PRAGMA user_version = {OLDER}")
        for left in path.parent.glob(f"{path.name}*"):
            left.unlink()
        shutil.move(former, path)


def _take_rows(older: sqlite3.Connection, path: Path) -> None:
    """Every column that both have; a page was found by the hash of its URL then."""
    older.execute("ATTACH ? AS newer", (str(path),))
    with older:
        tables = [name for (name,) in older.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
        for table in tables:
            if table in {"schema_migration", "sqlite_sequence"}:
                continue
            sides = [
                [row[1] for row in older.execute(f"PRAGMA {side}.table_info({table})")] for side in ("main", "newer")
            ]
            both = ", ".join(f'"{name}"' for name in sides[0] if name in sides[1])
            more = (", url_hash", ", (SELECT hash FROM url u WHERE u.id = url_id)") if table == "page" else ("", "")
            older.execute(f"INSERT INTO main.{table} ({both}{more[0]}) SELECT {both}{more[1]} FROM newer.{table}")
    older.execute("DETACH newer")
