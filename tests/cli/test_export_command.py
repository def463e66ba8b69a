"""`export`: what goes where, what is refused before anything is written, how it ends."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.cli.conftest import Say, Terminal, environment
from tests.export.crawl import BINARY, HOME, store_attempts, store_crawl
from tests.storage.making import T0, A, B, plan
from tests.support.patience import PATIENT_S
from tui_crawler.cli import export_command
from tui_crawler.cli.export_command import FORMATS, WHAT
from tui_crawler.cli.main import main
from tui_crawler.domain.records.failure import StorageFailure
from tui_crawler.export.output import CannotWrite
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.storage.store import SqliteStore
from tui_crawler.wiring import export as wiring_export

PROGRAM = (sys.executable, "-m", "tui_crawler")
TABLES = tuple(what for what in WHAT if what != "bodies")


@pytest.fixture(scope="session")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crawled") / "crawl.db"
    asyncio.run(store_crawl(path))
    return path


@pytest.fixture
def crawl(here: Path, crawled: Path) -> Path:
    """The only database here."""
    return Path(shutil.copy(crawled, here / "crawl.db"))


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def files(here: Path) -> list[str]:
    return sorted(path.name for path in here.iterdir() if not path.name.startswith("crawl.db"))


@pytest.mark.usefixtures("crawl")
class TestWhatIsWritten:
    def test_csv_for_excel_begins_with_a_byte_order_mark(self, say: Say, here: Path):
        assert say("export", "documents", "--format", "csv", "--bom", "--output", "excel.csv").status == 0
        assert (here / "excel.csv").read_bytes().startswith(b"\xef\xbb\xbfurl,kind,")

    def test_json_lines_to_standard_output(self, say: Say):
        said = say("export", "pages", "--format", "jsonl").ok
        pages = lines_of(said.out)
        assert len(pages) == 9
        assert pages[0]["url"] == HOME
        assert pages[0]["last_crawled_at"] == T0 + 10
        assert pages[0]["valid"] is None
        assert said.err.startswith("9 rows, 1.0 MB, ")
        assert said.err.endswith(" s -> standard output\n")

    @pytest.mark.parametrize("what", TABLES)
    def test_every_table_in_every_format_holds_the_same_columns(self, what: str, say: Say, here: Path):
        for form in ("jsonl", "csv", "parquet"):
            said = say("export", what, "--format", form, "--output", f"out.{form}")
            assert (said.status, said.out) == (0, "")
            assert said.err.endswith(f" s -> {here / f'out.{form}'}\n")
        former = csv.field_size_limit(2_000_000)
        with (here / "out.csv").open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        csv.field_size_limit(former)
        lines = lines_of((here / "out.jsonl").read_text("ascii"))
        table = pq.read_table(here / "out.parquet")
        assert header == table.schema.names == list(lines[0])
        assert len(rows) == len(lines) == table.num_rows > 0
        assert table.column(header[0]).to_pylist() == [line[header[0]] for line in lines]

    def test_bodies(self, say: Say, here: Path):
        assert say("export", "bodies", "--format", "warc", "--output", "out.warc.gz").err.startswith("6 answers, ")
        with (here / "out.warc.gz").open("rb") as file:
            found = {
                record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
                for record in ArchiveIterator(file, check_digests="raise")
                if record.rec_type in {"response", "revisit"}
            }
        assert found[f"{A}/bytes"] == BINARY
        assert len(found) == 6
        index = [json.loads(line.split(" ", 2)[2]) for line in (here / "out.cdxj").read_text().splitlines()]
        assert {line["url"] for line in index} == set(found)
        assert {line["filename"] for line in index} == {"out.warc.gz"}

    def test_an_archive_is_compressed_unless_its_name_says_otherwise(self, say: Say, here: Path):
        for name, start in (("out.warc.gz", b"\x1f\x8b"), ("out", b"\x1f\x8b"), ("out.warc", b"WARC/1.1")):
            say("export", "bodies", "--format", "warc", "--output", name)
            assert (here / name).read_bytes().startswith(start)

    def test_columns_come_in_the_order_that_was_asked_for(self, say: Say):
        said = say("export", "attempts", "--format", "csv", "--columns", "url, exit_code,url", "--origin", "b.example")
        assert said.out == f"url,exit_code\r\n{B}/,connection_failed\r\n"

    @pytest.mark.parametrize(
        ("words", "count"),
        [
            (("pages", "--origin", A), 8),
            (("pages", "--exit-code", "FILE-INGESTED"), 4),
            (("failures", "--exit-code", "file_not_found"), 1),
            (("attempts", "--since", str(T0 + 80)), 1),
            (("attempts", "--since", "2027-01-15"), 8),
            (("attempts", "--since", "2027-01-15T08:00:00.020Z"), 6),
            (("attempts", "--since", "2027-01-15T09:00:00.020+01:00"), 6),
            (("attempts", "--since", "2027-01-15T08:00:00.020"), 6),
            (("attempts", "--since", "2027-01-16"), 0),
            (("links", "--origin", "b.example"), 0),
        ],
    )
    def test_rows_are_narrowed(self, words: tuple[str, ...], count: int, say: Say):
        assert len(lines_of(say("export", *words, "--format", "jsonl").out)) == count

    def test_quiet_says_nothing(self, say: Say):
        assert say("export", "pages", "--format", "csv", "--output", "x.csv", "--quiet").err == ""

    def test_nothing_leaves_the_folder(self, say: Say, here: Path):
        outside = sorted(here.parent.iterdir())
        say("export", "bodies", "--format", "warc", "--output", "out.warc")
        say("export", "pages", "--format", "csv", "--output", "out.csv")
        assert files(here) == ["out.cdxj", "out.csv", "out.warc"]
        assert sorted(here.parent.iterdir()) == outside


@pytest.mark.usefixtures("crawl")
class TestWhatIsRefused:
    def test_parquet_without_its_extra_says_how_to_install_it(
        self, say: Say, here: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(export_command, "find_spec", lambda _: None)
        say("export", "pages", "--format", "parquet", "--output", "out.parquet").refused(
            "pip install 'tui_crawler[parquet]'"
        )
        assert not (here / "out.parquet").exists()

    @pytest.mark.parametrize(
        ("words", "said_so"),
        [
            (("page", "--format", "csv"), "invalid choice"),
            (("pages", "--format", "xml"), "invalid choice"),
            (("pages",), "--format"),
            (("pages", "--format", "csv", "--json"), "unrecognized arguments: --json"),
            (("pages", "--format", "warc"), "pages cannot be exported as warc"),
            (("bodies", "--format", "csv"), "bodies cannot be exported as csv"),
            (("pages", "--format", "jsonl", "--bom"), "--bom is for csv"),
            (("bodies", "--format", "warc", "--columns", "url"), "no columns"),
            (("bodies", "--format", "warc", "--exit-code", "file_ingested"), "have no exit code"),
            (("links", "--format", "csv", "--exit-code", "file_ingested"), "have no exit code"),
            (("pages", "--format", "csv", "--exit-code", "file_ingestd"), "did you mean file_ingested?"),
            (("pages", "--format", "csv", "--origin", "https://c.example"), "no origin"),
            (("pages", "--format", "csv", "--columns", "ulr"), "did you mean url?"),
            (("pages", "--format", "csv", "--columns", ","), "names no column"),
            (("pages", "--format", "csv", "--columns", "message"), "pages have no column"),
            (("pages", "--format", "csv", "--since", "yesterday"), "neither epoch milliseconds nor a date"),
            (("pages", "--format", "csv", "--since", "1" * 16), "neither epoch milliseconds nor a date"),
            (("pages", "--format", "csv", "--since", "\u0661\u0662"), "neither epoch milliseconds nor a date"),
            (("pages", "--format", "csv", "--output", ""), "is not a file"),
            (("pages", "--format", "csv", "--output", "folder/"), "is not a file"),
            (("pages", "--format", "csv", "--output", ".."), "is a folder"),
            (("pages", "--format", "csv", "--output", "x\0y"), "null"),
            (("pages", "--format", "csv", "--output", "crawl.db-wal", "--force"), "belongs to the database"),
            (("pages", "--format", "csv", "--db", "none.db"), "there is no database"),
        ],
    )
    def test_a_wrong_word_is_told_and_nothing_is_written(
        self, words: tuple[str, ...], said_so: str, say: Say, here: Path
    ):
        say("export", *words).refused(said_so)
        assert files(here) == []

    def test_a_file_that_exists_needs_force(self, say: Say, here: Path):
        (here / "x.csv").write_text("former")
        say("export", "pages", "--format", "csv", "--output", "x.csv").refused("exists\n  --force replaces it")
        assert (here / "x.csv").read_text() == "former"
        assert say("export", "pages", "--format", "csv", "--output", "x.csv", "--force").status == 0
        assert (here / "x.csv").read_text(encoding="utf-8").startswith("url,origin")

    @pytest.mark.parametrize(("what", "form"), [("pages", "parquet"), ("bodies", "warc")])
    def test_a_terminal_gets_no_binary_format(
        self, what: str, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        assert main(("export", what, "--format", form)) == 2
        assert terminal.getvalue() == ""
        assert "binary format and this is a terminal" in capsys.readouterr().err

    def test_a_terminal_gets_nothing_it_obeys(self, monkeypatch: pytest.MonkeyPatch):
        for form in ("csv", "jsonl"):
            for what in TABLES:
                terminal = Terminal()
                monkeypatch.setattr(sys, "stdout", terminal)
                assert main(("export", what, "--format", form)) == 0
                shown = terminal.getvalue()
                assert shown
                assert all(char.isprintable() or char in "\r\n" for char in shown)


@pytest.mark.usefixtures("crawl")
class TestHowItEnds:
    @pytest.mark.parametrize(
        ("error", "status", "words"),
        [
            (CannotWrite("x.csv cannot be written: No space left on device"), 3, "No space left on device"),
            (StorageFailure("crawl.db is damaged"), 3, "crawl.db is damaged"),
            (KeyboardInterrupt(), 130, ""),
        ],
    )
    def test_a_failure_leaves_no_file(
        self, error: BaseException, status: int, words: str, say: Say, here: Path, monkeypatch: pytest.MonkeyPatch
    ):
        def torn(_reports: Any, _plan: Any, output: Any) -> int:
            output.write(b"x" * 1_000_000)
            raise error

        monkeypatch.setattr(wiring_export, "write_export", torn)
        said = say("export", "pages", "--format", "csv", "--output", "x.csv")
        assert (said.status, said.out) == (status, "")
        assert words in said.err
        assert files(here) == []

    @pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
    def test_a_signal_leaves_no_file(
        self, number: signal.Signals, status: int, say: Say, here: Path, monkeypatch: pytest.MonkeyPatch
    ):
        def hit(_reports: Any, _plan: Any, output: Any) -> int:
            output.write(b"x" * 1_000_000)
            os.kill(os.getpid(), number)
            raise AssertionError("the signal did not arrive")

        before = signal.getsignal(number)
        monkeypatch.setattr(wiring_export, "write_export", hit)
        assert say("export", "pages", "--format", "csv", "--output", "x.csv").status == status
        assert files(here) == []
        assert signal.getsignal(number) is before

    def test_a_damaged_body_leaves_no_file(self, say: Say, here: Path, crawl: Path):
        with closing(sqlite3.connect(crawl)) as database:
            database.execute("UPDATE body SET zstd = x'00' WHERE size = 0")
            database.commit()
        say("export", "bodies", "--format", "warc", "--output", "x.warc").refused(
            f"the stored body of {A}/long is damaged", status=3
        )
        assert files(here) == []

    @pytest.mark.parametrize("form", FORMATS)
    def test_a_reader_who_goes_away_is_no_error(self, form: str, here: Path):
        what = "bodies" if form == "warc" else "pages"
        words, pipe = (*PROGRAM, "export", what, "--format", form), subprocess.PIPE
        with subprocess.Popen(words, stdout=pipe, stderr=pipe, env=environment(), cwd=here) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            told = process.stderr.read()
            assert process.wait() == 0
        assert told == b""

    @pytest.mark.parametrize("form", FORMATS)
    @pytest.mark.parametrize("way", [">&-", ">/dev/full"])
    def test_without_a_standard_output_that_takes_it(self, form: str, way: str, here: Path):
        what = "bodies" if form == "warc" else "pages"
        words = ("sh", "-c", f'exec "$@" {way}', "sh", *PROGRAM, "export", what, "--format", form)
        done = subprocess.run(words, capture_output=True, env=environment(), cwd=here, check=False)
        assert done.returncode == 3
        assert b"tui-crawler: " in done.stderr
        assert b"Traceback" not in done.stderr

    def test_a_binary_format_goes_through_a_pipe(self, here: Path):
        words = (*PROGRAM, "export", "pages", "--format", "parquet")
        done = subprocess.run(words, capture_output=True, env=environment(), cwd=here, timeout=PATIENT_S, check=True)
        assert pq.read_table(io.BytesIO(done.stdout)).num_rows == 9


async def test_a_live_run_goes_on_meanwhile(here: Path):
    store = SqliteStore(here / "live.db")
    try:
        await store.begin_run(plan(HOME))
        await store_attempts(store, range(1, 21))
        words = ("export", "attempts", "--format", "jsonl", "--quiet", "--output")
        for number in range(5):
            _, status = await asyncio.gather(
                store_attempts(store, range(100 + 20 * number, 120 + 20 * number)),
                asyncio.to_thread(main, (*words, f"{number}.jsonl")),
            )
            assert status == 0
    finally:
        store.close()
    counts = []
    for number in range(5):
        ids = [line["attempt_id"] for line in lines_of((here / f"{number}.jsonl").read_text())]
        assert ids == list(range(1, len(ids) + 1))
        counts.append(len(ids))
    assert counts == sorted(counts)
    assert counts[0] >= 20
    with closing(Reports(here / "live.db")) as reports:
        assert reports.totals().attempts == 120
