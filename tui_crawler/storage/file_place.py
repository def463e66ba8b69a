"""Whether an open database still stands at its path: what is written to a deleted file is lost without an error."""

from __future__ import annotations

from pathlib import Path


class FilePlace:
    """Remembers which file stands at `path`; made when the database has just been opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _file_at(path)

    def is_same(self) -> bool:
        """Whether the file that stands there is still the one."""
        return _file_at(self._path) == self._file

    def check(self) -> None:
        """Raises StorageFailure when the file was deleted, moved away or replaced. Looks at the folder, not inside."""
        found = _file_at(self._path)
        if found == self._file:
            return
        from tui_crawler.domain.failure import StorageFailure  # noqa: PLC0415  the console's first paint does not wait for it

        become = "deleted or moved away" if found is None else "replaced by another file"
        raise StorageFailure(f"the database was {become} while it was open: {self._path}")


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
