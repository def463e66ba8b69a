"""`tui-crawler` on a disk without room: no connection lets its database grow while the file SWITCH exists.

Where SWITCH has a text, no transaction begins: that result code of SQLite ("SQLITE_CORRUPT") is raised.

`python -m tests.e2e.full_disk_child SWITCH WORD…`; the processes that it starts have the same disk.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

SWITCH = "TUI_CRAWLER_TEST_FULL_DISK"
_MANY = 1_000_000


class FullDisk(sqlite3.Connection):
    """A connection whose database takes no new page, or nothing, while there is a switch."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        if str(arguments[0]).startswith("BEGIN IMMEDIATE"):
            switch = Path(os.environ[SWITCH])
            if code := switch.read_text(encoding="ascii") if switch.exists() else "":
                error = sqlite3.OperationalError(f"{code} by the test")
                error.sqlite_errorcode = getattr(sqlite3, code)
                raise error
            super().execute(f"PRAGMA max_page_count={1 if switch.exists() else _MANY}")
        return super().execute(*arguments)


def fill() -> None:
    """From now on this process has such connections."""
    from tui_crawler.storage.db import open_settings  # noqa: PLC0415  after the switch is named

    made = open_settings.OpenSettings.__init__
    made.__defaults__ = tuple(FullDisk if one is sqlite3.Connection else one for one in made.__defaults__ or ())


def main() -> int:
    """Runs the command line with such connections."""
    from tui_crawler.cli.main import main as run_command_line  # noqa: PLC0415  after the switch is named

    here = Path(__file__).parent
    os.environ[SWITCH] = sys.argv[1]
    os.environ["PYTHONPATH"] = os.pathsep.join((str(here / "full_disk"), str(here.parents[1])))
    fill()
    return run_command_line(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
