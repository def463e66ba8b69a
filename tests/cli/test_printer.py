"""What reaches the streams: nothing a terminal obeys, and no exception when nobody reads."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.cli.conftest import CONFIG, environment
from tests.support.patience import PATIENT_S
from tui_crawler.cli import printer as module
from tui_crawler.cli.printer import LINE_LIMIT, LineQueue, Printer, as_json, columns

HOSTILE = [
    case["text"]
    for case in json.loads((Path(__file__).parent / "corpora/terminal_injection.json").read_text("utf-8"))["cases"]
]


class Broken(io.StringIO):
    """A stream whose reader has gone away."""

    def __init__(self, number: int = errno.EPIPE) -> None:
        super().__init__()
        self.number = number
        self.tries = 0

    def write(self, text: str) -> int:
        self.tries += 1
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_spelled_out(text: str):
    out, err = io.StringIO(), io.StringIO()
    printer = Printer(out, err)
    printer.line(f"title {text}")
    printer.note(text)
    printer.error(text)
    printer.document({"title": text})
    printer.document({"titles": iter([text])})
    for stream in (out, err):
        assert all(char.isprintable() or char == "\n" for char in stream.getvalue())
    assert out.getvalue().splitlines()[0].startswith("title ")


class Terminal(io.StringIO):
    """A terminal of an encoding."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self.named = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # StringIO has none
        return self.named

    def isatty(self) -> bool:
        return True


def test_urls_are_shown_in_their_letters_on_a_terminal_that_has_them_and_raw_elsewhere(monkeypatch: pytest.MonkeyPatch):
    raw, letters = "http://a.test/%E6%97%A5%E6%9C%AC", "http://a.test/日本"
    rows = [(raw, "1"), ("http://a.test/some-longer-name", "2")]
    for stdout, shown in ((Terminal("utf-8"), letters), (Terminal("ascii"), raw), (io.StringIO(), raw)):
        monkeypatch.setattr(sys, "stdout", stdout)
        printer = Printer(stdout, io.StringIO())
        printer.line(raw)
        printer.document({"url": raw})
        printer.line("prefix: /%E6%97%A5")  # of a rule
        printer.lines(lines := list(columns(("URL", "N"), rows, frozenset())))
        assert stdout.getvalue().splitlines()[:3] == [shown, json.dumps({"url": raw}), "prefix: /%E6%97%A5"]
        assert lines[1].startswith(f"{shown} ")
        assert len({cell_len(line) for line in lines}) == 1


@given(st.text(alphabet=st.characters(codec=None, categories=None), max_size=60))
def test_a_json_answer_is_printable_ascii_and_comes_back_whole(text: str):
    shown = as_json([text])
    assert shown.isascii()
    assert shown.isprintable()
    assert json.loads(shown) == [text]


def test_one_line_is_one_line_and_bounded():
    out = io.StringIO()
    Printer(out, io.StringIO()).line("a\nb" * LINE_LIMIT)
    assert out.getvalue().count("\n") == 1
    assert len(out.getvalue()) == LINE_LIMIT + 1


def test_quiet_leaves_out_notes_only():
    out, err = io.StringIO(), io.StringIO()
    printer = Printer(out, err, quiet=True)
    printer.note("by the way")
    printer.error("wrong")
    printer.line("answer")
    assert (out.getvalue(), err.getvalue()) == ("answer\n", "tui-crawler: wrong\n")


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EIO])
def test_a_reader_that_left_closes_the_answer_quietly(number: int):
    out, err = Broken(number), io.StringIO()
    printer = Printer(out, err)
    printer.lines(iter(["one", "two", "three"]))
    printer.document({})
    assert printer.closed
    assert (out.tries, err.getvalue()) == (1, "")


def test_a_full_disk_is_told():
    err = io.StringIO()
    printer = Printer(Broken(errno.ENOSPC), err)
    printer.line("one")
    assert printer.closed
    assert "No space left" in err.getvalue()


def test_a_closed_stream_raises_nothing():
    out, err = io.StringIO(), io.StringIO()
    out.close()
    err.close()
    printer = Printer(out, err)
    printer.line("answer")
    printer.error("wrong")
    assert printer.closed


def test_many_documents_are_one_json_value():
    out = io.StringIO()
    printer = Printer(out, io.StringIO())
    printer.document({"pages": ({"n": n} for n in range(3))})
    assert json.loads(out.getvalue()) == {"pages": [{"n": 0}, {"n": 1}, {"n": 2}]}
    out.truncate(out.seek(0))
    printer.document({"pages": iter([])})
    assert json.loads(out.getvalue()) == {"pages": []}


def test_no_more_documents_are_made_than_are_read():
    made = []
    printer = Printer(Broken(), io.StringIO())
    printer.document({"pages": (made.append(n) for n in range(1_000))})
    assert len(made) <= 1


def test_a_real_broken_pipe_leaves_no_trace_on_stderr():
    script = (
        "import sys\n"
        "from tui_crawler.cli.printer import standard_printer\n"
        "printer = standard_printer()\n"
        "while not printer.closed: printer.line('x' * 500)\n"
        "sys.exit(7)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENT_S) == 7
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_who_prints_never_waits_for_who_reads_and_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST_WAITING", 900)
    reading, writing = os.pipe()
    err, taken = io.StringIO(), []
    with os.fdopen(reading, encoding="utf-8") as reader, os.fdopen(writing, "w", encoding="utf-8") as out:
        printer = Printer(out, err)
        queue = printer.queue(lambda number: f"{number} left out\n")
        for number in range(4_000):  # no one reads: the pipe takes 64 KiB, the queue its bound
            assert printer.line(f"{number:04} " + "x" * 45)
        reads = threading.Thread(target=lambda: taken.extend(reader))
        reads.start()
        lost = queue.finish(still_s=30)
        printer.line("it flows again")
        printer.end(hurry=False)
        printer.finish()
        out.close()
        reads.join()
    counted = 0
    for line in taken[:-1]:
        word = int(line.split()[0])
        counted = counted + word if "left out" in line else counted + (word == counted)
    assert (counted, taken[-1]) == (4_000, "it flows again\n")
    assert 0 < lost < 4_000
    assert err.getvalue() == f"tui-crawler: {lost} lines of output were not taken by their reader\n"


def test_a_thread_that_is_late_is_no_reader_that_stands_still(monkeypatch: pytest.MonkeyPatch):
    reading, writing = os.pipe()
    its_turn = threading.Event()
    write_out = LineQueue._write_out
    monkeypatch.setattr(LineQueue, "_write_out", lambda *given: its_turn.wait(PATIENT_S) and write_out(*given))
    with os.fdopen(reading, encoding="utf-8") as reader, os.fdopen(writing, "w", encoding="utf-8") as out:
        queue = LineQueue(out, str)
        queue.write("the last line\n")
        threading.Timer(0.2, its_turn.set).start()
        assert queue.finish(still_s=0.01, most_s=0.01) == 0
        assert reader.readline() == "the last line\n"


_SHELL = {
    "closed": 'exec "$@" >&-',
    "full": 'exec "$@" >/dev/full',
    "both closed": 'exec "$@" >&- 2>&-',
    "no stderr": 'exec "$@" 2>&-',
}


@pytest.mark.parametrize("command", [("check", "my.yaml"), ("--help",), ("status", "--help"), ("completion", "bash")])
@pytest.mark.parametrize(("way", "status"), [("closed", 3), ("full", 3), ("both closed", 3), ("no stderr", 0)])
def test_an_answer_that_cannot_be_written_is_told_and_status_three(
    command: tuple[str, ...], way: str, status: int, here: Path
):
    (here / "my.yaml").write_text(CONFIG)
    words = ["sh", "-c", _SHELL[way], "sh", sys.executable, "-m", "tui_crawler", *command]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False, timeout=PATIENT_S)
    assert done.returncode == status
    told = "tui-crawler: the output cannot be written: " in done.stderr
    assert told == (way in {"closed", "full"})
    assert "Traceback" not in done.stderr
    assert bool(done.stdout) == (way == "no stderr")
