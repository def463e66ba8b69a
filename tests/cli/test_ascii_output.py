"""Where the locale is C, no command prints a byte above 0x7F: neither its own words and glyphs nor what was crawled."""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.cli.test_interface import COMMANDS
from tui_crawler import __main__ as program

PAGE = """<!doctype html><meta charset=utf-8><title>Größe — ★ “seltsam”</title>
<h1 id=ä>×</h1><a href="/straße…">Größe · ★</a><a href="/fehlt–hier">fort →</a><a href="https://bücher.example/">⚠</a>
<a href="/#ö">…</a>"""
C_LOCALES = [{"LANG": "C"}, {"LC_ALL": "C"}, {"LC_CTYPE": "POSIX"}, {"PYTHONIOENCODING": "ascii"}]
LINES = """
status
why {0}/
why {0}/straße…
why {0}/fehlt–hier --verbose
why https://bücher.example/
failures
failures --list --referrers
failures --by exit_code,origin,pattern
links {0}/
links --broken --external
tree
tree {0}
rules show
rules test {0}/straße…
rules preview rules.yaml
rules apply rules.yaml
rules history
rules diff 1
rules undo
audit
audit --verbose
audit {0}
pulse
pulse {0}
report
report --format md
report --format junit
diff
replay
replay --check
export pages --format jsonl
exclude --list
exclude pattern /größe/ --reason “nicht”
jobs
jobs set crawl --nice 3
pages probe {0}/…
log
log --origin {0}
workers
worker
db check
db path
db upgrade
check my.yaml
check --schema
completion bash
pause --all
resume --all
retry --exit-code file_not_found
add {0}/größer
rehearse my.yaml
queue build my.yaml
run my.yaml --max-requests 1
run falsch….yaml
stätus
status --größe
status --db größe.db
why
add ftp://bücher.example/
pause bücher.example
top-up --all
stop --all
pages stash größe
serve --token größe
"""


class Site(BaseHTTPRequestHandler):
    """One page with links that are broken, and robots.txt that forbids something."""

    def do_GET(self) -> None:
        robots, found = self.path == "/robots.txt", self.path in {"/", "/stra%C3%9Fe%E2%80%A6"}
        body = b"User-agent: *\nDisallow: /\xc3\xa4\n" if robots else PAGE.encode() if found else "fehlt …".encode()
        self.send_response(200 if found or robots else 404, "da" if found else "fort")
        self.send_header("Content-Type", "text/plain" if robots else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A folder with a crawl, and what its run printed in the locale C."""
    folder = tmp_path_factory.mktemp("größe")
    (folder / "rules.yaml").write_text("rules:\n- {pattern: /größe/, note: “×”, skip: true}\n", encoding="utf-8")
    (folder / "my.yaml").write_text(
        f"seeds: [{site}/]\nname: größe\nuser_agent: bench\ndelay: {{default: 0, floor: 0, allow_impolite: true}}\n",
        encoding="utf-8",
    )
    said = b""
    for _ in range(2):
        words = [sys.executable, "-m", "tui_crawler", "run", "my.yaml", "--force-recrawl"]
        variables = {key: value for key, value in environment().items() if not key.startswith(("LC_", "LANG"))}
        done = subprocess.run(words, cwd=folder, capture_output=True, env=variables | {"LANG": "C"}, check=False)
        assert done.returncode == 0, done.stderr
        said += done.stdout + done.stderr
    return folder, said


Run = Callable[..., bytes]


@pytest.fixture
def run(here: Path) -> Run:
    """Runs the program in this process, in a locale; returns what it prints on both outputs."""

    def run(words: list[str], locale: dict[str, str]) -> bytes:
        encoding = locale.get("PYTHONIOENCODING", "utf-8")  # what Python makes of it
        kept = [io.BytesIO(), io.BytesIO()]
        streams = [io.TextIOWrapper(one, encoding, "surrogateescape", write_through=True) for one in kept]
        with pytest.MonkeyPatch.context() as patched:
            for name in [name for name in os.environ if name.startswith(("LC_", "LANG", "PYTHONIO", "PYTHONUTF8"))]:
                patched.delenv(name)
            for name, value in locale.items():
                patched.setenv(name, value)
            patched.setattr(sys, "stdout", streams[0])
            patched.setattr(sys, "stderr", streams[1])
            patched.setattr(sys, "argv", ["tui-crawler", *words])
            program.main()
            for stream in streams:
                stream.flush()
        return b"".join(one.getvalue() for one in kept)

    return run


def test_a_run_prints_ascii(crawled: tuple[Path, bytes]) -> None:
    assert crawled[1].isascii()
    assert b"file_not_found" in crawled[1]


@pytest.mark.parametrize("line", LINES.split("\n")[1:-1])
def test_a_command_prints_ascii(
    crawled: tuple[Path, bytes], site: str, run: Run, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(crawled[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    said = run(line.format(site).split(), {"LANG": "C"})
    assert said
    assert said.isascii()
    assert b"unexpected error" not in said


@pytest.mark.parametrize("locale", C_LOCALES, ids=str)
def test_every_help_is_ascii_and_has_no_escapes(run: Run, locale: dict[str, str]) -> None:
    for words in COMMANDS:
        said = run([*words, "--help"], locale)
        assert said.startswith(b"usage: ")
        assert said.isascii()
        assert b"\\u" not in said
        assert b"\\x" not in said


def test_what_was_crawled_is_escaped_and_glyphs_are_replaced(
    crawled: tuple[Path, bytes], site: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawled[0])
    links = run(["links", f"{site}/"], {"LC_ALL": "C"})
    assert b"Gr\\xf6\\xdfe - \\u2605" in links
    assert b"X robots" in run(["why", f"{site}/ä"], {"LANG": "C"})


def test_a_locale_with_utf8_and_none_at_all_print_utf8(
    crawled: tuple[Path, bytes], site: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for locale in ({"LANG": "de_DE.UTF-8"}, {}, {"LC_ALL": "C.UTF-8", "LANG": "C"}, {"LANG": "C", "PYTHONUTF8": "1"}):
        monkeypatch.chdir(crawled[0])
        assert "Größe · ★" in run(["links", f"{site}/"], locale).decode()


def test_a_report_in_a_file_is_utf8_and_one_on_the_output_is_the_same_page(
    crawled: tuple[Path, bytes], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(crawled[0])
    run(["report", "--output", str(tmp_path / "report.html"), "--quiet"], {"LANG": "C"})
    in_file = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not in_file.isascii()
    printed = run(["report", "--quiet"], {"LANG": "C"})
    assert printed.isascii()
    made = re.compile("Made [0-9: -]+")
    assert made.sub("", html.unescape(printed.decode())) == made.sub("", html.unescape(in_file))
