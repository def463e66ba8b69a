"""Opening: whose file it is, of which version, whether it may be written; nothing that is not ours is touched."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import random
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import peewee
import pytest

from tests.storage.making import T0, A, plan
from tests.support.patience import PATIENT_S
from tui_crawler.domain.records.failure import NotOurDatabase, RunHeld, StorageFailure
from tui_crawler.storage.database_copy import copy_crawl
from tui_crawler.storage.db.database import check_integrity, open_readonly, open_writable, upgrade
from tui_crawler.storage.db.file_identity import APPLICATION_ID, FileState, examine
from tui_crawler.storage.db.open_settings import Durability, OpenSettings
from tui_crawler.storage.drivers.driver import connection_of, execute
from tui_crawler.storage.drivers.faults import storage_failure
from tui_crawler.storage.migrations import MIGRATIONS_DIRECTORY, latest_version, migrate, record_as_migrated
from tui_crawler.storage.models import create_tables
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore, StoreSettings
from tui_crawler.storage.workers.journal import Journal

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl.db"


def made(path: Path, settings: OpenSettings | None = None) -> None:
    open_writable(path, settings or OpenSettings()).close()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def schema(database: peewee.Database) -> set[str]:
    rows = execute(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'view'").fetchall()
    return {" ".join(row[0].split()).replace("( ", "(").replace(" )", ")").replace(" ,", ",") for row in rows}


def test_a_new_database_is_ours_and_whole(path):
    made(path)
    assert examine(path) is FileState.current
    assert check_integrity(path).problems == ()
    with sqlite3.connect(path) as raw:
        assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert raw.execute("PRAGMA user_version").fetchone() == (latest_version(),)
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    raw.close()


@pytest.mark.parametrize("killed", [False, True])
def test_an_empty_file_and_a_start_that_was_killed_before_the_schema_become_a_database(path, killed):
    path.touch()
    if killed:
        raw = sqlite3.connect(path)
        raw.execute("PRAGMA journal_mode = WAL")
        raw.close()
    assert (path.stat().st_size > 0) is killed
    assert examine(path) is FileState.absent
    made(path)
    assert examine(path) is FileState.current


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"\0" * 4096,
        random.Random(1).randbytes(5000),
        b"SQLite format 2\0" + b"\0" * 200,
        b"seeds: [https://a.example/]\n",
    ],
    ids=["one byte", "zeros", "random", "other magic", "a config"],
)
def test_what_is_no_database_is_refused_and_not_touched(path, content):
    path.write_bytes(content)
    before = digest(path)
    for attempt in (examine, lambda p: open_writable(p, OpenSettings()), open_readonly, SqliteStore, Reports, upgrade):
        with pytest.raises(NotOurDatabase, match="not a database of tui-crawler"):
            attempt(path)
    assert digest(path) == before
    assert list(path.parent.iterdir()) == [path]


def test_the_database_of_another_program_is_refused_and_not_touched(path):
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE bookmarks (id)")
    raw.commit()
    raw.close()
    before = digest(path)
    with pytest.raises(NotOurDatabase, match="another program"):
        SqliteStore(path)
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA application_id = 252006674")
    raw.close()
    with pytest.raises(NotOurDatabase, match="another program"):
        SqliteStore(path)
    assert digest(path) != before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_database_of_another_program_that_is_still_in_its_log_is_refused(path):
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("CREATE TABLE bookmarks (id)")
    raw.commit()
    assert path.with_name("crawl.db-wal").stat().st_size > 0
    with pytest.raises(NotOurDatabase, match="another program"):
        examine(path)
    raw.close()


def test_a_database_of_ours_that_is_still_in_its_log_is_known(path):
    open_one = open_writable(path, OpenSettings())
    assert examine(path) is FileState.current
    open_one.close()


def test_a_newer_schema_is_refused_and_not_touched(path):
    made(path)
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {latest_version() + 1}")
    raw.close()
    before = digest(path)
    for attempt in (SqliteStore, Reports, upgrade):
        with pytest.raises(NotOurDatabase, match="newer"):
            attempt(path)
    assert digest(path) == before


def test_folders_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(NotOurDatabase, match="folder"):
        SqliteStore(tmp_path)
    with pytest.raises(StorageFailure, match="does not exist"):
        SqliteStore(tmp_path / "nowhere" / "crawl.db")
    with pytest.raises(StorageFailure, match="no database"):
        Reports(tmp_path / "crawl.db")
    with pytest.raises(NotOurDatabase, match="regular file"):
        examine(Path("/dev/null"))
    assert list(tmp_path.iterdir()) == []


def test_all_migrations_in_turn_make_what_the_models_declare():
    by_models, by_migrations = (peewee.SqliteDatabase(":memory:") for _ in range(2))
    create_tables(by_models)
    assert len(migrate(by_migrations)) == latest_version()
    record_as_migrated(by_models)
    assert schema(by_migrations) == schema(by_models)
    assert migrate(by_models) == (), "a new database misses no migration"
    by_models.close()
    by_migrations.close()


@pytest.fixture
def later(tmp_path: Path) -> OpenSettings:
    """The migrations of a program one version later, with one more column."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for file in MIGRATIONS_DIRECTORY.glob("0*.py"):
        (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    number = latest_version() + 1
    (folder / f"{number:04}_favourite.py").write_text(
        "import peewee\n\n\ndef up(migrator, database):\n"
        "    column = peewee.TextField(default='none')\n"
        "    migrator.migrate(migrator.add_column('origin', 'favourite', column))\n",
        encoding="utf-8",
    )
    return OpenSettings(migrations=folder)


async def filled(path: Path) -> None:
    store = SqliteStore(path, StoreSettings(now=lambda: T0))
    await store.begin_run(plan())
    await store.end_run("exhausted", True)
    store.close()


async def test_an_older_database_is_copied_and_migrated(path, later):
    await filled(path)
    before = digest(path)
    assert examine(path, later) is FileState.older
    with pytest.raises(StorageFailure, match="older schema"):
        open_readonly(path, later)
    store = SqliteStore(path, StoreSettings(opening=later))
    store.close()
    (backup,) = path.parent.glob("*.bak")
    assert backup.name.startswith(f"crawl.db.schema{latest_version()}-")
    assert examine(path, later) is FileState.current
    assert examine(backup) is FileState.current
    database = open_readonly(path, later)
    assert execute(database, "SELECT origin, favourite FROM origin").fetchall() == [(A, "none")]
    assert execute(database, "SELECT origin FROM v_origin").fetchall() == [(A,)]
    told = execute(database, "SELECT message FROM v_activity WHERE event = 'schema_upgraded'").fetchall()
    version = latest_version()
    assert told == [(f"schema {version} is now {version + 1}, backup: {backup.name}",)]
    database.close()
    assert check_integrity(backup).problems == ()
    assert digest(path) != before
    assert upgrade(path, later) is None
    done = upgrade(backup, later)
    assert (done.from_version, done.to_version) == (version, version + 1)
    assert done.backup.is_file()


async def test_nothing_is_migrated_under_a_live_run(path, later):
    store = SqliteStore(path)
    await store.begin_run(plan())
    with pytest.raises(RunHeld):
        upgrade(path, later)
    with pytest.raises(RunHeld):
        SqliteStore(path, StoreSettings(opening=later))
    assert not list(path.parent.glob("*.bak"))
    store.close()


async def test_a_failing_migration_leaves_the_database_and_its_copy(path, later):
    await filled(path)
    broken = later.migrations / f"{latest_version() + 1:04}_favourite.py"
    broken.write_text(
        "def up(migrator, database):\n"
        "    database.execute_sql('ALTER TABLE origin ADD COLUMN favourite TEXT')\n"
        "    database.execute_sql('SELECT 1 FROM nowhere')\n",
        encoding="utf-8",
    )
    with pytest.raises(StorageFailure, match="nowhere"):
        upgrade(path, later)
    assert len(list(path.parent.glob("*.bak"))) == 1
    assert examine(path) is FileState.current
    made(path)
    with sqlite3.connect(path) as raw:
        assert "favourite" not in str(raw.execute("SELECT sql FROM sqlite_master WHERE name = 'origin'").fetchall())
        assert raw.execute("SELECT COUNT(*) FROM v_origin").fetchone() == (1,)
    raw.close()


class NoBackup(sqlite3.Connection):
    """A connection whose disk has no room for a copy."""

    def backup(self, *arguments: object, **more: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error


async def test_without_a_copy_nothing_is_migrated(path, later):
    await filled(path)
    before = digest(path)
    with pytest.raises(StorageFailure, match="disk is full"):
        upgrade(path, replace(later, connection=NoBackup))
    assert digest(path) == before
    assert not list(path.parent.glob("*.bak"))
    assert examine(path) is FileState.current


KILLED = """
import os
import sqlite3
import sys
from pathlib import Path

from tui_crawler.storage.db.database import upgrade
from tui_crawler.storage.db.open_settings import OpenSettings


class Killed(sqlite3.Connection):
    def backup(self, target):
        super().backup(target, pages=1, progress=lambda *_: os._exit(9))


upgrade(Path(sys.argv[1]), OpenSettings(migrations=Path(sys.argv[2]), connection=Killed))
"""


def test_a_kill_leaves_no_half_copy_under_the_name_of_one_and_the_next_upgrade_clears_up(path, later):
    asyncio.run(filled(path))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), str(later.migrations)], cwd=ROOT, check=False)
    assert killed.returncode == 9
    assert list(path.parent.glob("*.bak")) == []
    assert list(path.parent.glob("*.bak.part"))
    done = upgrade(path, later)
    assert list(path.parent.glob("*.bak*")) == [done.backup]
    assert check_integrity(done.backup).problems == ()


def test_many_that_make_the_same_database_at_once(path):
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: open_writable(path, OpenSettings(busy_ms=5_000)), range(4)))
    for database in opened:
        database.close()
    assert examine(path) is FileState.current
    assert check_integrity(path).problems == ()


def test_views_of_an_earlier_program_are_made_anew(path):
    made(path)
    raw = sqlite3.connect(path)
    raw.executescript("DROP VIEW v_run; CREATE VIEW v_run AS SELECT 1 AS run_id; DROP VIEW v_link;")
    raw.close()
    made(path)
    reports = Reports(path)
    assert "user_agent" in reports.columns("v_run")
    assert reports.columns("v_link")
    reports.close()


def test_durability_decides_what_a_power_loss_may_take(path):
    for durability, synchronous in ((Durability.normal, 1), (Durability.full, 2)):
        database = open_writable(path, OpenSettings(durability=durability))
        raw = connection_of(database)
        assert raw.execute("PRAGMA synchronous").fetchone() == (synchronous,)
        assert raw.execute("PRAGMA foreign_keys").fetchone() == (1,)
        database.close()


def test_a_damaged_database_names_its_newest_backup(path):
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    assert "no backup" in str(storage_failure(error, path))
    for stamp in ("20260101T000000Z", "20260202T000000Z"):
        path.with_name(f"crawl.db.schema1-{stamp}.bak").touch()
    assert "schema1-20260202" in str(storage_failure(error, path))


async def test_a_damaged_page_is_found_and_told(path):
    await filled(path)
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 4 * 4096] = random.Random(2).randbytes(4096)
    path.write_bytes(content)
    try:
        assert check_integrity(path).problems
    except StorageFailure as error:
        assert "damaged" in str(error)  # both ways of telling are good


READ_ONLY = """
import os
import random
import sys
from pathlib import Path
from tui_crawler.storage.drivers.faults import ReadOnlyDatabase
from tui_crawler.storage.workers.journal import Journal
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore
path = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)  # permissions do not stop root
reports = Reports(path)
print([row.origin for row in reports.origins_changed(0)], list(reports.rows("v_page", ("url",))))
for writer in (SqliteStore, Journal):
    try:
        writer(path)
    except ReadOnlyDatabase as error:
        print("read-only" in str(error))
print(sorted(p.name for p in path.parent.iterdir()))
"""


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_read_only_file_or_folder_opens_as_a_viewer(what):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Path(folder)
        place.chmod(0o755)
        path = place / "crawl.db"
        asyncio.run(filled(path))
        path.chmod(0o444)
        if what == "folder":
            place.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)],
            capture_output=True,
            text=True,
            timeout=PATIENT_S,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        place.chmod(0o755)
        assert done.stderr == ""
        assert done.stdout.splitlines()[:3] == [f"['{A}'] [('{A}/',)]", "True", "True"]
        assert "crawl.db" in done.stdout.splitlines()[3]


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if file.is_file()}


@pytest.fixture
def usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("usual_mask")
def test_a_private_database_is_its_owners_alone_with_all_that_is_made_beside_it(path):
    database = open_writable(path, OpenSettings(private=True))
    execute(database, "UPDATE meta SET value = value")
    assert {"crawl.db", "crawl.db-wal", "crawl.db-shm"} <= set(modes(path.parent))
    assert set(modes(path.parent).values()) == {0o600}
    (path.parent / "segment").touch()
    database.close()
    os.umask(0o022)
    journal = Journal(path)  # who does not know the configuration goes by the file
    (path.parent / "backup").touch()
    journal.close()
    assert set(modes(path.parent).values()) == {0o600}


@pytest.mark.usefixtures("usual_mask")
def test_a_database_that_others_can_read_is_made_private(path):
    first = open_writable(path, OpenSettings())
    execute(first, "UPDATE meta SET value = value")
    assert set(modes(path.parent).values()) == {0o644}
    second = open_writable(path, OpenSettings(private=True))
    assert set(modes(path.parent).values()) == {0o600}
    second.close()
    first.close()


@pytest.mark.usefixtures("usual_mask")
def test_copies_of_a_private_database_are_private(path):
    open_writable(path, OpenSettings(private=True)).close()
    os.umask(0o022)
    copy_crawl(path, path.with_name("copy.db"), lambda rows: None)
    os.umask(0o022)
    database = open_writable(path, OpenSettings())
    database.pragma("user_version", 1)
    database.close()
    os.umask(0o022)
    with contextlib.suppress(peewee.PeeweeException, StorageFailure):  # its tables are of this version already
        upgrade(path)
    assert any(name.endswith(".bak") for name in modes(path.parent))
    assert set(modes(path.parent).values()) == {0o600}
