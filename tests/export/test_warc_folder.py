"""Web archives that a crawl writes as it goes: nothing is lost or doubled, whatever ends the process."""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import os
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.export.test_warc import Read
from tests.storage.making import T0, A, link
from tui_crawler.domain.records.attempt import Reading, RequestRecord
from tui_crawler.domain.records.content_kind import LinkKind
from tui_crawler.domain.records.exit_code import ExitCode
from tui_crawler.domain.records.failure import StorageHeldUp
from tui_crawler.export import warc_folder
from tui_crawler.export.output import lock_file
from tui_crawler.export.warc import Archive
from tui_crawler.export.warc_folder import WarcFolder

ROOT = Path(__file__).parents[2]
ABOUT = Archive(user_agent="ua/1", crawl="a crawl/of: mine")
FIELDS = (("Host", "a.example"), ("Cookie", "sid=1"), ("X-Key", "•••"))


HTML = ((b"Content-Type", b"text/html"),)


def asked(path: str, at: int = T0, status: int = 200, method: str = "GET") -> RequestRecord:
    return RequestRecord(f"{A}{path}", method, at, at, at, status, remote_address="203.0.113.7", request_headers=FIELDS)


async def keep(folder: WarcFolder, path: str, payload: bytes, at: int = T0, status: int = 200, **more: str) -> None:
    await folder.record(asked(path, at, status), f"HTTP/1.1 {status} So", HTML, payload, more.get("cut", ""))


def files(folder: Path, ending: str = ".warc.gz") -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(ending))


def records(folder: Path) -> list[Read]:
    found = []
    for path in files(folder):
        assert Checker(Namespace(inputs=[str(path)], verbose=False)).process_all() == 0
        with path.open("rb") as file:
            found += [Read(record) for record in ArchiveIterator(file, check_digests=True)]
    return found


def responses(folder: Path) -> dict[str, bytes]:
    return {one.fields["WARC-Target-URI"]: one.content for one in records(folder) if one.type == "response"}


def assert_indexed(folder: Path) -> None:
    """Every capture is in the index of its file, where the index says."""
    for path in files(folder):
        lines = path.with_name(f"{path.name.removesuffix('.warc.gz')}.cdxj").read_text().splitlines()
        assert lines == sorted(lines)
        found = set()
        for line in lines:
            entry = json.loads(line.split(" ", 2)[2])
            assert entry["filename"] == path.name
            start, size = int(entry["offset"]), int(entry["length"])
            member = gzip.decompress(path.read_bytes()[start : start + size])
            assert f"WARC-Target-URI: {entry['url']}\r\n".encode() in member
            found.add(entry["url"])
        with path.open("rb") as file:
            kinds = {"response", "revisit"}
            urls = {one.rec_headers["WARC-Target-URI"] for one in ArchiveIterator(file) if one.rec_type in kinds}
        assert found == urls


async def test_answers_are_kept_as_they_came(tmp_path: Path) -> None:
    folder = WarcFolder(tmp_path / "new" / "warcs", ABOUT)
    zipped = gzip.compress(b"<p>hello")
    fields = (
        (b"Content-Type", b"text/html"),
        (b"content-encoding", b"gzip"),
        (b"Transfer-Encoding", b"chunked"),
        (b"X-Latin", b"caf\xe9"),
        (b"Set-Cookie", b"a=1"),
        (b"Location", b"//user:word@b.example/"),
    )
    await folder.record(asked("/x?q=1"), "HTTP/1.0 200 Very  Fine", fields, zipped, "")
    await folder.record(asked("/x", method="HEAD"), "HTTP/1.1 200 OK", HTML, b"", "")
    await folder.close()
    info, response, request = records(tmp_path / "new" / "warcs")
    assert info.fields["WARC-Filename"] == files(tmp_path / "new" / "warcs")[0].name
    assert (response.head.protocol, response.head.statusline) == ("HTTP/1.0", "200 Very Fine")
    assert response.head.headers == [
        ("Content-Type", "text/html"),
        ("content-encoding", "gzip"),
        ("X-Crawler-Transfer-Encoding", "chunked"),
        ("X-Latin", "caf\xe9"),
        ("Set-Cookie", "a=1"),
        ("Location", "//user:word@b.example/"),
        ("Content-Length", str(len(zipped))),
    ]
    assert response.content == b"<p>hello"  # warcio decodes it
    assert request.head.headers == [("Host", "a.example"), ("Cookie", "***"), ("X-Key", "***")]
    assert (request.head.protocol, request.head.statusline) == ("GET", "/x?q=1 HTTP/1.1")
    assert_indexed(tmp_path / "new" / "warcs")


async def test_a_name_is_safe_and_no_file_is_made_without_an_answer(tmp_path: Path) -> None:
    folder = WarcFolder(tmp_path / "none", ABOUT)
    await folder.close()
    assert not (tmp_path / "none").exists()
    folder = WarcFolder(tmp_path, ABOUT)
    await keep(folder, "/", b"x")
    (open_file,) = files(tmp_path, ".open")
    assert open_file.name.startswith("a_crawl_of_mine-")
    await folder.close()
    assert files(tmp_path, ".open") == []


async def test_hostile_fields_stay_within_their_line(tmp_path: Path) -> None:
    folder = WarcFolder(tmp_path, ABOUT)
    fields = ((b"X", b"a\r\nInjected: 1"), (b"Bad\nName", b"v"), (b"Y", b"\x00\xff"), (b"Content-Length", b"999"))
    await folder.record(asked("/"), "HTTP/1.1 200 a\r\nInjected: 2", fields, b"WARC/1.1\r\n\r\n", "")
    await folder.close()
    _, response, _ = records(tmp_path)
    assert [name for name, _ in response.head.headers] == ["X", "Y", "X-Crawler-Content-Length", "Content-Length"]
    assert response.content == b"WARC/1.1\r\n\r\n"


@pytest.mark.parametrize("cut", ["length", "time", "disconnect", "unspecified"])
async def test_a_payload_that_is_not_complete_says_why(tmp_path: Path, cut: str) -> None:
    folder = WarcFolder(tmp_path, ABOUT)
    await keep(folder, "/", b"half", cut=cut)
    await keep(folder, "/twin", b"half")
    await folder.close()
    _, response, _, other, _ = records(tmp_path)
    assert response.fields["WARC-Truncated"] == cut
    assert other.type == "response", "half a payload is no capture to refer to"


async def test_what_was_read_is_kept_next_to_the_answer(tmp_path: Path) -> None:
    folder = WarcFolder(tmp_path, ABOUT)
    await keep(folder, "/", b"x")
    reading = Reading("html", ExitCode.file_ingested, title="two\nlines")
    links = (link(f"{A}/b"), link(f"{A}/i.png", LinkKind.img))
    await folder.describe(asked("/"), replace(reading, links=links))
    await folder.describe(asked("/", T0 + 1000), reading=replace(reading, title=""))
    await folder.close()
    _, response, _, metadata = records(tmp_path)
    assert metadata.content.decode() == f"title: two lines\r\noutlink: {A}/b a\r\noutlink: {A}/i.png img\r\n"
    assert metadata.fields["WARC-Concurrent-To"] == response.fields["WARC-Record-ID"]


async def test_a_payload_is_written_once_also_over_files_and_runs(tmp_path: Path) -> None:
    first = WarcFolder(tmp_path, ABOUT)
    await keep(first, "/a", b"same", T0 + 7)
    await keep(first, "/b", b"same", T0 + 9_999)
    await keep(first, "/gone", b"none", status=404)
    await keep(first, "/gone2", b"none", status=404)
    await first.close()
    second = WarcFolder(tmp_path, ABOUT)
    await keep(second, "/a", b"same", T0 + 60_000)
    await keep(second, "/b", b"", T0 + 61_000, status=304)
    await keep(second, "/new", b"", T0 + 62_000, status=304)
    await second.close()
    found = records(tmp_path)
    (original,) = (one for one in found if one.type == "response" and one.content == b"same")
    revisits = [one for one in found if one.type == "revisit"]
    said = [(one.fields["WARC-Target-URI"], one.fields["WARC-Profile"].rpartition("/")[2]) for one in revisits]
    same, unchanged = "identical-payload-digest", "server-not-modified"
    assert said == [(f"{A}/b", same), (f"{A}/a", same), (f"{A}/b", unchanged), (f"{A}/new", unchanged)]
    for one in revisits[:3]:
        assert one.fields["WARC-Refers-To-Target-URI"] == f"{A}/a"
        assert one.fields["WARC-Refers-To-Date"] == original.fields["WARC-Date"]
        assert one.fields["WARC-Payload-Digest"] == original.fields["WARC-Payload-Digest"]
    assert revisits[3].fields["WARC-Refers-To-Target-URI"] == f"{A}/new"
    heads = [one.content.decode().splitlines()[0] for one in found if one.type == "metadata"]
    assert heads == ["status-line: HTTP/1.1 304 So"] * 2
    assert_indexed(tmp_path)


async def test_a_full_file_is_completed_and_another_begun(tmp_path: Path) -> None:
    folder = WarcFolder(tmp_path, ABOUT, most_bytes=3_000)
    for number in range(12):
        await keep(folder, f"/{number}", os.urandom(700), T0 + number)
    before = len(files(tmp_path))
    await folder.close()
    assert before > 2
    assert len(responses(tmp_path)) == 12
    assert all(path.stat().st_size < 3_000 + 2_000 for path in files(tmp_path))
    assert_indexed(tmp_path)


async def test_several_write_into_one_folder(tmp_path: Path) -> None:
    one, other = (WarcFolder(tmp_path, ABOUT, most_bytes=3_000) for _ in range(2))
    writers = [
        keep(folder, f"/{name}{number}", f"{name}{number}".encode() * 300)
        for number in range(10)
        for name, folder in (("one", one), ("other", other))
    ]
    await asyncio.gather(*writers)
    await asyncio.gather(one.close(), other.close())
    assert len(responses(tmp_path)) == 20
    assert files(tmp_path, ".open") == []
    assert_indexed(tmp_path)


KILLED = """
import asyncio, os, sys
from pathlib import Path
from tests.export.test_warc_folder import ABOUT, keep
from tui_crawler.export.warc_folder import WarcFolder

async def crawl():
    folder = WarcFolder(Path(sys.argv[1]), ABOUT)
    for number in range(3):
        await keep(folder, f"/{number}", b"body %d" % number)
    os.kill(os.getpid(), 9)

asyncio.run(crawl())
"""


@pytest.mark.parametrize("torn", [0, 1, 40, 10_000])
async def test_a_killed_process_leaves_all_that_was_stored(tmp_path: Path, torn: int) -> None:
    """What it was about to write may be there in part; the next run completes the file without it."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path), cwd=ROOT)
    assert await process.wait() == -9
    (left,) = files(tmp_path, ".open")
    with left.open("ab") as file:
        file.write(gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n" + os.urandom(20_000))[:torn])
    living = WarcFolder(tmp_path, ABOUT)
    await keep(living, "/3", b"body 1")
    assert files(tmp_path) == [left.with_name(left.name.removesuffix(".open"))]
    await living.close()
    assert responses(tmp_path) == {f"{A}/{number}": b"body %d" % number for number in range(3)}
    (revisit,) = (one for one in records(tmp_path) if one.type == "revisit")
    assert revisit.fields["WARC-Refers-To-Target-URI"] == f"{A}/1"
    assert_indexed(tmp_path)


async def test_a_file_that_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    one, other = WarcFolder(tmp_path, ABOUT), WarcFolder(tmp_path, ABOUT)
    await keep(one, "/1", b"1")
    await keep(other, "/2", b"2")
    assert len(files(tmp_path, ".open")) == 2
    await one.close()
    await other.close()
    assert set(responses(tmp_path)) == {f"{A}/1", f"{A}/2"}


async def test_a_file_that_another_process_took_for_one_that_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Path] = []

    def too_late(descriptor: int, *, wait: bool = True) -> bool:
        if not taken:
            taken.extend(files(tmp_path, ".open"))
            taken[0].unlink()
        return lock_file(descriptor, wait=wait)

    monkeypatch.setattr(warc_folder, "lock_file", too_late)
    folder = WarcFolder(tmp_path, ABOUT)
    await keep(folder, "/", b"x")
    await folder.close()
    assert responses(tmp_path) == {f"{A}/": b"x"}


async def test_a_full_disk_keeps_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = WarcFolder(tmp_path, ABOUT)
    await keep(folder, "/1", b"1")

    class Full(warc_folder.WarcFile):
        def write(self, body: object) -> None:
            self._output.write(b"some of it")
            self._output.finish()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(warc_folder.WarcFile, "write", Full.write)
        with pytest.raises(StorageHeldUp, match=f"{tmp_path} cannot be written: No space left on device"):
            await keep(folder, "/2", b"2")
    await keep(folder, "/3", b"1")
    await folder.close()
    assert responses(tmp_path) == {f"{A}/1": b"1"}
    (revisit,) = (one for one in records(tmp_path) if one.type == "revisit")
    assert revisit.fields["WARC-Refers-To-Target-URI"] == f"{A}/1"


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = WarcFolder(tmp_path / "file", ABOUT)
    with pytest.raises(StorageHeldUp, match="cannot be written"):
        await keep(folder, "/", b"x")
    await folder.close()


async def test_a_foreign_index_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "other.cdxj").write_bytes(b"!meta 0 {}\nnonsense\n\xff\n")
    folder = WarcFolder(tmp_path, ABOUT)
    await keep(folder, "/", b"x")
    await folder.close()
    assert responses(tmp_path) == {f"{A}/": b"x"}
