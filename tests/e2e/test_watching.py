"""Watching a crawl from elsewhere: a real program on stdin, a real scrape on loopback, a real pseudo terminal."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.served import PATIENT_S, ROOT, tui_crawler, value
from tests.support.terminal import in_terminal
from tui_crawler.demo.process import DemoProcess, demo_config
from tui_crawler.domain.crawl.event import Event
from tui_crawler.domain.history.alarm import Alarm, AlarmKind
from tui_crawler.wiring.alarms import AlarmProgram
from tui_crawler.wiring.crawl import NullListener

KEEPS = "import sys; kept = open(sys.argv[1], 'w')\nfor line in sys.stdin: kept.write(line); kept.flush()"
GAVE_UP = Alarm(1, AlarmKind.origin_gave_up, "https://a.example", "x" * 2_000, 1, 0)
ENDED = Alarm(2, AlarmKind.run_ended, "", "finished", 1, 0)
BEGINS, ENDS = b"\x1b[22;2t\x1b]2;watched\x1b\\", b"\x1b[23;2t"


@pytest.fixture
def config(tmp_path):
    """A crawl of an origin that is gone and of one that is not, which is over soon."""
    with DemoProcess.start(pace=0.1) as web:
        seeds = [site.seed for site in web.sites if site.name in {"tramway", "almanac"}]
        file = tmp_path / "watched.yaml"
        file.write_text(demo_config(seeds, str(tmp_path / "watched.db"), headless=True), encoding="utf-8")
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(text[text.index("name:") :].splitlines()[0], "name: watched"), encoding="utf-8")
        yield file


def program(tmp_path: Path, text: str) -> Path:
    """A program of its own."""
    made = tmp_path / "program"
    made.write_text(f"#!{sys.executable}\n{text}\n", encoding="utf-8")
    made.chmod(0o755)
    return made


def test_a_program_is_told_of_an_origin_that_gave_up_and_of_the_end(config, tmp_path):
    kept = tmp_path / "kept with space.jsonl"
    command = f"{program(tmp_path, KEEPS)} '{kept}'"
    done = tui_crawler("run", str(config), "--on-event", command)
    assert done.returncode == 1, done.stderr
    alarms = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert [one["event"] for one in alarms] == ["origin_gave_up", "run_ended"]
    assert alarms[0]["origin"] in value(tmp_path / "watched.db", "SELECT group_concat(origin) FROM v_origin")
    assert [(one["severe"], one["warnings"], one["left_out"]) for one in alarms] == [(1, 0, 0)] * 2
    assert "\x1b" not in done.stdout + done.stderr, "no terminal, no signal"


def test_what_is_turned_off_is_not_told(config, tmp_path):
    with config.open("a", encoding="utf-8") as file:
        file.write("\nalarms: {events: [run_ended]}\n")
    kept = tmp_path / "kept"
    tui_crawler("run", str(config), "--on-event", f"{program(tmp_path, KEEPS)} {kept}")
    assert [json.loads(line)["event"] for line in kept.read_text(encoding="utf-8").splitlines()] == ["run_ended"]


def test_a_program_that_stands_still_holds_nothing_and_is_counted(tmp_path):
    told: list[str] = []
    times = iter(range(0, 1_000_000, 20))
    standing = AlarmProgram(
        [str(program(tmp_path, "import time; time.sleep(1_000)"))], told.append, lambda: next(times)
    )
    began = time.monotonic()
    for _ in range(300):
        standing.send(GAVE_UP)
    assert time.monotonic() - began < 10, "nobody waits for it"
    standing.close()
    assert standing._process.poll() == -signal.SIGKILL
    (words,) = told
    number = int(words.split(": ")[1].split()[0])
    assert 200 <= number <= 300, "a pipe takes some"


def test_a_program_that_has_ended_is_told_of_once(tmp_path):
    told: list[str] = []
    ended = AlarmProgram([str(program(tmp_path, ""))], told.append, lambda: 0.0)
    ended._process.wait(PATIENT_S)
    while not told:
        ended.send(ENDED)
    ended.send(ENDED)
    ended.close()
    assert len(told) == 2
    assert "has ended, or closed its stdin" in told[0]
    assert "were left out" in told[1]


def test_a_program_is_told_no_more_than_it_can_follow_and_how_much_that_was(tmp_path):
    kept, told, clock = tmp_path / "kept", list[str](), [0.0]
    keeps = AlarmProgram([str(program(tmp_path, KEEPS)), str(kept)], told.append, lambda: clock[0])
    for _ in range(50):
        keeps.send(GAVE_UP)
    clock[0] = 11.0
    keeps.send(GAVE_UP)
    keeps.send(ENDED)
    keeps.close()
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 22
    assert [one["left_out"] for one in lines[19:]] == [0, 30, 30]
    assert told == [f"--on-event: 30 alarms were left out: {tmp_path / 'program'} did not take them in time"]


def free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENT_S) as answer:
        text: str = answer.read().decode()
        return text


def test_a_run_answers_prometheus_while_it_crawls(config, tmp_path):
    pytest.importorskip("prometheus_client")
    port = free_port()
    text = (
        config.read_text(encoding="utf-8").replace("default: 20ms", "default: 1s").replace("floor: 20ms", "floor: 1s")
    )
    config.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--metrics", str(port), "--quiet"]
    with subprocess.Popen(command, cwd=ROOT) as run:
        said = ""
        while 'exit_code="file_ingested"' not in said:
            try:
                said = scrape(port)
            except (urllib.error.URLError, ConnectionError):
                continue
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/pages", timeout=PATIENT_S)
        run.send_signal(signal.SIGINT)
    assert run.returncode == 130
    assert "tui_crawler_requests_total " in said
    assert 'tui_crawler_pages{state="todo"}' in said


def test_an_address_that_is_taken_is_said_before_anything_is_asked(config, tmp_path):
    pytest.importorskip("prometheus_client")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        done = tui_crawler("run", str(config), "--metrics", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 3
    assert "--metrics 127.0.0.1:" in done.stderr
    assert "Address already in use" in done.stderr
    assert "please report" not in done.stderr


def test_what_metrics_say_and_a_scrape_that_stands_still():
    parser = pytest.importorskip("prometheus_client.parser")
    from tui_crawler.wiring.metrics import Metrics  # noqa: PLC0415  it needs prometheus-client

    metrics, port = Metrics(NullListener()), free_port()
    page = {
        "kind": "page",
        "response_ms": 120,
        "bytes": 1_000,
        "new_pages": 3,
        "todo": 2,
        "pages_done": 1,
        "patience": 5,
    }
    metrics.on_event(Event(1, "run_started", extra=(("requests", 7),)))
    metrics.on_event(Event(1, "origin_started", "https://a.example", extra=(("todo", 3),)))
    metrics.on_event(Event(2, "attempt_finished", "https://a.example", "", "file_ingested", tuple(page.items())))
    metrics.on_event(Event(3, "origin_finished", "https://a.example", extra=(("reason", "exhausted"),)))
    metrics.on_event(Event(4, "database_failed", extra=(("message", "disk"),)))
    server = metrics.serve("127.0.0.1", port)
    with closing(socket.create_connection(("127.0.0.1", port))) as standing:
        standing.sendall(b"GET /metrics HTTP/1.1\r\n")  # and no more
        text = scrape(port)
    server.shutdown()
    server.server_close()
    said = {
        (one.name, *one.labels.values()): one.value
        for family in parser.text_string_to_metric_families(text)
        for one in family.samples
    }
    assert said["tui_crawler_requests_total",] == 8
    assert said["tui_crawler_attempts_total", "file_ingested", "page"] == 1
    assert said["tui_crawler_received_bytes_total",] == 1_000
    assert said["tui_crawler_pages_found_total",] == 3
    assert (said["tui_crawler_pages", "done"], said["tui_crawler_pages", "todo"]) == (1, 2)
    assert (said["tui_crawler_origins", "finished"], said["tui_crawler_origins", "crawling"]) == (1, 0)
    assert said["tui_crawler_database_held_up",] == 1
    assert (said["tui_crawler_response_seconds_bucket", "0.1"], said["tui_crawler_response_seconds_count",]) == (0, 1)
    assert said["tui_crawler_response_seconds_sum",] == 0.12
    documented = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    names = {name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name, *_ in said}
    assert {name for name in names if f"`{name}`" not in documented} == set()


def test_a_run_tells_its_terminal_and_puts_the_title_back(config, monkeypatch):
    monkeypatch.setenv("TERM", "foot")
    with in_terminal([sys.executable, "-m", "tui_crawler", "run", str(config)]) as terminal:
        assert terminal.read_to_end() == 1
    raw = bytes(terminal.raw)
    assert raw.index(BEGINS) < raw.index("\x1b]2;✗1 watched\x1b\\".encode()) < raw.rindex(ENDS)
    assert b"\x1b]777;notify;tui-crawler;watched: origin stopped after errors http" in raw
    assert b"\x07" in raw


def test_a_console_does_so_too_and_starts_the_program_of_its_crawl(config, tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    kept = tmp_path / "kept"
    hook = f"{program(tmp_path, KEEPS)} {kept}"
    with in_terminal([sys.executable, "-m", "tui_crawler", str(config), "--on-event", hook]) as terminal:
        terminal.read_while(lambda: "\x1b]2;✗1 watched\x1b\\".encode() not in terminal.raw)
        terminal.read_while(lambda: not kept.exists() or "run_ended" not in kept.read_text(encoding="utf-8"))
        terminal.press("q")
        terminal.read_to_end()
    raw = bytes(terminal.raw)
    assert BEGINS in raw
    assert ENDS in raw
    assert b"\x07" in raw


def test_a_dumb_terminal_is_told_nothing(config, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    with in_terminal([sys.executable, "-m", "tui_crawler", "run", str(config)]) as terminal:
        terminal.read_to_end()
    assert b"\x1b" not in terminal.raw
    assert b"\x07" not in terminal.raw


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on-event", "no-such-program-here x"), "names no program that can be started"),
        (("--on-event", "'open"), "No closing quotation"),
        (("--metrics", "none"), "'none' is not a whole number"),
        (("--metrics", "127.0.0.1:70000"), "is not a port"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(words, said):
    done = tui_crawler("run", "some.yaml", *words)
    assert done.returncode == 2
    assert said in done.stderr
