"""From a configuration file to its text: size, kind of file, encoding and characters are checked first."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from tui_crawler.config.problem import Mark, Refused

MAX_FILE_BYTES = 4 * 1024 * 1024
_NOT_YAML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")  # YAML 1.2.2, 5.1


def read_text(path: Path) -> str:
    """The text of a configuration file without its byte order mark.

    Raises Refused when there is no such file, it may not be read, is no regular file, is larger than 4 MiB, is not
    UTF-8, or holds a character YAML does not allow (NUL, escape…).
    """
    whole = Mark(str(path))
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise Refused(whole, "is a folder", "name a YAML file")
        if not stat.S_ISREG(status.st_mode):
            raise Refused(whole, "is not a regular file", "name a YAML file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(whole, f"cannot be read: {reason.lower()}") from error
    if len(data) > MAX_FILE_BYTES:
        raise Refused(whole, f"is larger than {MAX_FILE_BYTES // 1024**2} MiB, the limit of a configuration")
    return _checked(_decoded(data, str(path)), str(path))


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line_start = before.rfind(b"\n") + 1
        mark = Mark(file, before.count(b"\n") + 1, len(before[line_start:].decode("utf-8", "replace")) + 1)
        raise Refused(
            mark, f"is not UTF-8: the byte {data[error.start]:#04x} cannot stand here", "save the file as UTF-8"
        ) from error


def _checked(text: str, file: str) -> str:
    bad = _NOT_YAML.search(text)
    if bad is None:
        return text
    start = bad.start()
    mark = Mark(file, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
    raise Refused(mark, f"the character U+{ord(bad[0]):04X} is not allowed in YAML", "remove it")
