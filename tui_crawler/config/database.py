"""Which database a configuration names, and the guard that keeps a crawl from another one's database."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote

from tui_crawler.config.kinds import Plain, text_of, text_schema
from tui_crawler.config.problem import BadValue, SourcePlace, visible
from tui_crawler.config.reader import ConfigReader
from tui_crawler.config.tree import Node, describe
from tui_crawler.domain.records.database_place import (
    DatabasePlace,
    PostgresPlace,
    is_server_url,
    location_of,
    parse_server_url,
)

if TYPE_CHECKING:
    from tui_crawler.config.schema import Config

SQLITE_MAGIC = b"SQLite format 3\0"
_LONGEST = 4096  # characters
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Database:
    """`location` is the absolute path of the SQLite file, or the URL of a database on a server without its `password`.
    `given` is the text of the `database` key, empty when the configuration has none (then the guard asks for nothing).
    """

    location: str
    given: str = ""
    password: str = field(default="", repr=False)


class DatabaseName(Plain):
    """The `database` key: a file beside the configuration, or a database on a PostgreSQL server."""

    accepts = "the path of an SQLite file or postgresql://HOST/NAME"
    schema = text_schema(minLength=1, maxLength=_LONGEST)

    def read(self, node: Node, at: str, reader: ConfigReader) -> Database:
        text = text_of(node, self)
        if not text or len(text) > _LONGEST or not text.isprintable():
            raise BadValue(node.mark, f"expected {self.accepts}, found {describe(node)}")
        if is_server_url(text):
            return _on_server(text, node.mark, self.accepts, resolves=reader.resolves)
        if "://" in text:
            raise BadValue(node.mark, f"expected {self.accepts}, found a URL")  # which may hold a password
        if text.lower().startswith("file:") or text == ":memory:":
            raise BadValue(node.mark, f"expected {self.accepts}, found {describe(node)}", "name a plain file")
        path = (reader.folder / text).absolute()
        if reader.looks_at_files:
            check_file(path, node.mark)
        return Database(str(path), text)

    def show(self, value: Database) -> str:
        return str(PostgresPlace(value.location)) if is_server_url(value.location) else value.location


def _on_server(text: str, mark: SourcePlace, accepts: str, *, resolves: bool) -> Database:
    """`${NAME}` in the URL stands for a variable of the environment, which need be there only where secrets are."""
    if resolves and (missing := [name for name in _VARIABLE.findall(text) if name not in os.environ]):
        raise BadValue(mark, f"the environment has no variable {missing[0]}")
    try:
        whole = _VARIABLE.sub(lambda found: quote(os.environ.get(found[1], ""), safe=""), text)
        place, password = parse_server_url(whole)
        shown, written = parse_server_url(text)
    except ValueError as problem:
        raise BadValue(mark, f"expected {accepts}, found another URL", str(problem)) from None
    if written and not _VARIABLE.fullmatch(written):
        raise BadValue(mark, "contains a password", "write ${NAME}, a variable of the environment, or use PGPASSWORD")
    return Database(place.url, str(shown), password)


def check_file(path: Path, mark: SourcePlace) -> None:
    """Raise BadValue unless `path` can be the database: its folder exists, and what is there already is an
    SQLite file or empty. Nothing is made or changed."""
    shown, folder = visible(str(path), 200), visible(str(path.parent), 200)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BadValue(mark, f"{shown} is a folder", "name a file in it")
        if not stat.S_ISREG(mode):
            raise BadValue(mark, f"{shown} is a device, not a file", "name a plain file")
        with path.open("rb") as file:
            head = file.read(len(SQLITE_MAGIC))
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise BadValue(mark, f"the folder {folder} does not exist", "make it first") from None
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadValue(mark, f"{shown} cannot be read: {reason.lower()}") from None
    if head and head != SQLITE_MAGIC:
        raise BadValue(mark, f"{shown} is not an SQLite database", "name another file; this one is left unchanged")


def guard_database(config: Config, opened: DatabasePlace | str) -> str | None:
    """Return None when `opened` is the database the configuration asks for, else an error that names both (U). A
    configuration without `database` asks for none."""
    wanted = config.database.given
    if not wanted or location_of(opened) == config.database.location:
        return None
    parts = PurePath(os.path.normpath(wanted)).parts
    segments = parts[parts.count(os.pardir) :]  # an opened path has no leading `..`
    opened = Path(str(opened))
    if any(full.parts[-len(segments) :] == segments for full in (opened.absolute(), opened.resolve())):
        return None
    found, asked, source = (visible(str(one), 200) for one in (opened, wanted, config.source_of("database")))
    return f"the database {found} does not belong to this configuration, which names {asked} ({source})"
