"""The program: `tui-crawler`, and `python -m tui_crawler`."""

import codecs
import gc
import io
import os
import sys

from tui_crawler.text.terminal_charset import has_utf8


def main() -> int:
    """Run the command line on `sys.argv`; return the exit status. What the streams cannot encode is spelled out: in
    the locale C all that is not ASCII, although Python makes UTF-8 of it (PEP 538, PEP 540)."""
    gc.disable()  # what is loaded stays
    from tui_crawler.cli.main import main as run_command_line

    gc.enable()
    codecs.register_error("spelled out", _spelled_out)
    said = {"PYTHONIOENCODING", "PYTHONUTF8"} & os.environ.keys()
    encoding = None if said or has_utf8(os.environ) else "ascii"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="spelled out")
    status = run_command_line()
    gc.freeze()  # the end of the process need not look for garbage in what has been loaded
    return status


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    """Return the replacement for characters that a stream cannot encode (an error handler of codecs)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from tui_crawler.text.glyphs import spelled_in_ascii

    return spelled_in_ascii(error.object[error.start : error.end]), error.end


if __name__ == "__main__":
    sys.exit(main())
