"""The program: `tui-crawler`, and `python -m tui_crawler`."""

from __future__ import annotations

import codecs
import io
import sys

from tui_crawler.cli.main import main as run_command_line


def main() -> int:
    """Runs the command line on `sys.argv`; answers the exit status. What a terminal cannot spell is escaped."""
    codecs.register_error("spelled out", _spelled_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled out")
    return run_command_line()


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    """What a stream cannot encode (the handler of an encoding error): the mask of secrets as `***`, else escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].replace("•", "*")
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


if __name__ == "__main__":
    sys.exit(main())
