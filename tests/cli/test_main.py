"""The front door: which word leads where, what help costs, how errors end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.cli.conftest import CONFIG, Say, Wiring, environment
from tests.cli.crawls import store_crawl
from tests.support.patience import PATIENT_S
from tui_crawler import __version__
from tui_crawler.cli.main import main, parse
from tui_crawler.domain.records.failure import NotOurDatabase, RunHeld, StorageFailure

_IMPORTED = """
import sys
from tui_crawler.__main__ import main
sys.argv = ["tui-crawler", *{words!r}]
status = main()
print("\\n".join(sorted(name.partition(".")[0] for name in sys.modules)), file=sys.stderr)
sys.exit(status)
"""


def run_process(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return python("-m", "tui_crawler", *words, **variables)


def python(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(**variables),
        timeout=PATIENT_S,
        check=False,
    )


def test_a_mistyped_word_imports_nothing_heavy():
    done = python("-c", _IMPORTED.format(words=("statsu",)))
    heavy = {"textual", "httpx", "peewee", "asyncio", "lxml", "ruamel", "ada_url", "sqlite3"}
    assert (done.returncode, heavy & set(done.stderr.split())) == (2, set())


@pytest.mark.parametrize(
    ("words", "more"),
    [(("why", "https://a.test/"), set()), (("rules", "show"), {"ruamel", "publicsuffixlist"})],
)
def test_commands_that_only_read_load_nothing_that_fetches_or_draws(here: Path, words: tuple[str, ...], more: set[str]):
    store_crawl(here / "crawl.db", "https://a.test/")
    done = python("-c", _IMPORTED.format(words=words))
    assert done.returncode == 0
    assert done.stdout
    assert set(done.stderr.split()).isdisjoint({"httpx", "textual", "asyncio", "parsel", "lxml"} | more)


def test_the_program_answers_as_a_module():
    version = run_process("--version")
    assert (version.returncode, version.stdout) == (0, f"tui-crawler {__version__}\n")
    wrong = run_process("run")
    assert wrong.returncode == 2
    assert wrong.stdout == ""
    assert "CONFIG" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_help_names_every_command_and_the_exit_statuses(say: Say):
    said = say("--help").ok
    for name in ("demo", "crawl", "run", "check", "status", "pause", "resume", "stop", "add", "retry", "failures"):
        assert f"\n    {name} " in said.out
    assert "audit" in said.out
    assert "143 SIGTERM" in said.out


def test_the_help_of_the_demo_says_where_it_is_kept(say: Say):
    said = " ".join(say("demo", "--help").out.split())
    assert "Without --db the crawl is kept in a new folder for temporary files" in said
    assert "nothing is kept" not in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("statsu", "unknown command 'statsu'; did you mean status?"),
        ("https://a.test/", "tui-crawler crawl https://a.test/ crawls it"),
        ("status --jsno", "unrecognized arguments: --jsno; did you mean --json?"),
        ("export pages --formt=csv", "unrecognized arguments: --formt=csv; did you mean --format?"),
        ("jobs set news --tga x", "unrecognized arguments: --tga; did you mean --tag?"),
        ("--dbb x.db status", "unrecognized arguments: --dbb; did you mean --db?"),
        ("my.yaml --readonyl", "unrecognized arguments: --readonyl; did you mean --readonly?"),
        ("why --zzzz https://a.test/", "unrecognized arguments: --zzzz\n  see tui-crawler why --help"),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest_one(line: str, words: str, say: Say):
    say(*line.split()).refused(words)


@pytest.mark.parametrize("words", [(), ("run",), ("jobs", "set")])
def test_help_is_a_command_too(words: tuple[str, ...], say: Say):
    assert say("help", *words) == say(*words, "--help")
    assert say("help", *words).status == 0
    say("help", "statsu").refused("did you mean status?")


def test_a_word_like_no_command_gets_no_guess(say: Say):
    said = say("zzzzzz")
    assert said.status == 2
    assert "did you mean" not in said.err
    assert "--help" in said.err


@pytest.mark.parametrize("word", ["x" * 5_000, "a\x00b", "", "a/b/c", "\udcff"])
def test_words_no_file_can_have_are_unknown_commands(word: str, say: Say):
    say(word).refused("unknown command")


def test_a_file_or_a_yaml_name_opens_the_console(here: Path):
    (here / "plain").write_text(CONFIG)
    assert parse(["plain"]).file == "plain"
    assert parse(["missing.yaml"]).file == "missing.yaml"
    assert parse(["missing.yml", "--readonly"]).readonly
    assert parse([]).file is None
    assert parse(["--db", "status", "missing.yaml"]).db == "status"


def test_a_command_wins_over_a_file_of_its_name(here: Path):
    (here / "status").write_text(CONFIG)
    assert not hasattr(parse(["status"]), "file")


@pytest.mark.parametrize(
    "words",
    [
        ("status", "--jso"),
        ("run",),
        ("run", "a.yaml", "--max-requests", "0"),
        ("run", "a.yaml", "--max-requests", "1e3"),
        ("run", "a.yaml", "--max-requests", "9" * 5_000),
        ("demo", "--port", "65536"),
        ("demo", "--headless", "--serve-only"),
        ("db",),
        ("db", "chekc"),
        ("crawl",),
    ],
)
def test_wrong_options_end_in_status_two(words: tuple[str, ...], say: Say):
    said = say(*words)
    assert said.status == 2
    assert said.out == ""
    assert said.err.startswith("tui-crawler: ")


@pytest.fixture
def fails(wiring: Wiring, database: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """What `status` ends with."""
    return lambda error: monkeypatch.setattr(wiring.reports, "run", Mock(side_effect=error))


@pytest.mark.parametrize(
    "error", [RunHeld("process 4711 runs it"), StorageFailure("disk is full"), NotOurDatabase("x")]
)
def test_what_could_not_run_is_one_line_and_status_three(error: Exception, say: Say, fails: Callable[..., None]):
    fails(error)
    said = say("status")
    assert (said.status, said.out, said.err) == (3, "", f"tui-crawler: {error}\n")


@pytest.mark.parametrize(
    ("words", "status", "message", "hint"),
    [
        (("status", "--db", "none.db", "--json"), 2, None, "tui-crawler run CONFIG makes one"),
        (("stat", "--json"), 2, "unknown command 'stat'; did you mean status?", None),
        (("status", "--jsn", "--json"), 2, "unrecognized arguments: --jsn; did you mean --json?", None),
        (("run", "none.yaml", "--json"), 2, "none.yaml: cannot be read: no such file or directory", ""),
        (("export", "pages", "--format", "csv", "--json"), 2, None, None),
    ],
)
def test_with_json_an_error_is_one_json_object_on_stderr(
    words: tuple[str, ...], status: int, message: str | None, hint: str | None, say: Say, here: Path
):
    said = say(*words)
    assert (said.status, said.out) == (status, "")
    error = json.loads(said.err)["error"]
    assert list(error) == ["message", "hint", "exit_status"]
    assert error["exit_status"] == status
    assert message is None or error["message"] == message
    assert hint is None or error["hint"] == hint


def test_every_fault_of_a_configuration_is_in_the_one_json_object(say: Say, here: Path):
    keys = [f"strange_{number:04}: {'x' * 40}" for number in range(300)]
    (here / "bad.yaml").write_text("\n".join(("seeds: [https://example.org/]", *keys)))
    said = say("run", "bad.yaml", "--json")
    assert said.err.isascii()
    assert json.loads(said.err)["error"]["message"].count("strange_") >= 2


def test_an_unexpected_error_is_one_line_or_a_json_object_with_the_way_to_details(say: Say, fails: Callable[..., None]):
    fails(LookupError("what\x1b[31m"))
    say("status").refused("LookupError: what\\x1b[31m", "TUI_CRAWLER_DEBUG=1", status=3)
    said = say("status", "--json")
    assert (said.status, "\x1b" in said.err) == (3, False)
    error = json.loads(said.err)["error"]
    assert "LookupError: what\x1b[31m" in error["message"]
    assert "TUI_CRAWLER_DEBUG=1" in error["hint"]


def test_debug_shows_where_it_happened(
    capsys: pytest.CaptureFixture[str], fails: Callable[..., None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TUI_CRAWLER_DEBUG", "1")
    fails(LookupError("what\x1b[31m"))
    assert main(["status"]) == 3
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "status_command.py" in err
    assert "\x1b" not in err


def test_an_interrupt_ends_a_command_quietly(say: Say, fails: Callable[..., None]):
    fails(KeyboardInterrupt())
    said = say("status")
    assert (said.status, said.out, said.err) == (130, "", "")


def test_what_a_stream_cannot_spell_is_escaped():
    done = run_process("stätus", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert "unknown command 'st\\xe4tus'; did you mean status?" in done.stderr


def test_no_terminal_points_to_run(say: Say, here: Path):
    say().refused("needs a terminal", "tui-crawler run")
