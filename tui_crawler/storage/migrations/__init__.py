"""Numbered migrations, run by peewee's own runner, which keeps their names in the table `schema_migration`.

A migration is a file `NNNN_name.py` with `up(migrator, database)`, which brings the schema of the one before it to its
own version: `statements` makes it of SQL. A new database is made from the models at once;
a test keeps both ways equal.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import peewee

MIGRATIONS_DIRECTORY = Path(__file__).parent
_COLUMNS = {"NUMBER": "INTEGER NOT NULL DEFAULT 0", "STRING": "TEXT NOT NULL DEFAULT ''"}
"""What most columns are, as in the models: a short word for it in the texts of migrations."""


def statements(text: str) -> Callable[[Any, peewee.Database], None]:
    """What executes these SQL statements, each of which ends in a semicolon. A line that begins with -- is a remark."""
    said = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("--"))
    for short, meant in _COLUMNS.items():
        said = said.replace(short, meant)

    def up(_migrator: Any, database: peewee.Database) -> None:
        for statement in said.split(";"):
            if words := statement.split():
                database.execute_sql(" ".join(words))  # type: ignore[no-untyped-call]  # untyped in the stubs

    return up


def latest_version(directory: Path = MIGRATIONS_DIRECTORY) -> int:
    """The schema version of this program: the number of its last migration."""
    return max(int(file.name.split("_", 1)[0]) for file in directory.glob("[0-9]*_*.py"))


def migrate(database: peewee.Database, directory: Path = MIGRATIONS_DIRECTORY) -> tuple[str, ...]:
    """Runs what is missing, each migration in its own transaction. Answers their names."""
    from playhouse.migrations import Runner  # noqa: PLC0415  every start asks for the version, few migrate

    runner: Any = Runner(database, str(directory))  # type: ignore[no-untyped-call]  # playhouse has no types
    return tuple(runner.up())


def record_as_migrated(database: peewee.Database, directory: Path = MIGRATIONS_DIRECTORY) -> None:
    """Notes for a database made from the models that no migration is missing, as the runner would, which is large."""
    from tui_crawler.storage.drivers.driver import execute  # noqa: PLC0415  it loads peewee

    columns = '"id" INTEGER NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL, "applied" DATETIME NOT NULL'
    database.execute_sql(f'CREATE TABLE "schema_migration" ({columns})')  # type: ignore[no-untyped-call]  # untyped in the stubs
    database.execute_sql('CREATE UNIQUE INDEX "schema_migration_name" ON "schema_migration" ("name")')  # type: ignore[no-untyped-call]  # untyped in the stubs
    for file in sorted(directory.glob("[0-9]*_*.py")):
        now = str(datetime.now(UTC).replace(tzinfo=None))
        execute(database, "INSERT INTO schema_migration (name, applied) VALUES (?, ?)", (file.stem, now))
