"""Putting files out of memory, so that the next start reads them from the disk, for `benchmarks.console`."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.console_terminal import BYTECODE, ROOT

_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")
_READ = ("*.pyc", "*.so", "*.dylib", "*.tcss")  # sources are not opened where there is bytecode


def put_away(database: Path) -> bool:
    """Has the system forget what the starts of this benchmark read; False where it cannot be told to.

    So it does by itself after a pause, where it puts files away that nobody has used for a while. What a running
    program has mapped stays: the interpreter of this benchmark and its own libraries, which all starts share.
    """
    if not hasattr(os, "posix_fadvise"):
        return False
    for file in _files(database):
        with suppress(OSError):
            opened = os.open(file, os.O_RDONLY)
            try:
                os.fsync(opened)  # what is not written yet cannot be forgotten
                os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(opened)
    return True


def _files(database: Path) -> Iterator[Path]:
    paths = sysconfig.get_paths()
    for folder in {Path(paths[name]) for name in _LIBRARIES} | {BYTECODE, ROOT / "tui_crawler"}:
        for pattern in _READ:
            yield from folder.rglob(pattern)
    yield from database.parent.glob(f"{database.name}*")
