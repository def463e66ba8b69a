"""The tutorial and the how-to pages: each command of tui-crawler in them works, in their order, on a loopback site."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.patience import PATIENT_S
from tests.support.source import ROOT
from tests.support.terminal import in_terminal

GUIDES = [ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "howto").glob("*.md"))]
SITE = "https://example.org"
SERVER = "postgresql://"
CRAWLED = {"backup-upgrade", "stopped-early"}
"""Pages that begin with a crawl of the site in example.org.db."""
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"tui-crawler (crawl |[\w.-]+\.yaml( --readonly)?$|demo$|--db \S+( --readonly)?$)")
"""Commands that open the console."""
PAGES = {
    "/": "".join(f'<a href="{path}">x</a>' for path in ("/docs/", "/missing", "/list?page=2", "/members/")),
    "/docs/": '<a href="/docs/a#top">A</a><img src="/logo.png" alt="">',
    "/docs/a": "<p>Words about A.</p>",
    "/list": '<a href="/list?page=1">1</a>',
    "/members/": '<a href="/members/one">One</a><a href="/logout">Out</a>',
    "/members/one": "<p>One</p>",
}


class Site(BaseHTTPRequestHandler):
    """A small site: a missing page, a list behind a query, a picture."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        body = f"<!doctype html><html lang=en><title>{path}</title>{PAGES.get(path, '')}</html>".encode()
        self.send_response(200 if path in PAGES or path == "/logo.png" else 404)
        self.send_header("Content-Type", "image/png" if path == "/logo.png" else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  the name that the server looks for

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@contextmanager
def site() -> Iterator[str]:
    """Serve the site; give its origin."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def steps(page: Path) -> Iterator[tuple[str, str, int]]:
    """Give what a page has its reader do: a file with its name, or a command ("$") with the status that it shows."""
    for kind, title, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            yield title, body, 0
        elif kind == "console":
            lines = body.splitlines()
            for line, following in zip(lines, [*lines[1:], ""], strict=True):
                status = lines[lines.index("$ echo $?") + 1] if following == "$ echo $?" else "0"
                if line.startswith("$ ") and line != "$ echo $?":
                    yield "$", line[2:], int(status)


def can_run(command: str) -> bool:
    """Whether a command is one of ours, or sets what ours read, and needs no server of its own."""
    first, *rest = command.split()
    ours = first in {"tui-crawler", "export"} and SERVER not in command and "=…" not in command
    return ours or (first == "sqlite3" and shutil.which(first) is not None and bool(rest))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda one: one.stem)
def test_what_a_guide_says_works_from_its_first_line_to_its_last(guide: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(tmp_path / "state")}
    environment.pop("TUI_CRAWLER_DB", None)
    with site() as origin:
        files = [(name, text) for name, text, _ in steps(guide) if name != "$"]
        for name, text in files:
            (folder / name).write_text(text.replace(SITE, origin), encoding="utf-8")
        database = f"{origin.removeprefix('http://').replace(':', '_')}.db"  # as `crawl` names it
        if guide.stem in CRAWLED:
            (folder / "first.yaml").write_text(f"seeds: [{origin}/]\ndatabase: {database}\n", encoding="utf-8")
            run("tui-crawler run first.yaml --own", folder, environment, 0)
        for name, text, status in steps(guide):
            command = text.replace(SITE, origin).replace("example.org.db", database)
            command = re.split(r" \| jq |  +#", command)[0]
            if name != "$" or not can_run(command):
                continue
            if command.startswith("export "):
                key, _, value = command.removeprefix("export ").partition("=")
                environment[key] = value
            elif CONSOLE.match(command):
                open_and_leave(command, folder, environment)
            else:
                run(command, folder, environment, status)


def run(command: str, folder: Path, environment: dict[str, str], status: int) -> None:
    """Run a command of a shell; one that would follow a crawl for ever is interrupted."""
    if "--follow" in command:
        command, status = f"timeout --preserve-status -s INT 2 {command}", 130
    ended = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENT_S,
        check=False,
    )
    assert ended.returncode == status, f"$ {command}\n{ended.stdout[-2000:]}"


def open_and_leave(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Open a console as a person would, and leave it once its views are there."""
    words = ["env", *(f"{key}={environment[key]}" for key in ("PATH", "XDG_STATE_HOME")), "sh", "-c"]
    with in_terminal([*words, f"cd {shlex.quote(str(folder))} && exec {command}"]) as terminal:
        terminal.read_while(lambda: not re.search("waiting|finished|read-only", terminal.text()))
        terminal.press("q")
        terminal.read_to_good_end()
