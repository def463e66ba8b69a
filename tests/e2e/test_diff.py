"""Two crawls of a real site that was changed by hand in between: `diff` names what was changed, and nothing else."""

from __future__ import annotations

import json
import random
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.served import KILLED, run_until, tui_crawler, value
from tui_crawler.domain.history.replay import OriginReplay
from tui_crawler.domain.history.replayed import ReplayGoal
from tui_crawler.storage.crawl.replayed import ReplayedReader, ReplayedTables
from tui_crawler.storage.reports.reports import Reports
from tui_crawler.wiring.replay import sessions_of

PAGES = 80
CHANGED = [f"/p{number}" for number in range(3, 63, 3)]
NEW = [f"/n{number}" for number in range(14)]
GONE = ["/p70", "/p71", "/p72"]
MOVED, FAILING, RETITLED = "/p74", "/p75", "/p76"
ROBOTS = {1: "User-agent: *\nDisallow: /none\n", 2: "User-agent: *\nDisallow: /none\nDisallow: /more\n"}


class Pages(BaseHTTPRequestHandler):
    """Each page links to the next and to the home, which links to some; `edition` 2 is the site as it was changed."""

    edition = 1

    def do_GET(self) -> None:
        second = type(self).edition == 2
        path = self.path
        if path == "/robots.txt":
            self.answer(200, ROBOTS[type(self).edition], kind="text/plain")
        elif second and path in GONE:
            self.answer(404, "gone")
        elif second and path == FAILING:
            self.answer(501, "no")
        elif second and path == MOVED:
            self.answer(301, "", location="/p1")
        elif path == "/" or path.startswith("/p") or (second and path in NEW):
            self.answer(200, self.page(path, second))
        else:
            self.answer(404, "unknown")

    def page(self, path: str, second: bool) -> str:
        links = [f"/p{number}" for number in range(PAGES)] if path == "/" else ["/"]
        if second and path == CHANGED[0]:
            links += NEW
        text = "changed by hand" if second and path in CHANGED else "as it was"
        title = "another title" if second and path == RETITLED else f"page {path}"
        body = "\n".join(f'<p><a href="{one}">{one}</a>' for one in links)
        return f"<!doctype html><html lang=en><title>{title}</title>\n<p>first line\n<p>{text}\n{body}\n</html>"

    def answer(self, status: int, text: str, kind: str = "text/html", location: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, Path, str]]:
    """The configuration, the database after two whole crawls, one whose second was killed four times, the origin."""
    folder = tmp_path_factory.mktemp("diff")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    config, whole, killed = folder / "site.yaml", folder / "whole.db", folder / "killed.db"
    config.write_text(
        f"seeds: [{origin}/]\nuser_agent: test-crawler (for {origin})\nrobots: {{expiry: 1s}}\n"
        "delay: {model: fixed, default: 10ms, floor: 10ms, allow_impolite: true}\ncrawl: {force_recrawl: true}\n"
    )
    dice = random.Random(20261123)
    Pages.edition = 1
    done = tui_crawler("run", str(config), "--db", str(whole), "--quiet")
    assert done.returncode == 0, done.stderr
    shutil.copy(whole, killed)
    Pages.edition = 2
    for _ in range(4):
        assert run_until(config, killed, dice.randrange(3, 25), signal.SIGKILL) == KILLED
    for database in (whole, killed):
        done = tui_crawler("run", str(config), "--db", str(database), "--quiet")
        assert done.returncode == 0, done.stderr
    yield config, whole, killed, origin
    server.shutdown()
    server.server_close()


def diffed(database: Path, *words: str) -> Any:
    done = tui_crawler("diff", "--db", str(database), "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


STATE = "patience, politeness, delay_ms, delay_reason"
EXPECTED = {
    **{path: ("changed", ["hash"]) for path in CHANGED[1:]},
    CHANGED[0]: ("changed", ["hash", "links"]),
    **{path: ("new", []) for path in NEW},
    **{path: ("gone", ["status"]) for path in GONE},
    MOVED: ("changed", ["status", "redirect", "links"]),
    FAILING: ("changed", ["status"]),
    RETITLED: ("changed", ["hash", "title"]),
}


@pytest.mark.parametrize("which", [1, 2], ids=["two whole crawls", "the second one killed four times"])
def test_exactly_what_was_changed_by_hand_is_named(crawls: tuple[Path, Path, Path, str], which: int) -> None:
    database, origin = crawls[which], crawls[3]
    assert value(database, "SELECT count(*) FROM v_run") == 2
    document = diffed(database)
    assert document["runs"] == [1, 2]
    found = {one["url"].removeprefix(origin): (one["change"], one["fields"]) for one in document["pages"]}
    assert found == EXPECTED
    (counts,) = document["origins"]
    assert {key: counts[key] for key in ("origin", "new", "gone", "changed", "same")} == {
        "origin": origin,
        "new": len(NEW),
        "gone": len(GONE),
        "changed": len(CHANGED) + 3,
        "same": 1 + PAGES - len(GONE) - len(CHANGED) - 3,
    }
    assert {one["url"].removeprefix(origin): one["failing"] for one in document["failures"]} == dict.fromkeys(
        (*GONE, FAILING), "new"
    )
    assert document["robots"] == [
        {"origin": origin, "diff": "@@ -1,2 +1,3 @@\n User-agent: *\n Disallow: /none\n+Disallow: /more"}
    ]
    assert [one["run_id"] for one in document["speed"]] == [1, 2]
    assert all(one["requests"] > PAGES for one in document["speed"])


def test_one_page_down_to_its_lines_and_links(crawls: tuple[Path, Path, Path, str]) -> None:
    _, database, _, origin = crawls
    document = diffed(database, "--url", f"{origin}{CHANGED[0]}")
    assert (document["change"], document["fields"]) == ("changed", ["hash", "links"])
    assert "-<p>as it was" in document["lines"]
    assert "+<p>changed by hand" in document["lines"]
    assert [one["to_url"].removeprefix(origin) for one in document["outlinks"]["new"]] == NEW
    assert document["outlinks"]["gone"] == document["inlinks"]["new"] == []
    target = diffed(database, "--url", f"{origin}/p1")
    assert (target["change"], target["lines"]) == (None, [])


def test_for_people(crawls: tuple[Path, Path, Path, str]) -> None:
    _, database, _, origin = crawls
    told = tui_crawler("diff", "--db", str(database), "--limit", "5").stdout
    assert "~ 23 changed  + 14 new  − 3 gone  = 55" in told
    assert "… and 35 more (--limit)" in told
    assert f"{origin}/p70" in told
    page = tui_crawler("diff", "1", "2", "--db", str(database), "--url", f"{origin}{MOVED}").stdout
    assert f"redirect: - → {origin}/p1" in page
    assert page.startswith(f"~ {origin}{MOVED}   status redirect links   200 → 301\n")


def test_what_cannot_be_compared_is_said(crawls: tuple[Path, Path, Path, str]) -> None:
    _, database, _, origin = crawls
    for words, said in (
        (("7",), "there is no run 7: runs 1, 2 can be compared"),
        (("1", "2", "3"), "diff compares two runs"),
        (("--url", f"{origin}/never"), "is no page of this crawl"),
        (("--origin", "elsewhere.example"), "elsewhere.example"),
    ):
        done = tui_crawler("diff", *words, "--db", str(database))
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


@pytest.mark.parametrize("which", [1, 2], ids=["two whole crawls", "the second one killed four times"])
def test_replayed_to_any_attempt_the_tables_are_what_the_fold_of_the_log_says(
    crawls: tuple[Path, Path, Path, str], which: int
) -> None:
    database, before = crawls[which], crawls[which].read_bytes()
    with closing(Reports(database)) as reports, reports.replay_log() as log:
        sessions, origins = sessions_of(log), list(log.origins())
        runs = [log.runs()[one][1] for one in (1, 2)]
        folds = {
            name: (OriginReplay(name, False, 2, sessions, [], log.changes(one), []), list(log.attempts(one, 2)))
            for one, name in origins
        }
    reader = ReplayedReader(database)
    with closing(reader):
        tables, (last,) = ReplayedTables(reader), reader.one("SELECT MAX(id) FROM main.attempt") or (0,)
        for attempt_id in (1, 2, last // 3, last // 2, last - 1, last):
            tables.go(ReplayGoal(attempts=attempt_id - tables.moment.attempt_id))
            for name, (fold, logged) in folds.items():
                while logged and logged[0].attempt_id <= attempt_id:
                    fold.take(logged.pop(0))
                text = f"SELECT {STATE}, requests, attempts FROM origin WHERE origin = ?"
                state, sums = fold.state, reader.all("SELECT SUM(requests), COUNT(*) FROM attempt")[0]
                folded = (state.patience, state.pace.politeness, state.delay_ms, state.delay_reason.value)
                assert reader.one(text, (name,)) == (*folded, *sums)
        assert [one for (one,) in reader.all("SELECT requests FROM run ORDER BY id")] == runs
        for text in (
            "SELECT origin, pending, done, failed, blocked, requests, bytes, finish_reason FROM {of}origin",
            "SELECT id, status, attempts_remaining, failed, last_exit_code, last_attempt_id FROM {of}page ORDER BY id",
            "SELECT exit_code, count FROM {of}exit_count WHERE run_id = 2 ORDER BY origin_id, exit_code",
        ):
            assert reader.all(text.format(of="")) == reader.all(text.format(of="main."))
    assert database.read_bytes() == before
