"""Offline mode from end to end: a web on loopback is crawled, built into segments, loaded, and crawled on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.served import ROOT, rows, value
from tests.storage.whole import assert_whole
from tests.support.patience import PATIENT_S
from tui_crawler.cli.main import main

Say = Callable[..., Any]

PAGES = {
    "/": ("/1", "/2", "/list?page=1", "http://elsewhere.test/"),
    "/1": ("/3", "/", "{other}/"),
    "/2": ("/3", "/moved", "{other}/deep"),
    "/3": ("/4",),
    "/4": (),
    "/target": ("/5",),
    "/5": (),
    "/list?page=1": (),
}
OTHER_PAGES = {"/": ("/a",), "/a": ("{other}/4",), "/deep": ("/deeper",), "/deeper": ()}
REDIRECTS = {"/moved": "/target"}


class Site(ThreadingHTTPServer):
    """One origin; `asked` is what was requested of it, robots.txt left out."""

    daemon_threads = True

    def __init__(self, pages: dict[str, tuple[str, ...]]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.pages = pages
        self.asked: list[str] = []
        self.other = ""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self.answer(404, b"")
            return
        self.server.asked.append(self.path)
        if self.path in REDIRECTS:
            self.answer(302, b"", ("Location", REDIRECTS[self.path]))
        elif self.path in self.server.pages:
            links = "".join(f'<a href="{href.format(other=self.server.other)}">x</a>' for href in self.links())
            self.answer(200, f"<!doctype html><title>{self.path}</title>{links}".encode())
        else:
            self.answer(404, b"")

    def links(self) -> tuple[str, ...]:
        return self.server.pages[self.path]

    def answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, text in (("Content-Type", "text/html"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def serving(*sites: Site) -> Iterator[None]:
    threads = [threading.Thread(target=site.serve_forever, args=(0.01,)) for site in sites]
    for site, other in zip(sites, reversed(sites), strict=True):
        site.other = other.origin
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for site in sites:
            site.shutdown()
            site.server_close()
        for thread in threads:
            thread.join()


@pytest.fixture
def sites() -> Iterator[tuple[Site, Site]]:
    one, other = Site(PAGES), Site(OTHER_PAGES)
    with serving(one, other):
        yield one, other


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command in this process; answers its JSON document."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUI_CRAWLER_DB", raising=False)

    def run(*words: str, status: int = 0) -> Any:
        capfd.readouterr()
        ended = main(words)
        out, err = capfd.readouterr()
        assert ended == status, err
        return json.loads(out) if status == 0 and words[0] == "queue" else err

    return run


def write_config(folder: Path, *seeds: str, delay: str = "5ms", **sections: str) -> Path:
    given = {"mode": "offline", **sections}
    mode = given.pop("mode")
    text = [
        f"seeds: {json.dumps(seeds)}",
        "user_agent: 'test-crawler (for http://127.0.0.1/)'",
        f"crawl: {{mode: {mode}, max_in_flight: 4, sitemaps: robots}}",
        f"delay: {{default: {delay}, floor: {delay}, start_politeness: 0, allow_impolite: true}}",
        "policies: {url_query_parameters: [{allow: [page]}]}",
        *(f"{name}: {section}" for name, section in given.items()),
    ]
    path = folder / "web.yaml"
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


def run(say: Say, config: Path) -> None:
    assert "Traceback" not in say("run", str(config), "--quiet")


@pytest.mark.parametrize("kind", ["database", "bloom"])
def test_all_pages_in_the_end_and_none_twice(sites: tuple[Site, Site], tmp_path: Path, say: Say, kind: str) -> None:
    one, other = sites
    config = write_config(
        tmp_path, one.origin, other.origin, seen_index=f"{{kind: {kind}, capacity: 1000}}", queue="{segment_urls: 3}"
    )
    database = tmp_path / "web.db"
    run(say, config)
    assert (one.asked, other.asked) == (["/"], ["/"])
    assert value(database, "SELECT COUNT(*) FROM v_page") == 2, "nothing was queued"
    built = []
    for _ in range(10):
        document = say("queue", "build", "web.yaml", "--json")
        assert document["found"] == document["known"] + document["refused"] + sum(
            segment["urls"] for segment in document["segments"]
        )
        if not document["segments"]:
            break
        built += document["segments"]
        loaded = say("queue", "load", "--all", "--json", "--db", "web.db")
        assert len(loaded["segments"]) == len(document["segments"])
        assert all(segment["known"] == 0 for segment in loaded["segments"])
        run(say, config)
    assert Counter(one.asked) == Counter([*PAGES, *REDIRECTS])
    assert Counter(other.asked) == Counter([*OTHER_PAGES])
    assert max(segment["urls"] for segment in built) <= 3
    redirected = next(rows(database, "SELECT depth FROM v_page WHERE url LIKE '%/target'"))
    assert redirected["depth"] == 2, "a redirect costs no depth"
    assert value(database, "SELECT SUM(count) FROM v_refused WHERE reason = 'scope'") == 1
    assert_whole(database)
    folder = tmp_path / "segments"
    again = say("queue", "load", str(next(folder.iterdir())), "--db", "web.db", status=2)
    assert "was loaded already" in again


def test_a_damaged_segment_is_refused_and_the_whole_one_is_taken(
    sites: tuple[Site, Site], tmp_path: Path, say: Say
) -> None:
    config = write_config(tmp_path, sites[0].origin)
    run(say, config)
    (segment,) = say("queue", "build", "web.yaml", "--json")["segments"]
    path = Path(segment["path"])
    text = path.read_bytes()
    path.write_bytes(text.replace(b"\t/1\t", b"\t/9\t"))
    pages = value(tmp_path / "web.db", "SELECT COUNT(*) FROM page")
    assert "damaged" in say("queue", "load", str(path), "--db", "web.db", status=2)
    assert value(tmp_path / "web.db", "SELECT COUNT(*) FROM page") == pages
    path.write_bytes(text)
    assert say("queue", "load", str(path), "--db", "web.db", "--json")["loaded"] == {sites[0].origin: 3}


def test_an_edited_configuration_and_the_operators_exclusions_count(
    sites: tuple[Site, Site], tmp_path: Path, say: Say
) -> None:
    one, _ = sites
    run(say, write_config(tmp_path, one.origin))
    assert say("exclude", "pattern", "/1$", "--db", "web.db") == ""
    write_config(tmp_path, one.origin, rules="[{match: 'page=', accept: false}]")
    document = say("queue", "build", "web.yaml", "--json")
    text = Path(document["segments"][0]["path"]).read_text(encoding="utf-8")
    assert [line.split("\t")[1] for line in text.splitlines() if not line.startswith("#")] == ["/2"]
    counted = {row["reason"]: row["count"] for row in rows(tmp_path / "web.db", "SELECT * FROM v_refused")}
    assert counted == {"scope": 1, "exclusion": 1, "rule_accept": 1}


def test_without_a_configuration_that_of_the_last_run_is_taken(
    sites: tuple[Site, Site], tmp_path: Path, say: Say
) -> None:
    run(say, write_config(tmp_path, sites[0].origin, queue="{segment_urls: 2}"))
    (tmp_path / "web.yaml").unlink()
    document = say("queue", "build", "--json")
    assert [segment["urls"] for segment in document["segments"]] == [2, 1]


def test_an_origin_that_the_whitelist_welcomes_joins_with_its_segment(
    sites: tuple[Site, Site], tmp_path: Path, say: Say
) -> None:
    one, other = sites
    one.pages = {"/": (f"{other.origin}/deep",)}
    config = write_config(tmp_path, one.origin.replace("127.0.0.1", "localhost"), whitelist="{domains: ['127.0.0.1']}")
    run(say, config)
    say("queue", "build", "web.yaml", "--json")
    assert say("queue", "load", "--json", "--db", "web.db")["loaded"] == {other.origin: 1}
    origins = {
        row["origin"]: row["pending"] for row in rows(tmp_path / "web.db", "SELECT origin, pending FROM v_origin")
    }
    assert origins[other.origin] == 1
    run(say, config)
    states = {row["origin"]: row["state"] for row in rows(tmp_path / "web.db", "SELECT origin, state FROM v_origin")}
    assert states[other.origin] == "FINISHED", "it took part"


def test_with_few_origins_left_the_rest_is_saved_and_comes_back(
    sites: tuple[Site, Site], tmp_path: Path, say: Say
) -> None:
    one, other = sites
    one.pages = {"/": tuple(f"/{n}" for n in range(30)), **{f"/{n}": () for n in range(30)}}
    other.pages = {"/": ()}
    config = write_config(
        tmp_path,
        one.origin,
        other.origin,
        mode="online",
        delay="30ms",
        queue="{min_origins: 2, on_few_origins: save_and_stop}",
    )
    database = tmp_path / "web.db"
    run(say, config)
    assert value(database, "SELECT finish_reason FROM v_run") == "few_origins"
    left = value(database, "SELECT COUNT(*) FROM v_page WHERE status = 'STASHED'")
    assert left > 0
    assert value(database, "SELECT SUM(pending) FROM v_origin") == 0
    assert say("queue", "load", "--json", "--db", "web.db")["loaded"] == {one.origin: left}
    write_config(tmp_path, one.origin, other.origin, mode="online")
    run(say, config)
    assert Counter(one.asked) == Counter([*one.pages])
    assert_whole(database)


def test_with_few_origins_left_the_next_segment_is_loaded(sites: tuple[Site, Site], tmp_path: Path, say: Say) -> None:
    one, other = sites
    config = write_config(tmp_path, one.origin, other.origin, queue="{segment_urls: 2}")
    run(say, config)
    assert len(say("queue", "build", "web.yaml", "--json")["segments"]) == 2
    write_config(tmp_path, one.origin, other.origin, queue="{min_origins: 2, on_few_origins: load_next}")
    run(say, config)
    assert sorted(one.asked) == sorted(["/", "/1", "/2", "/list?page=1"])
    assert sorted(other.asked) == ["/", "/a"]
    assert value(tmp_path / "web.db", "SELECT COUNT(*) FROM segment WHERE consumed_at = 0") == 0


def test_a_segment_is_loaded_into_a_live_run(sites: tuple[Site, Site], tmp_path: Path, say: Say) -> None:
    one, other = sites
    run(say, write_config(tmp_path, other.origin))
    (segment,) = say("queue", "build", "web.yaml", "--json", "--db", "web.db")["segments"]
    one.pages = {"/": tuple(f"/{n}" for n in range(40)), **{f"/{n}": () for n in range(40)}}
    live = tmp_path / "live"
    live.mkdir()
    config = write_config(live, one.origin, other.origin, mode="online", delay="100ms")
    command = [sys.executable, "-m", "tui_crawler", "run", str(config), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line)["event"] == "attempt_finished":
                break
        document = say("queue", "load", segment["path"], "--db", str(live / "web.db"), "--json")
        assert document["loaded"] in ({other.origin: 1}, {})
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "attempt_finished" and event.get("url") == f"{other.origin}/a":
                process.send_signal(signal.SIGTERM)
                break
        process.stdout.read()
        assert process.wait(PATIENT_S) == 143
    assert other.asked.count("/a") == 1
