"""`completion`, and what a shell is told while a word is typed: in this process, in a bash, at a terminal."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import CONFIG, Say, environment
from tests.cli.crawls import store_crawl
from tests.storage.making import seed
from tests.support.terminal import in_terminal
from tui_crawler.cli.completion_command import SHELLS
from tui_crawler.cli.main import completed_by, main
from tui_crawler.cli.options import COMPLETION_VARIABLE
from tui_crawler.cli.word_completion import answer
from tui_crawler.domain.crawl.job import JobPlan
from tui_crawler.domain.records.exit_code import ExitCode

Complete = Callable[[str], list[str]]
SEPARATOR = "\v"
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed")


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> Complete:
    """What the last word of a line may become, as a shell is told that breaks words at blanks only."""

    def ask(line: str) -> list[str]:
        output = io.StringIO()
        monkeypatch.setenv(COMPLETION_VARIABLE, "1")
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_POINT", str(len(line)))
        monkeypatch.setenv("_ARGCOMPLETE_SUPPRESS_SPACE", "1")
        answer(completed_by, lambda status: None, output)
        return [word for word in output.getvalue().split(SEPARATOR) if word]

    return ask


@pytest.fixture
def crawl(here: Path) -> Path:
    """The only database here, with three origins and two jobs."""
    job = JobPlan("news and more", (seed("https://a.example/news"),))
    seeds = ("https://a.example/", "https://b.example:8443/", "http://a.example/")
    return store_crawl(here / "crawl.db", *seeds, jobs=(job,))


@pytest.fixture
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program as a command."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "tui-crawler"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tui_crawler "$@"\n')
    program.chmod(0o755)
    return folder


def run_shell(bin_folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment(PATH=path), check=True
    )


def declared(parser: argparse.ArgumentParser, *words: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """The words of every command, and its options."""
    shown = (action for action in parser._actions if action.help != argparse.SUPPRESS)
    yield words, {option for action in shown for option in action.option_strings}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                yield from declared(below, *words, word)


class TestWords:
    def test_the_first_word_is_a_command_or_a_configuration(self, here: Path, complete: Complete):
        (here / "my.yaml").write_text(CONFIG)
        (here / "other.txt").touch()
        (here / "configs").mkdir()
        offered = complete("tui-crawler ")
        assert {"demo", "run", "status", "pause", "exclude", "jobs", "pages", "log", "db", "completion"} <= {*offered}
        assert {"my.yaml", "configs/"} <= {*offered}
        assert "other.txt" not in offered

    def test_every_command_and_every_option_is_offered(self, complete: Complete):
        for words, options in declared(completed_by([])):
            line = " ".join(("tui-crawler", *words, "--"))
            assert {option for option in options if option.startswith("--")} == {*complete(line)}, line

    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("tui-crawler sta", ["status"]),
            ("tui-crawler --db x.db sta", ["status"]),
            ("tui-crawler --db=x.db sta", ["status"]),
            ("tui-crawler db ", ["check", "upgrade", "path", "copy"]),
            ("tui-crawler jobs un", ["unabort"]),
            ("tui-crawler pages s", ["stash", "stashes"]),
            ("tui-crawler status --js", ["--json"]),
            ("tui-crawler exclude ", ["domain", "host", "cidr", "pattern"]),
            ("tui-crawler exclude host ", []),
            ("tui-crawler completion z", ["zsh"]),
            ("tui-crawler export pages --format ", ["jsonl", "csv", "parquet"]),
            ("tui-crawler export bodies --format ", ["jsonl", "warc"]),
            ("tui-crawler export --format w", ["warc"]),
            ("tui-crawler help sta", ["status"]),
            ("tui-crawler failures --by or", ["origin"]),
            (
                "tui-crawler failures --by origin,",
                ["origin,exit_code", "origin,pattern", "origin,http_status", "origin,message"],
            ),
            ("tui-crawler failures --exit-code file_n", ["file_not_found"]),
            ("tui-crawler retry --exit-code file_gone,file_n", ["file_gone,file_not_found"]),
            ("tui-crawler retry --exit-code=file_n", ["--exit-code=file_not_found"]),
        ],
    )
    def test_what_a_line_offers(self, line: str, offered: list[str], complete: Complete):
        assert complete(line) == offered

    def test_exit_codes_are_those_there_are(self, complete: Complete):
        assert complete("tui-crawler failures --exit-code ") == list(ExitCode.__members__)

    def test_after_a_configuration_the_options_of_the_console(self, here: Path, complete: Complete):
        (here / "my.yaml").write_text(CONFIG)
        assert "--readonly" in complete("tui-crawler my.yaml --")
        assert complete("tui-crawler my.yaml ") == []
        assert complete("tui-crawler missing.yml --reado") == ["--readonly"]


class TestFiles:
    @pytest.fixture(autouse=True)
    def files(self, here: Path) -> None:
        for name in ("a.db", "a.yaml", "b.yml", "seeds.txt", ".hidden.db", "in side/c.db", "x\x1b[2J.db"):
            path = here / name
            path.parent.mkdir(exist_ok=True)
            path.touch()

    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("tui-crawler status --db ", ["a.db", "in\\ side/"]),
            ("tui-crawler --db=", ["--db=a.db", "--db=in\\ side/"]),
            ("tui-crawler status --db .h", [".hidden.db"]),
            ("tui-crawler status --db in\\ side/", ["in\\ side/c.db"]),
            ("tui-crawler run ", ["a.yaml", "b.yml", "in\\ side/"]),
            ("tui-crawler status --config b", ["b.yml"]),
            ("tui-crawler add --file se", ["seeds.txt"]),
            ("tui-crawler status --db nowhere/", []),
            ("tui-crawler status --db ./a", ["./a.db"]),
        ],
    )
    def test_files_of_the_kind_that_is_meant(self, line: str, offered: list[str], complete: Complete):
        assert complete(line) == offered

    def test_the_home_folder_stays_as_it_is_typed(
        self, here: Path, complete: Complete, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("HOME", str(here))
        assert complete("tui-crawler status --db ~/a") == ["~/a.db"]


class TestDatabase:
    def test_origins(self, crawl: Path, complete: Complete):
        assert complete("tui-crawler pause ") == ["https://a.example", "https://b.example:8443", "http://a.example"]
        assert complete("tui-crawler pause https://b") == ["https://b.example:8443"]
        assert complete("tui-crawler retry --origin http:") == ["http://a.example"]

    def test_a_host_alone_is_completed_as_a_host(self, crawl: Path, complete: Complete):
        assert complete("tui-crawler pause b.e") == ["b.example:8443"]
        assert complete("tui-crawler pause a.") == ["a.example"]

    def test_urls_begin_with_an_origin(self, crawl: Path, complete: Complete):
        assert complete("tui-crawler why https://b") == ["https://b.example:8443/"]
        assert complete("tui-crawler pages probe https://b.example:8443/x") == []

    def test_stashes(self, crawl: Path, complete: Complete, say: Say):
        assert say("pages", "stash", "later").status == 0
        assert complete("tui-crawler pages unstash ") == ["later"]
        assert complete("tui-crawler pages dripfeed x") == []

    def test_jobs_are_quoted_for_the_shell(self, crawl: Path, complete: Complete):
        assert complete("tui-crawler add --job ") == ["main", "news\\ and\\ more"]
        assert complete("tui-crawler jobs pause n") == ["news\\ and\\ more"]

    def test_the_database_is_the_one_of_the_line(self, crawl: Path, here: Path, complete: Complete):
        (here / "elsewhere").mkdir()
        moved = crawl.rename(here / "elsewhere" / "moved.db")
        assert complete("tui-crawler pause ") == []
        assert len(complete(f"tui-crawler pause --db {moved} ")) == 3
        assert len(complete(f"tui-crawler --db {moved} pause ")) == 3

    def test_that_of_the_environment(self, crawl: Path, here: Path, complete: Complete, monkeypatch):
        (here / "second.db").touch()
        assert complete("tui-crawler pause ") == []
        monkeypatch.setenv("TUI_CRAWLER_DB", str(crawl))
        assert len(complete("tui-crawler pause ")) == 3

    @pytest.mark.parametrize("content", [b"", b"no database" * 100])
    def test_what_is_no_database_gives_nothing_and_says_nothing(
        self, content: bytes, database: Path, complete: Complete, capfd: pytest.CaptureFixture[str]
    ):
        database.write_bytes(content)
        assert complete("tui-crawler pause ") == []
        assert capfd.readouterr() == ("", "")
        assert database.read_bytes() == content


class TestScripts:
    @pytest.mark.parametrize("shell", SHELLS)
    def test_a_script_names_the_program(self, shell: str, say: Say):
        said = say("completion", shell).ok
        assert "tui-crawler" in said.out
        assert said.err == ""

    @pytest.mark.parametrize("words", [(), ("tcsh",), ("bahs",)])
    def test_another_shell_is_refused(self, words: tuple[str, ...], say: Say):
        say("completion", *words).refused()

    @needs_bash
    def test_a_bash_completes_words_with_colons_and_equals_signs(self, crawl: Path, bin_folder: Path):
        lines = {
            "tui-crawler sta": ["status"],
            "tui-crawler --db=cr": ["crawl.db"],
            "tui-crawler pause https://b": ["//b.example:8443"],
            'tui-crawler pause "https://b': ["https://b.example:8443"],
            "tui-crawler jobs abort n": ["news\\ and\\ more"],
            "tui-crawler nothing --such": [],
        }
        script = "source <(tui-crawler completion bash)\n" + "".join(
            f"COMP_LINE='{line}' COMP_POINT={len(line)} COMP_TYPE=9; COMPREPLY=()\n"
            '_python_argcomplete tui-crawler; printf "%s\\x1f" "${COMPREPLY[@]}"; echo\n'
            for line in lines
        )
        done = run_shell(bin_folder, "bash", "--norc", "-c", script)
        found = [[word.rstrip() for word in line.split("\x1f") if word] for line in done.stdout.splitlines()]
        assert done.stderr == ""
        assert dict(zip(lines, found, strict=True)) == lines

    @needs_bash
    @pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are of POSIX")
    def test_the_tab_key_in_a_bash(self, crawl: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("TUI_CRAWLER_DB", str(crawl))
        with in_terminal(["bash", "--norc", "--noprofile", "-i"]) as terminal:
            terminal.press("PS1='ready:'; source <(tui-crawler completion bash)\r")
            terminal.read_until("\nready:")
            terminal.press("tui-crawler pau\thttps://b\t--js\t")
            terminal.read_until("ready:tui-crawler pause https://b.example:8443 --json")
            terminal.press('\x15tui-crawler resume "https://b\t--quiet')
            terminal.read_until('ready:tui-crawler resume "https://b.example:8443" --quiet')
            terminal.press("\x15exit\r")
            terminal.read_to_end()

    @pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
    def test_a_zsh_takes_the_script(self, bin_folder: Path):
        script = (
            "autoload -Uz compinit; compinit -u -D; source <(tui-crawler completion zsh); print $_comps[tui-crawler]"
        )
        done = run_shell(bin_folder, "zsh", "-f", "-c", script)
        assert (done.stdout.strip(), done.stderr) == ("_python_argcomplete", "")

    @pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
    def test_a_fish_completes_words(self, crawl: Path, bin_folder: Path):
        script = 'tui-crawler completion fish | source; complete -C "tui-crawler pause https://b"'
        done = run_shell(bin_folder, "fish", "--no-config", "-c", script)
        assert done.stdout.split() == ["https://b.example:8443"]


_IMPORTED = """
import os, sys, threading
from tui_crawler.__main__ import main
from tui_crawler.cli import word_completion
def tell(status):
    print("\\n".join(sorted(name.partition(".")[0] for name in sys.modules)), file=sys.stderr)
word_completion.answer.__defaults__ = (tell, sys.stdout)
main()
"""


def test_words_that_are_known_beforehand_cost_no_heavy_import(here: Path):
    line = "tui-crawler failures --exit-code file_n"
    asked = {COMPLETION_VARIABLE: "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], capture_output=True, text=True, env=environment(**asked), check=True
    )
    assert done.stdout.strip() == "file_not_found"
    loaded = set(done.stderr.split())
    assert "argcomplete" in loaded
    assert loaded.isdisjoint({"textual", "httpx", "peewee", "asyncio", "lxml", "ruamel", "ada_url", "sqlite3"})


def test_a_shell_is_answered_before_the_words_are_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(COMPLETION_VARIABLE, "1")
    asked: list[Sequence[str]] = []
    monkeypatch.setattr("tui_crawler.cli.word_completion.answer", lambda parser_of: asked.append(parser_of([]).prog))
    assert main(["frobnicate", "--nonsense"]) == 0
    assert asked == ["tui-crawler"]
