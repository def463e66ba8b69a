"""A machine that is short of something: a run waits with what it has, goes on, and loses nothing by it."""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.e2e.served import ROOT, rows, tui_crawler, value
from tests.support.patience import PATIENT_S
from tui_crawler.storage.db.database import check_integrity


class Site(BaseHTTPRequestHandler):
    """Answers on every loopback address: `/` links to the pages of its origin."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[Counter[str]] = Counter()
    pages = 8

    def do_GET(self) -> None:
        Site.asked[f"http://{self.headers['Host']}{self.path}"] += 1
        found = self.path != "/robots.txt"
        links = "".join(f'<a href="/{number}">{number}</a>' for number in range(1, self.pages))
        body = f"<!doctype html><title>{self.path}</title>{links}{'x' * 2_000}".encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    Site.asked.clear()
    server = ThreadingHTTPServer(("0.0.0.0", 0), Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def configured(folder: Path, port: int, origins: int, in_flight: int, delay: str) -> tuple[Path, Path]:
    """A configuration of so many origins, and its database."""
    config, database = folder / "short.yaml", folder / "short.db"
    seeds = "".join(f"  - http://127.0.0.{number}:{port}/\n" for number in range(1, origins + 1))
    config.write_text(
        f"name: short\nuser_agent: 'test-crawler (for http://127.0.0.1/)'\ndatabase: {database}\nseeds:\n{seeds}"
        f"crawl: {{max_in_flight: {in_flight}, sitemaps: robots}}\n"
        f"delay: {{default: {delay}, floor: {delay}, allow_impolite: true}}\n",
        encoding="utf-8",
    )
    return config, database


@contextlib.contextmanager
def running(command: list[str], told: Path) -> Iterator[subprocess.Popen[bytes]]:
    with told.open("wb") as file, told.with_suffix(".errors").open("wb") as errors:
        process = subprocess.Popen([sys.executable, *command], stdout=file, stderr=errors, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def await_that(reached: Callable[[], object]) -> None:
    while not reached():
        time.sleep(0.05)


def events(told: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines(keepends=True) if line[-1] == "\n"]


def names(told: Path) -> Counter[object]:
    return Counter(event["event"] for event in events(told))


def full_disk(switch: Path, config: Path) -> list[str]:
    return ["-m", "tests.e2e.full_disk_child", str(switch), "run", str(config), "--json"]


def assert_all_crawled(database: Path, origins: int) -> None:
    done = Counter(row["url"] for row in rows(database, "SELECT url FROM v_attempt WHERE exit_code = 'file_ingested'"))
    assert len(done) == origins * Site.pages
    assert set(done.values()) == {1}
    assert {row["finish_reason"] for row in rows(database, "SELECT finish_reason FROM v_origin")} == {"exhausted"}
    assert check_integrity(database).problems == ()


def test_a_run_waits_for_room_on_the_disk_and_goes_on(port, tmp_path):
    config, database = configured(tmp_path, port, 3, 3, "300ms")
    switch, told = tmp_path / "full", tmp_path / "told"
    with running(full_disk(switch, config), told) as process:
        await_that(lambda: names(told)["attempt_finished"] >= 3)
        switch.touch()
        await_that(lambda: names(told)["database_failed"])
        stored = [event["url"] for event in events(told) if event["event"] == "attempt_finished"]
        time.sleep(2)
        waiting = {url for url in Site.asked if not url.endswith("/robots.txt")} - {*stored}
        assert len(waiting) <= 3, "of each origin at most what was in flight"
        switch.unlink()
        assert process.wait(PATIENT_S) == 0
    assert names(told)["database_restored"] == names(told)["database_failed"] == 1
    assert_all_crawled(database, 3)
    assert set(Site.asked.values()) == {1}


def limit_writing(process: subprocess.Popen[bytes], most: int) -> None:
    """From now on the process may write to no file beyond so many bytes: SQLite reports that as an I/O error."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


def test_an_io_error_is_waited_for_as_a_full_disk_is(port, tmp_path):
    config, database = configured(tmp_path, port, 3, 3, "300ms")
    command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        lines: list[dict[str, object]] = []
        reading = threading.Thread(target=lambda: lines.extend(map(json.loads, process.stdout or ())))
        reading.start()
        try:
            await_that(lambda: sum(one["event"] == "attempt_finished" for one in lines) >= 3)
            limit_writing(process, 1)
            await_that(lambda: any(one["event"] == "database_failed" for one in lines))
            shown = tui_crawler("status", "--db", str(database))
            asked = Site.asked.total()
            time.sleep(2)
            assert Site.asked.total() <= asked + 3, "of each origin at most what was in flight"
            limit_writing(process, resource.RLIM_INFINITY)
            assert process.wait(PATIENT_S) == 0
        finally:
            process.kill()
            reading.join()
    (failed,) = [one for one in lines if one["event"] == "database_failed"]
    assert "I/O error" in str(failed["message"])
    assert shown.returncode == 0
    assert lines[-1]["reason"] == "exhausted"
    assert_all_crawled(database, 3)
    assert set(Site.asked.values()) == {1}


def test_few_descriptors_cost_requests_in_flight_and_no_origin(port, tmp_path):
    config, database = configured(tmp_path, port, 60, 60, "50ms")
    words = ["-m", "tui_crawler", "run", str(config), "--json"]
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
    limit += " os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", limit, sys.executable, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert "requests in flight, not 60: the system lets this process open no more files" in done.stderr
    assert_all_crawled(database, 60)
    assert set(Site.asked.values()) == {1}
    assert 1 < value(database, "SELECT max_in_flight FROM run") < 60


def test_a_run_that_is_ended_while_the_disk_is_full_tells_what_is_left_and_the_next_goes_on(port, tmp_path):
    config, database = configured(tmp_path, port, 3, 3, "300ms")
    switch, told = tmp_path / "full", tmp_path / "told"
    with running(full_disk(switch, config), told) as process:
        await_that(lambda: names(told)["attempt_finished"] >= 3)
        switch.touch()
        await_that(lambda: names(told)["database_failed"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENT_S) == 128 + signal.SIGTERM
    last = events(told)[-1]
    assert (last["event"], last["reason"]) == ("run_finished", "interrupted")
    assert "the next start continues this run" in str(last["message"])
    assert names(told)["origin_finished"] == 0
    assert value(database, "SELECT count(*) FROM v_page WHERE attempts_remaining > 0") > 0
    assert tui_crawler("run", str(config)).returncode == 0
    assert_all_crawled(database, 3)
    assert max(Site.asked.values()) <= 2, "what was in flight was asked for again"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("SQLITE_CORRUPT", "is damaged"),
        ("SQLITE_NOTADB", "is damaged"),
        ("SQLITE_READONLY", "read-only"),
        ("SQLITE_ERROR", "is not as this program makes it"),
    ],
)
def test_a_database_of_no_more_use_ends_a_run_with_status_3_and_its_reason(port, tmp_path, code, said):
    config, database = configured(tmp_path, port, 3, 3, "300ms")
    switch, told = tmp_path / "full", tmp_path / "told"
    with running(full_disk(switch, config), told) as process:
        await_that(lambda: names(told)["attempt_finished"] >= 3)
        draft = tmp_path / "draft"
        draft.write_text(code)
        draft.rename(switch)
        assert process.wait(PATIENT_S) == 3
    last = events(told)[-1]
    assert (last["event"], last["reason"]) == ("run_finished", "error")
    assert said in str(last["message"])
    assert said in told.with_suffix(".errors").read_text()
    assert names(told)["origin_finished"] == 0
    switch.unlink()
    assert value(database, "SELECT count(*) FROM v_page WHERE attempts_remaining > 0") > 0
    assert tui_crawler("run", str(config)).returncode == 0
    assert_all_crawled(database, 3)
