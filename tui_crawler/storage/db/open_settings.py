"""How a database is opened."""

import sqlite3
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tui_crawler.storage.migrations import MIGRATIONS_DIRECTORY, latest_version

UNFINISHED = 2**31 - 1
"""The schema version of a copy until it is whole: one that no program takes for its own."""


class Durability(Enum):
    """What survives a power loss: `full` every commit, `normal` the whole database, perhaps not the last commits."""

    normal = "normal"
    full = "full"


@dataclass(frozen=True, slots=True)
class OpenSettings:
    """How databases are opened. `busy_ms` is how long SQLite itself waits for a lock.

    `connection` is the class of the connections, `migrations` the folder of the numbered migrations.
    `unfinished`: a copy that is not finished is meant, and nothing else; it has no indices. `private`: only its owner
    may read a file that is written, as where one that only its owner may read is there.
    """

    durability: Durability = Durability.normal
    busy_ms: int = 1_000
    connection: type[sqlite3.Connection] = sqlite3.Connection
    migrations: Path = MIGRATIONS_DIRECTORY
    unfinished: bool = False
    private: bool = False

    @property
    def version(self) -> int:
        """The version of the schema that is meant."""
        return UNFINISHED if self.unfinished else latest_version(self.migrations)


USUAL = OpenSettings()
