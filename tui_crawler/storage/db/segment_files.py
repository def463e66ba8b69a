"""The files of segments: written under names of their own until the database knows them, read with their digest.

A batch is what one build, or one saving of a rest, writes. While it is under way its files end in ".part", and a lock
on a file of the batch says that its writer lives; so whoever finds the files of a writer that was killed may finish or
remove them.
"""

import contextlib
import errno
import hashlib
import itertools
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from tui_crawler.domain.records import segment
from tui_crawler.domain.records.failure import BadSegment, StorageFailure
from tui_crawler.storage.db.file_identity import uri_of
from tui_crawler.storage.drivers.faults import is_busy

PART = ".part"
_LOCK = ".lock"
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_BLOCK = 1 << 20  # bytes that are written at once


def final_path(folder: Path, name: str) -> Path:
    """Where a segment lies when it is finished."""
    return folder / f"{name}{segment.SUFFIX}"


def part_path(path: Path) -> Path:
    """Where it lies until the database knows it."""
    return path.with_name(path.name + PART)


class Batch:
    """The files of one batch in `folder`. `prefix` begins the names of its segments, and of no other batch.

    First `write`; then `hand_over`, before the database is told of `heads`; then `publish`; at the end, whatever has
    happened, `close`. Making it raises StorageFailure for a folder that does not exist or cannot be written.
    """

    def __init__(self, folder: Path, prefix: str, created_at: int) -> None:
        self._folder = folder
        self._prefix = prefix
        self._created_at = created_at
        self._handed_over = False
        self.heads: list[segment.SegmentHead] = []
        try:
            self._lock = _locked(folder / f"{prefix}{_LOCK}")
        except OSError as error:
            raise write_failure(error, folder) from error

    def write(self, entries: Iterable[tuple[str, segment.SegmentPage]], segment_urls: int) -> None:
        """Writes the URLs (job and entry; sorted by job, origin, URL) into segments of so many URLs and one job each.

        Raises StorageFailure.
        """
        for job, of_job in itertools.groupby(entries, key=lambda pair: pair[0]):
            pages = (entry for _, entry in of_job)
            while (first := next(pages, None)) is not None:
                name = f"{self._prefix}-{len(self.heads) + 1:05}"
                head = segment.SegmentHead(name, job, self._created_at, 0)
                self.heads.append(head)
                chosen = itertools.chain([first], itertools.islice(pages, segment_urls - 1))
                try:
                    self.heads[-1] = _write(part_path(final_path(self._folder, name)), head, chosen)
                except OSError as error:
                    raise write_failure(error, self._folder) from error
        sync_folder(self._folder)

    def hand_over(self) -> None:
        """From now on the files stay: only the database knows whether it has taken them up."""
        self._handed_over = True

    def publish(self) -> None:
        """Gives the files their names. Raises StorageFailure."""
        for head in self.heads:
            publish(final_path(self._folder, head.name))
        sync_folder(self._folder)

    def close(self) -> None:
        """Removes what was not handed over; the batch is no longer under way."""
        if not self._handed_over:
            for head in self.heads:
                remove(part_path(final_path(self._folder, head.name)))
        remove(self._folder / f"{self._prefix}{_LOCK}")
        self._lock.close()


def publish(path: Path) -> bool:
    """Gives a finished part its name; False when there is none (any more). Raises StorageFailure."""
    try:
        part_path(path).replace(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        why = error.strerror or error
        raise StorageFailure(f"{path} could not get its name ({why}); the next build or load gives it one") from error
    return True


def sync(place: Path) -> None:
    """Has a file or a folder written to the disk. Raises OSError."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder outlast a power loss, where the system can do that."""
    with contextlib.suppress(OSError):
        sync(folder)


def dead_parts(folder: Path, family: str) -> tuple[Path, ...]:
    """Parts in `folder`, of batches whose prefix begins with `family`, that nobody is writing any more.

    The locks that dead writers have left are removed. Raises StorageFailure.
    """
    try:
        parts = sorted(path for path in folder.iterdir() if path.name.startswith(family))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise write_failure(error, folder) from error
    live = tuple(path.name.removesuffix(_LOCK) for path in parts if path.suffix == _LOCK and _is_held(path))
    return tuple(path for path in parts if path.suffix == PART and not path.name.startswith(live))


def read_head(path: Path) -> segment.SegmentHead:
    """What a file says of itself. Raises BadSegment."""
    with _opened(path) as file:
        return _head(file, path)


def read_pages(path: Path, size: int) -> Iterator[list[segment.SegmentPage]]:
    """The URLs of a segment, `size` at a time; count and digest are known to be right only when all were taken.

    Raises BadSegment.
    """
    with _opened(path) as file:
        head = _head(file, path)
        lines = _checked_lines(file, head, path)
        while chunk := [_entry(line, path) for line in itertools.islice(lines, size)]:
            yield chunk


def verify(path: Path) -> segment.SegmentHead:
    """The head of a file that is whole. Raises BadSegment for any other."""
    with _opened(path) as file:
        head = _head(file, path)
        for _ in _checked_lines(file, head, path):
            continue
        return head


def write_failure(error: OSError, folder: Path) -> StorageFailure:
    """What kept a segment from being written, in words a person can act on."""
    if error.errno in _NO_ROOM:
        return StorageFailure(f"the disk is full: {folder} takes no more segments; nothing was changed")
    if isinstance(error, FileNotFoundError):
        return StorageFailure(f"the folder {folder} does not exist")
    return StorageFailure(f"{folder} cannot be written: {error.strerror or error}")


def _write(part: Path, head: segment.SegmentHead, entries: Iterable[segment.SegmentPage]) -> segment.SegmentHead:
    """Writes a part, whole and on the disk; answers its head. Raises OSError."""
    digest, urls = hashlib.sha256(), 0
    with part.open("wb", buffering=_BLOCK) as file:
        file.write(segment.head_text(head).encode("utf-8"))
        for urls, entry in enumerate(entries, 1):  # noqa: B007  the number is needed after the loop
            line = f"{segment.line_of(entry)}\n".encode()
            digest.update(line)
            file.write(line)
        counted = replace(head, urls=urls)
        digest.update(segment.digested_text(counted).encode("utf-8"))
        sealed = replace(counted, digest=digest.hexdigest())
        file.seek(0)
        file.write(segment.head_text(sealed).encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())
    return sealed


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if not path.is_file():
        raise BadSegment(f"{path} {'is not a file' if path.exists() else 'does not exist'}")
    try:
        with path.open("rb") as file:
            yield file
    except (OSError, ValueError) as error:
        raise BadSegment(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _head(file: IO[bytes], path: Path) -> segment.SegmentHead:
    lines = []
    for _ in range(segment.HEAD_LINES):
        line = file.readline(segment.LONGEST_LINE)
        if not line.endswith(b"\n"):
            break
        lines.append(line[:-1].decode("utf-8", "replace"))
    try:
        return segment.parse_head(lines)
    except BadSegment as error:
        raise BadSegment(f"{path}: {error}") from error


def _checked_lines(file: IO[bytes], head: segment.SegmentHead, path: Path) -> Iterator[bytes]:
    """The lines after the head, without their ends. Raises BadSegment after the last one unless count and digest are
    those of the head."""
    digest, urls = hashlib.sha256(), 0
    while line := file.readline(segment.LONGEST_LINE):
        if not line.endswith(b"\n"):
            raise BadSegment(f"{path} is damaged: line {segment.HEAD_LINES + urls + 1} has no end")
        digest.update(line)
        urls += 1
        if urls > head.urls:
            raise BadSegment(f"{path} is damaged: it holds more than the {head.urls} URLs of its head")
        yield line[:-1]
    digest.update(segment.digested_text(head).encode("utf-8"))
    if urls != head.urls:
        raise BadSegment(f"{path} is damaged: it holds {urls} URLs, its head says {head.urls}")
    if digest.hexdigest() != head.digest:
        raise BadSegment(f"{path} is damaged: its digest is not that of its content")


def _entry(line: bytes, path: Path) -> segment.SegmentPage:
    try:
        return segment.parse_line(line.decode("utf-8"))
    except (UnicodeDecodeError, BadSegment) as error:
        said = error if isinstance(error, BadSegment) else "it holds what is no UTF-8"
        raise BadSegment(f"{path} is damaged: {said}") from error


def _locked(lock: Path) -> sqlite3.Connection:
    """Makes a file of this name and holds a lock on it, until it is closed or its process ends. Raises OSError.

    It is an empty database to SQLite, which knows how to lock files on every system.
    """
    while True:
        lock.touch()
        holder = sqlite3.connect(lock, isolation_level=None, timeout=0, check_same_thread=False)
        try:
            _hold(holder)
            if lock.exists():
                return holder
        except sqlite3.Error as error:
            if not is_busy(error):
                raise OSError(errno.EIO, f"no lock: {error}") from error
        # somebody has just taken it for one that was left behind
        holder.close()


def _hold(holder: sqlite3.Connection) -> None:
    holder.execute("PRAGMA journal_mode = OFF")
    holder.execute("BEGIN EXCLUSIVE")


def _is_held(lock: Path) -> bool:
    """Whether the writer of a batch lives; the lock of a dead one is removed."""
    holder = sqlite3.connect(uri_of(lock, "mode=rw"), isolation_level=None, timeout=0, uri=True)
    try:
        _hold(holder)
        remove(lock)
    except sqlite3.Error as error:
        return is_busy(error)  # else it has ended this very moment, or it is something else
    finally:
        holder.close()
    return False


def remove(path: Path) -> None:
    """Removes a file, if it is there. Raises nothing."""
    with contextlib.suppress(OSError):
        path.unlink()
