"""Web archives that a crawl writes as it goes, into a folder (`storage.warc`).

A file is `NAME-TIME-RANDOM.warc.gz.open` while it is written; several processes may write into one folder. When it has
1 GB, and at the end, it is synced, gets its index (`.cdxj`) and loses `.open`. Records are handed to the system one by
one, each a gzip member, before the attempt is stored: a killed process leaves at most one incomplete record, which the
next run removes before it completes the file.
"""

import asyncio
import io
import json
import logging
import os
import re
import secrets
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]  # warcio ships no types

from tui_crawler.domain.records.attempt import Reading, RequestRecord
from tui_crawler.domain.records.failure import StorageHeldUp
from tui_crawler.export.output import CannotWrite, Output, lock_file
from tui_crawler.export.warc import INDEXED, Archive, Captures, WarcFile
from tui_crawler.export.warc_index import index_line, index_path
from tui_crawler.fetch.headers import RawHeaders
from tui_crawler.storage.db.segment_files import sync_folder
from tui_crawler.storage.reports.export import StoredBody

MOST_BYTES = 1 << 30
_log = logging.getLogger(__name__)
_PIECE = 1 << 16
_NOT_IN_NAME = re.compile(r"[^\w.-]+", re.ASCII)


class WarcFolder:
    """Keeps every answer in a folder of archives; fits `fetch.transfer.Recorder`. A thread writes them.

    `archive` describes each file; one of `most_bytes` is completed. An answer that cannot be written ends the run
    before its attempt is stored: the next run makes the request again.
    """

    def __init__(self, folder: Path, archive: Archive, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._archive, self._most_bytes = folder, archive, most_bytes
        self._thread = ThreadPoolExecutor(1, "web archive")
        self._captures: Captures | None = None
        self._written: tuple[Path, BinaryIO, Output, WarcFile] | None = None

    async def record(
        self, request: RequestRecord, status_line: str, headers: RawHeaders, payload: bytes, cut: str
    ) -> None:
        """Write an answer and its request. A HEAD request has no content to keep. Raises StorageHeldUp."""
        fields = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
        body = _answer(request, body=payload, response_headers=fields, status_line=status_line, cut=cut)
        if request.method != "HEAD":
            await self._call(partial(self._put, lambda file: file.write(body)))

    async def describe(self, request: RequestRecord, reading: Reading) -> None:
        """Write the title and the links of a document. Raises StorageHeldUp."""
        links = (("outlink", f"{link.url.href} {link.kind.value}") for link in reading.links)
        body = _answer(request, facts=(("title", reading.title), *links))
        await self._call(partial(self._put, lambda file: file.describe(body)))

    async def close(self) -> None:
        """Complete the file that is written; the next run does so where it cannot be done now."""
        try:
            await self._call(self._complete)
        except StorageHeldUp as error:
            _log.warning("%s", error)
        self._thread.shutdown(wait=False)

    async def _call(self, work: Callable[[], None]) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except (OSError, CannotWrite) as error:
            said = f"{self._folder} cannot be written: {error.strerror}" if isinstance(error, OSError) else str(error)
            hint = "make room or change storage.warc, then run again: the crawl continues"
            raise StorageHeldUp(f"web archive: {said} ({hint})") from error

    def _put(self, put: Callable[[WarcFile], None]) -> None:
        _, file, output, records = self._written = self._written or self._begin()
        kept = output.tell()
        try:
            put(records)
            output.finish()
        except (OSError, CannotWrite):
            self._written = self._captures = None  # the next file is begun as by another process
            with file, suppress(OSError):
                file.truncate(kept)
            raise
        if output.tell() >= self._most_bytes:
            self._complete()

    def _begin(self) -> tuple[Path, BinaryIO, Output, WarcFile]:
        if self._captures is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            for left in sorted(self._folder.glob("*.warc.gz.open")):
                _complete_left(left)
            self._captures = _captures_of(self._folder)
        moment = datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")[:17]
        name = f"{_NOT_IN_NAME.sub('_', self._archive.crawl)[:100]}-{moment}-{secrets.token_hex(4)}.warc.gz"
        path = self._folder / f"{name}.open"
        file = path.open("xb", buffering=0)
        lock_file(file.fileno())
        if not os.fstat(file.fileno()).st_nlink:  # before it was locked another process took it for one that was left
            file.close()
            return self._begin()
        output = Output(file.write, str(path), read=False)
        return path, file, output, WarcFile(output, replace(self._archive, filename=name, gzip=True), self._captures)

    def _complete(self) -> None:
        if self._written is not None:
            (path, file, _, records), self._written = self._written, None
            with file:
                _complete_file(path, file, records.index)


def _answer(request: RequestRecord, **more: Any) -> StoredBody:
    """An answer as archives keep it. Times are whole seconds: an index has no others to refer to."""
    named = {name: getattr(request, name) for name in ("http_status", "method", "remote_address", "request_headers")}
    sent_at = request.sent_at // 1000 * 1000
    body = StoredBody(request.url, "", request.ended_at, "", b"", sent_at=sent_at, coded=True, **named)
    return replace(body, **more)


def _complete_file(path: Path, file: BinaryIO, index: list[str]) -> None:
    os.fsync(file.fileno())
    index_path(path).write_text("".join(sorted(index)), "ascii")
    path.rename(path.with_name(path.name.removesuffix(".open")))
    sync_folder(path.parent)


def _complete_left(path: Path) -> None:
    """Complete a file that a killed process left, without its last record if that is cut. Raises OSError."""
    with suppress(FileNotFoundError), path.open("r+b") as file:
        if not lock_file(file.fileno(), wait=False) or not path.exists():
            return  # another process writes it, or has just completed it
        size, index, name = 0, list[str](), path.name.removesuffix(".open")
        for member in _members(file):
            record = next(ArchiveIterator(io.BytesIO(member)))
            if record.rec_type in INDEXED:
                index.append(index_line(record, size, len(member), name))
            size += len(member)
        file.truncate(size)
        if size:
            _complete_file(path, file, index)
        else:
            path.unlink()


def _members(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    with suppress(zlib.error):
        while True:
            inflater, member = zlib.decompressobj(zlib.MAX_WBITS | 16), b""
            while not inflater.eof:
                if not (piece := rest or file.read(_PIECE)):
                    return
                inflater.decompress(piece)
                rest = inflater.unused_data
                member += piece[: len(piece) - len(rest)]
            yield member


def _captures_of(folder: Path) -> Captures:
    """The captures of complete files, by their indexes: first those with a payload, then those that refer to one."""
    captures, revisits = Captures(), list[tuple[str, str]]()
    for path in sorted(folder.glob("*.cdxj")):
        with suppress(ValueError, KeyError):  # an index that another program has written
            for line in path.read_text("ascii").splitlines():
                _, moment, text = line.split(" ", 2)
                found = json.loads(text)
                if found.get("mime") == "warc/revisit":
                    revisits.append((found["url"], found.get("digest", "")))
                elif found.get("status") == "200":
                    date = datetime.strptime(f"{moment}+0000", "%Y%m%d%H%M%S%z").strftime("%Y-%m-%dT%H:%M:%S.000Z")
                    captures.add(found["url"], (found["url"], date, found["digest"]))
    for url, digest in revisits:
        if digest in captures.of_payload:
            captures.of_url[url] = captures.of_payload[digest]
    return captures
