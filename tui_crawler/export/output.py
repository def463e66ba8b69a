"""Where an export goes: a file that appears whole under its name or not at all, or standard output."""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tui_crawler.domain.records.failure import CannotRun, UsageProblem
from tui_crawler.storage.db.segment_files import sync_folder

_BUFFER_BYTES = 256 * 1024
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.export")
_LOG_SUFFIXES = ("", "-wal", "-shm", "-journal", "-turn")
_NOBODY_READS = frozenset({errno.EPIPE, errno.EIO, errno.ECONNRESET})  # EIO: a terminal that is gone
_NO_LINKS = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


class BadTarget(UsageProblem):
    """What was named cannot be the file of an export."""


class CannotWrite(CannotRun):
    """The export cannot be written, now or any more. Nothing stands under its name that did not before."""


class ReaderGone(Exception):
    """Nobody reads the output any more."""


class Output:
    """Takes bytes and counts them; they leave when there are enough of them, and at the end.

    `write` hands on some bytes and answers how many; `read`: somebody reads them and may go away. It is file enough
    for what writes Parquet and WARC.
    """

    closed = False

    def __init__(self, write: Callable[[memoryview], int | None], name: str, *, read: bool) -> None:
        self._write = write
        self._read = read
        self._waiting = bytearray()
        self._dropping = False
        self.name = name
        self.bytes = 0

    def write(self, data: bytes) -> int:
        """Takes bytes. Raises CannotWrite, ReaderGone."""
        if not self._dropping:
            self._waiting += data
            self.bytes += len(data)
            if len(self._waiting) >= _BUFFER_BYTES:
                self.finish()
        return len(data)

    def tell(self) -> int:
        """How many bytes it has taken."""
        return self.bytes

    def flush(self) -> None:
        """Does nothing: formats flush after every record."""

    def finish(self) -> None:
        """Hands everything on. Raises CannotWrite, ReaderGone."""
        rest, self._waiting = memoryview(self._waiting), bytearray()
        try:
            while rest and not self._dropping:
                rest = rest[self._write(rest) or 0 :]
        except OSError as error:
            self.drop()
            if self._read and error.errno in _NOBODY_READS:
                raise ReaderGone(self.name) from error
            raise CannotWrite(f"{self.name} cannot be written: {error.strerror}") from error

    def drop(self) -> None:
        """Whatever comes from now on, and what waits, is thrown away: a format may want to write its end still."""
        self._dropping = True
        self._waiting = bytearray()


@contextmanager
def open_stream(write: Callable[[memoryview], int | None]) -> Iterator[Output]:
    """Standard output, whose reader may go away: `write` hands on some bytes and answers how many."""
    with _finished(Output(write, "standard output", read=True)) as output:
        yield output


def check_target(path: Path, *, force: bool, protected: Sequence[Path] = ()) -> None:
    """Looks whether a file may be made at `path`, and changes nothing.

    Raises BadTarget for a folder, a file that is there (unless `force`), what is no plain file, a folder that is
    missing, and for a database out of `protected` or a file beside it that belongs to it, whatever `force` says.
    """
    try:
        folder_is_there, standing = path.parent.is_dir(), _standing_at(path)
        own = [base.with_name(base.name + suffix) for base in protected for suffix in _LOG_SUFFIXES]
        is_database = any(_is_same(path, file) for file in own)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        shown = str(path) if len(str(path)) <= 200 else f"{str(path)[:200]}…"
        raise BadTarget(f"{shown} cannot be the file of an export: {reason}") from error
    if not folder_is_there:
        raise BadTarget(f"there is no folder {path.parent}", hint="an export makes no folders")
    if standing is not None and stat.S_ISDIR(standing):
        raise BadTarget(f"{path} is a folder", hint="name a file in it with --output")
    if is_database:
        raise BadTarget(f"{path} belongs to the database that is exported", hint="name another file with --output")
    if standing is None:
        return
    if not (stat.S_ISREG(standing) or stat.S_ISLNK(standing)):
        raise BadTarget(f"{path} is not a regular file", hint="without --output the export goes to standard output")
    if not force:
        raise BadTarget(f"{path} exists", hint="--force replaces it")


@contextmanager
def open_file(path: Path, *, force: bool) -> Iterator[Output]:
    """A file that stands at `path` when the block has ended without an exception, synced, and not before.

    It is written beside it under a hidden name of its own, which is gone afterwards; what SIGKILL leaves the next
    export into that folder removes. A file that `force` replaces gives its permissions to the new one; of a symbolic
    link the link is replaced, not what it points to. Raises CannotWrite.
    """
    _remove_left_drafts(path.parent)
    try:
        draft, descriptor = _begin_draft(path)
    except OSError as error:
        raise CannotWrite(f"nothing can be written into {path.parent}: {error.strerror}") from error
    held = os.dup(descriptor)  # with the lock, until the file has its name
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            with _finished(Output(file.write, str(path), read=False)) as output:
                yield output
            with _failing_as(path):
                os.fsync(descriptor)
        with _failing_as(path):
            _put_in_place(draft, path, force=force)
    finally:
        draft.unlink(missing_ok=True)
        os.close(held)


def _begin_draft(path: Path) -> tuple[Path, int]:
    while True:
        draft = path.with_name(f".{secrets.token_hex(8)}.export")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        lock_file(descriptor)
        if os.fstat(descriptor).st_nlink:
            return draft, descriptor
        os.close(descriptor)  # in the moment before it was locked another export took it for one that was left


def _remove_left_drafts(folder: Path) -> None:
    """Removes the drafts of exports that were killed: those that nobody holds the lock of any more."""
    with contextlib.suppress(OSError):
        for left in (path for path in folder.iterdir() if _DRAFT.fullmatch(path.name)):
            with contextlib.suppress(OSError):
                descriptor = os.open(left, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
                try:
                    if stat.S_ISREG(os.fstat(descriptor).st_mode) and lock_file(descriptor, wait=False):
                        left.unlink()
                finally:
                    os.close(descriptor)


def lock_file(descriptor: int, *, wait: bool = True) -> bool:
    """Locks a file until its last descriptor is closed, which the system does however the process ends. False: another
    one has the lock, or there are no such locks here."""
    try:
        import fcntl  # noqa: PLC0415  only where there is one

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


@contextmanager
def _finished(output: Output) -> Iterator[Output]:
    try:
        yield output
        output.finish()
    except BaseException:
        output.drop()
        raise


@contextmanager
def _failing_as(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error


def _put_in_place(draft: Path, path: Path, *, force: bool) -> None:
    """The draft under its name. Without `force` nothing is replaced, even if it has appeared this very moment."""
    if force:
        standing = _standing_at(path)
        if standing is not None and stat.S_ISREG(standing):
            draft.chmod(stat.S_IMODE(standing))
        draft.replace(path)
    else:
        try:
            path.hardlink_to(draft)
        except OSError as error:
            if isinstance(error, FileExistsError) or (error.errno in _NO_LINKS and _standing_at(path) is not None):
                raise CannotWrite(f"{path} has appeared meanwhile and was left alone") from error
            if error.errno not in _NO_LINKS:
                raise
            draft.rename(path)
    sync_folder(path.parent)


def _standing_at(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_same(one: Path, other: Path) -> bool:
    if one.parent.resolve() / one.name == other.resolve():
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False
