"""`run`: what is handed to the wiring, and what is shown of a run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import CONFIG, Said, Say, Terminal, Wiring, environment
from tests.support.patience import PATIENT_S
from tui_crawler.cli import run_command
from tui_crawler.cli.main import main
from tui_crawler.cli.options import CommandParser, CommandSet
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.records.failure import RunHeld
from tui_crawler.wiring.launch import Launch

A = "https://a.example.org"


@pytest.fixture
def config(here: Path) -> Path:
    path = here / "my.yaml"
    path.write_text(CONFIG)
    return path


def crawl(listener) -> int:
    for event in (
        Event(1_000, "run_started", extra=(("origins", 1), ("continued", False))),
        Event(2_000, "attempt_finished", A, f"{A}/\x1b[31m", "file_not_found", (("kind", "page"), ("response_ms", 3))),
        Event(3_000, "origin_finished", A, extra=(("reason", "patience"), ("pages_done", 0), ("pages_failed", 1))),
        Event(3_001, "run_finished", extra=(("reason", "exhausted"), ("requests", 1), ("pages_failed", 1))),
    ):
        listener.on_event(event)
    return 1


def test_the_configuration_and_its_database_are_handed_over(config: Path, say: Say, wiring: Wiring):
    assert say("run", "my.yaml").status == 0
    ((given, database, options),) = wiring.runs
    assert given.seeds == ("https://example.org/",)
    assert database == config.with_suffix(".db")
    assert not options.new_run
    assert given.crawl.max_requests is None


def test_options_win_over_the_configuration(config: Path, say: Say, wiring: Wiring):
    words = "run my.yaml --max-requests 12 --force-recrawl --new-run --allow-impolite --db elsewhere.db"
    assert say(*words.split(), "--user-agent", "x-crawler (for https://x.example/)").status == 0
    ((given, database, options),) = wiring.runs
    assert given.crawl.max_requests == 12
    assert given.crawl.force_recrawl
    assert given.delay.allow_impolite
    assert given.impolite_everywhere
    assert given.user_agent == "x-crawler (for https://x.example/)"
    assert options.new_run
    assert database.name == "elsewhere.db"


def test_a_bad_override_is_a_configuration_error(config: Path, say: Say, wiring: Wiring):
    say("run", "my.yaml", "--user-agent", "a\nb").refused("command line")
    assert not wiring.runs


def test_the_database_belongs_to_its_configuration(config: Path, say: Say, wiring: Wiring):
    config.write_text(CONFIG + "database: mine.db\n")
    say("run", "my.yaml", "--db", "other.db").refused("other.db", "mine.db")
    assert not wiring.runs
    assert say("run", "my.yaml", "--db", "other.db", "--ignore-database-name").status == 0


@pytest.mark.parametrize("text", ["", "- a\n", "seeds: [x", "seeds: [https://h/]\nseeds: []\n", "seeds: [ftp://h/]\n"])
def test_a_bad_configuration_starts_nothing(config: Path, text: str, say: Say, wiring: Wiring):
    config.write_text(text)
    said = say("run", "my.yaml")
    assert said.status == 2
    assert said.err.startswith("tui-crawler: my.yaml")
    assert not wiring.runs
    assert [path.name for path in config.parent.iterdir()] == ["my.yaml"]


def test_a_missing_configuration(say: Say, wiring: Wiring):
    say("run", "absent.yaml").refused("absent.yaml")


def test_in_a_pipe_there_are_lines_and_a_summary(config: Path, say: Say, wiring: Wiring):
    wiring.crawl = crawl
    said = say("run", "my.yaml")
    assert said.status == 1
    lines = said.out.splitlines()
    assert lines[0].endswith("run started: 1 origin")
    assert f"{A}/\\x1b[31m" in lines[1]
    assert "run finished, nothing left in this run" in lines
    assert f"  {A}: out of patience; 0 pages done, 1 failed" in lines


def test_json_is_one_object_per_event_and_nothing_else(config: Path, say: Say, wiring: Wiring):
    wiring.crawl = crawl
    said = say("run", "my.yaml", "--json")
    documents = [json.loads(line) for line in said.out.splitlines()]
    assert [one["event"] for one in documents] == [
        "run_started",
        "attempt_finished",
        "origin_finished",
        "run_finished",
    ]
    assert said.status == 1


def test_quiet_says_nothing(config: Path, say: Say, wiring: Wiring):
    wiring.crawl = crawl
    said = say("run", "my.yaml", "--quiet")
    assert (said.status, said.out, said.err) == (1, "", "")


def test_warnings_go_to_stderr(config: Path, say: Say, wiring: Wiring):
    config.write_text("seeds: [https://example.org/]\n")
    said = say("run", "my.yaml", "--json")
    assert said.out == ""
    assert "warning: " in said.err
    assert "user_agent" in said.err


def test_a_held_database_is_status_three(config: Path, say: Say, wiring: Wiring):
    def held(listener) -> int:
        raise RunHeld("process 4711 on host h holds my.db")

    wiring.crawl = held
    said = say("run", "my.yaml")
    assert (said.status, said.err) == (3, "tui-crawler: process 4711 on host h holds my.db\n")


def test_on_a_terminal_the_summary_stays(config: Path, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    wiring.crawl = crawl
    assert main(["run", "my.yaml"]) == 1
    signals, _, shown = terminal.getvalue().partition("\x1b[23;2t")
    assert signals == "\x1b[22;2t\x1b]2;my\x1b\\", "its title, until the end"
    assert shown.startswith("run finished, nothing left in this run\n")


def test_a_dumb_terminal_gets_plain_lines(config: Path, wiring: Wiring, monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "dumb")
    wiring.crawl = crawl
    assert main(["run", "my.yaml"]) == 1
    assert "run started: 1 origin" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()


_ENDLESS_RUN = """
import itertools, sys
from tui_crawler.domain.crawl.event import Event
from tui_crawler.__main__ import main
from tui_crawler.wiring import headless

def run_headless(config, database, launch, listener, shown):
    stopped = []
    listener.stop_run = lambda: stopped.append(True)
    for number in itertools.count():
        if stopped:
            print("stopped cleanly", file=sys.stderr)
            return 0
        listener.on_event(Event(number, "origin_paused", "https://example.org"))

headless.run_headless = run_headless
sys.exit(main())
"""


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_a_closed_pipe_ends_the_run_quietly_and_properly(config: Path, option: tuple[str, ...]):
    with subprocess.Popen(
        [sys.executable, "-c", _ENDLESS_RUN, "run", "my.yaml", *option],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert b"example.org" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENT_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b"stopped cleanly\n"


@pytest.mark.parametrize("option", [(), ("--json",)])
@pytest.mark.parametrize("way", [">&-", ">/dev/full", "2>&-", ">&- 2>&-"])
def test_a_run_whose_output_nobody_can_take_ends_with_its_own_status(config: Path, way: str, option: tuple[str, ...]):
    script = _ENDLESS_RUN.replace("itertools.count()", "range(99)")
    script = script.replace(
        "headless.run_headless = run_headless",
        "headless.run_headless = lambda *given: 1 if run_headless(*given) is None else 9",
    )
    words = ["sh", "-c", f'exec "$@" {way}', "sh", sys.executable, "-c", script, "run", "my.yaml", *option]
    done = subprocess.run(words, capture_output=True, env=environment(), check=False, timeout=PATIENT_S)
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False), done.stderr


def test_what_parts_of_the_program_log_is_plain_and_waits_for_nobody(config: Path):
    logged = "import logging; logging.getLogger('tui_crawler.storage').warning('odd \\x1b[2J')"
    script = _ENDLESS_RUN.replace("    stopped = []", f"    {logged}; return 0; stopped = []")
    words = [sys.executable, "-c", script, "run", "my.yaml", "--json"]
    done = subprocess.run(words, capture_output=True, env=environment(), check=False, timeout=PATIENT_S)
    assert (done.returncode, done.stderr) == (0, b"odd \\x1b[2J\n")


def test_signals_are_left_to_who_carries_the_run_out(config: Path, say: Say, wiring: Wiring):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    wiring.crawl = lambda listener: 143
    assert say("run", "my.yaml").status == 143
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_workers_are_told_how_to_join(config: Path, wiring: Wiring, say: Callable[..., Said]):
    assert say("run", "my.yaml", "--workers", "3", "--max-requests", "9", "--allow-impolite").status == 0
    _, database, launch = wiring.runs[-1]
    assert (launch.workers, launch.join) == (3, None)
    assert say(*launch.joined(2).words(database)).status == 0
    assert wiring.runs[-1][1:] == (database, launch.joined(2))


NUMBERS = st.none() | st.integers(1, 10**6)
LAUNCHES = st.builds(
    Launch,
    file=st.none() | st.sampled_from(["my.yaml", "/a b/my.yaml"]),
    new_run=st.booleans(),
    max_requests=NUMBERS,
    recheck=st.booleans(),
    force_recrawl=st.booleans(),
    user_agent=st.none() | st.text(min_size=1),
    own=st.booleans(),
    allow_impolite=st.booleans(),
    ignore_database_name=st.booleans(),
    workers=st.integers(1, 64),
    join=NUMBERS,
    metrics=st.none() | st.tuples(st.sampled_from(["127.0.0.1", "::1", "localhost"]), st.integers(1, 65_535)),
    on_event=st.just(()) | st.lists(st.text()).map(lambda more: (sys.executable, *more)),
    quiet=st.booleans(),
    json=st.booleans(),
)


@given(LAUNCHES)
def test_a_launch_is_read_from_the_command_line_that_it_gives(launch: Launch):
    parser = CommandParser(prog="tui-crawler")
    run_command.declare(CommandSet(parser))
    arguments = parser.parse_args(launch.words(Path("crawl.db")))
    assert Launch.of(arguments) == launch
    assert (arguments.db, arguments.file) == ("crawl.db", launch.file)


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 1), (5, 4), (500, 64)])
def test_workers_go_by_the_cores_on_demand(config: Path, wiring: Wiring, say: Say, monkeypatch, cores, workers):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert say("run", "my.yaml", "--workers", "auto").status == 0
    assert wiring.runs[-1][2].workers == workers


def test_more_workers_than_a_database_can_take_are_refused(config: Path, say: Callable[..., Said]):
    say("run", "my.yaml", "--workers", "65").refused("at most 64")
