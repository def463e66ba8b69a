"""The program: `tui-crawler`, and `python -m tui_crawler`."""

from __future__ import annotations

import io
import sys

from tui_crawler.cli.main import main as run_command_line


def main() -> int:
    """Runs the command line on `sys.argv`; answers the exit status. What a terminal cannot spell is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return run_command_line()


if __name__ == "__main__":
    sys.exit(main())
