"""`tui-crawler` on a disk without room: no connection lets its database grow while the file SWITCH exists.

`python -m tests.e2e.full_disk_child SWITCH WORD…`
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Any

SWITCH = Path(sys.argv[1])
_MANY = 1_000_000


class FullDisk(sqlite3.Connection):
    """A connection whose database takes no new page while there is a switch."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        if str(arguments[0]).startswith("BEGIN IMMEDIATE"):
            super().execute(f"PRAGMA max_page_count={1 if SWITCH.exists() else _MANY}")
        return super().execute(*arguments)


def main() -> int:
    """Runs the command line with such connections."""
    from tui_crawler.cli.main import main as run_command_line  # noqa: PLC0415  after the switch is read
    from tui_crawler.storage import open_settings  # noqa: PLC0415  the same

    made = open_settings.OpenSettings.__init__
    made.__defaults__ = tuple(FullDisk if one is sqlite3.Connection else one for one in made.__defaults__ or ())
    return run_command_line(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
