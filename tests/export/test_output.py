"""A file appears whole under its name or not at all; a reader who goes away is no error."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest

import tui_crawler
from tests.support.patience import PATIENT_S
from tui_crawler.export import output as output_module
from tui_crawler.export.output import BadTarget, CannotWrite, ReaderGone, check_target, open_file, open_stream

MEGABYTE = b"x" * 1_000_000
FOLDER = str(Path(tui_crawler.__file__).parents[1])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestStream:
    def test_bytes_arrive_in_order_and_are_counted(self):
        stream = io.BytesIO()
        with open_stream(stream.write) as output:
            for number in range(100_000):
                output.write(b"%06d\n" % number)
            output.flush()
            assert output.tell() == output.bytes == 700_000
            assert not output.closed
        assert stream.getvalue() == b"".join(b"%06d\n" % number for number in range(100_000))

    def test_a_stream_that_takes_little_at_a_time(self):
        taken = bytearray()

        def little(data: memoryview) -> int:
            taken.extend(data[:7])
            return min(7, len(data))

        with open_stream(little) as output:
            output.write(b"0123456789" * 10)
        assert bytes(taken) == b"0123456789" * 10

    @pytest.mark.parametrize("number", [errno.EPIPE, errno.EIO, errno.ECONNRESET])
    def test_a_reader_who_went_away(self, number: int):
        def gone(_: memoryview) -> int:
            raise OSError(number, os.strerror(number))

        with pytest.raises(ReaderGone), open_stream(gone) as output:
            output.write(MEGABYTE)

    def test_another_fault(self):
        def broken(_: memoryview) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        words = r"^standard output cannot be written: No space left on device$"
        with pytest.raises(CannotWrite, match=words), open_stream(broken) as output:
            output.write(b"small")

    def test_after_an_exception_nothing_more_is_handed_on(self):
        stream = io.BytesIO()
        with pytest.raises(LookupError), open_stream(stream.write) as output:
            output.write(b"half")
            raise LookupError
        output.write(MEGABYTE)
        output.finish()
        assert stream.getvalue() == b""


class TestFile:
    def test_it_stands_under_its_name_at_the_end(self, tmp_path: Path):
        path = tmp_path / "pages.csv"
        with open_file(path, force=False) as output:
            output.write(MEGABYTE)
            assert not path.exists()
            assert output.name == str(path)
        assert path.read_bytes() == MEGABYTE
        assert names(tmp_path) == ["pages.csv"]
        mask = os.umask(0)
        os.umask(mask)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask

    @pytest.mark.parametrize("error", [LookupError, KeyboardInterrupt, SystemExit])
    @pytest.mark.parametrize("force", [False, True])
    def test_a_failure_leaves_everything_as_it_was(self, error: type[BaseException], force: bool, tmp_path: Path):
        path = tmp_path / "pages.csv"
        if force:
            path.write_bytes(b"former")
        before = names(tmp_path)
        with pytest.raises(error), open_file(path, force=force) as output:
            output.write(MEGABYTE)
            raise error
        assert names(tmp_path) == before
        assert not force or path.read_bytes() == b"former"

    def test_what_has_appeared_meanwhile_is_left_alone(self, tmp_path: Path):
        path = tmp_path / "pages.csv"
        with pytest.raises(CannotWrite, match="appeared meanwhile"), open_file(path, force=False) as output:
            output.write(b"ours")
            path.write_bytes(b"theirs")
        assert path.read_bytes() == b"theirs"
        assert names(tmp_path) == ["pages.csv"]

    @pytest.mark.parametrize("appears", [False, True])
    def test_where_there_are_no_hard_links(self, appears: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        def no_links(*_: object) -> None:
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(Path, "hardlink_to", no_links)
        path = tmp_path / "pages.csv"
        ends = pytest.raises(CannotWrite, match="appeared meanwhile") if appears else nullcontext()
        with ends, open_file(path, force=False) as output:
            output.write(b"ours")
            if appears:
                path.write_bytes(b"theirs")
        assert path.read_bytes() == (b"theirs" if appears else b"ours")
        assert names(tmp_path) == ["pages.csv"]

    def test_force_replaces_and_keeps_the_permissions(self, tmp_path: Path):
        path = tmp_path / "pages.csv"
        path.write_bytes(b"former")
        path.chmod(0o600)
        with open_file(path, force=True) as output:
            output.write(b"new")
            assert path.read_bytes() == b"former"
        assert path.read_bytes() == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_symbolic_link_is_replaced_and_not_followed(self, tmp_path: Path):
        inner, outer = tmp_path / "inner", tmp_path / "outer.csv"
        inner.mkdir()
        outer.write_bytes(b"former")
        path = inner / "pages.csv"
        path.symlink_to(outer)
        with open_file(path, force=True) as output:
            output.write(b"new")
        assert outer.read_bytes() == b"former"
        assert not path.is_symlink()
        assert path.read_bytes() == b"new"

    def test_what_a_killed_export_left_is_removed_by_the_next_one_and_nothing_else(self, tmp_path: Path):
        script = """
import sys
from pathlib import Path
from tui_crawler.export.output import open_file
with open_file(Path(sys.argv[1]), force=False) as output:
    output.write(b"x" * 1_000_000)
    print("written", flush=True)
    input()
"""
        words = [sys.executable, "-c", script, str(tmp_path / "killed.csv")]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, env={**os.environ, "PYTHONPATH": FOLDER}) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"written\n"
            (draft,) = names(tmp_path)
            for name in (".my.export", "0123456789abcdef.export"):
                (tmp_path / name).touch()
            (tmp_path / ".0123456789abcdef.export").mkdir()
            kept = [*names(tmp_path), "one.csv"]
            with open_file(tmp_path / "one.csv", force=False) as output:
                output.write(b"1")
            assert names(tmp_path) == sorted(kept), "it is alive"
            child.kill()
        with open_file(tmp_path / "two.csv", force=False) as output:
            output.write(b"2")
        assert names(tmp_path) == sorted({*kept, "two.csv"} - {draft})

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        if not Path("/dev/full").exists():
            pytest.skip("needs a device that is always full")
        real = os.open
        monkeypatch.setattr(
            output_module.os,
            "open",
            lambda path, flags, *mode: real("/dev/full" if flags & os.O_CREAT else path, flags & ~os.O_EXCL, *mode),
        )
        path = tmp_path / "pages.csv"
        with pytest.raises(CannotWrite, match="No space left on device"), open_file(path, force=False) as output:
            output.write(MEGABYTE)
        assert names(tmp_path) == []

    @pytest.mark.parametrize("call", ["fsync", "_write"])
    def test_a_fault_of_a_disk_is_no_reader_who_went_away(
        self, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        def broken(_: object) -> int:
            raise OSError(errno.EIO, "Input/output error")

        with pytest.raises(CannotWrite, match="Input/output error"), open_file(tmp_path / "x", force=False) as output:
            monkeypatch.setattr(output if call == "_write" else output_module.os, call, broken)
            output.write(MEGABYTE)
        assert names(tmp_path) == []


class TestTarget:
    @pytest.mark.parametrize("force", [False, True])
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("missing/pages.csv", "there is no folder"),
            ("file/pages.csv", "there is no folder"),
            ("folder", "is a folder"),
            ("fifo", "is not a regular file"),
            ("x" * 300, "File name too long"),
            ("a\0b", "null"),
            ("crawl.db", "belongs to the database"),
            ("crawl.db-wal", "belongs to the database"),
            ("crawl.db-shm", "belongs to the database"),
            ("crawl.db-journal", "belongs to the database"),
            ("folder/../crawl.db", "belongs to the database"),
            ("same.db", "belongs to the database"),
            ("here/crawl.db", "belongs to the database"),
        ],
    )
    def test_what_cannot_be_the_file(self, name: str, words: str, force: bool, tmp_path: Path):
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").touch()
        os.mkfifo(tmp_path / "fifo")
        database = tmp_path / "crawl.db"
        database.touch()
        (tmp_path / "same.db").hardlink_to(database)
        (tmp_path / "here").symlink_to(tmp_path)
        with pytest.raises(BadTarget, match=words):
            check_target(tmp_path / name, force=force, protected=(database,))


_READ_ONLY = """
import os
import sys
from pathlib import Path
from tui_crawler.export.output import CannotWrite, open_file
if os.geteuid() == 0:
    os.setuid(65534)  # permissions do not stop root
try:
    with open_file(Path(sys.argv[1]) / "pages.csv", force=False) as output:
        output.write(b"x")
except CannotWrite as error:
    print(error)
"""


def test_a_read_only_folder():
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", _READ_ONLY, name],
            capture_output=True,
            text=True,
            timeout=PATIENT_S,
            check=False,
            env={**os.environ, "PYTHONPATH": FOLDER, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert names(folder) == []
        folder.chmod(0o755)
    assert done.stderr == ""
    assert done.stdout == f"nothing can be written into {name}: Permission denied\n"
